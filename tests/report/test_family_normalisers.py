"""What a page stores of families that are sums, and what it computes again."""

import numpy as np
import pytest
from scipy.special import logsumexp

from tanager import Network
from tanager.loglinear.weights_to_cpts import log_linear_families
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.schema import Schema, Variable
from tanager.model.structure import Structure
from tanager.report.cpt_packing import mixed_effects
from tanager.report.family_normalisers import (
    StoredTables,
    is_normalised,
    leave_out_normalisers,
)
from tanager.report.model_data import describe_model
from tanager.report.payload import Payload

N_STATES = (4, 5, 6, 3, 4, 2)
STRUCTURE = Structure(((5,), (5, 0), (5, 0, 1), (5, 1, 2), (5, 2, 3), ()), target=5)


def make_network(structure=STRUCTURE, full_cells=1, seed=0):
    """Families of sums of random factors over all pairs of their features."""
    random = np.random.default_rng(seed)
    scopes, owners = [], []
    for v, parents in enumerate(structure.parents):
        features = [p for p in parents if p != structure.target]
        if v == structure.target:
            scopes.append((v,))
        elif len(features) < 2:
            scopes.append((*features, v, structure.target))
        else:
            scopes += [(p, v, structure.target) for p in features]
        owners += [v] * (len(scopes) - len(owners))
    layout = FamilyLayout(N_STATES, tuple(scopes), tuple(owners), structure.target)
    weights = random.normal(size=layout.n_cells)
    found = log_linear_families(structure, layout, weights, full_cells=full_cells)
    variables = (
        Variable(name, tuple(range(n)))
        for name, n in zip("abcdef", N_STATES, strict=True)
    )
    return Network(Schema(tuple(variables), structure.target), structure, found)


def restore(network, stored):
    """The family of every variable as one log table, by the formula."""
    layout = network.parameters.layout
    tables = [table.copy() for table in stored.tables]
    families = {}
    for v in reversed(network.structure.topological_order):
        own = layout.tables_of(v)
        normaliser = next((t for t in own if t in stored.normalisers), None)
        axes = (*network.structure.parents[v], v)
        total = sum(
            along(tables[t], layout.axes[t], axes) for t in own if t != normaliser
        )
        if normaliser is not None:
            log_z = logsumexp(total, axis=-1, keepdims=True)
            total = total - log_z
            up = stored.normalisers[normaliser]
            if up is not None:
                members = layout.axes[up]
                wanted = [u for u in members if u in axes[:-1]]
                shown = along(log_z[..., 0], axes[:-1], wanted)
                tables[up] += along(shown, wanted, members)
        elif is_normalised(layout, network.parameters.log_theta, own[0]):
            total = total - logsumexp(total, axis=-1, keepdims=True)
        families[v] = total
    return families


@pytest.mark.parametrize("full_cells", [1, 150, 100_000])
def test_families_follow_from_what_is_stored(full_cells):
    network = make_network(full_cells=full_cells)
    stored = leave_out_normalisers(network)
    layout, log_theta = network.parameters.layout, network.parameters.log_theta
    n_sums = sum(len(layout.tables_of(v)) > 1 for v in range(len(N_STATES)))
    assert len(stored.normalisers) == n_sums == {1: 3, 150: 2, 100_000: 0}[full_cells]
    found = restore(network, stored)
    for v, parents in enumerate(network.structure.parents):
        axes = (*parents, v)
        expected = sum(
            along(layout.table(log_theta, t), layout.axes[t], axes)
            for t in layout.tables_of(v)
        )
        np.testing.assert_allclose(found[v], expected, rtol=0, atol=1e-12)


def test_learned_factors_have_few_effects():
    """A factor that is constant in blocks is stored by the corners of the blocks."""
    structure = Structure(((3,), (3, 0), (3, 0, 1), ()), target=3)
    pairs = ((0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    layout = FamilyLayout((12, 12, 12, 2), pairs, (1, 2, 2, 3), 3)
    random = np.random.default_rng(0)
    blocks = [
        np.repeat(np.arange(len(widths)), widths) for widths in ((1, 4, 7), (9, 3))
    ]
    parts = [
        random.normal(size=(3, 2, 2))[blocks[0]][:, blocks[1]].ravel() for _ in range(3)
    ]
    weights = np.concatenate([*parts, np.zeros(2)])
    found = log_linear_families(structure, layout, weights, full_cells=1)
    variables = [Variable(name, tuple(range(12))) for name in "abc"]
    schema = Schema((*variables, Variable("y", (0, 1))), 3)
    network = Network(schema, structure, found)
    stored = leave_out_normalisers(network)
    assert found.layout.axes[1:4] == ((0, 1, 3), (0, 2, 3), (1, 2, 3))
    assert stored.normalisers == {4: 1}

    def count_effects(tables):
        return [int((mixed_effects(np.moveaxis(t, -1, 0)) != 0).sum()) for t in tables]

    before = StoredTables.of(network).tables[1:5]
    # Corners of 3 x 2 blocks in two classes.
    assert max(count_effects(stored.tables[2:4])) <= 2 * 3 * 2
    assert sum(count_effects(before)) > sum(count_effects(stored.tables[1:4])) + 20


def test_no_normaliser_is_left_out_of_families_that_are_not_normalised():
    network = make_network()
    layout = network.parameters.layout
    (first,) = (t for t in layout.tables_of(4) if 4 not in layout.axes[t])
    log_theta = network.parameters.log_theta.copy()
    layout.table(log_theta, first)[0, 0, 0] += 1e-9
    other = Network(network.schema, STRUCTURE, Parameters(layout, log_theta))
    expected = leave_out_normalisers(network).normalisers
    assert first in expected
    assert set(leave_out_normalisers(other).normalisers) == set(expected) - {first}


def test_a_page_has_no_numbers_of_normalisers():
    network = make_network()
    header = describe_model(network, Payload())
    coding = [entry["coding"] for entry in header["tables"]]
    assert coding.count("normaliser") == 3
    sizes = dict(zip(range(len(coding)), network.parameters.layout.sizes, strict=True))
    payload = Payload()
    describe_model(network, payload)
    stored = {entry["name"]: entry["size"] for entry in payload.entries}
    left = sum(n for t, n in sizes.items() if coding[t] != "normaliser")
    assert stored["tables"] + stored["effects"] + stored["level_codes"] == left
