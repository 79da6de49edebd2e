import csv
import io
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from tanager.classifiers import BayesNetClassifier
from tanager.cli._input_data import load_data, training_data


def test_evaluate_with_rows_without_a_class(done, failed):
    rows = ["u,p", "v,q", "u,", "v,", "u,p", "v,q"] * 5
    text = "\n".join(["a,y", *rows]) + "\n"
    command = ["evaluate", "-", "-t", "y", "--cv", "2", "-m"]
    shown = done(*command, "NB+EM,TAN+APN", "-o", "out.csv", input=text).stdout
    assert "30 samples (10 unlabelled), 1 feature, 2 classes" in shown
    head, first, *_ = Path("out.csv").read_text().splitlines()
    fold = dict(zip(head.split(","), first.split(","), strict=True))
    assert (fold["n_train"], fold["n_test"]) == ("10", "10")
    assert float(fold["accuracy"]) == 1.0
    assert "10 of 30 samples" in failed(*command, "NB+EM,NB+FE", input=text)
    assert "Unknown method 'NB+F'" in failed(*command, "NB+FE,NB+F", input=text)


def test_evaluate_prints_a_table(done):
    result = done("evaluate", "iris", "--models", "NB-ML,TAN-CMI-ML,NB+FE", "--cv", 3)
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "sklearn/iris: 150 samples, 4 features, 3 classes",
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
        "Note: classes with fewer samples than the 5 folds: rare (1); some folds have "
        "none of them.\n"
    )


def test_what_cannot_be_evaluated(failed, weather):
    start = ["evaluate", weather, "-t", "play"]
    assert "use at most 4 folds or more samples" in failed(*start, "--cv", 9)
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
