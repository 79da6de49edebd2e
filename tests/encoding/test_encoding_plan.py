"""Encoding of some columns of a frame."""

from __future__ import annotations

import numpy as np
import pytest

from tanager.encoding import encode_frame, read_frame
from tanager.errors import InputError
from tanager.model import Schema, Variable


def make_schema(n_bins, n_others):
    """Discretised variables, and others whose states are numbers."""
    bins = [Variable.binned(f"b{j}", np.arange(j % 5 + 1) / 3.0) for j in range(n_bins)]
    others = [Variable(f"d{j}", (0, 1, 2)) for j in range(n_others)]
    halves = [Variable("half", (0.5, 1.5))] if n_others else []
    return Schema((*bins, *others, *halves))


@pytest.mark.parametrize("n_rows", [1, 2, 3, 40, 3000])
@pytest.mark.parametrize(("n_bins", "n_others"), [(5, 0), (200, 0), (60, 30)])
def test_some_columns_have_the_codes_of_all_and_the_others_zero(
    n_rows, n_bins, n_others
):
    random = np.random.default_rng(n_rows)
    schema = make_schema(n_bins, n_others)
    X = np.round(random.uniform(0.0, 2.0, (n_rows, len(schema))) * 4.0) / 4.0
    X[random.random(X.shape) < 0.1] = np.nan
    every = encode_frame(read_frame(X), schema)
    for columns in ([], [1], [0, 3, len(schema) - 1], list(range(len(schema)))):
        wanted = np.array(columns, dtype=np.int64)
        codes = encode_frame(read_frame(X), schema, wanted)
        assert codes.flags.f_contiguous
        assert codes.dtype == every.dtype
        expected = np.zeros_like(every)
        expected[:, columns] = every[:, columns]
        np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize("n_rows", [1, 3, 3000])
def test_an_infinite_value_is_refused_in_columns_that_matter(n_rows):
    schema = make_schema(50, 0)
    X = np.zeros((n_rows, 50))
    X[-1, 7] = np.inf
    with pytest.raises(InputError, match="'b7'"):
        encode_frame(read_frame(X), schema, np.array([3, 7]))
    assert encode_frame(read_frame(X), schema, np.array([3, 8])).shape == X.shape


def test_typed_columns_are_all_encoded():
    frame = read_frame({"b0": [0.5, 0.0], "b1": [0.1, 2.0]})
    schema = make_schema(2, 0)
    every = encode_frame(frame, schema)
    np.testing.assert_array_equal(encode_frame(frame, schema, np.array([1])), every)
