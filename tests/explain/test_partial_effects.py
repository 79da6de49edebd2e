"""Curves and surfaces with bands and support."""

import numpy as np
import pytest

from tanager import BayesNetClassifier, InputError
from tanager.explain import Effect, measure_effect
from tests.explain.makers import fitted_model, random_network, training_data
from tests.reference.explanations import class_outputs


@pytest.mark.parametrize("n_classes", [2, 3])
def test_curve_of_factors_is_that_of_the_named_factor(n_classes):
    model = fitted_model("factors", n_classes)
    found = model.effect("size")
    factor = model.network_.log_table("size")
    n_bins = len(found.labels[0])
    np.testing.assert_array_equal(found.values, factor.effects[:n_bins])
    np.testing.assert_array_equal(found.errors, factor.effect_errors[:n_bins])
    assert found.support.sum() == 240
    assert found.labels[0][-1] != "not observed"
    np.testing.assert_array_equal(found.cuts[0], factor.cuts[0])
    frame = found.to_frame()
    column = "log_odds" if n_classes == 2 else "log_weight"
    np.testing.assert_array_equal(frame[column], found.values.ravel())


def test_surface_of_factors():
    found = fitted_model("factors").effect("x1", "x0")
    assert found.features == ("x0", "x1")
    assert found.values.shape == (3, 3, 1)
    assert found.support.sum() == 240


@pytest.mark.numerical
@pytest.mark.parametrize("names", [("v1",), ("v2", "v4")])
def test_effects_of_general_networks_by_enumeration(names):
    network = random_network(3, n_classes=3)
    names = [name for name in names if name in network.schema.names[:-1]]
    found = measure_effect(network, names)
    positions = [network.schema.index(name) for name in names]
    known = network.schema.n_states[:-1].tolist()
    prior = class_outputs(network, known)
    for cell in np.ndindex(found.values.shape[:-1]):
        row = list(known)
        for j, code in zip(positions, cell, strict=True):
            row[j] = code
        expected = class_outputs(network, row) - prior
        np.testing.assert_allclose(found.values[cell], expected, atol=1e-10)
    assert found.errors is None
    assert found.support is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bands_from_counts_are_those_of_dirichlet_posteriors(n_classes):
    model = fitted_model("nb", n_classes)
    found = model.effect("x0")
    X, y = training_data(n_classes)
    x = np.array(X["x0"])
    counts = np.array(
        [[np.sum((x == s) & (y == c)) for c in range(n_classes)] for s in "abc"]
    )
    np.testing.assert_array_equal(found.support, counts.sum(axis=1))
    random = np.random.default_rng(0)
    draws = np.stack([random.dirichlet(n + 1.0, 40_000) for n in counts.T], axis=-1)
    logs = np.log(draws)
    outputs = logs[..., 1:] - logs[..., :1]
    if n_classes > 2:
        outputs = logs - logs.mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.errors, outputs.std(axis=0), rtol=0.02)


def test_features_with_parents_have_support_of_their_own_counts():
    model = fitted_model("tan")
    found = model.effect("x1")
    assert found.support.sum() == 240
    assert found.errors.shape == found.values.shape
    pair = next(p for p in model.network_.edges if p[0] != "class")
    assert model.effect(*pair).support.sum() == 240


def test_invalid_arguments():
    model = fitted_model("nb")
    with pytest.raises(InputError, match="one or two different features"):
        model.effect()
    with pytest.raises(InputError, match="one or two different features"):
        model.effect("x0", "x0")
    with pytest.raises(InputError, match="Unknown feature 'x'"):
        model.effect("x")
    X, y = training_data(2)
    factors = BayesNetClassifier(structure="factors").fit({"size": X["size"]}, y)
    with pytest.raises(InputError, match="Unknown feature 'x0'"):
        factors.effect("x0")


def test_curves_of_many_classes_have_different_colours():
    n_classes = 40
    values = np.zeros((2, n_classes))
    values[0, [3, 13, 23, 33]] = 1.0  # the same place in a palette of ten
    classes = tuple(range(n_classes))
    effect = Effect(("x",), (("a", "b"),), classes, values, None, None, (None,))
    svg = effect.to_svg()
    assert all(f'class="tng-f{k}"' in svg for k in range(6))
