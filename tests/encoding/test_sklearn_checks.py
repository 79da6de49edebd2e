"""scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanager.encoding import (
    EqualWidthEncoder,
    FeatureContrasts,
    MDLEncoder,
    QuantileEncoder,
    TableEncoder,
)


@pytest.mark.contract
@parametrize_with_checks(
    [
        MDLEncoder(),
        EqualWidthEncoder(n_bins=4),
        QuantileEncoder(n_bins=5),
        FeatureContrasts(),
        TableEncoder(),
        TableEncoder(numeric=QuantileEncoder(n_bins=3)),
        TableEncoder(categorical_features="all"),
        TableEncoder(numeric="width", ordinal_features="all"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
