"""Preconditioner of the search for log-linear weights."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from tanager.loglinear.objective import PenalisedObjective
from tanager.types import FloatArray

JITTER = 1e-9
"""Added to the diagonal, so that a Cholesky factor exists for collinear features."""

PAIRS_PER_CLASS = 40
SIZE_PER_CLASS = 200
CELLS_PER_TOUCH = 2.0
"""Largest number of factors and of coordinates per class, and of cells of the matrix
per cell that a sample reads, for which the matrix saves more time than it takes."""


def make_preconditioner(
    objective: PenalisedObjective, u: FloatArray | None = None
) -> FloatArray | None:
    """Find a matrix R for which the Hessian in v, ``u = R v``, is about the identity.

    Parameters
    ----------
    objective : PenalisedObjective
        The objective; its coordinates are the same for every class.
    u : ndarray of float64, shape (n_coordinates,), or None, default=None
        The point; None is zero.

    Returns
    -------
    ndarray of float64, shape (n_coordinates / n_classes, n_coordinates / n_classes)
        Upper triangular, one for all classes; None where making and using it would
        take longer than the evaluations it saves.

    Notes
    -----
    At zero every class has P(c | x) = 1 / K, and the Hessian of the mean loss is
    ``(I - 1 1' / K) / K`` over the classes times the fraction of samples in two cells,
    over the cells: one matrix for all classes. Elsewhere every class has its own, and
    the mean is used. The penalty adds its diagonal, and R is the inverse of the
    Cholesky factor. Correlated features then no longer slow the search down.

    At no weights is the Hessian larger than K / 2 times that at zero (Böhning), but it
    is much smaller where most samples have become certain.

    References
    ----------
    Böhning (1992), Multinomial logistic regression algorithm, section 2.
    """
    loss, coordinates = objective.loss, objective.coordinates
    n_classes, n_tables = loss.n_classes, loss.layout.n_tables
    size = coordinates.n_in // n_classes
    n_samples = sum(len(block.labels) for block in loss.blocks)
    if (
        n_classes < 2
        or n_tables > PAIRS_PER_CLASS * n_classes
        or size > SIZE_PER_CLASS * n_classes
        or size**2 > CELLS_PER_TOUCH * n_tables * n_samples
    ):
        return None
    curvature = loss.curvature(None if u is None else coordinates.apply(u))
    hessian = coordinates.quadratic_form(curvature / (n_classes * loss.total))
    diagonal = np.arange(size)
    penalty = coordinates.penalty[::n_classes]
    hessian[diagonal, diagonal] += penalty / objective.scale + JITTER
    factor = cholesky(hessian, lower=True)
    inverse: FloatArray = solve_triangular(factor, np.eye(size), lower=True).T
    return np.ascontiguousarray(inverse)
