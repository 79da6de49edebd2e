"""Rows that read the addends of weights: the same function as of the sums."""

import numpy as np
import pytest

from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    QuantileEncoder,
    ResidualTree,
)
from tanager.data.coded_data import RowBlock
from tanager.loglinear import design as module
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.design import Reading
from tanager.loglinear.likelihood import ConditionalLogLoss
from tanager.loglinear.preconditioner import round_units
from tanager.loglinear.solver import PenalisedLikelihood
from tanager.loglinear.weight_tables import WeightTables
from tanager.model.layout import FamilyLayout
from tests.tolerance import EXACT, SEARCH, assert_close

STATES = (9, 7, 2, 8)
FAMILIES = {
    "naive Bayes": ((4, 0), (4, 1), (4, 2), (4, 3), (4,)),
    "tree": ((4, 0), (4, 0, 1), (4, 1, 2), (4, 0, 3), (4,)),
    "2-tree": ((4, 0), (4, 0, 1), (4, 0, 1, 2), (4, 0, 1, 3), (4,)),
}


@pytest.fixture
def always(monkeypatch):
    """Addends however small the tables are."""
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "SAVED", 0)


def problem(
    structure, n_classes, *, interactions=2, bins=3, gaps=0.2, first=STATES[0], seed=0
):
    """Coordinates, and the rows of two blocks with gaps."""
    rng = np.random.default_rng(seed)
    of_features = (first, *STATES[1:])
    states = (*of_features, n_classes)
    families = FamilyLayout.of_families(states, FAMILIES[structure], len(STATES))
    layout = WeightTables.of(families, interactions).tables
    groups = (*(min(bins, n) for n in of_features), n_classes)
    dtype = np.uint8 if first < 256 else np.uint16
    coordinates = Coordinates(layout, (True, True, False, True, False), groups)
    blocks = []
    for n_rows, weights in ((40, None), (25, rng.random(25))):
        codes = np.asfortranarray(
            np.column_stack([rng.integers(0, n, n_rows) for n in of_features]), dtype
        )
        gone = rng.random(codes.shape) < gaps
        codes[gone] = np.broadcast_to(np.array(of_features, dtype), codes.shape)[gone]
        labels = rng.integers(0, n_classes + 1, n_rows).astype(np.uint8)
        blocks.append(RowBlock(codes, labels, weights))
    return coordinates, tuple(blocks), rng


def assert_same_function(coordinates, blocks, rng, n_jobs=None):
    sums = ConditionalLogLoss(coordinates.layout, blocks)
    reading = Reading(coordinates)
    addends = reading.rows(blocks, n_jobs)
    u = rng.normal(size=coordinates.n_coordinates)
    one = PenalisedLikelihood(sums, coordinates, 0.3)
    other = PenalisedLikelihood(addends, reading.coordinates, 0.3)
    value, gradient = one.value_and_gradient(u)
    again, by_addends = other.value_and_gradient(u)
    assert_close(again, value, EXACT)
    assert_close(by_addends, gradient)
    weights, own = coordinates.weights(u), reading.coordinates.weights(u)
    assert_close(addends.held_out(own), sums.held_out(weights), EXACT)
    for mine, theirs in zip(
        addends.class_moments(own), sums.class_moments(weights), strict=True
    ):
        assert_close(mine, theirs)
    np.testing.assert_array_equal(reading.coordinates.penalised, coordinates.penalised)


@pytest.mark.numerical
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("structure", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("interactions", [2, None])
def test_addends_and_sums_are_one_function(structure, n_classes, interactions):
    coordinates, blocks, rng = problem(structure, n_classes, interactions=interactions)
    reading = Reading(coordinates)
    assert reading.by_addends == coordinates.is_coarse == (structure != "naive Bayes")
    if reading.by_addends:
        assert reading.coordinates.layout.n_cells < coordinates.layout.n_cells
    assert_same_function(coordinates, blocks, rng)


@pytest.mark.numerical
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("first", [255, 256, 300])  # a gap is code 255, or more
@pytest.mark.parametrize("bins", [1, 6])
def test_many_states(first, bins):
    assert_same_function(*problem("tree", 2, first=first, bins=bins), n_jobs=2)


@pytest.mark.usefixtures("always")
def test_no_rows():
    coordinates, blocks, rng = problem("tree", 2)
    none = RowBlock(blocks[0].codes[:0], blocks[0].labels[:0], None)
    assert_same_function(coordinates, (none, *blocks), rng)


def test_small_tables_are_written_out():
    small, *_ = problem("tree", 2)
    large, *_ = problem("tree", 2, first=3000)
    little_saved, *_ = problem("tree", 2, first=3000, bins=2000)
    assert small.is_coarse
    assert not Reading(small).by_addends
    assert large.layout.n_cells >= module.LARGE
    assert Reading(large).by_addends
    assert little_saved.is_coarse
    assert not Reading(little_saved).by_addends


@pytest.mark.parametrize("k", [1, 2])
def test_classifiers_are_the_same(monkeypatch, k):
    """Structure and probabilities do not depend on how rows are read."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=300) > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, 300).astype(float)
    found = {}
    monkeypatch.setattr(module, "SAVED", 0)
    for large in (0, np.inf):
        monkeypatch.setattr(module, "LARGE", large)
        model = BayesNetClassifier(
            QuantileEncoder(n_bins=12),
            ResidualTree(k=k, C=0.1, smooth=True, pair_bins=4),
            ConditionalLikelihood(
                C=0.1, smooth=True, pair_bins=4, tol=1e-10, max_iter=2000
            ),
        ).fit(X, y, sample_weight=weights)
        # Of rows with gaps, how the features are distributed is a matter, too.
        complete = ~np.isnan(X).any(axis=1)
        found[large] = model.network_.edges, model.predict_proba(X[complete])
    (edges, by_addends), (same, by_sums) = found.values()
    assert edges == same
    assert len(edges) > 4
    assert_close(by_addends, by_sums, SEARCH)


@pytest.mark.usefixtures("always")
def test_units_are_those_of_the_sums(monkeypatch):
    monkeypatch.setattr("tanager.loglinear.preconditioner.CELLS_PER_TOUCH", np.inf)
    coordinates, blocks, rng = problem("tree", 3)
    reading = Reading(coordinates)
    u = rng.normal(size=coordinates.n_coordinates)
    for at in (None, u):
        by_sums = round_units(
            ConditionalLogLoss(coordinates.layout, blocks), coordinates, 9.0, at
        )
        by_addends = round_units(reading.rows(blocks), reading.coordinates, 9.0, at)
        assert_close(by_addends, by_sums, SEARCH)


@pytest.mark.usefixtures("always")
def test_tables_of_all_states_are_read_as_they_are():
    coordinates, blocks, _ = problem("tree", 2, bins=9)
    reading = Reading(coordinates)
    assert reading.coordinates is coordinates
    assert reading.rows(blocks).blocks == blocks


@pytest.mark.usefixtures("always")
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
