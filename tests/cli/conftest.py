import inspect
import signal

import pytest
from click.testing import CliRunner

from tanager.cli import cli

WEATHER = """\
sky,wind,code,play
blue,3.0,1,yes
grey,9.5,2,no
grey,,2,no
blue,2.0,1,yes
,8.0,3,no
blue,1,1,yes
grey,7.5,2,no
blue,2.5,3,yes
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TANAGER_DATA", raising=False)


@pytest.fixture
def weather(tmp_path):
    (tmp_path / "weather.csv").write_text(WEATHER)
    return "weather.csv"


@pytest.fixture
def ctrl_c_as_usual():
    """Python's own handler of Ctrl-C, also where the parent ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def runner():
    # Before 8.2 click needed an option to keep the two streams apart.
    old = "mix_stderr" in inspect.signature(CliRunner).parameters
    return CliRunner(**({"mix_stderr": False} if old else {}))


@pytest.fixture
def tanager(runner):
    """Run the command line: ``tanager("fit", ...)`` gives click's result."""

    def run(*arguments, **options):
        return runner.invoke(cli, [str(a) for a in arguments], **options)

    return run


@pytest.fixture
def done(tanager):
    """Run it and expect success; gives what was printed."""

    def run(*arguments, **options):
        result = tanager(*arguments, **options)
        assert result.exit_code == 0, result.stderr
        return result

    return run


@pytest.fixture
def failed(tanager):
    """Run it and expect one line of error; gives that line."""

    def run(*arguments, code=1, **options):
        result = tanager(*arguments, **options)
        assert result.exit_code == code, (result.output, result.exception)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("Error: ")
        assert result.stdout == ""
        return lines[0]

    return run
