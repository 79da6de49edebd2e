"""Fayyad and Irani's discretisation by minimum description length."""

from __future__ import annotations

from math import log2

import numpy as np
import numpy.typing as npt

from tanager.encoding.numeric_encoders import NumericEncoder, distinct_counts, midpoints
from tanager.errors import InputError
from tanager.types import AnyArray, FloatArray, IndexArray

TIE = 1e-12
"""Entropies closer than this are equal: rounding must not choose between cuts."""


class MDLEncoder(NumericEncoder):
    """Cut where the class entropy falls enough to pay for the cut.

    Notes
    -----
    Attributes after `fit` are those of `NumericEncoder`.

    Of the points halfway between neighbouring distinct values take the cut T of least
    class entropy E(T) = |S1|/N Ent(S1) + |S2|/N Ent(S2), in bits; of equal ones the
    lowest. Accept it iff, with k, k1, k2 the numbers of classes present,

        Ent(S) - E(T) > [log2(N - 1) + log2(3^k - 2) - D] / N,
        D = k Ent(S) - k1 Ent(S1) - k2 Ent(S2),

    and go on with both sides. N is the total weight. A set of one class, or of weight 1
    or less, is not cut.

    References
    ----------
    U. Fayyad, K. Irani, *Multi-interval discretization of continuous-valued attributes
    for classification learning*, IJCAI 1993, sections 3 to 5.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> encoder = MDLEncoder().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> encoder.cuts_
    [array([3.5])]
    >>> encoder.transform([[0.0], [3.6]]).ravel()
    array([0., 1.])
    """

    uses_labels = True

    def __init__(self) -> None:
        pass

    def find_cuts(
        self,
        values: AnyArray,
        labels: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """Cut by description length; see `NumericEncoder.find_cuts`."""
        if labels is None:
            raise InputError("MDLEncoder needs the class of every row; pass labels.")
        distinct, counts = distinct_counts(values, labels, weights)
        first, last, blocks = _class_blocks(distinct, counts)
        cuts = _accepted_cuts(blocks, self._unit(counts.shape[1]))
        return midpoints(last[cuts - 1], first[cuts])

    def _unit(self, n_classes: int) -> float:  # noqa: ARG002
        """Bits in the unit of entropies when they are held against the price.

        One is the rule; a subclass may read the rule in another way.
        """
        return 1.0


def _class_blocks(
    distinct: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Merge neighbouring values that all belong to one and the same class.

    The least entropy is never inside such a run (Fayyad and Irani, theorem 1), and
    there strictly greater unless the whole interval has one class, so only the ends of
    runs need be looked at.

    Returns
    -------
    first, last : ndarray of shape (n_blocks,)
        Least and greatest value of every block.
    blocks : ndarray of shape (n_blocks, n_classes)
        Its weight in every class.
    """
    present = counts > 0
    pure = present.sum(axis=1) == 1
    owner = present.argmax(axis=1)
    joined = pure[1:] & pure[:-1] & (owner[1:] == owner[:-1])
    starts = np.flatnonzero(np.concatenate(([True], ~joined)))
    ends = np.append(starts[1:], len(distinct)) - 1
    return distinct[starts], distinct[ends], np.add.reduceat(counts, starts, axis=0)


def _accepted_cuts(blocks: FloatArray, unit: float) -> IndexArray:
    """Positions (first block on the right) of all cuts that pay, increasing.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, n_classes), float64
        Weight of every block in every class.
    unit : float
        Bits in the unit of entropy.

    Returns
    -------
    ndarray of shape (n_cuts,), int
        Increasing.
    """
    n_blocks, n_classes = blocks.shape
    # Class-major, so that every sum below runs along memory.
    running = np.zeros((n_classes, n_blocks + 1))
    np.cumsum(blocks.T, axis=1, out=running[:, 1:])
    cuts = []
    waiting = [(0, n_blocks)]
    while waiting:
        low, high = waiting.pop()
        cut = _best_cut(running, low, high, unit)
        if cut is not None:
            cuts.append(cut)
            waiting += [(low, cut), (cut, high)]
    return np.array(sorted(cuts), dtype=np.intp)


def _best_cut(running: FloatArray, low: int, high: int, unit: float) -> int | None:
    """Cut of least entropy in the blocks from `low` to `high`, if it is accepted."""
    if high - low < 2:
        return None
    whole = running[:, high] - running[:, low]
    total, k = float(whole.sum()), int(np.count_nonzero(whole))
    if total <= 1 or k < 2:
        return None
    present = whole > 0
    left = (running[:, low + 1 : high] - running[:, low, None])[present]
    right = whole[present][:, None] - left
    cost = _bits(left) + _bits(right)  # N times the entropy E(T)
    best = int(np.argmax(cost <= cost.min() + TIE * total))
    bits, bits1, bits2 = (
        float(_bits(side)[0]) / unit
        for side in (whole[:, None], left[:, best, None], right[:, best, None])
    )
    n1, n2 = float(left[:, best].sum()), float(right[:, best].sum())
    k1, k2 = np.count_nonzero(left[:, best]), np.count_nonzero(right[:, best])
    saved = k * bits / total - k1 * bits1 / n1 - k2 * bits2 / n2
    price = log2(total - 1) + log2(3**k - 2) - saved
    return low + 1 + best if bits - bits1 - bits2 > price else None


def _bits(counts: FloatArray) -> FloatArray:
    """Total weight times class entropy in bits, for every column of `counts`."""
    total = counts.sum(axis=0)
    bits: FloatArray = _xlog2(total) - _xlog2(counts).sum(axis=0)
    return bits


def _xlog2(x: FloatArray) -> FloatArray:
    """X times log2(x), 0 at 0."""
    result: FloatArray = np.maximum(x, np.finfo(np.float64).tiny)
    np.log2(result, out=result)
    result *= x
    return result
