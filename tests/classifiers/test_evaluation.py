import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from tanager import BayesNetClassifier, EvaluationResult, compare, evaluate
from tanager.classifiers.evaluation import (
    incomplete_rows,
    representative_rows,
    stratified_splits,
)
from tanager.classifiers.evaluation_result import FoldResult
from tanager.classifiers.metrics import scores
from tanager.encoding.frame import Column, Frame
from tanager.errors import InputError


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_the_scores_are_those_of_scikit_learn(iris):
    X, y = iris
    models = {"NB": BayesNetClassifier.from_name("NB-ML"), "Gauss": GaussianNB()}
    result = evaluate(models, X, y, cv=3, random_state=1)
    folds = StratifiedKFold(3, shuffle=True, random_state=1).split(X, y)
    for k, (train, test) in enumerate(folds):
        for j, model in enumerate(models.values()):
            model.fit(X.iloc[train], y.iloc[train])
            found = model.predict_proba(X.iloc[test])
            own = result.folds[2 * k + j]
            assert own.accuracy == model.score(X.iloc[test], y.iloc[test])
            assert own.log_loss == pytest.approx(log_loss(y.iloc[test], found))
    assert [fold.n_parameters is None for fold in result.folds[:2]] == [False, True]


@pytest.mark.parametrize("form", ["pandas", "polars", "array", "lists", "mapping"])
def test_features_of_any_form(iris, form):
    X, y = iris
    if form == "polars":
        X = pytest.importorskip("polars").DataFrame(X.to_dict("list"))
    given = {
        "pandas": lambda: (X, y),
        "polars": lambda: (X, y.tolist()),
        "array": lambda: (X.to_numpy(), y.to_numpy()),
        "lists": lambda: (X.to_numpy().tolist(), y.tolist()),
        "mapping": lambda: (X.to_dict("list"), y.tolist()),
    }[form]()
    result = evaluate("NB-ML", *given, cv=2)
    expected = evaluate("NB-ML", *iris, cv=2)
    assert [f.log_loss for f in result.folds] == [f.log_loss for f in expected.folds]


def test_names_a_name_and_models(iris):
    one = evaluate("NB-ML", *iris, cv=2)
    two = evaluate(["NB-ML", "TAN-CMI-ML"], *iris, cv=2)
    assert (one.models, two.models) == (("NB-ML",), ("NB-ML", "TAN-CMI-ML"))
    assert [f.brier for f in one.folds] == [f.brier for f in two.folds[::2]]
    assert "worse than" not in str(one)
    assert repr(two) == str(two)
    assert str(two).endswith(
        "+ better, - worse than NB-ML (corrected paired t-test, p < 0.05)."
    )


def test_estimators_without_names(iris):
    one = evaluate(GaussianNB(), *iris, cv=2)
    steps = make_pipeline(GaussianNB())  # has a length and items of its own
    smooth = GaussianNB(var_smoothing=0.1)
    many = evaluate([GaussianNB(), "NB-ML", smooth, steps], *iris, cv=2)
    assert one.models == ("GaussianNB",)
    assert many.models == ("GaussianNB", "NB-ML", "GaussianNB 2", "Pipeline")
    assert evaluate(steps, *iris, cv=2).models == ("Pipeline",)
    gauss, _, smoothed, piped = (fold.log_loss for fold in many.folds[:4])
    assert one.folds[0].log_loss == gauss == piped != smoothed


def test_method_names_in_a_mapping(iris):
    own = evaluate({"a": "NB-ML", "b": GaussianNB()}, *iris, cv=2, random_state=1)
    named = evaluate("NB-ML", *iris, cv=2, random_state=1)
    assert own.models == ("a", "b")
    assert [f.brier for f in own.folds[::2]] == [f.brier for f in named.folds]


def test_models_come_first(iris):
    X, y = iris
    for given in (X, X.to_numpy(), y, X.to_numpy().tolist(), X.to_dict("list"), 3):
        with pytest.raises(InputError, match=r"evaluate\(models, X, y\): models come"):
            evaluate(given, y, ["NB-ML"])
    with pytest.raises(InputError, match="got an object of type DataFrame"):
        evaluate(X, y, ["NB-ML"])


def test_models_are_left_as_they_were(iris):
    model = GaussianNB()
    evaluate({"Gauss": model}, *iris, cv=2)
    assert not hasattr(model, "classes_")


def test_further_scores(iris):
    X, y = iris
    result = evaluate(
        {"logistic": LogisticRegression(max_iter=1000)},
        X,
        y,
        cv=StratifiedKFold(3),
        scoring=["balanced_accuracy", "neg_log_loss"],
    )
    assert result.protocol == "3 splits of StratifiedKFold"
    for fold in result.folds:
        # Every class has as many samples in a fold.
        assert fold.scores["balanced_accuracy"] == pytest.approx(fold.accuracy, 0.05)
        assert fold.scores["neg_log_loss"] == pytest.approx(-fold.log_loss)
    assert "balanced_accuracy" in result.table()
    named = evaluate("NB-ML", X, y, cv=2, scoring={"own": lambda *_: 0.5})
    assert named.columns()["own"] == [0.5, 0.5]
    assert evaluate("NB-ML", X, y, cv=2, scoring="f1_macro").folds[0].scores["f1_macro"]


def test_a_single_split_has_no_deviation(iris):
    result = evaluate(["NB-ML", "NB+FE"], *iris, cv=ShuffleSplit(1, random_state=0))
    assert "±" not in result.table()


def test_exports(iris, tmp_path):
    result = evaluate(["NB-ML", "NB+FE"], *iris, cv=2, n_repeats=2, name="iris")
    frame = result.to_frame()
    assert list(frame["model"]) == ["NB-ML", "NB+FE"] * 4
    assert list(frame.columns[:4]) == ["data", "model", "repeat", "fold"]
    result.to_csv(tmp_path / "r.csv")
    with Path(tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["brier"]) for row in rows] == list(frame["brier"])
    found = result.to_results("log_loss")
    assert (found.datasets, found.methods) == (("iris",), ("NB-ML", "NB+FE"))
    assert (found.higher_is_better, found.n_repeats, found.sizes) == (False, 2, (150,))
    assert "Wins/ties/losses" in compare.summary(found)
    with pytest.raises(InputError, match="Unknown metric 'acc'"):
        result.to_results("acc")


def test_to_frame_without_pandas(iris, monkeypatch):
    result = evaluate("NB-ML", *iris, cv=2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        result.to_frame()


def test_plot(iris, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    result = evaluate(["NB-ML", "NB+FE"], *iris, cv=3)
    figure = result.plot("log_loss", tmp_path / "scores.svg")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [*result.models]
    assert axes.get_xlabel() == "Log loss (lower is better)"
    assert (tmp_path / "scores.svg").read_bytes().startswith(b"<?xml")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"tanager\[plot\]"):
        result.plot()


def test_svg_has_a_dot_for_every_fold(iris):
    result = evaluate(["NB-ML", "NB+FE"], *iris, cv=3)
    svg = result.to_svg("log_loss")
    assert svg.count("<circle") == 6
    assert "Log loss (lower is better)" in svg
    assert "NB+FE" in svg
    with pytest.raises(InputError, match="metric"):
        result.to_svg("nothing")


def test_progress_is_reported(iris):
    steps = []
    evaluate(["NB-ML", "NB+FE"], *iris, cv=2, progress=lambda *step: steps.append(step))
    assert steps[0] == (1, 4, "NB-ML, fold 1 of repetition 1")
    assert [step[:2] for step in steps] == [(k, 4) for k in (1, 2, 3, 4)]


def test_rare_classes_are_named(iris):
    X, y = iris
    result = evaluate("NB-ML", X[:101], y[:101], cv=2)
    assert result.rare_classes == ("2 (1)",)


def test_weights_are_for_fitting(iris):
    X, y = iris
    result = evaluate("NB-ML", X, y, cv=2, sample_weight=(y < 2).astype(float))
    # The class without weight is never predicted.
    assert all(fold.accuracy < 0.7 for fold in result.folds)


def test_what_is_refused(iris):
    X, y = iris
    with pytest.raises(InputError, match="no predict_proba"):
        evaluate({"svm": LinearSVC()}, X, y)
    with pytest.raises(InputError, match="at least one"):
        evaluate([], X, y)
    with pytest.raises(InputError, match="Unknown method"):
        evaluate("NB-MLL", X, y)
    with pytest.raises(InputError, match="cv must be a whole number of at least 2"):
        evaluate("NB-ML", X, y, cv=1)
    with pytest.raises(InputError, match="scikit-learn splitter"):
        evaluate("NB-ML", X, y, cv="five")
    with pytest.raises(InputError, match="Unlabelled samples need a number of folds"):
        evaluate("NB+EM", X, [None, *y[1:]], cv=StratifiedKFold(2))
    with pytest.raises(InputError, match="at most 50 folds"):
        evaluate("NB-ML", X, y, cv=51)


def test_scores_by_hand_and_by_scikit_learn():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.6, 0.4, 0.0]])
    right = np.array([0, 1, 1])
    accuracy, loss, brier = scores(probabilities, right)
    assert accuracy == pytest.approx(2 / 3)
    assert loss == pytest.approx(log_loss(right, probabilities, labels=[0, 1, 2]))
    # .25+.09+.04, .01+.04+.01, .36+.36+0
    assert brier == pytest.approx((0.38 + 0.06 + 0.72) / 3)
    _, impossible, _ = scores(np.array([[0.0, 1.0]]), np.array([0]))
    assert impossible == pytest.approx(36.04, rel=1e-3)


def test_splits_are_stratified_and_repeatable():
    labels = np.repeat(["a", "b"], [40, 20])
    codes = np.repeat([0, 1], [40, 20])
    splits, rare = stratified_splits(np.array(["a", "b"]), codes, 4, 2, seed=3)
    assert rare == ()
    assert [(repeat, fold) for repeat, fold, _, _ in splits] == [
        (repeat, fold) for repeat in (1, 2) for fold in (1, 2, 3, 4)
    ]
    for _, _, train, test in splits:
        assert sorted([*train, *test]) == list(range(60))
        assert (labels[test] == "b").sum() == 5
    again, _ = stratified_splits(np.array(["a", "b"]), codes, 4, 2, seed=3)
    assert all(np.array_equal(a[3], b[3]) for a, b in zip(splits, again, strict=True))
    assert not np.array_equal(splits[0][3], splits[4][3])


def test_unlabelled_samples_are_in_no_test_set():
    codes = np.array([0, 2, 1, 0, 1, 2, 0, 1])
    splits, _ = stratified_splits(np.array(["a", "b"]), codes, 3, 1, seed=0)
    tested = np.concatenate([test for _, _, _, test in splits])
    assert sorted(tested) == [0, 2, 3, 4, 6, 7]
    for _, _, train, test in splits:
        assert sorted([*train, *test]) == list(range(8))


def test_representative_rows_have_every_class():
    labels = np.repeat([0, 1, 2], [1000, 1000, 1])
    rows = representative_rows(np.arange(2001), labels, 3, 100)
    assert len(rows) <= 110
    assert set(labels[rows]) == {0, 1, 2}


def fold_result(model, fold, accuracy):
    return FoldResult(model, 1, fold, 80, 20, accuracy, 0.5, 0.1, 0.2, 0.1, 7, {})


def result_of(folds):
    models = tuple(dict.fromkeys(fold.model for fold in folds))
    return EvaluationResult("iris", models, tuple(folds), 100, 0, 4, 2, 1, 3, "2-fold")


def test_the_summary_marks_what_is_significant():
    results = [
        fold_result(model, fold, 0.5 + gain + 0.01 * fold)
        for fold in range(5)
        for model, gain in (
            ("A", 0),
            ("B", 0.2),
            ("C", -0.2),
            ("D", 0.01 * fold - 0.02),
        )
    ]
    lines = result_of(results).table().splitlines()
    assert lines[0].split("  ")[0] == "Model"
    # The sample deviation of 0, 1, 2, 3, 4 is sqrt(2.5) = 1.58.
    assert lines[1].startswith("A      52.00 ± 1.58    0.500 ± 0.000")
    assert lines[2].startswith("B      72.00 ± 1.58 +  0.500 ± 0.000    0.100")
    assert lines[3].startswith("C      32.00 ± 1.58 -  ")
    assert lines[4].startswith("D      52.00 ± 3.16    ")
    assert lines[1].endswith("0.300 ± 0.000")


def test_less_loss_is_better():
    results = [
        FoldResult(model, 1, fold, 80, 20, 0.5, loss + fold, 0.1, 0.2, 0.1, 7, {})
        for fold in range(3)
        for model, loss in (("A", 1.0), ("B", 0.5))
    ]
    assert "1.500 ± 1.000 +" in result_of(results).table().splitlines()[2]


def test_a_result_row_says_where_it_is_from():
    columns = result_of([fold_result("A", 1, 0.5)]).columns()
    assert (columns["data"], columns["seed"], columns["fold"]) == (["iris"], [3], [1])
    assert columns["tanager"][0]


@pytest.mark.parametrize("missing", ["none", "some", "all"])
def test_kernels_for_missing_values_are_used_before_the_clock(monkeypatch, missing):
    """The first timed fold finds both kinds of prediction used already."""
    x = np.arange(40) % 4
    y = np.arange(40) % 2
    numbers = np.where(x == 3, np.nan, x) if missing == "some" else x.astype(float)
    texts = np.full(40, -1) if missing == "all" else x
    table = Frame(
        ("x", "s"),
        40,
        (
            Column("x", values=numbers),
            Column("s", codes=texts, categories=("a", "b", "c", "d")),
        ),
        None,
        True,
    )
    seen = []
    predict = BayesNetClassifier.predict_proba

    def watched(self, X):
        seen.append(incomplete_rows(X))
        return predict(self, X)

    monkeypatch.setattr(BayesNetClassifier, "predict_proba", watched)
    result = evaluate("NB-ML", table, y, cv=2)
    assert len(result.folds) == 2
    warm = seen[:-2]
    assert any(rows.any() for rows in warm)
    assert missing == "all" or any(not rows.any() for rows in warm)
