"""Terms of P(x): the map, and the CPTs that are fitted with groups of states."""

import numpy as np
import pytest
from scipy.special import softmax

from tanager import Network, Schema, Structure, Variable
from tanager.data import ArrayData
from tanager.inference import engine_for
from tanager.loglinear import weights_to_cpts
from tanager.loglinear.class_free_terms import CellTerms, grouped_terms
from tanager.loglinear.linear_maps import state_groups
from tanager.loglinear.model import NetworkModel, count_groups
from tanager.model import FamilyLayout
from tests.tolerance import assert_close


def test_grouped_terms_add_pairs_of_groups_and_single_states():
    # Feature 1 has a state for missing values, a group of its own.
    layout = FamilyLayout.of_families((5, 4, 3), ((2, 0, 1), (2, 0), (2,)), 2)
    terms = grouped_terms(layout, (2, 3, 3), (False, True, False))
    groups = state_groups(5, 2), state_groups(4, 3, apart=True)
    pairs, single, alone = np.split(
        np.random.default_rng(0).normal(size=terms.n_in), [6, 11]
    )
    assert len(alone) == 4  # feature 1, the owner of the pair
    weights = terms.apply(np.concatenate([pairs, single, alone]))
    for c in range(3):
        for a in range(5):
            for b in range(4):
                expected = pairs.reshape(2, 3)[groups[0][a], groups[1][b]] + alone[b]
                assert layout.table(weights, 0)[a, b, c] == pytest.approx(expected)
            assert layout.table(weights, 1)[a, c] == pytest.approx(single[a])
    assert (layout.table(weights, 2) == 0).all()
    y = np.random.default_rng(1).normal(size=terms.n_out)
    matrix = np.stack([terms.apply(row) for row in np.eye(terms.n_in)], axis=1)
    assert_close(terms.adjoint(y), matrix.T @ y)


def test_without_groups_every_cell_has_a_term():
    layout = FamilyLayout.of_families((5, 4, 3), ((2, 0, 1), (2, 0), (2,)), 2)
    terms = grouped_terms(layout, layout.n_states, ())
    assert isinstance(terms, CellTerms)
    assert terms.n_in == 20 + 5


def make_model(n_samples, n_states, k):
    """Ordered features that depend on each other; one has missing values."""
    random = np.random.default_rng(3)
    steps = random.integers(-2, 3, (n_samples, 3))
    codes = np.clip(np.cumsum(steps, axis=1) + n_states // 2, 0, n_states - 1)
    ordered = [Variable(v, tuple(range(n_states)), ordered=True) for v in "ab"]
    states = (*range(n_states), "missing")
    last = Variable("c", states, ordered=True, missing_state=True)
    schema = Schema((*ordered, last, Variable("y", (0, 1))), target=3)
    codes[random.random(n_samples) < 0.1, 2] = n_states
    labels = (codes[:, 1] + random.integers(-1, 2, n_samples) > n_states // 2).astype(
        np.int64
    )
    data = ArrayData(schema, np.asfortranarray(codes.astype(np.uint8)), labels)
    parents = [(), (0,), (1,) if k == 1 else (0, 1), ()]
    structure = Structure.class_rooted(parents, 3)
    return NetworkModel(schema, structure, 2, smooth=True, pair_bins=2), data


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("full_cells", [0, 10**6])
def test_cpts_fit_the_groups_of_the_features(full_cells, k, monkeypatch):
    monkeypatch.setattr(weights_to_cpts, "FULL_CELLS", full_cells)
    model, data = make_model(4000, 12, k)
    solution = model.fit(data, 0.1)
    found = model.to_cpts(solution.coordinates, data)
    codes = np.asfortranarray(data.codes)
    joint = engine_for(found).log_joint(codes)
    expected = model.posterior(solution.coordinates, list(data.blocks()))
    assert_close(softmax(joint, axis=1), expected, 1e-10)
    network = Network(data.schema, model.structure, found)
    groups = count_groups(data.schema, 4)
    assert groups == (4, 4, 5, 2)
    pairs = [(0, 1), (1, 2)] if k == 1 else [(0, 1), (0, 2), (1, 2)]
    for one, two in pairs:
        table = marginal_of_pair(network, one, two)
        seen = np.zeros_like(table)
        np.add.at(seen, (codes[:, one], codes[:, two]), 1 / data.n_samples)
        grouped = [group_both(t, data.schema, groups, one, two) for t in (table, seen)]
        assert np.abs(grouped[0] - grouped[1]).max() < 0.004
        # Every state of the owner, too; but not every pair of states.
        np.testing.assert_allclose(table.sum(axis=0), seen.sum(axis=0), atol=0.004)
        assert np.abs(table - seen).max() > 0.005


def marginal_of_pair(network, one, two):
    """P(one, two) by enumeration."""
    schema = network.schema
    grid = np.stack(
        np.meshgrid(*(np.arange(v.n_states) for v in schema[:3]), indexing="ij"),
        axis=-1,
    ).reshape(-1, 3)
    joint = np.exp(network.engine.log_joint(np.asfortranarray(grid.astype(np.uint8))))
    table = np.zeros((schema[one].n_states, schema[two].n_states))
    np.add.at(table, (grid[:, one], grid[:, two]), joint.sum(axis=1))
    return table


def group_both(table, schema, groups, one, two):
    """Sums over the groups of both features."""
    for axis, v in enumerate((one, two)):
        variable = schema[v]
        group_of = state_groups(
            variable.n_states, groups[v], apart=variable.missing_state
        )[:-1]
        sums = [
            table.take(np.flatnonzero(group_of == g), axis=axis).sum(axis=axis)
            for g in range(groups[v])
        ]
        table = np.stack(sums, axis=axis)
    return table
