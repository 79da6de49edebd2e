import inspect

import pytest

from lab.measurements import MEASUREMENTS
from lab.runner import Part, experiments, find, paper, papers
from lab.views import VIEWS
from tanager.errors import InputError

NAMES = list(experiments())


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_can_be_planned(name):
    experiment = experiments()[name]
    assert experiment.view in VIEWS
    assert experiment.title
    assert experiment.claim[-1:] in ("", ".")
    whole, quick = experiment.cells(), experiment.cells(quick=True)
    assert whole
    assert 0 < len(quick) <= len(whole)
    for cell in {cell.measurement: cell for cell in whole + quick}.values():
        function = MEASUREMENTS[cell.measurement]
        inspect.signature(function).bind(**cell.parameters)


def test_papers_are_in_the_order_of_their_years():
    years = [int(name[-4:]) for name in papers()]
    assert years == sorted(years)
    assert NAMES[0].partition("/")[0] == papers()[0]


def test_a_paper_is_all_of_its_experiments():
    chosen = find(["su2008", "su2008/table1"])
    assert [one.paper for one in chosen] == ["su2008"] * len(chosen)
    assert len({one.name for one in chosen}) == len(chosen) > 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("su2008/tabel1", "did you mean su2008/table1"),
        ("su2008/figure99", "su2008/"),
        ("su208", "did you mean su2008"),
        ("zzzz", "known are"),
    ],
)
def test_names_that_are_not_known(name, says):
    with pytest.raises(InputError, match=says):
        find([name])


def test_every_claim_has_a_rule():
    every = experiments().values()
    assert not [one.full_name for one in every if bool(one.claim) != bool(one.rule)]


def test_rows_go_with_the_grid():
    rows = [{"seed": 0, "rate": 0.1}, {"seed": 1}]
    part = Part("any", {"fold": [1, 2]}, {"data": "a"}, {"rows": rows[:1]}, rows)
    whole = [dict(cell.parameters) for cell in part.cells(quick=False)]
    assert whole == [
        {"data": "a", "seed": 0, "rate": 0.1, "fold": 1},
        {"data": "a", "seed": 0, "rate": 0.1, "fold": 2},
        {"data": "a", "seed": 1, "fold": 1},
        {"data": "a", "seed": 1, "fold": 2},
    ]
    assert [cell.parameters["seed"] for cell in part.cells(quick=True)] == [0, 0]


def test_rows_of_a_file_are_parameters():
    parts = experiments()["roth2020/section4.5"].parts
    first, second, third, fourth = parts[0].rows
    assert first == {"order": "random", "candidates": "random"}
    assert second == {"order": None, "candidates": "random"}
    assert (third["order"], fourth["order"]) == ("chow-liu", "cyclic")
    one = experiments()["roth2020/table1"].parts[0].rows
    assert {"method": "NB-ML"} in one  # empty entries are no parameters
    assert all(isinstance(row.get("lambda_", 1.0), float) for row in one)


def test_what_cannot_be_reproduced_has_a_reason():
    absent = paper("pernkopf2010").absent
    assert {"table3", "table9", "table10", "figure8"} <= set(absent)
    assert all("not public" in absent[name] for name in ("table3", "table9"))
    known = {one.name for one in paper("pernkopf2010").experiments}
    assert not known & set(absent)
    assert paper("su2008").absent == {}
