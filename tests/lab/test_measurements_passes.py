import numpy as np
import pytest

from lab.measurements import (
    cross_validation_scores,
    duplicate_features,
    pass_accuracy,
    small_sample_accuracy,
)
from lab.measurements.repeated_passes import COPIES, FIVE_ROWS


def plain_probability(counts, prior, alpha):
    """P(+ | 0, 0, 0) from counts of (class, state), by Bayes' rule."""
    joint = {}
    for label in "+-":
        share = (prior[label] + alpha) / (sum(prior.values()) + 2 * alpha)
        of_class = counts[label]
        state = (of_class["0"] + alpha) / (sum(of_class.values()) + 2 * alpha)
        joint[label] = share * state**COPIES
    return joint["+"] / sum(joint.values())


@pytest.mark.parametrize("learner", ["FE", "DFE"])
def test_duplicates_equal_the_loop_of_the_paper(learner):
    alpha = 1.0
    counts = {label: {"0": 0.0, "1": 0.0} for label in "+-"}
    prior = dict.fromkeys("+-", 0.0)
    expected = []
    for step in range(15):
        state, label = FIVE_ROWS[step % 5]
        added = 1.0
        if learner == "DFE":
            # Of the row's own state; by symmetry the formula is that of "0".
            turned = counts
            if state == "1":
                turned = {c: {"0": n["1"], "1": n["0"]} for c, n in counts.items()}
            plus = plain_probability(turned, prior, alpha)
            added = 1.0 - (plus if label == "+" else 1.0 - plus)
        counts[label][state] += added
        prior[label] += added
        expected.append(plain_probability(counts, prior, alpha))
    found = duplicate_features(learner=learner, alpha=alpha, n_steps=15)["probability"]
    assert found == pytest.approx(expected, rel=1e-9)


def test_without_pseudo_counts_it_goes_where_the_paper_says():
    fe, dfe = (
        duplicate_features(learner=learner, alpha=0.0, n_steps=50)["probability"]
        for learner in ("FE", "DFE")
    )
    assert fe[-1] == pytest.approx(2 / 3)
    assert dfe[-1] == pytest.approx(0.40, abs=0.01)


def test_four_passes_are_those_of_dfe():
    shared = {"data": "iris", "method": "NB+DFE", "n_folds": 5, "repeat": 2}
    found = pass_accuracy(passes=4, **shared)
    assert found["test"] == cross_validation_scores(shuffled=True, **shared)["accuracy"]
    assert np.mean(found["training"]) > 0.9
    assert found["test"] != pass_accuracy(passes=1, **shared)["test"]


def test_few_rows_and_all_others():
    shared = {"data": "iris", "n_classes": 2, "n_runs": 4, "paper": "su2008"}
    few = small_sample_accuracy(method="NB+FE", n_rows=30, **shared)["accuracy"]
    assert len(few) == 4
    assert min(few) > 0.9


def test_rows_of_one_class_say_that_all_are_of_it():
    found = small_sample_accuracy(
        data="iris", method="NB+ELR", n_rows=1, n_runs=3, n_classes=2
    )["accuracy"]
    assert found == pytest.approx([49 / 99] * 3)
