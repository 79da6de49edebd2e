"""A comparison of methods as one page of Markdown."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tanager.compare._markdown import table
from tanager.compare.bayesian import bayesian_tests
from tanager.compare.pairwise_result import check_enough, p_text
from tanager.compare.ranks import friedman_test, rank_groups
from tanager.compare.score_table import Results
from tanager.compare.t_tests import paired_t_tests, win_tie_loss
from tanager.compare.wilcoxon import wilcoxon_tests
from tanager.types import FloatArray
from tanager.utils.validation import check_number, check_whole


def means_table(
    results: Results, *, digits: int = 3, test_rows: Mapping[str, int] | None = None
) -> str:
    """Means and standard deviations on every dataset, averages and ranks.

    Parameters
    ----------
    results : Results
        The scores.
    digits : int, default=3
        Decimal places.
    test_rows : mapping of str to int, default=None
        Datasets with a single split; see `Results.deviations`.

    Returns
    -------
    str
        A table in Markdown; the best means of every line are bold.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {("iris", "NB"): [0.92, 0.94], ("iris", "TAN"): [0.95, 0.93]}
    ... )
    >>> print(means_table(results))
    | dataset      |            NB |               TAN |
    |--------------|--------------:|------------------:|
    | iris         | 0.930 ± 0.014 | **0.940** ± 0.014 |
    | average      |         0.930 |         **0.940** |
    | average rank |          2.00 |          **1.00** |
    """
    check_whole("digits", digits, 0)
    means, deviations = results.means(), results.deviations(test_rows)
    ranks = results.ranks()
    rows = []
    for name, *numbers in zip(results.datasets, means, deviations, ranks, strict=True):
        own, spread, order = numbers
        cells = _mark_best([f"{value:.{digits}f}" for value in own], order)
        pairs = zip(cells, spread, strict=True)
        cells = [c if np.isnan(s) else f"{c} ± {s:.{digits}f}" for c, s in pairs]
        rows.append([name, *cells])
    sign = -1.0 if results.higher_is_better else 1.0
    averages = {"average": results.average()}
    if results.sizes is not None:
        averages["average by rows"] = results.average(weighted=True)
    for title, values in averages.items():
        cells = [f"{value:.{digits}f}" for value in values]
        rows.append([title, *_mark_best(cells, sign * values)])
    average_ranks = ranks.mean(axis=0)
    cells = [f"{rank:.2f}" for rank in average_ranks]
    rows.append(["average rank", *_mark_best(cells, average_ranks)])
    return table(["dataset", *results.methods], rows)


def _mark_best(cells: list[str], order: FloatArray) -> list[str]:
    """Cells with the lowest of `order` in bold, unless all are the same."""
    low = np.isclose(order, order.min(), rtol=1e-12, atol=0.0)
    if low.all():
        return cells
    return [f"**{c}**" if best else c for c, best in zip(cells, low, strict=True)]


def summary(
    results: Results,
    *,
    alpha: float = 0.05,
    rope: float = 0.01,
    digits: int = 3,
    test_rows: Mapping[str, int] | None = None,
    test_ratio: float | None = None,
    random_state: int = 0,
) -> str:
    """Compare methods by all tests that the results allow, as Markdown.

    Parameters
    ----------
    results : Results
        At least 2 methods.
    alpha : float, default=0.05
        Level of significance.
    rope : float, default=0.01
        Difference up to which methods are practically the same, in the unit of the
        scores: use 1 if they are per cent.
    digits : int, default=3
        Decimal places of the scores.
    test_rows : mapping of str to int, default=None
        Datasets with a single split; see `Results.deviations`.
    test_ratio : float or None, default=None
        Number of test samples over number of training samples; see `win_tie_loss`.
    random_state : int, default=0
        Seed of the Bayesian test.

    Returns
    -------
    str
        Means; the Friedman test and groups of methods that do not differ;
        tables of the paired t-test, the corrected t-test on each dataset, Wilcoxon's
        test and the Bayesian test. Tests over datasets need at least two of them,
        tests over folds two values of each.

    Examples
    --------
    >>> results = Results.from_mapping(
    ...     {
    ...         (f"data{k}", method): 0.8 + 0.001 * k * k + gain * k
    ...         for k in range(1, 9)
    ...         for method, gain in {"NB": 0, "TAN": 0.01}.items()
    ...     }
    ... )
    >>> print(summary(results))
    | dataset      |    NB |       TAN |
    |--------------|------:|----------:|
    | data1        | 0.801 | **0.811** |
    ...
    | average      | 0.826 | **0.870** |
    | average rank |  2.00 |  **1.00** |
    <BLANKLINE>
    Friedman test over 8 datasets: chi-squared 8.00 (p = 0.0047), ...
    """
    check_enough(results, "A comparison", methods=2, datasets=1)
    check_number("rope", rope, least=0)
    parts = [means_table(results, digits=digits, test_rows=test_rows)]
    several = results.n_datasets > 1
    if several:
        parts += [
            _ranks_text(results, alpha),
            "One-sided paired t-test over datasets; arrows point to the better method "
            f"and are double where p < {alpha:g}:",
            paired_t_tests(results, alpha=alpha).markdown(),
        ]
    if all(values.shape[1] > 1 for values in results.values):
        counts = win_tie_loss(results, alpha=alpha, test_ratio=test_ratio)
        parts += [
            "Wins/ties/losses of the row against the column, by the corrected paired "
            f"t-test on each dataset (p < {alpha:g}):",
            counts.markdown(),
        ]
    if several:
        parts += [
            "Wilcoxon signed-rank test over datasets, two-sided, with Holm's "
            "correction:",
            wilcoxon_tests(results, alpha=alpha).markdown(),
            "Bayesian signed-rank test: probabilities that the row is better / "
            f"practically the same (within {rope:g}) / worse than the column:",
            bayesian_tests(results, rope, random_state=random_state).markdown(),
        ]
    return "\n\n".join(parts)


def _ranks_text(results: Results, alpha: float) -> str:
    test, groups = friedman_test(results), rank_groups(results, alpha=alpha)
    outcome = "differ" if test.f_p < alpha else "do not differ significantly"
    together = "; ".join(", ".join(group) for group in groups.groups) or "none"
    return (
        f"Friedman test over {results.n_datasets} datasets: chi-squared "
        f"{test.chi2:.2f} ({_p_is(test.chi2_p)}), with the correction of Iman and "
        f"Davenport F {test.f:.2f} ({_p_is(test.f_p)}): the methods {outcome} at the "
        f"level of {alpha:g}. Methods without a significant difference of ranks "
        f"(Nemenyi, critical difference {groups.critical_difference:.2f}): {together}."
    )


def _p_is(p: float) -> str:
    text = p_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
