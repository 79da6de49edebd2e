"""Newton steps of one factor with NumPy and LAPACK, for which nothing is compiled."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpbsv, dptsv, dpttrf

from tanager.loglinear.factor import SMALL_RIDGE, Factor
from tanager.types import FloatArray


def chain_step(
    factor: Factor,
    sums: FloatArray,
    table: FloatArray,
    strength: float,
    wants_trace: bool,
) -> tuple[FloatArray, float]:
    """Newton step of a factor over one feature.

    Parameters
    ----------
    factor : Factor
        The cells and their penalty S.
    sums : ndarray of float64, shape (n_cells, 2 * n_columns)
        Gradient g and curvature h of all columns.
    table : ndarray of float64, shape (n_cells, n_columns)
        The weights w.
    strength : float
        Strength of the penalty.
    wants_trace : bool
        Whether to compute the trace.

    Returns
    -------
    step : ndarray of float64, shape (n_cells, n_columns)
        The solution of ``(diag(h) + strength S) step = g - strength S w``.
    trace : float
        ``tr((diag(h) + strength S)^-1 S)``, summed over the columns; 0 if not wanted.

    Notes
    -----
    S is tridiagonal. The columns are one system of equations, not tied to each other.
    """
    n_cells, n_columns = table.shape
    curvature = sums[:, n_columns:]
    pull, n_ordered = strength * factor.path, factor.axes[0].n_ordered
    right = sums[:, :n_columns] - (strength * factor.diagonal)[:, np.newaxis] * table
    if n_ordered > 1:
        slopes = pull * (table[1:n_ordered] - table[: n_ordered - 1])
        right[: n_ordered - 1] += slopes
        right[1:n_ordered] -= slopes
    main, ties = _tridiagonal(factor, curvature, strength)
    pivots, _, solution, _ = dptsv(main, ties, right.T.ravel())
    trace = 0.0
    if wants_trace:
        variances = _inverse_diagonal(main, ties, pivots)
        effective = float(variances @ curvature.T.ravel())
        trace = (n_cells * n_columns - effective) / strength
    return np.ascontiguousarray(solution.reshape(n_columns, n_cells).T), trace


def chain_variances(
    factor: Factor, curvature: FloatArray, strength: float
) -> FloatArray:
    """Diagonals of ``(diag(h) + strength S)^-1`` of a factor over one feature.

    `curvature`, h, and the result have shape (n_cells, n_columns).
    """
    main, ties = _tridiagonal(factor, curvature, strength)
    found = _inverse_diagonal(main, ties, dpttrf(main, ties)[0])
    return np.ascontiguousarray(found.reshape(curvature.T.shape).T)


def grid_step(
    factor: Factor,
    sums: FloatArray,
    table: FloatArray,
    strength: float,
    probe: FloatArray | None = None,
) -> tuple[FloatArray, float]:
    """Do what `chain_step` does for a factor over several features.

    The trace is estimated as z' (diag(h) + strength S)^-1 S z with the signs `probe`,
    z, shape (n_cells,); it is 0 without signs.

    Notes
    -----
    The equations are solved by a Cholesky decomposition, whose band is as wide as the
    cells of one bin of the first feature. For the tables that few samples support this
    takes less time than steps of conjugate gradient with NumPy.
    """
    n_cells, n_columns = table.shape
    right = np.empty((n_columns * n_cells, 1 if probe is None else 2), order="F")
    gradient = sums[:, :n_columns].T - strength * multiply_penalty(
        factor, np.ascontiguousarray(table.T)
    )
    right[:, 0] = gradient.ravel()
    if probe is not None:
        image = multiply_penalty(factor, probe[np.newaxis])
        right[:, 1] = np.tile(image[0], n_columns)
    offsets = [int(offset) for offset in factor.strides]
    band = np.zeros((offsets[0] + 1, n_columns, n_cells), order="F")
    band[0] = sums[:, n_columns:].T + strength * factor.penalty_diagonal
    for offset, tied in zip(offsets, factor.tied, strict=True):
        band[offset] -= strength * tied
    _, solution, _ = dpbsv(band.reshape(offsets[0] + 1, -1), right, lower=1)
    trace = 0.0
    if probe is not None:
        trace = float(np.sum(solution[:, 1].reshape(n_columns, n_cells) @ probe))
    step = solution[:, 0].reshape(n_columns, n_cells)
    return np.ascontiguousarray(step.T), trace


def solve_grid(
    factor: Factor,
    right: FloatArray,
    curvature: FloatArray,
    strength: float,
    limits: FloatArray,
) -> FloatArray:
    """Solve ``(diag(h) + strength S) x = right`` by conjugate gradient.

    Parameters
    ----------
    factor : Factor
        The cells and their penalty S.
    right, curvature : ndarray of float64, shape (n_columns, n_cells)
        The right-hand sides, and the curvature h. Each column is a system of its own.
    strength : float
        Strength of the penalty.
    limits : ndarray of float64, shape (2,)
        The steps at most, and the fraction to which the norm of the residual of a
        column must fall. The diagonal is the preconditioner.

    Returns
    -------
    ndarray of float64, shape (n_columns, n_cells)
        The solutions.
    """
    inverse = 1.0 / (curvature + strength * factor.penalty_diagonal)
    residual = right.copy()
    scaled = inverse * residual
    norm = np.einsum("ci,ci->c", residual, scaled)
    enough = limits[1] * limits[1] * norm
    direction, x = scaled.copy(), np.zeros_like(right)
    for _ in range(int(limits[0])):
        # A column that is done keeps its solution.
        goes_on = norm > enough
        if not goes_on.any():
            break
        image = multiply_penalty(factor, direction)
        image *= strength
        image += curvature * direction
        slope = np.einsum("ci,ci->c", direction, image)
        length = np.divide(norm, slope, out=np.zeros_like(norm), where=goes_on)
        x += length[:, np.newaxis] * direction
        residual -= length[:, np.newaxis] * image
        np.multiply(inverse, residual, out=scaled)
        before = norm
        norm = np.einsum("ci,ci->c", residual, scaled)
        ratio = np.divide(norm, before, out=np.zeros_like(norm), where=goes_on)
        direction *= ratio[:, np.newaxis]
        direction += scaled
    return x


def multiply_penalty(factor: Factor, x: FloatArray) -> FloatArray:
    """Compute S x for every row of `x`, shape (n_columns, n_cells).

    S is a small ridge and a sum over the axes: along each of them it is a matrix
    (`Factor.axis_penalties`).
    """
    out = SMALL_RIDGE[len(factor.axes)] * x
    after = x.shape[1]
    for penalty in factor.axis_penalties:
        size = len(penalty)
        after //= size
        if after == 1:
            image = x.reshape(-1, size) @ penalty  # which is symmetric
        else:
            image = penalty @ x.reshape(-1, size, after)
        out += image.reshape(out.shape)
    return out


def _tridiagonal(
    factor: Factor, curvature: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray]:
    """``diag(h) + strength S`` of all columns, one after the other.

    Returns the diagonal, shape (n_columns * n_cells,), and what is next to it.
    """
    n_cells, n_columns = curvature.shape
    main = (curvature.T + strength * factor.penalty_diagonal).ravel()
    ties = np.zeros((n_columns, n_cells))
    ties[:, : max(factor.axes[0].n_ordered - 1, 0)] = -strength * factor.path
    return main, ties.ravel()[:-1]


def _inverse_diagonal(
    main: FloatArray, ties: FloatArray, pivots: FloatArray
) -> FloatArray:
    """The diagonal of the inverse of a tridiagonal matrix.

    `pivots` are those of an elimination from the first row to the last. With those of
    one from the last to the first it is ``1 / (pivots + others - main)``.
    """
    others = dpttrf(main[::-1], ties[::-1])[0][::-1]
    return np.asarray(1.0 / (pivots + others - main))
