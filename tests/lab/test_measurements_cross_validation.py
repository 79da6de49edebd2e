import numpy as np
import pandas as pd
import pytest

from lab.measurements import cross_validation_scores, dataset_preparation
from lab.measurements.cross_validation import classifier, of_all_classes, splits
from lab.measurements.dataset_preparation import filled, rows_of
from tanager.scores import K2


def test_scores_of_every_fold():
    numbers = cross_validation_scores(data="sklearn/iris", method="NB-ML", n_folds=3)
    assert len(numbers["accuracy"]) == len(numbers["seconds"]) == 3
    assert min(numbers["accuracy"]) > 0.85
    assert 0 < max(numbers["log_loss"]) < 0.5
    assert numbers["warnings"] == [0.0]
    again = cross_validation_scores(data="sklearn/iris", method="NB-ML", n_folds=3)
    assert again["accuracy"] == numbers["accuracy"]
    other = cross_validation_scores(
        data="sklearn/iris", method="NB-ML", n_folds=3, repeat=2
    )
    assert other["log_loss"] != numbers["log_loss"]


@pytest.mark.parametrize("method", ["NB+DFE", "NB+Ada", "HGC+FE"])
def test_methods_with_bins_of_equal_width(method):
    numbers = cross_validation_scores(
        data="sklearn/iris", method=method, n_folds=2, paper="su2008", n_classes=2
    )
    assert min(numbers["accuracy"]) > 0.95


def test_the_largest_classes_are_kept():
    X, y = rows_of("sklearn/wine", 2)
    assert set(np.unique(y)) == {"class_0", "class_1"}
    assert len(X) == len(y) == 59 + 71
    assert list(X.index) == list(range(len(y)))


def test_rows_of_the_first_fit_are_of_all_classes():
    y = np.repeat(["a", "b", "c"], [500, 500, 20])
    chosen = of_all_classes(y, 200)
    assert len(set(chosen)) == 200
    assert set(y[chosen]) == {"a", "b", "c"}
    assert sorted(of_all_classes(y[:7], 200)) == list(range(7))


def test_shuffled_rows_are_the_same_rows():
    kept = list(splits("iris", 5, 3, n_classes=2))
    mixed = list(splits("iris", 5, 3, n_classes=2, shuffled=True))
    for parts in (kept, mixed):
        tests = pd.concat([part.X_test for part in parts])
        assert sorted(tests.index) == list(range(100))
        assert all(len(part.y) == 80 for part in parts)
    assert kept[0].X.index.is_monotonic_increasing
    assert not mixed[0].X.index.is_monotonic_increasing
    again = next(splits("iris", 5, 3, n_classes=2, shuffled=True))
    assert again.X.equals(mixed[0].X)


def test_of_classes_of_the_same_size_those_declared_first_are_kept(monkeypatch):
    assert set(rows_of("iris", 2)[1]) == {"setosa", "versicolor"}
    monkeypatch.setitem(dataset_preparation.DECLARED_FIRST, "iris", ("virginica",))
    rows_of.cache_clear()
    assert set(rows_of("iris", 2)[1]) == {"setosa", "virginica"}
    rows_of.cache_clear()


def test_missing_cells_are_filled_from_the_training_rows():
    train = pd.DataFrame(
        {"x": [1.0, None, 3.0], "none": [np.nan] * 3, "s": ["a", None, "a"]}
    )
    test = pd.DataFrame({"x": [None], "none": [5.0], "s": [None]})
    one, other = filled(train, test)
    assert one["x"].tolist() == [1.0, 2.0, 3.0]
    assert one["none"].tolist() == [0.0, 0.0, 0.0]
    assert one["s"].tolist() == ["a", "a", "a"]
    assert other.iloc[0].tolist() == [2.0, 5.0, "a"]


def test_a_structure_is_searched_by_the_score_of_the_paper():
    assert isinstance(classifier("HGC+FE", "su2008").structure.score, K2)
    found = cross_validation_scores(
        data="iris", method="HGC+FE", n_folds=3, paper="su2008", shuffled=True
    )
    assert len(found["accuracy"]) == 3
    assert np.mean(found["accuracy"]) > 0.8


@pytest.mark.parametrize("method", ["NB+DFE", "NB+Ada"])
def test_sorted_rows_can_be_cross_validated(method, monkeypatch):
    monkeypatch.setattr("lab.measurements.cross_validation.WARMING_ROWS", 10)
    found = cross_validation_scores(data="iris", method=method, n_folds=3, n_classes=2)
    assert np.mean(found["accuracy"]) > 0.9
    assert found["warnings"] == [0.0]
