"""The joint posterior of factors: by its formula, and its coverage."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import expit, softmax

from tanager import BayesNetClassifier, TableSizeError, load
from tanager.explain import factor_posterior
from tanager.explain.factor_posterior import FactorPosterior, penalty_matrix
from tanager.loglinear.factor_uncertainty import CurvatureSamples
from tests.explain.makers import fitted_model, training_data


def test_penalty_matrix_is_the_sum_of_squared_differences():
    network = fitted_model("factors").network_
    for table in network.factors.tables:
        factor = table.factor
        w = np.random.default_rng(0).normal(size=factor.n_cells)
        grid = w.reshape(factor.shape)
        expected = (factor.diagonal * w**2).sum()
        for place, n_ordered in enumerate(factor.n_ordered.tolist()):
            along = np.moveaxis(grid, place, 0)[:n_ordered]
            expected += factor.path * np.square(np.diff(along, axis=0)).sum()
        np.testing.assert_allclose(w @ penalty_matrix(factor) @ w, expected)


@pytest.mark.numerical
@pytest.mark.parametrize("n_classes", [2, 3])
def test_variances_are_those_of_the_inverse_hessian(monkeypatch, n_classes):
    """One indicator per cell of every factor, and the inverse of a dense matrix."""
    monkeypatch.setattr(factor_posterior, "N_ITERATIONS", 0)
    model = fitted_model("factors", n_classes)
    factors = model.network_.factors
    codes = model.encode(training_data(n_classes)[0])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(codes))
    found = FactorPosterior(factors, CurvatureSamples(codes, weights)).variances(codes)
    cells = [np.eye(t.factor.n_cells)[t.factor.cells(codes.T)] for t in factors.tables]
    design = np.hstack(cells)
    penalty = block_diag(
        *(t.strength * penalty_matrix(t.factor) for t in factors.tables)
    )
    p = softmax(factors.log_joint_block(codes), axis=1)
    for k, c in enumerate(range(n_classes) if n_classes > 2 else [1]):
        h = weights * p[:, c] * (1 - p[:, c])
        inverse = np.linalg.inv(design.T @ (h[:, None] * design) + penalty)
        expected = np.einsum("ij,jk,ik->i", design, inverse, design)
        fraction = 1.0 if n_classes == 2 else (n_classes - 1) / n_classes
        np.testing.assert_allclose(found[:, k], fraction * expected, rtol=1e-6)


def test_many_samples_are_thinned_out():
    codes = np.zeros((2500, 1), dtype=np.uint8)
    found = CurvatureSamples.of(codes, np.full(2500, 2.0))
    assert len(found.codes) == len(found.weights) == 834
    np.testing.assert_allclose(found.weights.sum(), 5000.0)
    assert len(CurvatureSamples.of(codes, None, n_classes=16).codes) == 500


def draw(random, n):
    X = random.normal(size=(n, 4))
    log_odds = 1.5 * np.tanh(1.5 * X[:, 0]) - X[:, 1]
    return X, (random.random(n) < expit(log_odds)).astype(int), expit(log_odds)


@pytest.mark.numerical
def test_coverage():
    random = np.random.default_rng(0)
    inside, widths, wider = [], [], []
    for _ in range(4):
        X, y, _ = draw(random, 400)
        new, _, truth = draw(random, 200)
        model = BayesNetClassifier(structure="factors", random_state=0).fit(X, y)
        found = model.credible_interval(new)
        inside.append((found.low[:, 1] <= truth) & (truth <= found.high[:, 1]))
        widths.append((found.high - found.low).mean())
        model._samples = None
        found = model.credible_interval(new)
        wider.append((found.high - found.low).mean())
    assert 0.85 < np.mean(inside) < 0.995
    assert np.mean(widths) < np.mean(wider)


def test_models_of_files_take_training_samples(tmp_path):
    X, y = training_data(2)
    model = BayesNetClassifier(structure="factors", random_state=0).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    expected = model.credible_interval(X)
    assert not np.allclose(again.credible_interval(X).low, expected.low)
    found = again.credible_interval(X, training_data=(X, y))
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-9)


def test_covariances_are_shared_and_limited(monkeypatch):
    model = fitted_model("factors")
    codes = model.encode(training_data(2)[0])
    factors = model.network_.factors
    posterior = FactorPosterior(factors, CurvatureSamples(codes, np.ones(len(codes))))
    matrices = {id(part.inverse) for part in posterior._parts if part.inverse.ndim == 2}
    shapes = {
        (*table.factor.shape.tolist(), *table.factor.n_ordered.tolist())
        for table in factors.tables
        if table.factor.n_ordered.any()
    }
    assert len(matrices) == len(shapes)
    monkeypatch.setattr(factor_posterior, "MAX_COVARIANCES", 5)
    with pytest.raises(TableSizeError, match="more than the 5 allowed"):
        model.credible_interval(training_data(2)[0])
