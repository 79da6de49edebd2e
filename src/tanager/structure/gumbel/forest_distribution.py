"""Distribution over directed forests: partition function, marginals, entropy.

A candidate gives a node one parent or none. A forest is an acyclic choice of one
candidate per node, with a probability proportional to the exponential of the sum of
their weights.
"""

from __future__ import annotations

import numpy as np

from tanager.errors import InputError
from tanager.types import FloatArray, LabelArray

LONGEST_WALK = 1e5
"""Expected steps to a root up to which the inverse is used; errors are about 1e-10."""


def forest_marginals(
    weights: FloatArray, child: LabelArray, parent: LabelArray, n_nodes: int
) -> tuple[float, FloatArray]:
    """Compute the log partition function and the probability of every candidate.

    Candidates, as vectors, have a log factor in `weights`, -inf if never chosen, a node
    `child` and its `parent`, -1 for none. The probabilities are the gradient of the log
    partition function by `weights`.

    By the matrix-tree theorem the partition function is the determinant of the
    Laplacian, and marginals follow from its inverse (Koo, Globerson, Carreras, Collins
    2007). With the factors of every node scaled to sum to one the Laplacian is I - P,
    where P holds the steps of a walk from child to parent that ends at "no parent", and
    its inverse G the expected visits of j from i::

        marginal(i -> j) = P[j, i] (G[j, j] - G[i, j])

    Where roots are unlikely, walks are long and this difference loses all precision.
    Then the nodes are eliminated one by one, in logarithms and without subtraction
    (Grassmann, Taksar, Heyman 1985), which gives every marginal to full relative
    accuracy. Both cost O(n_nodes^3).
    """
    if n_nodes == 0:
        return 0.0, np.zeros(len(weights))
    # One row per child, one column per parent, and a last one for no parent.
    place = child, np.where(parent < 0, n_nodes, parent)
    arcs = np.full((n_nodes, n_nodes + 1), -np.inf)
    np.logaddexp.at(arcs, place, weights)
    np.fill_diagonal(arcs, -np.inf)
    totals = np.logaddexp.reduce(arcs, axis=1)
    if np.isneginf(totals).any():
        raise _no_forest()
    steps = arcs - totals[:, None]
    log_determinant, by_arc = _invert(np.exp(steps)) or _eliminate_all(steps)
    # Candidates with the same child and parent divide the probability of their arc.
    own = np.full(len(weights), -np.inf)
    np.subtract(weights, arcs[place], out=own, where=~np.isneginf(arcs[place]))
    marginals = np.clip(by_arc[place], 0.0, 1.0) * np.exp(own)
    return float(totals.sum()) + log_determinant, marginals


def forest_entropy(
    weights: FloatArray, log_partition: float, marginals: FloatArray
) -> float:
    """Return the entropy in nats, from the results of `forest_marginals`."""
    likely = marginals > 0.0
    return max(0.0, log_partition - float(marginals[likely] @ weights[likely]))


def _no_forest() -> InputError:
    return InputError(
        "Every choice of one candidate per node has a cycle, or a node has no "
        "candidate of finite weight. Give some node the candidate without a parent, -1."
    )


def _invert(steps: FloatArray) -> tuple[float, FloatArray] | None:
    """Compute log determinant and marginals from I - P; None if they are inexact."""
    laplacian = np.eye(len(steps)) - steps[:, :-1]
    try:
        visits = np.linalg.inv(laplacian)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(visits).sum(axis=1).max() <= LONGEST_WALK:
        return None
    marginals = steps * np.diagonal(visits)[:, None]
    marginals[:, :-1] -= steps[:, :-1] * visits.T
    return float(np.linalg.slogdet(laplacian).logabsdet), marginals


def _eliminate_all(steps: FloatArray) -> tuple[float, FloatArray]:
    """Compute log determinant and marginals from the logarithms of the steps.

    The probability of the arc i -> j is proportional to the step from j to i times the
    probability that the walk ends from there without a return to j.
    """
    log_determinant, escapes = _find_escapes(steps)
    logs = steps.copy()
    logs[:, :-1] += escapes.T
    logs -= np.logaddexp.reduce(logs, axis=1)[:, None]
    return log_determinant, np.exp(logs)


def _find_escapes(steps: FloatArray) -> tuple[float, FloatArray]:
    """Compute log determinant and, as [i, j], log P(end before j) from i.

    Each half of the nodes is eliminated to find them for targets j in the other half.
    """
    n_nodes = len(steps)
    if n_nodes == 1:
        if np.isneginf(steps[0, 1]):
            raise _no_forest()
        return float(steps[0, 1]), np.full((1, 1), -np.inf)
    escapes = np.empty((n_nodes, n_nodes))
    log_determinant = 0.0
    low, high = np.array_split(np.arange(n_nodes), 2)
    for out, targets in ((low, high), (high, low)):
        order = np.concatenate([out, targets])
        left = steps[np.ix_(order, np.append(order, n_nodes))]
        n_out = len(out)
        pivots = _eliminate(left, n_out)
        inner, inside = _find_escapes(left[n_out:, n_out:])
        log_determinant = pivots + inner
        found = np.empty((n_nodes, len(targets)))
        found[n_out:] = inside
        for k in range(n_out - 1, -1, -1):
            ways = left[k, k + 1 : -1, None] + found[k + 1 :]
            found[k] = np.logaddexp(np.logaddexp.reduce(ways, axis=0), left[k, -1])
        escapes[np.ix_(order, targets)] = found
    return log_determinant, escapes


def _eliminate(steps: FloatArray, n_out: int) -> float:
    """Eliminate the first nodes from the walk, in place; return the log determinant.

    The row of an eliminated node holds the log probabilities of the next step among the
    nodes after it.
    """
    log_determinant = 0.0
    for k in range(n_out):
        row = steps[k, k + 1 :]
        pivot = float(np.logaddexp.reduce(row))
        if np.isneginf(pivot):
            raise _no_forest()
        log_determinant += pivot
        row -= pivot
        rest = steps[k + 1 :, k + 1 :]
        np.logaddexp(rest, steps[k + 1 :, k, None] + row, out=rest)
        # No forest has a path from a node to itself.
        np.fill_diagonal(rest, -np.inf)
    return log_determinant
