from __future__ import annotations

import numpy as np
import pytest

import tanager
from tanager import (
    KDB,
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    FactorSearch,
    Frequency,
    GumbelTree,
    HillClimbing,
    KeepTables,
    LogLinearNetwork,
    NaiveBayes,
    RandomTree,
    ResidualTree,
    datasets,
)
from tanager.registry import parts_from


def test_all_parts_suit_each_other():
    encoder, structure, parameters = parts_from("auto", "auto", "auto")
    assert encoder.numeric.n_bins == 254
    assert encoder.missing == "state"
    assert isinstance(structure, FactorSearch)
    assert isinstance(parameters, KeepTables)


def test_the_parts_of_a_residual_tree_suit_each_other():
    encoder, structure, parameters = parts_from("auto", "tan-res", "auto")
    assert encoder.numeric.n_bins == 50
    assert isinstance(structure, ResidualTree)
    assert structure.smooth
    assert isinstance(parameters, ConditionalLikelihood)
    assert parameters.smooth
    assert structure.pair_bins == parameters.pair_bins


@pytest.mark.parametrize(
    "structure", [NaiveBayes(), ChowLiu(), RandomTree(), "tan-res"]
)
def test_trees_get_smooth_tables(structure):
    encoder, found, parameters = parts_from("auto", structure, "auto")
    assert not isinstance(structure, str) or isinstance(found, ResidualTree)
    assert parameters.smooth
    assert encoder.numeric.n_bins == 50


def test_residual_trees_by_name_are_as_smooth_as_their_tables():
    _, structure, _ = parts_from("auto", "2-tree-res", "auto")
    assert (structure.k, structure.smooth, structure.pair_bins) == (2, True, 6)
    _, structure, _ = parts_from("auto", "2-tree-res", "rcl")
    assert (structure.k, structure.smooth) == (2, False)
    _, structure, _ = parts_from("mdl", "tan-res", ConditionalLikelihood(smooth=True))
    assert not structure.smooth
    given = ResidualTree(k=2)
    _, structure, _ = parts_from("auto", given, "auto")
    assert structure.get_params() == given.get_params()


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (KDB(), Frequency),
        (HillClimbing(), Frequency),
        ("tan-omi-cr", Frequency),
        (GumbelTree(), KeepTables),
    ],
)
def test_other_structures_keep_their_tables_or_count(structure, expected):
    encoder, _, parameters = parts_from("auto", structure, "auto")
    assert isinstance(parameters, expected)
    assert encoder.numeric == "mdl"


@pytest.mark.parametrize("parameters", ["fe", "ml", "cl", "rcl", "dfe"])
def test_other_tables_are_those_of_a_tree_by_few_bins(parameters):
    encoder, structure, _ = parts_from("auto", "auto", parameters)
    assert encoder.numeric == "mdl"
    assert isinstance(structure, ChowLiu)


def test_the_tree_of_given_smooth_tables_has_their_bins():
    given = ConditionalLikelihood(C=1.0, smooth=True, pair_bins=4)
    _, structure, parameters = parts_from("width", "auto", given)
    assert (structure.smooth, structure.pair_bins) == (True, 4)
    assert parameters is not given


def test_batches_are_counted():
    encoder, structure, parameters = parts_from("auto", "auto", "auto", counting=True)
    assert encoder.numeric == "mdl"
    assert isinstance(structure, ChowLiu)
    assert isinstance(parameters, Frequency)


# The classifier


def test_the_default_is_a_sum_of_factors():
    iris = datasets.load("iris")
    model = BayesNetClassifier().fit(iris.X, iris.y)
    assert isinstance(model.network_, LogLinearNetwork)
    assert isinstance(model.structure_, FactorSearch)
    assert model.encoder_.numeric.n_bins == 254
    assert model.score(iris.X, iris.y) > 0.95
    named = BayesNetClassifier(*parts_from("auto", "auto", "auto")).fit(iris.X, iris.y)
    assert np.array_equal(model.predict_proba(iris.X), named.predict_proba(iris.X))


def test_batches_by_default():
    iris = datasets.load("iris")
    model = BayesNetClassifier().partial_fit(iris.X, iris.y)
    assert model.encoder_.numeric == "mdl"
    counted = BayesNetClassifier("mdl", "tan", "fe").fit(iris.X, iris.y)
    assert np.array_equal(model.predict_proba(iris.X), counted.predict_proba(iris.X))
    model.partial_fit(iris.X, iris.y)
    whole = BayesNetClassifier().fit(iris.X, iris.y)
    assert not hasattr(whole, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        whole.partial_fit(iris.X, iris.y)
    assert isinstance(caught.value.__cause__, CapabilityError)
    assert "FactorSearch needs all samples at once" in str(caught.value.__cause__)


def test_boosting_counts_by_default():
    iris = datasets.load("iris")
    boosted = BoostedClassifier(BayesNetClassifier(), n_estimators=2)
    boosted.fit(iris.X, iris.y)
    first = BayesNetClassifier("mdl", "tan", "fe").fit(iris.X, iris.y).network_
    assert boosted.networks_[0].edges == first.edges


def test_the_name_of_the_default():
    assert BayesNetClassifier.from_name("Auto").get_params() == (
        BayesNetClassifier().get_params()
    )
    assert "auto" in tanager.names()
    with pytest.raises(tanager.InputError, match="Known: 'auto'"):
        parts_from("foo", "auto", "auto")


def test_there_is_nothing_to_tune():
    for model in (BayesNetClassifier(), BoostedClassifier(BayesNetClassifier())):
        with pytest.raises(tanager.InputError, match=r"Nothing to tune: .*'auto'"):
            tanager.tuning_space(model)


def test_classifiers_of_networks_have_no_learners():
    iris = datasets.load("iris")
    model = BayesNetClassifier().fit(iris.X, iris.y)
    again = BayesNetClassifier.from_network(model.network_)
    assert not hasattr(again, "parameters_")
    with pytest.raises(CapabilityError, match="made from a network"):
        again.partial_fit(iris.X, iris.y)


def test_noise_is_not_learned():
    random = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    X, rows = random.normal(size=(60, 60)), random.normal(size=(500, 60))
    found = BayesNetClassifier().fit(X, y).predict_log_proba(rows)
    loss = -found[np.arange(500), random.integers(0, 2, 500)].mean()
    assert loss < 0.8  # ln 2 = 0.693 is that of the prior


def test_columns_that_name_rows_are_not_joined():
    names = [f"name {k}" for k in range(120)]
    X = {"name": names, "ticket": names[::-1], "size": np.arange(120.0) % 7}
    y = np.arange(120) % 7 < 3
    model = BayesNetClassifier(structure="tan-res")
    model.set_params(encoder__identifiers="keep").fit(X, y)
    assert model.network_.parents("name") == ("class",)
    assert model.network_.parents("ticket") == ("class",)
    factors = BayesNetClassifier().set_params(encoder__identifiers="keep").fit(X, y)
    assert not factors.network_.interactions


def test_a_file_keeps_the_default(tmp_path):
    iris = datasets.load("iris")
    model = BayesNetClassifier().fit(iris.X, iris.y)
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert again.get_params() == model.get_params()
    assert again.encoder_.numeric.n_bins == 254
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))
