"""The scoreboard: cells within limits, resumed runs, adapters, and the command."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score

from lab.__main__ import cli
from lab.data_folder import read_table
from lab.measurements.rival_scores import area_under_curve, rival_scores, split
from lab.runner.cache import CellCache, Record
from lab.runner.cell import Cell
from lab.runner.embedded_tables import refresh_figures
from lab.runner.limits import LimitedMeasure
from lab.runner.pool import run
from lab.runner.results import Results, read, write
from lab.runner.versions import _own_tables, code_version, data_version
from lab.scoreboard import command as module
from lab.scoreboard.plan import (
    Plan,
    RivalMeasure,
    cell_version,
    rival_version,
    seconds_of,
)
from lab.scoreboard.rivals import RIVALS, KnownValues, find_rival
from tanager import InputError
from tests.lab import dummy_rivals

DUMMY = "tests.lab.dummy_rivals:"
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="limits of memory need Linux"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with two small tables."""
    folder = tmp_path / "data"
    folder.mkdir()
    X, y = load_iris(return_X_y=True, as_frame=True)
    frame = X.assign(kind=y.map({0: "a", 1: "b", 2: "c"}))
    frame.to_csv(folder / "flowers.csv", index=False)
    frame.iloc[:100].sample(60, random_state=0).to_csv(folder / "two.csv", index=False)
    monkeypatch.setenv("TANAGER_DATA", str(folder))
    monkeypatch.setenv(dummy_rivals.LOG, str(tmp_path / "log"))
    for cached in (read_table, data_version, _own_tables):
        cached.cache_clear()
    return folder


def cell(rival, data="flowers", fold=1):
    parameters = {"data": data, "rival": DUMMY + rival, "fold": fold, "n_folds": 3}
    return Cell("rival_scores", parameters)


def limits(seconds=60.0, megabytes=2_000.0):
    return LimitedMeasure(seconds, megabytes, ("lab.measurements",))


def test_all_numbers_of_a_cell(folder):
    numbers = rival_scores(data="flowers", rival=DUMMY + "NORMAL", fold=2)
    assert numbers["accuracy"] > 0.85
    assert 0.95 < numbers["auc"] <= 1
    assert (numbers["n_train"], numbers["n_test"]) == (100, 50)
    assert (numbers["n_features"], numbers["n_classes"]) == (4, 3)
    assert numbers["n_parameters"] == 12
    assert 500 < numbers["model_bytes"] < 5_000
    for name in ("fit", "predict"):
        assert numbers[f"{name}_seconds"] >= 0
        assert numbers[f"{name}_wall_seconds"] > 0


def test_folds_are_the_same_for_all_and_cover_all_samples():
    y = np.repeat(["a", "b"], [40, 20])
    tests = [split(y, fold, 3)[1] for fold in (1, 2, 3)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(60))
    for fold, test in enumerate(tests, start=1):
        train, same = split(y, fold, 3)
        np.testing.assert_array_equal(same, test)
        assert not set(train) & set(test)
        assert 5 < (y[test] == "b").sum() < 8


def test_the_area_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    p = random.dirichlet(np.ones(3), size=200).round(1)  # with ties
    p /= p.sum(axis=1, keepdims=True)
    right = random.integers(0, 3, 200)
    expected = np.mean([roc_auc_score(right == c, p[:, c]) for c in range(3)])
    assert area_under_curve(p, right) == pytest.approx(expected)
    assert area_under_curve(p[:3], np.zeros(3, dtype=int)) == 1.0


def test_a_cell_in_a_process_of_its_own(folder):
    record = limits()(cell("NORMAL"))
    assert record.error is None
    here = rival_scores(**cell("NORMAL").parameters)
    assert record.numbers["log_loss"] == here["log_loss"]


def test_failures_are_records(folder):
    measure = limits(2.0, 500.0)
    assert measure(cell("BROKEN")).error == "ValueError: cannot fit 100 samples"
    assert "SIGABRT" in measure(cell("CRASHING")).error
    assert measure(cell("GREEDY")).error == "memory limit: more than 500 MB"
    assert measure(cell("ENDLESS")).error == (
        "time limit: more than 2 processor seconds"
    )


def test_a_process_that_waits_is_ended_too(folder):
    record = limits(0.2)(cell("WAITING"))
    assert record.error == (
        "time limit: more than 0.2 processor seconds or 4 seconds in all"
    )


def test_the_time_limit_of_the_first_fold_counts_for_the_others(folder, tmp_path):
    cache = CellCache(tmp_path / "cells", code=cell_version)
    measure = RivalMeasure(limits(1.0), str(cache.folder))
    plan = [cell("ENDLESS", fold=fold) for fold in (1, 2, 3)] + [cell("PRIOR")]
    outcome = run(plan, cache, measure=measure, kept=measure.stands)
    assert set(outcome.numbers) == {cell("PRIOR")}
    assert set(outcome.failed.values()) == {"time limit: more than 1 processor seconds"}
    assert [cache.get(one).seconds > 0.5 for one in plan[:3]] == [True, False, False]
    # They stand, but not where there is more time.
    assert all(measure.stands(cache.get(one)) for one in plan[:3])
    longer = RivalMeasure(limits(2.0), str(cache.folder))
    assert not longer.stands(cache.get(plan[0]))
    assert longer.stands(Record(None, "ValueError: no", 1.0, "x"))
    assert seconds_of("time limit: more than 1 processor seconds") == 1.0


def test_what_another_run_has_measured_is_not_measured_again(folder, tmp_path):
    cache = CellCache(tmp_path / "cells", code=cell_version)
    known = Record({"accuracy": 0.5}, None, 1.0, cell_version(cell("PRIOR")))
    cache.put(cell("PRIOR"), known)
    assert RivalMeasure(limits(), str(cache.folder))(cell("PRIOR")) == known


def test_versions_of_rivals():
    assert rival_version("tanager") == code_version()
    version = rival_version("logistic regression")
    assert version.startswith("scikit-learn ")
    assert find_rival(DUMMY + "ABSENT").version is None
    assert all(rival.package for rival in RIVALS.values())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("LightGBN", "known are tanager"),
        ("nowhere_at_all:FOREST", "cannot be imported"),
        (DUMMY + "LOG", "place of a `Rival`"),
    ],
)
def test_rivals_that_are_not_known(name, says):
    with pytest.raises(InputError, match=says):
        find_rival(name)


def test_what_is_cheap_comes_first(folder):
    rivals = ["tanager", "EBM"]
    plan = Plan.of(folder, n_slow_folds=3, rivals=rivals)
    order = [
        tuple(one.parameters[k] for k in ("data", "rival", "fold"))
        for one in plan.cells
    ]
    assert len(order) == len(set(order)) == 12
    assert [one[1] for one in order[:8]] == ["tanager"] * 6 + ["EBM"] * 2
    assert [one[2] for one in order[6:]] == [1, 1, 2, 3, 2, 3]
    assert order[0][0] == "two"


def test_slow_rivals_are_measured_in_the_first_fold(folder):
    plan = Plan.of(folder, rivals=["tanager", "EBM"])
    folds = Counter(
        (one.parameters["rival"], one.parameters["fold"]) for one in plan.cells
    )
    assert folds == {("tanager", fold): 2 for fold in (1, 2, 3)} | {("EBM", 1): 2}


def test_known_values_for_models_that_take_no_others():
    class Watched(DummyClassifier):
        def fit(self, X, y):
            self.seen = X
            return super().fit(X, y)

        def predict_proba(self, X):
            self.asked = X
            return super().predict_proba(X)

    words = pd.Series(["1", "2", "2", None], dtype="category")
    X = pd.DataFrame({"x": [1.0, 3.0, np.nan, 5.0], "word": words})
    model = KnownValues(Watched()).fit(X, np.array(["a", "b", "a", "b"]))
    assert model.model.seen["x"].tolist() == [1.0, 3.0, 3.0, 5.0]
    assert model.model.seen["word"].tolist() == ["=1", "=2", "=2", "=missing"]
    new = pd.DataFrame({"x": [4.0, 9.0, np.nan], "word": ["7", "1", None]})
    model.predict_proba(new)
    assert model.model.asked["x"].tolist() == [3.0, 5.0, 3.0]
    assert model.model.asked["word"].tolist() == ["=2", "=1", "=missing"]


def invoke(*arguments):
    return CliRunner().invoke(cli, ["scoreboard", *map(str, arguments)])


def test_a_run_and_what_it_leaves(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PRELOAD", ("lab.measurements",))
    rivals = [
        x for name in ("PRIOR", "NORMAL", "BROKEN") for x in ("--rival", DUMMY + name)
    ]
    where = ["-o", tmp_path / "out", "--cache", tmp_path / "cells"]
    found = invoke(*rivals, *where)
    assert found.exit_code == 0, found.output
    assert "12 of 18 cells measured, 6 failed or reached a limit, 0 not" in found.output
    saved = read(tmp_path / "out" / "scoreboard" / "averages.cells.csv")
    assert len(saved) == 12
    assert set(saved.missing.values()) <= {
        f"ValueError: cannot fit {n} samples" for n in (40, 100)
    }
    text = (tmp_path / "out" / "scoreboard" / "averages.cells.csv").read_text()
    assert text.startswith("# tanager ")
    # Nothing is left to do, here or on another machine.
    assert "18 cells, 0 of them to be measured" in invoke(*rivals, *where).output
    other = ["-o", tmp_path / "out", "--cache", tmp_path / "none", "--saved"]
    found = invoke(*rivals, *other)
    assert "18 cells, 0 of them to be measured" in found.output
    assert read(tmp_path / "out" / "scoreboard" / "averages.cells.csv") == saved


@pytest.mark.slow
def test_a_killed_run_is_continued(folder, tmp_path):
    log = Path(os.environ[dummy_rivals.LOG])
    arguments = [
        sys.executable, "-m", "lab", "scoreboard", "--cache", str(tmp_path / "cells"),
        "-o", str(tmp_path / "out"), "--rival", DUMMY + "NOTED",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert within(120.0, lambda: log.exists() and log.read_text().count("fit") >= 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)
    n_known = len(list((tmp_path / "cells").rglob("*.json")))
    before = log.read_text().count("fit")
    assert 1 <= n_known < 6
    done = subprocess.run(
        arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"6 cells, {6 - n_known} of them to be measured" in done.stderr
    assert log.read_text().count("fit") == before + 6 - n_known
    files = [json.loads(f.read_text()) for f in (tmp_path / "cells").rglob("*.json")]
    assert len(files) == 6
    assert all("numbers" in one for one in files)


def within(seconds, happened):
    """Whether it happens before the time is over."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
    return happened()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--folds", "1"], "at least 2"),
        (["--jobs", "0"], "at least 1"),
        (["--seconds", "0"], "above 0"),
    ],
)
def test_options_that_are_wrong(folder, arguments, says):
    found = invoke(*arguments)
    assert found.exit_code == 2
    assert says in found.output


def test_the_list_of_tables_and_rivals(folder):
    found = invoke("--list", "--rival", DUMMY + "ABSENT")
    assert "flowers" in found.output
    assert "150 samples" in found.output
    assert "LightGBM" in found.output


def test_a_part_of_the_board_does_not_replace_it(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke("--rival", DUMMY + "ABSENT", "--cache", tmp_path / "c")
    assert (tmp_path / "lab-quick" / "scoreboard" / "coverage.csv").is_file()


def test_a_rival_that_is_not_installed(folder, tmp_path):
    found = invoke(
        "--rival", DUMMY + "ABSENT", "-o", tmp_path / "out", "--cache", tmp_path / "c"
    )
    assert found.exit_code == 1
    assert "ABSENT is not installed" in found.output
    assert "6 not measured yet" in found.output


def test_cells_without_numbers_are_kept_in_files(tmp_path):
    cells = [cell("PRIOR", fold=fold) for fold in (1, 2, 3)]
    results = Results.of(cells, {cells[1]: {"a": 0.5}}, {cells[0]: "time limit: x, y"})
    write(tmp_path / "file.csv", results)
    again = read(tmp_path / "file.csv")
    assert dict(again) == {cells[1]: {"a": 0.5}}
    assert again.missing == {cells[0]: "time limit: x, y"}
    assert again.where(fold=1).missing == again.missing
    assert not again.where(fold=2).missing


def test_reproduce_names_the_command_that_measures():
    found = CliRunner().invoke(cli, ["reproduce", "scoreboard/ranks"])
    assert found.exit_code == 2
    assert "`python -m lab scoreboard`" in found.output


def test_figures_of_pages_are_copied(tmp_path):
    results = tmp_path / "results"
    (results / "a").mkdir(parents=True)
    (results / "a" / "b.svg").write_bytes(b"<svg/>")
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n<!-- lab figure: a/b -->\n![What it shows](b.svg)\n")
    assert refresh_figures(page, results) == [tmp_path / "b.svg"]
    assert (tmp_path / "b.svg").read_bytes() == b"<svg/>"
    assert refresh_figures(page, results) == []
    with pytest.raises(InputError, match="No figure of a/b"):
        refresh_figures(page, tmp_path)
