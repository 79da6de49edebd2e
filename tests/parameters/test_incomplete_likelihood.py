from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import EM, InputError, Structure, TableSizeError
from tanager.parameters.apn import negative_mean
from tanager.parameters.incomplete_likelihood import ObservedLikelihood
from tanager.parameters.softmax_objective import SoftmaxLayout
from tests.reference import em as reference
from tests.strategies import (
    generators,
    kinds,
    random_dag,
    random_data,
    random_parameters,
    random_structure,
    too_wide,
)
from tests.tolerance import assert_close


@settings(max_examples=25)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
    unlabelled=st.sampled_from([0.0, 0.5]),
    weighted=st.booleans(),
    drawn=kinds,
)
def test_value_and_counts_equal_enumeration(
    random, missing, unlabelled, weighted, drawn
):
    data = random_data(
        random, 8, 4, missing, weighted, unlabelled, max_states=3, n_classes=3
    )
    structure = drawn(random, data.schema)
    rows = ObservedLikelihood.of(structure, data)
    log_theta = random_parameters(random, data.schema, structure).log_theta
    value, counts = rows.expected(log_theta)
    expected = reference.expectation(structure, data, rows.layout, log_theta)
    assert_close(value, expected[0])
    assert_close(counts, expected[1])
    # Barren features sum to one: they are in no likelihood.
    whole = reference.expectation(structure, data, rows.layout, log_theta, barren=True)
    assert_close(value, whole[0])


@settings(max_examples=25)
@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
    unlabelled=st.sampled_from([0.0, 0.5]),
    alpha=st.sampled_from([0.0, 1.0]),
    drawn=kinds,
)
def test_the_gradient_equals_finite_differences(
    random, missing, unlabelled, alpha, drawn
):
    data = random_data(random, 30, 4, missing, True, unlabelled, n_classes=3)
    structure = drawn(random, data.schema)
    rows = ObservedLikelihood.of(structure, data)
    beta = random.normal(size=rows.layout.n_cells)
    softmax = SoftmaxLayout(rows.layout)
    gradient = negative_mean(rows, softmax, alpha, beta)[1]
    way = random.normal(size=len(beta))
    up, down = (
        negative_mean(rows, softmax, alpha, beta + sign * 1e-6 * way)[0]
        for sign in (1, -1)
    )
    assert (up - down) / 2e-6 == pytest.approx(gradient @ way, rel=1e-4, abs=1e-7)


@settings(max_examples=20)
@given(random=generators(), max_parents=st.integers(0, 3))
def test_complete_rows_without_labels_go_with_any_structure(random, max_parents):
    data = random_data(random, 12, 4, unlabelled=0.6, weighted=True, max_states=3)
    structure = random_dag(random, data.schema, max_parents)
    rows = ObservedLikelihood.of(structure, data)
    log_theta = random_parameters(random, data.schema, structure).log_theta
    value, counts = rows.expected(log_theta)
    expected = reference.expectation(structure, data, rows.layout, log_theta)
    assert_close(value, expected[0])
    assert_close(counts, expected[1])


def test_impossible_states_add_nothing():
    random = np.random.default_rng(2)
    data = random_data(random, 40, 3, 0.3, unlabelled=0.5, max_states=3, n_classes=2)
    structure = random_structure(random, data.schema)
    rows = ObservedLikelihood.of(structure, data)
    # A class that is never seen and has no probability.
    log_theta = np.array(random_parameters(random, data.schema, structure).log_theta)
    log_theta[-2:] = 0.0, -np.inf
    labels = np.where(data.labels == 1, 0, data.labels)
    rows = ObservedLikelihood.of(structure, replace(data, labels=labels))
    value, counts = rows.expected(log_theta)
    assert np.isfinite(value)
    for t in range(rows.layout.n_tables):
        assert not rows.layout.table(counts, t)[..., 1].any()
    # A row that cannot be has no likelihood and no posterior.
    log_theta[-2:] = -np.inf, -np.inf
    value, counts = rows.expected(log_theta)
    assert value == -np.inf
    assert np.isfinite(counts).all()


def test_rows_of_weight_zero_are_not_there():
    random = np.random.default_rng(3)
    data = random_data(random, 40, 4, 0.3, unlabelled=0.3)
    structure = random_structure(random, data.schema)
    weights = (np.arange(40) % 2 == 0).astype(float)
    log_theta = random_parameters(random, data.schema, structure).log_theta
    zero = ObservedLikelihood.of(structure, replace(data, weights=weights))
    gone = ObservedLikelihood.of(structure, data.take(np.flatnonzero(weights)))
    assert zero.total == gone.total
    for found, expected in zip(
        zero.expected(log_theta), gone.expected(log_theta), strict=True
    ):
        assert_close(found, expected)


def test_threads_do_not_change_the_bits():
    random = np.random.default_rng(4)
    data = random_data(random, 60_000, 3, 0.2, unlabelled=0.3)
    structure = random_structure(random, data.schema)
    log_theta = random_parameters(random, data.schema, structure).log_theta
    one, three = (
        ObservedLikelihood.of(structure, replace(data, n_jobs=n)).expected(log_theta)
        for n in (None, 3)
    )
    assert one[0] == three[0]
    assert np.array_equal(one[1], three[1])


def test_labels_count_though_the_parents_of_the_class_are_never_observed():
    random = np.random.default_rng(6)
    data = random_data(random, 30, 2, n_classes=2)
    data.codes[:, 0] = data.schema.n_states[0]
    structure = Structure(((), (2,), (0,)), 2)
    rows = ObservedLikelihood.of(structure, data)
    assert not rows.counts.table(2).any()
    log_theta = random_parameters(random, data.schema, structure).log_theta
    value, counts = rows.expected(log_theta)
    expected = reference.expectation(structure, data, rows.layout, log_theta)
    assert_close(value, expected[0])
    assert_close(counts, expected[1])


@pytest.mark.parametrize("class_rooted", [False, True])
def test_sums_that_are_too_large_are_refused(class_rooted):
    random = np.random.default_rng(7)
    structure, data = too_wide(random, 20, 0.1, class_rooted)
    with pytest.raises(TableSizeError, match="'f0'"):
        ObservedLikelihood.of(structure, data)
    complete = too_wide(random, 20)[1]
    assert np.isfinite(EM().learn(structure, complete).log_theta).all()


def test_what_cannot_be_learned_is_refused_with_the_reason():
    random = np.random.default_rng(5)
    data = random_data(random, 30, 4, 0.3, n_classes=2)
    structure = random_structure(random, data.schema)
    nothing = replace(data, labels=np.full(30, 2, dtype=np.uint8))
    weightless = replace(data, weights=np.zeros(30))
    with pytest.raises(InputError, match="labelled samples have weight zero"):
        ObservedLikelihood.of(structure, weightless)
    with pytest.raises(InputError, match="No sample has a label"):
        ObservedLikelihood.of(structure, nothing)
