"""Tables, ranks and verdicts of the scoreboard, compared with plain calculations."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.stats import wilcoxon

from lab.runner.cell import Cell
from lab.runner.experiment import Experiment
from lab.runner.output import draw_svg
from lab.runner.results import Results
from lab.scoreboard.plan import NOT_YET
from lab.views import view_of
from lab.views.scoreboard_scores import SCORES, ScoreTable

RIVALS = ("tanager", "A", "B", "C")
TIME = "time limit: more than 150 processor seconds"


def experiment(view, **options):
    return Experiment("scoreboard", view, "Title", view, (), options=options)


def cells(n_tables=12, n_folds=3):
    return [
        Cell("rival_scores", {"data": f"x/t{t}", "rival": r, "fold": f, "n_folds": 3})
        for t in range(n_tables)
        for r in RIVALS
        for f in range(1, n_folds + 1)
    ]


def numbers(one, random):
    number = int(one.data[0].rpartition("t")[2])
    gain = 0.02 * RIVALS.index(one.parameters["rival"])
    share = 0.95 - gain + 0.03 * random.random()
    return {
        "accuracy": round(share, 2),  # with ties
        "log_loss": 1 - share,
        "auc": share,
        "brier": 1 - share,
        "calibration_error": 0.1 * random.random(),
        "fit_seconds": 1.0 + number + RIVALS.index(one.parameters["rival"]),
        "fit_wall_seconds": 3.0,
        "predict_seconds": 0.01,
        "predict_wall_seconds": 0.02,
        "model_bytes": 2_000.0,
        "n_train": 4_000.0 if number >= 6 else 100.0,
        "n_test": 2_000.0 if number >= 6 else 50.0,
        "n_features": 3.0,
        "n_classes": 2.0,
    }


@pytest.fixture
def results():
    """C lacks four tables, B one fold, and A is stopped once."""
    random = np.random.default_rng(0)
    plan, known, missing = cells(), {}, {}
    for one in plan:
        p = one.parameters
        number = int(p["data"].rpartition("t")[2])
        if p["rival"] == "C" and number >= 8:
            missing[one] = TIME if number == 8 else NOT_YET
        elif p["rival"] == "A" and number == 11:
            missing[one] = "ValueError: no"
        elif p["rival"] == "B" and (number, p["fold"]) == (0, 3):
            missing[one] = NOT_YET
        else:
            known[one] = numbers(one, random)
    return Results.of(plan, known, missing)


def plain_means(results, score, rivals, tables):
    """Means over the folds that all of the rivals have, by loops."""
    rows = []
    for table in tables:
        folds = [
            f
            for f in (1, 2, 3)
            if all(len(results.where(data=table, rival=r, fold=f)) for r in rivals)
        ]
        row = []
        for rival in rivals:
            found = [
                results.where(data=table, rival=rival, fold=f).values(score)[0]
                for f in folds
            ]
            row.append(sum(found) / len(found))
        rows.append(row)
    return np.array(rows)


def plain_ranks(values):
    """Ranks of each row, 1 for the least; ties share the mean, by counting."""
    ranks = np.empty_like(values)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            below, same = sum(row < value), sum(row == value)
            ranks[i, j] = below + (same + 1) / 2
    return ranks.mean(axis=0)


def test_who_is_ranked_on_which_tables(results):
    scores = ScoreTable(results)
    assert scores.ranked == ["tanager", "A", "B"]  # 12, 11 and 12 of 12; C has 8
    assert set(scores.common) == {f"x/t{t}" for t in range(11)}
    assert set(scores.common[:6]) == {f"x/t{t}" for t in range(6)}  # smaller ones
    assert scores.shared("tanager", "C") == [f"x/t{t}" for t in range(8)]
    assert scores.kind_of_reason("x/t8", "C") == "time limit"
    assert scores.kind_of_reason("x/t9", "C") == ""
    assert scores.kind_of_reason("x/t11", "A") == "failed"
    assert scores.is_large("x/t6")
    assert not scores.is_large("x/t5")


@pytest.mark.parametrize("score", list(SCORES))
def test_ranks_are_those_of_a_plain_calculation(results, score):
    scores = ScoreTable(results)
    values = plain_means(results, score, scores.ranked, scores.common)
    expected = plain_ranks((-SCORES[score] * values).round(5))
    table = view_of(experiment("scoreboard_ranks"), results).tables[0]
    column = 1 + list(SCORES).index(score)
    found = {row[0]: row[column] for row in table.rows}
    assert [found[name] for name in scores.ranked] == pytest.approx(expected)


def test_averages_are_those_of_a_plain_calculation(results):
    scores = ScoreTable(results)
    whole, table = view_of(experiment("scoreboard_averages"), results).tables
    assert len(whole.rows) == 4 * 12 - 4 - 1
    by_name = {row[0]: row for row in table.rows}
    values = plain_means(results, "log_loss", scores.ranked, scores.common)
    for place, name in enumerate(scores.ranked):
        assert by_name[name][2] == pytest.approx(values[:, place].mean())
    assert by_name["C"][1:6] == (None,) * 5
    assert by_name["C"][6] == "8 of 12"
    assert "11 tables" in table.title


def test_pairs_follow_the_rule(results):
    (table,) = view_of(experiment("scoreboard_pairs"), results).tables
    assert [row[0] for row in table.rows] == ["A", "B", "C"]
    assert [row[1] for row in table.rows] == [11, 12, 8]
    p_values = []
    for rival in ("A", "B", "C"):
        tables = ScoreTable(results).shared("tanager", rival)
        ours, theirs = plain_means(results, "log_loss", ["tanager", rival], tables).T
        p_values.append(wilcoxon(ours - theirs).pvalue)
    order = np.argsort(p_values)
    corrected = np.empty(3)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (3 - rank) * p_values[place]))
        corrected[place] = largest
    for row, p in zip(table.rows, corrected, strict=True):
        assert float(row[8]) == pytest.approx(p, rel=0.06)
        assert row[9] == ("**ahead**" if p < 0.05 else "**not apart**")


def test_a_rival_that_is_better_is_said_to_be(results):
    worse = {}
    for cell, found in results:
        more = 2.0 if cell.parameters["rival"] == "tanager" else 0.0
        worse[cell] = {**found, "log_loss": found["log_loss"] + more}
    (table,) = view_of(
        experiment("scoreboard_pairs"), Results.of(results.cells, worse)
    ).tables
    assert {row[9] for row in table.rows} == {"**behind**"}
    assert all(float(row[7]) > 1.5 for row in table.rows)


def test_a_table_says_why_there_is_no_number(results):
    view = view_of(experiment("scoreboard_tables", score="log_loss", digits=3), results)
    rows = {row[0].partition(" ")[0]: row[1:] for row in view.tables[0].rows}
    head = view.tables[0].head
    assert head == ("table", *RIVALS)
    assert rows["t8"][3] == "time limit"
    assert rows["t9"][3] == ""
    assert rows["t11"][1] == "failed"
    assert sum(text.startswith("**") for text in rows["t1"]) >= 1
    values = [float(text.strip("*")) for text in rows["t1"]]
    assert rows["t1"][int(np.argmin(values))].startswith("**")


def test_coverage_counts_every_cell(results):
    (table,) = view_of(experiment("scoreboard_coverage"), results).tables
    assert f"{len(results)} of {4 * 12 * 3} cells" in table.title
    rows = {row[0]: row for row in table.rows}
    assert rows["C"][1:6] == ("24 of 36", 3, 0, 0, 9)
    assert rows["A"][4] == 3
    assert rows["all"][1:6] == (f"{len(results)} of 144", 3, 0, 3, 10)
    assert rows["A"][-1] == "ValueError: no"
    assert rows["C"][-2] == "t8"


def test_costs(results):
    whole, shown = view_of(experiment("scoreboard_costs"), results).tables
    by_name = {row[0]: row for row in whole.rows}
    assert list(by_name) == ["tanager", "A", "B"]  # by the sum of times
    fits = 1.0 + np.arange(11)
    assert by_name["tanager"][1:4] == pytest.approx(
        (np.median(fits), fits.max(), fits.sum())
    )
    assert by_name["A"][5] == pytest.approx(1e6 * 0.01 / 50)  # 6 of 11 are small
    assert by_name["A"][6] == 2.0
    assert by_name["A"][7] is None
    assert shown.rows[0][1] == "6"


@pytest.mark.parametrize(
    "view",
    ["scoreboard_ranks", "scoreboard_pairs", "scoreboard_costs"],
)
def test_figures_are_drawn(results, view):
    figure = Figure()
    FigureCanvasAgg(figure)
    view_of(experiment(view), results).draw(figure)
    (axes,) = figure.axes
    shown = [*axes.texts, *axes.get_yticklabels()]
    names = {text.get_text().partition(" (")[0] for text in shown}
    assert names >= {"A", "B"}
    drawn = draw_svg(view_of(experiment(view), results))
    assert drawn == draw_svg(view_of(experiment(view), results))


def claims(results, *asked):
    return view_of(experiment("scoreboard_claims", claims=list(asked)), results)


def test_claims_and_their_verdicts(results):
    means = {"kind": "means", "scores": ["accuracy", "log_loss"]}
    view = claims(
        results,
        {**means, "rival": "A", "tables": "small"},
        {**means, "rival": "C", "tables": "large"},
        {"kind": "score", "data": "x/t1", "score": "accuracy", "limit": 0.99},
        {"kind": "score", "data": "x/t1", "score": "log_loss", "limit": 0.99},
        {"kind": "score", "data": "x/no", "score": "accuracy", "limit": 0.5},
        {"kind": "seconds", "rival": "A", "tables": "small", "number": "fit_seconds",
         "total": 1.0},
        {"kind": "seconds", "rival": "A", "tables": "small", "number": "fit_seconds",
         "each": 0.5},
        {"kind": "seconds", "rival": "no", "tables": "small", "number": "fit_seconds",
         "each": 0.5},
    )  # fmt: skip
    verdicts = [row[2].strip("*") for row in view.tables[0].rows]
    assert verdicts == [
        "holds",
        "inconclusive",  # two large tables only
        "does not hold",
        "holds",
        "inconclusive",
        "holds",  # the sum is less
        "does not hold",  # 6 of 7 seconds on the last table
        "inconclusive",
    ]
    assert "3 hold, 2 do not hold and 3 are inconclusive" in view.verdict
    assert view.holds is False
    assert "0.86 times on t5" in view.tables[0].rows[6][1]
    assert "(6 tables)" in view.tables[0].rows[0][1]


def test_nothing_is_measured_yet():
    results = Results.of(cells(2), {}, dict.fromkeys(cells(2), NOT_YET))
    for name in ("averages", "ranks", "pairs", "costs", "coverage"):
        assert view_of(experiment(f"scoreboard_{name}"), results).draw is None
    assert ScoreTable(results).ranked == []
