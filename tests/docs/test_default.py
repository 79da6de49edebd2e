"""The tables of the page on the default are those of the cells that are kept."""

import pytest

from lab.runner import experiments
from lab.runner.output import RESULTS, read_saved
from lab.views import view_of
from tests.docs.pages import DOCS


@pytest.mark.parametrize("name", ["tuning", "test", "boosted", "readable"])
def test_tables(name):
    experiment = experiments()[f"tanager2026/{name}"]
    view = view_of(experiment, read_saved(RESULTS, experiment))
    text = (DOCS / "default.md").read_text("utf-8")
    assert view.tables[1].markdown in text
