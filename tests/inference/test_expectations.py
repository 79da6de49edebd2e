from __future__ import annotations

import numpy as np
import pytest

from tanager import TableSizeError
from tanager.inference.expectations import (
    ForestExpectations,
    JunctionExpectations,
    ObservedFamilies,
    exact_expectations,
    expectations_of,
)
from tanager.model.layout import FamilyLayout
from tests.strategies import random_network, too_wide

ROOTED = FamilyLayout.of_families(
    (2, 2, 2, 2), ((3, 0), (3, 0, 1), (3, 0, 1, 2), (3,)), 3
)
EFFECT = FamilyLayout.of_families((2, 2, 2), ((0,), (1,), (0, 1, 2)), 2)


def test_forests_below_the_class_have_their_own():
    tree = random_network(np.random.default_rng(0), 5).parameters.layout
    assert isinstance(expectations_of(tree), ForestExpectations)
    assert isinstance(exact_expectations(tree), ForestExpectations)
    apart = FamilyLayout.of_families((2, 2, 2), ((2, 0), (0, 1), (2,)), 2)
    for layout in (ROOTED, EFFECT, apart):
        assert isinstance(expectations_of(layout), JunctionExpectations)


def test_too_large_sums_are_left_out_below_a_root_class_alone():
    random = np.random.default_rng(0)
    structure, data = too_wide(random, 1)
    rooted = FamilyLayout.of_structure(data.schema, structure)
    assert isinstance(expectations_of(rooted), ObservedFamilies)
    with pytest.raises(TableSizeError):
        exact_expectations(rooted)
    structure, data = too_wide(random, 1, class_rooted=False)
    other = FamilyLayout.of_structure(data.schema, structure)
    for of in (exact_expectations, expectations_of):
        with pytest.raises(TableSizeError, match="'f0'"):
            of(other, data.schema)
