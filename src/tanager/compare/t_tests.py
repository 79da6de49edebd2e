"""Paired t-tests: over datasets, and over the folds of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from tanager.compare._markdown import above_diagonal
from tanager.compare.pairwise_result import PairTests, check_enough, pair_differences
from tanager.compare.score_table import Results
from tanager.errors import InputError
from tanager.types import IndexArray
from tanager.utils.validation import check_number


def corrected_t_test(
    differences: npt.ArrayLike, test_ratio: float
) -> tuple[float, float]:
    """Corrected paired t-test of repeated cross-validation (Nadeau and Bengio).

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        Difference of two classifiers in every fold, of every repetition.
    test_ratio : float
        Number of test samples over number of training samples in a fold: 1/9 for ten
        folds. With 0 it is the plain paired test.

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

        t = m / sqrt((1 / n + test_ratio) s^2)

    has approximately Student's distribution with n - 1 degrees of freedom. Without
    any variance, p is 1 if all differences are zero and 0 otherwise.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine
    Learning 52, section 3.

    Examples
    --------
    >>> t, p = corrected_t_test([0.1, 0.2, 0.3, 0.2, 0.2], test_ratio=0.25)
    >>> round(t, 4), round(p, 4)
    (4.2164, 0.0135)
    """
    check_number("test_ratio", test_ratio, least=0)
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(
            f"A t-test needs a list of finite differences, got {differences!r}."
        )
    n_folds = len(values)
    if n_folds < 2:
        raise InputError(f"A t-test needs at least 2 folds, got {n_folds}.")
    mean = float(values.mean())
    variance = float(values.var(ddof=1))
    # Differences that are equal to machine precision have no variance.
    if variance <= (1e-12 * np.abs(values).max()) ** 2:
        if mean == 0.0:
            return 0.0, 1.0
        return float(np.copysign(np.inf, mean)), 0.0
    t = mean / float(np.sqrt((1.0 / n_folds + test_ratio) * variance))
    return t, float(2.0 * stdtr(n_folds - 1, -abs(t)))


def paired_t_tests(results: Results, *, alpha: float = 0.05) -> PairTests:
    """One-sided paired t-test of every pair of methods, over the datasets.

    Parameters
    ----------
    results : Results
        At least 2 methods on at least 2 datasets.
    alpha : float, default=0.05
        Level of significance.

    Returns
    -------
    PairTests
        Statistics t, and one-sided p-values in the direction of the difference, so
        0.5 at most.

    Notes
    -----
    The test assumes that the differences of the means on the datasets are independent
    samples of a normal distribution. With the accuracies of Greiner et al. (Table II)
    it gives the p-values of their Table IV but for NB+ELR against GBN+ELR, 0.01 there
    and 0.04 here, and for two arrows that point the other way where p is 0.45.

    Pernkopf and Bilmes seem to report half the density of Student's distribution at t
    instead: for TAN-OMI-CR against the best random orders (Table 8) t is 0.79, half the
    density 0.143, the printed value 0.144 and the probability beyond t 0.22. Near 0.05
    the two nearly agree, so that the double arrows mean the same.

    References
    ----------
    F. Pernkopf, J. Bilmes (2010), Efficient heuristics for discriminative structure
    learning of Bayesian network classifiers, JMLR 11, Tables 2, 3 and 8.

    R. Greiner, X. Su, B. Shen, W. Zhou (2005), Structural extension to logistic
    regression, Machine Learning 59, Tables II and IV.

    Examples
    --------
    >>> results = Results.from_columns(
    ...     ["a", "b", "c"] * 2,
    ...     ["NB"] * 3 + ["TAN"] * 3,
    ...     [0.80, 0.70, 0.95, 0.83, 0.74, 0.96],
    ... )
    >>> print(paired_t_tests(results).markdown())
    |     |     TAN |
    |-----|--------:|
    | NB  | ⇑ 0.047 |
    """
    check_number("alpha", alpha, above=0, below=1)
    check_enough(results, "A t-test over datasets", methods=2, datasets=2)
    n = results.n_methods
    statistics, p_values = np.zeros((n, n)), np.ones((n, n))
    for (i, j), differences in pair_differences(results).items():
        t, p = corrected_t_test(differences, test_ratio=0.0)
        statistics[i, j], statistics[j, i] = t, -t
        p_values[i, j] = p_values[j, i] = p / 2
    return PairTests(results.methods, statistics, p_values, alpha)


@dataclass(frozen=True, eq=False)
class WinTieLoss:
    """On how many datasets every method wins against every other.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    outcomes : ndarray of int8 of shape (n_datasets, n_methods, n_methods)
        1 where the method of the row wins against that of the column, -1 where it
        loses, 0 where they tie.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {("a", "NB"): 0.8, ("a", "TAN"): 0.9, ("b", "NB"): 0.7, ("b", "TAN"): 0.7}
    ... )
    >>> counts = win_tie_loss(results, alpha=None)
    >>> counts.wins
    array([[0, 0],
           [1, 0]])
    """

    methods: tuple[str, ...]
    outcomes: npt.NDArray[np.int8]

    @property
    def wins(self) -> IndexArray:
        """Datasets on which the row wins, of shape (n_methods, n_methods)."""
        return np.asarray((self.outcomes > 0).sum(axis=0))

    @property
    def ties(self) -> IndexArray:
        """Datasets without a winner, of shape (n_methods, n_methods)."""
        return np.asarray((self.outcomes == 0).sum(axis=0))

    @property
    def losses(self) -> IndexArray:
        """Datasets on which the row loses, of shape (n_methods, n_methods)."""
        return self.wins.T

    def markdown(self) -> str:
        """Wins/ties/losses of the row against the column, above the diagonal."""
        counts = self.wins, self.ties, self.losses
        return above_diagonal(
            self.methods, lambda i, j: "/".join(str(kind[i, j]) for kind in counts)
        )


def win_tie_loss(
    results: Results, *, alpha: float | None = 0.05, test_ratio: float | None = None
) -> WinTieLoss:
    """Count on how many datasets each method is significantly better than another.

    Parameters
    ----------
    results : Results
        With at least 2 values of every method on every dataset, unless `alpha` is
        None.
    alpha : float or None, default=0.05
        Two-sided level of `corrected_t_test` on each dataset; None compares the
        means alone.
    test_ratio : float or None, default=None
        Number of test samples over number of training samples. By default
        ``1 / (folds - 1)``, which is that of cross-validation; there
        ``results.n_repeats`` says how many of the values are folds.

    Returns
    -------
    WinTieLoss
        The outcome on every dataset, and counts.

    References
    ----------
    J. Su, H. Zhang, C. X. Ling, S. Matwin (2008), Discriminative parameter learning
    for Bayesian networks, ICML, Table 2.

    Examples
    --------
    >>> scores = {("a", "NB"): [0.80, 0.81, 0.79], ("a", "TAN"): [0.85, 0.87, 0.84]}
    >>> scores |= {("b", "NB"): [0.70, 0.75, 0.73], ("b", "TAN"): [0.74, 0.71, 0.74]}
    >>> results = Results.from_mapping(scores)
    >>> print(win_tie_loss(results).markdown())
    |     |   TAN |
    |-----|------:|
    | NB  | 0/1/1 |
    """
    check_number("alpha", alpha, above=0, below=1, none=True)
    check_number("test_ratio", test_ratio, least=0, none=True)
    check_enough(results, "Counting wins", methods=2, datasets=1)
    ratios = [] if alpha is None else _test_ratios(results, test_ratio)
    n = results.n_methods
    outcomes = np.zeros((results.n_datasets, n, n), dtype=np.int8)
    for i, j in combinations(range(n), 2):
        first, second = results.methods[i], results.methods[j]
        if alpha is None:
            signs = np.sign(results.differences(first, second))
        else:
            folds = results.fold_differences(first, second)
            tests = map(corrected_t_test, folds, ratios)
            signs = np.array([np.sign(t) if p < alpha else 0.0 for t, p in tests])
        outcomes[:, i, j], outcomes[:, j, i] = signs, -signs
    return WinTieLoss(results.methods, outcomes)


def _test_ratios(results: Results, test_ratio: float | None) -> list[float]:
    """Test samples over training samples for every dataset."""
    ratios = []
    for name, values in zip(results.datasets, results.values, strict=True):
        n_values = values.shape[1]
        folds = n_values // results.n_repeats
        if n_values < 2 or (test_ratio is None and folds < 2):
            raise InputError(
                f"Dataset {name!r} has {n_values} values in {results.n_repeats} "
                "repetitions, too few for a test over folds; give the scores of the "
                "folds, correct n_repeats, give test_ratio for repeated splits, or "
                "compare means alone with alpha=None."
            )
        ratios.append(1.0 / (folds - 1) if test_ratio is None else test_ratio)
    return ratios
