"""Results of the experiments of Roth and Pernkopf as cells that the runner reads."""

import pytest

pytest.importorskip(
    "lab.studies.differentiable", reason="a source distribution has no experiments"
)
pytest.importorskip("fcntl", reason="the files of results have locks as on Unix")

from lab.runner import find
from lab.runner.output import cells_file
from lab.runner.results import read
from lab.studies.differentiable import comparison, export
from lab.studies.differentiable.sets import SETS

STALE = (
    "the paper's folder is not that of the results; run `python -m "
    "lab.studies.differentiable.export`, then `python -m lab reproduce roth2020 "
    "--saved`."
)


@pytest.mark.parametrize("name", SETS)
def test_settings_are_those_of_the_results(name):
    rows = comparison.results(name).rows
    made = export.settings_file([one for _, one in export.settings_of(rows)])
    file = export.PAPER / "settings" / f"{name}.csv"
    assert file.read_text("utf-8") == made, STALE


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("table1", export.errors),
        ("section4.5", export.orders),
        ("section4.6", export.trees),
    ],
)
def test_cells_are_those_of_the_results(name, make):
    (experiment,) = find([f"roth2020/{name}"])
    found = dict(make(export.FOLDER))
    assert found.keys() <= set(experiment.cells()), STALE
    saved = dict(read(cells_file(export.CELLS, experiment)))
    assert saved == found, STALE


def test_files_are_written_from_the_results_of_a_folder(tmp_path):
    numbers = dict.fromkeys(export.ERRORS, 0.25)
    comparison.results("letter", tmp_path).add(
        ("NB-ML", 1, "", 0, "", 0), numbers, dict.fromkeys(comparison.OF_SETTING, "")
    )
    (tmp_path / "settings").mkdir()
    assert export.main(tmp_path, tmp_path / "cells", tmp_path) == 0
    text = (tmp_path / "settings" / "letter.csv").read_text("utf-8").splitlines()
    assert text == [",".join(export.COLUMNS), "NB-ML,,,,,,,,"]
    (experiment,) = find(["roth2020/table1"])
    (saved,) = read(cells_file(tmp_path / "cells", experiment))
    assert saved[0].parameters["method"] == "NB-ML"
    assert saved[1] == numbers
