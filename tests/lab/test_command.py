"""``python -m lab``, with measurements that take no time."""

import pytest
from click.testing import CliRunner

from lab.__main__ import cli
from lab.console import format_duration
from lab.runner import catalogue
from lab.runner import pool as runner
from lab.runner.cache import Record
from lab.runner.versions import code_version, data_version


@pytest.fixture
def quick_measurements(monkeypatch):
    """Every cell has the same accuracies, but for one method, which fails."""

    def in_no_process(cells, jobs, measure):
        for cell in cells:
            if cell.parameters["method"] == "NB+Ada":
                yield cell, Record(None, "ValueError: no trees", 0.0, code_version())
            else:
                numbers = {"accuracy": [0.5, 0.75], "log_loss": [1.0, 2.0]}
                yield cell, Record(numbers, None, 0.0, code_version())

    monkeypatch.setattr(runner, "_in_processes", in_no_process)
    monkeypatch.setattr(runner, "data_version", lambda name: name)
    monkeypatch.setattr("lab.runner.cache.data_version", lambda name: name)


def invoke(*arguments):
    return CliRunner().invoke(cli, ["reproduce", *map(str, arguments)])


def run(tmp_path, *arguments):
    folders = ["--cache", tmp_path / "cells", "--output", tmp_path / "out"]
    return invoke(*folders, *arguments)


def test_all_experiments_are_listed():
    result = invoke("--list")
    assert result.exit_code == 0
    for name in catalogue.experiments():
        assert name in result.output


def test_a_table_beside_the_published_one(quick_measurements, tmp_path):
    result = run(tmp_path, "su2008/table1", "--quick")
    assert result.exit_code == 1
    assert "su2008/table1: Accuracy" in result.stdout
    assert "| NB+FE | 86.12 | 62.50 | -23.62 |" in result.stdout
    assert "6 cells could not be measured" in result.stderr
    assert "ValueError: no trees" in result.stderr
    files = sorted(file.name for file in (tmp_path / "out" / "su2008").iterdir())
    assert files == ["table1.cells.csv", "table1.csv"]
    lines = (tmp_path / "out" / "su2008" / "table1.csv").read_text().splitlines()
    assert lines[0] == "dataset,classifier,published,sd,ours,sd,difference"
    assert "iris,NB+FE,100.0,0.0,62.5," in "\n".join(lines)


def test_measured_cells_are_not_measured_again(quick_measurements, tmp_path):
    run(tmp_path, "su2008/table1", "--quick")
    again = run(tmp_path, "su2008/table1", "--quick")
    assert "36 cells, 6 of them to be measured." in again.stderr


def test_what_is_known_so_far(quick_measurements, tmp_path):
    nothing = run(tmp_path, "su2008/table1", "--quick", "--known")
    assert nothing.exit_code == 0
    assert "su2008/table1: nothing is measured yet" in nothing.stderr
    first = run(tmp_path, "su2008/table1", "--quick")
    again = run(tmp_path, "su2008/table1", "--quick", "--known")
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert "ValueError" not in again.stderr


def test_tables_are_made_again_from_the_cells(quick_measurements, tmp_path):
    first = run(tmp_path, "su2008/table1", "--quick")
    path = tmp_path / "out" / "su2008" / "table1.csv"
    before = path.read_text()
    path.unlink()
    cells = path.with_name("table1.cells.csv")
    made_by, *lines = cells.read_text().splitlines(keepends=True)
    assert code_version() in made_by
    cells.write_text("".join(["# measured long ago\n", *lines]))
    again = run(tmp_path, "su2008/table1", "--saved")
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert path.read_text() == before
    assert cells.read_text().startswith("# measured long ago\n")


def test_of_several_saved_tables_some_may_not_be_measured(quick_measurements, tmp_path):
    first = run(tmp_path, "su2008/table1", "--quick")
    again = run(tmp_path, "su2008/table1", "su2008/figure2", "--saved")
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert "su2008/figure2 is not measured yet." in again.stderr
    assert run(tmp_path, "su2008/figure2", "--saved").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Which table?"),
        (["su2008/table1", "--jobs", "0"], "at least 1, or -1"),
    ],
)
def test_wrong_usage(arguments, says):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_pages_that_do_not_exist(tmp_path):
    for page, says in ((tmp_path / "nope.md", "not exist"), (tmp_path, "directory")):
        result = CliRunner().invoke(cli, ["tables", str(page)])
        assert result.exit_code == 2
        assert says in result.stderr
        assert "Traceback" not in result.output


def test_names_that_are_not_known():
    result = invoke("su2008/tabel1")
    assert result.exit_code == 1
    assert "did you mean su2008/table1" in result.stderr


def test_without_data_cells_are_skipped(monkeypatch, tmp_path):
    monkeypatch.delenv("TANAGER_DATA", raising=False)
    data_version.cache_clear()
    result = run(tmp_path, "su2008/table1", "--quick")
    assert "nothing is measured" in result.stderr
    assert "Skipped 36 cells on weka33/glass" in result.stderr
    assert "TANAGER_DATA" in result.stderr


@pytest.mark.parametrize("option", ["--cache", "--output"])
def test_folders_that_cannot_be_written(option, quick_measurements, tmp_path):
    (tmp_path / "file").write_text("")
    result = run(tmp_path, "su2008/table1", "--quick", option, tmp_path / "file" / "x")
    assert "Cannot make the folder" in result.stderr
    assert option in result.stderr


def test_durations():
    assert [format_duration(s) for s in (0, 99, 100, 7200)] == [
        "0 s",
        "99 s",
        "2 min",
        "2.0 h",
    ]


def test_a_page_of_what_is_saved(quick_measurements, tmp_path):
    run(tmp_path, "su2008/table1", "--quick")
    result = run(tmp_path, "--document", tmp_path / "page.md")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"Wrote {tmp_path / 'page.md'}." in result.stderr
    text = (tmp_path / "page.md").read_text()
    assert "| NB+FE | 86.12 | 62.50 | -23.62 |" in text
    assert "[table1.csv](out/su2008/table1.csv)" in text
    some = run(tmp_path, "su2008/table1", "--document", tmp_path / "page.md")
    assert some.exit_code == 0
    assert "figure2" not in (tmp_path / "page.md").read_text()


def test_benchmarks_are_listed():
    result = CliRunner().invoke(cli, ["bench", "--list"])
    assert result.exit_code == 0
    assert "naive_bayes" in result.output
    unknown = CliRunner().invoke(cli, ["bench", "nothing"])
    assert unknown.exit_code == 2
    assert "There is no benchmark nothing" in unknown.output


def test_a_page_of_nothing(tmp_path):
    result = run(tmp_path, "--document", tmp_path / "page.md")
    assert result.exit_code == 1
    assert "There is no folder" in result.stderr
