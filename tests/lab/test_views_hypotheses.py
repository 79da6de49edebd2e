"""Numbers that are not explained, and what was tried."""

from dataclasses import replace

import pytest

from lab.runner import experiments
from lab.runner.cell import Cell
from lab.runner.results import Results
from lab.views import view_of

NAME = "greiner2005/table2-hypotheses"
SEGMENT, MOFN = 77.53, 86.72


def results(**by_hypothesis):
    """Accuracies of GBN+OFE on segment, by a parameter and its value."""
    cells = [
        Cell(
            "holdout_scores",
            {"data": "uci25/segment", "method": "GBN+OFE", **parameters},
        )
        for parameters, _ in by_hypothesis.values()
    ]
    return Results(
        tuple(cells),
        tuple({"accuracy": value / 100} for _, value in by_hypothesis.values()),
    )


def shown(view):
    return {row[1]: row[3:] for row in view.tables[0].rows}


def test_a_hypothesis_explains_what_is_within_the_tolerance():
    found = results(
        plain=({}, SEGMENT + 16.0),
        root=({"class_arcs": "out"}, SEGMENT + 0.9),
        test=({"independence": "g2"}, SEGMENT - 1.1),
    )
    view = view_of(experiments()[NAME], found)
    rows = shown(view)
    assert rows["the plain interpretation"][-1] == "does not explain it"
    ours, deviation, difference, verdict = rows["no arc leads into the class"]
    assert (ours, difference) == (pytest.approx(78.43), pytest.approx(0.9))
    assert deviation is None
    assert verdict == "explains it"
    assert rows["independence by G2"][-1] == "does not explain it"
    assert view.holds
    assert view.verdict == (
        'GBN+OFE, segment: explained by "no arc leads into the class" (+0.90).'
    )
    # The last table has the nearest one only; the other numbers are not measured.
    assert [row[:2] for row in view.tables[-1].rows] == [
        ("GBN+OFE, segment", "no arc leads into the class")
    ]


def test_what_was_fitted_to_a_number_does_not_explain_it():
    found = results(
        plain=({}, SEGMENT + 16.0), coarse=({"encoder": "mdl, 9.3 bits"}, SEGMENT)
    )
    view = view_of(experiments()[NAME], found)
    coarse = "coarse cuts: a unit of entropy of 9.3 bits, found by search"
    assert shown(view)[coarse][-1] == "was fitted to it"
    assert view.holds is False
    assert "not explained; the nearest is" in view.verdict


def test_averages_need_all_datasets():
    experiment = experiments()[NAME]
    number = experiment.options["numbers"][0]
    data = number["where"]["data"]
    published = {
        row["dataset"]: float(row["accuracy"])
        for row in experiment.published
        if row["classifier"] == "GBN+OFE"
    }
    cells = [
        Cell("holdout_scores", {"data": name, "method": "GBN+OFE", "fold": fold})
        for name in data
        for fold in (1, 2)
    ]
    # Two folds with the published accuracy as their mean, and two points more.
    values = {
        cell: {
            "accuracy": (published[cell.parameters["data"].partition("/")[2]] + 2.0)
            / 100
            + (0.1 if cell.parameters["fold"] == 1 else -0.1)
        }
        for cell in cells
    }
    rows = view_of(experiment, Results.of(cells, values)).tables[0].rows
    (average,) = (row for row in rows if row[0] == number["name"])
    assert average[5] == pytest.approx(2.0)
    rows = view_of(experiment, Results.of(cells[2:], values)).tables[0].rows
    assert not [row for row in rows if row[0] == number["name"]]


def test_ratios_and_deviations_over_partitions():
    experiment = experiments()["pernkopf2010/table8-hypotheses"]
    common = {"data": "uci25/vehicle", "structure": "TAN-OMI-CR"}
    cells = [
        Cell("structure_accuracy", common | {"partition": k, "fold": fold})
        for k in (1, 2)
        for fold in (1, 2)
    ]
    right = [70.0, 30.0, 60.0, 20.0]
    numbers = [
        {"right_ML": r, "rows": rows}
        for r, rows in zip(right, [100.0, 50.0] * 2, strict=True)
    ]
    found = Results(tuple(cells), tuple(numbers))
    (row,) = view_of(experiment, found).tables[0].rows
    _, hypothesis, published, ours, deviation, difference, verdict = row
    assert hypothesis.startswith("another partition")
    assert ours == pytest.approx(100 * (100 / 150 + 80 / 150) / 2)
    assert deviation == pytest.approx(100 * (20 / 150) / 2**0.5)
    assert difference == pytest.approx(ours - published)
    # Seven points apart, but less than two deviations of nine points.
    assert verdict == "explains it"
    alone = replace(experiment, options={**experiment.options, "spread": None})
    assert view_of(alone, found).tables[0].rows[0][-1] == "does not explain it"
