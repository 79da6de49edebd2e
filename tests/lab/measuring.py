"""Ways to measure that go wrong, for processes that import them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lab.runner.cache import CellCache, Record
from lab.runner.cell import Cell
from lab.runner.pool import run
from lab.runner.versions import code_version


def answered(cell: Cell) -> Record:
    """Twice the number of the cell; odd ones below zero fail, -2 kills its process."""
    number = cell.parameters["number"]
    assert isinstance(number, int)
    if (log := cell.parameters.get("log")) is not None:
        with Path(str(log)).open("a") as file:
            file.write(f"{number}\n")
    if number == -2:
        os._exit(1)
    if number < 0:
        return Record(None, f"cannot double {number}", 0.1, code_version())
    return Record({"double": 2.0 * number}, None, 0.1, code_version())


def threads(cell: Cell) -> Record:
    """The most threads that a library of linear algebra or OpenMP may use."""
    import scipy.linalg  # noqa: F401
    import sklearn.svm  # noqa: F401
    from threadpoolctl import threadpool_info

    most = max(library["num_threads"] for library in threadpool_info())
    return Record({"most": float(most)}, None, 0.1, code_version())


def told_and_waiting(cell: Cell) -> Record:
    """Write the number of this process to a file, then take very long."""
    Path(str(cell.parameters["log"])).write_text(str(os.getpid()))
    time.sleep(600)
    return Record({"seconds": 600.0}, None, 600.0, code_version())


def run_waiting(folder: str) -> None:
    """Measure one cell that takes very long, in a process of its own."""
    cell = Cell("m", {"number": 1, "log": f"{folder}/pid"})
    run([cell], CellCache(folder), jobs=2, measure=told_and_waiting)
