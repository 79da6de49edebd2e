import numpy as np
import pytest

from tanager import BayesNetClassifier, Fixed, Frequency
from tanager.datasets import load
from tanager.registry import structure_from

coded = pytest.importorskip(
    "experiments.structure.coded",
    reason="a source distribution has no experiments",
)
three_features = pytest.importorskip("experiments.structure.three_features")
comparison = pytest.importorskip("experiments.structure.comparison")


@pytest.fixture(scope="module")
def part():
    data = load("sklearn/iris")
    rows = np.random.default_rng(0).permutation(data.n_rows)
    return data, rows[:100], rows[100:], coded.coded(data, rows[:100], rows[100:])


def test_rows_are_those_a_classifier_sees(part):
    data, train, test, rows = part
    learned, seconds = coded.searched(structure_from("TAN-OMI-CR"), rows.train)
    found = coded.tested(Frequency(zero=1e-5), learned.structure, rows)
    model = BayesNetClassifier.from_name("TAN-OMI-CR-ML")
    model.fit(data.X.iloc[train], data.y.iloc[train])
    assert found.right == model.score(data.X.iloc[test], data.y.iloc[test]) * 50
    log_proba = model.predict_log_proba(data.X.iloc[test])
    truth = np.searchsorted(model.classes_, data.y.iloc[test])
    assert found.log_loss == pytest.approx(-log_proba[np.arange(50), truth].sum())
    assert coded.arcs(learned.structure) == len(model.network_.edges) - 4
    assert seconds >= 0


def test_a_class_without_training_rows_is_never_right(part):
    data = part[0]
    order = np.argsort(np.asarray(data.y), kind="stable")
    rows = coded.coded(data, order[:100], order[100:])
    found = coded.tested(Frequency(), Fixed().learn(rows.train).structure, rows)
    assert found.right == 0


def test_all_parameters_have_the_same_structure(part):
    numbers = comparison.evaluated("TAN-CR", ["ML", "CL"], [part[3]])
    assert numbers["ML"]["arcs"] == numbers["CL"]["arcs"]
    assert numbers["ML"]["rows"] == 50
    assert numbers["CL"]["log_loss"] < numbers["ML"]["log_loss"]


def test_the_truth_about_three_features():
    assert three_features.best_accuracy() == pytest.approx(0.65)
    learned = Fixed([("X3", "X1")])
    model = BayesNetClassifier(structure=learned)
    data = three_features.three_binary(n_samples=50)
    structure = model.fit(data.X, data.y).network_.structure
    assert three_features.is_joined(structure)
