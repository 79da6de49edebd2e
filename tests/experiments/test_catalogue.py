import inspect

import pytest

from tanager.core.errors import InputError
from tanager.experiments import experiments, find, papers
from tanager.experiments.measurements import MEASUREMENTS
from tanager.experiments.views import VIEWS

NAMES = list(experiments())


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_can_be_planned(name):
    experiment = experiments()[name]
    assert experiment.view in VIEWS
    assert experiment.title
    assert experiment.claim.endswith(".")
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
