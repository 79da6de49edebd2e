"""Distribution over all directed forests: partition function, marginals, entropy.

Candidate arcs give every node one parent or none. A forest is a choice of one candidate
per node without a cycle, and its probability is proportional to the exponential of the
sum of its candidates' weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tanager.errors import InputError
from tanager.types import FloatArray, LabelArray

LONGEST_WALK = 1e5
"""Expected steps to a root up to which the inverse is taken.

The error of a marginal grows with them, to the order of 1e-10 at this length.
"""


def forest_marginals(
    weights: FloatArray, child: LabelArray, parent: LabelArray, n_nodes: int
) -> tuple[float, FloatArray]:
    """Partition function of all forests, and the probability of every candidate.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_candidates,)
        Logarithms of the candidates' factors; -inf for one that is never chosen.
    child : ndarray of int, shape (n_candidates,)
        The node that a candidate gives a parent to.
    parent : ndarray of int, shape (n_candidates,)
        The parent given, -1 for none. A node that is its own parent is never chosen.
    n_nodes : int
        Number of nodes, 0 to n_nodes - 1.

    Returns
    -------
    log_partition : float
        Logarithm of the sum over all forests of the product of their factors.
    marginals : ndarray of float64, shape (n_candidates,)
        Probability that a forest has the candidate: the gradient of `log_partition` by
        `weights`. They sum to one over the candidates of a node.

    Notes
    -----
    By the matrix-tree theorem for directed graphs the sum is the determinant of the
    Laplacian, and marginals follow from its inverse [1]_. With the factors of every
    node scaled to sum to one the Laplacian is I - P, where P holds the steps of a walk
    from child to parent that ends at "no parent", and its inverse G the expected visits
    of j from i::

        marginal(i -> j) = P[j, i] (G[j, j] - G[i, j])

    Where roots are unlikely, walks are long and this difference has no correct digit
    left. The nodes are then eliminated one after the other, in logarithms and without
    any subtraction [2]_, which gives every marginal to full relative accuracy. The cost
    is O(n_nodes^3) both ways, with a larger constant.

    References
    ----------
    .. [1] Koo, Globerson, Carreras, Collins (2007), Structured prediction models via
       the matrix-tree theorem.
    .. [2] Grassmann, Taksar, Heyman (1985), Regenerative analysis and steady state
       distributions for Markov chains.

    Examples
    --------
    Two nodes, each without a parent or below the other, all equally likely: of the
    four choices one has a cycle.

    >>> child, parent = np.array([0, 0, 1, 1]), np.array([-1, 1, -1, 0])
    >>> log_partition, marginals = forest_marginals(np.zeros(4), child, parent, 2)
    >>> round(float(np.exp(log_partition)), 6), (3 * marginals).round(6).tolist()
    (3.0, [2.0, 1.0, 2.0, 1.0])
    """
    _check(weights, child, parent, n_nodes)
    if n_nodes == 0:
        return 0.0, np.zeros(len(weights))
    # One row per child, one column per parent and one, the last, for none.
    place = child, np.where(parent < 0, n_nodes, parent)
    arcs = np.full((n_nodes, n_nodes + 1), -np.inf)
    np.logaddexp.at(arcs, place, weights)
    np.fill_diagonal(arcs, -np.inf)
    totals = np.logaddexp.reduce(arcs, axis=1)
    if np.isneginf(totals).any():
        raise _no_forest()
    steps = arcs - totals[:, None]
    found = _by_inverse(np.exp(steps))
    if found is None:
        found = _by_elimination(steps)
    log_determinant, shares = found
    # Candidates with the same child and parent share what their arc has.
    own = np.full(len(weights), -np.inf)
    np.subtract(weights, arcs[place], out=own, where=~np.isneginf(arcs[place]))
    marginals = np.clip(shares[place], 0.0, 1.0) * np.exp(own)
    return float(totals.sum()) + log_determinant, marginals


def forest_entropy(
    weights: FloatArray, log_partition: float, marginals: FloatArray
) -> float:
    """Entropy of the distribution over forests, in nats.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_candidates,)
        As given to `forest_marginals`.
    log_partition : float
        As returned by it.
    marginals : ndarray of float64, shape (n_candidates,)
        As returned by it.

    Returns
    -------
    float
        Log partition less the expected weight of a forest; 0 for a single forest.

    Examples
    --------
    >>> weights = np.zeros(4)
    >>> child, parent = np.array([0, 0, 1, 1]), np.array([-1, 1, -1, 0])
    >>> bool(
    ...     np.isclose(
    ...         forest_entropy(weights, *forest_marginals(weights, child, parent, 2)),
    ...         np.log(3),
    ...     )
    ... )
    True
    """
    likely = marginals > 0.0
    return max(0.0, log_partition - float(marginals[likely] @ weights[likely]))


def _check(
    weights: FloatArray, child: LabelArray, parent: LabelArray, n_nodes: int
) -> None:
    """Refuse candidates that name no node or have no usable weight."""
    if not weights.shape == child.shape == parent.shape or weights.ndim != 1:
        raise InputError(
            "weights, child and parent must be vectors of the same length, got shapes "
            f"{weights.shape}, {child.shape} and {parent.shape}."
        )
    for name, nodes, lowest in (("child", child, 0), ("parent", parent, -1)):
        outside = (nodes < lowest) | (nodes >= n_nodes)
        if outside.any():
            raise InputError(
                f"{name} must be from {lowest} to {n_nodes - 1}, got "
                f"{int(nodes[outside][0])}."
            )
    if np.isnan(weights).any() or np.isposinf(weights).any():
        raise InputError(
            "weights must be finite, or -inf for candidates that are never chosen; got "
            "NaN or +inf."
        )


def _no_forest() -> InputError:
    return InputError(
        "Every choice of one candidate per node has a cycle, or a node has no "
        "candidate of finite weight. Give some node the candidate without a parent, -1."
    )


def _by_inverse(steps: FloatArray) -> tuple[float, FloatArray] | None:
    """Log determinant and marginals from I - P; None where they would be inexact.

    `steps` and the marginals have shape (n, n + 1), as in `forest_marginals`.
    """
    laplacian = np.eye(len(steps)) - steps[:, :-1]
    try:
        visits = np.linalg.inv(laplacian)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(visits).sum(axis=1).max() <= LONGEST_WALK:
        return None
    own = np.diagonal(visits)[:, None]
    shares = steps * own
    shares[:, :-1] -= steps[:, :-1] * visits.T
    return float(np.linalg.slogdet(laplacian).logabsdet), shares


def _by_elimination(steps: FloatArray) -> tuple[float, FloatArray]:
    """Log determinant and marginals from the logarithms of the steps of the walk.

    A forest has the arc i -> j in proportion to the step from j to i and the chance
    that the walk goes from there to an end without coming back to j.
    """
    log_determinant, escapes = _escapes(steps)
    shares = steps.copy()
    shares[:, :-1] += escapes.T
    shares -= np.logaddexp.reduce(shares, axis=1)[:, None]
    return log_determinant, np.exp(shares)


def _escapes(steps: FloatArray) -> tuple[float, FloatArray]:
    """Log determinant, and log probabilities of an end before j from i, as [i, j].

    One half of the nodes is eliminated to find them for targets j in the other half,
    and the other way round.
    """
    n_nodes = len(steps)
    if n_nodes == 1:
        if np.isneginf(steps[0, 1]):
            raise _no_forest()
        return float(steps[0, 1]), np.full((1, 1), -np.inf)
    escapes = np.empty((n_nodes, n_nodes))
    log_determinant = 0.0
    for out, targets in _halves(n_nodes):
        order = np.concatenate([out, targets])
        left = steps[np.ix_(order, np.append(order, n_nodes))]
        n_out = len(out)
        pivots = _eliminate(left, n_out)
        inner, inside = _escapes(left[n_out:, n_out:])
        log_determinant = pivots + inner
        found = np.empty((n_nodes, len(targets)))
        found[n_out:] = inside
        for k in range(n_out - 1, -1, -1):
            ways = left[k, k + 1 : -1, None] + found[k + 1 :]
            found[k] = np.logaddexp(np.logaddexp.reduce(ways, axis=0), left[k, -1])
        escapes[np.ix_(order, targets)] = found
    return log_determinant, escapes


def _halves(n_nodes: int) -> Iterator[tuple[LabelArray, LabelArray]]:
    """The nodes in two halves, either one first."""
    low, high = np.array_split(np.arange(n_nodes), 2)
    yield low, high
    yield high, low


def _eliminate(steps: FloatArray, n_out: int) -> float:
    """Take the first nodes out of the walk, in place, and add up their log pivots.

    Steps to a node that is out are replaced by where the walk goes from there. Its own
    row is left as the log probabilities of the next step among the nodes after it.
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
        # A way from a node back to itself is part of no forest.
        np.fill_diagonal(rest, -np.inf)
    return log_determinant
