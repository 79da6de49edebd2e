"""Percentiles of log likelihoods."""

import numpy as np
import pytest

from tanager import CapabilityError, InputError
from tanager.explain import measure_typicality, typicality
from tests.explain.makers import fitted_model, random_codes, random_network
from tests.reference.joint import joint_table


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(4))
def test_exact_percentiles_by_enumeration(seed):
    network = random_network(seed)
    codes = random_codes(network.schema, 20, seed, missing=0.3)
    found = measure_typicality(network, codes)
    assert found.exact.all()
    joint = joint_table(network).sum(axis=-1)
    for row, log_p, percentile in zip(
        codes.tolist(), found.log_likelihood, found.percentile, strict=True
    ):
        hidden = tuple(
            j for j, code in enumerate(row) if code == network.schema[j].n_states
        )
        marginal = joint.sum(axis=hidden)
        own = marginal[tuple(code for j, code in enumerate(row) if j not in hidden)]
        np.testing.assert_allclose(log_p, np.log(own), atol=1e-10)
        expected = 100 * marginal[marginal <= own * (1 + 1e-9)].sum()
        np.testing.assert_allclose(percentile, expected, atol=1e-8)


def test_random_samples_estimate_the_exact_percentiles(monkeypatch):
    network = fitted_model("tan").network_
    codes = random_codes(network.schema, 30, missing=0.1)
    exact = measure_typicality(network, codes)
    monkeypatch.setattr(typicality, "MAX_EXACT", 0)
    found = measure_typicality(network, codes, n_samples=20_000, random_state=3)
    assert exact.exact.all()
    assert not found.exact.any()
    np.testing.assert_allclose(found.percentile, exact.percentile, atol=2.0)
    again = measure_typicality(network, codes, n_samples=20_000, random_state=3)
    np.testing.assert_array_equal(again.percentile, found.percentile)


def test_sample_without_any_observed_feature():
    model = fitted_model("tan")
    found = model.typicality({name: [None] for name in model.feature_names_in_})
    np.testing.assert_allclose(found.percentile, 100)
    np.testing.assert_allclose(found.log_likelihood, 0, atol=1e-10)
    assert list(found.to_frame()) == ["sample", "log_likelihood", "percentile"]


def test_factors_have_no_distribution_of_features():
    model = fitted_model("factors")
    X = {name: [None] for name in model.feature_names_in_}
    with pytest.raises(
        CapabilityError, match=r"has no .typicality.: .* no distribution"
    ):
        model.typicality(X)
    with pytest.raises(InputError, match="n_samples must be a whole number"):
        fitted_model("nb").typicality(X, n_samples=0)
