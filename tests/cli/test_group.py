"""What holds for all commands: help, errors, exit codes."""

import os
import shlex
import subprocess
import sys
import warnings

import click
import pytest

from tanager._version import __version__
from tanager.cli import cli
from tanager.cli._group import Commands, _plain_warnings
from tanager.errors import CapabilityError, InputError
from tanager.io import write_model
from tanager.network import Network

COMMANDS = ["describe", "fit", "predict", "explain", "evaluate", "tune"]
COMMANDS += ["show", "plot", "report", "card", "convert", "export", "names", "datasets"]
COMMANDS += ["demo", "warmup"]


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "tanager", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


def test_help_names_all_commands(done):
    text = done("--help").stdout
    for command in COMMANDS:
        assert f"\n  {command} " in text
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.split("Commands:")[1]
    assert done("-h").stdout == text
    assert done().stdout == text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(done, command):
    text = done(command, "--help").stdout
    assert text.startswith(f"Usage: cli {command}")
    assert max(map(len, text.splitlines())) <= 80


def test_defaults_are_shown_plainly(done):
    text = " ".join(done("fit", "--help").stdout.split())
    assert "[default: 0; x>=0]" in text


def test_version(done):
    assert done("--version").stdout == f"tanager, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'. See 'cli --help'."),
        (["fit"], "Missing argument 'DATA'. See 'cli fit --help'."),
        (["show", "m.json", "--dott"], "No such option"),
        (["evaluate", "iris", "--cv", "1"], "1 is not in the range"),
    ],
)
def test_wrong_usage(failed, arguments, message):
    # Older versions of click put a colon or suggestions into some messages.
    assert message.split("'")[0] in failed(*arguments, code=2)


def test_help_does_not_wait_for_numpy():
    code = (
        "import sys\n"
        "from tanager.cli import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("\n[]\n"), done.stdout + done.stderr


def test_the_module_is_the_command():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"tanager, version {__version__}\n"
    done = run("show", "none.json")
    assert done.returncode == 1
    assert done.stderr == (
        "Error: The model file 'none.json' does not exist; check the name.\n"
    )


def group_raising(error):
    @click.command()
    def command():
        raise error

    return Commands(commands={"x": command})


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (PermissionError(13, "Permission denied", "a.csv"), 1,
         "Error: 'a.csv': Permission denied."),
        (OSError("odd"), 1, "Error: odd."),
        (InputError("a\nb."), 1, "Error: a b."),
        (CapabilityError("x and y do not fit."), 1, "Error: x and y do not fit."),
        (MemoryError(), 1, "Error: There is not enough memory. Use fewer rows"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (BrokenPipeError(), 0, ""),
        (click.FileError("a", "b"), 1, "Error: Could not open file 'a': b"),
    ],
)  # fmt: skip
def test_expected_errors_are_one_line(runner, error, code, message):
    result = runner.invoke(group_raising(error), ["x"])
    assert result.exit_code == code
    assert result.stderr.strip().startswith(message)
    assert "Traceback" not in result.output


@pytest.mark.parametrize("error", [ValueError("a fault of ours"), KeyError("x")])
def test_faults_are_not_hidden(runner, error):
    result = runner.invoke(group_raising(error), ["x"])
    assert result.exception is error


def test_warnings_are_one_line(runner):
    @click.command()
    def command():
        warnings.simplefilter("always")
        warnings.warn("odd\nthing", UserWarning, stacklevel=1)

    result = runner.invoke(Commands(commands={"x": command}), ["x"])
    assert result.stderr == "Warning: odd thing\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")
def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        ["bash", "-c",
         f"set -o pipefail; {sys.executable} -m tanager datasets | head -1 >/dev/null"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")
def test_closed_streams(tmp_path):
    write_model("n.json", Network.build({"a": ["0", "1"], "b": ["0", "1"]},
                {"a": [0.5, 0.5], "b": [0.5, 0.5]}, target="b"))  # fmt: skip
    (tmp_path / "d.csv").write_text("a\n1\n")
    cases = [
        ("show n.json >&-", 0, ""),
        ("datasets >&-", 0, ""),
        ("predict n.json d.csv >&-", 1, "Standard output is closed; give the name"),
        ("predict n.json - <&-", 1, "Standard input is closed; give the name"),
        ("show none.json 2>&-", 1, ""),
        ("evaluate iris --cv 2 -m NB-ML >/dev/null 2>&-", 0, ""),
    ]
    for command, code, message in cases:
        done = subprocess.run(
            ["bash", "-c", f"{shlex.quote(sys.executable)} -m tanager {command}"],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, (command, done.stderr)
        assert done.stderr.startswith(f"Error: {message}" if message else ""), command
        assert len(done.stderr.splitlines()) == bool(message), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")
def test_ctrl_c_ends_cleanly():
    code = (
        "import os, signal, time, click\n"
        # A parent such as nohup may have made this process ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tanager.cli._group import Commands\n"
        "@click.command()\n"
        "def work():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "Commands(commands={'work': work}).main(['work'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.strip() == "Interrupted."


def test_a_terminal_without_the_characters():
    environment = {**os.environ, "PYTHONIOENCODING": "koi8-r"}
    done = run("evaluate", "iris", "--cv", "2", env=environment)
    assert done.returncode == 0, done.stderr
    assert "\\xb1" in done.stdout


def test_every_command_is_documented():
    assert list(cli.commands) == COMMANDS
    for command in cli.commands.values():
        assert command.help


def test_a_warning_is_shown_once(capsys):
    with _plain_warnings():
        warnings.simplefilter("always")
        for text in ("one\ncolumn", "one column", "another"):
            warnings.warn(text, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: one column\nWarning: another\n"
