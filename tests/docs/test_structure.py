"""The tables in docs/structure-benchmarks.md are those of the measured numbers."""

import pytest

import tanager
from tests.docs.pages import DOCS

tables = pytest.importorskip(
    "lab.studies.structure.tables", reason="a source distribution has no lab"
)

MAKERS = (
    tables.means,
    tables.by_set,
    tables.by_time,
    tables.by_digits,
    tables.by_orders,
    tables.by_rows,
)


@pytest.fixture(scope="module")
def page():
    return (DOCS / "structure-benchmarks.md").read_text("utf-8")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_page_has_the_table(page, make):
    assert make() in page


@pytest.mark.skipif(
    not (tables.RESIDUALS / "images.csv").exists(),
    reason="residual trees have not been measured here",
)
def test_the_page_has_the_table_of_residual_trees(page):
    assert tables.by_residuals() in page


def test_names_that_are_compared_exist():
    known = set(tanager.names())
    compared = {
        f"{structure}-{parameters}"
        for structure, all_parameters in tables.STRUCTURES.items()
        for parameters in all_parameters
    }
    assert compared <= known
