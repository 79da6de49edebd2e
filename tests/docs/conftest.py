import shlex

import pytest
from click.testing import CliRunner

from tanager.cli import cli
from tests.docs.pages import read_page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TANAGER_DATA", raising=False)
    return tmp_path


@pytest.fixture
def page_files(folder):
    """The files that docs/command-line.md shows, in the current folder."""
    found = {}
    for section in read_page("command-line.md"):
        found |= section.files
    for name, content in found.items():
        (folder / name).write_text(content, encoding="utf-8")
    return found


@pytest.fixture
def typed():
    """Run a command line that begins with ``tanager``; gives click's result."""

    def run(command):
        program, *arguments = shlex.split(command)
        assert program == "tanager"
        # As in a terminal, its output has both streams in the order of writing.
        return CliRunner().invoke(cli, arguments)

    return run
