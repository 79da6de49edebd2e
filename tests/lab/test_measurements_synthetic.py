import numpy as np
import pytest

from lab.measurements.coded_datasets import coded, searched
from lab.measurements.known_distributions import (
    best_accuracy,
    distribution_likelihood,
    is_joined,
    known_tree_accuracy,
    learned_tree_accuracy,
    merged,
)
from lab.measurements.synthetic_datasets import class_trees
from tanager import BayesNetClassifier, Fixed
from tanager.data import ArrayData
from tanager.datasets.generators import three_binary
from tanager.registry import structure_from


def test_the_truth_about_three_features():
    assert best_accuracy() == pytest.approx(0.65)
    data = three_binary(n_samples=50)
    for arc, joined in ((("X3", "X1"), True), (("X1", "X2"), False)):
        model = BayesNetClassifier(structure=Fixed([arc])).fit(data.X, data.y)
        assert is_joined(model.network_.structure) == joined


def test_merged_rows_count_as_before():
    data = three_binary(n_samples=300)
    rows = np.arange(300)
    train = coded(data, rows, rows[:1], "categorical").train
    few = merged(train)
    families = [(3, 0, 1), (3, 2), (3,)]
    for table in range(3):
        expected = train.count(families).table(table)
        assert (few.count(families).table(table) == expected).all()


def test_a_structure_is_the_same_for_merged_rows():
    data = three_binary(n_samples=300, random_state=1)
    rows = np.arange(300)
    train = coded(data, rows, rows[:1], "categorical").train
    for name in ("TAN-CL", "TAN-OMI-CL", "TAN-CMI"):
        plain, _ = searched(structure_from(name), train)
        weighted, _ = searched(structure_from(name), merged(train))
        assert plain.structure == weighted.structure


def test_likelihoods_of_random_distributions():
    numbers = distribution_likelihood(
        structures=["NB", "TAN-CL", "TAN-min-OMI-CL"],
        n_features=4,
        n_samples=500,
        n_distributions=2,
        block=1,
    )
    assert set(numbers) == {
        f"likelihood_{n}" for n in ("NB", "TAN-CL", "TAN-min-OMI-CL")
    }
    assert all(len(values) == 2 for values in numbers.values())
    gains = np.subtract(numbers["likelihood_TAN-CL"], numbers["likelihood_NB"])
    assert (gains > 0).all()


def test_the_truth_about_trees_by_loops():
    sizes = {"n_features": 4, "n_samples": 120}
    random = np.random.default_rng([0, 4, 7])
    trees = class_trees(random_state=random, **sizes)
    data, parents, tables = trees.data, trees.parents, trees.tables

    def likelihood(tree, row):
        product = 1.0
        for j in range(4):
            given = 0 if parents[tree, j] < 0 else row[parents[tree, j]]
            product *= tables[tree, j, given, row[j]]
        return product

    right = 0
    rows, labels = np.asarray(data.X).astype(int), np.asarray(data.y).astype(int) - 1
    for row, label in zip(rows[120:], labels[120:], strict=True):
        first = likelihood(0, row)
        joint = [first / 3]
        joint += [(first + likelihood(c, row)) / 2 / 6 for c in range(1, 5)]
        right += int(np.argmax(joint)) == label
    found = known_tree_accuracy(run=7, **sizes)
    assert found["accuracy_truth"] == pytest.approx(right / 120)


def test_trees_are_learned_from_the_same_rows():
    sizes = {"n_features": 4, "n_samples": 1200, "run": 1}
    learned = learned_tree_accuracy(structure="TAN-CMI", parameters=["ML"], **sizes)
    truth = known_tree_accuracy(**sizes)["accuracy_truth"]
    assert learned["accuracy_ML"] + 0.1 > 1 / 3
    assert learned["accuracy_ML"] < truth + 0.05


def test_weights_of_merged_rows_are_whole():
    data = three_binary(n_samples=100)
    rows = np.arange(100)
    few = merged(coded(data, rows, rows[:1], "categorical").train)
    assert isinstance(few, ArrayData)
    assert few.weights.sum() == 100
