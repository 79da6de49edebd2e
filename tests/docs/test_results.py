"""The page of results is that of the cells that are kept with it."""

import re

import pytest

from lab.runner import paper, papers
from lab.runner.document import page
from lab.runner.output import RESULTS
from tests.docs.pages import DOCS


@pytest.fixture(scope="module")
def text():
    return (DOCS / "results.md").read_text("utf-8")


def test_the_page_is_made_from_the_cells(text):
    made = page(RESULTS, papers(), DOCS)
    assert text == made, (
        "docs/results.md is not up to date; run `python -m lab reproduce "
        "--document docs/results.md`."
    )


def test_every_experiment_is_there(text):
    titles = re.findall(r"(?m)^### (\S+):", text)
    expected = [one.full_name for name in papers() for one in paper(name).experiments]
    assert titles == expected


def test_files_that_are_linked_exist(text):
    for link in re.findall(r"\]\(([^)]*)\)", text):
        assert (DOCS / link).is_file()
