"""Latency of the FastAPI example in the documentation, on the loopback interface."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lab.measurements.rounded_models import MODELS
from lab.runner.cell import Numbers
from tanager import BayesNetClassifier, InputError
from tanager.datasets import load

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
HOST = "127.0.0.1"
WARM_UP = 20
"""Requests that are not timed."""

MAX_START = 300.0
"""Seconds to wait for the server."""


def example(page: str) -> str:
    """The code of the FastAPI example in a page."""
    blocks = re.findall(r"(?m)^(?:    .*\n|\n)+", page)
    (found,) = (block for block in blocks if "FastAPI()" in block)
    return re.sub(r"(?m)^    ", "", found).strip() + "\n"


def serving_latency(
    *, data: str, model: str = "default", n_rows: int = 1, n_requests: int = 1000
) -> Numbers:
    """Milliseconds of requests, one after the other on one connection.

    Parameters
    ----------
    data : str
        Name of the dataset; its first rows are sent.
    model : str, default="default"
        One of `MODELS`.
    n_rows : int, default=1
        Rows in a request.
    n_requests : int, default=1000
        Number of requests.

    Returns
    -------
    dict
        Quantiles of the whole requests (``p50``, ``p99``) and of `predict_proba` of
        the same rows alone (``model_p50``) in milliseconds, and ``rows_per_second``.
    """
    found = load(data)
    classifier = BayesNetClassifier(**MODELS[model]).fit(found.X, found.y)
    rows = json.loads(found.X[:n_rows].to_json(orient="records"))
    body = json.dumps(rows).encode()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    expected = classifier.predict_proba(columns)
    with TemporaryDirectory() as name:
        folder = Path(name)
        classifier.save(folder / "model.json")
        (folder / "app.py").write_text(example(PAGE.read_text("utf-8")), "utf-8")
        with _server(folder) as port:
            connection = http.client.HTTPConnection(HOST, port, timeout=MAX_START)
            milliseconds = []
            for k in range(WARM_UP + n_requests):
                start = time.perf_counter()
                answer = _post(connection, body)
                if k >= WARM_UP:
                    milliseconds.append(1000 * (time.perf_counter() - start))
            connection.close()
    given = np.array([list(row.values()) for row in json.loads(answer)])
    np.testing.assert_allclose(given, expected, atol=1e-9)
    alone = []
    for k in range(WARM_UP + min(n_requests, 200)):
        start = time.perf_counter()
        classifier.predict_proba(columns)
        if k >= WARM_UP:
            alone.append(1000 * (time.perf_counter() - start))
    return {
        "p50": float(np.quantile(milliseconds, 0.5)),
        "p99": float(np.quantile(milliseconds, 0.99)),
        "model_p50": float(np.quantile(alone, 0.5)),
        "rows_per_second": 1000 * n_rows * n_requests / float(np.sum(milliseconds)),
    }


def _post(connection: http.client.HTTPConnection, body: bytes) -> bytes:
    connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise InputError(f"The server answered {answer.status}: {content[:200]!r}.")
    return content


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """Run the example in a process of its own, and give its port."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = int(free.getsockname()[1])
    command = [
        sys.executable, "-m", "uvicorn", "app:app", "--host", HOST,
        "--port", str(port), "--log-level", "warning", "--no-access-log",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment)
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=MAX_START)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + MAX_START
    while time.monotonic() < end:
        if process.poll() is not None:
            raise InputError(
                "The server did not start; it needs pip install fastapi uvicorn."
            )
        try:
            socket.create_connection((HOST, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise InputError(f"The server did not answer within {MAX_START:g} seconds.")
