"""The Bayesian signed-rank test: better, worse, or practically the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.compare._markdown import above_diagonal
from tanager.compare.pairwise_result import check_enough, pair_differences
from tanager.compare.score_table import Results
from tanager.errors import InputError
from tanager.types import FloatArray, IndexArray
from tanager.utils.validation import check_number, check_whole

BLOCK_CELLS = 2**16  # weights that are sampled together, so that they stay in cache


@dataclass(frozen=True)
class Verdict:
    """Probabilities that sum to one.

    Parameters
    ----------
    first : float
        That the first method is practically better.
    same : float
        That there is no practical difference.
    second : float
        That the second method is practically better.

    Examples
    --------
    >>> bayesian_signed_rank([0.001, -0.002, 0.0], rope=0.01)
    Verdict(first=0.0, same=1.0, second=0.0)
    """

    first: float
    same: float
    second: float


def bayesian_signed_rank(
    differences: npt.ArrayLike,
    rope: float,
    *,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: int | np.random.Generator | None = None,
) -> Verdict:
    """Bayesian signed-rank test with a region of practical equivalence.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        By how much the first of two methods is better on every dataset.
    rope : float
        Half the width of the region: methods that differ by no more than this are
        practically the same. In the unit of the scores: 0.01 for a hundredth of
        accuracy, 1 if it is in per cent. 0 for none.
    prior : float, default=0.5
        Weight of the prior, an observation of no difference at all.
    n_samples : int, default=50000
        Posterior samples; with 50,000 the standard error is about 0.002.
    random_state : int, Generator or None, default=None
        Seed of the posterior samples.

    Returns
    -------
    Verdict
        Fractions of the posterior samples in which each of the three is most probable.

    Notes
    -----
    The prior over the distribution of differences is a Dirichlet process. A sample
    of the posterior has weights w_0 for the prior's z_0 = 0 and w_1 to w_n for the
    differences, from a Dirichlet distribution with parameters (prior, 1, ..., 1), and
    gives

        P(first)  = sum_ij w_i w_j [z_i + z_j > 2 rope]
        P(second) = sum_ij w_i w_j [z_i + z_j < -2 rope]
        P(same)   = the rest.

    With the differences sorted, the inner sums are cumulative ones, so a sample takes
    n steps instead of n^2.

    References
    ----------
    A. Benavoli, F. Mangili, G. Corani, M. Zaffalon, F. Ruggeri (2014), A Bayesian
    Wilcoxon signed-rank test based on the Dirichlet process, ICML.

    A. Benavoli, G. Corani, J. Demšar, M. Zaffalon (2017), Time for a change: a
    tutorial for comparing multiple classifiers through Bayesian analysis, JMLR 18.

    Examples
    --------
    >>> differences = [0.02, 0.03, 0.015, 0.005, 0.04, 0.021]
    >>> verdict = bayesian_signed_rank(differences, 0.01, random_state=0)
    >>> bool(verdict.first > 0.95), verdict.second
    (True, 0.0)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise InputError(
            "The Bayesian test needs a list of finite differences, at least one; got "
            f"{differences!r}."
        )
    (verdict,) = _verdicts([values], rope, prior, n_samples, random_state)
    return verdict


def _verdicts(
    pairs: Sequence[FloatArray],
    rope: float,
    prior: float,
    n_samples: int,
    random_state: int | np.random.Generator | None,
) -> list[Verdict]:
    """Verdicts on several pairs by the same posterior samples."""
    check_number("rope", rope, least=0)
    check_number("prior", prior, above=0)
    check_whole("n_samples", n_samples, 1)
    random = np.random.default_rng(random_state)
    sorted_pairs = [_sort_points(differences, rope) for differences in pairs]
    wins = np.zeros((len(pairs), 3), dtype=np.intp)
    n_points = len(pairs[0]) + 1
    block = max(1, BLOCK_CELLS // n_points)
    for start in range(0, n_samples, block):
        size = min(block, n_samples - start)
        # Not divided by their sum: which of three is largest does not depend on it.
        weights = random.standard_exponential((n_points, size))
        weights[0] = random.standard_gamma(prior, size)
        for k, places in enumerate(sorted_pairs):
            wins[k] += _wins(weights, *places)
    return [Verdict(*(own / n_samples).tolist()) for own in wins]


def _sort_points(
    differences: FloatArray, rope: float
) -> tuple[IndexArray, IndexArray, IndexArray]:
    """The order of the points (zero, differences), and where sums leave the region.

    Sorted points before `below` of a point have a sum with it below the region, those
    from `above` on one above it.
    """
    points = np.concatenate([[0.0], differences])
    order = np.argsort(points, kind="stable")
    points = points[order]
    # A sum at the edge of the region is within, also after rounding.
    edge = 2 * rope + 1e-12 * max(np.abs(points).max(), rope)
    below = np.searchsorted(points, -edge - points, side="left")
    above = np.searchsorted(points, edge - points, side="right")
    return order, below, above


def _wins(
    weights: FloatArray, order: IndexArray, below: IndexArray, above: IndexArray
) -> IndexArray:
    """In how many samples the first, neither and the second is most probable."""
    own = weights[order]
    sums = np.zeros((len(own) + 1, own.shape[1]))
    np.cumsum(own, axis=0, out=sums[1:])
    whole = sums[-1] ** 2
    second = np.einsum("ij,ij->j", own, sums[below])
    not_first = np.einsum("ij,ij->j", own, sums[above])
    best = np.argmax([whole - not_first, not_first - second, second], axis=0)
    return np.bincount(best, minlength=3)


@dataclass(frozen=True, eq=False)
class BayesianTests:
    """Verdicts on every pair of methods.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    better : ndarray of shape (n_methods, n_methods)
        Probability that the method of the row is practically better than that of
        the column.
    same : ndarray of shape (n_methods, n_methods)
        Probability that there is no practical difference; 1 on the diagonal.
    rope : float
        Half the width of the region of practical equivalence.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {(f"data{k}", method): 0.8 for k in range(9) for method in ("NB", "TAN")}
    ... )
    >>> bayesian_tests(results, rope=0.01).same
    array([[1., 1.],
           [1., 1.]])
    """

    methods: tuple[str, ...]
    better: FloatArray
    same: FloatArray
    rope: float

    def markdown(self) -> str:
        """Better / same / worse of the row against the column, above the diagonal."""
        return above_diagonal(
            self.methods,
            lambda i, j: " / ".join(
                f"{p:.2f}"
                for p in (self.better[i, j], self.same[i, j], self.better[j, i])
            ),
        )


def bayesian_tests(
    results: Results,
    rope: float,
    *,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: int | np.random.Generator | None = None,
) -> BayesianTests:
    """Bayesian signed-rank tests of every pair of methods, over the datasets.

    Parameters
    ----------
    results : Results
        At least 2 methods.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the
        scores.
    prior : float, default=0.5
        Weight of the prior.
    n_samples : int, default=50000
        Posterior samples, the same for every pair.
    random_state : int, Generator or None, default=None
        Seed of the posterior samples.

    Returns
    -------
    BayesianTests
        Three probabilities for every pair; see `bayesian_signed_rank`.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {
    ...         (f"data{k}", method): 0.8 + 0.001 * k + gain
    ...         for k in range(10)
    ...         for method, gain in {"NB": 0, "TAN": 0.05, "2-tree": 0.055}.items()
    ...     }
    ... )
    >>> print(bayesian_tests(results, rope=0.01, random_state=0).markdown())
    |     |                TAN |             2-tree |
    |-----|-------------------:|-------------------:|
    | NB  | 0.00 / 0.00 / 1.00 | 0.00 / 0.00 / 1.00 |
    | TAN |                    | 0.00 / 1.00 / 0.00 |
    """
    check_enough(results, "Comparing pairs", methods=2, datasets=1)
    n = results.n_methods
    pairs = pair_differences(results)
    # The same samples for all pairs: the order of the methods does not matter.
    verdicts = _verdicts(list(pairs.values()), rope, prior, n_samples, random_state)
    better, same = np.zeros((n, n)), np.eye(n)
    for (i, j), verdict in zip(pairs, verdicts, strict=True):
        better[i, j], better[j, i] = verdict.first, verdict.second
        same[i, j] = same[j, i] = verdict.same
    return BayesianTests(results.methods, better, same, rope)
