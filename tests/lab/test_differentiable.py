from dataclasses import replace
from functools import partial

import numpy as np
import pytest

pytest.importorskip(
    "lab.studies.differentiable", reason="a source distribution has no experiments"
)
pytest.importorskip("fcntl", reason="the files of results have locks as on Unix")

from lab.measurements.differentiable import learned_and_tested
from lab.measurements.gumbel import METHODS, on_structure
from lab.studies.differentiable import (
    beyond,
    comparison,
    draws,
    every_draw,
    sets,
    tables,
)
from lab.studies.differentiable import recovery as recovered
from lab.studies.differentiable.methods import methods_for, run_of
from lab.studies.differentiable.results import SharedResults
from lab.studies.differentiable.settings import (
    EVERY_DRAW,
    LAMBDAS,
    N_DRAWN,
    PLAN,
    Setting,
    drawn,
    near_the_best,
    ranges,
)
from lab.studies.structure.coded import Part, arcs, coded
from tanager import ChowLiu, GumbelTree, NaiveBayes, ResidualTree, Structure
from tanager.datasets import load


@pytest.fixture(scope="module")
def part() -> Part:
    data = load("sklearn/iris")
    rows = np.random.default_rng(0).permutation(data.n_rows)
    return coded(data, rows[:100], rows[100:])


KINDS = ("naive", "tree", "learned")


@pytest.mark.parametrize("name", ["letter", "mnist"])
@pytest.mark.parametrize("start", LAMBDAS)
@pytest.mark.parametrize("kind", KINDS)
def test_rates_come_in_turn_with_margins_of_their_own(kind, start, name):
    every = [drawn(name, n, start, kind, range(N_DRAWN)) for n in range(N_DRAWN)]
    lambdas, shares = ranges(name, start, kind)
    assert [s.rate for s in every] == [*shares] * (N_DRAWN // 2)
    for setting in every:
        for number, (low, high) in (
            (setting.lambda_, lambdas),
            (setting.share, shares[setting.rate]),
        ):
            assert low <= number <= high
    assert len({setting.lambda_ for setting in every}) == N_DRAWN
    orders = [s.image_order for s in every[:8:2]]
    assert orders == ["rows", "diagonal", "centre", "rows"]


def test_ranges_of_digits_are_their_own_from_frequencies_only():
    for kind in KINDS:
        assert ranges("mnist", "frequency", kind) != ranges("usps", "frequency", kind)
        assert ranges("mnist", "random", kind) == ranges("usps", "random", kind)


def test_draws_that_are_kept_come_in_turn():
    seeds = [
        drawn("letter", number, "random", "tree", (7, 3, 5)).seed for number in range(8)
    ]
    assert seeds == [7, 7, 3, 3, 5, 5, 7, 7]


def test_later_weights_are_near_those_of_the_two_best_in_turn():
    first = [
        drawn("letter", number, "random", "tree", (7, 3, 5)) for number in range(6)
    ]
    errors = [0.5, 0.1, 0.4, 0.2, 0.3, 0.6]
    for number in range(6, 20):
        setting = near_the_best(number, first, errors)
        near = first[1 if number % 2 == 0 else 3]
        assert (setting.seed, setting.rate, setting.eta) == (near.seed, near.rate, 10)
        assert 0.5 <= setting.lambda_ / near.lambda_ <= 2
        assert 0.5 <= setting.share / near.share <= 2
        assert setting.share != near.share


def row_of(setting: Setting, number: int, error: float) -> dict[str, str]:
    texts = {column: str(getattr(setting, column)) for column in comparison.OF_SETTING}
    kind = {"method": "NB-HYB", "start": "random", "epochs": "9", "plan": str(PLAN)}
    return kind | texts | {"setting": str(number), "validation_error": str(error)}


def test_later_settings_wait_for_the_first_ones():
    key = ("NB-HYB", 1, "random", 9, PLAN, N_DRAWN)
    with pytest.raises(LookupError, match=f"the first {N_DRAWN} settings"):
        comparison.setting_of("letter", key, [])
    every = [
        drawn("letter", number, "random", "naive", range(N_DRAWN))
        for number in range(N_DRAWN)
    ]
    rows = [row_of(one, n, 0.5 - n / 100) for n, one in enumerate(every)]
    # The last two of them are the best two.
    for number, near in ((N_DRAWN, every[-1]), (N_DRAWN + 1, every[-2])):
        found = comparison.setting_of("letter", (*key[:-1], number), rows)
        assert (found.seed, found.rate) == (near.seed, near.rate)


def test_settings_are_read_from_rows_as_they_were():
    setting = drawn("letter", 3, "random", "tree", (5,))
    assert Setting.of_row(row_of(setting, 3, 0.5)) == setting


@pytest.mark.parametrize("name", sets.SETS)
def test_at_most_twenty_settings(name):
    settings: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for row in comparison.results(name).rows:
        found = settings.setdefault((row["method"], row["start"]), set())
        found.add(tuple(row[name] for name in tables.WEIGHTS))
    assert settings
    assert max(map(len, settings.values())) <= 20


def test_draws_of_least_mean_error_are_kept():
    rows = [
        {
            "set": "satimage",
            "method": "TAN All",
            "fold": str(fold),
            "start": "random",
            "epochs": str(draws.EPOCHS),
            "seed": str(seed),
            "validation_error": str(abs(seed - 11) / 100 + fold / 10),
        }
        for seed in range(draws.N_OTHERS)
        for fold in range(1, 6)
    ]
    assert draws.kept("satimage", "TAN All", "random", rows) == [11, 10, 12, 9]
    with pytest.raises(LookupError, match="screen the draws of TAN All on satimage"):
        draws.kept("satimage", "TAN All", "random", rows[1:])
    with pytest.raises(LookupError, match="screen the draws of TAN All on satimage"):
        draws.kept("satimage", "TAN All", "frequency", rows)


def test_draws_of_the_best_whole_runs_are_taken_over():
    rows = [
        {
            "method": "TAN Subset 8",
            "start": start,
            "plan": "1",
            "setting": str(number),
            "seed": str(seed),
            "validation_error": str(error + fold),
        }
        for number, (seed, error, start) in enumerate(
            [
                (5, 0.3, "random"), (7, 0.2, "random"), (5, 0.1, "random"),
                (9, 0.25, "random"), (8, 0.0, "frequency"),
            ]
        )
        for fold in (0, 1)
    ]  # fmt: skip
    assert draws.tried("TAN Subset 8", "random", rows) == [5, 7]
    assert draws.tried("TAN Subset 8", "frequency", rows) == [8]
    with pytest.raises(LookupError, match="measure TAN All from random tables first"):
        draws.tried("TAN All", "random", rows)
    key = ("TAN Subset 8", 1, "frequency", 9, PLAN, 2)
    assert comparison.setting_of("satimage", key, rows).seed == 7
    # The usual first tables of mnist are the others.
    key = ("TAN Subset 8", 1, "random", 9, PLAN, 2)
    assert comparison.setting_of("mnist", key, rows).seed == 8


def test_draws_are_screened_for_the_usual_first_tables(monkeypatch):
    screened = {("mnist", "TAN Subset 8", "frequency"): [11, 12]}
    monkeypatch.setattr(draws, "seeds", lambda *which: screened[which])
    key = ("TAN Subset 8", 1, "frequency", 9, PLAN, 2)
    assert comparison.setting_of("mnist", key, []).seed == 12


def test_the_best_weights_of_a_list_meet_every_draw(part, tmp_path, monkeypatch):
    file = comparison.results("letter", tmp_path)
    method, start, epochs = "TAN Subset 8", "frequency", 2
    for number, (weight, rate, error) in enumerate(
        [(1.0, 3e-3, 0.4), (2.0, 1e-2, 0.1), (3.0, 3e-3, 0.3), (4.0, 3e-3, 0.2)]
    ):
        setting = Setting(9, weight, 0.5, 10.0, rate)
        numbers = {"error": 0.5, "validation_error": error, "seconds": 1.0}
        key = (method, 1, start, epochs, PLAN, number)
        file.add(
            key, numbers, {c: str(getattr(setting, c)) for c in comparison.OF_SETTING}
        )
    monkeypatch.setattr(every_draw, "LISTS", [("letter", method, start, epochs)])
    monkeypatch.setattr(every_draw, "N_WEIGHTS", 2)
    monkeypatch.setitem(sets.SETS, "letter", replace(sets.SETS["letter"], n_settings=4))
    monkeypatch.setattr(draws, "N_OTHERS", 3)
    monkeypatch.setattr(every_draw, "part", lambda name, fold: part)
    monkeypatch.setattr(comparison, "_part", lambda name, fold: part)
    monkeypatch.setattr(
        comparison,
        "results",
        lambda name: SharedResults(name, comparison.KEYS, tmp_path),
    )
    for _ in range(2):
        every_draw.run()
        rows = comparison.results("letter").rows
        new = [row for row in rows if row["plan"] == str(EVERY_DRAW)]
        assert [(row["seed"], float(row["lambda_"])) for row in new] == [
            (seed, weight) for seed in "012" for weight in (4.0, 3.0)
        ]
        assert all(0 <= float(row["validation_error"]) <= 1 for row in new)
    summary = tables.summarised(rows, 1)
    assert (summary.n_settings, summary.n_runs) == (4, 10)
    # They are no part of the list.
    assert len(comparison.listed(rows, method, start, epochs)) == 4


def test_weights_are_not_chosen_from_part_of_a_list(capsys, tmp_path, monkeypatch):
    every = [drawn("letter", n, "frequency", "learned", (5,)) for n in range(4)]
    rows = [row_of(one, n, 0.5) for n, one in enumerate(every)]
    assert every_draw.best_weights(rows, 4, 1) == [every[0], every[2]]
    for n_settings, n_folds in ((5, 1), (4, 2)):
        with pytest.raises(LookupError, match=f"all {n_settings} settings of the list"):
            every_draw.best_weights(rows, n_settings, n_folds)
    monkeypatch.setattr(
        comparison,
        "results",
        lambda name: SharedResults(name, comparison.KEYS, tmp_path),
    )
    every_draw.run(["letter"])
    assert capsys.readouterr().out == ""
    every_draw.run()
    assert "satimage, TAN Subset 8 with every draw is left out: measure all 20" in (
        capsys.readouterr().out
    )


def test_draws_are_screened_once(part, tmp_path, monkeypatch):
    monkeypatch.setattr(draws, "N_TREES", 2)
    monkeypatch.setattr(draws, "EPOCHS", 2)
    monkeypatch.setattr(draws, "part", lambda name, fold: part)
    for _ in range(2):
        draws.screen("letter", "TAN Random-HYB", "frequency", tmp_path)
        rows = draws.results(tmp_path).rows
        assert [row["seed"] for row in rows] == ["0", "1"]
        assert all(0 <= float(row["validation_error"]) <= 1 for row in rows)


def test_every_method_is_planned_where_it_belongs():
    assert "TAN All" in methods_for("letter")
    assert "TAN Heuristic" not in methods_for("letter")
    assert "TAN All" not in methods_for("usps")
    keys = list(comparison.planned("satimage", 7, 2, "random"))
    assert len(keys) == len(set(keys)) == 5 * (2 + 7 * 2)
    assert ("TAN Subset 8", 5, "random", 7, PLAN, 1) in keys


def short_run():
    return run_of(Setting(0, 100.0, 0.5, 10.0, 0.1), 20, 5, "random")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_measured(method, part):
    numbers = learned_and_tested(METHODS[method], short_run(), part)
    assert 0 <= numbers["error"] < 0.5
    assert 0 <= numbers["validation_error"] < 0.5
    assert 0 <= numbers["arcs"] <= 3


def test_random_parents_come_first_among_the_candidates(part):
    work = short_run()
    structure, _ = METHODS["TAN Random-HYB"](work, part.train)
    assert arcs(structure) == 3
    again, _ = METHODS["TAN Random-HYB"](work, part.train)
    assert again == structure


def test_two_processes_can_add_to_a_file(tmp_path):
    one = SharedResults("some", ("method",), tmp_path / "new")
    other = SharedResults("some", ("method",), tmp_path / "new")
    one.add(("a",), {"error": 0.5})
    other.add(("b",), {"error": 0.25})
    one.add(("b",), {"error": 0.75})  # measured twice: the first one stays
    assert ("b",) in one
    assert one.numbers("error") == {("a",): 0.5, ("b",): 0.25}


def rows_of(file: SharedResults, errors, held_out) -> None:
    for fold, (of_fold, watched) in enumerate(zip(errors, held_out, strict=True), 1):
        for setting, pair in enumerate(zip(of_fold, watched, strict=True)):
            numbers = dict(zip(("error", "validation_error"), pair, strict=True))
            seconds = {"seconds": 2.0, "validation_seconds": 1.0}
            weights = dict.fromkeys(comparison.OF_SETTING, str(setting))
            key = ("NB-HYB", fold, "random", 9, PLAN, setting)
            file.add(key, numbers | seconds, weights)


def test_best_and_validated_errors(tmp_path):
    file = comparison.results("satimage", tmp_path)
    errors = [[0.10, 0.2], [0.12, 0.08]]
    rows_of(file, errors, [[0.3, 0.1], [0.1, 0.2]])
    summary = tables.summarised(file.rows, 2)
    assert summary.best == pytest.approx(0.11)
    assert summary.validated == pytest.approx((0.2 + 0.12) / 2)
    assert (summary.n_settings, summary.n_runs) == (2, 2)
    assert summary.seconds == 2
    assert tables.summarised(file.rows, 5) is None


def test_the_table_shows_the_published_error(tmp_path):
    rows_of(comparison.results("letter", tmp_path), [[0.13, 0.12]], [[0.1, 0.2]])
    line = tables.table_1(tmp_path).splitlines()[2]
    assert line == (
        "| letter | NB-HYB | 12.93 | 12.00 (-0.93) | 13.00 (+0.07) | 2 | 2 "
        "| 9 | random | 2 |"
    )


def test_the_tree_of_one_strong_dependence_is_recovered(part, tmp_path):
    numbers = recovered.recovered_from(
        part.train, 20, epochs=60, start="frequency", seed=0
    )
    assert numbers["arcs"] == 3
    assert numbers["arcs_found"] + numbers["other_arcs"] <= 3
    assert 0 < numbers["share_of_information"] <= 1 + 1e-9
    file = recovered.results(tmp_path)
    file.add(("letter", "random", 60, 0), numbers | {"arcs_found": 2})
    assert "| 2 of 3 |" in tables.by_recovery(tmp_path)


@pytest.mark.parametrize("method", beyond.METHODS)
def test_what_goes_beyond_the_paper_can_be_measured(method, part, tmp_path):
    learn = beyond.METHODS[method]
    numbers = beyond.measured(learn, part, batch_size=20, epochs=3, seed=0)
    assert numbers["error"] < 0.5
    assert numbers["error_cl"] < 0.5 or numbers["arcs"] > 3
    assert numbers["log_loss"] > 0
    file = beyond.results(tmp_path)
    for seed, error in enumerate((0.1, 0.3)):
        file.add(("letter", method, 3, seed), numbers | {"error": error})
    assert f"| letter | {method} | 20.00 ± 10.00 |" in tables.by_method(tmp_path)


def test_tables_on_a_structure_leave_it_as_it_is(part):
    gumbel = partial(GumbelTree, batch_size=20, epochs=2)
    for learner in (NaiveBayes(), ChowLiu(), ResidualTree(k=2)):
        structure = learner.learn(part.train).structure
        random = np.random.default_rng(0)
        same, tables_of_it = on_structure(structure, part.train, gumbel, random)
        assert same.arcs == structure.arcs
        assert tables_of_it.layout.n_tables == 5


def test_without_joined_parents_there_are_no_tables_of_cl(part, tmp_path):
    structure = Structure.class_rooted([(), (), (0, 1), (), ()], 4)
    numbers = beyond.refitted(structure, part, 0)
    assert np.isnan(list(numbers.values())).all()
    known = {"error": 0.1, "log_loss": 0.2, "arcs": 2, "seconds": 1.5}
    beyond.results(tmp_path).add(("letter", "no order", 3, 0), known | numbers)
    line = tables.by_method(tmp_path).splitlines()[2]
    assert line == ("| letter | no order | 10.00 |  | 0.200 |  | 1.5 |  |")
