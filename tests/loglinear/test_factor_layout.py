from __future__ import annotations

import numpy as np
import pytest

from tanager.loglinear import _factor_kernels as kernels
from tanager.loglinear.factor_layout import FactorLayout, balance_tables
from tests.loglinear.factor_makers import make_factor, make_variables
from tests.tolerance import assert_close


@pytest.mark.parametrize("n_columns", [1, 3])
def test_kernel_balances_like_the_tables_apart(n_columns):
    random = np.random.default_rng(0)
    variables = make_variables(random, 5, max_values=40)
    factors = [make_factor(variables, f) for f in ([0], [1], [2, 3], [1, 3, 4])]
    layout = FactorLayout.of(factors)
    tables = [random.normal(size=(f.n_cells, n_columns)) for f in factors]
    strengths = random.uniform(0.1, 10.0, size=len(factors))
    joined = np.concatenate(tables)
    ridges = [f.diagonal for f in factors]
    kernels.balance(
        layout.starts,
        strengths,
        np.array([ridge.sum() for ridge in ridges]),
        np.array([d @ w for d, w in zip(ridges, tables, strict=True)]),
        joined,
    )
    balance_tables(factors, tables, strengths)
    assert_close(np.concatenate(tables), joined)


def test_rows_of_every_factor():
    variables = make_variables(np.random.default_rng(0), 3, max_values=9)
    factors = [make_factor(variables, f) for f in ([0], [1, 2], [2])]
    layout = FactorLayout.of(factors)
    cells = np.arange(2.0 * layout.starts[-1, 2]).reshape(-1, 2)
    views = layout.split(cells)
    assert [len(view) for view in views] == [f.n_cells for f in factors]
    np.testing.assert_array_equal(np.concatenate(views), cells)
    assert all(np.shares_memory(view, cells) for view in views)
    assert layout.is_of(factors)
    assert not layout.is_of(factors[:2])
    others = [make_factor(variables, f) for f in ([0], [1, 2], [2])]
    assert not layout.is_of(others)


def test_one_table_is_not_balanced():
    variables = make_variables(np.random.default_rng(0), 1)
    factor = make_factor(variables, [0])
    table = np.ones((factor.n_cells, 2))
    balance_tables([factor], [table], np.ones(1))
    assert (table == 1.0).all()
