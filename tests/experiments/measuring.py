"""Ways to measure that go wrong, for processes that import them by name."""

from __future__ import annotations

import os
from pathlib import Path

from tanager.experiments.cache import Record
from tanager.experiments.cell import Cell
from tanager.experiments.versions import code_version


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
