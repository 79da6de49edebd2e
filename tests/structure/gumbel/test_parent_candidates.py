from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import InputError, Schema, Variable
from tanager.data import ArrayData
from tanager.data.information import conditional_information
from tanager.structure import ChowLiu, Constraints
from tanager.structure.constraints import check_constraints
from tanager.structure.gumbel import candidate_options
from tanager.structure.gumbel.candidate_options import (
    ORDER_NAMES,
    RANKINGS,
    CandidateOptions,
)
from tanager.structure.gumbel.parent_candidates import find_candidates
from tanager.structure.orders.feature_orders import (
    ORDERS,
    feature_order,
)
from tanager.structure.orders.pixel_orders import IMAGE_ORDERS
from tests.reference import pixel_orders as reference
from tests.strategies import generators, random_data

MADE = [name for name in ORDER_NAMES if name not in IMAGE_ORDERS]


def found(data, known=None, seed=0, **options):
    given = CandidateOptions(constraints=known, **options)
    given.resolve(data.schema)
    return find_candidates(data, given, np.random.default_rng(seed))


def plain_schema(n_features):
    names = [*(f"f{j}" for j in range(n_features)), "class"]
    return Schema(tuple(Variable(name, (0, 1)) for name in names), target=n_features)


def random_knowledge(random, n_features, k, hidden):
    """Required and forbidden arcs, and tiers, along a hidden order."""
    rank = np.argsort(hidden)
    required, forbidden = [], []
    for i, j in np.ndindex(n_features, n_features):
        n_parents = sum(child == f"f{j}" for _, child in required)
        if rank[i] < rank[j] and n_parents < k and random.random() < 0.15:
            required.append((f"f{i}", f"f{j}"))
        elif i != j and random.random() < 0.15:
            forbidden.append((f"f{i}", f"f{j}"))
    tiers = ()
    if random.random() < 0.5:
        cut = int(random.integers(0, n_features + 1))
        whole = [f"f{j}" for j in hidden[:cut]], [f"f{j}" for j in hidden[cut:]]
        # Some features are in no tier.
        tiers = [[name for name in tier if random.random() < 0.7] for tier in whole]
    return Constraints(required, forbidden, tiers)


def members(sets):
    """All candidates of a feature."""
    return {feature for chosen in sets for feature in chosen}


@given(
    random=generators(),
    order=st.sampled_from([*MADE, "given", None]),
    by=st.sampled_from(RANKINGS),
    n_candidates=st.sampled_from([1, 2, 4, None]),
    k=st.integers(1, 3),
    constrained=st.booleans(),
)
def test_sets_keep_to_what_is_asked(random, order, by, n_candidates, k, constrained):
    k = 1 if order is None else k
    side = int(random.integers(1, 4))
    n_features = side * side
    data = random_data(random, int(random.integers(1, 40)), n_features, missing=0.1)
    hidden = random.permutation(n_features).tolist()
    known = random_knowledge(random, n_features, k, hidden) if constrained else None
    order = hidden if order == "given" else order
    options = {"order": order, "candidates": by, "k": k}
    result = found(data, known, n_candidates=n_candidates, **options)
    again = found(data, known, n_candidates=n_candidates, **options)
    assert (result.order, result.sets) == (again.order, again.sets)
    constraints = check_constraints(known).compile(data.schema)
    if order is None:
        assert result.order is None
        place = None
    else:
        assert sorted(result.order) == list(range(n_features))
        place = np.argsort(result.order)
    if order is hidden:
        assert list(result.order) == hidden
    for child, sets in enumerate(result.sets):
        required = set(np.flatnonzero(constraints.required[:, child]).tolist())
        free = members(sets) - required
        possible = {
            i
            for i in np.flatnonzero(constraints.allowed[:, child]).tolist()
            if place is None or place[i] < place[child]
        }
        assert required | free <= possible
        expected = [
            tuple(sorted(required | set(chosen)))
            for size in range(k - len(required) + 1)
            for chosen in combinations(sorted(free), size)
        ]
        assert list(sets) == sorted(expected, key=lambda s: (len(s), s))
        if len(required) < k:
            most = len(possible) if n_candidates is None else n_candidates
            assert len(free | required) == min(max(most, len(required)), len(possible))


@given(
    random=generators(),
    order=st.sampled_from([*MADE, None]),
    by=st.sampled_from(RANKINGS),
    constrained=st.booleans(),
)
def test_candidates_are_nested(random, order, by, constrained):
    data = random_data(random, 30, 9)
    hidden = random.permutation(9).tolist()
    known = random_knowledge(random, 9, 1, hidden) if constrained else None
    results = [
        found(data, known, order=order, candidates=by, n_candidates=n, seed=5)
        for n in (1, 2, 3, 5, 8, None)
    ]
    for smaller, larger in pairwise(results):
        assert smaller.order == larger.order
        for few, more in zip(smaller.sets, larger.sets, strict=True):
            assert set(few) <= set(more)


@pytest.mark.parametrize("order", [*ORDERS, "OMI"])
def test_orders_are_those_of_other_learners(order):
    data = random_data(np.random.default_rng(2), 100, 8)
    expected = feature_order(data, order, random_state=np.random.default_rng(7))
    assert found(data, order=order, seed=7).order == tuple(expected.tolist())


def test_random_has_two_names():
    data = random_data(np.random.default_rng(2), 10, 12)
    one, other = (found(data, order=order, seed=3) for order in ("random", "ro"))
    assert (one.order, one.sets) == (other.order, other.sets)
    assert one.order != found(data, order="ro", seed=4).order


def test_all_earlier_features_are_alike_at_random():
    data = random_data(np.random.default_rng(2), 1, 5)
    order = [f"f{j}" for j in range(5)]
    random = np.random.default_rng(0)
    given = CandidateOptions(order=order, n_candidates=1)
    n_draws = 400
    counts = np.zeros(4)
    for _ in range(n_draws):
        result = find_candidates(data, given, random)
        counts[result.sets[4][1]] += 1
    # Four standard deviations of a binomial variable.
    deviation = np.sqrt(n_draws * 0.25 * 0.75)
    assert np.abs(counts - n_draws / 4).max() < 4 * deviation


@pytest.mark.parametrize("name", IMAGE_ORDERS)
@pytest.mark.parametrize("side", [3, 6])
@pytest.mark.parametrize("n_candidates", [1, 2, 5, 8])
def test_images_equal_the_text_of_the_paper(name, side, n_candidates):
    data = random_data(np.random.default_rng(0), 1, side * side)
    result = found(data, order=name, candidates="nearest", n_candidates=n_candidates)
    order = getattr(reference, name)(side)
    assert result.order == tuple(r * side + c for r, c in order)
    for place, (r, c) in enumerate(order):
        near = reference.nearest_earlier(order, place, n_candidates)
        expected = sorted((a * side + b,) for a, b in near)
        assert list(result.sets[r * side + c]) == [(), *expected]


def test_nearest_pixels_of_a_rectangle():
    data = random_data(np.random.default_rng(0), 1, 6)
    options = {"candidates": "nearest", "n_candidates": 2, "image_shape": (2, 3)}
    assert found(data, order="rows", **options).sets[5] == ((), (2,), (4,))
    assert found(data, order=None, **options).sets[0] == ((), (1,), (3,))
    options["image_shape"] = [3, 2]
    assert found(data, order=None, **options).sets[0] == ((), (1,), (2,))


def test_informative_features_are_those_of_greatest_information():
    data = random_data(np.random.default_rng(4), 200, 7)
    weights = conditional_information(data)
    result = found(data, order="omi", candidates="information", n_candidates=2)
    for place, child in enumerate(result.order):
        earlier = list(result.order[:place])
        best = sorted(earlier, key=lambda i, child=child: -weights[i, child])[:2]
        assert members(result.sets[child]) == set(best)


@given(random=generators(), constrained=st.booleans())
def test_the_tree_of_chow_liu_lies_in_its_order(random, constrained):
    n_features = int(random.integers(1, 10))
    data = random_data(random, int(random.integers(1, 80)), n_features, missing=0.1)
    known = None
    if constrained:
        hidden = random.permutation(n_features).tolist()
        known = random_knowledge(random, n_features, 1, hidden)
        known = replace(known, tiers=())
    tree = ChowLiu(constraints=known).learn(data).structure.feature_parents
    whole = found(data, known, order="chow-liu", n_candidates=None)
    assert all(tree[child] in sets for child, sets in enumerate(whole.sets))
    if not constrained:
        one = found(data, order="chow-liu", candidates="information", n_candidates=1)
        assert [sets[-1] for sets in one.sets] == list(tree[:-1])


def test_the_order_of_chow_liu_keeps_to_tiers_that_its_tree_breaks():
    x = np.random.default_rng(0).integers(0, 2, 50)
    codes = np.asfortranarray(np.stack([x, x, x], axis=1).astype(np.uint8))
    data = ArrayData(plain_schema(3), codes, np.zeros(50, dtype=np.uint8))
    # The tree is f0 -> f1 -> f2, by f1 that is in no tier, but f2 comes before f0.
    known = Constraints(
        tiers=[["f2"], ["f0"]],
        forbidden=[("f1", "f0"), ("f2", "f0"), ("f2", "f1")],
    )
    tree = ChowLiu(constraints=known).learn(data).structure
    assert tree.feature_parents[:3] == ((), (0,), (1,))
    result = found(data, known, order="chow-liu", n_candidates=None)
    assert result.order == (1, 2, 0)


def test_candidates_by_name():
    data = random_data(np.random.default_rng(0), 20, 6)
    named = {"f0": ["f3", "f2"], "f5": ("f0",), "f1": []}
    for order in (*MADE, None, ["f2", "f3", "f4", "f0", "f1", "f5"]):
        result = found(data, order=order, candidates=named, n_candidates=1)
        expected = [((), (2,), (3,)), ((),), ((),), ((),), ((),), ((), (0,))]
        assert list(result.sets) == expected
    result = found(data, order="omi", candidates=named, k=2)
    assert result.sets[0] == ((), (2,), (3,), (2, 3))


def test_candidates_by_name_and_constraints():
    data = random_data(np.random.default_rng(0), 20, 5)
    named = {"f0": ["f1", "f2"], "f3": ["f4"]}
    known = Constraints(
        required=[("f3", "f0"), ("f0", "f4")],
        forbidden=[("f2", "f0"), ("f4", "f3")],
    )
    result = found(data, known, candidates=named, k=2)
    assert result.sets == (((3,), (1, 3)), ((),), ((),), ((),), ((0,),))


def test_cyclic_candidates_need_no_order():
    data = random_data(np.random.default_rng(0), 20, 3)
    named = {"f0": ["f1"], "f1": ["f0", "f2"]}
    result = found(data, order=None, candidates=named)
    assert result.sets == (((), (1,)), ((), (0,), (2,)), ((),))
    with pytest.raises(InputError, match=r"f0 -> f1 -> f0.*order=None"):
        CandidateOptions(candidates=named).resolve(data.schema)


def test_required_parents_count_as_candidates():
    data = random_data(np.random.default_rng(0), 5, 6)
    known = Constraints(required=[("f0", "f5"), ("f1", "f5")])
    order = [f"f{j}" for j in range(6)]
    few = found(data, known, order=order, n_candidates=1, k=3)
    assert few.sets[5] == ((0, 1),)
    more = found(data, known, order=order, n_candidates=3, k=3).sets[5]
    assert more[0] == (0, 1)
    assert len(more) == 2
    assert len(more[1]) == 3


def test_a_single_feature_has_no_candidates():
    data = random_data(np.random.default_rng(0), 5, 1)
    for order in (*ORDER_NAMES, None, ["f0"]):
        for by in (*RANKINGS, {}):
            result = found(data, order=order, candidates=by, k=1)
            assert result.sets == (((),),)


def test_more_parents_than_features():
    data = random_data(np.random.default_rng(0), 5, 3)
    result = found(data, order=[0, 1, 2], k=10**9)
    assert result.sets[2] == ((), (0,), (1,), (0, 1))


def late_order(n_features):
    return [f"f{j}" for j in reversed(range(n_features))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_candidates": 0}, "n_candidates must be None or .* 1, got 0; .*NaiveBayes"),
        ({"n_candidates": 2.0}, "n_candidates must be None or a whole number"),
        ({"n_candidates": True}, "n_candidates must be None or a whole number"),
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"k": 2, "order": None}, r"order=None.*got k=2"),
        ({"order": "rnd"}, "Unknown order 'rnd'"),
        ({"order": "chowliu"}, "Did you mean 'chow-liu'"),
        ({"order": "center"}, "Did you mean 'centre'"),
        ({"order": 3}, "order must be None, one of 'random'.*'centre'.*got 3"),
        ({"order": ["f0", "f1"]}, "2 of 6 features; expected all of them"),
        ({"order": ["f0"] * 6}, "more than once"),
        ({"order": ["f0", "nobody"]}, "Unknown feature 'nobody'"),
        ({"order": "rows"}, "6 features are not the pixels of a square"),
        ({"candidates": "nearest"}, "6 features are not the pixels of a square"),
        ({"image_shape": (2, 2)}, "4 pixels, but there are 6 features"),
        ({"image_shape": 6}, "image_shape must be None or"),
        ({"candidates": "near"}, "candidates must be one of 'random', 'nearest'"),
        ({"candidates": None}, "or a mapping"),
        ({"candidates": {"f9": []}}, "Unknown feature in candidates 'f9'"),
        ({"candidates": {"class": ["f0"]}}, "Unknown feature in candidates 'class'"),
        ({"candidates": {"f0": ["f9"]}}, "Unknown feature in candidates of 'f0' 'f9'"),
        ({"candidates": {"f0": [["f1"]]}}, "Unknown feature in candidates of 'f0'"),
        ({"candidates": {"f0": ["f0"]}}, "'f0' itself"),
        ({"candidates": {"f0": ["class"]}}, "the class 'class'.*leave it out"),
        ({"candidates": {"f0": "f1"}}, "must be a list of names, got 'f1'"),
        ({"candidates": {"f0": 1}}, "must be a list of names, got 1"),
        (
            {"candidates": {"f1": ["f0"]}, "order": late_order(6)},
            "has 'f0' for 'f1', but it comes later in the order",
        ),
        (
            {"candidates": {"f1": ["f2"]}, "order": "rows", "image_shape": (2, 3)},
            "has 'f2' for 'f1', but it comes later in the order",
        ),
    ],
)
def test_wrong_arguments_are_refused_without_data(options, message):
    schema = plain_schema(6)
    given = CandidateOptions(**options)
    with pytest.raises(InputError, match=message):
        given.resolve(schema)


@pytest.mark.parametrize("order", [late_order(6), "rows"])
def test_orders_against_what_is_required_are_refused(order):
    schema = plain_schema(6)
    arc = ("f0", "f1") if order != "rows" else ("f1", "f0")
    known = Constraints(required=[arc])
    given = CandidateOptions(constraints=known, order=order, image_shape=(2, 3))
    with pytest.raises(InputError, match="by required arcs or tiers"):
        given.resolve(schema)


def test_candidates_against_what_is_required_are_refused():
    schema = plain_schema(3)
    known = Constraints(required=[("f0", "f1")], tiers=[["f1"], ["f2"]])
    given = CandidateOptions(constraints=known, candidates={"f0": ["f2"]})
    with pytest.raises(InputError, match="f0 -> f1 -> f2 -> f0"):
        given.resolve(schema)


def test_more_required_parents_than_there_may_be_are_refused():
    schema = plain_schema(4)
    known = Constraints(required=[("f0", "f3"), ("f1", "f3")])
    CandidateOptions(constraints=known, k=2).resolve(schema)
    with pytest.raises(InputError, match=r"\['f0', 'f1'\] of 'f3', .* allows 1"):
        CandidateOptions(constraints=known).resolve(schema)


@pytest.mark.parametrize("order", ["random", None, late_order(20)])
def test_too_many_sets_are_refused_without_data(monkeypatch, order):
    schema = plain_schema(20)
    number = 20 * 19 + 20 if order is None else 20 * 19 // 2 + 20
    given = CandidateOptions(order=order, n_candidates=None)
    monkeypatch.setattr(candidate_options, "MAX_SETS", number)
    given.resolve(schema)
    monkeypatch.setattr(candidate_options, "MAX_SETS", number - 1)
    with pytest.raises(InputError, match=rf"than {number - 1} sets .* or k"):
        given.resolve(schema)


def test_too_many_sets_of_many_features_are_refused():
    schema = plain_schema(300)
    for k in (2, 10**6):
        with pytest.raises(InputError, match=f"than 1,000,000 sets of up to {k}"):
            CandidateOptions(n_candidates=None, k=k).resolve(schema)


def test_too_many_sets_under_constraints_are_refused_with_the_order(monkeypatch):
    data = random_data(np.random.default_rng(0), 3, 10)
    known = Constraints(forbidden=[("f0", "f1")])
    given = CandidateOptions(constraints=known, n_candidates=None)
    monkeypatch.setattr(candidate_options, "MAX_SETS", 50)
    given.resolve(data.schema)
    with pytest.raises(InputError, match="more than 50 sets"):
        find_candidates(data, given)
