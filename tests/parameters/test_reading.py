"""Rows that read the addends of weights: the same function as of the sums."""

import numpy as np
import pytest

from tanager.core.layout import FamilyLayout
from tanager.counts.coded import RowBlock
from tanager.parameters.conditional import ConditionalLikelihood
from tanager.parameters.convex import PenalisedLikelihood
from tanager.parameters.curvature import round_units
from tanager.parameters.penalty import Coordinates
from tanager.parameters.reading import Reading
from tanager.parameters.weight_tables import WeightTables

STATES = (9, 7, 2, 8)
FAMILIES = {
    "naive Bayes": ((4, 0), (4, 1), (4, 2), (4, 3), (4,)),
    "tree": ((4, 0), (4, 0, 1), (4, 1, 2), (4, 0, 3), (4,)),
    "2-tree": ((4, 0), (4, 0, 1), (4, 0, 1, 2), (4, 0, 1, 3), (4,)),
}


def problem(structure, n_classes, *, interactions=2, bins=3, gaps=0.2, seed=0):
    """Coordinates, and the rows of two blocks with gaps."""
    rng = np.random.default_rng(seed)
    states = (*STATES, n_classes)
    families = FamilyLayout.of_families(states, FAMILIES[structure], len(STATES))
    layout = WeightTables.of(families, interactions).tables
    groups = (*(min(bins, n) for n in STATES), n_classes)
    coordinates = Coordinates(layout, (True, True, False, True, False), groups)
    blocks = []
    for n_rows, weights in ((40, None), (25, rng.random(25))):
        codes = np.asfortranarray(
            np.column_stack([rng.integers(0, n, n_rows) for n in STATES]), np.uint8
        )
        gone = rng.random(codes.shape) < gaps
        codes[gone] = np.broadcast_to(np.array(STATES, np.uint8), codes.shape)[gone]
        labels = rng.integers(0, n_classes + 1, n_rows).astype(np.uint8)
        blocks.append(RowBlock(codes, labels, weights))
    return coordinates, tuple(blocks), rng


@pytest.mark.numerical
@pytest.mark.parametrize("structure", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("interactions", [2, None])
def test_addends_and_sums_are_one_function(structure, n_classes, interactions):
    coordinates, blocks, rng = problem(structure, n_classes, interactions=interactions)
    sums = ConditionalLikelihood(coordinates.layout, blocks)
    reading = Reading(coordinates)
    addends = reading.rows(blocks)
    assert coordinates.is_coarse == (structure != "naive Bayes")
    if coordinates.is_coarse:
        assert reading.coordinates.layout.n_cells < coordinates.layout.n_cells
    u = rng.normal(size=coordinates.n_coordinates)
    one = PenalisedLikelihood(sums, coordinates, 0.3)
    other = PenalisedLikelihood(addends, reading.coordinates, 0.3)
    value, gradient = one.value_and_gradient(u)
    again, by_addends = other.value_and_gradient(u)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_addends, gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        addends.held_out(reading.coordinates.weights(u)),
        sums.held_out(coordinates.weights(u)),
        rtol=1e-12,
    )
    for mine, theirs in zip(
        addends.class_moments(reading.coordinates.weights(u)),
        sums.class_moments(coordinates.weights(u)),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    np.testing.assert_array_equal(reading.coordinates.penalised, coordinates.penalised)


def test_units_are_those_of_the_sums(monkeypatch):
    monkeypatch.setattr("tanager.parameters.curvature.CELLS_PER_TOUCH", np.inf)
    coordinates, blocks, rng = problem("tree", 3)
    reading = Reading(coordinates)
    u = rng.normal(size=coordinates.n_coordinates)
    for at in (None, u):
        by_sums = round_units(
            ConditionalLikelihood(coordinates.layout, blocks), coordinates, 9.0, at
        )
        by_addends = round_units(reading.rows(blocks), reading.coordinates, 9.0, at)
        np.testing.assert_allclose(by_addends, by_sums, rtol=1e-8, atol=1e-10)


def test_tables_of_all_states_are_read_as_they_are():
    coordinates, blocks, _ = problem("tree", 2, bins=9)
    reading = Reading(coordinates)
    assert reading.coordinates is coordinates
    assert reading.rows(blocks).blocks == blocks


def test_a_gap_hides_what_its_table_adds():
    """Without its parent a feature's addend is not read, as its table is not."""
    coordinates, blocks, _ = problem("tree", 2, gaps=0.0)
    codes = blocks[0].codes[:1].copy(order="F")
    codes[0, 0] = STATES[0]  # parent of the features 1 and 3
    rows = Reading(coordinates).rows([RowBlock(codes, blocks[0].labels[:1], None)])
    layout = rows.layout
    (row,) = rows.blocks[0].codes
    seen = [
        axes
        for axes in layout.axes
        if all(row[v] < layout.n_states[v] for v in axes if v != layout.target)
    ]
    # The class, and what feature 2 has with its parent 1 and alone.
    assert len(seen) == 3
