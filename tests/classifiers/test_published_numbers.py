"""Figures the papers print, reached to their last digit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from tanager import BayesNetClassifier, Frequency, datasets

pytestmark = pytest.mark.numerical

# Roth, Pernkopf (2020), Table 1: test error in percent, NB-ML and Chow-Liu-ML.
ERRORS = {
    "letter": {"nb": 25.89, "tan": 15.23},
    "satimage": {"nb": 17.95, "tan": 11.90},
    "usps": {"nb": 13.11, "tan": 8.74},
}

# The same with the hybrid loss, tuned for every dataset; ours is not.
HYBRID_ERRORS = {
    "letter": {"nb": 12.93, "tan": 9.37},
    "satimage": {"nb": 10.83, "tan": 9.91},
    "usps": {"nb": 4.29, "tan": 3.42},
}

# Greiner, Su, Shen, Zhou (2005), Table II: accuracy in percent, NB+OFE and TAN+OFE.
ACCURACIES = {
    "uci25/chess": {"nb": 87.34, "tan": 92.40},
    "uci25/mofn-3-7-10": {"nb": 86.72, "tan": 91.60},
}

# Pernkopf, Bilmes (2010), Table 1: accuracy in percent, averaged over the rows of the
# 25 UCI sets. The folds are not published; other folds move the average by some tenths.
AVERAGES = {"NB-ML": 81.50, "TAN-CMI-ML": 84.82}

# Su, Zhang, Ling, Matwin (2008), Table 1: accuracy in percent, 10-fold, of a set with
# two classes, no numbers and no missing cells. The folds are not published.
KR_VS_KP = {"NB+FE": 87.80, "NB+DFE": 94.70, "NB+Ada": 95.19}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(AVERAGES))
def test_averages_of_the_2010_paper(data_folder, name):
    right = rows = 0
    for path in sorted((data_folder / "uci25").glob("*.csv.gz")):
        stem = f"uci25/{path.name.removesuffix('.csv.gz')}"
        # The paper reads an empty field of vote as a third value.
        missing_as = "unknown" if stem == "uci25/vote" else None
        data = datasets.load(stem, folder=data_folder, missing_as=missing_as)
        if data.n_train is None:
            folds = KFold(5, shuffle=True, random_state=0).split(data.X)
        else:
            folds = [np.split(np.arange(data.n_rows), [data.n_train])]
        for train, test in folds:
            model = BayesNetClassifier.from_name(name)
            model.fit(data.X.iloc[train], data.y.iloc[train])
            predicted = model.predict(data.X.iloc[test])
            right += np.sum(predicted == data.y.iloc[test].to_numpy())
            rows += len(test)
    assert abs(100 * right / rows - AVERAGES[name]) < 0.5


@pytest.mark.parametrize("structure", ["nb", "tan"])
@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_of_the_2020_paper(data_folder, name, structure):
    arrays = np.load(data_folder / "images" / f"{name}.npz")
    errors = []
    for fold in range(1, int(arrays["n_folds"]) + 1):
        model = BayesNetClassifier("categorical", structure, Frequency(alpha=1.0))
        model.fit(arrays[f"x_tr_fold{fold}"], arrays[f"t_tr_fold{fold}"])
        predicted = model.predict(arrays[f"x_te_fold{fold}"])
        errors.append(100 * np.mean(predicted != arrays[f"t_te_fold{fold}"]))
    assert f"{np.mean(errors):.2f}" == f"{ERRORS[name][structure]:.2f}"


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["nb", "tan"])
@pytest.mark.parametrize("name", sorted(HYBRID_ERRORS))
def test_untuned_hybrid_has_most_of_the_gain(data_folder, name, structure):
    """More than half of the way from the likelihood's error to the tuned hybrid's."""
    arrays = np.load(data_folder / "images" / f"{name}.npz")
    model = BayesNetClassifier("categorical", structure, "hyb", random_state=0)
    model.fit(arrays["x_tr_fold1"], arrays["t_tr_fold1"])
    predicted = model.predict(arrays["x_te_fold1"])
    error = 100 * np.mean(predicted != arrays["t_te_fold1"])
    assert error < (ERRORS[name][structure] + HYBRID_ERRORS[name][structure]) / 2


@pytest.mark.parametrize("name", ["NB+ELR", "TAN+ELR"])
def test_conditional_likelihood_of_the_2005_paper(data_folder, name):
    # Table II: 100.00 on mofn-3-7-10 for both, and on chess 95.40 and 97.19, which our
    # line searches exceed.
    published = {"NB+ELR": 95.40, "TAN+ELR": 97.19}[name]
    for set_name, least in (("mofn-3-7-10", 100.0), ("chess", published)):
        data = datasets.load(f"uci25/{set_name}", folder=data_folder)
        train, test = slice(None, data.n_train), slice(data.n_train, None)
        model = BayesNetClassifier.from_name(name)
        model.fit(data.X.iloc[train], data.y.iloc[train])
        assert 100 * model.score(data.X.iloc[test], data.y.iloc[test]) >= least


# The convex problem on Chow-Liu trees of the 2020 paper's data. The paper's own hybrid
# loss on the same trees, tuned on the test rows, has 9.37 and 3.42 %.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("letter", 9.6), ("usps", 4.0)])
def test_convex_learning_reaches_the_tuned_hybrid(data_folder, name, most):
    arrays = np.load(data_folder / "images" / f"{name}.npz")
    model = BayesNetClassifier("categorical", "tan", "rcl", n_jobs=2)
    model.fit(arrays["x_tr_fold1"], arrays["t_tr_fold1"])
    predicted = model.predict(arrays["x_te_fold1"])
    assert 100 * np.mean(predicted != arrays["t_te_fold1"]) < most
    assert model.parameters_.certificate_["gap"] <= (
        0.1 * model.parameters_.certificate_["objective"]
    )


@pytest.mark.parametrize("structure", ["nb", "tan"])
@pytest.mark.parametrize("name", sorted(ACCURACIES))
def test_accuracies_of_the_2005_paper(data_folder, name, structure):
    data = datasets.load(name, folder=data_folder)
    train, test = slice(None, data.n_train), slice(data.n_train, None)
    model = BayesNetClassifier(structure=structure, parameters="fe")
    model.fit(data.X.iloc[train], data.y.iloc[train])
    accuracy = 100 * model.score(data.X.iloc[test], data.y.iloc[test])
    assert f"{accuracy:.2f}" == f"{ACCURACIES[name][structure]:.2f}"


@pytest.mark.parametrize("name", sorted(KR_VS_KP))
def test_accuracies_of_the_2008_paper(data_folder, name):
    data = datasets.load("weka33/kr-vs-kp", folder=data_folder)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    model = BayesNetClassifier.from_name(name)
    accuracy = 100 * cross_val_score(model, data.X, data.y, cv=folds).mean()
    assert abs(accuracy - KR_VS_KP[name]) < 0.5
