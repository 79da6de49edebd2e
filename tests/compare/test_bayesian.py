from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.compare import Results, bayesian_signed_rank, bayesian_tests
from tanager.errors import InputError
from tests.reference import compare as reference
from tests.reference import published_comparisons as demsar
from tests.tolerance import EXACT, assert_close

N_SAMPLES = 400


def by_formula(differences, rope, prior, seed):
    """Count over the same weights, every draw by the double sum."""
    random = np.random.default_rng(seed)
    weights = random.standard_exponential((len(differences) + 1, N_SAMPLES))
    weights[0] = random.standard_gamma(prior, N_SAMPLES)
    wins = [0, 0, 0]
    for own in weights.T:
        three = reference.bayesian_draw(differences, rope, [float(w) for w in own])
        wins[three.index(max(three))] += 1
    return [win / N_SAMPLES for win in wins]


@given(
    st.lists(st.integers(-5, 5).map(lambda k: k / 100), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.01, 0.015, 0.03]),
    st.sampled_from([0.5, 2.0]),
)
def test_verdicts_by_the_formula(differences, rope, prior):
    found = bayesian_signed_rank(
        differences, rope, prior=prior, n_samples=N_SAMPLES, random_state=3
    )
    expected = by_formula(differences, rope, prior, 3)
    assert_close([found.first, found.same, found.second], expected, EXACT)


@given(st.lists(st.floats(-0.1, 0.1), min_size=1, max_size=8))
def test_verdicts_sum_to_one_and_turn_with_the_sign(differences):
    found = bayesian_signed_rank(differences, 0.01, n_samples=N_SAMPLES, random_state=0)
    turned = bayesian_signed_rank(
        [-d for d in differences], 0.01, n_samples=N_SAMPLES, random_state=0
    )
    assert_close(found.first + found.same + found.second, 1.0, EXACT)
    assert_close(
        [turned.first, turned.same, turned.second],
        [found.second, found.same, found.first],
        EXACT,
    )


def test_one_difference_in_closed_form():
    # Weights 1 - u of the prior at 0 and u of z: with z = 3 rope, z + 0 > 2 rope, so
    # only the prior with itself is the same, and P(same) = (1 - u)^2 beats the rest
    # where u < 1 - sqrt(1/2). With prior 1, u is uniform.
    found = bayesian_signed_rank(
        [0.03], 0.01, prior=1.0, n_samples=200_000, random_state=0
    )
    expected = 1 - np.sqrt(0.5)
    error = 4 * np.sqrt(expected * (1 - expected) / 200_000)
    assert abs(found.same - expected) < error
    assert found.second == 0.0


def test_sums_at_the_edge_are_the_same():
    # 0.3 - 0.2 is less than 0.1 in floats, 0.8 - 0.7 more.
    for difference in (0.3 - 0.2, 0.8 - 0.7, -(0.8 - 0.7)):
        found = bayesian_signed_rank(
            [difference] * 3, 0.1, n_samples=50, random_state=0
        )
        assert found.same == 1.0


def test_blocks_give_other_samples_of_the_same_verdict(monkeypatch):
    differences = [0.02, 0.01, -0.01, 0.03, 0.0]
    whole = bayesian_signed_rank(differences, 0.01, random_state=0)
    monkeypatch.setattr("tanager.compare.bayesian.BLOCK_CELLS", 1000)
    blocks = bayesian_signed_rank(differences, 0.01, random_state=0)
    assert_close(
        [blocks.first, blocks.same, blocks.second],
        [whole.first, whole.same, whole.second],
        0.02,
    )


def test_many_datasets():
    random = np.random.default_rng(0)
    found = bayesian_signed_rank(
        random.normal(0.02, 0.05, 20_000), 0.01, n_samples=60, random_state=0
    )
    assert found.first == 1.0


def test_the_published_pair_is_practically_the_same_or_better():
    # The pruned trees of the paper's Table 2 are never worse by a hundredth.
    differences = demsar.area_results().differences("C4.5+m", "C4.5")
    found = bayesian_signed_rank(differences, 0.01, random_state=0)
    assert found.second < 0.001
    without = bayesian_signed_rank(differences, 0.0, random_state=0)
    assert without.first > 0.95


def make():
    random = np.random.default_rng(1)
    return Results.from_mapping(
        {
            (f"dataset {d}", f"m{k}"): 0.01 * k + random.normal(0, 0.02)
            for d in range(9)
            for k in range(3)
        }
    )


def test_pairs():
    results = make()
    tests = bayesian_tests(results, 0.01, n_samples=2000, random_state=5)
    assert_close(tests.better + tests.same + tests.better.T, np.ones((3, 3)), EXACT)
    assert (np.diag(tests.same) == 1).all()
    for order in permutations(range(3)):
        other = bayesian_tests(
            results.select([f"m{k}" for k in order]),
            0.01,
            n_samples=2000,
            random_state=5,
        )
        places = np.ix_(order, order)
        assert_close(other.better, tests.better[places], EXACT)
        assert_close(other.same, tests.same[places], EXACT)
    again = bayesian_tests(results, 0.01, n_samples=2000, random_state=5)
    assert again.markdown() == tests.markdown()
    generator = np.random.default_rng(5)
    first = bayesian_tests(results, 0.01, n_samples=2000, random_state=generator)
    assert (first.better == tests.better).all()


def test_bad_input():
    for bad in ([], [np.inf], [[1.0]]):
        with pytest.raises(InputError, match="list of finite differences"):
            bayesian_signed_rank(bad, 0.01)
    with pytest.raises(InputError, match="rope must be a finite number of at least 0"):
        bayesian_signed_rank([1.0], -1)
    with pytest.raises(InputError, match="prior must be a finite number above 0"):
        bayesian_signed_rank([1.0], 0.01, prior=0)
    with pytest.raises(InputError, match="n_samples must be a whole number"):
        bayesian_signed_rank([1.0], 0.01, n_samples=0)
    with pytest.raises(InputError, match="at least 2 methods"):
        bayesian_tests(make().select(["m0"]), 0.01)
