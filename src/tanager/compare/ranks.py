"""Rank tests over datasets: Friedman and Nemenyi."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal

import numpy as np
from scipy.special import chdtrc, fdtrc
from scipy.stats import studentized_range

from tanager.compare.pairwise_result import check_enough
from tanager.compare.score_table import Results
from tanager.compare.wilcoxon import wilcoxon_tests
from tanager.errors import unknown_name
from tanager.types import BoolArray, FloatArray
from tanager.utils.validation import check_number, check_whole

NEAR = 1e-9  # average ranks that are closer are equal to machine precision


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Whether any of the methods differ, by their ranks.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    average_ranks : ndarray of shape (n_methods,)
        Average over datasets, 1 at best.
    chi2, chi2_p : float
        Friedman's statistic and its p-value.
    f, f_p : float
        The statistic of Iman and Davenport and its p-value; less conservative, so
        take this one.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {("a", "NB"): 0.8, ("a", "TAN"): 0.9, ("b", "NB"): 0.7, ("b", "TAN"): 0.6}
    ... )
    >>> test = friedman_test(results)
    >>> test.methods, test.average_ranks, test.f_p
    (('NB', 'TAN'), array([1.5, 1.5]), 1.0)
    """

    methods: tuple[str, ...]
    average_ranks: FloatArray
    chi2: float
    chi2_p: float
    f: float
    f_p: float


def friedman_test(results: Results) -> FriedmanTest:
    """Friedman test with the correction of Iman and Davenport.

    Parameters
    ----------
    results : Results
        At least 2 methods on at least 2 datasets.

    Returns
    -------
    FriedmanTest
        Average ranks, both statistics and their p-values.

    Notes
    -----
    With average ranks R_j of k methods on N datasets

        chi2 = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4)
        F    = (N - 1) chi2 / (N (k - 1) - chi2)

    have approximately the chi-squared distribution with k - 1 and the F distribution
    with k - 1 and (k - 1) (N - 1) degrees of freedom. As in the source, shared ranks
    are averaged and not corrected for, which makes the test conservative.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, section 3.2.2.

    Examples
    --------
    >>> scores = {"NB": (0.7, 0.6, 0.5), "TAN": (0.8, 0.9, 0.6)}
    >>> scores["2-tree"] = (0.9, 0.8, 0.7)
    >>> results = Results.from_mapping(
    ...     {(f"data{k}", m): s for m, own in scores.items() for k, s in enumerate(own)}
    ... )
    >>> test = friedman_test(results)
    >>> test.average_ranks.round(3)
    array([3.   , 1.667, 1.333])
    >>> round(test.chi2, 3), round(test.f, 3), round(test.f_p, 3)
    (4.667, 7.0, 0.049)
    """
    check_enough(results, "The Friedman test", methods=2, datasets=2)
    n, k = results.n_datasets, results.n_methods
    average = results.ranks().mean(axis=0)
    # Without differences the sum is zero to machine precision.
    chi2 = 12 * n / (k + 1) * float(np.mean((average - (k + 1) / 2) ** 2))
    rest = n * (k - 1) - chi2
    f = inf if rest <= NEAR * n * k else (n - 1) * chi2 / rest
    return FriedmanTest(
        methods=results.methods,
        average_ranks=average,
        chi2=chi2,
        chi2_p=float(chdtrc(k - 1, chi2)),
        f=f,
        f_p=0.0 if f == inf else float(fdtrc(k - 1, (k - 1) * (n - 1), f)),
    )


def critical_difference(
    n_methods: int, n_datasets: int, *, alpha: float = 0.05
) -> float:
    """Difference of average ranks from which two methods differ (Nemenyi).

    Parameters
    ----------
    n_methods, n_datasets : int
        Methods that are all compared with each other, and datasets.
    alpha : float, default=0.05
        Level of significance, for all pairs together.

    Returns
    -------
    float
        ``q sqrt(k (k + 1) / (6 N))``, q being the quantile of the studentised range
        of k values divided by sqrt(2).

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, section 3.2.2 and Table 5.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    check_whole("n_methods", n_methods, 2)
    check_whole("n_datasets", n_datasets, 1)
    check_number("alpha", alpha, above=0, below=1)
    q = float(studentized_range.isf(alpha, n_methods, np.inf)) / sqrt(2)
    return q * sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


@dataclass(frozen=True, eq=False)
class RankGroups:
    """Average ranks, and groups of methods without significant differences.

    Parameters
    ----------
    methods : tuple of str
        From the best rank to the worst.
    average_ranks : ndarray of shape (n_methods,)
        Of these methods.
    groups : tuple of tuples of str
        Methods next to each other by rank of which no two differ significantly; the
        largest such groups of at least two.
    alpha : float
        Level of significance.
    critical_difference : float or None
        That of the Nemenyi test; None for other tests.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {("a", "NB"): 0.8, ("a", "TAN"): 0.9, ("b", "NB"): 0.7, ("b", "TAN"): 0.8}
    ... )
    >>> groups = rank_groups(results)
    >>> groups.methods, groups.average_ranks, groups.groups
    (('TAN', 'NB'), array([1., 2.]), (('TAN', 'NB'),))
    """

    methods: tuple[str, ...]
    average_ranks: FloatArray
    groups: tuple[tuple[str, ...], ...]
    alpha: float
    critical_difference: float | None


def rank_groups(
    results: Results,
    *,
    test: Literal["nemenyi", "wilcoxon"] = "nemenyi",
    alpha: float = 0.05,
) -> RankGroups:
    """Order methods by average rank and group those that do not differ.

    Parameters
    ----------
    results : Results
        At least 2 methods on at least 2 datasets.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        Nemenyi's critical difference, or Wilcoxon signed-rank tests of all pairs
        with Holm's correction. The latter usually finds more, and depends on the other
        methods of the comparison by their number alone.
    alpha : float, default=0.05
        Level of significance, for all pairs together.

    Returns
    -------
    RankGroups
        What `critical_difference_diagram` shows.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, section 3.2.

    Examples
    --------
    >>> scores = {"NB": (5, 6, 5, 6, 5, 6), "TAN": (7, 7, 8, 8, 7, 7)}
    >>> scores["2-tree"] = (8, 9, 7, 9, 9, 8)
    >>> results = Results.from_mapping(
    ...     {(f"data{k}", m): s for m, own in scores.items() for k, s in enumerate(own)}
    ... )
    >>> groups = rank_groups(results)
    >>> groups.methods, groups.average_ranks.round(2)
    (('2-tree', 'TAN', 'NB'), array([1.17, 1.83, 3.  ]))
    >>> groups.groups, round(groups.critical_difference, 2)
    ((('2-tree', 'TAN'), ('TAN', 'NB')), 1.35)
    """
    if test not in ("nemenyi", "wilcoxon"):
        raise unknown_name("test", test, ("nemenyi", "wilcoxon"))
    check_number("alpha", alpha, above=0, below=1)
    check_enough(results, "Comparing ranks", methods=2, datasets=2)
    average = results.ranks().mean(axis=0)
    order = np.argsort(average, kind="stable")
    ranks = average[order]
    limit = None
    if test == "nemenyi":
        limit = critical_difference(results.n_methods, results.n_datasets, alpha=alpha)
        differ = np.abs(ranks[:, None] - ranks) >= limit - NEAR
    else:
        differ = wilcoxon_tests(results, alpha=alpha).significant[np.ix_(order, order)]
    methods = tuple(results.methods[k] for k in order)
    return RankGroups(
        methods=methods,
        average_ranks=ranks,
        groups=tuple(methods[a:b] for a, b in _runs(differ)),
        alpha=alpha,
        critical_difference=limit,
    )


def _runs(differ: BoolArray) -> list[tuple[int, int]]:
    """The longest runs of at least two places of which no pair differs."""
    runs: list[tuple[int, int]] = []
    for start in range(len(differ)):
        end = start + 1
        while end < len(differ) and not differ[start:end, end].any():
            end += 1
        # A run that ends where an earlier one did is a part of it.
        if end - start > 1 and (not runs or end > runs[-1][1]):
            runs.append((start, end))
    return runs
