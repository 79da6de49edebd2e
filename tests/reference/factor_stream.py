"""Updates of factors by the formula: dense Hessians of one-hot rows, plain Newton.

All tables are one below the other, shape (n_cells, n_columns). A sample has a row of
zeros and ones, its cells. Two classes have one column, the log odds of class 1.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from tests.reference.factors import cells_of, log_posterior, penalty_matrix


def one_hot(factors, codes):
    """Rows Phi, shape (n_samples, n_cells)."""
    parts = []
    for factor in factors:
        part = np.zeros((codes.shape[1], factor.n_cells))
        part[np.arange(codes.shape[1]), cells_of(factor, codes)] = 1.0
        parts.append(part)
    return np.hstack(parts)


def hessian_of(phi, weights, p):
    """``sum_m v_m Phi_m' (diag(p_m) - p_m p_m') Phi_m``, cells by columns, flat.

    `p` has shape (n_samples, n_columns); with one column p (1 - p).
    """
    n_columns = p.shape[1]
    size = phi.shape[1] * n_columns
    total = np.zeros((size, size))
    for row, weight, q in zip(phi, weights, p, strict=True):
        inner = np.diag(q) - np.outer(q, q)
        total += weight * np.kron(np.outer(row, row), inner)
    return total


def penalty(factors, strengths, n_columns):
    """M: the Hessian of the penalty."""
    blocks = [s * penalty_matrix(f) for f, s in zip(factors, strengths, strict=True)]
    return np.kron(block_diag(*blocks), np.eye(n_columns))


def centring(n_cells, n_columns):
    """Projection of tables to rows that sum to zero; one column stays as it is."""
    inner = np.eye(n_columns) - (n_columns > 1) / n_columns
    return np.kron(np.eye(n_cells), inner)


def minimise(samples, log_prior, factors, strengths, centre, gradient, rest):
    """Tables that minimise a loss with soft labels, plus Q, plus the penalty.

    `samples` are codes, the probabilities of all classes, and weights: labels of a
    batch, posteriors of kept samples. `centre` and `gradient` have shape
    (n_cells, n_columns), and so has the diagonal `rest` of the quadratic. The changes
    of the tables have rows that sum to zero.
    """
    codes, truth, weights = samples
    phi, (n_cells, n_columns) = one_hot(factors, codes), centre.shape
    ends = np.cumsum([f.n_cells for f in factors])[:-1]
    m = penalty(factors, strengths, n_columns)
    project, r = centring(n_cells, n_columns), np.diag(rest.ravel())
    truth = truth[:, 1:] if n_columns == 1 else truth
    d = np.zeros(centre.size)
    for _ in range(20):
        w = centre + d.reshape(centre.shape)
        p = np.exp(log_posterior(codes, log_prior, factors, np.split(w, ends)))
        p = p[:, 1:] if n_columns == 1 else p
        loss = (phi.T @ (weights[:, None] * (p - truth)) + gradient).ravel()
        slope = project @ (loss + r @ d + m @ w.ravel())
        curvature = project @ (hessian_of(phi, weights, p) + r + m) @ project
        step = np.linalg.lstsq(curvature, -slope, rcond=1e-12)[0]
        d = d + project @ np.clip(step, -1.0, 1.0)
    return centre + d.reshape(centre.shape)
