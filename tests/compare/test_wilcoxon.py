from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tanager.compare import Results, holm, wilcoxon_signed_rank, wilcoxon_tests
from tanager.errors import InputError
from tests.reference import compare as reference
from tests.reference import published_comparisons as demsar
from tests.tolerance import EXACT, TABLES, assert_close


def test_the_published_example():
    results = demsar.area_results()
    differences = results.differences("C4.5+m", "C4.5")
    above, below, p = wilcoxon_signed_rank(differences)
    assert (above, below) == (demsar.ABOVE, demsar.BELOW)
    # For 14 datasets a sum of 21 or less is significant at 0.05.
    assert p < 0.05
    tests = wilcoxon_tests(results)
    assert tests.better("C4.5+m", "C4.5")
    assert tests.statistics[1, 0] == demsar.ABOVE - demsar.BELOW


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sums_and_p_by_enumeration(differences):
    above, below, p = wilcoxon_signed_rank(differences)
    assert_close([above, below], reference.signed_ranks(differences), EXACT)
    assert_close(p, reference.wilcoxon_p(differences), EXACT)
    assert wilcoxon_signed_rank([-d for d in differences]) == (below, above, p)


@pytest.mark.parametrize("n", [5, 30, 49])
def test_without_ties_it_is_the_exact_test_of_scipy(n):
    values = np.random.default_rng(n).normal(0.2, 1, n)
    above, below, p = wilcoxon_signed_rank(values)
    expected = stats.wilcoxon(values, method="exact")
    assert min(above, below) == expected.statistic
    assert_close(p, expected.pvalue, TABLES)


def test_many_differences_are_nearly_exact(monkeypatch):
    values = np.random.default_rng(0).normal(0.1, 1, 200)
    *sums, exact = wilcoxon_signed_rank(values)
    monkeypatch.setattr("tanager.compare.wilcoxon.EXACT_MOST", 10)
    *again, normal = wilcoxon_signed_rank(values)
    assert sums == again
    assert_close(normal, exact, 1e-3)


def test_without_differences_nothing_is_found():
    assert wilcoxon_signed_rank([0.0]) == (0.0, 0.0, 1.0)
    assert wilcoxon_signed_rank([0.0, 0.0]) == (1.5, 1.5, 1.0)


@given(st.lists(st.floats(0, 1), max_size=7))
def test_holm_by_the_formula(p_values):
    found = holm(p_values)
    assert_close(found, reference.holm(p_values), EXACT)
    assert (found >= p_values).all()


def make(n_methods=4, n_sets=8):
    random = np.random.default_rng(1)
    return Results.from_mapping(
        {
            (f"dataset {d}", f"m{k}"): random.normal(0.5 * k)
            for d in range(n_sets)
            for k in range(n_methods)
        }
    )


def test_pairs_and_controls():
    results = make()
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for control in (None, "m2"):
        tests = wilcoxon_tests(results, control=control)
        used = [pair for pair in pairs if control is None or 2 in pair]
        differences = [
            [float(d) for d in results.differences(f"m{i}", f"m{j}")] for i, j in used
        ]
        expected = reference.holm([reference.wilcoxon_p(d) for d in differences])
        assert_close([tests.p_values[pair] for pair in used], expected, EXACT)
        others = [pair for pair in pairs if pair not in used]
        assert all(tests.p_values[pair] == 1 for pair in others)
        assert (tests.p_values == tests.p_values.T).all()
        assert (tests.statistics == -tests.statistics.T).all()


def test_the_order_of_the_methods_does_not_matter():
    results = make(3)
    tests = wilcoxon_tests(results)
    for order in permutations(range(3)):
        other = wilcoxon_tests(results.select([f"m{k}" for k in order]))
        assert_close(other.p_values, tests.p_values[np.ix_(order, order)], EXACT)
        assert_close(other.statistics, tests.statistics[np.ix_(order, order)], EXACT)


def test_bad_input():
    for bad in ([], [np.nan], [[1.0]]):
        with pytest.raises(InputError, match="list of finite differences"):
            wilcoxon_signed_rank(bad)
    for p_values in ([1.1], [np.nan], [[0.1]]):
        with pytest.raises(InputError, match="P-values must be a list of numbers"):
            holm(p_values)
    with pytest.raises(InputError, match="Unknown method 'm9'"):
        wilcoxon_tests(make(), control="m9")
    with pytest.raises(InputError, match="alpha must be"):
        wilcoxon_tests(make(), alpha=0)
    with pytest.raises(InputError, match="at least 2 methods"):
        wilcoxon_tests(make(1))
