from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    Constraints,
    InputError,
    Schema,
    TableEncoder,
    Variable,
    datasets,
)
from tanager.data import ArrayData
from tanager.encoding.labels import encode_labels
from tanager.parameters import Frequency
from tanager.scores import ClassificationRate, CustomScore
from tanager.structure import GreedyKTree, OrderBased, SuperParent
from tanager.structure.orders.feature_orders import feature_order
from tests.reference import search as reference
from tests.strategies import generators, random_data
from tests.structure.search.helpers import (
    EDGE_CASES,
    Clock,
    edge_case_data,
    three_state_data,
    with_arguments,
)


def with_ties(random, data):
    """The data with a copy of a feature, a constant one and repeated rows."""
    codes = data.codes.copy()
    if codes.shape[1] > 2:
        states = data.schema.n_states
        source, target = random.choice(codes.shape[1], size=2, replace=False)
        codes[:, target] = np.minimum(codes[:, source], states[target] - 1)
        codes[:, random.integers(codes.shape[1])] = 0
    rows = random.integers(len(codes), size=len(codes))
    weights = None if data.weights is None else data.weights[rows]
    return ArrayData(
        data.schema, np.asfortranarray(codes[rows]), data.labels[rows], weights
    )


def steps_of(result, data):
    """Arcs and scores of every step that changed something."""
    index = data.schema.index
    return [
        ([(index(p), index(c)) for p, c in step["arcs"]], step["score"])
        for step in result.trace
        if step["arcs"]
    ]


def assert_same_search(result, expected, data):
    parents, steps = expected
    found = steps_of(result, data)
    assert [arcs for arcs, _ in found] == [arcs for arcs, _ in steps]
    scores = [float(score) for _, score in steps]
    np.testing.assert_allclose([score for _, score in found], scores, rtol=1e-9)
    assert [sorted(of) for of in result.structure.feature_parents[:-1]] == [
        sorted(of) for of in parents
    ]


@st.composite
def searched_data(draw, missing=(0.0, 0.2)):
    random = draw(generators())
    data = random_data(
        random,
        int(random.integers(8, 60)),
        int(random.integers(2, 6)),
        missing=draw(st.sampled_from(missing)),
        weighted=draw(st.booleans()),
    )
    return with_ties(random, data) if draw(st.booleans()) else data


@given(
    data=searched_data(),
    k=st.integers(1, 3),
    kind=st.sampled_from(["cr", "cl", "margin"]),
)
def test_greedy_search_equals_scoring_every_candidate(data, k, kind):
    expected = reference.greedy(
        reference.PlainScore(data, kind), data.codes.shape[1], k
    )
    assert_same_search(GreedyKTree(k, score=kind).learn(data), expected, data)


@given(
    data=searched_data(),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    folds=st.sampled_from([None, 2, 3]),
)
def test_smoothing_and_folds_equal_scoring_every_candidate(data, alpha, folds):
    counts = np.bincount(data.labels, minlength=data.schema.n_classes)
    if folds is not None and counts.max() < folds:
        return
    score = ClassificationRate(parameters=Frequency(alpha=alpha), folds=folds)
    plain = reference.PlainScore(data, "cr", alpha, 0.0, folds)
    expected = reference.greedy(plain, data.codes.shape[1], 2)
    assert_same_search(GreedyKTree(2, score=score).learn(data), expected, data)


@given(
    data=searched_data(), k=st.integers(1, 3), n_children=st.sampled_from([None, 1, 2])
)
def test_superparent_equals_scoring_every_candidate(data, k, n_children):
    expected = reference.superparent(
        reference.PlainScore(data), data.codes.shape[1], k, n_children
    )
    learner = SuperParent(k, n_children=n_children)
    assert_same_search(learner.learn(data), expected, data)


@given(
    data=searched_data(),
    k=st.integers(1, 3),
    order=st.sampled_from(["omi", "omisp", "ocr", "min-omi"]),
)
def test_order_based_search_equals_scoring_every_candidate(data, k, order):
    found = feature_order(data, order).tolist()
    expected = reference.order_based(reference.PlainScore(data), found, k)
    assert_same_search(OrderBased(order, k=k).learn(data), expected, data)


@given(data=searched_data(), k=st.integers(1, 3))
def test_k_trees_equal_scoring_every_candidate(data, k):
    plain, n_features = reference.PlainScore(data), data.codes.shape[1]
    expected = reference.greedy(plain, n_features, k, joined=True)
    assert_same_search(GreedyKTree(k, treewidth=True).learn(data), expected, data)
    order = feature_order(data, "omi").tolist()
    expected = reference.order_based(plain, order, k, joined=True)
    assert_same_search(OrderBased(k=k, treewidth=True).learn(data), expected, data)
    for n_children in (None, 1):
        expected = reference.superparent(plain, n_features, k, n_children, joined=True)
        learner = SuperParent(k, treewidth=True, n_children=n_children)
        assert_same_search(learner.learn(data), expected, data)


def coded_data(name, folder, **options):
    """A dataset as codes; numeric features by MDL discretisation."""
    dataset = datasets.load(name, folder=folder, **options)
    encoder = TableEncoder()
    codes = encoder.fit_encode(dataset.X, dataset.y)
    classes, labels = encode_labels(dataset.y, len(codes), "test")
    variables = (*encoder.schema_, Variable("class", tuple(classes.tolist())))
    return ArrayData(Schema(variables, target=codes.shape[1]), codes, labels)


@pytest.mark.parametrize("name", ["weka33/vote", "uci25/corral", "uci25/chess"])
def test_real_data_equal_scoring_every_candidate(data_folder, name):
    data = coded_data(name, data_folder)
    n_features = data.codes.shape[1]
    plain = reference.PlainScore(data)
    order = feature_order(data, "omi").tolist()
    expected = reference.order_based(plain, order, 1)
    assert_same_search(OrderBased("omi").learn(data), expected, data)
    if n_features <= 16:
        expected = reference.greedy(plain, n_features, 1)
        assert_same_search(GreedyKTree().learn(data), expected, data)
        expected = reference.superparent(plain, n_features, 1)
        assert_same_search(SuperParent().learn(data), expected, data)


@pytest.fixture(scope="module")
def letter(data_folder):
    return coded_data("images/letter", data_folder)


def test_greedy_search_of_letters_equals_scoring_every_candidate(letter):
    every = letter.take(np.arange(0, letter.n_samples, 5))
    expected = reference.greedy(reference.PlainScore(every), 16, 1)
    assert_same_search(GreedyKTree().learn(every), expected, every)


def test_order_based_search_of_letters_equals_scoring_every_candidate(letter):
    order = feature_order(letter, "omi").tolist()
    expected = reference.order_based(reference.PlainScore(letter), order, 1)
    assert_same_search(OrderBased("omi").learn(letter), expected, letter)


SEARCHES = [
    GreedyKTree(),
    GreedyKTree(2),
    SuperParent(),
    SuperParent(2),
    SuperParent(3, n_children=2),
    OrderBased(),
    OrderBased("ro", k=2),
    OrderBased("omisp", k=3),
    GreedyKTree(2, treewidth=True),
    OrderBased(k=2, treewidth=True),
    SuperParent(2, treewidth=True),
]


def arcs_of(result):
    return {
        (parent, child)
        for child, parents in enumerate(result.structure.feature_parents[:-1])
        for parent in parents
    }


@pytest.fixture(scope="module")
def rows():
    """Six features, each of which says something about those before it."""
    random = np.random.default_rng(9)
    labels = random.integers(0, 3, 150)
    codes = np.empty((150, 6), dtype=np.uint8)
    for j in range(6):
        source = codes[:, random.integers(j)] if j else labels
        noise = random.integers(0, 3, 150)
        codes[:, j] = np.where(random.random(150) < 0.4, (source + labels) % 3, noise)
    return three_state_data(codes, labels)


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
class TestConstraints:
    def test_required_arcs_are_there(self, learner, rows):
        required = [("f5", "f0"), ("f0", "f3")]
        result = with_arguments(
            learner, constraints=Constraints(required=required)
        ).learn(rows)
        assert {(5, 0), (0, 3)} <= arcs_of(result)
        assert all(len(of) <= learner.k for of in result.structure.feature_parents)
        named = {arc for step in result.trace for arc in step["arcs"]}
        assert not named & {*required}

    def test_forbidden_arcs_are_not_there(self, learner, rows):
        free = learner.learn(rows, random_state=np.random.default_rng(1))
        used = sorted(arcs_of(free))
        names = [(f"f{i}", f"f{j}") for i, j in used]
        bound = with_arguments(learner, constraints=Constraints(forbidden=names))
        result = bound.learn(rows, random_state=np.random.default_rng(1))
        assert used
        assert not arcs_of(result) & {*used}

    def test_arcs_go_from_earlier_to_later_tiers(self, learner, rows):
        tiers = [["f5", "f4"], ["f3"], ["f1", "f0"]]
        result = with_arguments(learner, constraints=Constraints(tiers=tiers)).learn(
            rows
        )
        rank = {5: 0, 4: 0, 3: 1, 1: 2, 0: 2}
        arcs = arcs_of(result)
        assert arcs
        assert all(rank[i] <= rank[j] for i, j in arcs if i in rank and j in rank)

    def test_all_arcs_may_be_forbidden(self, learner, rows):
        names = rows.schema.names[:-1]
        every = [(i, j) for i in names for j in names if i != j]
        result = with_arguments(
            learner, constraints=Constraints(forbidden=every)
        ).learn(rows)
        assert not arcs_of(result)

    @pytest.mark.parametrize(
        ("constraints", "words"),
        [
            ({"required": [(f"f{j}", "f0") for j in (1, 2, 3, 4)]}, "feature parent"),
            ({"required": [("f0", "f9")]}, "f9"),
            ({"forbidden": [("class", "f1")]}, "leave the feature out"),
        ],
        ids=str,
    )
    def test_what_cannot_be_is_refused(self, learner, rows, constraints, words):
        bound = with_arguments(learner, constraints=Constraints(**constraints))
        with pytest.raises(InputError, match=words):
            bound.learn(rows)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", [GreedyKTree, OrderBased, SuperParent])
@given(random=generators())
def test_true_k_trees_need_no_fill_in(kind, k, random):
    data = random_data(random, 40, 6, max_states=3, n_classes=2)
    result = kind(k=k, treewidth=True, score="ll").learn(data)
    assert result.structure.needs_no_fill_in
    parents = [list(of) for of in result.structure.feature_parents[:-1]]
    assert all(len(of) <= k for of in parents)
    assert reference.moral_width(parents) <= k


@pytest.mark.parametrize("kind", [GreedyKTree, OrderBased, SuperParent])
def test_true_k_trees_keep_required_parents_that_are_joined(kind, rows):
    required = [("f0", "f2"), ("f1", "f2")]
    with pytest.raises(
        InputError, match="parents 'f0' and 'f1' of 'f2', but treewidth"
    ):
        kind(k=2, treewidth=True, constraints=Constraints(required=required)).learn(
            rows
        )
    joined = [*required, ("f1", "f0")]
    result = kind(k=2, treewidth=True, constraints=Constraints(required=joined)).learn(
        rows
    )
    assert {(0, 2), (1, 2), (1, 0)} <= arcs_of(result)
    assert result.structure.needs_no_fill_in


@pytest.mark.parametrize("score", ["cr", "cl", "bic", ClassificationRate(folds=3)])
@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_the_structure_so_far_is_kept_when_time_is_up(
    learner, score, rows, monkeypatch
):
    whole = with_arguments(learner, score=score)
    begun = whole.learn(rows, random_state=np.random.default_rng(0))
    clock = Clock()
    monkeypatch.setattr("tanager.utils.progress.perf_counter", clock)
    long = with_arguments(whole, max_seconds=10**6)
    long.learn(rows, random_state=np.random.default_rng(0))
    total = int(clock())
    seen = set()
    for seconds in (0.5, total // 3, total // 2, 10**6):
        short = with_arguments(whole, max_seconds=seconds)
        random = np.random.default_rng(0)
        if seconds == 10**6:
            result = short.learn(rows, random_state=random)
            assert result.structure == begun.structure
        else:
            with pytest.warns(ConvergenceWarning, match=f"max_seconds={seconds} and"):
                result = short.learn(rows, random_state=random)
        steps = steps_of(result, rows)
        assert steps == steps_of(begun, rows)[: len(steps)]
        seen.add(len(result.trace))
    assert 0 in seen
    assert len(seen) > 2


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_the_structure_so_far_is_kept_on_an_interrupt(learner, n_jobs, rows):
    calls = []
    last = None

    def rate(log_joint, labels, weights):
        calls.append(None)
        if len(calls) == last:
            raise KeyboardInterrupt
        return float((log_joint.argmax(axis=1) == labels).sum())

    data = ArrayData(rows.schema, rows.codes, rows.labels, None, n_jobs)
    slow = with_arguments(learner, score=rate)
    whole = slow.learn(data, random_state=np.random.default_rng(0))
    last, calls = len(calls) * 3 // 4, []
    with pytest.warns(ConvergenceWarning, match="was interrupted after . steps"):
        result = slow.learn(data, random_state=np.random.default_rng(0))
    steps = steps_of(result, rows)
    assert 0 < len(result.trace) < len(whole.trace)
    assert steps == steps_of(whole, rows)[: len(steps)]


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_the_trace_lists_every_step(learner, rows):
    result = learner.learn(rows)
    names = rows.schema.names
    listed = [arc for step in result.trace for arc in step["arcs"]]
    assert {(names[i], names[j]) for i, j in arcs_of(result)} == {*listed}
    assert len(listed) == len({*listed})
    for step in result.trace:
        assert step["candidates"] > 0
        assert step["samples_visited"] >= 0
        assert step["samples_looked_up"] >= 0
        assert step["seconds"] >= 0
    if not isinstance(learner, OrderBased):
        scores = [step["score"] for step in result.trace]
        assert scores == sorted(scores)
        # A tree of six features has five arcs, a 2-tree nine.
        assert result.trace[-1]["arcs"] == [] or len(listed) in (5, 9)
    fresh = ClassificationRate().scorer(rows, result.structure.feature_parents[:-1])
    assert fresh.value == result.trace[-1]["score"]


def test_verbose_reports_steps(rows, capsys):
    result = GreedyKTree(3, verbose=True).learn(rows)
    output = capsys.readouterr()
    assert output.out == ""
    lines = output.err.splitlines()
    assert len(lines) == len(result.trace)
    (parent, child), score = result.trace[0]["arcs"][0], result.trace[0]["score"]
    assert lines[0].startswith("step 1 of at most 13 (")
    assert f"): {parent} -> {child}, score {score:g}, candidates 30" in lines[0]
    assert lines[-1].startswith(f"step {len(lines)} of at most 13 (")
    assert "): nothing better, score " in lines[-1]


@pytest.mark.parametrize("learner", [GreedyKTree, SuperParent, OrderBased])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"k": 1.0}, "k must be a whole number"),
        ({"k": True}, "k must be"),
        ({"max_seconds": 0}, "max_seconds must be None or a finite number above 0"),
        ({"max_seconds": "1"}, "max_seconds must be"),
        ({"verbose": 1}, "verbose must be True or False"),
        ({"score": "cx"}, "Unknown score 'cx'"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_are_refused(learner, arguments, words, rows):
    with pytest.raises(InputError, match=words):
        learner(**arguments).learn(rows)


@pytest.mark.parametrize("score", ["cr", "cl", "margin", "bde", "crcl", "crrcl"])
@pytest.mark.parametrize("learner", [GreedyKTree, SuperParent, OrderBased])
@pytest.mark.parametrize("name", EDGE_CASES)
def test_odd_data_have_a_structure(name, learner, score):
    data = edge_case_data(name)
    result = learner(score=score).learn(data)
    assert result.structure.is_tree
    assert all(np.isfinite(step["score"]) for step in result.trace)
    if name == "one feature":
        assert result.trace == ()
    elif learner is not OrderBased and name in ("one state", "nothing seen"):
        assert not arcs_of(result)


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
@pytest.mark.parametrize("score", ["cr", "cl", "ll"])
def test_whole_weights_are_repeated_rows(learner, score, rows):
    random = np.random.default_rng(7)
    times = random.integers(0, 4, rows.n_samples)
    weighted = ArrayData(rows.schema, rows.codes, rows.labels, times.astype(float))
    repeated = rows.take(np.repeat(np.arange(rows.n_samples), times))
    whole = with_arguments(learner, score=score)
    one, other = (
        whole.learn(data, random_state=np.random.default_rng(3))
        for data in (weighted, repeated)
    )
    assert one.structure == other.structure
    for left, right in zip(one.trace, other.trace, strict=True):
        assert left["score"] == pytest.approx(right["score"], rel=1e-9)


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
@pytest.mark.parametrize("score", ["cr", "bic", CustomScore(lambda a, b, c: a.max())])
def test_rows_without_a_label_say_nothing(learner, score, rows):
    labels = rows.labels.copy()
    labels[::3] = 3
    some = ArrayData(rows.schema, rows.codes, labels)
    kept = rows.take(np.flatnonzero(labels < 3))
    whole = with_arguments(learner, score=score)
    one, other = (
        whole.learn(data, random_state=np.random.default_rng(3))
        for data in (some, kept)
    )
    assert one.structure == other.structure
