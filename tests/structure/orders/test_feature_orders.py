from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import Constraints, InputError, Schema, Variable
from tanager.data import ArrayData
from tanager.structure.orders.feature_orders import (
    ORDERS,
    feature_order,
    known_precedence,
    order_by,
)
from tanager.structure.orders.sample_partition import SamplePartition, select_labelled
from tests.reference import orders as reference
from tests.strategies import generators, random_data
from tests.tolerance import EXACT, assert_close

BY_DATA = [order for order in ORDERS if order != "ro"]


def random_before(random, n, fraction=0.4):
    """A precedence without cycles, along a hidden order."""
    rank = random.permutation(n)
    return (rank[:, None] < rank[None, :]) & (random.random((n, n)) < fraction)


def by_reference(data, order, before=None):
    return reference.feature_order(
        data.codes, data.labels, data.weights, data.schema.n_classes, order, before
    )


@given(
    random=generators(),
    order=st.sampled_from(BY_DATA),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    weighted=st.booleans(),
    constrained=st.booleans(),
)
def test_orders_equal_the_definition(random, order, missing, weighted, constrained):
    n_features = int(random.integers(1, 7))
    data = random_data(
        random,
        int(random.integers(1, 60)),
        n_features,
        missing=missing,
        weighted=weighted,
        unlabelled=0.1,
    )
    before = random_before(random, n_features) if constrained else None
    found = feature_order(data, order, before=before)
    assert found.dtype == np.int64
    assert found.tolist() == by_reference(data, order, before)


@given(
    random=generators(),
    order=st.sampled_from(["omi", "omisp", "min-omi"]),
    smoothing=st.sampled_from([1e-5, 1e-3, 0.1]),
    weighted=st.booleans(),
    constrained=st.booleans(),
)
def test_smoothed_orders_equal_the_definition(
    random, order, smoothing, weighted, constrained
):
    n_features = int(random.integers(1, 6))
    n_rows = int(random.integers(1, 60))
    data = random_data(random, n_rows, n_features, weighted=weighted)
    before = random_before(random, n_features) if constrained else None
    found = feature_order(data, order, before=before, smoothing=smoothing)
    expected = reference.feature_order(
        data.codes, data.labels, data.weights, data.schema.n_classes, order, before,
        smoothing, data.schema.n_states.tolist(),
    )  # fmt: skip
    assert found.tolist() == expected


def test_smoothing_of_very_many_values_is_by_the_number_of_states():
    random = np.random.default_rng(0)
    states = [2] * 5 + [3] * 450
    codes = np.stack([random.integers(0, n, 30) for n in states], axis=1)
    variables = [Variable(f"f{j}", tuple(range(n))) for j, n in enumerate(states)]
    schema = Schema((*variables, Variable("class", (0, 1))), target=len(states))
    codes = np.asfortranarray(codes.astype(np.uint8))
    data = ArrayData(schema, codes, random.integers(0, 2, 30).astype(np.uint8))
    found = feature_order(data, "omi", smoothing=0.1)
    assert sorted(found.tolist()) == list(range(455))
    assert np.argsort(found)[:5].max() < 20


@pytest.mark.parametrize("order", BY_DATA)
def test_many_rows_in_few_values_equal_the_definition(order):
    # Tables smaller than their groups, and groups that shrink to two rows.
    random = np.random.default_rng(3)
    data = random_data(random, 700, 8, max_states=3, n_classes=3)
    assert feature_order(data, order).tolist() == by_reference(data, order)


def copies(random, n_rows=80):
    """Features that are the same but for the names of their values."""
    x = random.integers(0, 3, n_rows)
    noise = random.integers(0, 2, n_rows)
    columns = [noise, x, (x + 1) % 3, 2 - x, noise]
    codes = np.asfortranarray(np.stack(columns, axis=1).astype(np.uint8))
    variables = [Variable(f"f{j}", (0, 1, 2)) for j in range(5)]
    schema = Schema((*variables, Variable("class", (0, 1, 2))), target=5)
    labels = np.where(random.random(n_rows) < 0.7, x, 0).astype(np.uint8)
    return ArrayData(schema, codes, labels)


@pytest.mark.parametrize("order", BY_DATA)
@pytest.mark.parametrize("seed", range(5))
def test_ties_go_to_the_lowest_position(order, seed):
    data = copies(np.random.default_rng(seed))
    found = feature_order(data, order).tolist()
    assert found == by_reference(data, order)
    assert found.index(1) < found.index(2) < found.index(3)
    assert found.index(0) < found.index(4)


@pytest.mark.parametrize("order", BY_DATA)
def test_threads_change_nothing(order):
    data = random_data(np.random.default_rng(5), 300, 9, weighted=True, missing=0.1)
    one = feature_order(data, order, n_jobs=1)
    assert np.array_equal(one, feature_order(data, order, n_jobs=3))


@pytest.mark.parametrize("order", BY_DATA)
def test_weights_are_repetitions(order):
    random = np.random.default_rng(6)
    data = random_data(random, 50, 6)
    times = random.integers(0, 4, 50)
    weighted = ArrayData(data.schema, data.codes, data.labels, times.astype(float))
    repeated = data.take(np.repeat(np.arange(50), times))
    assert np.array_equal(
        feature_order(weighted, order), feature_order(repeated, order)
    )


def test_information_adds_up_to_that_of_all_features():
    # Also with missing cells: the chain rule holds for every order.
    data = random_data(np.random.default_rng(8), 120, 5, missing=0.2, n_classes=3)
    rows = select_labelled(data)
    groups = SamplePartition.of(rows)
    for j in range(5):
        entropy = groups.entropies(np.array([j]))[0]
        expected = reference.class_entropy(
            data.codes, data.labels, None, list(range(j + 1))
        )
        assert_close(entropy, expected, EXACT)
        rate = 1.0 - groups.errors(np.array([j]))[0]
        expected = reference.class_rate(
            data.codes, data.labels, None, list(range(j + 1))
        )
        assert_close(rate, expected, EXACT)
        groups = groups.split(j)


def test_the_pair_that_decides_the_class_comes_first():
    random = np.random.default_rng(0)
    codes = np.asfortranarray(random.integers(0, 2, (200, 6)).astype(np.uint8))
    labels = codes[:, 2] ^ codes[:, 5]
    variables = [Variable(f"f{j}", (0, 1)) for j in range(6)]
    schema = Schema((*variables, Variable("class", (0, 1))), target=6)
    data = ArrayData(schema, codes, labels)
    for order in ("omi", "omisp"):
        assert set(feature_order(data, order)[:2].tolist()) == {2, 5}
    # After them all rows are settled, and the others follow by position.
    assert feature_order(data, "omi")[2:].tolist() == [0, 1, 3, 4]
    assert feature_order(data, "min-omi")[:2].tolist() != [2, 5]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("labels", ["none", "one class"])
def test_uninformative_samples_are_ordered_all_the_same(order, labels):
    data = random_data(np.random.default_rng(1), 20, 4, n_classes=2)
    code = 2 if labels == "none" else 1
    useless = ArrayData(data.schema, data.codes, np.full(20, code, dtype=np.uint8))
    found = feature_order(useless, order, random_state=np.random.default_rng(0))
    assert sorted(found.tolist()) == [0, 1, 2, 3]
    if order != "ro":
        assert found.tolist() == [0, 1, 2, 3]


def test_random_orders_follow_the_generator():
    data = random_data(np.random.default_rng(0), 5, 4)

    def draw(seed, **options):
        random = np.random.default_rng(seed)
        return tuple(feature_order(data, "ro", random_state=random, **options))

    assert draw(1) == draw(1)
    drawn = [draw(seed) for seed in range(400)]
    assert len(set(drawn)) == 24
    before = np.zeros((4, 4), dtype=bool)
    before[3, 0] = before[0, 1] = True
    for seed in range(20):
        order = draw(seed, before=before)
        assert order.index(3) < order.index(0) < order.index(1)


def test_orders_can_be_given():
    data = random_data(np.random.default_rng(0), 5, 3)
    for given_order in (["f2", "f0", "f1"], [2, 0, 1], np.array([2, 0, 1])):
        assert feature_order(data, given_order).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("omy", "Unknown order 'omy'. Did you mean 'omi'"),
        (["f0", "f1", "f7"], "Unknown feature 'f7'"),
        (["f0", "f1", "class"], "Unknown feature 'class'"),
        (["f0", "f1"], r"2 of 3 features.*Missing: \['f2'\]"),
        (["f0", "f1", "f1"], r"\['f1'\] more than once"),
        ([0, 1, 3], "position from 0 to 2, got 3"),
        ([0, 1, -1], "got -1"),
        ([0, 1, True], "got True"),
        ([0, 1, 2.0], "got 2.0"),
        (None, "a list of all features, got None"),
    ],
)
def test_impossible_orders_are_refused(order, message):
    data = random_data(np.random.default_rng(0), 5, 3)
    with pytest.raises(InputError, match=message):
        feature_order(data, order)


def test_impossible_precedence_is_refused():
    data = random_data(np.random.default_rng(0), 5, 3)
    before = np.zeros((3, 3), dtype=bool)
    before[0, 2] = True
    with pytest.raises(InputError, match="has 'f2' before 'f0', but 'f0' must come"):
        feature_order(data, ["f2", "f1", "f0"], before=before)
    before[2, 0] = True
    with pytest.raises(InputError, match="required arcs and tiers: f0 -> f2 -> f0"):
        feature_order(data, "omi", before=before)
    with pytest.raises(InputError, match=r"bools of shape \(3, 3\)"):
        feature_order(data, "omi", before=np.zeros((2, 2), dtype=bool))


SCHEMA = Schema(tuple(Variable(n, (0, 1)) for n in ("a", "b", "c", "class")), target=3)


def test_precedence_of_required_arcs_and_tiers():
    before = known_precedence(
        SCHEMA,
        constraints=Constraints(
            required=[("c", "b"), ("class", "a")], tiers=[["b"], ["a"]]
        ),
    )
    assert np.argwhere(before).tolist() == [[1, 0], [2, 1]]
    assert order_by(np.array([3.0, 2.0, 1.0]), before).tolist() == [2, 1, 0]
    with pytest.raises(InputError, match="No order of the features"):
        known_precedence(
            SCHEMA,
            constraints=Constraints(
                required=[("a", "c"), ("c", "b")], tiers=[["b"], ["a"]]
            ),
        )
