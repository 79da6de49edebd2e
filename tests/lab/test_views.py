import numpy as np
import pytest

from lab.runner import experiments
from lab.runner.cell import Cell
from lab.runner.experiment import Experiment, Part
from lab.runner.output import text, write_all
from lab.runner.results import Results
from lab.views import Table, view_of
from lab.views.published_scores import judged

PUBLISHED = (
    {"dataset": "iris", "classifier": "A", "accuracy": "90.0", "std": "1.5"},
    {"dataset": "iris", "classifier": "B", "accuracy": "80.0", "std": ""},
    {"dataset": "wine", "classifier": "A", "accuracy": "70.0", "std": "2.0"},
    {"dataset": "wine", "classifier": "B", "accuracy": "60.0", "std": "2.0"},
    {"dataset": "secret", "classifier": "A", "accuracy": "99.0", "std": ""},
)
OPTIONS = {
    "scale": 100.0,
    "value": "accuracy",
    "deviation": "std",
    "orderings": [["A", ">", "B"]],
}


def experiment():
    part = Part(
        "m", {"data": ["x/iris", "x/wine"], "method": ["A", "B"]}, {"n_folds": 2}
    )
    return Experiment(
        "paper2000",
        "table1",
        "Accuracy",
        "published_scores",
        (part,),
        "A is better.",
        PUBLISHED,
        ("Folds.",),
        OPTIONS,
    )


def results(**accuracies):
    """Cells by names such as iris_A."""
    known = {}
    for cell in experiment().cells():
        name = f"{cell.data[0][2:]}_{cell.parameters['method']}"
        if name in accuracies:
            known[cell] = {"accuracy": accuracies[name]}
    return Results.of(experiment().cells(), known)


ALL = {
    "iris_A": [0.9, 0.94],
    "iris_B": [0.8, 0.8],
    "wine_A": [0.7, 0.72],
    "wine_B": [0.75, 0.77],
}


def test_published_ours_and_difference():
    view = view_of(experiment(), results(**ALL))
    rows = {row[:2]: row[2:] for row in view.tables[0].rows}
    assert len(rows) == 4  # nothing is said of a set that nobody could measure
    assert rows["iris", "A"] == pytest.approx(
        (90.0, 1.5, 92.0, 100 * np.std([0.9, 0.94], ddof=1), 2.0)
    )
    assert rows["iris", "B"][1] is None
    assert view.tables[1].rows[0][:5] == pytest.approx(("A", 80.0, 81.5, 1.5, 1.5))
    assert view.tables[1].rows[0][5:] == ("1 of 2", "+2.00 (iris)")
    assert view.tables[1].rows[1][:4] == pytest.approx(("B", 70.0, 78.0, 8.0))
    assert view.distance == (
        "averages +1.50 to +8.00; on datasets, 4 numbers: mean distance 4.75, "
        "largest +16.00 (wine, B)"
    )
    assert view.tables[2].rows[1] == ("wine", "71.00 (70.00)", "76.00 (60.00)")
    assert view.holds is True


def test_averages_are_of_sets_of_which_all_is_known():
    view = view_of(experiment(), results(iris_A=0.5, iris_B=0.6, wine_A=0.7))
    assert view.tables[1].title.startswith(
        "Averages over the 1 datasets of which all is known"
    )
    assert view.tables[1].rows[0][2] == pytest.approx(50.0)
    assert view.tables[2].rows[1] == ("wine", "70.00 (70.00)", "(60.00)")
    assert view.holds is False
    assert "A > B: no, 50.00 and 60.00." in view.verdict


def test_nothing_is_claimed_of_what_is_not_measured():
    view = view_of(experiment(), results(iris_A=0.5))
    assert view.tables[1].rows[0][0] == "A"
    assert judged({"A": 1.0}, OPTIONS["orderings"], 1.0) == ("", None)
    assert view.holds is None
    assert "Here:" not in text(experiment(), view)


def test_files_of_an_experiment(tmp_path):
    view = view_of(experiment(), results(**ALL))
    files = write_all(tmp_path / "new", experiment(), results(**ALL), view)
    assert [file.name for file in files] == ["table1.cells.csv", "table1.csv"]
    written = text(experiment(), view)
    assert written.startswith("paper2000/table1: Accuracy\n")
    assert "**Claim.** A is better." in written
    assert "**Here: holds.** A > B: yes" in written
    assert "**Differences.** Folds." in written
    assert "| A | 80.00 | 81.50 | 1.50 |" in written


def test_bars_in_a_table_do_not_cut_it():
    table = Table("", ("a|b", "n"), (("x|y", 1.0), (None, None)))
    assert table.markdown.splitlines()[2] == "| x\\|y | 1.00 |"
    assert table.csv == "a|b,n\nx|y,1.0\n,\n"


def test_cells_are_those_of_the_grid():
    part = Part("m", {"a": [1, 2], "b": ["x"]}, {"c": 3}, {"a": [1], "c": 4})
    assert list(part.cells(quick=False)) == [
        Cell("m", {"a": a, "b": "x", "c": 3}) for a in (1, 2)
    ]
    assert list(part.cells(quick=True)) == [Cell("m", {"a": 1, "b": "x", "c": 4})]
    assert not list(Part("m", {"a": [1]}).cells(quick=True))


@pytest.mark.parametrize(
    "name", [name for name in experiments() if name.startswith(("pernkopf", "roth"))]
)
def test_a_view_without_cells_claims_nothing(name):
    view = view_of(experiments()[name], Results((), ()))
    assert view.holds is None
    assert view.verdict == ""
    assert view.draw is None
    assert view.tables[0].csv
