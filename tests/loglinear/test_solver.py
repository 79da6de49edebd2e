"""The certificate of the solver, compared with Newton's method on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from tanager import Schema, Variable
from tanager.data import ArrayData
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.model import LogLinearModel
from tanager.model.layout import FamilyLayout

STATES = (4, 3, 3, 3)
TARGET = 3
FACTORS = FamilyLayout(
    STATES, ((0, 3), (1, 3), (0, 1, 3), (0, 1, 2, 3), (3,)), (0, 1, 1, 2, 3), TARGET
)
C = 0.7


def make_model(weights):
    """A model whose factors have the given weights in the penalty."""
    smooth, groups = (True, False, False, False), (2, 3, 3, 3)
    plain = Coordinates(FACTORS, smooth, groups, hierarchical=False)
    penalty = np.repeat([*weights, 1.0], plain.layout.sizes)
    return LogLinearModel(
        Coordinates(FACTORS, smooth, groups, hierarchical=False, penalty=penalty)
    )


def make_data():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, n, 80) for n in STATES[:-1]])
    labels = (codes[:, 0] + codes[:, 1] * codes[:, 2] + rng.integers(0, 2, 80)) % 3
    variables = [Variable(f"f{j}", tuple(range(n))) for j, n in enumerate(STATES)]
    schema = Schema(tuple(variables), TARGET)
    codes = np.asfortranarray(codes, dtype=np.uint8)
    return ArrayData(schema, codes, labels.astype(np.uint8))


def find_optimum(coordinates, data):
    """The minimum of the objective, by Newton's method on dense matrices."""
    linear = np.array([coordinates.apply(row) for row in np.eye(coordinates.n_in)]).T
    n_samples, n_classes = data.n_samples, STATES[TARGET]
    design = np.zeros((n_samples, n_classes, FACTORS.n_cells))
    for m, c in np.ndindex(n_samples, n_classes):
        state = (*data.codes[m].tolist(), c)
        for t, axes in enumerate(FACTORS.axes):
            FACTORS.table(design[m, c], t)[tuple(state[v] for v in axes)] = 1.0
    design = design @ linear
    penalty, rows = coordinates.penalty, np.arange(n_samples)

    def objective(u):
        loss = -log_softmax(design @ u, axis=1)[rows, data.labels].sum()
        return C * loss + penalty @ u**2 / 2

    u = np.zeros(coordinates.n_in)
    for _ in range(50):
        p = softmax(design @ u, axis=1)
        mean = np.einsum("mc,mci->mi", p, design)
        gradient = C * (mean - design[rows, data.labels]).sum(axis=0) + penalty * u
        second = np.einsum("mc,mci,mcj->ij", p, design, design) - mean.T @ mean
        # Singular where all classes get the same: least squares.
        step = np.linalg.lstsq(C * second + np.diag(penalty), gradient)[0]
        length = 1.0
        while objective(u - length * step) > objective(u) and length > 1e-9:
            length /= 2
        u = u - length * step
    assert np.abs(gradient).max() < 1e-10
    return objective(u), u


@pytest.mark.parametrize(
    "weights",
    [(1.0, 1.0, 1.0, 1.0), (0.01, 0.02, 0.05, 0.01), (1.0, 3.0, 30.0, 0.1)],
)
@pytest.mark.parametrize("preconditioned", [True, False])
def test_the_gap_holds_for_any_weights_of_the_penalty(
    weights, preconditioned, monkeypatch
):
    # Without a bound of the matrix by L-BFGS, otherwise by Newton's method.
    bound = np.inf if preconditioned else 0.0
    for name in ("SIZE_PER_CLASS", "CELLS_PER_TOUCH"):
        monkeypatch.setattr(f"tanager.loglinear.solver.{name}", bound)
    model, data = make_model(weights), make_data()
    assert model.coordinates.is_coarse
    least, best = find_optimum(model.coordinates, data)
    too_low = []
    for max_iter in (1, 2, 4, 8, 16, 32, 500):
        found = model.fit(data, C, tol=1e-9, max_iter=max_iter)
        above = found.objective - least
        assert -1e-9 <= above <= found.gap + 1e-9
        too_low.append(above > found.gradient_norm**2 / 2 + 1e-9)
    # With weights below 1 the bound for weight 1 does not hold.
    assert any(too_low) == (max(weights) < 1.0)
    assert found.converged
    assert above < 1e-9
    change = found.coordinates - best
    change[model.coordinates.prior] -= change[model.coordinates.prior].mean()
    assert np.abs(change).max() < 1e-4


def test_samples_that_read_groups_have_the_same_penalty(monkeypatch):
    monkeypatch.setattr("tanager.loglinear.model.LARGE", 0)
    monkeypatch.setattr("tanager.loglinear.model.SAVED", 0)
    model, data = make_model((1.0, 3.0, 30.0, 0.1)), make_data()
    assert model.read_coordinates is not model.coordinates
    found = model.fit(data, C, tol=1e-9)
    assert abs(found.objective - find_optimum(model.coordinates, data)[0]) < 1e-9
