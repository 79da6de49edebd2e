"""Tables that exceed the memory: rows per second, time per sweep and peak memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from lab.benchmarks._harness import (
    Options,
    Row,
    Skip,
    cost,
    forget_peak,
    megabytes,
    peak_resident_bytes,
    run_python,
)
from tanager import Batches, BayesNetClassifier
from tanager.structure import FactorSearch

REQUIRED_SPEED = 0.5
"""Least rows per processor second, relative to a fit in memory."""

REQUIRED_SWEEPS = 2.0
"""Largest time of the factors, relative to codes in memory."""

REQUIRED_MEMORY = 2e9
"""Largest peak of resident memory."""

FILE_ROWS = 1_000_000
FLOATS, WHOLE, TEXTS = 10, 5, 5
IN_MEMORY_ROWS = 10_000_000
"""Rows up to which the fit in memory is measured at the same size."""


def run(options: Options) -> list[Row]:
    """Write Parquet files, and fit TAN and factors to them in fresh processes."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise Skip("pyarrow is not installed") from None
    n_rows = options.rows or options.pick(50_000_000, 200_000)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n_rows)
        return [*_tan(folder, n_rows), *_factors(folder, n_rows)]


def _tan(folder: str, n_rows: int) -> list[Row]:
    compared = min(n_rows, IN_MEMORY_ROWS)
    batches = _measure("tan", folder, compared, "batches")
    memory = _measure("tan", folder, compared, "memory")
    whole = _measure("tan", folder, n_rows, "batches") if n_rows > compared else batches
    ours, other = compared / batches["seconds"], compared / memory["seconds"]
    return [
        Row(
            f"TAN-CMI, fit to Parquet files, {compared:,} x {FLOATS + WHOLE + TEXTS}",
            f"{ours:,.0f} rows/s",
            f"{other:,.0f} rows/s (a data frame in memory)",
            f"{ours / other:.2f}x the rows",
            f"at least {REQUIRED_SPEED:g}x",
            ours >= REQUIRED_SPEED * other,
        ),
        Row(
            f"TAN-CMI, {n_rows:,} rows",
            f"{n_rows / whole['seconds']:,.0f} rows/s",
        ),
        _peak(f"TAN-CMI, {n_rows:,} rows: peak memory of the process", whole["peak"]),
    ]


def _factors(folder: str, n_rows: int) -> list[Row]:
    compared = min(n_rows, IN_MEMORY_ROWS)
    memory = _measure("factors", folder, compared, "memory")
    rows = [
        cost(
            f"factors, main effects and 20 pairs, {compared:,} rows, codes in {place}: "
            "search and sweeps",
            _measure("factors", folder, compared, kind)["learning"],
            memory["learning"],
            name="a data frame in memory",
            at_most=REQUIRED_SWEEPS,
        )
        for kind, place in (("file", "a file"), ("batches", "memory"))
    ]
    whole = _measure("factors", folder, n_rows, "batches")
    rows.append(
        Row(f"factors, {n_rows:,} rows", f"{n_rows / whole['seconds']:,.0f} rows/s")
    )
    rows.append(
        _peak(f"factors, {n_rows:,} rows: peak memory of the process", whole["peak"])
    )
    return rows


def _peak(what: str, peak: float) -> Row:
    return Row(
        what,
        megabytes(peak),
        required=f"at most {megabytes(REQUIRED_MEMORY)}",
        passed=peak <= REQUIRED_MEMORY,
    )


def _measure(model: str, folder: str, n_rows: int, kind: str) -> dict[str, float]:
    """Processor seconds and peak memory of a fit in a fresh process."""
    script = (
        "import sys; from lab.benchmarks.scale import report; report(*sys.argv[1:])"
    )
    text = run_python(script, [model, folder, str(n_rows), kind])
    found: dict[str, float] = json.loads(text.strip().splitlines()[-1])
    return found


def report(model: str, folder: str, n_rows: str, kind: str) -> None:
    """Fit once and print the measurements; runs in a process of its own."""
    files = sorted(Path(folder).glob("*.parquet"))[: -(-int(n_rows) // FILE_ROWS)]
    small = _model(model).fit(Batches(files[:1], batch_rows=20_000), "y")
    del small
    source: Any = Batches(files)
    target: Any = "y"
    if kind == "file":
        source = Batches(files, max_memory=0)
    elif kind == "memory":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(files)
        source, target = table.drop_columns(["y"]), table["y"].to_numpy()
        del table
    forget_peak()
    started = process_time()
    fitted = _model(model, timed=True).fit(source, target)
    seconds = process_time() - started
    print(
        json.dumps(
            {
                "seconds": seconds,
                "learning": getattr(fitted.structure_, "seconds_", 0.0),
                "peak": peak_resident_bytes(),
            }
        )
    )


class TimedFactors(FactorSearch):
    """Factors that note the processor seconds of `learn`."""

    seconds_ = 0.0

    def learn(self, data: Any, *, random_state: Any = None) -> Any:
        started = process_time()
        found = super().learn(data, random_state=random_state)
        self.seconds_ = process_time() - started
        return found


def _model(name: str, *, timed: bool = False) -> BayesNetClassifier:
    if name == "tan":
        model = BayesNetClassifier(structure="tan", parameters="fe", n_jobs=2)
        return model
    kind = TimedFactors if timed else FactorSearch
    return BayesNetClassifier(structure=kind(order=2, max_factors=20), n_jobs=2)


def write_files(folder: Path, n_rows: int) -> None:
    """Write Parquet files of floats, whole numbers, texts and a class, from a seed."""
    import pyarrow
    import pyarrow.parquet

    words = np.array(["red", "green", "blue", "white", "black", "grey"])
    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        size = min(FILE_ROWS, n_rows - start)
        random = np.random.default_rng(number)
        floats = random.standard_normal((FLOATS, size), dtype=np.float32)
        whole = random.integers(0, 40, (WHOLE, size), dtype=np.int16)
        texts = random.integers(0, len(words), (TEXTS, size), dtype=np.int8)
        score = floats[0] + floats[1] * (texts[0] > 2) + 0.05 * (whole[0] - 20)
        label = score + random.logistic(size=size).astype(np.float32) > 0
        columns: dict[str, Any] = {f"f{j}": floats[j] for j in range(FLOATS)}
        columns |= {f"k{j}": whole[j] for j in range(WHOLE)}
        for j in range(TEXTS):
            columns[f"t{j}"] = pyarrow.DictionaryArray.from_arrays(texts[j], words)
        columns["y"] = label.astype(np.int8)
        path = folder / f"{number:05d}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
