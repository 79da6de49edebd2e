"""Units of the weights in which a convex loss is round where the search begins."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.likelihood import ConditionalLogLoss
from tanager.types import FloatArray

JITTER = 1e-9
"""Added to the diagonal: a factor exists whatever features say the same."""

PAIRS_PER_CLASS = 40
SIZE_PER_CLASS = 200
CELLS_PER_TOUCH = 2.0
"""Up to how many tables and coordinates per class, and cells of the matrix per touched
cell of a row, making and using the matrix is worth it."""


def round_units(
    rows: ConditionalLogLoss,
    coordinates: Coordinates,
    scale: float,
    u: FloatArray | None = None,
) -> FloatArray | None:
    """Matrix R for which the loss has about the identity as Hessian in v, u = R v.

    Parameters
    ----------
    rows : ConditionalLogLoss
        The rows.
    coordinates : Coordinates
        Coordinates of the weights, class by class the same.
    scale : float
        What a penalty of ``|u|^2 / 2`` is divided by beside the mean loss of a row.
    u : ndarray of float64, shape (n_coordinates,), or None, default=None
        Where; None is at zero.

    Returns
    -------
    ndarray of float64, shape (n_coordinates / n_classes, n_coordinates / n_classes)
        Upper triangular; one for all classes. None where making and using it would
        cost more than the evaluations it saves.

    Notes
    -----
    With all weights zero every class has P(c | x) = 1 / K in every row, and the Hessian
    of the mean loss is ``(I - 1 1' / K) / K`` over the classes times the share of rows
    that touch two cells, over the cells: one matrix for all classes. Elsewhere every
    class has its own; the one used then is their mean. The penalty adds its diagonal,
    and R is the inverse of the Cholesky factor. Features that say much the same, on
    which a search spends most of its steps, no longer hinder one another.

    At no weights is the Hessian larger than K / 2 times that at zero (Böhning), but it
    is much smaller where most rows have become clear.

    References
    ----------
    Böhning (1992), Multinomial logistic regression algorithm, section 2.
    """
    n_classes = rows.layout.compiled.n_classes
    size = coordinates.n_coordinates // n_classes
    n_tables = rows.layout.n_tables
    affordable = (
        n_tables <= PAIRS_PER_CLASS * n_classes
        and size <= SIZE_PER_CLASS * n_classes
        and size**2 <= CELLS_PER_TOUCH * n_tables * rows.n_rows
    )
    if n_classes < 2 or not affordable:
        return None
    if u is None:
        together = rows.curvature_at_zero
    else:
        together = rows.curvature(coordinates.weights(u))
    hessian = coordinates.quadratic_form(together / (n_classes * rows.total))
    diagonal = np.arange(size)
    hessian[diagonal, diagonal] += coordinates.penalised[::n_classes] / scale + JITTER
    factor = cholesky(hessian, lower=True)
    units: FloatArray = solve_triangular(factor, np.eye(size), lower=True).T
    return np.ascontiguousarray(units)
