"""The default model: growth of time, peak memory, and the first fit of a machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lab.benchmarks._default_data import covtype, mixed, wide
from lab.benchmarks._harness import (
    ROOT,
    Options,
    Row,
    Skip,
    cost,
    limit,
    megabytes,
    peak_memory,
)
from tanager import BayesNetClassifier
from tanager.structure import FactorSearch

REQUIRED_SAMPLES = 1.05
REQUIRED_FEATURES = 1.1
"""Largest exponents of growth."""

REQUIRED_MEMORY = 3.0
"""Largest peak, relative to codes and posteriors."""

REQUIRED_COLD = 6.0
"""Processor seconds by which a first fit may be longer."""

REQUIRED_KERNELS = 8

FIRST_FIT = """
import json, sys
from time import process_time
from sklearn.datasets import load_wine
from tanager import BayesNetClassifier
X, y = load_wine(return_X_y=True)
started = process_time()
model = BayesNetClassifier().fit(X, y)
model.predict_proba(X), model.predict_proba(X[:1])
taken = process_time() - started
from numba.core.registry import CPUDispatcher
import gc
found = [k for k in gc.get_objects() if isinstance(k, CPUDispatcher)]
own = [k for k in found if k.py_func.__module__.startswith("tanager")]
print(json.dumps([taken, sum(len(k.overloads) for k in own)]))
"""


def run(options: Options) -> list[Row]:
    """Exponents, memory and compilation."""
    rows = []
    with threadpool_limits(1):
        rows.append(_sample_growth(options))
        rows.append(_feature_growth(options))
    rows += _memory(options)
    return rows + _first_fit()


def _sample_growth(options: Options) -> Row:
    most = options.pick(800_000, 20_000)
    X, y = mixed(20, most)
    sizes = [most // 8, most // 4, most // 2, most]
    times = [_least(lambda n=n: BayesNetClassifier().fit(X[:n], y[:n])) for n in sizes]
    return _growth("default, mixed columns, samples", sizes, times, REQUIRED_SAMPLES)


def _feature_growth(options: Options) -> Row:
    most = options.pick(2_000, 200)
    X, y = wide(most, 2, 2_000)
    sizes = [most // 8, most // 4, most // 2, most]
    times = [
        _least(
            lambda n=n: BayesNetClassifier(structure=FactorSearch(order=1)).fit(
                np.ascontiguousarray(X[:, :n]), y
            )
        )
        for n in sizes
    ]
    return _growth("order=1, 2,000 samples, features", sizes, times, REQUIRED_FEATURES)


def _least(action: Callable[[], Any]) -> float:
    """Least processor seconds of three runs."""
    times = []
    for _ in range(3):
        started = process_time()
        action()
        times.append(process_time() - started)
    return min(times)


def _growth(what: str, sizes: list[int], times: list[float], at_most: float) -> Row:
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return Row(
        f"fit, {what} {sizes[0]:,} to {sizes[-1]:,}",
        " ".join(f"{value:.3g}" for value in times) + " s",
        "",
        f"exponent {exponent:.3f}",
        f"at most {at_most:g}",
        exponent <= at_most,
    )


def _memory(options: Options) -> list[Row]:
    """Peak resident memory of a process above what it held when the fit began."""
    rows = []
    for name, n_samples, n_features, n_columns in (
        ("mixed", options.pick(1_000_000, 20_000), 20, 1),
        ("covtype", options.pick(465_000, 20_000), 12, 7),
    ):
        kept = n_samples * (n_features + 4 * n_columns)
        try:
            for task in ("fit", "predict"):
                extra = peak_memory(
                    "lab.benchmarks.default_scale:measured", task, name, n_samples
                )
                rows.append(
                    cost(
                        f"{task} {name}, {n_samples:,} x {n_features}: peak memory "
                        "above the input",
                        extra,
                        kept,
                        name="codes and posteriors",
                        at_most=REQUIRED_MEMORY,
                        shown=megabytes,
                    )
                )
        except (Skip, RuntimeError) as reason:
            rows.append(Row(f"memory, {name}", f"skipped: {reason}"))
    return rows


def measured(task: str, name: str, n_samples: int) -> Callable[[], object]:
    """Prepare a fresh process and return the call whose memory is measured."""
    X, y = mixed(20, n_samples) if name == "mixed" else covtype(n_samples)
    model = BayesNetClassifier()
    # A small fit loads the kernels and what else is loaded once.
    model.fit(X[:20_000], y[:20_000]).predict_proba(X[:20_000])
    if task == "fit":
        return lambda: model.fit(X, y)
    return lambda: model.predict_proba(X)


def _first_fit() -> list[Row]:
    """Fit and predict wine in fresh processes, with an empty cache and a full one."""
    times, counts = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", FIRST_FIT],
                cwd=ROOT,
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            taken, n_kernels = json.loads(done.stdout)
            times.append(taken)
            counts.append(n_kernels)
    warm = min(times[1:])
    return [
        limit("wine, fit and predict, kernels from the cache", warm),
        limit("wine, compilation in a first fit", times[0] - warm, REQUIRED_COLD),
        Row(
            "wine, kernels compiled in a first fit",
            str(counts[0]),
            required=f"at most {REQUIRED_KERNELS}",
            passed=counts[0] <= REQUIRED_KERNELS,
        ),
    ]
