"""Settings under which methods were tried on datasets, each over all folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.runner.cell import Cell, Numbers, Value, canonical
from lab.runner.results import Results
from tanager.types import FloatArray

WEIGHTS = ("lambda_", "share", "eta", "rate", "epochs", "start")
"""What the loss and the descent are given; order and candidates are drawn by a seed."""

WORDS = {True: "yes", False: "no", None: "open"}
"""Whether a claim about settings holds; it is open if too few are known."""


@dataclass(frozen=True)
class Tried:
    """A setting of a method on a dataset.

    Parameters
    ----------
    parameters : mapping
        Those of its cells, apart from the fold.
    errors : ndarray of shape (n_folds,)
        Test errors in per cent.
    held_out : ndarray of shape (n_folds,)
        Errors in per cent on held-out samples from the training samples.
    all_seconds : ndarray of shape (n_folds,)
        Seconds of learning from all training samples.
    """

    parameters: Mapping[str, Value]
    errors: FloatArray
    held_out: FloatArray
    all_seconds: FloatArray

    @property
    def seconds(self) -> float:
        """Mean seconds over the folds."""
        return float(self.all_seconds.mean())

    @property
    def error(self) -> float:
        """Mean test error in per cent."""
        return float(self.errors.mean())

    @property
    def log10_lambda(self) -> float:
        """Weight of the margin in the loss."""
        return float(np.log10(float(self.parameters["lambda_"])))  # type: ignore[arg-type]

    @property
    def weights(self) -> str:
        """What settings with another seed alone have in common."""
        return canonical([self.parameters.get(name) for name in WEIGHTS])


AllTried = Mapping[tuple[str, str], list[Tried]]


def tried_of(results: Results) -> dict[tuple[str, str], list[Tried]]:
    """Settings by dataset and method, as far as all folds are measured.

    Examples
    --------
    >>> cells = [Cell("m", {"data": "x/a", "method": "NB", "fold": f}) for f in (1, 2)]
    >>> numbers = {"error": 0.25, "validation_error": 0.5, "seconds": 2.0}
    >>> found = tried_of(Results(tuple(cells), (numbers, numbers)))
    >>> found["a", "NB"][0].error
    25.0
    """
    folds: dict[str, set[Value]] = {}
    by_setting: dict[tuple[str, str, str], list[tuple[Cell, Numbers]]] = {}
    for cell, numbers in results:
        apart = {k: v for k, v in cell.parameters.items() if k != "fold"}
        name, method = set_of(cell), str(cell.parameters["method"])
        folds.setdefault(name, set()).add(cell.parameters.get("fold"))
        by_setting.setdefault((name, method, canonical(apart)), []).append(
            (cell, numbers)
        )
    found: dict[tuple[str, str], list[Tried]] = {}
    for (name, method, _), of_folds in by_setting.items():
        if len(of_folds) == len(folds[name]):
            parameters = dict(of_folds[0][0].parameters)
            parameters.pop("fold", None)
            errors, held_out, seconds = (
                np.array([numbers[number] for _, numbers in of_folds], dtype=np.float64)
                for number in ("error", "validation_error", "seconds")
            )
            one = Tried(parameters, 100 * errors, 100 * held_out, seconds)
            found.setdefault((name, method), []).append(one)
    return found


def set_of(cell: Cell) -> str:
    """Name of the dataset of a cell."""
    return str(cell.parameters["data"]).rpartition("/")[2]


def sets_of(tried: AllTried) -> list[str]:
    """Names of the datasets, in the order of the plan."""
    return list(dict.fromkeys(name for name, _ in tried))


def least(tried: list[Tried]) -> float:
    """Least mean test error of a setting, as papers report it."""
    return min(one.error for one in tried)


def chosen(tried: list[Tried]) -> float:
    """Mean test error if in every fold the held-out samples choose the setting."""
    held_out = np.array([one.held_out for one in tried])
    errors = np.array([one.errors for one in tried])
    return float(errors[held_out.argmin(axis=0), np.arange(errors.shape[1])].mean())
