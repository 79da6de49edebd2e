"""The tables in docs/parameters.md are those of the measured numbers."""

import re

import pytest

from tests.docs.pages import DOCS

tables = pytest.importorskip(
    "lab.studies.parameters.tables",
    reason="a source distribution has no experiments",
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
    return (DOCS / "parameters.md").read_text("utf-8")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_page_has_the_table(page, make):
    assert make() in page


def test_figures_and_sections_that_are_linked_exist(page):
    figures = re.findall(r"\((figures/[^)]*)\)", page)
    assert len(figures) == 3
    for figure in figures:
        assert (DOCS / figure).is_file()
    titles = {
        title.lower().replace(" ", "-") for title in re.findall(r"(?m)^## (.*)$", page)
    }
    assert set(re.findall(r"\(#([^)]*)\)", page)) <= titles
