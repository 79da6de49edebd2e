"""Tables in the pages are those of the saved cells."""

import re

import pytest

from lab.runner import find
from lab.runner.embedded_tables import marked_figures, marked_tables, table_of
from lab.runner.output import RESULTS, read_saved
from tanager.registry import parse
from tests.docs.pages import DOCS

NOTES = DOCS.parent / "lab" / "papers" / "roth2020" / "NOTES.md"
NAMES = (
    "parameter-benchmarks", "structure-benchmarks", "missing-values", "scoreboard",
    "deployment",
)  # fmt: skip
PAGES = (*(DOCS / f"{name}.md" for name in NAMES), NOTES)
TABLES = [
    pytest.param(page, name, id=f"{page.stem}-{name}")
    for page in PAGES
    for name in marked_tables(page.read_text("utf-8"))
]
ROWS = {
    "Chow-Liu tree, RCL": ("Chow-Liu", "error_rcl"),
    "residual tree, RCL": ("residual tree", "error_rcl"),
    "residual 2-tree, RCL": ("residual 2-tree", "error_rcl"),
    "`GumbelTree()` (random order), hybrid": ("random order", "error"),
    "`GumbelTree(order=None)`, hybrid": ("no order", "error"),
}
"""Rows of the page on gradients: variant and number of the study."""


def test_tables_are_marked():
    assert len(TABLES) >= 20


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_tables_are_up_to_date(page, name):
    assert marked_tables(page.read_text("utf-8"))[name] == table_of(name), (
        f"run `python -m lab tables {page.relative_to(DOCS.parent)}`"
    )


def test_figures_are_up_to_date():
    page = DOCS / "scoreboard.md"
    figures = marked_figures(page.read_text("utf-8"))
    assert len(figures) >= 3
    for name, file in figures.items():
        drawn = (RESULTS / f"{name}.svg").read_bytes()
        assert (DOCS / file).read_bytes() == drawn, "run `python -m lab tables`"


def test_errors_of_the_page_on_gradients():
    text = (DOCS / "structure-gradient.md").read_text("utf-8")
    (experiment,) = find(["gradient/variants"])
    results = read_saved(RESULTS, experiment)
    for title, (method, number) in ROWS.items():
        (numbers,) = re.findall(rf"(?m)^\| {re.escape(title)} \| (.*) \|$", text)
        means = [
            results.where(data=name, method=method).mean(number)
            for name in ("images/letter", "images/satimage", "images/usps")
        ]
        expected = [f"{float(f'{100 * mean:.2f}') + 1e-9:.1f}" for mean in means]
        assert numbers.split(" | ") == expected, title


def test_the_chow_liu_tree_was_found_in_all_runs():
    (experiment,) = find(["roth2020/section4.6"])
    results = read_saved(RESULTS, experiment)
    assert len(results) == 6
    assert (results.values("arcs_found") == results.values("arcs")).all()
    assert not results.values("other_arcs").any()


def test_names_that_are_compared_exist():
    (experiment,) = find(["structure/comparison"])
    compared = {
        f"{cell.parameters['structure']}-{cell.parameters['parameters']}"
        for cell in experiment.cells()
    }
    assert {parse(name).name for name in compared} == compared
