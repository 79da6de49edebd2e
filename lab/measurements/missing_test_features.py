"""Test samples of which some features are missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lab.measurements.coded_datasets import (
    SEED,
    part_of,
    searched,
    tables_of,
)
from lab.runner.cell import Numbers
from tanager.data import ArrayData
from tanager.inference import engine_for
from tanager.model import Parameters, Structure
from tanager.registry import parameters_from, structure_from
from tanager.types import CodeArray


def missing_feature_accuracy(
    *,
    data: str,
    structure: str,
    parameters: Sequence[str],
    n_missing: int,
    repetitions: int,
    fold: int | None = None,
) -> Numbers:
    """Accuracy when the same number of features is missing from every test row.

    Parameters
    ----------
    data, structure, parameters, fold
        See `structure_accuracy`. Training samples are complete.
    n_missing : int
        How many features, drawn again for every sample; the same for all classifiers.
    repetitions : int
        How often they are drawn.
    """
    test = part_of(data, fold).test
    found: dict[str, list[float]] = {f"accuracy_{name}": [] for name in parameters}
    engines = {
        name: engine_for(learned(data, fold, structure, name)) for name in parameters
    }
    for repetition in range(repetitions if n_missing else 1):
        codes = without(test, n_missing, np.random.default_rng([SEED, repetition]))
        for name, engine in engines.items():
            classes = engine.log_joint(codes).argmax(axis=1)
            found[f"accuracy_{name}"].append(float(np.mean(classes == test.labels)))
    return found


@lru_cache(maxsize=2)
def _structure(data: str, fold: int | None, structure: str) -> Structure:
    learner = structure_from(structure)
    return searched(learner, part_of(data, fold).train)[0].structure


@lru_cache(maxsize=4)
def learned(data: str, fold: int | None, structure: str, parameters: str) -> Parameters:
    """The tables of a network, in memory for the next cell."""
    found = _structure(data, fold, structure)
    return tables_of(parameters_from(parameters), found, part_of(data, fold).train)


def without(rows: ArrayData, n_missing: int, random: np.random.Generator) -> CodeArray:
    """Codes of rows, as many features of every one missing.

    Examples
    --------
    >>> rows = part_of("sklearn/iris", 1).test
    >>> gaps = without(rows, 3, np.random.default_rng(0)) == rows.schema.n_states[:-1]
    >>> set(gaps.sum(axis=1).tolist())
    {3}
    """
    codes = rows.codes.copy(order="F")
    places = np.argsort(random.random(codes.shape), axis=1)[:, :n_missing]
    np.put_along_axis(codes, places, rows.schema.n_states[places], axis=1)
    return codes
