"""The command that tries odd inputs: it finds nothing, and would find something."""

import json
from random import Random

import pytest
from click.testing import CliRunner

from lab.__main__ import cli
from lab.robustness import fuzz_command, fuzz_files, fuzz_process
from lab.robustness.coverage_process import fuzz_by_coverage, has_atheris
from lab.robustness.fuzz_command import HEAD, KINDS, add_rows, counts_csv, describe
from lab.robustness.fuzz_files import FILE_KINDS, FileKind
from lab.robustness.fuzz_process import Counts, fuzz, run_inputs
from lab.robustness.fuzz_tables import TABLE_KINDS
from lab.robustness.mutations import mutate_bytes, mutate_json

NUMBERS = {"tables": 150, "settings": 60, "npz": 60}


def test_every_kind_is_listed():
    assert set(KINDS) == {*FILE_KINDS, *TABLE_KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_give_results_or_errors_of_the_library(kind, tmp_path):
    count = NUMBERS.get(kind, 300)
    found = run_inputs(kind, 7, 0, count=count, seconds=30.0, folder=tmp_path)
    assert found.findings == {}, describe(found)
    assert found.inputs > 0
    assert found.results + found.refused == found.inputs


def test_changes_are_those_of_the_seed():
    text = json.dumps({"a": [1, 2, {"b": None}], "c": "d"})
    for number in range(50):
        one, two = (mutate_json(Random(number), text) for _ in range(2))
        assert one == two
        one, two = (mutate_bytes(Random(number), b"abc def") for _ in range(2))
        assert one == two
    assert len({mutate_bytes(Random(n), b"abc def") for n in range(50)}) > 40


def test_other_errors_and_slow_inputs_are_findings(tmp_path, monkeypatch):
    def use(path):
        if path.name == "2":
            raise KeyError("wrong")
        if path.name == "3":
            sum(range(3_000_000))

    def write(random, folder, seeds):
        del seeds
        return folder / str(random.randrange(4))

    monkeypatch.setattr(fuzz_process, "MAX_SECONDS", 0.01)
    monkeypatch.setattr(fuzz_files, "make_seeds", lambda _: None)
    monkeypatch.setitem(FILE_KINDS, "bif", FileKind(write, use))
    found = run_inputs("bif", 0, 0, count=40, seconds=60.0, folder=tmp_path)
    causes = sorted(found.findings)
    assert len(causes) == 2
    assert causes[0].startswith("KeyError at test_fuzz.py")
    assert causes[1] == "slow"
    assert found.results + sum(n for _, n in found.findings.values()) == 40
    assert "--input" in describe(found)


@pytest.mark.slow
def test_inputs_run_in_a_process_of_their_own():
    found = fuzz("bif", 3, count=40, seconds=60.0)
    assert found.findings == {}
    assert found.inputs == found.results + found.refused == 40


@pytest.mark.slow
def test_a_process_that_dies_is_a_finding():
    found = fuzz("no such kind", 0, count=1, seconds=60.0)
    ((cause, (index, number)),) = found.findings.items()
    assert cause.startswith("process ended by 1")
    assert "no such kind" in cause
    assert (index, number, found.inputs) == (0, 1, 1)


def test_counts_add():
    one = Counts("csv", 0, 10, 4, 5, 0.5, 3.0, {"slow": [3, 1]})
    one.add(Counts("csv", 0, 2, 1, 0, 0.1, 9.0, {"slow": [11, 1]}))
    assert one == Counts("csv", 0, 12, 5, 5, 0.5, 9.0, {"slow": [3, 2]})
    assert counts_csv([one]).splitlines()[1] == "csv,0,12,5,5,2,0.500,9"


def test_results_of_runs_are_gathered():
    head = ",".join(HEAD)
    former = f"{head}\ncsv,1,10,5,5,0,0.1,1\nbif,2,7,7,0,0,0.1,1\n"
    new = f"{head}\ncsv,1,12,6,6,0,0.1,1\ncsv,0,3,3,0,0,0.1,1\n"
    assert add_rows(former, new).splitlines() == [
        head, "bif,2,7,7,0,0,0.1,1", "csv,0,3,3,0,0,0.1,1", "csv,1,12,6,6,0,0.1,1",
    ]  # fmt: skip
    assert add_rows("", former) == add_rows(former, former)


def test_unknown_kinds_and_single_inputs():
    runner = CliRunner()
    result = runner.invoke(cli, ["fuzz", "nonsense"])
    assert result.exit_code == 2
    assert "There is no kind nonsense; known are json" in result.output
    assert runner.invoke(cli, ["fuzz", "--input", "1"]).exit_code == 2


def test_coverage_needs_atheris(monkeypatch):
    monkeypatch.setattr(fuzz_command, "has_atheris", lambda: False)
    result = CliRunner().invoke(cli, ["fuzz", "--coverage"])
    assert result.exit_code == 2
    assert "pip install atheris" in result.output
    monkeypatch.setattr(fuzz_command, "has_atheris", lambda: True)
    result = CliRunner().invoke(cli, ["fuzz", "--coverage", "tables"])
    assert result.exit_code == 2
    assert "--coverage goes with json" in result.output


@pytest.mark.slow
@pytest.mark.skipif(not has_atheris(), reason="atheris is not installed")
def test_inputs_chosen_by_coverage():
    found = fuzz_by_coverage("bif", 0, seconds=10)
    assert found.findings == {}
