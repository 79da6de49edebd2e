"""The tables in docs/structure-gradient.md are those of the measured numbers."""

import pytest

from tests.docs.pages import DOCS

pytest.importorskip("fcntl", reason="the files of results have locks as on Unix")
tables = pytest.importorskip(
    "lab.studies.differentiable.tables",
    reason="a source distribution has no experiments",
)
which_mnist = pytest.importorskip("lab.studies.differentiable.which_mnist")


@pytest.mark.parametrize("make", [tables.table_1, tables.by_method, which_mnist.table])
def test_the_page_has_the_table(make):
    assert make() in (DOCS / "structure-gradient.md").read_text("utf-8")


def test_the_chow_liu_tree_was_found_in_all_runs():
    rows = tables.recovery.results().rows
    assert len(rows) == 6
    assert all(row["arcs_found"] == row["arcs"] for row in rows)
    assert all(row["other_arcs"] == "0" for row in rows)
