from __future__ import annotations

import numpy as np
import pytest

from tanager.loglinear.factor_layout import FactorLayout, balance_tables
from tests.loglinear.factor_makers import make_factor, make_variables


@pytest.mark.parametrize("n_columns", [1, 3])
def test_tables_apart_are_balanced_like_joined_ones(n_columns):
    random = np.random.default_rng(0)
    variables = make_variables(random, 5, max_values=40)
    factors = [make_factor(variables, f) for f in ([0], [1], [2, 3], [1, 3, 4])]
    layout = FactorLayout.of(factors)
    tables = [random.normal(size=(f.n_cells, n_columns)) for f in factors]
    strengths = random.uniform(0.1, 10.0, size=len(factors))
    joined = np.concatenate(tables)
    layout.balance(joined, strengths)
    balance_tables(factors, tables, strengths)
    np.testing.assert_array_equal(np.concatenate(tables), joined)


def test_one_table_is_not_balanced():
    variables = make_variables(np.random.default_rng(0), 1)
    factor = make_factor(variables, [0])
    table = np.ones((factor.n_cells, 2))
    balance_tables([factor], [table], np.ones(1))
    assert (table == 1.0).all()
