import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    ParameterSampler,
    RandomizedSearchCV,
)

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    GumbelTree,
    KeepTables,
    LossMinimizer,
    NaiveBayes,
    datasets,
    names,
    tuning_resource,
    tuning_space,
)
from tanager.classifiers.search_space import tunable_names
from tanager.errors import InputError
from tanager.losses import HybridLoss, MarginLoss

WEIGHTS = ("lambda_", "gamma", "eta", "rate")


class Trained(NaiveBayes):
    """A structure learner that is trained in epochs, with a loss of its choice."""

    default_loss = HybridLoss

    def __init__(self, *, loss=None, epochs=9, rate=0.03):
        self.loss = loss
        self.epochs = epochs
        self.rate = rate


def test_the_ranges_of_the_paper():
    space = tuning_space(BayesNetClassifier.from_name("NB-HYB"))
    assert list(space) == [
        *(f"parameters__loss__{name}" for name in WEIGHTS[:3]),
        "parameters__rate",
    ]
    random = np.random.default_rng(0)
    for name, low, high in (("lambda_", 1, 3), ("gamma", -1, 2)):
        drawn = space[f"parameters__loss__{name}"].rvs(2000, random_state=0)
        uniform = stats.uniform(low, high - low)
        assert stats.kstest(np.log10(drawn), uniform.cdf).pvalue > 0.01
    drawn = space["parameters__loss__eta"].rvs(2000, random_state=random)
    assert stats.kstest(drawn, stats.uniform(1, 19).cdf).pvalue > 0.01
    assert space["parameters__rate"] == [3e-3, 3e-2]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (LossMinimizer(), ["parameters__rate"]),
        (
            LossMinimizer(loss=MarginLoss()),
            ["parameters__loss__gamma", "parameters__loss__eta", "parameters__rate"],
        ),
    ],
)
def test_only_what_is_there_is_tuned(parameters, expected):
    model = BayesNetClassifier(parameters=parameters)
    assert list(tuning_space(model)) == expected
    assert tuning_resource(model) == "parameters__epochs"


def test_a_part_that_chooses_its_loss_is_given_one():
    model = BayesNetClassifier(structure=Trained(), parameters="fe")
    space = tuning_space(model)
    assert list(space) == [
        "structure__loss",
        *(f"structure__loss__{name}" for name in WEIGHTS[:3]),
        "structure__rate",
    ]
    assert tuning_resource(model) == "structure__epochs"
    (drawn,) = ParameterSampler(space, 1, random_state=0)
    tuned = clone(model).set_params(**clone(drawn, safe=False))
    assert tuned.structure.loss.lambda_ == drawn["structure__loss__lambda_"]
    # A loss that was given is not replaced.
    model = BayesNetClassifier(structure=Trained(loss=MarginLoss()))
    assert "structure__loss" not in tuning_space(model)


def test_parts_that_are_both_trained():
    model = BayesNetClassifier(
        structure=Trained(), parameters=LossMinimizer(loss=MarginLoss())
    )
    space = tuning_space(model)
    assert {"structure__loss__gamma", "parameters__loss__gamma"} < set(space)
    assert tuning_resource(model) == "structure__epochs"


def test_parts_of_a_boosted_classifier():
    inner = BayesNetClassifier(
        structure="nb", parameters=LossMinimizer(loss=HybridLoss())
    )
    boosted = BoostedClassifier(inner)
    assert "estimator__parameters__loss__gamma" in tuning_space(boosted)
    assert tuning_resource(boosted) == "estimator__parameters__epochs"


def test_every_name_is_tunable_or_says_that_it_is_not():
    tunable = tunable_names()
    for name in names():
        model = BayesNetClassifier.from_name(name)
        if name in tunable:
            assert tuning_resource(model) in model.get_params()
            (drawn,) = ParameterSampler(tuning_space(model), 1, random_state=0)
            model.set_params(**drawn)
        else:
            for ask in (tuning_space, tuning_resource):
                with pytest.raises(InputError, match="Nothing to tune: none of"):
                    ask(model)


def test_a_name_has_no_arguments_to_tune():
    model = BayesNetClassifier(structure="nb", parameters="hyb")
    with pytest.raises(InputError, match=r"itself, parameters=LossMinimizer\(loss=H"):
        tuning_space(model)


def halving_search(model):
    return HalvingRandomSearchCV(
        model,
        tuning_space(model),
        n_candidates=3,
        resource=tuning_resource(model),
        max_resources=9,
        min_resources="exhaust",
        cv=2,
        random_state=0,
    )


@pytest.mark.parametrize("halving", [False, True])
def test_searches_of_scikit_learn(halving):
    iris = datasets.load("iris")
    model = BayesNetClassifier.from_name("NB-HYB", random_state=0)
    if halving:
        search = halving_search(model)
    else:
        model.set_params(parameters__epochs=3)
        search = RandomizedSearchCV(
            model, tuning_space(model), n_iter=2, cv=2, random_state=0
        )
    search.fit(iris.X, iris.y)
    assert search.best_score_ > 0.8
    found = search.best_estimator_.parameters_
    assert found.loss.gamma == search.best_params_["parameters__loss__gamma"]
    if halving:
        assert list(search.n_resources_) == [3, 9]
        assert found.n_iter_ == 9


def test_structure_and_tables_learned_together():
    model = BayesNetClassifier(
        structure=GumbelTree(batch_size=20), parameters=KeepTables(), random_state=0
    )
    space = tuning_space(model)
    assert list(space)[1:] == [
        *(f"structure__loss__{name}" for name in WEIGHTS[:3]),
        "structure__rate",
    ]
    assert space["structure__rate"] == [None, 3e-3, 3e-2]  # it may choose itself
    given = tuning_space(BayesNetClassifier(structure=GumbelTree(rate=0.1)))
    assert given["structure__rate"] == [3e-3, 3e-2]
    iris = datasets.load("iris")
    search = halving_search(model).fit(iris.X, iris.y)
    assert search.best_score_ > 0.8
    found = search.best_estimator_
    loss = found.structure_.loss
    assert isinstance(loss, GumbelTree.default_loss)
    assert loss.lambda_ == search.best_params_["structure__loss__lambda_"]
    assert len(found.trace_["structure"]) == 9


def test_a_learner_without_a_loss_of_its_choice():
    assert GumbelTree.default_loss is HybridLoss
    assert NaiveBayes.default_loss is LossMinimizer.default_loss is None
