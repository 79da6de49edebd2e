"""scikit-learn's own checks, with nothing expected to fail where rows may be moved."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    ChowLiu,
    Frequency,
    NaiveBayesClassifier,
    QuantileEncoder,
    RandomTree,
    TANClassifier,
)

pytestmark = pytest.mark.contract


@parametrize_with_checks(
    [
        BayesNetClassifier(),
        BayesNetClassifier(structure="nb", parameters="ml"),
        BayesNetClassifier(encoder=QuantileEncoder(n_bins=5)),
        BayesNetClassifier(
            encoder="width",
            structure=RandomTree(),
            parameters=Frequency(alpha=0.5),
            random_state=0,
        ),
        BayesNetClassifier(structure=ChowLiu(root=0), n_jobs=2),
        NaiveBayesClassifier(),
        TANClassifier(),
        BoostedClassifier(),
        BoostedClassifier(
            BayesNetClassifier("width", RandomTree(), n_jobs=2),
            n_estimators=3,
            random_state=0,
        ),
    ],
    expected_failed_checks=lambda estimator: {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [BayesNetClassifier(structure="nb", parameters="dfe")],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": (
            "what a row adds depends on the rows before it"
        )
    },
)
def test_scikit_learn_checks_of_an_online_learner(estimator, check):
    check(estimator)
