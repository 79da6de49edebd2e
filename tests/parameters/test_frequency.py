from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanager import Frequency, Network
from tests.reference.counting import count_family, frequencies
from tests.strategies import data_sets, generators, random_structure
from tests.tolerance import EXACT, assert_close


@given(
    data=data_sets(),
    random=generators(),
    options=st.sampled_from(
        [{"alpha": 1.0}, {"alpha": 0.1}, {"zero": 1e-5}, {"alpha": 0.0}]
    ),
)
def test_tables_equal_the_formula(data, random, options):
    structure = random_structure(random, data.schema, max_parents=2)
    parameters = Frequency(**options).learn(structure, data)
    network = Network(data.schema, structure, parameters)
    for index, family in enumerate(structure.families):
        counts = count_family(data, family)
        table = network.table(data.schema.names[index]).values
        assert_close(table, frequencies(counts, **options), EXACT)
        assert_close(table.sum(axis=-1), 1.0, EXACT)


def test_an_unseen_configuration_is_uniform():
    learner = Frequency(zero=1e-5)
    table = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, 0.0]])
    rows = np.exp(learner._log_table(table, 1))
    assert_close(rows[0], 1 / 3, EXACT)
    assert_close(rows[1], np.array([0.75, 0.25, 1e-5]) / 1.00001, EXACT)
