import pytest

from lab.runner import experiments
from lab.runner.cell import Cell
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views import view_of
from lab.views.claims import t_tests, told, winner
from lab.views.published_scores import measured

NAMES = [name for name in experiments() if name.startswith("greiner2005/")]


def known(cells, numbers):
    return Results(tuple(cells), tuple(numbers))


def cell(**parameters):
    return Cell("holdout_scores", parameters)


@pytest.fixture(scope="module")
def table():
    """Accuracies of table2, those of the paper, one set short of a method."""
    published = experiments()["greiner2005/table2"].published
    rows = [row for row in published if row["dataset"] != "letter"]
    rows += [r for r in published if r["dataset"] == "letter"][:1]
    return known(
        [cell(data=f"uci25/{r['dataset']}", method=r["classifier"]) for r in rows],
        [{"accuracy": float(r["accuracy"]) / 100, "test_rows": 100.0} for r in rows],
    )


@pytest.mark.parametrize("name", NAMES)
def test_views_say_nothing_of_nothing(name):
    view = view_of(experiments()[name], Results((), ()))
    assert view.holds is None
    assert not view.verdict


def test_the_published_table_is_significant_as_published(table):
    view = view_of(experiments()["greiner2005/table4"], table)
    long = view.tables[0]
    place = {name: k for k, name in enumerate(long.head)}
    rows = {row[:2]: row for row in long.rows}
    assert len(rows) == 15
    row = rows["NB+OFE", "NB+ELR"]
    assert row[place["our winner"]] == "NB+ELR"
    assert row[place["same verdict"]] == "yes"
    # All 25 datasets count for the tests by the published means, 24 for ours.
    assert row[place["p by published means"]] == pytest.approx(0.005, abs=0.003)
    assert row[place["our p"]] != row[place["p by published means"]]
    assert "On 24 datasets 15 of 15 comparisons have the published" in view.verdict
    assert view.distance.startswith("15 of 15 comparisons")
    against = "2 of the 15 published arrows point away from the method with the higher"
    assert against in view.verdict
    assert view.holds
    matrix = view.tables[-1]
    assert matrix.rows[0][0] == "GBN+OFE"
    assert matrix.rows[0][1].startswith("↑")
    assert set(matrix.rows[0][2:]) == {""}


def test_scatter_counts_sets(table):
    view = view_of(experiments()["greiner2005/figure4"], table)
    counts = view.tables[1].rows[0]
    assert counts[:2] == ("NB+OFE", "NB+ELR")
    assert sum(counts[2:5]) == 24
    assert counts[5] == "NB+ELR"
    assert view.holds
    long = view.tables[0].rows
    # The accuracies are the published ones.
    assert max(abs(row[-1]) for row in long) < 1e-9


def test_deviations_of_means():
    one = known(
        [cell(data="a", method="NB", fold=fold) for fold in (1, 2)],
        [{"accuracy": 0.8, "test_rows": 10.0}, {"accuracy": 0.9, "test_rows": 10.0}],
    )
    assert measured(one, "accuracy", 100.0)["a", "NB"].deviation == pytest.approx(
        7.0711, abs=1e-4
    )
    assert measured(one, "accuracy", 100.0, of_means=True)[
        "a", "NB"
    ].deviation == pytest.approx(5.0)
    single = one.where(fold=1)
    found = measured(single, "accuracy", 100.0, of_means=True)["a", "NB"]
    assert found.deviation == pytest.approx(100 * (0.8 * 0.2 / 10) ** 0.5)
    assert measured(single, "accuracy", 100.0)["a", "NB"].deviation is None


def test_averages_are_told_without_sets_in_doubt(table):
    view = view_of(experiments()["greiner2005/table2"], table)
    titles = [one.title for one in view.tables]
    assert any("23 datasets" in title and "without glass" in title for title in titles)


def curve(**options):
    panel = {"title": "a", "x": "m", "label": "m", "methods": ["NB", "TAN"]}
    return Experiment(
        "paper", "figure", "", "error_curves", (), options={"panels": [panel | options]}
    )


def test_curves_are_tested_over_repetitions():
    cells = [
        cell(method=method, m=m, repeat=repeat)
        for method in ("NB", "TAN")
        for m in (1, 2)
        for repeat in (1, 2, 3)
    ]
    errors = [
        {"error": 0.1 * c.parameters["m"] + 0.01 * c.parameters["repeat"]}
        if c.parameters["method"] == "NB"
        else {"accuracy": 1 - 0.001 * c.parameters["repeat"]}
        for c in cells
    ]
    view = view_of(curve(claims=[["TAN", ">", "NB"]]), known(cells, errors))
    assert view.holds
    first = view.tables[0].rows[0]
    assert first[:3] == ("a", "NB", 1.0)
    assert first[3] == pytest.approx(12.0)
    assert first[4] == pytest.approx(1 / 3**0.5)
    assert first[5] == 3
    other = view_of(curve(claims=[["NB", ">=", "TAN"]]), known(cells, errors))
    assert other.holds is False
    part = view_of(curve(claims=[["TAN", ">", "NB"]]), known(cells[:1], errors[:1]))
    assert part.holds is None


def test_iterations_are_stopped_in_several_ways():
    experiment = experiments()["greiner2005/figure1"]
    numbers = {
        "training_error": [0.3, 0.2, 0.25, 0.1],
        "test_error": [0.3, 0.5, 0.2, 0.4],
        "tuned": 2.0,
        "tuned_error": 0.2,
    }
    view = view_of(experiment, known([cell(method="NB+ELR", fold=1)], [numbers]))
    stops = {row[1]: row[2] for row in view.tables[1].rows}
    assert stops["the start"] == pytest.approx(30)
    assert stops["before the training error first rises"] == pytest.approx(50)
    assert stops["the lowest training error"] == pytest.approx(40)
    assert stops["cross tuning"] == pytest.approx(20)
    # One run tells nothing; three that agree do.
    assert view.holds is None
    unlucky = known([cell(method="NB+ELR", fold=1)], [numbers | {"tuned_error": 0.6}])
    assert view_of(experiment, unlucky).holds is None
    cells = [cell(method="NB+ELR", fold=fold) for fold in (1, 2, 3)]
    runs = [numbers | {"tuned_error": error} for error in (0.20, 0.21, 0.22)]
    assert view_of(experiment, known(cells, runs)).holds
    worse = [numbers | {"tuned_error": 0.6}] * 3
    assert view_of(experiment, known(cells, worse)).holds is False


def test_gaps_tell_which_way_is_nearer():
    experiment = experiments()["greiner2005/table3-test-missing"]
    found = known(
        [
            cell(data="uci25/chess", method="NB+EM", missing_in_test=gaps)
            for gaps in (False, True)
        ],
        [{"accuracy": 0.9}, {"accuracy": 0.8}],
    )
    view = view_of(experiment, found)
    assert view.holds is False
    assert view.tables[0].rows[0][:3] == ("chess", "NB+EM", 89.68)


def test_claims_that_two_are_equal():
    scores = {(name, m): 1.0 for name in "ab" for m in ("x", "y")}
    tests = t_tests(scores, ["x", "y"])
    assert winner(tests, "x", "y")[0] is None
    said, holds = told(tests, [["x", "~", "y"], ["x", ">", "y"], ["x", ">", "z"]])
    assert said == "x ~ y: yes, they are equal. x > y: no, they are equal."
    assert holds is False
    assert told(None, [["x", ">", "y"]]) == ("", None)


@pytest.mark.parametrize(
    ("relation", "says", "holds"),
    [
        (">", "not significantly (p = 0.25)", None),
        (">=", "yes, x is better (p = 0.25)", True),
        ("~", "yes (p = 0.25)", True),
    ],
)
def test_claims_about_what_is_not_significant(relation, says, holds):
    scores = {("a", "x"): 2.0, ("b", "x"): 1.0, ("a", "y"): 0.0, ("b", "y"): 1.0}
    tests = t_tests(scores, ["x", "y"])
    assert told(tests, [["x", relation, "y"]]) == (f"x {relation} y: {says}.", holds)
    said, other = told(tests, [["y", ">", "x"]])
    assert (said, other) == ("y > x: no, x is better (p = 0.25).", False)


@pytest.mark.parametrize("name", ["figure1", "figure4", "figure8", "figure9"])
def test_figures_can_be_drawn_of_little(name, table):
    pytest.importorskip("matplotlib")
    from lab.runner.output import draw_svg

    series = [0.2, 0.1]
    numbers = {"training_error": series, "test_error": series, "tuned_error": 0.1}
    few = {
        "figure1": known([cell(method="NB+ELR")], [numbers]),
        "figure8": known(
            [cell(method="NB+OFE", m=1, repeat=1, missing=0.0)], [{"error": 0.1}]
        ),
    }
    view = view_of(experiments()[f"greiner2005/{name}"], few.get(name, table))
    assert b"<svg" in draw_svg(view)


def test_interpretations_keep_the_plain_accuracy_where_they_change_nothing():
    experiment = experiments()["greiner2005/table2-interpretations"]
    plain, other, *_ = [
        experiment.options["plain"],
        *experiment.options["interpretations"],
    ]
    published = {
        (row["dataset"], row["classifier"]): float(row["accuracy"])
        for row in experiment.published
    }
    encoder = experiment.options["interpretations"][other]["encoder"]
    cells = [
        cell(data="uci25/glass", method="NB+OFE"),
        cell(data="uci25/vote", method="NB+OFE"),
        cell(data="uci25/glass", method="NB+OFE", encoder=encoder),
        cell(data="uci25/vote", method="NB+OFE", encoder=encoder, threshold=0.3),
    ]
    of_glass, of_vote = (published[name, "NB+OFE"] for name in ("glass", "vote"))
    numbers = [
        {"accuracy": (one + more) / 100, "test_rows": 100.0}
        for one, more in ((of_glass, 6), (of_vote, -2), (of_glass, 3), (of_vote, 9))
    ]
    view = view_of(experiment, known(cells, numbers))
    means, without, distances = view.tables[1:4]
    assert means.head[1:3] == (plain, other)
    assert means.rows[0][:3] == ("NB+OFE", pytest.approx(2.0), pytest.approx(0.5))
    assert distances.rows[0][1:3] == (pytest.approx(4.0), pytest.approx(2.5))
    assert without.title == "The same without glass"
    assert without.rows[0][1:3] == (pytest.approx(-2.0), pytest.approx(-2.0))
    # A parameter of no reading is no reading's cell.
    assert set(means.rows[0][3:]) == {None}
    assert view.holds is False
    assert f"By {other}: 1 of 1 averages within 1 point (NB+OFE +0.50)." in view.verdict
    assert len(view.tables[4].rows) == 1


def test_one_set_is_called_by_its_name():
    experiment = experiments()["pernkopf2010/table1-mnist"]
    cells = [cell(data="images/mnist", method="NB-ML")]
    view = view_of(experiment, known(cells, [{"accuracy": 0.84, "test_rows": 100.0}]))
    assert view.tables[1].title == "On mnist, ours less the published one"
    assert view.tables[1].rows[0][:2] == ("NB-ML", pytest.approx(0.27))


def test_a_dataset_that_an_interpretation_lacks_is_in_no_average():
    experiment = experiments()["greiner2005/table2-interpretations"]
    other, *_ = experiment.options["interpretations"]
    encoder = experiment.options["interpretations"][other]["encoder"]
    cells = [
        cell(data=f"uci25/{name}", method="NB+OFE", **more)
        for name in ("vote", "iris", "vehicle")
        for more in ({}, {"encoder": encoder})
        if name == "iris" or not more  # vehicle by the other rule is still to come
    ]
    numbers = [{"accuracy": 0.5, "test_rows": 100.0} for _ in cells]
    view = view_of(experiment, known(cells, numbers))
    assert view.tables[1].title.startswith("Averages over 2 datasets")
