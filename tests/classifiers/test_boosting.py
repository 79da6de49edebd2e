"""Boosted networks: scikit-learn's numbers, any table, and what goes wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

import tanager
from tanager import (
    DFE,
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    ChowLiu,
    Fixed,
    Frequency,
    InputError,
    NaiveBayes,
    TANClassifier,
    datasets,
)
from tests.tolerance import EXACT, assert_close


def coded_rows(n_classes, seed=0, n_rows=300):
    """Integer codes whose classes depend on pairs of columns."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n_rows, 5))
    noise = random.integers(0, 2, n_rows)
    return X, (X[:, 0] + X[:, 1] * (X[:, 2] > 1) + noise) % n_classes


def mixed_rows(n_rows=120):
    """Numbers and categories with holes, three classes, a constant column."""
    random = np.random.default_rng(5)
    y = random.integers(0, 3, n_rows)
    size = np.round(y + 0.7 * random.normal(size=n_rows), 1)
    kind = np.array(["a", "b", "c"], dtype=object)[(y * random.integers(0, 2, n_rows))]
    size[random.random(n_rows) < 0.1] = np.nan
    kind[random.random(n_rows) < 0.1] = None
    X = {"size": size, "kind": kind, "same": np.full(n_rows, "one")}
    return X, np.array(["x", "y", "z"])[y]


# What comes out is what scikit-learn says


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("structure", ["nb", "tan", "tan-random"])
@pytest.mark.parametrize("weighted", [False, True])
def test_members_and_numbers_are_those_of_scikit_learn(n_classes, structure, weighted):
    X, y = coded_rows(n_classes)
    base = BayesNetClassifier("categorical", structure, "fe")
    # Of the same total as rows, so that both scale by the same number.
    weights = np.where(np.arange(len(y)) % 2, 1.5, 0.5) if weighted else None
    arguments = {"n_estimators": 8, "learning_rate": 0.75, "random_state": 3}
    theirs = AdaBoostClassifier(base, **arguments).fit(X, y, weights)
    ours = BoostedClassifier(base, **arguments).fit(X, y, weights)
    for member, network in zip(theirs.estimators_, ours.networks_, strict=True):
        assert member.network_.edges == network.edges
        assert_close(
            network.parameters.log_theta, member.network_.parameters.log_theta, EXACT
        )
    n_members = len(ours.networks_)
    assert n_members > 1
    for name in ("estimator_weights_", "estimator_errors_"):
        assert_close(getattr(ours, name), getattr(theirs, name)[:n_members], EXACT)
    assert_close(ours.predict_proba(X), theirs.predict_proba(X), EXACT)
    assert_close(ours.predict_log_proba(X), theirs.predict_log_proba(X), EXACT)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.numerical
def test_boosting_improves_naive_bayes_on_chess(data_folder):
    data = datasets.load("uci25/chess", folder=data_folder)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy = {
        name: cross_val_score(
            BayesNetClassifier.from_name(name), data.X, data.y, cv=folds
        ).mean()
        for name in ("NB+FE", "NB+Ada")
    }
    assert accuracy["NB+Ada"] > accuracy["NB+FE"] + 0.05


# Any table


def test_the_first_network_is_that_of_the_classifier_itself():
    X, y = mixed_rows()
    base = BayesNetClassifier(parameters="fe", class_weight={"x": 2.0}, n_jobs=2)
    weights = np.arange(len(y)) % 3
    alone = clone(base).fit(X, y, weights)
    first = BoostedClassifier(base, n_estimators=1).fit(X, y, weights).networks_[0]
    assert first.schema == alone.network_.schema
    # Members keep the arcs of a constant feature, which change nothing.
    assert [arc for arc in first.edges if "same" not in arc] == list(
        alone.network_.edges
    )
    for name in ("size", "kind"):
        assert_close(first.table(name).values, alone.network_.table(name).values, EXACT)


def test_missing_cells_are_summed_over_by_every_member():
    X, y = mixed_rows()
    model = BoostedClassifier(TANClassifier(), n_estimators=4).fit(X, y)
    rows = {
        "size": [None, 0.3, None],
        "kind": ["new", None, None],
        "same": ["one", "two", None],
    }
    votes = np.zeros((3, 3))
    for network, weight in zip(model.networks_, model.estimator_weights_, strict=True):
        chosen = BayesNetClassifier.from_network(network).predict(rows)
        votes += np.where(chosen[:, None] == model.classes_, weight, -weight / 2)
    expected = np.exp(votes / model.estimator_weights_.sum() / 2)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_close(model.predict_proba(rows), expected, EXACT)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_a_bit(n_jobs):
    X, y = coded_rows(3, n_rows=30_000)
    rows = X.astype(float)
    rows[::7, 1] = np.nan
    found = [
        BoostedClassifier(TANClassifier("categorical", n_jobs=jobs), n_estimators=3)
        .fit(rows, y)
        .predict_proba(rows)
        for jobs in (None, n_jobs)
    ]
    assert np.array_equal(*found)


def test_missing_and_unknown_can_be_errors():
    X, y = mixed_rows()
    strict = BoostedClassifier(TANClassifier(missing="error"))
    with pytest.raises(InputError, match="missing='error'"):
        strict.fit(X, y)
    texts = {"same": X["same"], "kind": np.where(X["size"] > 1, "a", "b")}
    model = BoostedClassifier(TANClassifier(missing="error", unknown="error"))
    model.fit(texts, y)
    with pytest.raises(InputError, match="'z' in row 1"):
        model.predict({"same": ["one", "one"], "kind": ["a", "z"]})
    with pytest.raises(InputError, match="missing value"):
        model.predict({"same": ["one", None], "kind": ["a", "a"]})


def test_a_class_of_weight_zero_is_known_but_not_learned():
    X, y = mixed_rows()
    base = BayesNetClassifier(structure="nb", class_weight={"z": 0.0})
    model = BoostedClassifier(base, n_estimators=3).fit(X, y)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert "z" not in model.predict(X)
    base.set_params(class_weight={"x": 0, "y": 0, "z": 0})
    with pytest.raises(InputError, match="the weight zero"):
        model.fit(X, y)


def test_relative_weights():
    X, y = mixed_rows()
    plain = BoostedClassifier(n_estimators=3).fit(X, y)
    relative = BoostedClassifier(n_estimators=3)
    relative.fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert_close(relative.predict_proba(X), plain.predict_proba(X), EXACT)


@pytest.mark.parametrize("parameters", [Frequency(zero=1e-5), DFE()])
def test_other_parameter_learners(parameters):
    X, y = mixed_rows()
    base = BayesNetClassifier(structure=ChowLiu(), parameters=parameters)
    model = BoostedClassifier(base, n_estimators=3).fit(X, y)
    assert model.score(X, y) > 0.5
    assert repr(base.parameters) == repr(parameters)


# As an estimator


def test_arguments_are_nested():
    model = BoostedClassifier(BayesNetClassifier(), n_estimators=5)
    model.set_params(estimator__structure="nb", learning_rate=0.5)
    assert model.estimator.structure == "nb"
    assert clone(model).get_params()["estimator__structure"] == "nb"
    X, y = mixed_rows()
    search = GridSearchCV(
        model, {"n_estimators": [1, 3], "estimator__structure": ["nb", "tan"]}, cv=2
    ).fit(np.nan_to_num(X["size"])[:, None], y)
    assert set(search.best_params_) == {"n_estimators", "estimator__structure"}


def test_the_estimator_is_left_alone():
    X, y = mixed_rows()
    base = TANClassifier()
    model = BoostedClassifier(base, n_estimators=2).fit(X, y)
    assert not hasattr(base, "classes_")
    assert model.estimator is base


def test_where_metadata_are_routed():
    X, y = mixed_rows()
    with sklearn.config_context(enable_metadata_routing=True):
        model = BoostedClassifier(n_estimators=2)
        model.fit(X, y, sample_weight=np.ones(len(y)))
    plain = BoostedClassifier(n_estimators=2).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_sources_of_randomness(kind):
    X, y = coded_rows(2)
    base = BayesNetClassifier("categorical", "tan-random")
    found = [
        BoostedClassifier(base, n_estimators=3, random_state=kind(seed)).fit(X, y)
        for seed in (0, 0, 1)
    ]
    edges = [[network.edges for network in model.networks_] for model in found]
    assert edges[0] == edges[1] != edges[2]
    assert edges[0][0] != edges[0][1]


def test_a_model_is_pickled_without_rows():
    X, y = coded_rows(2, n_rows=20_000)
    model = BoostedClassifier(
        BayesNetClassifier("categorical", "nb"), n_estimators=3
    ).fit(X, y)
    written = pickle.dumps(model)
    assert len(written) < 20_000
    again = pickle.loads(written)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


# What goes wrong


def test_a_first_network_that_only_guesses_stands_alone():
    X = {"same": ["a"] * 6, "side": ["u", "v"] * 3}
    y = [0, 0, 1, 1, 2, 2]
    model = BoostedClassifier().fit(X, y)
    assert len(model.networks_) == 1
    assert model.estimator_weights_.tolist() == [1.0]
    assert_close(model.estimator_errors_, [2 / 3], EXACT)
    assert_close(model.predict_proba(X).sum(axis=1), 1.0, EXACT)


def test_errors_of_the_learners_come_through():
    X, y = mixed_rows()
    cyclic = Fixed(edges=[("size", "kind"), ("kind", "nobody")])
    with pytest.raises(InputError, match="Unknown variable 'nobody'"):
        BoostedClassifier(BayesNetClassifier(structure=cyclic)).fit(X, y)
    with pytest.raises(InputError, match="alpha"):
        BoostedClassifier(BayesNetClassifier(parameters=Frequency(alpha=-1))).fit(X, y)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_estimators": 0}, InputError, "n_estimators must be a whole number"),
        ({"n_estimators": 2.5}, InputError, "got 2.5"),
        ({"n_estimators": True}, InputError, "got True"),
        ({"learning_rate": 0.0}, InputError, "learning_rate must be a finite number"),
        ({"learning_rate": float("nan")}, InputError, "got nan"),
        ({"learning_rate": "fast"}, InputError, "got 'fast'"),
        ({"learning_rate": True}, InputError, "got True"),
        ({"random_state": "seed"}, InputError, "random_state must be"),
        ({"estimator": NaiveBayes()}, CapabilityError, "not a BayesNetClassifier"),
        ({"estimator": TANClassifier(missing="drop")}, InputError, "missing must be"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    X, y = coded_rows(2)
    with pytest.raises(error, match=message):
        BoostedClassifier(**arguments).fit(X, y)


@pytest.mark.parametrize(("learning_rate", "errors"), [(1e308, 1), (5e-324, 18)])
@pytest.mark.filterwarnings("ignore:Sample weights have reached infinite values")
@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_learning_rates_beyond_floating_point(learning_rate, errors):
    # Log odds of 3.7 and of 0.2 in 40 rows.
    X = [["a"]] * (20 - errors) + [["b"]] * (20 + errors)
    y = [0] * 20 + [1] * 20
    with pytest.raises(InputError, match="closer to 1"):
        BoostedClassifier(learning_rate=learning_rate).fit(X, y)


def test_one_class():
    with pytest.raises(InputError, match="only one class, 'a'"):
        BoostedClassifier().fit([[1.0], [2.0]], ["a", "a"])


# By name


def test_names_of_the_2008_paper():
    model = BayesNetClassifier.from_name(
        "nb+ada", encoder="width", n_jobs=2, random_state=7, n_estimators=4
    )
    assert isinstance(model, BoostedClassifier)
    assert (model.n_estimators, model.random_state) == (4, 7)
    assert isinstance(model.estimator.structure, NaiveBayes)
    assert (model.estimator.encoder, model.estimator.n_jobs) == ("width", 2)
    tree = TANClassifier.from_name("TAN+Ada")
    assert isinstance(tree.estimator.structure, ChowLiu)
    assert tree.n_estimators == 20  # the number of classifiers in the paper
    assert {"NB+Ada", "TAN+Ada"} <= set(tanager.names())
    with pytest.raises(TypeError, match="nonsense"):
        BayesNetClassifier.from_name("NB+Ada", nonsense=1)
