from functools import partial

import numpy as np
import pytest

pytest.importorskip(
    "experiments.differentiable", reason="a source distribution has no experiments"
)
pytest.importorskip("fcntl", reason="the files of results have locks as on Unix")

from experiments.differentiable import beyond, comparison, recovery, sets, tables
from experiments.differentiable.methods import (
    METHODS,
    Run,
    methods_for,
    on_structure,
)
from experiments.differentiable.results import SharedResults
from experiments.differentiable.settings import (
    N_FIRST,
    first_settings,
    with_another_seed,
    with_other_weights,
)
from experiments.structure.coded import Part, arcs, coded
from tanager import ChowLiu, GumbelTree, NaiveBayes, ResidualTree, Structure
from tanager.datasets import load


@pytest.fixture(scope="module")
def part() -> Part:
    data = load("sklearn/iris")
    rows = np.random.default_rng(0).permutation(data.n_rows)
    return coded(data, rows[:100], rows[100:])


def test_the_first_settings_are_the_same_for_all_sets():
    every = first_settings(trees=False)
    assert len(every) == N_FIRST
    assert all(10 <= s.lambda_ <= 1000 and 0.05 <= s.share <= 2 for s in every)
    assert {s.rate for s in every} == {3e-3, 1e-2}
    assert [s.image_order for s in every[:4]] == ["rows", "diagonal", "centre", "rows"]


ERRORS = [0.5, 0.1, 0.4, 0.2, 0.3, 0.6]


def test_other_seeds_have_the_weights_of_the_two_best_in_turn():
    first = first_settings(trees=True)
    for number in range(N_FIRST, 14):
        setting = with_another_seed(number, first, ERRORS)
        near = first[1 if number % 2 == 0 else 3]
        assert (setting.number, setting.seed) == (number, number)
        assert setting.numbers() == near.numbers()


@pytest.mark.parametrize("n_parents", [1, 2])
def test_other_weights_are_near_those_of_the_best(n_parents):
    first = first_settings(trees=True)
    for number in range(N_FIRST, 20):
        setting = with_other_weights(number, first, ERRORS, n_parents=n_parents)
        near = first[1 if number % n_parents == 0 else 3]
        assert (setting.number, setting.seed) == (number, near.seed)
        assert 0.5 <= setting.lambda_ / near.lambda_ <= 2
        assert 0.5 <= setting.share / near.share <= 2
        assert setting.share != near.share
        assert (setting.rate, setting.eta) == (near.rate, near.eta)


def test_later_settings_wait_for_the_first_ones():
    with pytest.raises(LookupError, match="first 6 settings of NB-HYB"):
        comparison.setting_of("letter", ("NB-HYB", 1, "random", 9, 6), [])


def test_seeds_come_before_weights():
    rows = [
        {
            "method": "TAN All",
            "start": "random",
            "epochs": "9",
            "setting": str(number),
            "validation_error": str(0.5 - number / 100),
        }
        for number in range(14)
    ]
    new_seed, new_weights = (
        comparison.setting_of("letter", ("TAN All", 1, "random", 9, number), rows)
        for number in (12, 14)
    )
    first = first_settings(trees=False)
    assert (new_seed.seed, new_seed.numbers()) == (12, first[5].numbers())
    assert new_weights.seed == 13
    assert new_weights.numbers() != first[4].numbers()


@pytest.mark.parametrize("name", sets.SETS)
def test_results_are_of_their_settings(name):
    rows = comparison.results(name).rows
    for row in rows:
        fold, epochs, number = (int(row[key]) for key in ("fold", "epochs", "setting"))
        key = (row["method"], fold, row["start"], epochs, number)
        setting = comparison.setting_of(name, key, rows)
        for column, value in setting.numbers().items():
            assert float(row[column]) == pytest.approx(value, rel=1e-5, nan_ok=True)


def test_every_method_is_planned_where_it_belongs():
    assert "TAN All" in methods_for("letter")
    assert "TAN Heuristic" not in methods_for("letter")
    assert "TAN All" not in methods_for("usps")
    keys = list(comparison.planned("satimage", 7, 2, "random"))
    assert len(keys) == len(set(keys)) == 5 * (2 + 7 * 2)
    assert ("TAN Subset 8", 5, "random", 7, 1) in keys


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_measured(method, part):
    work = Run(first_settings(trees=False)[4], batch_size=20, epochs=3, start="random")
    numbers = comparison.measured(METHODS[method], work, part)
    assert 0 <= numbers["error"] < 0.5
    assert 0 <= numbers["validation_error"] < 0.5
    assert 0 <= numbers["arcs"] <= 3
    assert numbers["share"] == first_settings(trees=False)[4].share


def test_random_parents_come_first_among_the_candidates(part):
    work = Run(first_settings(trees=False)[0], batch_size=20, epochs=1, start="random")
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
            file.add(("NB-HYB", fold, "random", 9, setting), numbers | seconds)


def test_best_and_validated_errors(tmp_path):
    file = comparison.results("satimage", tmp_path)
    errors = [[0.10, 0.2], [0.12, 0.08]]
    rows_of(file, errors, [[0.3, 0.1], [0.1, 0.2]])
    summary = tables.summarised(file.rows, 2)
    assert summary.best == pytest.approx(0.11)
    assert summary.validated == pytest.approx((0.2 + 0.12) / 2)
    assert summary.n_settings == 2
    assert summary.seconds == 2
    assert tables.summarised(file.rows, 5) is None


def test_the_table_shows_the_published_error(tmp_path):
    rows_of(comparison.results("letter", tmp_path), [[0.13, 0.12]], [[0.1, 0.2]])
    line = tables.table_1(tmp_path).splitlines()[2]
    assert line == (
        "| letter | NB-HYB | 12.93 | 12.00 (-0.93) | 13.00 (+0.07) | 2 | 9 | random "
        "| 2 |"
    )


def test_the_tree_of_one_strong_dependence_is_recovered(part, tmp_path):
    numbers = recovery.recovered_from(
        part.train, 20, epochs=60, start="frequency", seed=0
    )
    assert numbers["arcs"] == 3
    assert numbers["arcs_found"] + numbers["other_arcs"] <= 3
    assert 0 < numbers["share_of_information"] <= 1 + 1e-9
    file = recovery.results(tmp_path)
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
