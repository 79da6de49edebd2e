"""scikit-learn's own checks, with nothing expected to fail where rows may be moved."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanager import (
    ELR,
    KDB,
    BayesNetClassifier,
    BoostedClassifier,
    ChowLiu,
    ConditionalLikelihood,
    Frequency,
    GumbelTree,
    LossMinimizer,
    NaiveBayesClassifier,
    QuantileEncoder,
    RandomTree,
    TANClassifier,
)
from tanager.losses import HybridLoss

pytestmark = pytest.mark.contract


@parametrize_with_checks(
    [
        BayesNetClassifier(structure="nb", parameters="ml"),
        BayesNetClassifier(encoder=QuantileEncoder(n_bins=5), parameters="fe"),
        BayesNetClassifier(
            encoder="width",
            structure=RandomTree(),
            parameters=Frequency(alpha=0.5),
            random_state=0,
        ),
        BayesNetClassifier(structure=ChowLiu(root=0), parameters="fe", n_jobs=2),
        BayesNetClassifier(structure=KDB(select=True)),
        NaiveBayesClassifier(),
        TANClassifier(),
        BayesNetClassifier(parameters=ConditionalLikelihood()),
        BayesNetClassifier(
            "quantile",
            "nb",
            ConditionalLikelihood(smooth=True, tol=1e-8, max_iter=5000),
        ),
        BayesNetClassifier(structure="nb", parameters="em"),
        BayesNetClassifier(structure="nb", parameters=ELR(solver="lbfgs", folds=None)),
        BayesNetClassifier(
            parameters=LossMinimizer(loss=HybridLoss(), epochs=5, batch_size=None)
        ),
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
    [
        BayesNetClassifier(),
        BayesNetClassifier(structure="nb", parameters="dfe"),
        BayesNetClassifier(parameters="rcl"),
        BayesNetClassifier("mdl", GumbelTree(epochs=30), "keep", random_state=0),
    ],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": (
            "the order of the rows matters: one after the other, in folds or batches"
        )
    },
)
def test_scikit_learn_checks_where_the_order_matters(estimator, check):
    check(estimator)
