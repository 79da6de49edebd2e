"""The tables in docs/parameter-benchmarks.md are those of the measured numbers."""

import pytest

from tests.docs.pages import DOCS

tables = pytest.importorskip(
    "lab.studies.parameters.tables", reason="a source distribution has no lab"
)

MAKERS = (
    tables.means,
    tables.by_set,
    tables.by_copies,
    tables.by_gaps,
    tables.means_with_gaps,
    tables.by_labelled,
    tables.by_costs,
)


@pytest.fixture(scope="module")
def page():
    return (DOCS / "parameter-benchmarks.md").read_text("utf-8")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_page_has_the_table(page, make):
    assert make() in page
