"""The entry point of the command."""

import sys
from importlib.abc import MetaPathFinder

import pytest

from tanager.__main__ import main


class Interrupting(MetaPathFinder):
    """Ctrl-C while the command line is imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "tanager.cli":
            raise KeyboardInterrupt


def test_ctrl_c_while_the_command_loads_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "tanager.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Interrupted.\n"
