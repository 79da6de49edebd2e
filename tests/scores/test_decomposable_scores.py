from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import binom, gammaln, xlogy

from tanager import InputError
from tanager.data import ArrayData
from tanager.scores import BIC, K2, MDL, BDe, LogLikelihood
from tanager.structure import GreedyKTree
from tests.scores.makers import grown
from tests.strategies import generators, random_data
from tests.tolerance import assert_close


def family_counts(data, child, parents):
    """Counts, axes (configuration of parents and class, state), by rows.

    A missing parent is a state of its own, where it occurs.
    """
    states, n_classes = data.schema.n_states, data.schema.n_classes
    known = (data.codes[:, child] < states[child]) & (data.labels < n_classes)
    labelled = data.labels < n_classes
    columns = [data.codes[:, p].astype(int) for p in parents]
    widths = [
        states[p] + bool((data.codes[labelled, p] == states[p]).any()) for p in parents
    ]
    weights = np.ones(len(data.codes)) if data.weights is None else data.weights
    table = np.zeros((*widths, n_classes, states[child]))
    cells = (*columns, data.labels.astype(int), data.codes[:, child].astype(int))
    np.add.at(table, tuple(cell[known] for cell in cells), weights[known])
    return table.reshape(-1, states[child])


def expected_score(data, parents, score):
    labelled = data.labels < data.schema.n_classes
    n_rows = labelled.sum() if data.weights is None else data.weights[labelled].sum()
    total = 0.0
    for child, of in enumerate(parents):
        counts = family_counts(data, child, of)
        mass = counts.sum(axis=1)
        if isinstance(score, BDe | K2):
            if isinstance(score, BDe):
                cell = score.sample_size / counts.size
            else:
                cell = score.weight
            row = cell * counts.shape[1]
            total += (gammaln(row) - gammaln(row + mass)).sum()
            total += (gammaln(cell + counts) - gammaln(cell)).sum()
            continue
        total += xlogy(counts, counts).sum() - xlogy(mass, mass).sum()
        if isinstance(score, BIC | MDL):
            free = len(counts) * (counts.shape[1] - 1)
            total -= 0.5 * np.log(max(n_rows, 1.0)) * free
        if isinstance(score, MDL):
            n_variables = len(data.schema)
            total -= np.log(n_variables) + np.log(binom(n_variables, len(of) + 1))
    return total


@given(
    random=generators(),
    score=st.sampled_from(
        [
            LogLikelihood(),
            BIC(),
            MDL(),
            BDe(),
            BDe(sample_size=20.0),
            BDe(sample_size=1e-3),
            K2(),
            K2(weight=0.5),
        ]
    ),
    missing=st.sampled_from([0.0, 0.2]),
    weighted=st.booleans(),
    unlabelled=st.sampled_from([0.0, 0.3]),
)
def test_scores_equal_the_formulas(random, score, missing, weighted, unlabelled):
    data = random_data(
        random, 50, 4, missing=missing, weighted=weighted, unlabelled=unlabelled
    )
    _, parents = grown(random, 4, 3)
    value = score.scorer(data, parents).value
    assert_close(value, expected_score(data, parents, score))


def test_arcs_that_say_nothing_raise_the_likelihood_but_not_what_is_penalised():
    data = random_data(np.random.default_rng(4), 300, 4, n_classes=2, max_states=3)
    assert data.schema.n_states.min() > 1
    arcs = {
        name: sum(map(len, GreedyKTree(score=name).learn(data).structure.parents))
        for name in ("ll", "bic", "bde")
    }
    assert arcs["bic"] == 4  # those of the class
    assert arcs["bde"] == 4
    assert arcs["ll"] > 4


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e200])
def test_the_likelihood_search_does_not_depend_on_the_unit_of_weights(scale):
    data = random_data(np.random.default_rng(7), 80, 4, n_classes=2)
    scaled = ArrayData(data.schema, data.codes, data.labels, np.full(80, scale))
    expected = GreedyKTree(score="ll").learn(data).structure
    assert GreedyKTree(score="ll").learn(scaled).structure == expected


@pytest.mark.parametrize("sample_size", [0, -1.0, np.nan, "a", None])
def test_prior_weights_are_above_zero(sample_size):
    data = random_data(np.random.default_rng(0), 10, 2)
    with pytest.raises(InputError, match="sample_size must be a finite number above 0"):
        GreedyKTree(score=BDe(sample_size=sample_size)).learn(data)
