from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import CapabilityError, InputError, TableSizeError
from tanager.data import ArrayData
from tanager.scores import (
    BIC,
    K2,
    MDL,
    BDe,
    ClassificationRate,
    DecomposableScore,
    LogLikelihood,
    score_from,
)
from tests.reference.hill_climbing import PlainFamilies
from tests.scores.makers import with_jobs
from tests.strategies import generators, random_data
from tests.tolerance import assert_close

NAMES = ["ll", "bic", "mdl", "bde", "bdeu", "k2"]


@st.composite
def rows(draw, **options):
    return random_data(
        draw(generators()),
        draw(st.integers(1, 60)),
        5,
        missing=draw(st.sampled_from([0.0, 0.2])),
        weighted=draw(st.booleans()),
        unlabelled=draw(st.sampled_from([0.0, 0.3])),
        **options,
    )


def drawn_family(random, n_variables):
    order = random.permutation(n_variables).tolist()
    return order[0], tuple(order[1 : 1 + int(random.integers(0, 4))])


@pytest.mark.parametrize("name", NAMES)
@given(data=rows(), random=generators())
def test_scores_equal_the_formulas(name, data, random):
    scores, plain = score_from(name).families(data), PlainFamilies(data, name)
    for _ in range(4):
        child, parents = drawn_family(random, 6)
        assert_close(scores.of(child, parents), plain.family(child, parents))
        (column,) = scores.further([(child, parents)])
        for other in range(6):
            if other == child or other in parents:
                assert np.isnan(column[other])
            else:
                expected = plain.family(child, (*parents, other))
                assert_close(column[other], expected)


@pytest.mark.parametrize("sample_size", [1e-3, 20.0])
@given(data=rows(), random=generators())
def test_prior_weight_is_that_of_the_formula(sample_size, data, random):
    scores = BDe(sample_size=sample_size).families(data)
    plain = PlainFamilies(data, "bde", sample_size)
    child, parents = drawn_family(random, 6)
    assert_close(scores.of(child, parents), plain.family(child, parents))


@given(data=rows(max_states=3), random=generators())
def test_large_counts_and_groups_give_the_same(data, random):
    weights = np.full(data.n_samples, 1000.0)
    many = ArrayData(data.schema, data.codes, data.labels, weights)
    scores, plain = BDe().families(many), PlainFamilies(many, "bde")
    child, parents = drawn_family(random, 6)
    assert_close(scores.of(child, parents), plain.family(child, parents))


@pytest.mark.parametrize("name", NAMES)
@given(data=rows(), random=generators())
def test_known_scores_do_not_depend_on_how_they_were_found(name, data, random):
    child, parents = drawn_family(random, 6)
    alone = score_from(name).families(data)
    among = score_from(name).families(with_jobs(data, 3))
    among.further([(j, ()) for j in range(6)])
    if parents:
        among.further([(child, parents[1:])])
    assert alone.of(child, parents) == among.of(child, parents[::-1])


@pytest.mark.parametrize("name", NAMES)
@given(data=rows(), random=generators())
def test_rows_in_another_order_and_repeated_ones_score_the_same(name, data, random):
    order = random.permutation(data.n_samples)
    times = random.integers(0, 3, data.n_samples)
    if not times.any():
        return
    repeated = ArrayData(data.schema, data.codes, data.labels).take(
        np.repeat(np.arange(data.n_samples), times)[::-1]
    )
    weighted = ArrayData(data.schema, data.codes, data.labels, times.astype(float))
    score = score_from(name)
    child, parents = drawn_family(random, 6)
    one, two = (
        score.families(rows_of).of(child, parents)
        for rows_of in (data, data.take(order))
    )
    assert one == two
    one, two = (
        score.families(rows_of).of(child, parents) for rows_of in (repeated, weighted)
    )
    assert one == two


@given(random=generators())
def test_both_directions_of_an_arc_score_alike_where_the_score_says_so(random):
    data = random_data(random, 50, 3)
    for score in (LogLikelihood(), BIC(), MDL(), BDe(sample_size=3.0)):
        scores = score.families(data)
        forth = scores.of(0, (3,)) + scores.of(3, ())
        back = scores.of(3, (0,)) + scores.of(0, ())
        assert_close(forth, back)


def test_unlabelled_rows_speak_for_features():
    data = random_data(np.random.default_rng(1), 40, 2, unlabelled=0.5, n_classes=2)
    labelled = data.take(np.flatnonzero(data.labels < 2))
    scores, fewer = LogLikelihood().families(data), LogLikelihood().families(labelled)
    assert scores.of(0, ()) < fewer.of(0, ())
    assert_close(scores.of(2, ()), fewer.of(2, ()))


def test_only_what_is_allowed_is_counted():
    data = random_data(np.random.default_rng(2), 30, 3)
    allowed = np.ones((4, 4), dtype=bool)
    allowed[1, 0] = False
    (column,) = BIC().families(data, allowed=allowed).further([(0, ())])
    assert np.isnan(column).tolist() == [True, True, False, False]


@pytest.mark.parametrize("part", ["cr", "cl", "margin", ClassificationRate(folds=3)])
def test_scores_of_classifiers_have_no_families(part):
    data = random_data(np.random.default_rng(3), 10, 2)
    score = score_from(part)
    assert not isinstance(score, DecomposableScore)
    with pytest.raises(CapabilityError, match="scores whole classifiers, but this"):
        score.families(data)


def test_no_rows_are_refused():
    data = random_data(np.random.default_rng(4), 10, 2)
    nothing = ArrayData(data.schema, data.codes, data.labels, np.zeros(10))
    with pytest.raises(InputError, match="no sample with a weight above 0"):
        K2().families(nothing)


def test_too_large_tables_are_refused_or_passed_over(monkeypatch):
    monkeypatch.setattr("tanager.scores.family_scores.MAX_CELLS", 8)
    data = random_data(np.random.default_rng(5), 30, 4, n_classes=3)
    states = data.schema.n_states
    scores = K2().families(data)
    wide = int(states[:-1].argmax())
    assert states[wide] == 4
    with pytest.raises(
        TableSizeError, match=r"'class' given \['f.'\] would have 12 ce"
    ):
        scores.of(4, (wide,))
    further = scores.further([(4, ())])[0]
    too_large = states * states[4] > 8
    too_large[4] = True
    np.testing.assert_array_equal(np.isnan(further), too_large)
    assert not too_large.all()


def test_threads_take_turns_with_large_tables(monkeypatch):
    data = random_data(np.random.default_rng(6), 200, 5, missing=0.1)
    families = [(child, ()) for child in range(6)]
    expected = BDe().families(data).further(families)
    monkeypatch.setattr("tanager.scores.family_scores.LARGE_CELLS", 1)
    threaded = with_jobs(data, 3)
    np.testing.assert_array_equal(BDe().families(threaded).further(families), expected)
