from __future__ import annotations

import numpy as np
import pytest

from tanager import InputError, SuperParent
from tests.strategies import random_data


@pytest.fixture(scope="module")
def rows():
    return random_data(np.random.default_rng(50), 120, 6, n_classes=3, max_states=3)


@pytest.mark.parametrize(
    ("k", "n_children", "most"), [(1, None, 1), (2, None, 2), (1, 3, 3), (3, 1, 1)]
)
def test_a_superparent_keeps_so_many_children(rows, k, n_children, most):
    result = SuperParent(k, n_children=n_children).learn(rows)
    for step in result.trace:
        assert len(step["arcs"]) <= most
        assert {parent for parent, _ in step["arcs"]} <= {step["superparent"]}
        assert step["superparent_candidates"] <= 6
    assert len(result.trace[0]["arcs"]) == most
    assert all(len(of) <= k for of in result.structure.feature_parents)


def test_more_children_than_there_are_features(rows):
    result = SuperParent(n_children=50).learn(rows)
    assert len(result.trace[0]["arcs"]) in (0, 5)


@pytest.mark.parametrize("n_children", [0, -1, 1.5, "all", True])
def test_numbers_of_children_that_cannot_be(rows, n_children):
    with pytest.raises(InputError, match="n_children must be None or a whole number"):
        SuperParent(n_children=n_children).learn(rows)


def test_too_many_groups_of_children_are_refused(rows, monkeypatch):
    monkeypatch.setattr("tanager.structure.search.superparent.MAX_GROUPS", 9)
    with pytest.raises(InputError, match=r"10 ways to keep 2 of 5 .*n_children=1"):
        SuperParent(2).learn(rows)
    assert SuperParent(2, n_children=1).learn(rows).trace
