"""Contributions sum to the log odds and equal their definition by enumeration."""

import numpy as np
import pytest

from tanager import BayesNetClassifier, DataWarning, InputError, Network
from tanager.explain import explain_samples
from tanager.explain.odds_conversion import log_odds_of
from tanager.utils.data_frame import SHOWN_ROWS
from tests.explain.makers import KINDS, fitted_model, random_codes, random_network
from tests.reference.explanations import class_outputs, factor_terms, family_terms

BOTH = pytest.mark.parametrize("by", ["feature", "factor"])
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3])
@EVERY_KIND
@BOTH
def test_sums_to_the_log_odds_of_the_model(kind, n_classes, missing, by):
    model = fitted_model(kind, n_classes)
    codes = random_codes(model.network_.schema, 50, missing=missing)
    found = explain_samples(model.network_, codes, by=by)
    expected = log_odds_of(model.network_.engine.log_joint_block(codes))
    np.testing.assert_allclose(found.log_odds, expected, atol=1e-10)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    both = found.prior + found.evidence_for + found.evidence_against
    np.testing.assert_allclose(both, expected, atol=1e-10)


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(12))
def test_terms_of_general_networks_by_enumeration(seed):
    network = random_network(seed, 4, n_classes=2 + seed % 2)
    codes = random_codes(network.schema, 12, seed, missing=0.4 * (seed % 3 > 0))
    found = explain_samples(network, codes, by="factor")
    for row, values in zip(codes.tolist(), found.values, strict=True):
        prior, terms = family_terms(network, row)
        np.testing.assert_allclose(found.prior, prior, atol=1e-12)
        np.testing.assert_allclose(values, terms[: len(values)], atol=1e-10)
        np.testing.assert_allclose(terms[len(values) :], 0, atol=1e-12)
        total = class_outputs(network, row)
        np.testing.assert_allclose(prior + values.sum(axis=0), total, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_terms_of_factors(n_classes):
    network = fitted_model("factors", n_classes).network_
    assert len(network.interactions) >= 2
    codes = random_codes(network.schema, 20, missing=0.2)
    found = explain_samples(network, codes, by="factor")
    n_shrunk = 0
    for row, values in zip(codes.tolist(), found.values, strict=True):
        prior, terms = factor_terms(network, row)
        np.testing.assert_allclose(found.prior, prior)
        if (row == network.schema.n_states[:-1]).any():
            # The model divides the sum of all terms: so are they.
            total = class_log_odds(network, row) - prior
            if n_classes == 2:
                terms = terms * (total / terms.sum())
                np.testing.assert_allclose(values, terms, atol=1e-9)
            np.testing.assert_allclose(values.sum(axis=0), total, atol=1e-10)
            n_shrunk += 1
        else:
            np.testing.assert_allclose(values, terms, atol=1e-12)
    assert 0 < n_shrunk < 20


def class_log_odds(network, row):
    codes = np.asfortranarray([row], dtype=np.uint8)
    return log_odds_of(network.engine.log_joint_block(codes))[0]


def test_a_factor_is_divided_equally_between_its_features():
    network = fitted_model("factors").network_
    codes = random_codes(network.schema, 20)
    by_factor = explain_samples(network, codes, by="factor")
    by_feature = explain_samples(network, codes)
    expected = np.zeros_like(by_feature.values)
    for t, names in enumerate(by_factor.terms):
        for name in names:
            j = network.schema.index(name)
            expected[:, j] += by_factor.values[:, t] / len(names)
    np.testing.assert_allclose(by_feature.values, expected, atol=1e-12)


def test_the_family_of_a_class_with_parents_is_divided_between_observed_parents():
    steps = [[0.9, 0.1], [0.3, 0.7]]
    network = Network.build(
        {name: [0, 1] for name in "abcd"},
        {
            "a": [0.6, 0.4],
            "b": (["a"], steps),
            "c": [0.5, 0.5],
            "d": (["b", "c"], [[[0.9, 0.1], [0.6, 0.4]], [[0.2, 0.8], [0.5, 0.5]]]),
        },
        target="d",
    )
    rows = [[0, 1, 0], [0, 1, 2], [0, 2, 2], [2, 2, 2]]
    found = explain_samples(network, np.asfortranarray(rows, dtype=np.uint8))
    values = found.values[..., 0]
    assert values[0, 0] == 0
    np.testing.assert_allclose(values[0, 1], values[0, 2])
    assert values[1, 0] == values[1, 2] == 0 != values[1, 1]
    assert values[2, 1] == values[2, 2] == 0 != values[2, 0]
    np.testing.assert_allclose(values[3], 0)
    by_family = explain_samples(network, found.codes, by="factor")
    assert by_family.terms[-1] == ("d", "b", "c")
    assert by_family.label(0, 3) == "d | b = 1, c = 0"
    assert by_family.columns()["value"][4] == "1, 0"


def test_compiled_and_plain_code_give_the_same_terms():
    model = fitted_model("factors")
    codes = random_codes(model.network_.schema, 30_000)
    many = explain_samples(model.network_, codes, by="factor", n_jobs=2)
    few = explain_samples(model.network_, codes[:100], by="factor")
    np.testing.assert_array_equal(many.values[:100], few.values)


def test_sample_without_any_observed_feature_gets_the_prior():
    model = fitted_model("tan")
    names = model.feature_names_in_
    found = model.explain({name: [None] for name in names})
    np.testing.assert_allclose(found.values, 0)
    np.testing.assert_allclose(found.log_odds[0], found.prior)
    assert found.label(0, 0) == "x0 = not observed"


def test_probabilities_of_zero_give_finite_terms():
    network = Network.build(
        {"x": ["a", "b", "c"], "y": [0, 1]},
        {"y": [0.5, 0.5], "x": (["y"], [[0.5, 0.5, 0], [0, 0.5, 0.5]])},
        target="y",
    )
    model = BayesNetClassifier.from_network(network)
    found = model.explain({"x": ["a", "b", "c", None]})
    assert np.isfinite(found.values).all()
    expected = model.predict_proba({"x": ["a", "b", "c", None]})
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_and_labels(n_classes):
    model = fitted_model("nb", n_classes)
    codes = random_codes(model.network_.schema, 3)
    found = explain_samples(model.network_, codes)
    frame = found.to_frame()
    by = ["sample"] if n_classes == 2 else ["sample", "class"]
    sums = frame.groupby(by)["contribution"].sum()
    np.testing.assert_allclose(sums.to_numpy(), found.log_odds.ravel())
    assert ("class" in frame) == (n_classes > 2)
    assert found.label(0, 0).startswith("x0 = ")
    order = found.strongest(0)
    sizes = np.abs(found.of_class()[1][0, order])
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_array_equal(
        found.of_class(found.classes[-1])[1],
        found.values[..., -1],
    )


def test_first_of_two_classes_has_opposite_log_odds():
    found = fitted_model("nb").explain({"x0": ["a"], "x1": ["b"], "x2": ["c"],
                                        "same": ["z"], "size": [0.2]})  # fmt: skip
    prior, values = found.of_class(0)
    assert prior == -found.prior[0]
    np.testing.assert_array_equal(values, -found.values[..., 0])


def test_invalid_arguments():
    model = fitted_model("nb")
    X = {name: [None] for name in model.feature_names_in_}
    with pytest.raises(InputError, match="by must be 'feature' or 'factor'"):
        model.explain(X, by="family")
    with pytest.raises(ValueError, match="feature names should match"):
        model.explain({"other": [1]})
    found = model.explain(X)
    with pytest.raises(InputError, match="Unknown class 7"):
        found.of_class(7)
    with pytest.raises(InputError, match="sample must be a position from 0 to 0"):
        found.strongest(1)


@pytest.mark.parametrize("structure", ["tan", "auto"])
def test_columns_that_the_model_leaves_out_are_in_no_list(structure):
    random = np.random.default_rng(0)
    X = {"id": [f"c{k}" for k in range(60)], "a": random.normal(size=60)}
    model = BayesNetClassifier(structure=structure)
    with pytest.warns(DataWarning, match="identifies samples"):
        model.fit(X, X["a"] > 0)
    found = model.explain(X)
    assert found.terms == (("id",), ("a",))
    assert found.strongest(0).tolist() == [1]
    assert "id" not in str(found).split()
    asked = model.next_question({"id": [None], "a": [None]})
    assert asked.features == ("a",)


def test_long_explanations_print_their_first_samples():
    X = {"a": ["x", "y"] * 30}
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, X["a"])
    found = model.explain(X)
    lines = repr(found).splitlines()
    assert lines[0] == "<Explanation: 60 samples, 1 term>"
    assert len(lines) == 1 + 1 + SHOWN_ROWS + 1
    assert lines[2].split()[:2] == ["0", "x"]
    assert lines[-1] == "... 40 more rows: to_frame()"
    frame = repr(model.effect("a"))
    assert frame.splitlines()[1].split()[0] == "a"
