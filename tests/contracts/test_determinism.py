"""The table of what changes no bit of a result: every method has a row, which holds."""

from inspect import isabstract

import pytest

import tanager
from tanager.parameters import ParameterLearner
from tanager.structure import Fixed, StructureLearner
from tests.contracts.determinism import (
    CHANGES,
    NONE,
    OTHER,
    SAME,
    TOLERANCES,
    measure,
    parts_of,
    read_table,
)

pytestmark = pytest.mark.contract

ROWS = read_table()

WITHOUT_NAME = {Fixed}
"""Learners that stand in no name: the structure is given."""


def test_every_method_has_a_row():
    missing = [name for name in tanager.names() if name not in ROWS]
    assert not missing, "run python -m tests.contracts.determinism"
    assert list(ROWS) == list(tanager.names())


def test_every_learner_is_in_a_row():
    used = {type(part) for name in ROWS for part in parts_of(name)}
    for package in (tanager.structure, tanager.parameters):
        for name in package.__all__:
            item = getattr(package, name)
            is_learner = isinstance(item, type) and issubclass(
                item, (StructureLearner, ParameterLearner)
            )
            if is_learner and not isabstract(item) and item not in WITHOUT_NAME:
                assert item in used, name


def test_rows_say_one_of_few_things():
    for row in ROWS.values():
        assert tuple(row) == CHANGES
        assert set(row.values()) <= {SAME, OTHER, NONE, *TOLERANCES}


def test_threads_processes_and_batches_never_matter():
    for name, row in ROWS.items():
        assert row["threads"] == row["processes"] == SAME, name
        assert row["batches"] in (SAME, NONE), name
        assert row["jit"] != OTHER, name


@pytest.mark.slow
def test_rows_hold():
    """One process for each environment fits all methods."""
    found = measure(ROWS)
    wrong = [
        (name, change, cell, found[name][change])
        for name, row in ROWS.items()
        for change, cell in row.items()
        if not holds(cell, found[name][change])
    ]
    assert wrong == []


def holds(cell, difference):
    """Whether a measured difference is what a cell says."""
    if cell == NONE or difference is None:
        return cell == NONE and difference is None
    if cell == SAME:
        return difference == 0.0
    return cell == OTHER or difference <= TOLERANCES[cell]


def test_cells_can_be_wrong():
    assert holds(SAME, 0.0)
    assert not holds(SAME, 1e-17)
    assert holds("1e-12", 1e-13)
    assert not holds("1e-12", 1e-11)
    assert holds(NONE, None)
    assert not holds(NONE, 0.0)
    assert not holds(SAME, None)
    assert holds(OTHER, 0.4)
