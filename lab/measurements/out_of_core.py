"""Fits to Parquet files in fresh processes: processor time and memory by size."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from lab.benchmarks._harness import forget_peak, peak_resident_bytes, run_python
from lab.benchmarks.scale import FLOATS, TEXTS, WHOLE, write_files
from lab.runner.cell import Numbers
from tanager import Batches, BayesNetClassifier
from tanager.structure import FactorSearch

COLUMNS = FLOATS + WHOLE + TEXTS

LEARNERS: dict[str, dict[str, Any]] = {
    "naive Bayes": {"structure": "nb", "parameters": "fe"},
    "TAN-CMI": {"structure": "tan", "parameters": "fe"},
    "TAN-OMI-CR": {"structure": "tan-omi-cr", "parameters": "fe"},
    "TAN-CMI, convex conditional likelihood": {
        "structure": "tan",
        "parameters": "rcl",
    },
    "factors, main effects and 20 pairs": {
        "structure": FactorSearch(order=2, max_factors=20)
    },
}
"""Learners by name: one of each kind of passes over the codes."""


def out_of_core_fit(*, cells: int, learner: str) -> Numbers:
    """Fit once to Parquet files with two threads, in a process of its own.

    Parameters
    ----------
    cells : int
        Rows times columns; there are 20 columns, see `lab.benchmarks.scale`.
    learner : str
        One of `LEARNERS`.
    """
    script = (
        "import sys; from lab.measurements.out_of_core import report;"
        "report(*sys.argv[1:])"
    )
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), cells // COLUMNS)
        text = run_python(script, [learner, folder])
    found: dict[str, float] = json.loads(text.strip().splitlines()[-1])
    return found


def report(learner: str, folder: str) -> None:
    """Fit once and print the measurements; runs in a process of its own."""
    files = sorted(Path(folder).glob("*.parquet"))
    small = next(iter(Batches(files, batch_rows=20_000)))
    BayesNetClassifier(**LEARNERS[learner], n_jobs=2).fit([small], "y")  # kernels
    del small
    model = BayesNetClassifier(**LEARNERS[learner], n_jobs=2)
    plan = model.plan(files, "y")
    forget_peak()
    before = peak_resident_bytes()
    started = process_time()
    model.fit(files, "y")
    seconds = process_time() - started
    grown = peak_resident_bytes() - before
    stages = model.trace_["seconds"]
    assert plan.n_samples is not None
    assert plan.peak_bytes is not None
    print(
        json.dumps(
            {
                "seconds": seconds,
                "learning_seconds": seconds
                * (1.0 - stages["encode"] / sum(stages.values())),
                "rows": plan.n_samples,
                "rows_per_second": plan.n_samples / seconds,
                "grown_megabytes": grown / 1e6,
                "planned_megabytes": plan.peak_bytes / 1e6,
            }
        )
    )
