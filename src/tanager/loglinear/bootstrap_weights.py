"""Weights of bootstrap samples that do not depend on how the samples are split."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import numpy.typing as npt

from tanager.types import FloatArray, IntArray
from tanager.utils.threads import row_blocks

BLOCK_SAMPLES = 65_536
"""Samples whose random numbers are in memory at a time."""

N_OUTPUTS = 4
"""Random numbers that Philox makes of one value of its counter."""

POISSON_CDF: FloatArray = np.cumsum([exp(-1.0) / factorial(k) for k in range(19)])
"""P(count <= k) of the Poisson distribution with mean 1."""


def draw_key(random: np.random.Generator) -> IntArray:
    """Draw the key of a bootstrap sample, shape (2,)."""
    return random.integers(2**63, size=2)


def bootstrap_counts(key: IntArray, first: int, n_samples: int) -> IntArray:
    """Draw how often each sample is in a bootstrap sample.

    Parameters
    ----------
    key : ndarray of int64, shape (2,)
        The bootstrap sample; see `draw_key`.
    first : int
        Position of the first sample among all.
    n_samples : int
        Number of samples.

    Returns
    -------
    counts : ndarray of int64, shape (n_samples,)
        Poisson numbers with mean 1.

    Notes
    -----
    The count of a sample is a function of the key and its position alone: Philox is a
    counter-based generator, which starts at any position. So parts of the samples have
    the counts that they have as parts of all. The number of samples in the bootstrap
    sample is random, with a relative standard deviation of ``1 / sqrt(n)``.

    References
    ----------
    Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3.
    Chamandy, Muralidharan, Najmi, Naidu (2012), Estimating uncertainty for massive data
    streams: the Poisson bootstrap.

    Examples
    --------
    >>> key = np.array([0, 1])
    >>> bootstrap_counts(key, 0, 9)
    array([2, 2, 1, 1, 1, 0, 2, 1, 1])
    >>> bootstrap_counts(key, 5, 4)
    array([0, 2, 1, 1])
    """
    generator = np.random.Philox(key=key.astype(np.uint64))
    generator.advance(first // N_OUTPUTS)
    before = first % N_OUTPUTS
    bits = generator.random_raw(before + n_samples)[before:]
    uniform = (bits >> np.uint64(11)) * 2.0**-53
    return np.searchsorted(POISSON_CDF, uniform, side="right")


def bootstrap_weights(
    weights: npt.NDArray[np.float32], key: IntArray, first: int = 0
) -> npt.NDArray[np.float32]:
    """Multiply weights, shape (n_samples,), by `bootstrap_counts`."""
    found = np.empty_like(weights)
    for start, stop in row_blocks(len(weights), BLOCK_SAMPLES):
        counts = bootstrap_counts(key, first + start, stop - start)
        np.multiply(
            weights[start:stop], counts, out=found[start:stop], casting="same_kind"
        )
    return found
