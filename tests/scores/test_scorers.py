"""What every scorer of moves has to do, whatever it scores by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import DFE, Frequency
from tanager.scores import (
    BIC,
    BDe,
    Best,
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    CustomScore,
    LogLikelihood,
    Moves,
)
from tanager.structure import GreedyKTree, OrderBased, SuperParent
from tests.reference.search import PlainScore
from tests.scores.makers import (
    balanced,
    groups_of,
    growing_moves,
    grown,
    made,
    with_jobs,
)
from tests.strategies import generators, random_data
from tests.tolerance import TABLES, assert_close

PLAIN = {
    "cr": ClassificationRate(),
    "cl": ConditionalLogLikelihood(),
    "margin": CappedMargin(),
}
SCORES = {
    **PLAIN,
    "cr folds": ClassificationRate(folds=3),
    "cr laplace": ClassificationRate(parameters="fe"),
    "cr no smoothing": ClassificationRate(parameters=Frequency(alpha=0.0)),
    "cl folds": ConditionalLogLikelihood(folds=2),
    "own": CustomScore(balanced),
    "own folds": CustomScore(balanced, folds=2),
    "ll": LogLikelihood(),
    "bic": BIC(),
    "bde": BDe(sample_size=3.0),
    "dfe": ClassificationRate(parameters="dfe"),
    "dfe folds": ConditionalLogLikelihood(parameters="dfe", folds=2),
}


@st.composite
def situations(draw):
    """Rows, an order of the features, and a structure that keeps to it."""
    random = draw(generators())
    data = random_data(
        random,
        int(random.integers(6, 50)),
        5,
        missing=draw(st.sampled_from([0.0, 0.2])),
        weighted=draw(st.booleans()),
        unlabelled=draw(st.sampled_from([0.0, 0.2])),
        max_states=3,
    )
    order, parents = grown(random, 5, 1)
    return random, data, order, parents


def fresh(score, data, parents):
    return score.scorer(data, parents, random_state=np.random.default_rng(5))


@settings(max_examples=10)
@pytest.mark.parametrize("name", SCORES)
@given(situation=situations())
def test_the_value_stays_that_of_a_fresh_scorer(name, situation):
    random, data, order, parents = situation
    score = SCORES[name]
    scorer = fresh(score, data, parents)
    for _ in range(4):
        moves = growing_moves(random, order, scorer.parents, 3)
        if not len(moves):
            break
        known = None
        move = moves[int(random.integers(len(moves)))]
        if random.random() < 0.5:
            best = scorer.best(moves, above=-np.inf)
            move, known = moves[best.index], best.score
        expected = made(scorer.parents, [move])
        scorer.apply(*move, known)
        assert scorer.parents == expected
        assert_close(scorer.value, fresh(score, data, expected).value)


@settings(max_examples=15)
@pytest.mark.parametrize("kind", PLAIN)
@given(situation=situations())
def test_values_equal_those_of_the_plain_score(kind, situation):
    _, data, _, parents = situation
    labelled = data.take(np.flatnonzero(data.labels < data.schema.n_classes))
    value = fresh(PLAIN[kind], data, parents).value
    assert_close(value, PlainScore(labelled, kind).value(parents))


@settings(max_examples=10)
@pytest.mark.parametrize("name", SCORES)
@given(situation=situations(), raised=st.sampled_from([-np.inf, 0.0, 0.5, 1e9]))
def test_the_best_move_is_that_of_making_each_alone(name, situation, raised):
    random, data, order, parents = situation
    score = SCORES[name]
    scorer = fresh(score, data, parents)
    for _ in range(2):  # the second time with what was kept of the first
        moves = growing_moves(random, order, parents, 3)
        values = [
            fresh(score, data, made(parents, [moves[t]])).value
            for t in range(len(moves))
        ]
        above = scorer.value + raised
        best = scorer.best(moves, above=above)
        assert best.candidates == len(moves)
        if not values or max(values) <= above:
            assert best.index is None
            continue
        assert_close(best.score, max(values))
        # The first of equal ones.
        near = np.isclose(values, max(values), rtol=TABLES, atol=TABLES)
        assert best.index == np.flatnonzero(near)[0]


@settings(max_examples=10)
@pytest.mark.parametrize("name", SCORES)
@given(situation=situations())
def test_moves_made_together_are_as_moves_made_in_turn(name, situation):
    random, data, order, parents = situation
    score = SCORES[name]
    scorer = fresh(score, data, parents)
    moves = growing_moves(random, order, parents, 3)
    if not len(moves):
        return
    groups = groups_of(random, moves)
    values = []
    for group in groups:
        other = fresh(score, data, parents)
        for t in group:
            other.apply(*moves[t], None)
        values.append(other.value)
    best = scorer.best_together(moves, groups)
    assert best.candidates == len(groups)
    assert_close(best.score, max(values))
    near = np.isclose(values, max(values), rtol=TABLES, atol=TABLES)
    assert best.index == np.flatnonzero(near)[0]


def superparents(random, order, parents):
    """Arcs from every feature to some of those after it, and which are of each."""
    arcs, groups, of = [], [], []
    for place, parent in enumerate(order):
        free = [
            c
            for c in order[place + 1 :]
            if parent not in parents[c]
            if random.random() < 0.8
        ]
        if free:
            groups.append(list(range(len(arcs), len(arcs) + len(free))))
            arcs += [(c, (parent, *parents[c])) for c in free]
            of.append(parent)
    return Moves.of(arcs), groups, of


@settings(max_examples=15)
@pytest.mark.parametrize("name", SCORES)
@given(situation=situations())
def test_the_best_superparent_is_that_of_moves_made_together(name, situation):
    compare_superparents(SCORES[name], *situation)


@settings(max_examples=15)
@pytest.mark.parametrize("room", [0, 20_000, 256_000_000])
@pytest.mark.parametrize("name", ["cr", "cr folds", "cr no smoothing"])
@given(random=generators(), n_rows=st.integers(20, 700), n_classes=st.integers(1, 4))
def test_bounds_of_superparents_change_no_result(name, room, random, n_rows, n_classes):
    data = random_data(
        random,
        n_rows,
        10,
        missing=random.choice([0.0, 0.1]),
        weighted=random.random() < 0.5,
        n_classes=n_classes,
        max_states=3,
    )
    with pytest.MonkeyPatch.context() as patch:
        # Several waves of groups and parts of the rows.
        patch.setattr("tanager.scores.superparent_bounds.WAVE", 2)
        patch.setattr("tanager.scores.superparent_bounds.CACHE_BYTES", room)
        patch.setattr("tanager.scores.classification_scorer.PART_ROWS", 64)
        order, parents = grown(random, 10, 1)
        compare_superparents(SCORES[name], random, with_jobs(data, 2), order, parents)


def compare_superparents(score, random, data, order, parents):
    scorer = fresh(score, data, parents)
    for _ in range(5):  # after the first with bounds that are kept
        moves, groups, of = superparents(random, order, scorer.parents)
        if not len(moves):
            break
        expected = fresh(score, data, scorer.parents).best_together(moves, groups)
        found = scorer.best_superparent(moves, groups, of)
        assert found.index == expected.index
        assert_close(found.score, expected.score)
        assert found.candidates == len(groups)
        for t in random.permutation(groups[found.index])[: random.integers(3)]:
            scorer.apply(*moves[int(t)], None)


@pytest.mark.parametrize("name", ["cr", "cr folds"])
def test_superparents_of_rows_that_cannot_turn_are_not_worked_out_again(name):
    random = np.random.default_rng(3)
    data = random_data(random, 3000, 8, n_classes=3, max_states=3)
    trace = SuperParent(score=SCORES[name]).learn(data).trace
    first, *later = [step["superparent_samples_visited"] for step in trace]
    assert first == 3000 * 8  # they are one wave, so none is given up
    assert later
    assert max(later) < first / 2
    looked_up = [step["superparent_samples_looked_up"] for step in trace]
    assert looked_up[0] == 0
    assert all(rows % 3000 == 0 for rows in looked_up[1:])


@pytest.mark.parametrize("name", SCORES)
def test_no_moves_have_no_best(name):
    data = random_data(np.random.default_rng(0), 20, 3)
    scorer = fresh(SCORES[name], data, [()] * 3)
    assert scorer.best(Moves.of([]), above=-np.inf) == Best(None, -np.inf, 0, 0)


def test_rows_right_equal_a_function_that_says_the_same():
    def right(log_joint, labels, weights):
        return weights[log_joint.argmax(axis=1) == labels].sum()

    random = np.random.default_rng(8)
    for seed in range(5):
        data = random_data(random, 200, 6, missing=0.1 * (seed % 2), n_classes=3)
        ours, theirs = (
            GreedyKTree(2, score=score).learn(data) for score in ("cr", right)
        )
        steps = [
            [(step["arcs"], step["score"]) for step in result.trace]
            for result in (ours, theirs)
        ]
        assert steps[0] == steps[1]


SEARCHES = {
    "greedy": GreedyKTree(2),
    "greedy folds": GreedyKTree(2, score=ClassificationRate(folds=3)),
    "greedy cl": GreedyKTree(score="cl"),
    "greedy own": GreedyKTree(1, score=balanced),
    "greedy bic": GreedyKTree(2, score="bic"),
    "superparent": SuperParent(2),
    "superparent cl": SuperParent(2, score="cl"),
    "superparent bde": SuperParent(2, score="bde"),
    "order": OrderBased(k=2),
    "order margin": OrderBased(k=2, score="margin"),
    "order dfe": OrderBased(score=ClassificationRate(parameters="dfe")),
}


def story(result, work=True):
    """Arcs and scores of all steps, and what they took."""
    left_out = {"seconds"}
    if not work:
        left_out |= {
            name for step in result.trace for name in step if "samples" in name
        }
    return [
        {name: step[name] for name in step if name not in left_out}
        for step in result.trace
    ]


@pytest.fixture(scope="module")
def rows():
    return random_data(np.random.default_rng(4), 100, 6, missing=0.02, n_classes=3)


@pytest.mark.parametrize("name", SEARCHES)
def test_threads_change_neither_results_nor_work(name, rows):
    learner = SEARCHES[name]
    one = learner.learn(with_jobs(rows, 1))
    for n_jobs in (2, 3):
        many = learner.learn(with_jobs(rows, n_jobs))
        assert story(many) == story(one)
        assert many.structure == one.structure


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "budget",
    [
        {
            "incremental_scorer.WAVE": 1,
            "superparent_bounds.WAVE": 1,
            "function_scorer.WAVE": 1,
        },
        {"classification_scorer.PART_ROWS": 7},
        {"incremental_scorer.WAVE": 3, "incremental_scorer.BLOCK_CELLS": 60},
        {"incremental_scorer.CACHE_BYTES": 8},
        {"incremental_scorer.CACHE_BYTES": 3_000, "incremental_scorer.BLOCK_CELLS": 60},
        {"incremental_scorer.BLOCK_CELLS": 1, "decomposable_scores.BLOCK_CELLS": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", SEARCHES)
def test_little_memory_changes_no_result(name, budget, n_jobs, rows, monkeypatch):
    expected = SEARCHES[name].learn(rows)
    for setting, value in budget.items():
        monkeypatch.setattr(f"tanager.scores.{setting}", value)
    found = SEARCHES[name].learn(with_jobs(rows, n_jobs))
    assert story(found, work=False) == story(expected, work=False)
    assert found.structure == expected.structure


def test_rows_that_cannot_change_are_not_visited():
    data = random_data(np.random.default_rng(6), 300, 6, n_classes=2)
    trace = GreedyKTree().learn(data).trace
    assert all(
        step["samples_visited"] <= step["samples_looked_up"] < 300 * step["candidates"]
        for step in trace
    )


def test_moves_keep_the_parents_there_are():
    data = random_data(np.random.default_rng(0), 20, 3)
    scorer = fresh(ClassificationRate(), data, [(), (0,), ()])
    with pytest.raises(ValueError, match="must keep"):
        scorer.best(Moves.of([(1, (2,))]), above=-np.inf)


def test_kept_tables_are_not_taken_for_those_of_other_features():
    data = random_data(np.random.default_rng(0), 200, 8, n_classes=3)
    nothing = [()] * 8
    moves = Moves.of([(6, (2, 1)), (6, (3, 1))])
    other = Moves.of([(6, (7, 0))])
    scorer = ClassificationRate().scorer(data, nothing)
    scorer.best(moves, above=-np.inf)
    again = scorer.best(other, above=-np.inf)
    anew = ClassificationRate().scorer(data, nothing).best(other, above=-np.inf)
    assert again.score == anew.score


def test_impossible_rows_do_not_end_a_search():
    data = random_data(np.random.default_rng(3), 40, 4, n_classes=3, max_states=4)
    score = ConditionalLogLikelihood(parameters=DFE(alpha=0.01), folds=3)
    scorer = score.scorer(data, [()] * 4, random_state=np.random.default_rng(0))
    assert np.isfinite(scorer.value)
