"""Scores as they come, brought into cells: one for every dataset and method."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError, listed, unknown_name
from tanager.types import FloatArray

Cell = tuple[str, str]


def check_cells(
    scores: Mapping[Cell, npt.ArrayLike],
) -> tuple[dict[Cell, FloatArray], tuple[str, ...], tuple[str, ...]]:
    """Scores as arrays, checked, and the names of datasets and methods in order.

    No score is missing, and all methods have the same number of folds.
    """
    cells: dict[Cell, FloatArray] = {}
    for key, values in scores.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError(
                f"Keys must be pairs (dataset, method), got {key!r}; write "
                'scores["iris", "NB"] = [0.93, 0.95].'
            )
        cells[key] = _numbers(key, values)
    datasets = tuple(dict.fromkeys(name for name, _ in cells))
    methods = tuple(dict.fromkeys(name for _, name in cells))
    check_names("method", methods)
    check_names("dataset", datasets)
    holes = [(d, m) for d in datasets for m in methods if (d, m) not in cells]
    if holes:
        raise InputError(
            f"{len(holes)} of {len(datasets) * len(methods)} pairs (dataset, method) "
            f"have no scores: {listed(holes, most=5)}. Every method needs scores on "
            "every dataset; add them, or leave out these datasets or methods."
        )
    for name in datasets:
        lengths = {method: len(cells[name, method]) for method in methods}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{method!r} {n}" for method, n in lengths.items())
            raise InputError(
                f"On dataset {name!r} the methods have different numbers of folds: "
                f"{counts}. They are compared fold by fold and need the same ones."
            )
    return cells, datasets, methods


def group_scores(
    datasets: Iterable[str],
    methods: Iterable[str],
    values: Iterable[Any],
    folds: Iterable[Hashable] | None,
) -> dict[Cell, list[Any]]:
    """Group columns in long form by dataset and method, paired by fold."""
    columns = [list(datasets), list(methods), list(values)]
    if folds is not None:
        columns.append(list(folds))
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise InputError(
            f"The columns have {', '.join(map(str, lengths))} rows; they must have the "
            "same number."
        )
    cells: dict[Cell, dict[Hashable, Any]] = {}
    for row in zip(*columns, strict=True):
        own = cells.setdefault((row[0], row[1]), {})
        fold = row[3] if folds is not None else len(own)
        if fold in own:
            raise InputError(
                f"Method {row[1]!r} has two scores in fold {fold!r} of dataset "
                f"{row[0]!r}; give the repetition together with the fold, or remove "
                "one of them."
            )
        own[fold] = row[2]
    if folds is None:
        return {key: list(own.values()) for key, own in cells.items()}
    order: dict[str, list[Hashable]] = {}
    for (dataset, method), own in cells.items():
        first = order.setdefault(dataset, list(own))
        odd = sorted(repr(fold) for fold in set(own) ^ set(first))
        if odd:
            raise InputError(
                f"On dataset {dataset!r} method {method!r} does not have the folds "
                f"of the others; on one side only: {', '.join(odd[:5])}. Methods are "
                "compared on the same folds."
            )
    return {key: [own[fold] for fold in order[key[0]]] for key, own in cells.items()}


def check_values(
    dataset: str, values: npt.ArrayLike, methods: Sequence[str], n_repeats: int
) -> FloatArray:
    """A copy of a dataset's scores, read-only, of shape (n_methods, n_values)."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(methods) or array.shape[1] == 0:
        raise InputError(
            f"The values of dataset {dataset!r} have the shape {array.shape}; "
            f"expected ({len(methods)}, number of folds)."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        method, fold = bad[0]
        raise InputError(
            f"Method {methods[method]!r} has the score {array[method, fold]} in fold "
            f"{fold + 1} of dataset {dataset!r}; scores must be finite. Repeat that "
            "run, or leave the dataset or the method out."
        )
    if array.shape[1] % n_repeats:
        raise InputError(
            f"Dataset {dataset!r} has {array.shape[1]} values, which are not "
            f"{n_repeats} repetitions of a number of folds; correct n_repeats."
        )
    array.setflags(write=False)
    return array


def _numbers(key: tuple[str, str], values: npt.ArrayLike) -> FloatArray:
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The scores of method {key[1]!r} on dataset {key[0]!r} are not all "
            f"numbers: {error}."
        ) from error
    if array.ndim != 1 or len(array) == 0:
        raise InputError(
            f"The scores of method {key[1]!r} on dataset {key[0]!r} have the shape "
            f"{array.shape}; expected one number for every fold, at least one."
        )
    return array


def check_names(what: str, names: Sequence[Any]) -> None:
    if len(names) == 0:
        raise InputError(f"There is no {what}; give at least one.")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"Names of {what}s must be text, got {name!r}.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"The {what} {twice!r} is there twice; names must differ.")


def order_sizes(sizes: Mapping[str, int], datasets: Sequence[str]) -> tuple[int, ...]:
    """The sizes of the datasets in their order."""
    without = [name for name in datasets if name not in sizes]
    if without:
        raise InputError(
            f"sizes has no number of samples for {listed(without)}; give one for every "
            "dataset."
        )
    for name in sizes:
        if name not in datasets:
            raise unknown_name("dataset", name, datasets)
    return tuple(sizes[name] for name in datasets)
