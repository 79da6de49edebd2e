"""Units of the weights in which a convex loss is round where the search begins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, solve_triangular

from tanager.parameters.conditional import ConditionalLikelihood
from tanager.parameters.penalty import Coordinates

FloatArray = npt.NDArray[np.float64]

JITTER = 1e-9
"""Added to the diagonal, whose largest entry is about one: keeps factors apart."""

PAIRS_PER_CLASS = 40
SIZE_PER_CLASS = 200
"""Up to how many tables and coordinates per class the matrix is worth its making."""


def round_units(
    rows: ConditionalLikelihood, coordinates: Coordinates, scale: float
) -> FloatArray | None:
    """Matrix R for which the loss has nearly the identity as Hessian in v, u = R v.

    Parameters
    ----------
    rows : ConditionalLikelihood
        The rows.
    coordinates : Coordinates
        Coordinates u of the weights, class by class the same.
    scale : float
        What a penalty of ``|u|^2 / 2`` is divided by beside the mean loss of a row.

    Returns
    -------
    ndarray of float64, shape (n_coordinates / n_classes, n_coordinates / n_classes)
        Upper triangular; one for all classes. None where making and using it would
        cost more than the evaluations it saves.

    Notes
    -----
    With all weights zero every class has P(c | x) = 1 / K in every row, and the Hessian
    of the mean loss is ``(I - 1 1' / K) / K`` over the classes times the share of rows
    that touch two cells, over the cells: one matrix for all classes. The penalty adds
    its own diagonal, and R is the inverse of the Cholesky factor. Features that say the
    same thing, on which the search would otherwise spend most of its steps, are told
    apart by it. Elsewhere the Hessian is another one; Böhning (1992) shows that it is
    never larger than K / 2 times this one.

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
        and size**2 <= n_tables * rows.n_rows
    )
    if n_classes < 2 or not affordable:
        return None
    shares = coordinates.quadratic_form(rows.touched_together / rows.total)
    shares /= n_classes
    diagonal = np.arange(size)
    shares[diagonal, diagonal] += coordinates.penalised[::n_classes] / scale + JITTER
    factor = cholesky(shares, lower=True)
    units: FloatArray = solve_triangular(factor, np.eye(size), lower=True).T
    return np.ascontiguousarray(units)
