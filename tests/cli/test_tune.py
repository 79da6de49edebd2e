import csv
import io
import signal
from pathlib import Path

import numpy as np
import pytest

from tanager import (
    BayesNetClassifier,
    GumbelTree,
    KeepTables,
    LossMinimizer,
    datasets,
    load,
)
from tanager.cli._data import load_data, training_data
from tanager.cli._output import Progress
from tanager.cli._tuning import Search, _unpacked, validation_split
from tanager.cli._tuning_results import Plan, Setting, legend_text, summary_text
from tanager.errors import InputError
from tanager.structure.gumbel.training_loop import GumbelRun

QUICK = ["tune", "iris", "-m", "NB-HYB", "-n", 4, "--epochs", 6]


def results_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("n_settings", "epochs", "settings", "trained"),
    [
        (1, 100, (1,), (100,)),
        (2, 100, (2,), (100,)),
        (3, 100, (3, 1), (33, 99)),
        (20, 100, (20, 7, 3), (11, 33, 99)),
        (20, 2, (20,), (2,)),
        (20, 5, (20, 7), (1, 3)),
        (9, 500, (9, 3, 1), (55, 165, 495)),
    ],
)
def test_the_plan(n_settings, epochs, settings, trained):
    assert Plan.of(n_settings, epochs) == Plan(settings, trained)


@pytest.mark.parametrize("n_settings", [1, 2, 3, 8, 9, 26, 27])
def test_scikit_learn_follows_the_plan(n_settings, done):
    shown = done(
        *("tune", "iris", "-m", "NB-MM", "--epochs", 9, "-n", n_settings),
        *("--results", "-"),
    )
    rows = results_of(shown.stdout)
    plan = Plan.of(n_settings, 9)
    for k, (number, epochs) in enumerate(zip(plan.settings, plan.epochs, strict=True)):
        own = [row for row in rows if row["round"] == str(k + 1)]
        assert len(own) == number
        assert {row["epochs"] for row in own} == {str(epochs)}
    assert len(rows) == plan.n_runs


def test_the_table_names_the_best(done):
    shown = done(*QUICK, "-o", "m.json")
    lines = shown.stdout.splitlines()
    assert lines[:3] == [
        "sklearn/iris: 150 rows, 4 features, 3 classes",
        "NB-HYB: 4 settings for 2 epochs, 2 of them for 6",
        "validated on 38 rows, seed 0",
    ]
    head, *settings = lines[4:9]
    assert head.split() == ["Setting", "lambda", "gamma", "eta", "rate", "Epochs", *(
        "Error", "%")]  # fmt: skip
    cells = [line.split() for line in settings]
    assert sorted(int(line[0]) for line in cells) == [1, 2, 3, 4]
    assert ["1", "100", "20", "10", "0.03"] in [line[:5] for line in cells]
    assert [line[5] for line in cells] == ["6", "6", "2", "2"]
    best, values = lines[-1].split(", ", 1)
    assert best == f"Best: setting {cells[0][0]}"
    assert values == "lambda {}, gamma {}, eta {}, rate {}.".format(*cells[0][1:5])
    assert max(map(len, lines)) <= 80
    said = shown.stderr.splitlines()
    assert said[0].startswith("Trained 6 times in ")
    assert said[1] == f"Fitting NB-HYB with setting {cells[0][0]} to all rows."
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
            parameters__loss__gamma=float(row["gamma"]),
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


def test_more_settings_begin_with_the_same():
    model = BayesNetClassifier.from_name("TAN-CMI-HYB")
    few, many = (Search(model, n, seed=5).settings for n in (4, 9))
    assert [s.values for s in few] == [s.values for s in many[:4]]
    assert few[0].arguments == {}
    assert few[0].values == (100.0, 20.0, 10.0, 0.03)


def test_settings_are_different_from_each_other():
    model = BayesNetClassifier(structure="nb", parameters=LossMinimizer())
    search = Search(model, 20, seed=0)
    assert search.titles == ("rate",)
    assert sorted(s.values for s in search.settings) == [(0.003,), (0.03,)]
    assert search.plan.settings == (2,)


def test_a_learner_that_chooses_its_loss():
    model = BayesNetClassifier(
        structure=GumbelTree(epochs=3), parameters=KeepTables(), random_state=0
    )
    search = Search(model, 3, seed=0)
    assert search.titles == ("lambda", "gamma", "eta", "rate")
    assert search.settings[0].values == (None, None, None, None)
    rows = training_data(load_data("iris"), None)
    split = validation_split(rows.labels, 0.25, seed=0)
    ranked = search.run(rows, split, 1, Progress(4, show=False))
    assert [setting.epochs for setting in ranked] == [(1, 3), (1,), (1,)]
    assert " own " in summary_text(search.titles, ranked)
    for setting in ranked:
        loss = search.classifier(setting).structure.loss
        if setting.number == 1:
            assert loss is None
        else:
            assert (loss.lambda_, loss.gamma, loss.eta) == setting.values[:3]


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


def test_the_classifier_is_left_as_it_was():
    model = BayesNetClassifier.from_name("NB-HYB")
    before = repr(model)
    search = Search(model, 3, seed=0, epochs=7)
    assert search.classifier(search.settings[1]).parameters.epochs == 7
    assert repr(model) == before


def test_values_of_the_learner_and_long_tables():
    first = Setting(1, {}, (None, 0.03), (9,), (0.25,), (0.7,), (1.0,))
    others = [
        Setting(k, {}, (10.0 * k, 0.003), (9,), (0.5,), (0.4,), (1.0,))
        for k in range(2, 24)
    ]
    lines = summary_text(("lambda", "rate"), [first, *others]).splitlines()
    assert lines[1].split() == ["1", "own", "0.03", "9", "25.00"]
    assert len(lines) == 22
    assert lines[-1] == "... and 3 more; --results writes all"
    text = legend_text(("lambda", "rate"), [first, *others])
    assert text.endswith(
        "Where it says own, the method chooses the value itself.\n"
        "Best: setting 1, lambda own, rate 0.03."
    )
    untold = Setting(1, {}, (None, None), (9,), (0.25,), (0.7,), (1.0,))
    text = legend_text(("lambda", "rate"), [untold])
    assert text.endswith("Best: setting 1, the method's own.")
    assert " own, " not in legend_text(("lambda", "rate"), others)


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
    epoch = GumbelRun._epoch

    def interrupted(run, number):
        if number == 1:
            signal.raise_signal(signal.SIGINT)
        return epoch(run, number)

    monkeypatch.setattr(GumbelRun, "_epoch", interrupted)
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
    for share in (0, 1, 1.5):
        error = failed("tune", "iris", "--held-out", share, code=2)
        assert f"between 0 and 1, got {share:g}" in error
    assert "not to standard output" in failed("tune", "iris", "-o", "-", code=2)
    same = failed("tune", "iris", "-o", "m.csv", "--results", "m.csv", code=2)
    assert "give two names" in same
    assert "overwrite the input" in failed("tune", weather, "-o", weather)
    assert "folder" in failed("tune", "iris", "-o", "nowhere/m.json")
    assert "Missing option '--target'" in failed("tune", weather, code=2)
    few = failed("tune", weather, "-t", "play", "--held-out", 0.1)
    assert "leaves 1 on one side, fewer than the 2 classes" in few
    assert not Path("m.json").exists()


def test_a_class_with_a_single_row_is_named():
    with pytest.raises(InputError, match=r"have only 1: a, d\. Leave such rows out"):
        validation_split(np.array(list("abbbccccd")), 0.25, seed=0)


def test_the_rows_held_out_have_all_classes():
    labels = np.repeat(["a", "b", "c"], [40, 20, 4])
    learned, validated = validation_split(labels, 0.25, seed=0)
    assert sorted([*learned, *validated]) == list(range(64))
    assert list(np.unique(labels[validated], return_counts=True)[1]) == [10, 5, 1]


@pytest.mark.parametrize("n_rows", [1, 7, 450, 99_999])
def test_a_score_has_error_and_probability(n_rows):
    for right in {0, n_rows // 3, n_rows}:
        for probability in (0.0, 0.3, 1.0):
            score = (right + probability / 2) / n_rows
            error, found = _unpacked(score, n_rows)
            assert error == (n_rows - right) / n_rows
            assert found == pytest.approx(probability, abs=1e-9)
