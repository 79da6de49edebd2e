import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from tanager.compare import Results, corrected_t_test, paired_t_tests, win_tie_loss
from tanager.errors import InputError
from tests.reference import compare as reference
from tests.reference import published_comparisons as published
from tests.tolerance import TABLES, assert_close


def test_the_corrected_t_test_by_hand():
    # d = 1, 2, 3, 4: mean 2.5, sample variance 5/3; 4 folds, test/train = 1/3:
    # t = 2.5 / sqrt((1/4 + 1/3) * 5/3) = 2.5 / sqrt(35/36)
    t, p = corrected_t_test([1, 2, 3, 4], 1 / 3)
    assert t == pytest.approx(2.5 / math.sqrt(35 / 36), rel=1e-14)
    # Student's distribution with 3 degrees of freedom has the closed form
    # F(t) = 1/2 + (arctan(t/sqrt 3) + (t/sqrt 3) / (1 + t^2/3)) / pi
    scaled = t / math.sqrt(3)
    above = 0.5 - (math.atan(scaled) + scaled / (1 + scaled**2)) / math.pi
    assert p == pytest.approx(2 * above, rel=1e-12)
    assert corrected_t_test([-1, -2, -3, -4], 1 / 3) == (-t, p)


def test_without_correction_it_is_the_paired_t_test():
    values = np.random.default_rng(0).normal(0.3, 1, 12)
    t, p = corrected_t_test(values, 0.0)
    expected = stats.ttest_1samp(values, 0.0)
    assert t == pytest.approx(expected.statistic, rel=1e-12)
    assert p == pytest.approx(expected.pvalue, rel=1e-12)


def test_differences_without_variance():
    assert corrected_t_test([0.0, 0.0], 0.25) == (0.0, 1.0)
    assert corrected_t_test([0.1, 0.1, 0.1], 0.25) == (math.inf, 0.0)
    assert corrected_t_test([-0.1, -0.1], 0.25) == (-math.inf, 0.0)
    with pytest.raises(InputError, match="at least 2 folds, got 1"):
        corrected_t_test([0.1], 0.25)


def test_the_corrected_t_test_refuses_a_bad_fraction():
    for fraction in (-0.1, math.nan, "a"):
        with pytest.raises(InputError, match="test_ratio must be a finite number"):
            corrected_t_test([0.1, 0.2], fraction)


def test_the_corrected_t_test_refuses_what_is_no_list_of_numbers():
    for bad in ([0.1, math.nan], [[0.1, 0.2]], 0.1):
        with pytest.raises(InputError, match="needs a list of finite differences"):
            corrected_t_test(bad, 0.1)


def make(n_sets=7, n_folds=5, methods=("a", "b", "c"), seed=0, **keywords):
    random = np.random.default_rng(seed)
    return Results.from_mapping(
        {
            (f"dataset {d}", m): 0.8 + 0.02 * k + random.normal(0, 0.03, n_folds)
            for d in range(n_sets)
            for k, m in enumerate(methods)
        },
        **keywords,
    )


def test_paired_t_tests_by_the_formula():
    results = make()
    tests = paired_t_tests(results)
    means = results.means()
    for i in range(3):
        for j in range(3):
            if i == j:
                assert (tests.statistics[i, j], tests.p_values[i, j]) == (0, 1)
                continue
            t = reference.corrected_t(list(means[:, i] - means[:, j]), 0.0)
            assert_close(tests.statistics[i, j], t, TABLES)
            assert_close(tests.p_values[i, j], reference.student_tail(t, 6), TABLES)


def test_paired_t_tests_are_antisymmetric_and_do_not_depend_on_the_order():
    results = make()
    tests = paired_t_tests(results)
    assert (tests.statistics == -tests.statistics.T).all()
    assert (tests.p_values == tests.p_values.T).all()
    for order in permutations(range(3)):
        other = paired_t_tests(results.select([results.methods[k] for k in order]))
        assert (other.statistics == tests.statistics[np.ix_(order, order)]).all()
        assert (other.p_values == tests.p_values[np.ix_(order, order)]).all()


def test_lower_is_better_turns_the_arrows():
    higher, lower = make(), make(higher_is_better=False)
    found = paired_t_tests(lower).statistics
    assert (found == -paired_t_tests(higher).statistics).all()


def test_arrows():
    scores = {"NB": (0.8, 0.7, 0.9), "TAN": (0.83, 0.74, 0.91), "one": (0.8, 0.7, 0.9)}
    scores["odd"] = (0.9, 0.6, 0.95)
    results = Results.from_mapping(
        {(f"dataset {k}", m): s for m, own in scores.items() for k, s in enumerate(own)}
    )
    tests = paired_t_tests(results)
    text = tests.markdown().splitlines()
    # With two degrees of freedom the probability beyond t is
    # 1/2 - |t| / (2 sqrt(2 + t^2)); t is -0.08 / sqrt(0.0007) for NB against TAN,
    # -0.05 / sqrt(0.0325) against odd, and 0.03 / sqrt(0.0387) for TAN against odd.
    cells = [[cell.strip() for cell in line.split("|")[2:-1]] for line in text[2:]]
    assert cells[0] == ["⇑ 0.047", "= 0.5", "↑ 0.4"]
    assert cells[1] == ["", "⇐ 0.047", "← 0.45"]
    assert cells[2] == ["", "", "↑ 0.4"]
    assert tests.better("TAN", "NB")
    assert not tests.better("NB", "TAN")
    assert not tests.better("TAN", "odd")
    with pytest.raises(InputError, match="Unknown method 'TAM'"):
        tests.better("TAM", "NB")


def test_the_published_table_of_greiner():
    tests = paired_t_tests(
        published.text_results(published.GREINER, published.GREINER_METHODS)
    )
    # Far from what their accuracies give, or the other way round with p near 0.5.
    other = {
        ("NB+ELR", "GBN+ELR"),
        ("TAN+OFE", "NB+ELR"),
        ("GBN+OFE", "NB+OFE"),
    }
    for pair, p in published.GREINER_P.items():
        i, j = (tests.methods.index(method) for method in pair)
        if pair in other:
            assert tests.p_values[i, j] > p - 0.01
            continue
        assert tests.statistics[i, j] > 0
        # Printed as bounds, some of them rounded to one digit.
        assert 0.5 * p < tests.p_values[i, j] < 1.05 * p


def test_the_published_significance_of_pernkopf_is_half_the_density():
    results = published.text_results(published.PERNKOPF, ("OMI", "random"))
    tests = paired_t_tests(results)
    half = stats.t.pdf(tests.statistics[0, 1], 24) / 2
    assert abs(half - published.PERNKOPF_SIGNIFICANCE) < 0.001
    assert tests.p_values[0, 1] > 0.2
    # The largest entries of their Tables 2 and 3, over 25 and 6 datasets.
    for largest, n_sets in ((0.197, 25), (0.189, 6)):
        assert largest <= stats.t.pdf(0, n_sets - 1) / 2 < largest + 0.001


def test_win_tie_loss_by_the_formula():
    results = make(n_sets=12, n_folds=20, n_repeats=4)
    counts = win_tie_loss(results, alpha=0.1)
    for r, values in enumerate(results.values):
        for i in range(3):
            for j in range(3):
                outcome = 0
                if i != j:
                    # 4 repetitions of 5 folds: one part tests, four teach.
                    t = reference.corrected_t(list(values[i] - values[j]), 1 / 4)
                    if 2 * reference.student_tail(t, 19) < 0.1:
                        outcome = 1 if t > 0 else -1
                assert counts.outcomes[r, i, j] == outcome
    assert counts.outcomes.any()
    assert (counts.wins == counts.losses.T).all()
    assert (counts.wins + counts.ties + counts.losses == 12).all()
    shared = win_tie_loss(make(n_sets=12, n_folds=20), alpha=0.1, test_ratio=1 / 4)
    assert (shared.outcomes == counts.outcomes).all()


def test_repetitions_are_not_taken_for_folds():
    scores = {("a", "x"): [0.5] * 20, ("a", "y"): [0.5, 0.52] * 10}
    plain = win_tie_loss(Results.from_mapping(scores))
    repeated = win_tie_loss(Results.from_mapping(scores, n_repeats=10))
    assert (plain.wins[1, 0], repeated.wins[1, 0]) == (1, 0)


def test_wins_by_means_alone():
    scores = {("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 3, ("b", "y"): 3}
    counts = win_tie_loss(Results.from_mapping(scores), alpha=None)
    assert counts.markdown().splitlines()[2] == "| x   | 0/1/1 |"
    lower = Results.from_mapping(scores, higher_is_better=False)
    assert win_tie_loss(lower, alpha=None).wins[0, 1] == 1


def test_too_little_for_a_test():
    one = Results.from_mapping({("a", "x"): [1, 2]})
    with pytest.raises(InputError, match="needs at least 2 methods, got 1"):
        paired_t_tests(one)
    with pytest.raises(InputError, match="needs at least 2 methods, got 1"):
        win_tie_loss(one)
    with pytest.raises(InputError, match="needs at least 2 datasets, got 1"):
        paired_t_tests(make(n_sets=1))
    with pytest.raises(InputError, match="1 values in 1 repetitions, too few"):
        win_tie_loss(make(n_folds=1))
    with pytest.raises(InputError, match="5 values in 5 repetitions, too few"):
        win_tie_loss(make(n_repeats=5))
    win_tie_loss(make(n_repeats=5), test_ratio=0.5)
    for alpha in (0, 1, -1, math.nan):
        with pytest.raises(InputError, match="alpha must be"):
            paired_t_tests(make(), alpha=alpha)
        with pytest.raises(InputError, match="alpha must be"):
            win_tie_loss(make(), alpha=alpha)
