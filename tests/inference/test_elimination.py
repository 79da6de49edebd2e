from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import TableSizeError
from tanager.inference import elimination
from tanager.inference.elimination import most_probable_codes
from tests.reference.joint import joint_table, restricted
from tests.strategies import generators, random_codes, random_network
from tests.tolerance import assert_close


def whole_row(random, network, missing):
    """One row of codes, the class missing."""
    codes = random_codes(random, network.schema, 1, missing)
    return np.column_stack([codes, [network.schema.n_classes]]).astype(codes.dtype)


@settings(max_examples=40)
@given(
    random=generators(),
    n_features=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_maxima_equal_enumeration(random, n_features, missing):
    network = random_network(random, n_features, max_parents=3, class_rooted=False)
    row = whole_row(random, network, missing)
    before = row.copy()
    found, log_probability = most_probable_codes(network.parameters, row)
    possible = restricted(network, joint_table(network), row[0])
    assert_close(log_probability, np.log(possible.max()))
    assert_close(possible[tuple(found[0])], possible.max())
    assert np.array_equal(row, before)
    known = row[0] < network.schema.n_states
    assert np.array_equal(found[0][known], row[0][known])
    assert (found[0] < network.schema.n_states).all()


def test_cliques_are_named_by_number_without_a_schema(monkeypatch):
    random = np.random.default_rng(6)
    network = random_network(random, 4, max_parents=3, n_classes=3, max_states=4)
    row = whole_row(random, network, 1.0)
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 1)
    with pytest.raises(TableSizeError, match=r"over the clique \[\d"):
        most_probable_codes(network.parameters, row)
    with pytest.raises(TableSizeError, match=r"over the clique \['f\d', .*'class'\]"):
        most_probable_codes(network.parameters, row, network.schema)
