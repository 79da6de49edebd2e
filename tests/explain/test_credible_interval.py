"""Credible intervals by simulation, and what they need."""

import numpy as np
import pytest
from scipy.special import expit, logit

from tanager import BayesNetClassifier, CapabilityError, InputError, load
from tanager.data import ArrayData
from tanager.explain import (
    credible_interval,
    explain_samples,
    measure_intervals,
    measure_typicality,
)
from tests.explain.makers import fitted_model, random_codes, training_data


def family_counts(model, n_classes):
    X, y = training_data(n_classes)
    schema, structure = model.network_.schema, model.network_.structure
    return ArrayData(schema, model.encode(X), y).count(structure.families)


@pytest.mark.numerical
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["nb", "tan", "2-tree"])
def test_delta_method_agrees_with_random_cpts(kind, n_classes):
    model = fitted_model(kind, n_classes)
    network, counts = model.network_, family_counts(model, n_classes)
    codes = model.encode(training_data(n_classes)[0])[:6]
    found = measure_intervals(network, codes, counts)
    drawn = credible_interval._draw_probabilities(
        network, credible_interval._concentration(network, counts), codes, 3000,
        np.random.default_rng(0),
    )  # fmt: skip
    deviations = logit(np.clip(drawn, 1e-12, 1 - 1e-12)).std(axis=0)
    half = (logit(found.high) - logit(found.low)) / 2 / 1.959964
    np.testing.assert_allclose(half, deviations, rtol=0.25)
    assert (found.low <= found.probabilities).all()
    assert (found.probabilities <= found.high).all()


def test_variance_of_two_classes_is_exact_for_naive_bayes():
    """The log odds of two classes are a sum of independent log Beta variables."""
    model = fitted_model("nb")
    counts = model._family_counts()
    codes = model.encode(training_data(2)[0])[:3]
    found = measure_intervals(model.network_, codes, counts, level=0.9)
    concentration = credible_interval._concentration(model.network_, counts)
    layout = model.network_.parameters.layout
    random = np.random.default_rng(1)
    total = np.zeros((40_000, 3))
    for t, owner in enumerate(layout.owners):
        table = layout.table(concentration, t)
        if owner == layout.target:
            log_p = np.log(random.dirichlet(table, 40_000))
            total += log_p[:, 1:] - log_p[:, :1]
            continue
        if table.ndim == 1:  # a constant feature without arcs
            continue
        for c, sign in ((0, -1), (1, 1)):
            log_p = np.log(random.dirichlet(table[:, c], 40_000))
            total += sign * log_p[:, codes[:, owner]]
    half = (logit(found.high) - logit(found.low))[:, 1] / 2 / 1.644854
    np.testing.assert_allclose(half, total.std(axis=0), rtol=0.02)


def test_missing_parents_take_random_cpts():
    model = fitted_model("tan")
    codes = random_codes(model.network_.schema, 20, missing=0.5)
    counts = model._family_counts()
    rows = credible_interval._needs_draws(model.network_, codes)
    assert rows.any()
    assert not rows.all()
    found = measure_intervals(model.network_, codes, counts, n_draws=200)
    again = measure_intervals(model.network_, codes, counts, n_draws=200)
    np.testing.assert_array_equal(found.low, again.low)
    assert (found.low < found.high).all()
    assert (found.low < found.probabilities).all()
    assert (found.probabilities < found.high).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_factors_add(n_classes):
    model = fitted_model("factors", n_classes)
    network = model.network_
    codes = random_codes(network.schema, 5)
    found = measure_intervals(network, codes, level=0.95)
    for row, p, low, high in zip(
        codes, found.probabilities, found.low, found.high, strict=True
    ):
        variances = np.zeros((n_classes, n_classes))
        for table in network.factors.tables:
            cell = int(table.factor.cells(row[:, None])[0])
            errors = table.errors[cell]
            if n_classes == 2:
                variances += np.full((2, 2), errors.sum() ** 2)
            else:
                variances += np.diag(errors**2)
        for k in range(n_classes):
            gradient = -p / (1 - p[k])
            gradient[k] = 1.0
            variance = gradient @ variances @ gradient
            if n_classes == 2:
                variance = variances[0, 0]
            sd = 1.959964 * variance**0.5
            np.testing.assert_allclose(low[k], expit(logit(p[k]) - sd), atol=1e-6)
            np.testing.assert_allclose(high[k], expit(logit(p[k]) + sd), atol=1e-6)


def test_more_samples_give_narrower_intervals():
    X, y = training_data(2)
    one = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    ten = BayesNetClassifier(structure="nb", parameters="fe")
    ten.fit({k: v * 10 for k, v in X.items()}, np.tile(y, 10))
    row = {name: column[:1] for name, column in X.items()}
    few, many = one.credible_interval(row), ten.credible_interval(row)
    assert (many.high - many.low < few.high - few.low).all()


def test_no_counts_no_intervals(tmp_path):
    model = fitted_model("nb")
    row = {name: [None] for name in model.feature_names_in_}
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    with pytest.raises(CapabilityError, match="no counts of the families"):
        loaded.credible_interval(row)
    X, y = training_data(2)
    again = loaded.credible_interval(row, training_data=(X, y))
    np.testing.assert_array_equal(again.low, model.credible_interval(row).low)
    by_loss = BayesNetClassifier(structure="nb", parameters="rcl").fit(X, y)
    with pytest.raises(CapabilityError, match="learners that keep counts"):
        by_loss.credible_interval(row)
    with pytest.raises(InputError, match="level must be"):
        model.credible_interval(row, level=1.0)
    frame = model.credible_interval(row).to_frame()
    assert list(frame) == ["sample", "class", "probability", "low", "high"]


def test_result_says_where_factors_are_treated_as_independent(tmp_path):
    model = fitted_model("factors")
    X, y = training_data(2)
    row = {name: column[:1] for name, column in X.items()}
    joint = model.credible_interval(row)
    assert not joint.independent.any()
    assert "independent" not in str(joint)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    found = loaded.credible_interval(row)
    assert found.independent.all()
    assert "treated as independent" in str(found)
    assert "Factors as if independent" in found.to_svg()
    again = loaded.credible_interval(row, training_data=(X, y))
    assert not again.independent.any()


@pytest.mark.parametrize("kind", ["nb", "factors"])
def test_no_samples(kind):
    model = fitted_model(kind)
    codes = model.encode(training_data(2)[0])[:0]
    with pytest.raises(InputError, match="credible_interval needs at least one"):
        measure_intervals(model.network_, codes)
    with pytest.raises(InputError, match="explain needs at least one"):
        explain_samples(model.network_, codes)
    if kind == "nb":
        with pytest.raises(InputError, match="typicality needs at least one"):
            measure_typicality(model.network_, codes)
