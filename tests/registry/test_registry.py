from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import tanager
from tanager import (
    KDB,
    BayesNetClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    FactorSearch,
    Frequency,
    GumbelTree,
    InputError,
    KeepTables,
    LossMinimizer,
    NaiveBayes,
    QuantileEncoder,
    RandomTree,
    ResidualTree,
)
from tanager.losses import HybridLoss
from tanager.registry import (
    describe,
    encoder_from,
    names,
    parameters_from,
    parse,
    part_classes,
    structure_from,
)

pytestmark = pytest.mark.contract


@pytest.mark.parametrize(
    ("name", "structure", "zero"),
    [
        ("NB-ML", NaiveBayes, 1e-5),
        ("TAN-CMI-ML", ChowLiu, 1e-5),
        ("TAN-Random-ML", RandomTree, 1e-5),
        ("KDB2-ML", KDB, 1e-5),
        ("NB+FE", NaiveBayes, None),
        ("NB+OFE", NaiveBayes, None),
        ("TAN+FE", ChowLiu, None),
        ("tan-cmi-ml", ChowLiu, 1e-5),
    ],
)
def test_names_stand_for_the_parts_of_the_papers(name, structure, zero):
    recipe = parse(name)
    assert type(recipe.structure) is structure
    assert isinstance(recipe.parameters, Frequency)
    assert recipe.parameters.zero == zero
    assert recipe.parameters.alpha == 1.0


@pytest.mark.parametrize(
    ("name", "k"),
    [("TAN-RES-CL", 1), ("2-tree-RES-CL", 2), ("12-TREE-RES-cl", 12)],
)
def test_residual_trees_by_name(name, k):
    recipe = parse(name)
    assert isinstance(recipe.structure, ResidualTree)
    assert recipe.structure.k == k
    assert recipe.parameters.get_params()["interactions"] == 2
    assert recipe.parameters.C == "cv"
    assert isinstance(parse(name[:-2] + "ML").parameters, Frequency)
    assert structure_from(name[:-3]).k == k


@pytest.mark.parametrize(
    ("name", "order"), [("Factors", 3), ("factors1", 1), ("FACTORS2", 2)]
)
def test_factors_are_whole_methods(name, order):
    recipe = parse(name)
    assert isinstance(recipe.structure, FactorSearch)
    assert recipe.structure.order == order
    assert isinstance(recipe.parameters, KeepTables)
    assert structure_from(name).order == order
    assert "log-linear" in describe(name)


def test_the_name_of_the_default_model():
    X, y = [[1.0, "a"], [2.0, "b"], [None, "a"], [4.0, "b"]] * 20, [0, 1, 1, 0] * 20
    default = BayesNetClassifier().fit(X, y)
    named = BayesNetClassifier.from_name("Factors").fit(X, y)
    assert repr(named.encoder_) == repr(default.encoder_)
    assert np.array_equal(named.predict_proba(X), default.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("TAN-Gumbel", {}),
        ("2-tree-Gumbel", {"k": 2}),
        ("TAN-Subset8", {"n_candidates": 8}),
        ("tan-subset20", {"n_candidates": 20}),
        ("3-tree-Subset5", {"k": 3, "n_candidates": 5}),
        ("TAN-All", {"n_candidates": None}),
        ("2-tree-ALL", {"k": 2, "n_candidates": None}),
        ("TAN-Free", {"order": None}),
    ],
)
def test_trees_by_gradient_by_name(name, arguments):
    expected = GumbelTree(**arguments).get_params()
    recipe = parse(f"{name}-HYB")
    assert isinstance(recipe.structure, GumbelTree)
    assert recipe.structure.get_params() == expected
    assert isinstance(recipe.parameters, KeepTables)
    assert structure_from(name).get_params() == expected


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("TAN-Gumbel-ML", Frequency),
        ("TAN-Subset8-CL", ConditionalLikelihood),
        ("TAN-All-MM", LossMinimizer),
    ],
)
def test_other_parameters_are_learned_for_the_structure(name, learner):
    assert type(parse(name).parameters) is learner


@pytest.mark.parametrize(
    "name", ["NB-HYB", "TAN-CMI-HYB", "TAN-Random-HYB", "TAN-RES-HYB", "KDB2-HYB"]
)
def test_structures_without_tables_have_them_learned(name):
    parameters = parse(name).parameters
    assert type(parameters) is LossMinimizer
    assert type(parameters.loss) is HybridLoss


def test_tables_are_kept_only_where_they_are_handed_over():
    for name in names():
        recipe = parse(name)
        if recipe.parameters.takes_tables:
            assert recipe.structure.gives_tables


@pytest.mark.parametrize("name", ["2-tree-Free-HYB", "TAN-Subset-HYB", "Gumbel-HYB"])
def test_trees_by_gradient_that_are_none(name):
    with pytest.raises(InputError, match="Unknown method"):
        parse(name)


def test_every_name_parses_fits_and_describes_itself():
    X = [["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", None]]
    y = [0, 1, 0, 1]
    listed = names()
    assert len(listed) == len(set(listed)) == len(tanager.names())
    for name in listed:
        assert describe(name)
        model = BayesNetClassifier.from_name(name, random_state=0).fit(X, y)
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("name", "near"),
    [("TAN-CM-ML", "TAN-CMI-ML"), ("NB+F", "NB+FE"), ("nb_ml", "NB-ML")],
)
def test_unknown_names_list_the_nearest(name, near):
    with pytest.raises(InputError, match="Did you mean") as error:
        parse(name)
    assert near in str(error.value)


@pytest.mark.parametrize(
    ("name", "near"),
    [("GBN+CL", "GBN+ELR"), ("GBN-CL", "GBN+ELR"), ("hgc-ml", "HGC+FE"),
     ("KDB2+FE", "KDB2-ML"), ("Factors-ML", "Factors")],
)  # fmt: skip
def test_unknown_names_list_those_of_the_same_structure(name, near):
    with pytest.raises(InputError, match="With this structure") as error:
        parse(name)
    assert repr(near) in str(error.value)
    assert "'NB" not in str(error.value)


@pytest.mark.parametrize("k", [0, 1, 3, 12])
def test_the_number_of_parents_stands_in_the_name(k):
    recipe = parse(f"kdb{k}-ML")
    assert isinstance(recipe.structure, KDB)
    assert recipe.structure.k == k
    assert not recipe.structure.select


def test_conditional_likelihood_fits_every_structure():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    X = (y + random.integers(0, 2, (9, 120))).T.astype(object)
    X[random.random(X.shape) < 0.1] = None
    for name, convex in (("NB-CL", True), ("KDB2-CL", False)):
        model = BayesNetClassifier.from_name(name).fit(X, y)
        assert (model.parameters_.fallback_ is None) == convex
        assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    "name", ["", "-", "+", "NB", "TAN-ML", "NB+ML", "KDB-ML", "KDB2+FE", "Factors4", 7]
)
def test_halves_of_names_are_refused(name):
    with pytest.raises(InputError, match="Unknown method"):
        parse(name)


def test_short_strings_make_parts():
    assert isinstance(structure_from("tan"), ChowLiu)
    assert structure_from("kdb2").k == 2
    assert parameters_from("FE").zero is None
    assert encoder_from("categorical").categorical_features == "all"
    made = encoder_from(QuantileEncoder(n_bins=7))
    assert made.numeric.n_bins == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: structure_from("tn"), "Unknown structure 'tn'"),
        (lambda: parameters_from("mml"), "Unknown parameter learner 'mml'"),
        (lambda: encoder_from("mdll"), "Did you mean 'mdl'"),
    ],
)
def test_unknown_short_strings(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: structure_from(Frequency()),
        lambda: parameters_from(NaiveBayes()),
        lambda: encoder_from(3),
    ],
)
def test_parts_in_the_wrong_place(make):
    with pytest.raises(CapabilityError, match="is not a"):
        make()


@pytest.mark.parametrize("name", sorted(part_classes()))
def test_parts_are_plain_estimators(name):
    part = part_classes()[name]()
    assert clone(part).get_params() == part.get_params()
    for argument, value in part.get_params(deep=False).items():
        assert getattr(part, argument) is value
