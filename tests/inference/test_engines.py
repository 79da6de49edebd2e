from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import CapabilityError, Network, Structure, TableSizeError
from tanager.inference import elimination, log_marginal
from tanager.inference.forest import ForestTables, is_forest
from tanager.inference.k_tree import KTreeTables, is_k_tree
from tanager.inference.log_joint_tables import group_subsets
from tanager.model import FamilyLayout, Parameters
from tests.reference.enumeration import marginal
from tests.strategies import (
    generators,
    log_linear_network,
    random_codes,
    random_k_tree,
    random_network,
    random_parameters,
    random_schema,
)
from tests.tolerance import EXACT, TABLES, assert_close


def expected_log_joint(network, codes):
    target = network.schema.target
    whole = np.column_stack([codes, np.zeros(len(codes), dtype=codes.dtype)])
    with np.errstate(divide="ignore"):
        return np.log([marginal(network, row, (target,)) for row in whole])


@given(
    random=generators(),
    n_features=st.integers(1, 5),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    class_rooted=st.booleans(),
)
def test_trees_equal_enumeration(random, n_features, missing, class_rooted):
    network = random_network(random, n_features, class_rooted=class_rooted)
    codes = random_codes(random, network.schema, 6, missing)
    assert_close(network.engine.log_joint(codes), expected_log_joint(network, codes))


@given(
    random=generators(),
    n_features=st.integers(1, 5),
    missing=st.sampled_from([0.0, 0.4, 1.0]),
)
def test_general_networks_equal_enumeration(random, n_features, missing):
    network = random_network(random, n_features, max_parents=3, class_rooted=False)
    codes = random_codes(random, network.schema, 6, missing)
    assert_close(network.engine.log_joint(codes), expected_log_joint(network, codes))


@given(
    random=generators(),
    n_features=st.integers(2, 5),
    k=st.integers(2, 3),
    full_cells=st.sampled_from([0, 40]),
    missing=st.sampled_from([0.0, 0.3, 0.6, 1.0]),
)
def test_log_linear_families_equal_enumeration(
    random, n_features, k, full_cells, missing
):
    network = log_linear_network(random, n_features, k, full_cells)
    codes = random_codes(random, network.schema, 6, missing)
    assert_close(network.engine.log_joint(codes), expected_log_joint(network, codes))


@pytest.mark.parametrize("k", [2, 3])
def test_log_linear_families_with_impossible_states_equal_enumeration(k):
    random = np.random.default_rng(14)
    network = log_linear_network(random, 5, k, max_states=4, n_classes=2)
    layout = network.parameters.layout
    sums = next(
        v for v in range(5) if layout.n_states[v] > 1 and layout.tables_of(v)[1:]
    )
    first, *_, last = layout.tables_of(sums)
    log_theta = network.parameters.log_theta.copy()
    # Without its first state, the variable needs another normaliser.
    table = layout.table(log_theta, first)
    np.moveaxis(table, layout.owner_axis(first), 0)[0] = -np.inf
    axes = (sums, *layout.axes[last])
    assert set(axes) == set(network.structure.families[sums])
    total = layout.sum_tables(log_theta, layout.tables_of(sums), axes)
    layout.table(log_theta, last)[...] -= np.logaddexp.reduce(total, axis=0)
    holed = Network(network.schema, network.structure, Parameters(layout, log_theta))
    codes = random_codes(random, network.schema, 40, 0.3)
    found, expected = holed.engine.log_joint(codes), expected_log_joint(holed, codes)
    assert np.isneginf(expected).any()
    assert np.array_equal(np.isneginf(found), np.isneginf(expected))
    assert_close(found[np.isfinite(found)], expected[np.isfinite(found)])


@given(random=generators(), n_classes=st.integers(1, 9))
def test_kernel_and_numpy_give_the_same_bits(random, n_classes):
    network = random_network(
        random, 5, max_parents=2, class_rooted=False, n_classes=n_classes
    )
    codes = random_codes(random, network.schema, 300)
    tables = network.engine._complete
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanager.utils.jit.SMALL_WORK", -1)
        by_kernel = tables.log_joint(codes)
    assert np.array_equal(by_kernel, tables.log_joint(codes))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_blocks_and_threads_give_the_same_bits(n_jobs, missing):
    random = np.random.default_rng(0)
    network = random_network(random, 6)
    codes = random_codes(random, network.schema, 20_000, missing)
    whole = network.engine.log_joint_block(codes)
    assert np.array_equal(network.engine.log_joint(codes, n_jobs), whole)


def star(n_children, probability):
    """A root feature with many children that are almost never in state 0."""
    names = [f"child{k}" for k in range(n_children)]
    rare = [probability, 1 - probability]
    tables = {
        "root": (["class"], [[0.4, 0.6], [0.7, 0.3]]),
        "class": [0.5, 0.5],
    }
    for name in names:
        tables[name] = (["class", "root"], [[rare, [2 * rare[0], 1 - 2 * rare[0]]]] * 2)
    variables = dict.fromkeys(["root", *names], (0, 1)) | {"class": (0, 1)}
    return Network.build(variables, tables, target="class")


def test_products_below_the_smallest_float_stay_exact():
    n_children, probability = 200, 1e-5
    network = star(n_children, probability)
    codes = np.zeros((1, n_children + 1), dtype=np.uint8, order="F")
    codes[0, 0] = 2
    log_joint = network.engine.log_joint(codes)
    first = n_children * np.log(probability)
    second = n_children * np.log(2 * probability)
    for c, share in enumerate((0.4, 0.7)):
        expected = np.log(0.5) + np.logaddexp(
            np.log(share) + first, np.log(1 - share) + second
        )
        assert_close(log_joint[0, c], expected, EXACT)


def test_impossible_states_equal_enumeration():
    random = np.random.default_rng(3)
    for _ in range(20):
        network = random_network(random, 4, n_classes=2)
        layout = network.parameters.layout
        theta = np.exp(network.parameters.log_theta)
        theta[random.random(len(theta)) < 0.3] = 0.0
        for index in range(layout.n_tables):
            table, axis = layout.table(theta, index), layout.owner_axis(index)
            empty = table.sum(axis=axis, keepdims=True) == 0
            table[...] = np.where(empty, 1.0, table)
            table /= table.sum(axis=axis, keepdims=True)
        with np.errstate(divide="ignore"):
            parameters = Parameters(layout, np.log(theta))
        holed = Network(network.schema, network.structure, parameters)
        codes = random_codes(random, network.schema, 20, 0.4)
        found = holed.engine.log_joint(codes)
        expected = expected_log_joint(holed, codes)
        assert np.array_equal(np.isneginf(found), np.isneginf(expected))
        finite = np.isfinite(expected)
        assert_close(found[finite], expected[finite])


def test_nothing_observed_gives_the_prior():
    random = np.random.default_rng(4)
    network = random_network(random, 5, n_classes=3)
    codes = random_codes(random, network.schema, 1, missing=1.0)
    prior = network.table("class").values
    assert_close(np.exp(network.engine.log_joint(codes))[0], prior, EXACT)


def test_row_order_does_not_matter():
    random = np.random.default_rng(5)
    network = random_network(random, 5)
    codes = random_codes(random, network.schema, 200, 0.3)
    order = random.permutation(200)
    shuffled = np.asfortranarray(codes[order])
    assert np.array_equal(
        network.engine.log_joint(shuffled), network.engine.log_joint(codes)[order]
    )


def test_tree_engine_refuses_other_networks():
    network = next(
        candidate
        for seed in range(100)
        if not (
            candidate := random_network(np.random.default_rng(seed), 5, max_parents=3)
        ).structure.is_tree
    )
    with pytest.raises(CapabilityError, match="at most one feature parent"):
        ForestTables.of(network.parameters)


def test_elimination_refuses_huge_factors(monkeypatch):
    random = np.random.default_rng(6)
    network = random_network(random, 4, max_parents=3, n_classes=2)
    codes = random_codes(random, network.schema, 4, missing=1.0)
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 1)
    with pytest.raises(TableSizeError, match="fewer parents"):
        log_marginal(network.parameters, codes, (4,))


@given(random=generators())
def test_marginals_of_several_variables_equal_enumeration(random):
    network = random_network(random, 4, max_parents=2, class_rooted=False)
    codes = random_codes(random, network.schema, 3, 0.5)
    labels = random.integers(0, network.schema.n_classes + 1, 3)
    whole = np.column_stack([codes, labels.astype(np.uint8)])
    found = np.exp(log_marginal(network.parameters, whole, (2, 0)))
    for row, values in zip(whole, found, strict=True):
        assert_close(values, marginal(network, row, (2, 0)), TABLES)


def test_bits_of_a_row_do_not_depend_on_its_company():
    random = np.random.default_rng(12)
    for n_classes in (2, 3, 9):
        network = random_network(random, 9, n_classes=n_classes, max_states=5)
        codes = random_codes(random, network.schema, 400, 0.0)
        alone = network.engine.log_joint(codes)
        mixed = np.asfortranarray(
            np.vstack([codes, random_codes(random, network.schema, 50, 0.5)])
        )
        assert np.array_equal(network.engine.log_joint(mixed)[:400], alone)
        one = np.asfortranarray(codes[7:8])
        assert np.array_equal(network.engine.log_joint(one)[0], alone[7])


def test_elimination_takes_many_rows_in_turns(monkeypatch):
    random = np.random.default_rng(13)
    network = random_network(random, 4, max_parents=3, n_classes=2)
    codes = random_codes(random, network.schema, 200, missing=0.5)
    expected = log_marginal(network.parameters, codes, (4,))
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 600)
    assert_close(log_marginal(network.parameters, codes, (4,)), expected, EXACT)


def test_several_tables_of_one_variable_are_no_forest():
    layout = FamilyLayout((2, 2, 2), ((0, 2), (0, 1, 2), (1, 2), (2,)), (0, 1, 1, 2), 2)
    assert not is_forest(layout)


# Networks without fill-in


def k_tree_network(random, n_features, k, **options):
    schema = random_schema(random, n_features, **options)
    structure = random_k_tree(random, schema, k)
    return Network(schema, structure, random_parameters(random, schema, structure))


@given(
    random=generators(),
    n_features=st.integers(1, 5),
    k=st.integers(1, 4),
    missing=st.sampled_from([0.3, 0.7, 1.0]),
)
def test_k_trees_equal_enumeration(random, n_features, k, missing):
    network = k_tree_network(random, n_features, k)
    codes = random_codes(random, network.schema, 6, missing)
    tables = KTreeTables.of(network.parameters)
    assert_close(tables.log_joint(codes), expected_log_joint(network, codes))


@settings(max_examples=20)
@given(
    random=generators(), k=st.integers(1, 4), missing=st.sampled_from([0.2, 0.6, 1.0])
)
def test_k_trees_equal_elimination(random, k, missing):
    options = {"max_states": 5, "n_classes": int(random.integers(1, 4))}
    for network in (
        k_tree_network(random, 12, k, **options),
        log_linear_network(random, 12, k, full_cells=60, **options),
    ):
        codes = random_codes(random, network.schema, 80, missing)
        found = KTreeTables.of(network.parameters).log_joint(codes)
        assert_close(found, log_marginal(network.parameters, codes, (12,)))
        # All of the rows, whatever the block they come in.
        part = np.asfortranarray(codes[70:])
        again = KTreeTables.of(network.parameters).log_joint(part)
        assert np.array_equal(again, found[70:])


def test_k_trees_with_features_that_do_not_know_the_class():
    random = np.random.default_rng(15)
    for _ in range(20):
        schema = random_schema(random, 5)
        rooted = random_k_tree(random, schema, 2)
        parents = [
            p[1:] if len(p) > 1 and random.random() < 0.5 else p for p in rooted.parents
        ]
        structure = Structure(tuple(parents), schema.target)
        parameters = random_parameters(random, schema, structure)
        network = Network(schema, structure, parameters)
        codes = random_codes(random, schema, 10, 0.4)
        tables = KTreeTables.of(network.parameters)
        assert_close(tables.log_joint(codes), expected_log_joint(network, codes))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_of_k_trees_give_the_same_bits(n_jobs):
    random = np.random.default_rng(16)
    network = log_linear_network(random, 6, 2, n_classes=3)
    codes = random_codes(random, network.schema, 20_000, 0.2)
    whole = network.engine.log_joint_block(codes)
    assert np.array_equal(network.engine.log_joint(codes, n_jobs), whole)


def test_which_networks_are_k_trees():
    def layout(parents, target=3):
        states = (2, 2, 2, 2)
        families = Structure(parents, target).families
        return FamilyLayout.of_families(states, families, target)

    assert is_k_tree(layout(((3,), (3, 0), (3, 0, 1), ())))
    assert not is_k_tree(layout(((3,), (3,), (3, 0, 1), ())))
    assert not is_k_tree(layout(((), (3, 0), (3, 0, 1), (0,))))
    assert not is_k_tree(layout(((), (0,), (0, 1), (0,)), None))
    network = star(2, 0.1)
    assert is_k_tree(network.parameters.layout)
    parents = ((3,), (3,), (3, 0, 1), ())
    values = np.log(np.full(layout(parents).n_cells, 0.5))
    with pytest.raises(CapabilityError, match="joined to each other"):
        KTreeTables.of(Parameters(layout(parents), values))


def test_tables_within_others_are_added_to_them():
    random = np.random.default_rng(17)
    network = log_linear_network(random, 10, 2, max_states=30, n_classes=9)
    layout = network.parameters.layout
    # An arc of the 2-tree each, and the class.
    assert len(network.engine._complete.offsets) < layout.n_tables
    groups = group_subsets(layout, range(layout.n_tables))
    assert sorted(t for group in groups.values() for t in group) == list(
        range(layout.n_tables)
    )
    for lead, group in groups.items():
        assert group[0] == lead
        assert all(set(layout.axes[t]) <= set(layout.axes[lead]) for t in group)
    arcs = sum(len(parents) for parents in network.structure.feature_parents)
    assert len(groups) == arcs + 1
