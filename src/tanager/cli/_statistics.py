"""Tests for comparing classifiers over folds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from tanager.core.errors import InputError


def corrected_t_test(
    differences: npt.ArrayLike, test_share: float
) -> tuple[float, float]:
    """Corrected paired t-test of repeated cross-validation (Nadeau and Bengio).

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        Difference of two classifiers in every fold, of every repetition.
    test_share : float
        Number of test rows over number of training rows in a fold.

    Returns
    -------
    t : float
        The statistic; positive if the mean difference is.
    p : float
        Two-sided probability of a statistic at least as far from zero.

    Notes
    -----
    Training sets of different folds overlap, so that the plain paired test finds
    differences too easily. With mean m and sample variance s^2 of n differences

        t = m / sqrt((1 / n + test_share) s^2)

    has approximately Student's distribution with n - 1 degrees of freedom. Without
    any variance, p is 1 if all differences are zero and 0 otherwise.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine
    Learning 52, section 3.

    Examples
    --------
    >>> t, p = corrected_t_test([0.1, 0.2, 0.3, 0.2, 0.2], test_share=0.25)
    >>> round(t, 4), round(p, 4)
    (4.2164, 0.0135)
    """
    values = np.asarray(differences, dtype=np.float64)
    n_folds = len(values)
    if n_folds < 2:
        raise InputError(f"A t-test needs at least 2 folds, got {n_folds}.")
    mean = float(values.mean())
    variance = float(values.var(ddof=1))
    # Differences that are equal but for rounding have no variance.
    if variance <= (1e-12 * np.abs(values).max()) ** 2:
        if mean == 0.0:
            return 0.0, 1.0
        return float(np.copysign(np.inf, mean)), 0.0
    t = mean / float(np.sqrt((1.0 / n_folds + test_share) * variance))
    return t, float(2.0 * stdtr(n_folds - 1, -abs(t)))
