from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import tanager
from tanager import (
    APN,
    ELR,
    KDB,
    BayesNetClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    EqualWidthEncoder,
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
    Schema,
    Variable,
)
from tanager.data import ArrayData
from tanager.losses import HybridLoss
from tanager.registry import (
    PAPERS,
    describe,
    encoder_from,
    names,
    parameters_from,
    parse,
    part_classes,
    parts_from,
    structure_from,
)
from tanager.registry.short_names import PARAMETERS, STRUCTURES
from tanager.scores import K2, ClassificationRate
from tests.reference.search import moral_width

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
    [("TAN-RES-RCL", 1), ("2-tree-RES-RCL", 2), ("12-TREE-RES-rcl", 12)],
)
def test_residual_trees_by_name(name, k):
    recipe = parse(name)
    assert isinstance(recipe.structure, ResidualTree)
    assert recipe.structure.k == k
    assert recipe.parameters.get_params()["interactions"] == 2
    assert recipe.parameters.C == "cv"
    assert isinstance(parse(name[:-3] + "ML").parameters, Frequency)
    assert structure_from(name[:-4]).k == k


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
        ("2-parent-Gumbel", {"k": 2}),
        ("TAN-Subset8", {"n_candidates": 8}),
        ("tan-subset20", {"n_candidates": 20}),
        ("3-parent-Subset5", {"k": 3, "n_candidates": 5}),
        ("TAN-All", {"n_candidates": None}),
        ("2-parent-ALL", {"k": 2, "n_candidates": None}),
        ("TAN-Free", {"order": None}),
        ("TAN Subset 5", {"n_candidates": 5}),
        ("TAN-HeuristicA", {"order": "rows", "candidates": "nearest"}),
        ("tan-heuristicb", {"order": "diagonal", "candidates": "nearest"}),
        ("TAN Heuristic C", {"order": "centre", "candidates": "nearest"}),
        (
            "TAN-HeuristicC2",
            {"order": "centre", "candidates": "nearest", "n_candidates": 2},
        ),
    ],
)
def test_trees_by_gradient_by_name(name, arguments):
    expected = GumbelTree(**arguments)
    assert structure_from(name).get_params() == expected.get_params()
    recipe = parse(f"{name}-HYB")
    assert isinstance(recipe.structure, GumbelTree)
    assert isinstance(recipe.parameters, KeepTables)
    # Loss and schedule are those of the other structures.
    same = parse("NB-HYB").parameters.get_params(deep=False)
    shared = {key for key in same if key in expected.get_params(deep=False)}
    assert {"loss", "epochs", "batch_size", "rate", "decay", "start"} <= shared
    expected.set_params(**{key: same[key] for key in shared})
    assert repr(recipe.structure) == repr(expected)


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("TAN-Gumbel-ML", Frequency),
        ("TAN-Subset8-CL", ELR),
        ("TAN-Subset8-RCL", ConditionalLikelihood),
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


@pytest.mark.parametrize(
    "name",
    ["2-parent-Free-HYB", "2-tree-Gumbel-HYB", "TAN-Subset-HYB", "Gumbel-HYB",
     "TAN-HeuristicD-HYB"],
)  # fmt: skip
def test_trees_by_gradient_that_are_none(name):
    with pytest.raises(InputError, match="Unknown method"):
        parse(name)


def test_every_name_parses_fits_and_describes_itself():
    # Four features, as the pixels of TAN Heuristic form a square.
    X = [
        ["a", 1.0, 0, "p"],
        ["b", 2.0, 1, "p"],
        ["a", 3.0, 0, "q"],
        ["b", None, 0, "q"],
    ]
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
    [
        ("TAN-CM-ML", "TAN-CMI-ML"),
        ("TAN-ML", "TAN-CMI-ML"),
        ("TAN-ELR", "TAN+ELR"),
        ("NB+F", "NB+FE"),
        ("nb_ml", "NB-ML"),
    ],
)
def test_unknown_names_list_the_nearest(name, near):
    with pytest.raises(InputError, match="Did you mean") as error:
        parse(name)
    assert near in str(error.value)


def test_structures_without_parameters_list_their_names():
    with pytest.raises(InputError, match=r"'NB-ML', 'NB\+FE'.* and \d more") as error:
        parse("NB")
    assert "TAN" not in str(error.value)


def test_unknown_names_list_those_of_the_same_structure():
    with pytest.raises(InputError, match="With this structure") as error:
        parse("Factors-ML")
    assert "'Factors'" in str(error.value)
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
    for name, convex in (("NB-RCL", True), ("KDB2-RCL", False)):
        model = BayesNetClassifier.from_name(name).fit(X, y)
        assert (model.parameters_.fallback_ is None) == convex
        assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-",
        "+",
        "NB",
        "TAN-ML",
        "NB*ML",
        "KDB-ML",
        "NB-keep",
        "Factors4",
        "0-tree-CR-ML",
        7,
    ],
)
def test_halves_of_names_are_refused(name):
    with pytest.raises(InputError, match="Unknown method"):
        parse(name)


# What names of the papers mean


def test_cl_is_conjugate_gradient_from_the_tables_of_ml():
    learner = parse("TAN-CMI-CL").parameters
    assert repr(learner) == repr(ELR(solver="cg", folds=5, zero=1e-5))
    assert repr(parameters_from("cl")) == repr(learner)
    assert repr(parse("TAN+ELR").parameters) == repr(ELR(solver="cg", folds=5))


def test_penalised_likelihoods_have_names_of_their_own():
    plain, smooth = (parse(f"NB-{name}").parameters for name in ("RCL", "SCL"))
    for learner in (plain, smooth):
        assert isinstance(learner, ConditionalLikelihood)
        assert learner.C == "cv"
        assert isinstance(learner.fallback, ELR)
    assert not plain.smooth
    assert smooth.smooth


def test_smooth_names_are_what_auto_chooses():
    for structure, name in (
        ("nb", "NB-SCL"), ("tan", "TAN-CMI-SCL"), ("2-tree-res", "2-tree-RES-SCL"),
    ):  # fmt: skip
        _, tree, tables = parts_from("auto", structure, "auto")
        recipe = parse(name)
        assert repr(recipe.structure) == repr(tree)
        assert repr(recipe.parameters) == repr(tables)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("TAN-OMI-CRML-CL", "TAN-OMI-CR-CL"),
        ("2-tree-OMI-CRML-ML", "2-tree-OMI-CR-ML"),
        ("Chow-Liu-ML", "TAN-CMI-ML"),
        ("TAN Random-HYB", "TAN-Random-HYB"),
        ("TAN-CR+CL", "TAN-CR-CL"),
        ("TAN Subset 8 HYB", "TAN-Subset8-HYB"),
        ("2 tree CR ML", "2-tree-CR-ML"),
        (" NB-ML ", "NB-ML"),
        ("NB-ELR", "NB+ELR"),
    ],
)
def test_other_spellings_of_the_papers(name, same):
    one, two = parse(name), parse(same)
    assert repr(one.structure) == repr(two.structure)
    assert repr(one.parameters) == repr(two.parameters)


def test_theta_is_a_search_over_probabilities():
    for name, learner in (("ELR", ELR), ("APN", APN)):
        found = parse(f"TAN+{name}_theta").parameters
        assert repr(found) == repr(learner(solver="cg-theta"))
        assert repr(parameters_from(f"{name.lower()}_theta")) == repr(found)


def test_pseudo_tan_is_a_whole_method():
    recipe = parse("Pseudo-TAN")
    assert repr(recipe.structure) == repr(GumbelTree(order="cyclic"))
    assert isinstance(recipe.parameters, KeepTables)
    with pytest.raises(InputError, match=r"With this structure.*'Pseudo-TAN'"):
        parse("Pseudo-TAN-ML")
    paper = parse("pseudo TAN", "roth2020").structure
    assert (paper.order, paper.epochs, paper.structure_rate) == ("cyclic", 500, 1e-3)


def test_explaining_away_by_name():
    assert repr(structure_from("tan-ear")) == repr(ChowLiu(criterion="ear"))


def test_crcl_learns_cl_for_every_candidate():
    for name in ("TAN-OMI-CRCL-CL", "TAN-OMI-CRCL-ML"):
        score = parse(name).structure.score
        assert isinstance(score, ClassificationRate)
        assert repr(score._learner()) == repr(parameters_from("cl"))
    own = parse("TAN-OMI-CRRCL-ML").structure.score._learner()
    assert isinstance(own, ConditionalLikelihood)


SPELLINGS = [
    spelling for entry in STRUCTURES if not entry.whole for spelling in entry.listed
]


@pytest.mark.parametrize("structure", SPELLINGS)
def test_every_structure_takes_every_parameter_learner(structure):
    for entry in PARAMETERS:
        if not entry.alone:
            for sign in "+-":
                name = f"{structure}{sign}{entry.name}"
                if name.startswith("TAN-") and structure == "TAN":
                    continue  # "TAN-CL" is a structure
                recipe = parse(name)
                expected = structure_from(structure)
                assert type(recipe.structure) is type(expected)
                assert recipe.boosted == entry.boosted


KINDS = ("tree", "parent")


@pytest.mark.parametrize(
    "name", ["2-tree-CR", "2-tree-CL", "2-tree-SuperParent", "2-tree-OMI-CR",
             "3-tree-RO-CR", "2-tree-OMISP-CR"],
)  # fmt: skip
def test_k_trees_have_a_bounded_treewidth(name):
    k = int(name[0])
    random = np.random.default_rng(3)
    variables = tuple(Variable(f"f{j}", (0, 1, 2)) for j in range(6))
    schema = Schema((*variables, Variable("class", (0, 1))), target=6)
    codes = np.asfortranarray(random.integers(0, 3, (60, 6)), dtype=np.uint8)
    data = ArrayData(schema, codes, random.integers(0, 2, 60).astype(np.uint8))
    learner, other = (structure_from(name.replace("tree", kind)) for kind in KINDS)
    assert (learner.k, learner.treewidth) == (k, True)
    assert (other.k, other.treewidth) == (k, False)
    assert structure_from(f"TAN{name[6:]}").treewidth is False

    def width(learner):
        result = learner.learn(data, random_state=np.random.default_rng(0))
        parents = [list(of) for of in result.structure.feature_parents[:-1]]
        assert max(map(len, parents)) <= k
        return moral_width(parents)

    assert width(learner) <= k
    # The likelihood rises with every arc, so there are as many as there may be.
    assert width(learner.set_params(score="ll")) == k
    if name == "2-tree-CR":
        assert width(other.set_params(score="ll")) > k


# Presets by paper


@pytest.mark.parametrize("paper", PAPERS)
def test_every_method_of_a_paper_is_one_call(paper):
    X = [["a", 1.0, 0, 1], ["b", 2.0, 0, 1], ["a", 3.0, 1, 0], ["b", 4.0, 1, 1]] * 5
    assert names(paper) == tanager.names(paper)
    for name in names(paper):
        recipe = parse(name, paper)
        model = BayesNetClassifier.from_name(name, paper=paper, random_state=0)
        options = model._options()
        assert repr(options.encoder) == repr(recipe.encoder)
        assert repr(options.structure) == repr(recipe.structure)
        for part in ("structure", "parameters"):
            if f"{part}__epochs" in model.get_params():
                model.set_params(**{f"{part}__epochs": 1})
        found = model.fit(X, [0, 1, 1, 0] * 5).predict_proba(X)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_settings_of_papers():
    weka = parse("hgc+dfe", "su2008")
    assert repr(weka.structure.score) == repr(K2(weight=0.5))
    assert repr(weka.encoder.numeric) == repr(EqualWidthEncoder(n_bins=10))
    assert weka.structure.max_parents == 2
    assert repr(parse("NB-ML", "roth2020").parameters) == repr(Frequency(alpha=1.0))
    assert parse("NB-ML", "pernkopf2010").parameters.zero == 1e-5
    tree = parse("TAN Subset 8-HYB", "Roth2020").structure
    assert (tree.epochs, tree.rate, tree.structure_rate) == (500, 3e-3, 1e-3)
    assert (tree.start, tree.decay, tree.temperature) == ("random", 1e-3, (10.0, 0.1))
    fixed = parse("Chow-Liu-HYB", "roth2020").parameters
    assert (fixed.epochs, fixed.rate, fixed.start) == (500, 3e-3, "random")
    assert fixed.loss.get_params() == tree.loss.get_params()
    plain = parse("GBN+ELR", "greiner2005")
    assert repr(plain.parameters) == repr(ELR())
    assert plain.encoder.numeric == "mdl"


@pytest.mark.parametrize(
    ("name", "paper", "same"),
    [
        ("TAN-ELR", "greiner2005", "TAN+ELR"),
        ("tan elr", "greiner2005", "TAN+ELR"),
        ("HGC FE", "su2008", "HGC+FE"),
        ("TAN Subset 8 HYB", "roth2020", "TAN-Subset8-HYB"),
        ("TAN-OMI-CRML+CL", "pernkopf2010", "TAN-OMI-CR-CL"),
    ],
)
def test_signs_make_no_difference_in_a_paper(name, paper, same):
    one, two = parse(name, paper), parse(same, paper)
    assert one.name == name
    assert repr(one.structure) == repr(two.structure)
    assert repr(one.parameters) == repr(two.parameters)


def test_settings_are_described():
    about = describe("NB-ML", "roth2020")
    assert about.endswith("; settings of roth2020: parameters__zero=None")
    assert describe("NB+FE", "su2008").endswith("; settings of su2008")


def test_settings_are_not_shared():
    one, two = (parse("HGC+FE", "su2008").structure for _ in range(2))
    assert one.score is not two.score


def test_arguments_of_parts_in_the_same_call():
    model = BayesNetClassifier.from_name(
        "GBN+ELR", paper="greiner2005", encoder="width",
        structure__threshold=0.05, parameters__max_iter=10,
    )  # fmt: skip
    assert (model.structure.threshold, model.parameters.max_iter) == (0.05, 10)
    assert model.encoder == "width"
    with pytest.raises(ValueError, match="Invalid parameter 'treshold'"):
        BayesNetClassifier.from_name("GBN+ELR", structure__treshold=0.05)


@pytest.mark.parametrize(
    ("name", "paper", "message"),
    [
        ("NB+FE", "su2009", "Unknown paper 'su2009'. Did you mean 'su2008'"),
        ("NB+FE", "x", "Unknown paper 'x'. Known: 'greiner2005', 'su2008'"),
        ("TAN+FE", "su2008", r"su2008 has no method 'TAN\+FE'; it has 'NB\+DFE'"),
        ("TAN-OMI-CR-RCL", "pernkopf2010", "pernkopf2010 has no method"),
        (7, "su2008", "su2008 has no method 7"),
    ],
)
def test_what_a_paper_does_not_have(name, paper, message):
    with pytest.raises(InputError, match=message):
        parse(name, paper)


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
