import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tanager.compare import (
    Results,
    critical_difference,
    friedman_test,
    rank_groups,
    wilcoxon_tests,
)
from tanager.compare.ranks import _runs
from tanager.errors import InputError
from tests.reference import compare as reference
from tests.reference import published_comparisons as demsar
from tests.tolerance import EXACT, TABLES, assert_close


def results_of(table, methods="abcdefgh", **keywords):
    return Results.from_mapping(
        {
            (f"dataset {r}", methods[k]): value
            for r, row in enumerate(table)
            for k, value in enumerate(row)
        },
        **keywords,
    )


def test_the_published_example_of_the_friedman_test():
    test = friedman_test(demsar.ranked_results())
    assert_close(test.average_ranks, demsar.AVERAGE_RANKS, 5e-4)
    assert round(test.chi2, 2) == demsar.CHI2
    assert round(test.f, 2) == demsar.F
    # F(3, 39) has the critical value 2.85 at 0.05, so the hypothesis is rejected.
    assert test.f_p < 0.05
    assert_close(test.f_p, stats.f.sf(test.f, 3, 39), TABLES)


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 4), min_size=k, max_size=k),
            min_size=2,
            max_size=8,
        )
    )
)
def test_the_friedman_test_by_the_formula(table):
    n, k = len(table), len(table[0])
    test = friedman_test(results_of(table))
    average, chi2, f = reference.friedman(table)
    assert_close(test.average_ranks, average, EXACT)
    assert_close(test.chi2, chi2, TABLES)
    assert_close(test.f, f, TABLES)
    assert_close(test.f_p, stats.f.sf(test.f, k - 1, (k - 1) * (n - 1)), TABLES)
    assert_close(test.chi2_p, stats.chi2.sf(test.chi2, k - 1), TABLES)


def test_without_ties_it_is_the_test_of_scipy():
    table = np.random.default_rng(0).normal(size=(12, 4))
    test = friedman_test(results_of(table))
    expected = stats.friedmanchisquare(*table.T)
    assert_close([test.chi2, test.chi2_p], [*expected], TABLES)


def test_published_critical_values():
    for alpha, values in demsar.CRITICAL_VALUES.items():
        for k, q in enumerate(values, start=2):
            # With k (k + 1) = 6 N the difference is the critical value itself; the
            # table is rounded, in places from values of fewer digits.
            found = critical_difference(k, 7, alpha=alpha) / math.sqrt(k * (k + 1) / 42)
            assert abs(found - q) < 0.0015
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, alpha=0.1), 2) == 1.12


def test_the_published_example_of_the_nemenyi_test():
    # Section 3.2.2: at 0.05 no pair differs (3.143 - 1.964 < 1.25); at 0.10 C4.5 is
    # worse than C4.5+m and than C4.5+m+cf, and no other pair differs.
    results = demsar.ranked_results()
    assert rank_groups(results).groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    groups = rank_groups(results, alpha=0.1)
    assert groups.methods == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert groups.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


def random_results(seed, n_sets=9, n_methods=6):
    random = np.random.default_rng(seed)
    table = random.normal(size=(n_sets, n_methods)) + 0.4 * np.arange(n_methods)
    return results_of(table)


@pytest.mark.parametrize("test", ["nemenyi", "wilcoxon"])
@pytest.mark.parametrize("seed", range(8))
def test_groups_by_enumeration(test, seed):
    results = random_results(seed)
    found = rank_groups(results, test=test, alpha=0.3)
    ranks = dict(zip(found.methods, found.average_ranks, strict=True))
    assert sorted(ranks.values()) == list(found.average_ranks)
    if test == "nemenyi":
        limit = critical_difference(6, 9, alpha=0.3)
        assert found.critical_difference == limit

        def differ(x, y):
            return abs(ranks[x] - ranks[y]) >= limit
    else:
        assert found.critical_difference is None
        tests = wilcoxon_tests(results, alpha=0.3)

        def differ(x, y):
            return tests.better(x, y) or tests.better(y, x)

    assert found.groups == reference.groups(found.methods, differ)


@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_runs_by_enumeration(n, random):
    differ = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            differ[i, j] = differ[j, i] = random.random() < 0.3
    found = tuple(tuple(range(a, b)) for a, b in _runs(differ))
    assert found == reference.groups(range(n), lambda x, y: differ[x, y])


def test_the_order_of_the_methods_does_not_matter():
    results = random_results(0, n_methods=4)
    test, groups = friedman_test(results), rank_groups(results)
    for order in permutations(range(4)):
        other = results.select([results.methods[k] for k in order])
        assert_close(friedman_test(other).f, test.f, EXACT)
        assert rank_groups(other).groups == groups.groups


def test_equal_methods_are_one_group():
    results = results_of([[1, 1, 1]] * 4)
    test = friedman_test(results)
    assert (test.chi2, test.f, test.chi2_p, test.f_p) == (0, 0, 1, 1)
    for kind in ("nemenyi", "wilcoxon"):
        assert rank_groups(results, test=kind).groups == (("a", "b", "c"),)


def test_bad_input():
    results = random_results(0)
    with pytest.raises(InputError, match="Unknown test 'nemeny'"):
        rank_groups(results, test="nemeny")
    with pytest.raises(InputError, match="alpha must be"):
        rank_groups(results, alpha=2)
    with pytest.raises(InputError, match="Friedman test needs at least 2 datasets"):
        friedman_test(random_results(0, n_sets=1))
    with pytest.raises(InputError, match="ranks needs at least 2 methods, got 1"):
        rank_groups(random_results(0, n_methods=1))
    with pytest.raises(InputError, match="n_methods must be a whole number"):
        critical_difference(1, 5)
    with pytest.raises(InputError, match="n_datasets must be a whole number"):
        critical_difference(3, 0)
    with pytest.raises(InputError, match="alpha must be"):
        critical_difference(3, 5, alpha=0)
