"""Numbers of `GumbelTree` in the pages are the measured ones."""

import re

import pytest

from tests.docs.pages import DOCS

pytest.importorskip("fcntl", reason="the files of results have locks as on Unix")
tables = pytest.importorskip(
    "lab.studies.differentiable.tables", reason="a source distribution has no lab"
)
which_mnist = pytest.importorskip("lab.studies.differentiable.which_mnist")

NOTES = DOCS.parent / "lab" / "papers" / "roth2020" / "NOTES.md"
ROWS = {
    "Chow-Liu tree, CL": ("Chow-Liu", 2),
    "residual tree, CL": ("residual tree", 2),
    "residual 2-tree, CL": ("residual 2-tree", 2),
    "`GumbelTree()` (random order), hybrid": ("random order", 1),
    "`GumbelTree(order=None)`, hybrid": ("no order", 1),
}
"""Rows of the page: structure and column of errors in the measured table."""


@pytest.mark.parametrize("make", [tables.table_1, tables.by_method, which_mnist.table])
def test_the_notes_have_the_table(make):
    assert make() in NOTES.read_text("utf-8")


def test_the_errors_of_the_page():
    text = (DOCS / "structure-gradient.md").read_text("utf-8")
    measured = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in tables.by_method().splitlines()[2:]
    ]
    for title, (structure, column) in ROWS.items():
        (numbers,) = re.findall(rf"(?m)^\| {re.escape(title)} \| (.*) \|$", text)
        found = [row[1 + column] for row in measured if row[1] == structure]
        expected = [f"{float(cell.split()[0]) + 1e-9:.1f}" for cell in found]
        assert numbers.split(" | ") == expected, title


def test_the_chow_liu_tree_was_found_in_all_runs():
    rows = tables.recovery.results().rows
    assert len(rows) == 6
    assert all(row["arcs_found"] == row["arcs"] for row in rows)
    assert all(row["other_arcs"] == "0" for row in rows)
