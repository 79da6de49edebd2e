"""The pages of the site: every one can be reached, and examples are executed."""

import re

import pytest

from tests.docs.pages import DOCS

if not DOCS.is_dir():
    pytest.skip("a source distribution has no pages", allow_module_level=True)


def entries(page):
    """The pages that the tables of contents of a page name."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    return {re.sub(r"^.*<(.*)>$", r"\1", name) for name in names}


def test_every_page_is_in_a_table_of_contents():
    pages = [*DOCS.glob("*.md"), *DOCS.glob("methods/*.md")]
    reached = {
        (page.parent / entry).relative_to(DOCS).as_posix()
        for page in pages
        for entry in entries(page)
    }
    names = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}
    assert names - reached == {"index"}


def test_every_example_has_a_title_a_reason_and_a_figure():
    examples = sorted(DOCS.glob("examples/*.py"))
    assert len(examples) >= 10
    for path in examples:
        assert path.name.startswith("plot_"), path.name  # only these are executed
        text = path.read_text("utf-8")
        assert re.match(r'"""\n.+\n=+\n\n\S', text), path.name
        assert re.search(r"plot\w*\(", text), path.name


@pytest.mark.parametrize("task", ["choose", "explanations", "missing-values"])
def test_the_home_page_leads_to_the_main_tasks(task):
    assert f":link: {task}\n" in (DOCS / "index.md").read_text("utf-8")
