"""Rows of the sets as the experiments of papers code them, and files of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.measurements.coded import (
    SEED,
    Part,
    arcs,
    coded,
    part_of,
    searched,
    tested,
)
from lab.studies.parameters.results import Results
from tanager.datasets import load

__all__ = [
    "FOLDER",
    "FOLDS",
    "SEED",
    "Part",
    "arcs",
    "by_size",
    "coded",
    "parts",
    "results",
    "searched",
    "tested",
]

FOLDS = 5
FOLDER = Path(__file__).parents[2] / "results" / "structure"


def results(name: str, keys: tuple[str, ...]) -> Results:
    """A file of numbers of this experiment."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Results(name, keys, SEED, FOLDER)


def parts(name: str) -> list[Part]:
    """A set of the 2010 paper, by its published split or in five folds."""
    split = load(name).n_train is not None
    folds = [None] if split else list(range(1, FOLDS + 1))
    # The paper reads an empty field of vote as a third value.
    return [part_of(name, fold, n_folds=FOLDS, missing_as="unknown") for fold in folds]


def by_size(names: Sequence[str]) -> list[str]:
    """Sets with few cells first."""
    sizes = {}
    for name in names:
        data = load(name)
        sizes[name] = data.n_rows * len(data.feature_names)
    return sorted(names, key=sizes.__getitem__)
