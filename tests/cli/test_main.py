"""The entry point of the command."""

import sys
from importlib.abc import MetaPathFinder

import pytest

from tanager.__main__ import main


class Interrupting(MetaPathFinder):
    """Ctrl-C while a module is imported."""

    def __init__(self, name):
        self.name = name

    def find_spec(self, fullname, path=None, target=None):
        if fullname == self.name:
            raise KeyboardInterrupt


@pytest.fixture
def interrupt(monkeypatch):
    """Interrupt the import of the last of some modules, which are loaded again."""

    def prepare(*names):
        for name in names:
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(sys, "meta_path", [Interrupting(names[-1]), *sys.meta_path])
        monkeypatch.setattr(sys, "argv", ["tanager", "fit", "iris", "-o", "m.json"])

    return prepare


@pytest.mark.parametrize(
    "names",
    [("tanager.cli",), ("tanager.cli", "tanager.cli._fit")],
    ids=["cli", "command"],
)
def test_ctrl_c_while_the_command_line_loads_is_one_line(names, interrupt, capsys):
    interrupt(*names)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize("name", ["tanager.classifiers", "tanager.cli._input_data"])
def test_ctrl_c_while_a_command_loads_what_it_needs(name, interrupt, capsys):
    """Commands import NumPy and the classifiers only when they run."""
    interrupt(name)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    # Click ends the line in which the terminal shows ^C.
    assert capsys.readouterr().err == "\nInterrupted.\n"


def test_ctrl_c_while_an_error_is_reported_is_one_line(monkeypatch, capsys):
    """The last resort, for an interrupt that the group of commands does not catch."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("tanager.cli.main", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Interrupted.\n"
