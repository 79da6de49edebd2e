import numpy as np
import pandas as pd
import pytest

from tanager.experiments.measurements import cross_validated
from tanager.experiments.measurements.rows import filled, rows_of


def test_scores_of_every_fold():
    numbers = cross_validated(data="sklearn/iris", method="NB-ML", n_folds=3)
    assert len(numbers["accuracy"]) == len(numbers["seconds"]) == 3
    assert min(numbers["accuracy"]) > 0.85
    assert 0 < max(numbers["log_loss"]) < 0.5
    assert numbers["warnings"] == [0.0]
    again = cross_validated(data="sklearn/iris", method="NB-ML", n_folds=3)
    assert again["accuracy"] == numbers["accuracy"]
    other = cross_validated(data="sklearn/iris", method="NB-ML", n_folds=3, repeat=2)
    assert other["log_loss"] != numbers["log_loss"]


@pytest.mark.parametrize("method", ["NB+DFE", "NB+Ada", "TAN+FE"])
def test_methods_with_bins_of_equal_width(method):
    numbers = cross_validated(
        data="sklearn/iris", method=method, n_folds=2, encoder="10 bins", n_classes=2
    )
    assert min(numbers["accuracy"]) > 0.95


def test_the_largest_classes_are_kept():
    X, y = rows_of("sklearn/wine", 2)
    assert set(np.unique(y)) == {"class_0", "class_1"}
    assert len(X) == len(y) == 59 + 71
    assert list(X.index) == list(range(len(y)))


def test_missing_cells_are_filled_from_the_training_rows():
    train = pd.DataFrame(
        {
            "number": [1.0, 3.0, np.nan],
            "text": pd.Categorical(["a", None, "a"], categories=["a", "b"]),
            "empty": [np.nan, np.nan, np.nan],
        }
    )
    test = pd.DataFrame(
        {
            "number": [np.nan, 7.0],
            "text": pd.Categorical([None, "b"], categories=["a", "b"]),
            "empty": [np.nan, 1.0],
        }
    )
    train, test = filled(train, test)
    assert train["number"].tolist() == [1.0, 3.0, 2.0]
    assert test["number"].tolist() == [2.0, 7.0]
    assert test["text"].tolist() == ["a", "b"]
    assert train["text"].tolist() == ["a", "a", "a"]
    assert train["empty"].isna().all()
