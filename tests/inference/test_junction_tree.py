from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import Network, Schema, Structure, TableSizeError, Variable
from tanager.inference import elimination, engine, log_marginal, triangulation
from tanager.inference.expectations import ForestExpectations, JunctionExpectations
from tanager.inference.junction_tree import JunctionTables, JunctionTree
from tanager.inference.k_tree import KTreeTables
from tanager.inference.log_joint_tables import ScoreTables
from tanager.model import FamilyLayout, Parameters
from tests.reference.enumeration import expected_counts, marginal
from tests.strategies import (
    dag_network,
    generators,
    log_linear_network,
    random_codes,
    random_k_tree,
    random_network,
    random_parameters,
    random_schema,
)
from tests.tolerance import assert_close


def junction_log_joint(network, codes):
    complete = ScoreTables.of(network.parameters)
    return JunctionTables.of(network.parameters, complete).log_joint(codes)


def by_enumeration(network, codes):
    rows = np.column_stack([codes, np.zeros(len(codes), dtype=codes.dtype)])
    with np.errstate(divide="ignore"):
        return np.log([marginal(network, r, (network.schema.target,)) for r in rows])


@given(
    random=generators(),
    n_features=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_log_joint_equals_enumeration(random, n_features, missing):
    network = dag_network(random, n_features)
    codes = random_codes(random, network.schema, 6, missing)
    expected = by_enumeration(network, codes)
    assert_close(junction_log_joint(network, codes), expected)
    layout, log_theta = network.parameters.layout, network.parameters.log_theta
    found = JunctionExpectations.of(layout).log_joint(log_theta, codes)
    assert_close(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_twelve_variables_equal_enumeration(seed):
    random = np.random.default_rng(seed)
    network = dag_network(random, 11, max_states=2)
    codes = random_codes(random, network.schema, 3, 0.5)
    assert_close(junction_log_joint(network, codes), by_enumeration(network, codes))


@given(random=generators(), missing=st.sampled_from([0.2, 0.5, 0.9]))
def test_larger_networks_equal_elimination(random, missing):
    network = dag_network(random, 15)
    codes = random_codes(random, network.schema, 20, missing)
    target = network.schema.target
    expected = log_marginal(network.parameters, codes, (target,))
    assert_close(junction_log_joint(network, codes), expected)


@given(random=generators(), missing=st.sampled_from([0.3, 0.7]))
def test_zeros_in_tables_equal_elimination(random, missing):
    network = with_zeros(random, dag_network(random, 8))
    codes = random_codes(random, network.schema, 12, missing)
    expected = log_marginal(network.parameters, codes, (network.schema.target,))
    assert_close(junction_log_joint(network, codes), expected)


def with_zeros(random, network):
    """Some entries become impossible, one of every row stays."""
    layout = network.parameters.layout
    log_theta = np.array(network.parameters.log_theta)
    for t in range(layout.n_tables):
        table = np.moveaxis(layout.table(log_theta, t), layout.owner_axis(t), -1)
        gone = random.random(table.shape) < 0.4
        gone[..., 0] = False
        table[gone] = -np.inf
        table -= np.log(np.exp(table).sum(axis=-1, keepdims=True))
    return Network(network.schema, network.structure, Parameters(layout, log_theta))


def test_networks_without_a_target():
    random = np.random.default_rng(3)
    network = dag_network(random, 5)
    schema = Schema(network.schema.variables)
    structure = Structure(network.structure.parents)
    parameters = random_parameters(random, schema, structure)
    network = Network(schema, structure, parameters)
    codes = np.stack(
        [random.integers(0, r + 1, 30) for r in schema.n_states], axis=1
    ).astype(np.uint8, order="F")
    found = junction_log_joint(network, codes)
    assert_close(found, log_marginal(parameters, codes, ())[:, None])


@given(random=generators(), k=st.integers(2, 3), missing=st.sampled_from([0.3, 0.8]))
def test_families_that_are_sums(random, k, missing):
    network = log_linear_network(random, 5, k, 0)
    codes = random_codes(random, network.schema, 6, missing)
    assert_close(junction_log_joint(network, codes), network.engine.log_joint(codes))


def many_children(n, n_classes=2):
    """A root with n binary children of tiny probabilities, below the class."""
    variables = [Variable(f"x{j}", (0, 1)) for j in range(n + 1)]
    variables.append(Variable("class", tuple(range(n_classes))))
    schema = Schema(tuple(variables), n + 1)
    parents = [(), *[(0,)] * n, (0,)]
    structure = Structure(tuple(parents), n + 1)
    random = np.random.default_rng(0)
    return Network(
        schema, structure, random_parameters(random, schema, structure, 0.02)
    )


def test_what_vanishes_is_summed_in_logarithms():
    n = 600
    network = many_children(n)
    random = np.random.default_rng(1)
    codes = np.asfortranarray(random.integers(0, 2, (40, n + 1)).astype(np.uint8))
    codes[::2, 0] = 2
    expected = log_marginal(network.parameters, codes, (n + 1,))
    assert expected[::2].max() < np.log(np.finfo(float).tiny)
    assert_close(junction_log_joint(network, codes), expected)
    # The posteriors, too: the root's, from rows in which it is missing.
    layout, log_theta = network.parameters.layout, network.parameters.log_theta
    tree = JunctionExpectations.of(layout)
    rows = np.asfortranarray(codes[::2])
    weights = np.ones((len(rows), 2))
    found = np.zeros(layout.n_cells)
    tree.add_expected(log_theta, rows, weights, found)
    shares = log_marginal(network.parameters, rows, (0, n + 1))
    shares = np.exp(shares - np.logaddexp.reduce(shares, axis=1, keepdims=True))
    assert_close(layout.table(found, 0), shares.sum(axis=(0, 2)))
    assert found.sum() == pytest.approx(2 * len(rows) * layout.n_tables)


@settings(max_examples=30, deadline=None)
@given(
    random=generators(),
    scale=st.sampled_from([30, 150, 400]),
    missing=st.sampled_from([0.2, 0.5, 0.9]),
)
def test_extreme_tables_equal_elimination(random, scale, missing):
    network = dag_network(random, 6)
    layout = network.parameters.layout
    log_theta = random.normal(scale=scale, size=layout.n_cells)
    for t in range(layout.n_tables):
        table = layout.table(log_theta, t)
        axis = layout.owner_axis(t)
        table -= np.logaddexp.reduce(table, axis=axis, keepdims=True)
    codes = random_codes(random, network.schema, 12, missing)
    parameters = Parameters(layout, log_theta)
    tree = JunctionExpectations.of(layout)
    expected = log_marginal(parameters, codes, (network.schema.target,))
    assert_close(tree.log_joint(log_theta, codes), expected)
    # Rows together share sums, and some of them need logarithms; rows alone do not.
    labels = random.integers(0, network.schema.n_classes + 1, 12)
    together, alone = np.zeros((2, layout.n_cells))
    value = tree.expect(log_theta, codes, labels, None, together)
    values = [
        tree.expect(log_theta, codes[m : m + 1], labels[m : m + 1], None, alone)
        for m in range(12)
    ]
    assert_close(value, sum(values))
    assert_close(together, alone)


def test_factors_that_vanish_only_together():
    layout = FamilyLayout.of_families((2, 2, 2), ((0,), (1,), (2,)), 2)
    theta = [1e-90, 1.0, 1e-250, 1.0, 0.5, 0.5]
    codes = np.array([[0, 0]], dtype=np.uint8, order="F")
    found = JunctionExpectations.of(layout).log_joint(np.log(theta), codes)
    assert_close(found, np.full((1, 2), np.log([1e-90, 1e-250, 0.5]).sum()))


@pytest.mark.parametrize("by", [400.0, 900.0, -900.0])
def test_tables_that_are_no_probabilities(by):
    random = np.random.default_rng(4)
    network = log_linear_network(random, 6, 3, 0)
    layout = network.parameters.layout
    log_theta = np.array(network.parameters.log_theta)
    for v in range(len(layout.n_states)):
        first, *_, last = (*layout.tables_of(v), *layout.tables_of(v))
        layout.table(log_theta, first)[...] += by
        layout.table(log_theta, last)[...] -= by
    codes = random_codes(random, network.schema, 20, 0.5)
    weights = random.normal(size=(20, network.schema.n_classes))
    tree = JunctionExpectations.of(layout)
    found = tree.log_joint(log_theta, codes)
    assert_close(found, tree.log_joint(network.parameters.log_theta, codes))
    moved, plain = np.zeros((2, layout.n_cells))
    tree.add_expected(log_theta, codes, weights, moved)
    tree.add_expected(network.parameters.log_theta, codes, weights, plain)
    assert_close(moved, plain)


def test_a_class_under_which_a_row_is_impossible_adds_nothing():
    # The first feature rules class 1 out; the second one has nothing to do with it.
    families = ((3, 0), (1,), (1, 2), (3,))
    layout = FamilyLayout.of_families((2, 2, 2, 2), families, 3)
    log_theta = np.full(layout.n_cells, np.log(0.5))
    layout.table(log_theta, 0)[:, 1] = [-np.inf, 0.0]
    codes = np.array([[0, 2, 1]], dtype=np.uint8, order="F")
    found = np.zeros(layout.n_cells)
    tree = JunctionExpectations.of(layout)
    tree.add_expected(log_theta, codes, np.ones((1, 2)), found)
    totals = [layout.table(found, t).sum() for t in range(layout.n_tables)]
    assert totals == pytest.approx([1.0] * 4)
    value = tree.expect(log_theta, codes, np.array([1]), None, found)
    assert value == -np.inf  # and not NaN, though a family observed whole is, too


@given(
    random=generators(),
    n_features=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    weighted=st.booleans(),
)
def test_forests_are_as_in_the_engine_of_forests(random, n_features, missing, weighted):
    network = random_network(random, n_features)
    layout, log_theta = network.parameters.layout, network.parameters.log_theta
    n_classes = network.schema.n_classes
    codes = random_codes(random, network.schema, 8, missing)
    labels = random.integers(0, n_classes + 1, 8)
    weights = random.random(8) if weighted else None
    by_class = random.normal(size=(8, n_classes))
    kinds = (ForestExpectations.of(layout), JunctionExpectations.of(layout))
    for barren in (True, False):
        one, other = np.zeros((2, layout.n_cells))
        for kind, out in zip(kinds, (one, other), strict=True):
            kind.add_expected(log_theta, codes, by_class, out, barren=barren)
        assert_close(one, other)
    one, other = np.zeros((2, layout.n_cells))
    values = [
        kind.expect(log_theta, codes, labels, weights, out)
        for kind, out in zip(kinds, (one, other), strict=True)
    ]
    assert_close(*values)
    assert_close(one, other)


@given(random=generators(), missing=st.sampled_from([0.0, 0.4, 0.8]))
def test_expect_leaves_out_what_is_observed_whole_and_what_is_barren(random, missing):
    network = dag_network(random, 5)
    schema, layout = network.schema, network.parameters.layout
    log_theta = network.parameters.log_theta
    codes = random_codes(random, schema, 6, missing)
    labels = random.integers(0, schema.n_classes + 1, 6)
    tree = JunctionExpectations.of(layout)
    found = np.zeros(layout.n_cells)
    value = tree.expect(log_theta, codes, labels, None, found)
    expected, log_likelihood = np.zeros(layout.n_cells), 0.0
    for row, label in zip(codes, labels, strict=True):
        whole = np.append(row, label)
        log_joint = np.log(marginal(network, whole, ()))
        of_class = np.zeros(schema.n_classes)
        if label < schema.n_classes:
            of_class[label] = 1.0
        else:
            joint = marginal(network, whole, (schema.target,))
            of_class = joint / joint.sum()
        counts = expected_counts(network, layout, row[None], of_class[None])
        missed = {v for v in range(len(schema)) if whole[v] == schema[v].n_states}
        for t, owner in enumerate(layout.owners):
            if not missed & set(layout.axes[t]):
                log_joint -= layout.table(log_theta, t)[
                    tuple(whole[v] for v in layout.axes[t])
                ]
            elif not is_barren(network.structure, owner, missed):
                layout.table(expected, t)[...] += layout.table(counts, t)
        log_likelihood += log_joint
    assert_close(found, expected)
    assert_close(value, log_likelihood)


def is_barren(structure, v, missed):
    """Whether a missing feature has nothing observed, nor the class, below it."""
    if v == structure.target or v not in missed:
        return False
    children = [c for c, parents in enumerate(structure.parents) if v in parents]
    return all(is_barren(structure, child, missed) for child in children)


def test_rows_in_any_order_and_company_give_the_same_bits():
    random = np.random.default_rng(7)
    network = dag_network(random, 12)
    codes = random_codes(random, network.schema, 300, 0.4)
    codes[100:200] = codes[:100]
    whole = junction_log_joint(network, codes)
    order = random.permutation(300)
    again = junction_log_joint(network, np.asfortranarray(codes[order]))
    assert np.array_equal(whole[order], again)
    assert np.array_equal(whole[:100], whole[100:200])
    alone = [junction_log_joint(network, codes[m : m + 1]) for m in range(0, 300, 37)]
    assert np.array_equal(np.concatenate(alone), whole[::37])


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_engine_takes_many_rows_through_the_junction_tree(n_jobs, monkeypatch):
    random = np.random.default_rng(8)
    network = dag_network(random, 9)
    codes = random_codes(random, network.schema, 20_000, 0.3)
    expected = junction_log_joint(network, codes)

    def refuse(*_):
        raise AssertionError("elimination was asked")

    monkeypatch.setattr(engine, "log_marginal", refuse)
    assert np.array_equal(network.engine.log_joint(codes, n_jobs), expected)


def test_too_large_a_tree_is_left_to_elimination(monkeypatch):
    random = np.random.default_rng(9)
    network = dag_network(random, 9)
    codes = random_codes(random, network.schema, 50, 0.3)
    expected = junction_log_joint(network, codes)

    def too_large(*_, **__):
        raise TableSizeError("too large")

    monkeypatch.setattr(JunctionTree, "of", too_large)
    found = Network(
        network.schema, network.structure, network.parameters
    ).engine.log_joint(codes)
    assert_close(found, expected)


def test_a_clique_that_is_too_large_is_named_before_anything_is_allocated():
    n = 12
    states = [50] * n + [2]
    families = [(j,) for j in range(n)] + [(*range(6), n)]
    layout = FamilyLayout.of_families(states, families, n)
    cells = 50**6 * 2
    with pytest.raises(
        TableSizeError, match=rf"clique \[0, 1, 2, 3, 4, 5\] with {cells:,} cells"
    ):
        JunctionTree.of(layout)
    assert cells > triangulation.MAX_CLIQUE_CELLS
    assert cells > elimination.MAX_FACTOR_CELLS


@pytest.mark.parametrize("most", [0, 10**9])
def test_k_trees_of_large_tables_go_either_way(most, monkeypatch):
    random = np.random.default_rng(10)
    schema = random_schema(random, 7, max_states=4, n_classes=3)
    structure = random_k_tree(random, schema, 2, full=True)
    parameters = random_parameters(random, schema, structure)
    codes = random_codes(random, schema, 60, 0.4)
    monkeypatch.setattr(engine, "SMALL_TABLE", 0)
    monkeypatch.setattr(engine, "MAX_CELLS_OF_K_TREES", most)
    found = Network(schema, structure, parameters).engine
    expected = log_marginal(parameters, codes, (schema.target,))
    assert_close(found.log_joint(codes), expected)
    kind = KTreeTables if most == 0 else JunctionTables
    assert isinstance(found._general, kind)
