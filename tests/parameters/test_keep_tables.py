"""Tables that a structure learner hands over, kept as they are."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import tanager
from tanager import (
    DFE,
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    ChowLiu,
    Frequency,
    InputError,
    KeepTables,
    LossMinimizer,
    NaiveBayes,
    RandomTree,
)
from tanager.losses import HybridLoss
from tanager.model import FamilyLayout, Parameters
from tanager.registry import names, parameters_from, parse, part_classes, structure_from
from tanager.structure import StructureResult
from tests.strategies import (
    log_linear_network,
    random_data,
    random_parameters,
    random_structure,
)
from tests.tolerance import assert_close


class Joint(ChowLiu):
    """Hands tables over that are unlike any that are counted."""

    gives_tables: ClassVar[bool] = True

    def learn(self, data, *, random_state=None):
        found = super().learn(data, random_state=random_state)
        tables = random_parameters(random_state, data.schema, found.structure)
        return StructureResult(found.structure, found.trace, tables)


class JointByRows(Joint):
    needs = "rows"


class Silent(Joint):
    """Promises tables and learns no CPTs."""

    def learn(self, data, *, random_state=None):
        return ChowLiu().learn(data, random_state=random_state)


def rows(n_rows=60):
    random = np.random.default_rng(5)
    y = random.integers(0, 3, n_rows)
    X = np.empty((n_rows, 3), dtype=object)
    X[:, 0] = np.array(["a", "b", "c"])[(y + random.integers(0, 2, n_rows)) % 3]
    X[:, 1] = np.array(["u", "v"])[random.integers(0, 2, n_rows)]
    X[:, 2] = np.where(X[:, 0] == "a", X[:, 1], "w")
    X[random.random(X.shape) < 0.05] = None
    return X, y


def kept(structure=None, **arguments):
    return BayesNetClassifier(
        structure=Joint() if structure is None else structure,
        parameters=KeepTables(),
        **{"random_state": 0, **arguments},
    )


def problem():
    random = np.random.default_rng(0)
    data = random_data(random, 60, 3, n_classes=2)
    return random_structure(random, data.schema), data


def handed_over(model, seed=0):
    """The tables that the structure learner of a fitted classifier hands over."""
    schema = model.network_.schema
    random = np.random.default_rng(seed)
    return random_parameters(random, schema, model.network_.structure).log_theta


def test_the_tables_are_the_very_ones():
    structure, data = problem()
    start = Frequency(alpha=0.3).learn(structure, data)
    assert KeepTables().learn(structure, data, start=start) is start


@pytest.mark.parametrize("structure", [Joint(), JointByRows()])
def test_a_classifier_has_the_tables_of_the_structure_learner(structure):
    X, y = rows()
    model = kept(structure).fit(X, y)
    found = model.network_.parameters.log_theta
    assert np.array_equal(found, handed_over(model))
    counted = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y)
    assert not np.allclose(found, counted.network_.parameters.log_theta)
    assert model.trace_["parameters"] == []
    assert isinstance(model.parameters_, KeepTables)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_by_short_name():
    assert isinstance(parameters_from("keep"), KeepTables)
    assert isinstance(parameters_from("KEEP"), KeepTables)
    X, y = rows()
    short = BayesNetClassifier(structure=Joint(), parameters="keep", random_state=0)
    expected = kept().fit(X, y).predict_proba(X)
    assert np.array_equal(short.fit(X, y).predict_proba(X), expected)


def test_the_short_name_stands_in_no_method():
    assert not any("keep" in name.lower() for name in names())
    for name in ("NB-keep", "TAN-CMI-keep", "TAN+keep"):
        with pytest.raises(InputError, match="Unknown method"):
            parse(name)


def test_sums_of_tables_are_kept():
    network = log_linear_network(np.random.default_rng(3), n_classes=3)
    data = random_data(np.random.default_rng(3), 5, 5, n_classes=3)
    assert not network.parameters.layout.is_full(network.structure)
    assert data.schema == network.schema
    tables = KeepTables().learn(network.structure, data, start=network.parameters)
    assert tables is network.parameters


@pytest.mark.parametrize("structure", ["nb", "tan", RandomTree(), NaiveBayes()])
def test_structure_learners_without_tables_are_refused_before_any_work(structure):
    X, y = rows()
    model = kept(structure)
    who = type(structure_from(structure)).__name__
    message = (
        rf"KeepTables keeps .* {who} learns no CPTs .* GumbelTree\(\), .*Frequency\(\)"
    )
    with pytest.raises(CapabilityError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "network_")
    assert not hasattr(model, "partial_fit")


def test_no_tables_in_spite_of_the_promise():
    X, y = rows()
    with pytest.raises(CapabilityError, match=r"there are none\. Use .* GumbelTree"):
        kept(Silent()).fit(X, y)
    structure, data = problem()
    with pytest.raises(CapabilityError, match="there are none"):
        KeepTables().learn(structure, data)


def test_tables_of_another_structure_are_refused():
    structure, data = problem()
    other = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    start = Parameters(other, np.log(np.full(6, 0.5)))
    with pytest.raises(InputError, match=r"to keep .* 2 CPTs with 6 entries"):
        KeepTables().learn(structure, data, start=start)


def test_tables_of_other_arcs_are_refused():
    random = np.random.default_rng(1)
    data = random_data(random, 60, 4, n_classes=2)
    tree = ChowLiu().learn(data, random_state=random).structure
    naive = NaiveBayes().learn(data).structure
    with pytest.raises(InputError, match="other families or states"):
        KeepTables().learn(naive, data, start=Frequency().learn(tree, data))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_logarithms_are_refused(value):
    structure, data = problem()
    log_theta = Frequency().learn(structure, data).log_theta.copy()
    layout = FamilyLayout.of_structure(data.schema, structure)
    log_theta[0] = value
    with pytest.raises(InputError, match="no logarithms of probabilities"):
        KeepTables().learn(structure, data, start=Parameters(layout, log_theta))
    log_theta[0] = -np.inf  # probability zero
    start = Parameters(layout, log_theta)
    assert KeepTables().learn(structure, data, start=start) is start


def test_a_warm_start_takes_the_tables_that_are_handed_over():
    X, y = rows()
    model = kept(warm_start=True, random_state=1).fit(X, y)
    first = model.network_.parameters.log_theta
    model.set_params(random_state=2).fit(X, y)
    second = model.network_.parameters.log_theta
    assert np.array_equal(second, handed_over(model, seed=2))
    assert not np.array_equal(first, second)


def test_a_warm_start_after_other_learners():
    X, y = rows()
    model = BayesNetClassifier(structure=Joint(), warm_start=True, random_state=0)
    model.fit(X, y).set_params(parameters=KeepTables()).fit(X, y)
    expected = handed_over(model)
    assert np.array_equal(model.network_.parameters.log_theta, expected)
    model.set_params(structure="tan")
    with pytest.raises(CapabilityError, match="ChowLiu learns no CPTs"):
        model.fit(X, y)
    assert np.array_equal(model.network_.parameters.log_theta, expected)


def test_iterative_learners_start_from_the_tables_and_others_ignore_them():
    X, y = rows()

    def tables(structure, parameters):
        model = BayesNetClassifier(
            structure=structure, parameters=parameters, random_state=0
        )
        return model.fit(X, y).network_.parameters.log_theta

    assert np.array_equal(tables(Joint(), "fe"), tables("tan", "fe"))
    few = LossMinimizer(loss=HybridLoss(), epochs=1, rate=1e-9)
    assert_close(tables(Joint(), few), tables(Joint(), "keep"), 1e-6)
    assert not np.allclose(tables("tan", few), tables(Joint(), few), atol=0.1)


def test_batches():
    X, y = rows()
    model = kept()
    for start in range(0, 60, 20):
        model.partial_fit(
            X[start : start + 20], y[start : start + 20], classes=[0, 1, 2]
        )
    whole = kept().fit(X, y)
    assert model.network_.edges == whole.network_.edges
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_batches_of_a_structure_learner_that_needs_rows():
    model = kept(JointByRows())
    assert not hasattr(model, "partial_fit")
    X, y = rows()
    with pytest.raises(AttributeError) as error:
        model.partial_fit(X, y)
    assert "JointByRows needs all samples at once" in str(error.value.__cause__)


def test_counts_of_an_online_learner_are_nothing_to_go_on_from():
    X, y = rows()
    model = BayesNetClassifier(structure=Joint(), parameters=DFE(), random_state=0)
    model.partial_fit(X, y).set_params(parameters=KeepTables())
    with pytest.raises(CapabilityError, match="are those of DFE"):
        model.partial_fit(X, y)


def test_merging():
    X, y = rows()
    one, two = kept(encoder="width").fit(X[:30], y[:30]), kept().fit(X[30:], y[30:])
    merged = one.merge(two)
    assert np.array_equal(merged.network_.parameters.log_theta, handed_over(merged))


def test_rows_without_a_label_are_refused():
    X, y = rows()
    labels = y.astype(object)
    labels[3] = None
    with pytest.raises(InputError, match="missing labels in 1 of 60"):
        kept().fit(X, labels)


def test_boosting():
    X, y = rows()
    model = BoostedClassifier(kept(random_state=None), n_estimators=2, random_state=0)
    model.fit(X, y)
    assert model.networks_
    with pytest.raises(CapabilityError, match="NaiveBayes learns no CPTs"):
        BoostedClassifier(kept("nb")).fit(X, y)


def test_clone_and_pickle():
    X, y = rows()
    model = kept().fit(X, y)
    expected = model.predict_proba(X)
    assert np.array_equal(clone(model).fit(X, y).predict_proba(X), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)


def test_model_files_know_the_learner(tmp_path):
    assert part_classes()["KeepTables"] is KeepTables
    X, y = rows()
    model = BayesNetClassifier(structure="tan").fit(X, y)
    model.set_params(parameters=KeepTables())
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert isinstance(again.parameters, KeepTables)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
