"""Log-linear models: samples read factors or coordinates, the function is the same."""

import numpy as np
import pytest
from scipy.special import softmax

from tanager import (
    BayesNetClassifier,
    ConditionalLikelihood,
    InputError,
    QuantileEncoder,
    ResidualTree,
    Schema,
    Variable,
)
from tanager.data import ArrayData
from tanager.data.coded_data import RowBlock
from tanager.loglinear import model as module
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.model import LogLinearModel, limit_interactions
from tanager.loglinear.objective import ConditionalLogLoss, PenalisedObjective
from tanager.loglinear.solver import make_preconditioner, select_penalty
from tanager.model.layout import FamilyLayout
from tanager.optim import Monitor
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
    structure,
    n_classes,
    *,
    interactions=2,
    bins=3,
    missing=0.2,
    first=STATES[0],
    apart=False,
    seed=0,
):
    """Coordinates, and the samples of two blocks with missing values."""
    rng = np.random.default_rng(seed)
    of_features = (first, *STATES[1:])
    states = (*of_features, n_classes)
    families = FamilyLayout.of_families(states, FAMILIES[structure], len(STATES))
    layout = families
    if interactions is not None:
        layout, _ = limit_interactions(families, interactions)
    groups = (*(min(bins, n) for n in of_features), n_classes)
    dtype = np.uint8 if first < 256 else np.uint16
    smooth = (True, True, False, True, False)
    flags = (True, False, True, False, False) if apart else ()
    coordinates = Coordinates(layout, smooth, groups, flags)
    blocks = []
    for n_rows, weights in ((40, None), (25, rng.random(25))):
        codes = np.asfortranarray(
            np.column_stack([rng.integers(0, n, n_rows) for n in of_features]), dtype
        )
        gone = rng.random(codes.shape) < missing
        codes[gone] = np.broadcast_to(np.array(of_features, dtype), codes.shape)[gone]
        labels = rng.integers(0, n_classes + 1, n_rows).astype(np.uint8)
        blocks.append(RowBlock(codes, labels, weights))
    return coordinates, tuple(blocks), rng


def assert_same_function(coordinates, blocks, rng, n_jobs=None):
    sums = ConditionalLogLoss(coordinates.factors, blocks)
    model = LogLinearModel(coordinates)
    addends = model.loss(blocks, n_jobs)
    u = rng.normal(size=coordinates.n_in)
    one = PenalisedObjective(sums, coordinates, 0.3)
    other = PenalisedObjective(addends, model.read_coordinates, 0.3)
    value, gradient = one.value_and_gradient(u)
    again, by_addends = other.value_and_gradient(u)
    assert_close(again, value, EXACT)
    assert_close(by_addends, gradient)
    weights, own = coordinates.apply(u), other.coordinates.apply(u)
    assert_close(addends.sum_losses(own), sums.sum_losses(weights), EXACT)
    for mine, theirs in zip(
        addends.class_moments(own), sums.class_moments(weights), strict=True
    ):
        assert_close(mine, theirs)
    np.testing.assert_array_equal(other.coordinates.penalty, coordinates.penalty)


@pytest.mark.numerical
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("structure", FAMILIES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("interactions", [2, None])
@pytest.mark.parametrize("apart", [False, True])
def test_addends_and_sums_are_one_function(structure, n_classes, interactions, apart):
    coordinates, blocks, rng = problem(
        structure, n_classes, interactions=interactions, apart=apart
    )
    read = LogLinearModel(coordinates).loss(blocks).layout
    by_coordinates = read is not coordinates.factors
    assert by_coordinates == coordinates.is_coarse == (structure != "naive Bayes")
    if by_coordinates:
        assert read.n_cells < coordinates.factors.n_cells
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
    assert large.factors.n_cells >= module.LARGE
    for coordinates, expected in ((small, False), (large, True), (little_saved, False)):
        assert coordinates.is_coarse
        read = LogLinearModel(coordinates).loss([]).layout
        assert (read is not coordinates.factors) == expected


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
        # The distribution of the features matters for incomplete samples, too.
        complete = ~np.isnan(X).any(axis=1)
        found[large] = model.network_.edges, model.predict_proba(X[complete])
    (edges, by_addends), (same, by_sums) = found.values()
    assert edges == same
    assert len(edges) > 4
    assert_close(by_addends, by_sums, SEARCH)


@pytest.mark.usefixtures("always")
def test_preconditioners_are_those_of_the_sums(monkeypatch):
    monkeypatch.setattr("tanager.loglinear.solver.CELLS_PER_TOUCH", np.inf)
    coordinates, blocks, rng = problem("tree", 3)
    model = LogLinearModel(coordinates)
    u = rng.normal(size=coordinates.n_in)
    sums = ConditionalLogLoss(coordinates.factors, blocks)
    for at in (None, u):
        by_sums, by_addends = (
            make_preconditioner(objective, at)
            for objective in (
                PenalisedObjective(sums, coordinates, 9.0 / sums.total),
                PenalisedObjective(
                    model.loss(blocks), model.read_coordinates, 9.0 / sums.total
                ),
            )
        )
        assert_close(by_addends, by_sums, SEARCH)


@pytest.mark.usefixtures("always")
def test_tables_of_all_states_are_read_as_they_are():
    coordinates, blocks, _ = problem("tree", 2, bins=9)
    loss = LogLinearModel(coordinates).loss(blocks)
    assert loss.layout is coordinates.factors
    assert loss.blocks == blocks


@pytest.mark.usefixtures("always")
def test_a_gap_hides_what_its_table_adds():
    """Without its parent a feature's addend is not read, as its table is not."""
    coordinates, blocks, _ = problem("tree", 2, missing=0.0)
    codes = blocks[0].codes[:1].copy(order="F")
    codes[0, 0] = STATES[0]  # parent of the features 1 and 3
    rows = LogLinearModel(coordinates).loss(
        [RowBlock(codes, blocks[0].labels[:1], None)]
    )
    layout = rows.layout
    (row,) = rows.blocks[0].codes
    seen = [
        axes
        for axes in layout.axes
        if all(row[v] < layout.n_states[v] for v in axes if v != layout.target)
    ]
    # The class, and what feature 2 has with its parent 1 and alone.
    assert len(seen) == 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_factors_over_any_features(n_classes):
    """No structure: pairs that form a cycle, a triple, missing as a state."""
    rng = np.random.default_rng(5)
    n_states = (3, 4, 3, 3, n_classes)  # the last state of a feature is missing
    scopes = [(0,), (1,), (0, 1), (1, 2), (2, 3), (3, 0), (0, 2, 3)]
    model = LogLinearModel.of_factors(
        n_states, scopes, smooth=(False, True, False, False, False)
    )
    target = len(n_states) - 1
    assert model.factors.axes[-2:] == ((0, 2, 3, target), (target,))
    codes = np.asfortranarray(
        np.column_stack([rng.integers(0, n, 200) for n in n_states[:-1]]), np.uint8
    )
    labels = ((codes[:, 0] == codes[:, 3]) + codes[:, 2]) % n_classes
    labels = np.where(rng.random(200) < 0.2, rng.integers(0, n_classes, 200), labels)
    variables = [Variable(f"f{j}", tuple(range(n))) for j, n in enumerate(n_states)]
    schema = Schema(tuple(variables), target)
    data = ArrayData(schema, codes, labels.astype(np.uint8))
    solution = model.fit(data, 0.5, tol=1e-6)
    assert solution.converged
    blocks = tuple(data.blocks())
    loss = model.loss(blocks)
    objective = PenalisedObjective(loss, model.read_coordinates, 0.5)
    _, gradient = objective.value_and_gradient(solution.coordinates)
    assert np.abs(gradient).max() < 1e-5
    # P(c | x) by its definition.
    weights = model.coordinates.apply(solution.coordinates)
    joint = np.zeros((200, n_classes))
    for t, axes in enumerate(model.factors.axes):
        joint += model.factors.table(weights, t)[tuple(codes[:, v] for v in axes[:-1])]
    expected = softmax(joint, axis=1)
    assert_close(model.posterior(solution.coordinates, blocks), expected)
    mean = -np.log(expected[np.arange(200), labels]).mean()
    assert_close(loss.sum_losses(weights)[0] / loss.total, mean)
    # A model with more factors goes on from there.
    more = LogLinearModel.of_factors(
        n_states, [*scopes, (1, 3)], smooth=(False, True, False, False, False)
    )
    carried = more.coordinates.carry(model.coordinates, solution.coordinates)
    assert_close(more.posterior(carried, blocks), expected)
    C, start = select_penalty(model, data, folds=3, max_iter=50, monitor=Monitor())
    assert 1e-4 <= C <= 1e4
    assert start.shape == solution.coordinates.shape


@pytest.mark.parametrize(
    ("factors", "options", "message"),
    [
        ([()], {}, r"over one or more features, .* got \(\)"),
        ([(0, 2)], {}, r"from 0 to 1, without the class; got \(0, 2\)"),
        ([(-1,)], {}, r"got \(-1,\)"),
        ([(0.0,)], {}, r"got \(0.0,\)"),
        ([(0, 0)], {}, r"every feature once, got \(0, 0\)"),
        ([(0, 1), (1, 0)], {}, r"got \(0, 1\) twice"),
        ([(0,)], {"smooth": (True,)}, "smooth must be empty or .* 3 in all, got 1"),
        ([(0,)], {"groups": (2, 2)}, "groups must be empty or .* 3 in all, got 2"),
        ([(0, 1)], {"groups": (0, 3, 2)}, r"groups\[0\] must be .* 1 to 4, .* got 0"),
        ([(0, 1)], {"groups": (4, 4, 2)}, r"groups\[1\] must be .* 1 to 3, .* got 4"),
        ([(0, 1)], {"groups": (4, 1.5, 2)}, "got 1.5"),
    ],
)
def test_factors_that_make_no_model_are_refused(factors, options, message):
    with pytest.raises(InputError, match=message):
        LogLinearModel.of_factors((4, 3, 2), factors, **options)
