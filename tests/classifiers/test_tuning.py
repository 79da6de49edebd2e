import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    GumbelTree,
    KeepTables,
    LossMinimizer,
    TuningResult,
    tune,
)
from tanager.classifiers.tuning import HeldOutData, Search, _titles, validation_split
from tanager.classifiers.tuning_result import HalvingSchedule, Setting
from tanager.errors import InputError
from tanager.losses import HybridLoss


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def result(iris):
    return tune("NB-HYB", *iris, n_settings=4, epochs=6, name="iris")


def test_the_estimator_is_the_best_setting_fitted_to_all_samples(iris, result):
    X, y = iris
    expected = BayesNetClassifier.from_name("NB-HYB", random_state=0)
    expected.set_params(**result.best_params, parameters__epochs=6).fit(X, y)
    np.testing.assert_array_equal(
        result.estimator.predict_proba(X), expected.predict_proba(X)
    )
    again = tune(expected, X, y, n_settings=4, epochs=6, refit=False, n_jobs=2)
    assert not hasattr(again.estimator, "classes_")
    assert again.model == "BayesNetClassifier"


def test_the_error_is_that_on_the_validation_set(iris, result):
    X, y = iris
    train, validation = validation_split(y.to_numpy(), 0.25, seed=0)
    model = BayesNetClassifier.from_name("NB-HYB", random_state=0)
    model.set_params(**result.best_params, parameters__epochs=6)
    model.fit(X.iloc[train], y.iloc[train])
    error = 1 - model.score(X.iloc[validation], y.iloc[validation])
    assert result.best_error == pytest.approx(error)
    assert (result.n_train, result.n_validation) == (len(train), len(validation))


def test_text_and_exports(result, tmp_path):
    assert repr(result) == str(result)
    assert str(result).startswith(
        "NB-HYB: 4 settings for 2 epochs, 2 of them for 6\n"
        "validated on 38 samples, seed 0\n\nSetting"
    )
    frame = result.to_frame()
    assert len(frame) == 6
    assert list(frame.columns[:5]) == ["data", "model", "seed", "setting", "lambda"]
    result.to_csv(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0].split(",") == list(frame.columns)
    assert len(lines) == 7


def test_plot(result, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figure = result.plot(tmp_path / "errors")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "Error on the validation set (%)"
    assert len(axes.lines) == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["errors.png", "errors.svg"]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"tanager\[plot\]"):
        result.plot()


def test_progress_is_reported(iris):
    steps = []
    tune(
        *("NB-MM", *iris),
        n_settings=3,
        epochs=3,
        progress=lambda *step: steps.append(step),
    )
    assert [step[:2] for step in steps] == [(k, 4) for k in (1, 2, 3, 4)]
    assert steps[0][2].startswith("1 epoch: error ")


def test_what_is_refused(iris):
    with pytest.raises(InputError, match="Nothing to tune"):
        tune("NB-ML", *iris)
    with pytest.raises(InputError, match="n_settings must be a whole"):
        tune("NB-HYB", *iris, n_settings=0)
    with pytest.raises(InputError, match="epochs must be a whole"):
        tune("NB-HYB", *iris, epochs=0)
    with pytest.raises(InputError, match="validation_fraction must be"):
        tune("NB-HYB", *iris, validation_fraction=1.5)
    with pytest.raises(InputError, match="missing"):
        tune("NB-HYB", iris[0], [None, *iris[1][1:]])


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
def test_the_schedule(n_settings, epochs, settings, trained):
    assert HalvingSchedule.of(n_settings, epochs) == HalvingSchedule(settings, trained)


def test_more_settings_begin_with_the_same():
    model = BayesNetClassifier.from_name("TAN-CMI-HYB")
    few, many = (Search(model, n, seed=5).settings for n in (4, 9))
    assert [s.values for s in few] == [s.values for s in many[:4]]
    assert few[0].arguments == {}
    assert few[0].values == (100.0, None, 10.0, 0.03)


def test_settings_are_different_from_each_other():
    model = BayesNetClassifier(structure="nb", parameters=LossMinimizer())
    search = Search(model, 20, seed=0)
    assert search.titles == ("rate",)
    assert sorted(s.values for s in search.settings) == [(0.003,), (0.03,)]
    assert search.schedule.settings == (2,)


def test_a_learner_that_chooses_its_loss():
    model = BayesNetClassifier(
        structure=GumbelTree(epochs=3), parameters=KeepTables(), random_state=0
    )
    search = Search(model, 3, seed=0)
    assert search.titles == ("lambda", "gamma", "eta", "rate")
    assert search.settings[0].values == (None, None, None, None)
    X, y = load_iris(return_X_y=True)
    result = tune(model, X, y, n_settings=3, refit=False)
    assert [setting.epochs for setting in result.settings] == [(1, 3), (1,), (1,)]
    assert " own " in result.table()
    for setting in result.settings:
        loss = search.classifier(setting).structure.loss
        if setting.number == 1:
            assert loss is None
        else:
            assert (loss.lambda_, loss.gamma, loss.eta) == setting.values[:3]


def test_short_titles_are_different():
    names = ["structure__loss__gamma", "structure__rate", "parameters__gamma"]
    assert _titles(names) == ("gamma.s", "rate", "gamma.p")


def test_the_classifier_is_left_as_it_was():
    model = BayesNetClassifier.from_name("NB-HYB")
    before = repr(model)
    search = Search(model, 3, seed=0, epochs=7)
    assert search.classifier(search.settings[1]).parameters.epochs == 7
    assert repr(model) == before


def result_of(settings):
    schedule = HalvingSchedule.of(len(settings), 9)
    return TuningResult(
        "NB-HYB", "d", ("lambda", "rate"), tuple(settings), schedule, 9, 3, 0, 1.0, None
    )


def test_values_of_the_learner_and_long_tables():
    first = Setting(1, {}, (None, 0.03), (9,), (0.25,), (0.7,), (1.0,))
    others = [
        Setting(k, {}, (10.0 * k, 0.003), (9,), (0.5,), (0.4,), (1.0,))
        for k in range(2, 24)
    ]
    lines = result_of([first, *others]).table().splitlines()
    assert lines[1].split() == ["1", "own", "0.03", "9", "25.00"]
    assert len(lines) == 22
    assert lines[-1] == "... and 3 more; to_frame() has all"
    assert (
        result_of([first, *others])
        .legend()
        .endswith(
            "own: the method chooses the value itself.\n"
            "Best: setting 1, lambda own, rate 0.03."
        )
    )
    untold = Setting(1, {}, (None, None), (9,), (0.25,), (0.7,), (1.0,))
    assert result_of([untold]).legend().endswith("Best: setting 1, the method's own.")
    assert "own: " not in result_of(others).legend()


def test_a_class_with_a_single_sample_is_named():
    with pytest.raises(InputError, match=r"have only 1: a, d\. Leave them out"):
        validation_split(np.array(list("abbbccccd")), 0.25, seed=0)


def test_the_validation_set_has_all_classes():
    labels = np.repeat(["a", "b", "c"], [40, 20, 4])
    learned, validated = validation_split(labels, 0.25, seed=0)
    assert sorted([*learned, *validated]) == list(range(64))
    assert list(np.unique(labels[validated], return_counts=True)[1]) == [10, 5, 1]


def test_settings_are_kept_by_error_then_by_the_right_probability(iris):
    result = tune("NB-HYB", *iris, n_settings=9, epochs=9)
    numbers = {len(s.epochs): [] for s in result.settings}
    for setting in result.settings:
        numbers[len(setting.epochs)].append(
            (setting.errors[0], -setting.probabilities[0])
        )
    stopped, second, last = (numbers[k] for k in (1, 2, 3))
    assert (len(stopped), len(second), len(last)) == (6, 2, 1)
    assert min(stopped) >= max(second + last)
    assert result.best_params == result.settings[0].arguments


def test_a_boosted_classifier_is_tuned(iris):
    base = BayesNetClassifier(
        structure="nb", parameters=LossMinimizer(loss=HybridLoss()), n_jobs=2
    )
    model = BoostedClassifier(base, n_estimators=2, random_state=0)
    result = tune(model, *iris, n_settings=3, epochs=3)
    assert result.model == "BoostedClassifier"
    assert result.estimator.get_params()["estimator__n_jobs"] == 2
    assert result.estimator.score(*iris) > 0.8


@pytest.mark.parametrize("model", [3, None, LogisticRegression()])
def test_other_models_are_refused(iris, model):
    with pytest.raises(InputError, match=r"model must be a method name.*, got "):
        tune(model, *iris)


def test_ties_go_to_the_lowest_number(iris, monkeypatch):
    def train(data, model, setting, epochs):
        return replace(
            setting,
            epochs=(*setting.epochs, epochs),
            errors=(*setting.errors, 0.25),
            probabilities=(*setting.probabilities, 0.5),
            seconds=(*setting.seconds, 0.0),
        )

    monkeypatch.setattr(HeldOutData, "train", train)
    result = tune("NB-HYB", *iris, n_settings=20, epochs=9, refit=False)
    assert [s.number for s in result.settings] == list(range(1, 21))
    assert [len(s.epochs) for s in result.settings[:8]] == [3] * 3 + [2] * 4 + [1]
