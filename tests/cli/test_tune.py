import csv
import io
import signal
from pathlib import Path

import numpy as np
import pytest

from tanager import BayesNetClassifier, datasets, load
from tanager.classifiers.tuning import validation_split
from tanager.classifiers.tuning_result import HalvingSchedule
from tanager.structure.gumbel.training_loop import TrainingLoop

QUICK = ["tune", "iris", "-m", "NB-HYB", "-n", 4, "--epochs", 6]


def results_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("n_settings", [1, 2, 3, 8, 9, 26, 27])
def test_scikit_learn_follows_the_schedule(n_settings, done):
    shown = done(
        *("tune", "iris", "-m", "NB-MM", "--epochs", 9, "-n", n_settings),
        *("--results", "-"),
    )
    rows = results_of(shown.stdout)
    schedule = HalvingSchedule.of(n_settings, 9)
    for k, (number, epochs) in enumerate(
        zip(schedule.settings, schedule.epochs, strict=True)
    ):
        own = [row for row in rows if row["round"] == str(k + 1)]
        assert len(own) == number
        assert {row["epochs"] for row in own} == {str(epochs)}
    assert len(rows) == schedule.n_fits


def test_the_table_names_the_best(done):
    shown = done(*QUICK, "-o", "m.json")
    lines = shown.stdout.splitlines()
    assert lines[:3] == [
        "sklearn/iris: 150 samples, 4 features, 3 classes",
        "NB-HYB: 4 settings for 2 epochs, 2 of them for 6",
        "validated on 38 samples, seed 0",
    ]
    head, *settings = lines[4:9]
    assert head.split() == ["Setting", "lambda", "gamma", "eta", "rate", "Epochs", *(
        "Error", "%")]  # fmt: skip
    cells = [line.split() for line in settings]
    assert sorted(int(line[0]) for line in cells) == [1, 2, 3, 4]
    assert ["1", "100", "own", "10", "0.03"] in [line[:5] for line in cells]
    assert [line[5] for line in cells] == ["6", "6", "2", "2"]
    best, values = lines[-1].split(", ", 1)
    assert best == f"Best: setting {cells[0][0]}"
    assert values == "lambda {}, gamma {}, eta {}, rate {}.".format(*cells[0][1:5])
    assert max(map(len, lines)) <= 80
    said = shown.stderr.splitlines()
    assert said[0].startswith("Trained 6 times in ")
    assert said[1] == f"Fitting NB-HYB with setting {cells[0][0]} to all samples."
    assert said[2].startswith("Wrote m.json: 4 arcs, ")


def test_the_model_is_the_best_setting_fitted_to_all_rows(done):
    shown = done(*QUICK, "-o", "m.json", "--results", "r.csv")
    rows = results_of(Path("r.csv").read_text())
    last = [row for row in rows if row["round"] == "2"]
    best = min(
        last, key=lambda row: (float(row["error"]), -float(row["right_probability"]))
    )
    assert f"Best: setting {best['setting']}," in shown.stdout
    iris = datasets.load("iris")
    expected = BayesNetClassifier.from_name("NB-HYB", random_state=0).set_params(
        parameters__loss__lambda_=float(best["lambda"]),
        parameters__loss__gamma=float(best["gamma"]),
        parameters__loss__eta=float(best["eta"]),
        parameters__rate=float(best["rate"]),
        parameters__epochs=6,
    )
    expected.fit(iris.X, iris.y)
    found = load("m.json")
    np.testing.assert_array_equal(
        found.predict_proba(iris.X), expected.predict_proba(iris.X)
    )


def test_errors_are_those_of_the_rows_held_out(done):
    iris = datasets.load("iris")
    learned, validated = validation_split(iris.y.to_numpy(), 0.25, seed=3)
    for row in results_of(done(*QUICK, "--seed", 3, "--results", "-").stdout):
        model = BayesNetClassifier.from_name("NB-HYB", random_state=3).set_params(
            parameters__epochs=int(row["epochs"]),
            parameters__loss__lambda_=float(row["lambda"]),
            parameters__loss__gamma=float(row["gamma"]) if row["gamma"] else None,
            parameters__loss__eta=float(row["eta"]),
            parameters__rate=float(row["rate"]),
        )
        model.fit(iris.X.iloc[learned], iris.y.iloc[learned])
        right = model.score(iris.X.iloc[validated], iris.y.iloc[validated])
        assert float(row["error"]) == pytest.approx(1 - right)
        found = model.predict_proba(iris.X.iloc[validated])
        places = np.searchsorted(model.classes_, iris.y.iloc[validated])
        probability = found[np.arange(len(places)), places].mean()
        assert float(row["right_probability"]) == pytest.approx(probability)
        assert (row["n_train"], row["n_validation"]) == ("112", "38")
        assert (row["data"], row["model"]) == ("sklearn/iris", "NB-HYB")
        assert (row["seed"], row["tanager"][0]) == ("3", "0")


def test_threads_and_repetition_change_nothing(done):
    texts = [
        done(*QUICK, "--jobs", jobs, "-o", f"m{k}.json").stdout
        for k, jobs in enumerate((1, 1, 2, -1))
    ]
    assert len(set(texts)) == 1
    models = {Path(f"m{k}.json").read_bytes() for k in range(4)}
    assert len(models) == 1
    assert done(*QUICK, "--seed", 1).stdout != texts[0]


def test_two_learners_with_the_same_arguments(done):
    command = ["tune", "iris", "-m", "TAN-Subset8-MM", "-n", 2, "--epochs", 2]
    lines = done(*command, "-o", "m.json").stdout.splitlines()
    of_structure = ["lambda", "gamma.s", "eta.s", "rate.s"]
    of_parameters = ["gamma.p", "eta.p", "rate.p"]
    assert lines[4].split()[1:-3] == [*of_structure, *of_parameters]
    assert "Ending in .s: of the structure; in .p: of the parameters." in lines
    assert max(map(len, lines)) <= 80
    assert load("m.json").structure.epochs == 2


def test_a_named_tree_by_gradient(done):
    command = ["tune", "iris", "-m", "TAN-Subset2-HYB", "-n", 3, "--epochs", 3]
    shown = done(*command, "-o", "m.json").stdout
    number = int(shown.rpartition("Best: setting ")[2].split(",")[0])
    model = load("m.json")
    assert (model.structure.epochs, model.structure.n_candidates) == (3, 2)
    assert (model.structure.loss is None) == (number == 1)


def test_weights_missing_cells_and_classes_of_a_file(done):
    rows = ["u,1,p,1", "v,2,q,1", ",1,p,2", "v,,q,1", "u,2,p,0"] * 8
    text = "\n".join(["a,b,y,w", *rows]) + "\n"
    command = ["tune", "-", "-t", "y", "-m", "TAN-CMI-MM", "-n", 3, "--epochs", 3]
    done(*command, "--weights", "w", "-o", "m.json", input=text)
    model = load("m.json")
    assert list(model.classes_) == ["p", "q"]
    assert model.network_.schema.target_variable.name == "y"
    assert model.parameters.epochs == 3


def test_a_class_without_weight_is_never_predicted(done):
    rows = ["u,p,1", "v,q,1", "u,r,0", "v,q,1"] * 8
    text = "\n".join(["a,y,w", *rows]) + "\n"
    command = ["tune", "-", "-t", "y", "-m", "NB-MM", "-n", 1, "--epochs", 2]
    shown = done(*command, "--weights", "w", "--results", "-", input=text)
    (row,) = results_of(shown.stdout)
    # A quarter of the rows held out is of the class r, and wrong.
    assert float(row["error"]) == 0.25


def test_a_single_class_with_weight_is_called_by_its_name(tanager):
    text = "\n".join(["a,y,w", *["u,p,1", "v,q,0"] * 8]) + "\n"
    command = ["tune", "-", "-t", "y", "-m", "NB-MM", "--weights", "w"]
    result = tanager(*command, input=text)
    assert result.exit_code == 1
    assert "only one class, 'p'" in result.stderr


@pytest.mark.usefixtures("ctrl_c_as_usual")
def test_ctrl_c_ends_the_search_not_only_the_learner(tanager, monkeypatch):
    epoch = TrainingLoop._epoch

    def interrupted(run, number):
        if number == 1:
            signal.raise_signal(signal.SIGINT)
        return epoch(run, number)

    monkeypatch.setattr(TrainingLoop, "_epoch", interrupted)
    command = ["tune", "iris", "-m", "TAN-Gumbel-HYB", "-n", 2, "--epochs", 2]
    result = tanager(*command, "-o", "m.json")
    assert (result.exit_code, result.stderr.strip()) == (130, "Interrupted.")
    assert "Best" not in result.stdout
    assert not Path("m.json").exists()


def test_progress_and_quiet(done):
    said = done(*QUICK, "--progress").stderr.splitlines()
    assert said[0].startswith("[1/6] 2 epochs: error ")
    assert said[5].startswith("[6/6] 6 epochs: error ")
    assert "least so far" in said[5]
    assert done(*QUICK, "--quiet", "-o", "m.json").stderr == ""


def test_what_is_refused(failed, weather):
    assert "(Frequency, NaiveBayes) is trained in epochs" in failed(
        "tune", "iris", "-m", "NB-ML", "-o", "m.json"
    )
    assert "Unknown method 'NB-HYBR'" in failed("tune", "iris", "-m", "NB-HYBR")
    assert "'--settings': 0 is not" in failed("tune", "iris", "-n", 0, code=2)
    assert "'--epochs': 0 is not" in failed("tune", "iris", "--epochs", 0, code=2)
    for fraction in (0, 1, 1.5):
        error = failed("tune", "iris", "--held-out", fraction, code=2)
        assert f"between 0 and 1, got {fraction:g}" in error
    assert "not to standard output" in failed("tune", "iris", "-o", "-", code=2)
    same = failed("tune", "iris", "-o", "m.csv", "--results", "m.csv", code=2)
    assert "give two names" in same
    assert "overwrite the input" in failed("tune", weather, "-o", weather)
    assert "folder" in failed("tune", "iris", "-o", "nowhere/m.json")
    assert "Missing option '--target'" in failed("tune", weather, code=2)
    few = failed("tune", weather, "-t", "play", "--held-out", 0.1)
    assert "leaves 1 on one side, fewer than the 2 classes" in few
    assert not Path("m.json").exists()
