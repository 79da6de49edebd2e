import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest

from lab.runner.cache import CellCache, Record
from lab.runner.cell import Cell
from lab.runner.experiment import Experiment, Part
from lab.runner.pool import DIED, Work, check_finite, measure_cell, run
from tanager.errors import InputError
from tests.lab.measuring import answered, run_waiting, threads


def cells(*numbers, log=None):
    more = {} if log is None else {"log": str(log)}
    return [Cell("answered", {"number": number} | more) for number in numbers]


def test_cells_are_measured_once(tmp_path):
    log = tmp_path / "log"
    plan = cells(1, 2, 3, log=log)
    cache = CellCache(tmp_path / "cells")
    told = []
    first = run(
        plan[:2], cache, jobs=2, measure=answered, report=lambda c, r: told.append(c)
    )
    assert {c.parameters["number"]: n["double"] for c, n in first.numbers.items()} == {
        1: 2.0,
        2: 4.0,
    }
    assert set(told) == set(plan[:2])
    whole = run(plan, cache, measure=answered)
    assert len(whole.numbers) == 3
    assert sorted(log.read_text().split()) == ["1", "2", "3"]


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path):
    cache = CellCache(tmp_path)
    outcome = run(cells(-1, 5), cache, measure=answered)
    assert list(outcome.numbers) == cells(5)
    assert outcome.failed == {cells(-1)[0]: "cannot double -1"}
    assert cache.get(cells(-1)[0]).error == "cannot double -1"


def test_every_process_has_one_thread(tmp_path):
    outcome = run(cells(1), CellCache(tmp_path), measure=threads)
    assert [numbers["most"] for numbers in outcome.numbers.values()] == [1.0]


def test_a_cell_that_failed_is_tried_again(tmp_path):
    log = tmp_path / "log"
    cache = CellCache(tmp_path / "cells")
    for _ in range(2):
        run(cells(-1, log=log), cache, measure=answered)
    assert log.read_text().split() == ["-1", "-1"]


def test_a_process_that_dies_takes_no_other_cell_with_it(tmp_path):
    plan = cells(1, -2, 3, 4)
    outcome = run(plan, CellCache(tmp_path), jobs=2, measure=answered)
    assert {c.parameters["number"] for c in outcome.numbers} == {1, 3, 4}
    assert outcome.failed == {plan[1]: DIED}


def test_what_is_measured_before_an_interruption_stays(tmp_path):
    cache = CellCache(tmp_path)

    def stop(cell: Cell, record: Record) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(cells(1, 2, 3), cache, measure=answered, report=stop)
    assert [cache.get(cell) is not None for cell in cells(1, 2, 3)] == [
        True,
        False,
        False,
    ]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_no_process_is_left_after_a_kill(tmp_path):
    context = multiprocessing.get_context("spawn")
    first = context.Process(target=run_waiting, args=(str(tmp_path),))
    first.start()
    file = tmp_path / "pid"
    assert within(60.0, lambda: file.is_file() and file.read_text() != "")
    pid = int(file.read_text())
    assert alive(pid)
    first.kill()
    first.join()
    assert within(30.0, lambda: not alive(pid))


def within(seconds, happened):
    """Whether it happens before the time is over."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.05)
    return happened()


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # ended, though nobody has asked for it yet


def test_cells_without_their_data_are_skipped(tmp_path, monkeypatch):
    monkeypatch.delenv("TANAGER_DATA", raising=False)
    cell = Cell("cross_validation_scores", {"data": "weka33/sick"})
    outcome = run([cell], CellCache(tmp_path), measure=answered)
    assert "TANAGER_DATA" in outcome.skipped[cell]
    assert not outcome.failed
    with pytest.raises(InputError):
        CellCache(tmp_path).get(cell)


def test_errors_become_one_line():
    record = measure_cell(
        Cell("cross_validation_scores", {"data": "iris", "method": "NB-XX"})
    )
    assert record.numbers is None
    assert record.error is not None
    assert "TypeError" in record.error
    assert "\n" not in record.error


@pytest.mark.parametrize("value", [np.nan, np.inf, [1.0, np.nan], [[1.0]], "text"])
def test_only_finite_numbers_are_taken(value):
    check_finite({"a": 1.0, "b": [1, 2]})
    with pytest.raises(ValueError, match=r"finite|convert"):
        check_finite({"a": value})


def experiment(name, numbers, alone=False):
    part = Part("answered", {"number": numbers})
    return Experiment("p", name, "t", "published_scores", (part,), one_at_a_time=alone)


def test_cells_of_several_experiments_are_measured_once(tmp_path):
    work = Work.of(
        [experiment("a", [1, 2, 3]), experiment("b", [3, 4], alone=True)],
        CellCache(tmp_path),
    )
    assert work.together == cells(1, 2)
    assert work.alone == cells(3, 4)
    assert work.n_left == 4
    assert work.summary == "4 cells, 4 of them to be measured."
