from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tanager import (
    BayesNetClassifier,
    CapabilityError,
    Constraints,
    InputError,
    Schema,
    Structure,
    TableSizeError,
    Variable,
)
from tanager.data import ArrayData
from tanager.encoding import TableEncoder
from tanager.scores import BDe
from tanager.structure import HillClimbing
from tests.reference import hill_climbing as reference
from tests.reference.published_networks import asia, cancer, sample_data, skeleton
from tests.scores.makers import with_jobs
from tests.strategies import generators, random_data
from tests.structure.search.helpers import (
    EDGE_CASES,
    Clock,
    edge_case_data,
    three_state_data,
    with_arguments,
)

SCORES = ["bdeu", "k2", "bic", "mdl"]


@st.composite
def dependent_data(draw):
    """Rows in which variables say something about each other."""
    random = draw(generators())
    data = random_data(
        random,
        int(random.integers(20, 80)),
        int(random.integers(2, 5)),
        missing=draw(st.sampled_from([0.0, 0.2])),
        weighted=draw(st.booleans()),
        unlabelled=draw(st.sampled_from([0.0, 0.2])),
        max_states=3,
    )
    codes = data.codes.copy()
    for j in range(1, codes.shape[1]):
        copied = random.random(len(codes)) < 0.6
        source = codes[copied, random.integers(j)]
        codes[copied, j] = np.minimum(source, data.schema.n_states[j] - 1)
    return ArrayData(data.schema, codes, data.labels, data.weights)


def steps_of(result, data):
    """Changes and scores of every step that changed something."""
    index = data.schema.index
    return [
        ((step["change"], *map(index, step["arcs"][0])), step["score"])
        for step in result.trace
        if step["arcs"]
    ]


def naive_bayes(data):
    last = len(data.schema) - 1
    return [(last,)] * last + [()]


def assert_same_climb(result, expected, data):
    parents, steps = expected
    found = steps_of(result, data)
    assert [change for change, _ in found] == [change for change, _ in steps]
    np.testing.assert_allclose(
        [score for _, score in found], [score for _, score in steps], rtol=1e-9
    )
    assert [set(of) for of in result.structure.parents] == parents


@pytest.mark.parametrize("score", [*SCORES, "ll"])
@given(
    data=dependent_data(),
    most=st.sampled_from([1, 2, 3, None]),
    start=st.sampled_from(["nb", "empty"]),
)
def test_climbing_equals_scoring_every_network(score, data, most, start):
    plain = reference.PlainFamilies(data, score)
    begun = naive_bayes(data) if start == "nb" else [()] * len(data.schema)
    expected = reference.hill_climbing(plain, begun, most or len(data.schema))
    result = HillClimbing(score, max_parents=most, start=start).learn(data)
    assert_same_climb(result, expected, data)


@given(data=dependent_data(), random=generators())
def test_constraints_equal_scoring_every_network(data, random):
    n_variables, names = len(data.schema), data.schema.names
    forbidden = random.random((n_variables, n_variables)) < 0.3
    np.fill_diagonal(forbidden, val=False)
    order = random.permutation(n_variables)
    required = (int(order[0]), int(order[1]))
    forbidden[required] = False
    parents = [set() for _ in range(n_variables)]
    parents[required[1]].add(required[0])
    expected = reference.hill_climbing(
        reference.PlainFamilies(data, "bdeu"),
        parents,
        2,
        allowed=lambda i, j: not forbidden[i, j],
        required=lambda i, j: (i, j) == required,
    )
    learner = HillClimbing(
        start="empty",
        constraints=Constraints(
            required=[(names[required[0]], names[required[1]])],
            forbidden=[(names[i], names[j]) for i, j in np.argwhere(forbidden)],
        ),
    )
    assert_same_climb(learner.learn(data), expected, data)


@pytest.fixture(scope="module")
def rows():
    """Six features, each of which says something about one before it or the class."""
    random = np.random.default_rng(9)
    labels = random.integers(0, 3, 400)
    codes = np.empty((400, 6), dtype=np.uint8)
    for j in range(6):
        source = codes[:, random.integers(j)] if j % 3 else labels
        noise = random.integers(0, 3, 400)
        codes[:, j] = np.where(random.random(400) < 0.5, source, noise)
    return three_state_data(codes, labels)


SEARCHES = [
    HillClimbing(),
    HillClimbing("bic", start="empty"),
    HillClimbing("k2", max_parents=3, tabu=5),
    HillClimbing("mdl", restarts=2, perturbation=3),
]


def seeded():
    return np.random.default_rng(0)


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
class TestConstraints:
    def test_required_arcs_are_there(self, learner, rows):
        required = [("f5", "class"), ("class", "f3"), ("f0", "f4")]
        result = with_arguments(
            learner, constraints=Constraints(required=required)
        ).learn(rows)
        assert {(5, 6), (6, 3), (0, 4)} <= {*result.structure.arcs}

    def test_forbidden_arcs_are_not_there(self, learner, rows):
        names = rows.schema.names
        used = [*learner.learn(rows, random_state=seeded()).structure.arcs]
        bound = with_arguments(
            learner,
            constraints=Constraints(forbidden=[(names[i], names[j]) for i, j in used]),
        )
        result = bound.learn(rows, random_state=seeded())
        assert used
        assert not {*used} & {*result.structure.arcs}

    def test_arcs_go_from_earlier_to_later_tiers(self, learner, rows):
        tiers = [["f5", "f4"], ["class"], ["f1", "f0"]]
        result = with_arguments(learner, constraints=Constraints(tiers=tiers)).learn(
            rows
        )
        rank = {5: 0, 4: 0, 6: 1, 1: 2, 0: 2}
        assert result.structure.arcs
        assert all(
            rank[i] <= rank[j]
            for i, j in result.structure.arcs
            if i in rank and j in rank
        )

    def test_parents_are_bounded_and_in_order(self, learner, rows):
        structure = learner.learn(rows).structure
        for parents in structure.parents:
            assert len(parents) <= learner.max_parents
            assert list(parents) == sorted(parents, key=lambda p: (p != 6, p))
        assert structure.target == 6

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (
                {
                    "constraints": Constraints(
                        required=[(f"f{j}", "class") for j in range(4)]
                    )
                },
                "parent",
            ),
            ({"constraints": Constraints(required=[("f0", "f9")])}, "f9"),
            ({"constraints": {"required": [("f0", "f1")]}}, "tanager.Constraints or"),
            ({"start": "tan"}, "start must be 'nb', 'empty' or a collection"),
            ({"start": [("f0", "f1"), ("f1", "f0")]}, "has a cycle: f0 -> f1 -> f0"),
            ({"start": [(f"f{j}", "class") for j in range(4)]}, "gives 'class' [34] "),
            (
                {
                    "start": [("f0", "f1")],
                    "constraints": Constraints(tiers=[["f1"], ["f0"]]),
                },
                "constraints rule it out",
            ),
        ],
        ids=str,
    )
    def test_what_cannot_be_is_refused(self, learner, rows, arguments, words):
        with pytest.raises(InputError, match=words):
            with_arguments(learner, **arguments).learn(rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_parents": 0}, "max_parents must be None or a whole number of at least"),
        ({"tabu": -1}, "tabu must be a whole number of at least 0"),
        ({"patience": 0}, "patience must be a whole number of at least 1"),
        ({"restarts": 1.5}, "restarts must be a whole number"),
        ({"perturbation": 0}, "perturbation must be a whole number of at least 1"),
        ({"max_seconds": 0}, "max_seconds must be None or a finite number above 0"),
        ({"verbose": 1}, "verbose must be True or False"),
        (
            {"start": "tan"},
            "start must be 'nb', 'empty' or a collection of .*, got 'tan",
        ),
        pytest.param(
            {"start": iter(())},
            "start must be 'nb', 'empty' or a collection of .*",
            id="start is an iterator",  # whose text has an address
        ),
        (
            {"start": None},
            "start must be 'nb', 'empty' or a collection of .*, got None",
        ),
        ({"score": "bdx"}, "Unknown score 'bdx'"),
        ({"score": BDe(sample_size=0)}, "sample_size must be a finite number above 0"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_are_refused(arguments, words, rows):
    with pytest.raises(InputError, match=words):
        HillClimbing(**arguments).learn(rows)


@pytest.mark.parametrize("score", ["cr", "cl", lambda joint, labels, weights: 0.0])
def test_scores_of_classifiers_are_refused_before_any_work(score, rows):
    with pytest.raises(CapabilityError, match="decomposes over families, such as BDe"):
        HillClimbing(score).check(rows.schema)


def test_a_start_given_by_arcs_is_climbed_from(rows):
    arcs = [("f1", "class"), ("class", "f5")]
    begun = [set() for _ in range(7)]
    begun[6].add(1)
    begun[5].add(6)
    expected = reference.hill_climbing(reference.PlainFamilies(rows, "bic"), begun, 2)
    result = HillClimbing("bic", start=arcs).learn(rows)
    assert_same_climb(result, expected, rows)
    whole = HillClimbing("bic").learn(rows)
    names = rows.schema.names
    again = [(names[i], names[j]) for i, j in whole.structure.arcs]
    assert steps_of(HillClimbing("bic", start=again).learn(rows), rows) == []


@pytest.mark.parametrize("make", [set, np.array, dict.fromkeys])
def test_a_start_may_be_any_collection_of_arcs(rows, make):
    arcs = [("class", "f5"), ("f1", "class")]
    result = HillClimbing("bic", start=make(arcs)).learn(rows)
    expected = HillClimbing("bic", start=arcs).learn(rows)
    assert result.structure == expected.structure
    assert steps_of(result, rows) == steps_of(expected, rows)


def test_naive_bayes_starts_where_it_may(rows):
    learner = HillClimbing(
        constraints=Constraints(
            required=[("f0", "class"), ("f2", "f3"), ("f4", "f3")],
            forbidden=[("class", "f1")],
        ),
        max_seconds=1e-9,
    )
    with pytest.warns(ConvergenceWarning, match="max_seconds=1e-09 and 0 steps"):
        result = learner.learn(rows)
    # f0 would close a cycle, f1 is forbidden, f3 has two parents.
    assert result.structure.parents == ((), (), (6,), (2, 4), (6,), (6,), (0,))


@pytest.fixture(scope="module")
def parity():
    """The class tells, with errors, whether two features are equal."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 2, (500, 3)).astype(np.uint8)
    labels = (codes[:, 0] ^ codes[:, 1] ^ (random.random(500) < 0.05)).astype(np.uint8)
    names = [Variable(f"f{j}", (0, 1)) for j in range(3)]
    schema = Schema((*names, Variable("class", (0, 1))), target=3)
    return ArrayData(schema, np.asfortranarray(codes), labels)


@pytest.mark.parametrize("score", SCORES)
def test_tabu_leaves_a_local_maximum(score, parity):
    plain = HillClimbing(score, start="empty").learn(parity)
    assert plain.structure.arcs == ()
    tabu = HillClimbing(score, start="empty", tabu=20, patience=20).learn(parity)
    assert {0, 1, 3} == {v for arc in tabu.structure.arcs for v in arc}
    best = max(step["score"] for step in tabu.trace)
    assert tabu.trace[-1]["score"] < best
    value = reference.PlainFamilies(parity, score).value(tabu.structure.parents)
    np.testing.assert_allclose(value, best, rtol=1e-12)
    scores = [step["score"] for step in tabu.trace]
    assert len(scores) - 1 - int(np.argmax(scores)) == 20


def test_tabu_does_not_come_back_to_recent_networks(rows):
    result = HillClimbing("bic", tabu=8, patience=30).learn(rows)
    parents = [set(of) for of in naive_bayes(rows)]
    seen = [[*map(frozenset, parents)]]
    for (kind, i, j), _ in steps_of(result, rows):
        if kind == "add":
            parents[j].add(i)
        else:
            parents[j].remove(i)
        if kind == "reverse":
            parents[i].add(j)
        now = [*map(frozenset, parents)]
        assert now not in seen[-8:]
        seen.append(now)


def test_restarts_leave_a_local_maximum_by_chance(parity):
    learner = HillClimbing(start="empty", restarts=20, perturbation=4)
    one, two = (learner.learn(parity, random_state=seeded()) for _ in range(2))
    assert {0, 1, 3} <= {v for arc in one.structure.arcs for v in arc}
    assert one.structure == two.structure
    assert steps_of(one, parity) == steps_of(two, parity)
    assert {step["restart"] for step in one.trace} == set(range(21))


def test_plain_climbing_uses_no_chance(rows):
    results = [
        HillClimbing().learn(rows, random_state=np.random.default_rng(seed))
        for seed in (1, 2)
    ]
    assert results[0].structure == results[1].structure
    assert not HillClimbing().order_matters


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_threads_and_the_order_of_rows_change_nothing(learner, rows):
    expected = learner.learn(rows, random_state=seeded())
    order = np.random.default_rng(1).permutation(rows.n_samples)
    for data in (with_jobs(rows, 3), rows.take(order)):
        result = learner.learn(data, random_state=seeded())
        assert steps_of(result, rows) == steps_of(expected, rows)
        assert result.structure == expected.structure


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_weights_are_repetitions(learner, rows):
    twice = rows.take(np.repeat(np.arange(rows.n_samples), 2))
    weights = np.full(rows.n_samples, 2.0)
    weighted = ArrayData(rows.schema, rows.codes, rows.labels, weights)
    one, two = (
        learner.learn(data, random_state=seeded()) for data in (twice, weighted)
    )
    assert steps_of(one, rows) == steps_of(two, rows)


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_the_best_network_so_far_is_kept_when_time_is_up(learner, rows, monkeypatch):
    whole = learner.learn(rows, random_state=seeded())
    monkeypatch.setattr("tanager.utils.progress.perf_counter", Clock())
    seen = set()
    for seconds in (0.5, 14, 26, 34, 1e6):
        short = with_arguments(learner, max_seconds=seconds)
        if seconds == 1e6:
            result = short.learn(rows, random_state=seeded())
            assert result.structure == whole.structure
        else:
            with pytest.warns(ConvergenceWarning, match=f"max_seconds={seconds} and"):
                result = short.learn(rows, random_state=seeded())
        steps = steps_of(result, rows)
        assert steps == steps_of(whole, rows)[: len(steps)]
        seen.add(len(result.trace))
    assert 0 in seen
    assert len(seen) > 2


def test_the_best_network_so_far_is_kept_on_an_interrupt(rows, monkeypatch):
    whole = HillClimbing("bic", start="empty").learn(rows)
    made = []

    def interrupted(self, change, original=None):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(change)
        return make(self, change)

    from tanager.structure.search.arc_gains import ArcGains

    make = ArcGains.make
    monkeypatch.setattr(ArcGains, "make", interrupted)
    with pytest.warns(ConvergenceWarning, match="was interrupted after 3 steps"):
        result = HillClimbing("bic", start="empty").learn(rows)
    assert steps_of(result, rows) == steps_of(whole, rows)[:3]
    assert len(result.structure.arcs) == 3


@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_the_trace_lists_every_step(learner, rows):
    result = learner.learn(rows, random_state=seeded())
    for step in result.trace:
        assert step["candidates"] > 0
        assert step["seconds"] >= 0
        assert (step["change"] is None) == (step["arcs"] == [])
    best = max(step["score"] for step in result.trace)
    plain = reference.PlainFamilies(rows, learner.score)
    np.testing.assert_allclose(plain.value(result.structure.parents), best, rtol=1e-12)


def test_verbose_reports_steps(rows, capsys):
    result = HillClimbing("bic", verbose=True).learn(rows)
    output = capsys.readouterr()
    assert output.out == ""
    lines = output.err.splitlines()
    assert len(lines) == len(result.trace)
    first = result.trace[0]
    parent, child = first["arcs"][0]
    assert f"): {first['change']} {parent} -> {child}, score " in lines[0]
    assert "nothing better, score " in lines[-1]


def test_parents_with_too_large_tables_are_passed_over(rows, monkeypatch):
    states = rows.schema.n_states
    most = int(np.sort(states)[-2:].prod())
    free = HillClimbing("ll", max_parents=None).learn(rows).structure
    assert max(states[list(f)].prod() for f in free.families) > most
    monkeypatch.setattr("tanager.scores.family_scores.MAX_CELLS", most)
    learner = HillClimbing("ll", max_parents=None)
    found = learner.learn(rows).structure
    assert max(states[list(f)].prod() for f in found.families) <= most
    assert found.arcs
    arcs = [(f"f{j}", "f0") for j in range(1, 6)]
    with pytest.raises(TableSizeError, match="The CPT of 'f0' given"):
        with_arguments(learner, constraints=Constraints(required=arcs)).learn(rows)


def test_many_states_are_codes_of_two_bytes():
    random = np.random.default_rng(3)
    many = np.repeat(np.arange(300), 10)
    few = (many % 3).astype(np.uint8)
    noise = random.integers(0, 2, len(many))
    variables = (
        Variable("many", tuple(range(300))),
        Variable("noise", (0, 1)),
        Variable("class", (0, 1, 2)),
    )
    codes = np.asfortranarray(np.column_stack([many, noise]).astype(np.uint16))
    data = ArrayData(Schema(variables, 2), codes, few)
    result = HillClimbing("bic", start="empty", max_parents=1).learn(data)
    assert set(result.structure.arcs) == {(2, 0)}  # of equal ones, the class first


@pytest.mark.parametrize("score", [*SCORES, "ll"])
@pytest.mark.parametrize("name", EDGE_CASES)
def test_odd_data_have_a_structure(name, score):
    data = edge_case_data(name)
    learner = HillClimbing(score, tabu=3, restarts=1)
    result = learner.learn(data, random_state=seeded())
    assert isinstance(result.structure, Structure)
    assert all(np.isfinite(step["score"]) for step in result.trace)


@pytest.mark.parametrize("score", ["bdeu", "bic", "mdl"])
@pytest.mark.parametrize("network", [asia(), cancer()], ids=["asia", "cancer"])
def test_published_networks_are_found_again(network, score):
    data = sample_data(network, 100_000, 1)
    learner = HillClimbing(score, start="empty", tabu=20, patience=20, restarts=20)
    result = learner.learn(data, random_state=seeded())
    assert skeleton(result.structure.parents) == skeleton(network.structure.parents)


def test_classifiers_learn_general_networks(rows):
    learner = HillClimbing("bic")
    drawn = [f"f{j}" for j in range(6)]
    X = {name: rows.codes[:, j].astype(str) for j, name in enumerate(drawn)}
    model = BayesNetClassifier(structure=learner, parameters="fe").fit(X, rows.labels)
    assert model.score(X, rows.labels) > 0.5
    assert model.network_.structure == learner.learn(rows).structure
    assert not model.network_.structure.is_class_rooted
    again = pickle.loads(pickle.dumps(clone(model).fit(X, rows.labels)))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("start", ["nb", "empty"])
def test_features_without_any_value_are_no_parents(start):
    random = np.random.default_rng(0)
    x = random.random(1000) < 0.3
    y = (random.random(1000) < 0.3) & ~x
    model = BayesNetClassifier(
        structure=HillClimbing(start=start, restarts=1),
        encoder=TableEncoder(categorical_features=[1]),
    ).fit(np.column_stack([np.full(1000, np.nan), x]), y)
    assert not [arc for arc in model.network_.edges if arc[0] == "x0"]
    # Without counts for the other feature it would say nothing.
    assert model.predict_proba([[np.nan, 1.0]])[0, 0] > 0.99
