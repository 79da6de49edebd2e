"""Wilcoxon signed-rank tests of pairs of methods, with Holm's correction."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import rankdata

from tanager.compare.pairwise_result import PairTests, check_enough, pair_differences
from tanager.compare.score_table import Results
from tanager.errors import InputError
from tanager.types import FloatArray
from tanager.utils.validation import check_number

EXACT_MOST = 200  # differences up to which the distribution is not approximated


def wilcoxon_signed_rank(differences: npt.ArrayLike) -> tuple[float, float, float]:
    """Wilcoxon signed-rank test of differences against zero.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Differences of two methods.

    Returns
    -------
    above, below : float
        Sums of the ranks of positive and of negative differences.
    p : float
        Two-sided probability of sums at least as unequal.

    Notes
    -----
    Differences are ranked by their size, equal ones sharing the average of their
    ranks. The ranks of zeros are split evenly between both sums; if their number is
    odd, one of them is left out. Given the ranks, each sign is positive with
    probability 1/2: with up to 200 differences p is exact, shared ranks included,
    beyond it the sum is taken as normal.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, section 3.1.3.

    Examples
    --------
    >>> above, below, p = wilcoxon_signed_rank([0.1, 0.2, 0.3, -0.05, 0.4, 0.5])
    >>> above, below, p
    (20.0, 1.0, 0.0625)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise InputError(
            "The signed-rank test needs a list of finite differences, at least one; "
            f"got {differences!r}."
        )
    zeros = np.flatnonzero(values == 0.0)
    if len(zeros) % 2:
        values = np.delete(values, zeros[0])
    if not values.any():
        half = len(values) * (len(values) + 1) / 4
        return half, half, 1.0
    ranks = np.asarray(rankdata(np.abs(values)), dtype=np.float64)
    of_zeros = float(ranks[values == 0.0].sum()) / 2
    above = float(ranks[values > 0.0].sum())
    below = float(ranks[values < 0.0].sum())
    of_others = ranks[values != 0.0]
    p = min(1.0, 2.0 * _chance_of_at_most(min(above, below), of_others))
    return above + of_zeros, below + of_zeros, p


def _chance_of_at_most(limit: float, ranks: FloatArray) -> float:
    """Probability of a sum of at most `limit` if every rank counts with chance 1/2."""
    if len(ranks) > EXACT_MOST:
        deviation = sqrt(float((ranks**2).sum()) / 4)
        # A correction for continuity: sums are whole numbers, or halves.
        return float(ndtr((limit + 0.5 - float(ranks.sum()) / 2) / deviation))
    # Average ranks are halves at least, so twice the ranks are whole numbers.
    doubled = np.rint(2 * ranks).astype(np.intp)
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled:
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    return float(chances[: round(2 * limit) + 1].sum())


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """P-values of several tests with Holm's correction.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Of the single tests.

    Returns
    -------
    ndarray of shape (n_tests,)
        The i-th smallest of n is multiplied by n - i + 1, then made no smaller than
        those before it, and 1 at most.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, section 3.2.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    # NaN is outside, too.
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"P-values must be a list of numbers in 0 to 1, got {p}.")
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected


def wilcoxon_tests(
    results: Results, *, control: str | None = None, alpha: float = 0.05
) -> PairTests:
    """Wilcoxon signed-rank tests over datasets, with Holm's correction.

    Parameters
    ----------
    results : Results
        At least 2 methods.
    control : str or None, default=None
        A method that all others are compared with, chosen before looking; None
        compares all pairs. The fewer pairs, the more is found.
    alpha : float, default=0.05
        Level of significance, for all pairs together.

    Returns
    -------
    PairTests
        The statistic is the sum of ranks for the row less that for the column. The
        p-values are two-sided and corrected; those of pairs that are not compared
        are 1.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, sections 3.1.3 and 3.2.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {
    ...         (f"data{k}", method): 0.8 + gain * k
    ...         for k in range(1, 9)
    ...         for method, gain in {"NB": 0, "TAN": 0.01, "2-tree": 0.012}.items()
    ...     }
    ... )
    >>> print(wilcoxon_tests(results).markdown())
    |     |     TAN |  2-tree |
    |-----|--------:|--------:|
    | NB  | ⇑ 0.023 | ⇑ 0.023 |
    | TAN |         | ⇑ 0.023 |
    """
    check_number("alpha", alpha, above=0, below=1)
    check_enough(results, "Comparing pairs", methods=2, datasets=1)
    n = results.n_methods
    pairs = pair_differences(results)
    if control is not None:
        place = results.index(control)
        pairs = {pair: values for pair, values in pairs.items() if place in pair}
    statistics, p_values = np.zeros((n, n)), np.ones((n, n))
    single = []
    for (i, j), differences in pairs.items():
        above, below, p = wilcoxon_signed_rank(differences)
        statistics[i, j], statistics[j, i] = above - below, below - above
        single.append(p)
    for (i, j), p in zip(pairs, holm(single), strict=True):
        p_values[i, j] = p_values[j, i] = p
    return PairTests(results.methods, statistics, p_values, alpha)
