"""What the papers say of structures that are searched for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from tanager import BayesNetClassifier, GreedyKTree, OrderBased, SuperParent, datasets
from tanager.datasets import generators

DISCRIMINATIVE = ["TAN-CR-ML", "TAN-SuperParent-ML", "TAN-OMI-CR-ML", "TAN-OMI-CL-ML"]


def joins_x1_and_x3(name, seed):
    rows = generators.three_binary(n_samples=1000, random_state=seed)
    model = BayesNetClassifier.from_name(name, encoder="categorical")
    edges = model.fit(rows.X, rows.y).network_.edges
    return ("X1", "X3") in edges or ("X3", "X1") in edges


@pytest.mark.parametrize("name", DISCRIMINATIVE)
def test_the_arc_that_discriminates_is_found(name):
    # Pernkopf, Bilmes (2010), section 3: the likelihood prefers X2 -> X3.
    assert sum(joins_x1_and_x3(name, seed) for seed in range(10)) >= 9


def test_the_likelihood_prefers_another_arc():
    assert sum(joins_x1_and_x3("TAN-CMI-ML", seed) for seed in range(10)) <= 1


@pytest.mark.numerical
def test_corral_is_classified_almost_without_error(data_folder):
    # Pernkopf, Bilmes (2010), Table 8: TAN-OMI-CR-ML has 99.20 % by five folds. The
    # folds are not published; from one to the next the rate moves by some percent.
    data = datasets.load("uci25/corral", folder=data_folder)
    model = BayesNetClassifier.from_name("TAN-OMI-CR-ML")
    rates = [
        cross_val_score(
            model, data.X, data.y, cv=StratifiedKFold(5, shuffle=True, random_state=s)
        ).mean()
        for s in range(9)
    ]
    assert np.median(rates) >= 0.98
    assert max(rates) >= 0.99
    assert model.fit(data.X, data.y).score(data.X, data.y) == 1.0


@pytest.mark.parametrize(
    "learner",
    [GreedyKTree(), GreedyKTree(2), SuperParent(2), OrderBased(), OrderBased(k=2)],
    ids=repr,
)
@pytest.mark.parametrize("name", ["uci25/corral", "uci25/chess"])
def test_the_last_score_is_the_number_of_rows_classified_right(
    data_folder, name, learner
):
    data = datasets.load(name, folder=data_folder)
    X, y = data.X.iloc[::3], data.y.iloc[::3]
    model = BayesNetClassifier(structure=learner, parameters="ml").fit(X, y)
    right = (model.predict(X) == y.to_numpy()).sum()
    assert model.trace_["structure"][-1]["score"] == right
