"""Copies of a feature: frequencies count their evidence again, ELR does not.

Greiner et al. (2005), section 5.1.4: in the distribution P_m the first m of five
features are equal, and naive Bayes takes them for independent.
"""

from itertools import product

import numba
import numpy as np
import pytest

from tanager import ELR, BayesNetClassifier, ConditionalLikelihood, Frequency
from tanager.datasets.generators import correct_structure

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="takes minutes with compilation off"
)

N_FEATURES = 5
COPIES = range(1, N_FEATURES + 1)
REPETITIONS = 6
LEARNERS = {
    "frequency": Frequency(),
    "convex": ConditionalLikelihood(),
    "cg": ELR(solver="cg", folds=None, tol=1e-3),
    "tuned cg": ELR(solver="cg", folds=3, max_iter=10),
}


def distribution(m):
    """All rows of P_m, and P(x, c) for c = -c, +c."""
    free = np.array(list(product((0, 1), repeat=N_FEATURES - m + 1)))
    rows = free[:, [0] * m + list(range(1, free.shape[1]))]
    on = free.sum(axis=1)
    off = free.shape[1] - on
    joint = np.stack([0.1 * 0.8**on * 0.2**off, 0.9 * 0.2**on * 0.8**off], axis=1)
    return np.where(rows, "+e", "-e"), joint


def excess(learner, m):
    """Error and log loss above those of the truth, means over repetitions."""
    rows, joint = distribution(m)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    least = np.array([joint.min(axis=1).sum(), -(joint * np.log(posterior)).sum()])
    found = []
    for repetition in range(REPETITIONS):
        train = correct_structure(m=m, random_state=repetition)
        model = BayesNetClassifier(structure="nb", parameters=learner)
        log_proba = model.fit(train.X, train.y).predict_log_proba(
            {name: rows[:, j] for j, name in enumerate(train.feature_names)}
        )
        assert model.classes_.tolist() == ["+c", "-c"]
        log_proba = log_proba[:, ::-1]
        wrong = log_proba.argmax(axis=1)[:, None] != [0, 1]
        found.append([(joint * wrong).sum(), -(joint * log_proba).sum()])
    return np.mean(found, axis=0) - least


@pytest.fixture(scope="module")
def curves():
    return {
        name: np.array([excess(learner, m) for m in COPIES])
        for name, learner in LEARNERS.items()
    }


def test_the_truth_is_a_distribution():
    for m in COPIES:
        rows, joint = distribution(m)
        assert joint.sum() == pytest.approx(1)
        assert (rows[:, :m] == rows[:, :1]).all()


def test_frequencies_lose_more_with_every_copy(curves):
    error, log_loss = curves["frequency"].T
    assert (np.diff(log_loss) > 0.01).all()
    assert log_loss[-1] > 0.5
    assert (error[3:] > 0.05).all()
    assert error[0] < 0.005


@pytest.mark.parametrize("name", ["convex", "cg"])
def test_conditional_likelihood_loses_nothing(curves, name):
    error, log_loss = curves[name].T
    assert (error < 0.01).all()
    assert (log_loss < 0.02).all()
    assert log_loss[-1] <= log_loss[0]


def test_cross_tuning_watches_the_error_alone(curves):
    # It stops as soon as the error is least, with probabilities still too sharp.
    error, log_loss = curves["tuned cg"].T
    assert (error < 0.01).all()
    assert (log_loss[1:] < curves["frequency"][1:, 1]).all()
    assert log_loss[-1] < 0.1
