import csv
import io
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from tanager.classifiers import BayesNetClassifier
from tanager.cli._comparison import (
    FoldResult,
    _incomplete,
    _some_rows,
    compare,
    make_splits,
    result_columns,
    scores,
    summary_text,
)
from tanager.cli._data import TrainingData, load_data, training_data
from tanager.cli._output import Progress
from tanager.encoding.table import Column, Table


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
    splits, rare = make_splits(labels, 4, 2, seed=3)
    assert rare == []
    assert [(repeat, fold) for repeat, fold, _, _ in splits] == [
        (repeat, fold) for repeat in (1, 2) for fold in (1, 2, 3, 4)
    ]
    for _, _, train, test in splits:
        assert sorted([*train, *test]) == list(range(60))
        assert (labels[test] == "b").sum() == 5
    again, _ = make_splits(labels, 4, 2, seed=3)
    assert all(np.array_equal(a[3], b[3]) for a, b in zip(splits, again, strict=True))
    assert not np.array_equal(splits[0][3], splits[4][3])


def test_rows_without_a_class_are_only_learned_from():
    labels = np.array(["a", None, "b", "a", "b", None, "a", "b"], dtype=object)
    splits, _ = make_splits(labels, 3, 1, seed=0)
    tested = np.concatenate([test for _, _, _, test in splits])
    assert sorted(tested) == [0, 2, 3, 4, 6, 7]
    for _, _, train, test in splits:
        assert sorted([*train, *test]) == list(range(8))


def test_evaluate_with_rows_without_a_class(done, failed):
    rows = ["u,p", "v,q", "u,", "v,", "u,p", "v,q"] * 5
    text = "\n".join(["a,y", *rows]) + "\n"
    command = ["evaluate", "-", "-t", "y", "--cv", "2", "-m"]
    shown = done(*command, "NB+EM,TAN+APN", "-o", "out.csv", input=text).stdout
    assert "30 rows (10 without a class), 1 feature, 2 classes" in shown
    head, first, *_ = Path("out.csv").read_text().splitlines()
    fold = dict(zip(head.split(","), first.split(","), strict=True))
    assert (fold["n_train"], fold["n_test"]) == ("10", "10")
    assert float(fold["accuracy"]) == 1.0
    assert "10 of 30 rows" in failed(*command, "NB+EM,NB+FE", input=text)
    assert "Unknown method 'NB+F'" in failed(*command, "NB+FE,NB+F", input=text)


def test_some_rows_have_every_class():
    labels = np.repeat([0, 1, 2], [1000, 1000, 1])
    rows = _some_rows(np.arange(2001), labels, 100)
    assert len(rows) <= 110
    assert set(labels[rows]) == {0, 1, 2}


def fold_result(model, fold, accuracy):
    return FoldResult(model, 1, fold, 80, 20, accuracy, 0.5, 0.1, 0.2, 0.1, 7)


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
    lines = summary_text(results).splitlines()
    assert lines[0].split("  ")[0] == "Model"
    # The sample deviation of 0, 1, 2, 3, 4 is sqrt(2.5) = 1.58.
    assert lines[1].startswith("A      52.00 ± 1.58    0.500 ± 0.000")
    assert lines[2].startswith("B      72.00 ± 1.58 +  0.500 ± 0.000    0.100")
    assert lines[3].startswith("C      32.00 ± 1.58 -  ")
    assert lines[4].startswith("D      52.00 ± 3.16    ")
    assert lines[1].endswith("0.300 ± 0.000")


def test_less_loss_is_better():
    results = [
        FoldResult(model, 1, fold, 80, 20, 0.5, loss + fold, 0.1, 0.2, 0.1, 7)
        for fold in range(3)
        for model, loss in (("A", 1.0), ("B", 0.5))
    ]
    assert "1.500 ± 1.000 +" in summary_text(results).splitlines()[2]


def test_a_result_row_says_where_it_is_from():
    columns = result_columns([fold_result("A", 1, 0.5)], "iris", 3)
    assert (columns["data"], columns["seed"], columns["fold"]) == (["iris"], [3], [1])
    assert columns["tanager"][0]


def test_evaluate_prints_a_table(done):
    result = done("evaluate", "iris", "--models", "NB-ML,TAN-CMI-ML,NB+FE", "--cv", 3)
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "sklearn/iris: 150 rows, 4 features, 3 classes",
        "3-fold cross-validation, seed 0",
    ]
    assert lines[3].split("  ")[0] == "Model"
    assert [line.split()[0] for line in lines[4:7]] == ["NB-ML", "TAN-CMI-ML", "NB+FE"]
    assert lines[-1] == (
        "+ better, - worse than NB-ML (corrected paired t-test, p < 0.05)."
    )
    assert max(map(len, lines)) <= 80
    assert result.stderr == ""


def test_the_numbers_are_those_of_the_library(done):
    done("evaluate", "iris", "-m", "NB+FE", "--cv", 4, "--seed", 2, "-o", "r.csv")
    with open("r.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    data = training_data(load_data("iris"), None)
    labels = np.asarray(data.labels)
    folds = StratifiedKFold(4, shuffle=True, random_state=2).split(labels, labels)
    for row, (train, test) in zip(rows, folds, strict=True):
        model = BayesNetClassifier.from_name("NB+FE")
        model.fit(data.features.take(train), labels[train])
        found = model.predict_proba(data.features.take(test))
        accuracy = (model.classes_[found.argmax(axis=1)] == labels[test]).mean()
        assert float(row["accuracy"]) == accuracy
        assert float(row["log_loss"]) == pytest.approx(log_loss(labels[test], found))
        assert (row["data"], row["model"], row["seed"]) == (
            "sklearn/iris",
            "NB+FE",
            "2",
        )


def test_repetitions_and_the_results_file(done):
    result = done(
        "evaluate",
        "iris",
        "-m",
        "NB-ML,NB+FE",
        "--cv",
        2,
        "--repeats",
        3,
        "-o",
        "r.csv",
    )
    assert "2-fold cross-validation, 3 repetitions, seed 0" in result.stdout
    assert result.stderr == "Wrote r.csv: 12 rows.\n"
    assert len(Path("r.csv").read_text().splitlines()) == 13
    only = done("evaluate", "iris", "-m", "NB-ML", "--cv", 2, "-o", "-").stdout
    assert len(list(csv.DictReader(io.StringIO(only)))) == 2


def test_the_same_for_any_number_of_threads(done):
    for jobs in (1, 2):
        done("evaluate", "iris", "--cv", 2, "--jobs", jobs, "-o", f"{jobs}.csv", "-q")
    texts = [Path(f"{jobs}.csv").read_text() for jobs in (1, 2)]
    kept = [
        [
            {k: v for k, v in row.items() if "seconds" not in k}
            for row in csv.DictReader(io.StringIO(text))
        ]
        for text in texts
    ]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("gaps", ["none", "some", "all"])
def test_kernels_for_missing_cells_are_used_before_the_clock(monkeypatch, gaps):
    """The first timed fold finds both kinds of prediction used already."""
    x = np.arange(40) % 4
    y = np.arange(40) % 2
    numbers = np.where(x == 3, np.nan, x) if gaps == "some" else x.astype(float)
    texts = np.full(40, -1) if gaps == "all" else x
    table = Table(
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
        seen.append(_incomplete(X))
        return predict(self, X)

    monkeypatch.setattr(BayesNetClassifier, "predict_proba", watched)
    splits, _ = make_splits(y, 2, 1, 0)
    data = TrainingData("d", "y", table, y, None)
    maker = {"NB-ML": lambda: BayesNetClassifier.from_name("NB-ML")}
    results = compare(data, maker, splits, Progress(2, show=False))
    assert len(results) == 2
    warm = seen[:-2]
    assert any(rows.any() for rows in warm)
    assert gaps == "all" or any(not rows.any() for rows in warm)


def test_progress(done, weather):
    arguments = ["evaluate", weather, "-t", "play", "--cv", 2, "-m", "NB-ML"]
    assert done(*arguments).stderr == ""
    lines = done(*arguments, "--progress").stderr.splitlines()
    assert lines[0].startswith("[1/2] NB-ML, fold 1 of repetition 1 (")
    assert len(lines) == 2
    assert done(*arguments, "--progress", "--quiet").stderr == ""


def test_a_rare_class_is_noted(done, tmp_path):
    rows = ["a,y"] + [f"{i},{'pq'[i % 2]}" for i in range(20)] + ["3,rare"]
    (tmp_path / "d.csv").write_text("\n".join(rows))
    result = done("evaluate", "d.csv", "-t", "y", "--cv", 5)
    assert result.stderr == (
        "Note: fewer rows than the 5 folds: rare (1); some folds have none of them.\n"
    )


def test_what_cannot_be_evaluated(failed, weather):
    start = ["evaluate", weather, "-t", "play"]
    assert "use --cv 4 or get more rows" in failed(*start, "--cv", 9)
    assert "Unknown method 'TAN-X'" in failed(*start, "-m", "NB-ML,TAN-X", "--cv", 2)
    assert "empty name" in failed(*start, "-m", "NB-ML,", code=2)
    assert "(.xlsx) are not known" in failed(*start, "-o", "x.xlsx")
    assert "overwrite the input" in failed(*start, "-o", weather)
    assert "does not exist" in failed(*start, "-o", "no/x.csv")
    assert "Missing option '--target'" in failed("evaluate", weather, code=2)


def test_boosted_models_are_compared(done):
    result = done("evaluate", "iris", "-m", "NB+FE,NB+Ada", "--cv", 2, "-o", "r.csv")
    assert "\nNB+Ada  " in result.stdout
    with open("r.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sizes = {row["model"]: int(row["n_parameters"]) for row in rows}
    assert sizes["NB+Ada"] > sizes["NB+FE"]
