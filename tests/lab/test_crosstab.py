"""Tables by parameters of cells, on made-up numbers."""

from lab.runner import Cell, Experiment, Results
from lab.runner.output import draw_svg
from lab.views import view_of

CELLS = {
    Cell("m", {"data": f"x/{data}", "method": method, "seed": seed}): {
        "accuracy": accuracy + seed / 100,
        "seconds": 10.0**-seed,
        "rows": 10 * (1 + seed),
    }
    for data, method, accuracy in [("a", "A", 0.5), ("b", "A", 0.7), ("a", "B", 0.6)]
    for seed in (0, 1)
}


def table(columns, published=(), **options):
    experiment = Experiment(
        "p",
        "t",
        "",
        "crosstab",
        (),
        published=published,
        options={
            "rows": ["method"],
            "head": ["method"],
            "labels": ["{method}"],
            "percent": ["accuracy"],
            "columns": columns,
            **options,
        },
    )
    return view_of(experiment, Results(tuple(CELLS), tuple(CELLS.values())))


def test_means_medians_and_weights():
    view = table(
        [
            {"title": "mean", "text": "{accuracy:.1f}"},
            {"title": "max", "text": "{seconds:t}", "of": "max"},
            {"title": "weighted", "text": "{accuracy:.2f}", "weights": "rows"},
            {"title": "n", "text": "{cells}"},
        ]
    )
    assert view.tables[0].rows[0] == ("A", "60.5", "1", "60.67", "4")


def test_lists_ask_for_all_of_their_values():
    column = {"title": "", "text": "{accuracy:.0f}", "where": {"data": ["x/a", "x/b"]}}
    assert [row[1] for row in table([column]).tables[0].rows] == ["60", ""]


def test_one_column_for_each_value_and_a_total():
    column = {
        "title": "on {data}",
        "text": "{accuracy:.1f}",
        "across": {"data": ["x/a", "x/b"]},
    }
    (found,) = table([column], total="mean").tables
    assert found.head == ("method", "on a", "on b")
    assert found.rows == (
        ("A", "50.5", "70.5"),
        ("B", "60.5", ""),
        ("mean", "55.5", "70.5"),
    )


def test_lines_count_alike_in_a_total():
    column = {"title": "", "text": "{accuracy:.1f}"}
    options = {"rows": ["data"], "head": ["data"], "labels": ["{data}"]}
    (found,) = table([column], total="mean", **options).tables
    assert found.rows == (("a", "55.5"), ("b", "70.5"), ("mean", "63.0"))


def test_ranges_spreads_and_comparisons():
    where = {"data": "x/a"}
    view = table(
        [
            {
                "title": "range",
                "of": "range",
                "over": "seed",
                "number": "accuracy",
                "text": "{accuracy:.0f}",
                "where": where,
            },
            {
                "title": "spread",
                "text": "",
                "of_many": "± {accuracy_spread:.1f}",
                "where": where,
            },
        ]
    )
    assert view.tables[0].rows[0] == ("A", "50 to 51", "± 0.5")
    view = table(
        [
            {
                "title": "",
                "text": "{better}",
                "number": "accuracy",
                "where": {"method": "B"},
                "versus": {"method": "A"},
            }
        ],
        rows=["data"],
        labels=["{data}"],
    )
    assert [row[1] for row in view.tables[0].rows] == ["2", ""]


def test_published_numbers():
    rows = ({"classifier": "A-ML", "cr": "81.25"},)
    column = {
        "title": "published",
        "text": "{:.1f}",
        "published": {"column": "cr", "classifier": "{method}-ML"},
    }
    found = table([column], published=rows).tables[0].rows
    assert found == (("A", "81.2"), ("B", ""))


def test_a_number_that_is_not_there_leaves_a_blank():
    (row, _) = table([{"title": "", "text": "{cost:.1f}"}]).tables[0].rows
    assert row == ("A", "")


def test_lines_are_drawn():
    view = table(
        [],
        figure={
            "x": "seed",
            "x_label": "seed",
            "panels": [{"number": "accuracy", "label": "accuracy"}],
            "lines": [{"label": "A", "where": {"method": "A", "data": "x/a"}}],
            "level": {"value": 0.5},
        },
    )
    assert b"<svg" in draw_svg(view)
