"""The commands in docs/command-line.md print what the page says."""

import re
import shutil
import subprocess

import numba
import pytest

from tanager.cli import cli
from tests.docs.pages import DOCS, read_page

SECTIONS = read_page("command-line.md")
INLINE = sorted(
    {
        " ".join(code.split())
        for section in SECTIONS
        for code in re.findall(r"`(tanager [^`]*)`", section.text)
    }
)

FIT = next(c for s in SECTIONS for c, _ in s.sessions if c.startswith("tanager fit"))
"""The command that makes the model of the page."""

without_jit = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="takes a minute with compilation off"
)


def masked(output):
    """Output without what differs between two runs, versions or machines."""
    output = re.sub(r"(?m)[ \t]+$", "", output.strip("\n"))
    output = re.sub(r"\bin \d+\.\d\d s\.", "in # s.", output)
    output = re.sub(r"\btanager \d[\w.+]*", "tanager #", output)
    # The last column of a table of results is the seconds.
    output = re.sub(r"(?m)\d+\.\d+ ± \d+\.\d+$", "# ± #", output)
    # The last digits of a probability depend on the machine.
    return re.sub(r"\b0\.\d{13,}", lambda number: f"{float(number[0]):.12f}", output)


def with_session(section):
    slow = any(
        command.split()[1] in ("evaluate", "tune") for command, _ in section.sessions
    )
    marks = [pytest.mark.slow, without_jit] if slow else []
    return pytest.param(section, id=section.title, marks=marks)


def test_masking_leaves_everything_else():
    output = "fitted in 0.02 s.\nby tanager 0.1.0\nNB  9.1 ± 1.6 +  0.062 ± 0.008"
    masks = "fitted in # s.\nby tanager #\nNB  9.1 ± 1.6 +  # ± #"
    assert masked(output) == masks
    assert masked("0.1258741258741259,0.5") == "0.125874125874,0.5"
    assert masked("blue  0.8333  0.1667\n") == "blue  0.8333  0.1667"


def test_every_command_and_file_of_the_page_is_found():
    page = (DOCS / "command-line.md").read_text("utf-8")
    found = [command for section in SECTIONS for command, _ in section.sessions]
    assert found == re.findall(r"(?m)^ *\$ (.*)", page)
    assert {command.split()[1] for command in found} >= {"fit", "predict", "evaluate"}
    files = [name for section in SECTIONS for name in section.files]
    assert files == ["weather.csv", "new.csv"]


@pytest.mark.usefixtures("page_files")
@pytest.mark.parametrize(
    "section", [with_session(section) for section in SECTIONS if section.sessions]
)
def test_sessions(typed, section):
    assert typed(FIT).exit_code == 0  # later sections use the first model
    for command, printed in section.sessions:
        result = typed(command)
        assert masked(result.output) == masked(printed), command
        expected = 1 if printed.startswith("Error:") else 0
        assert result.exit_code == expected, command


@pytest.mark.usefixtures("page_files")
@pytest.mark.parametrize("command", INLINE)
def test_commands_in_the_text(typed, command):
    assert typed(FIT).exit_code == 0
    command, _, others = command.partition(" | ")
    names = cli.commands if "COMMAND" in command else [""]
    for name in names:
        result = typed(command.replace("COMMAND", name))
        assert result.exit_code == 0, result.output
    if not others:
        return
    others, _, file = others.partition(" > ")
    program, *arguments = others.split()
    if shutil.which(program) is None:
        pytest.skip(
            f"{command!r} ran, but '{program}', which is to read it, is missing"
        )
    done = subprocess.run(
        [program, *arguments],
        input=result.stdout_bytes,
        capture_output=True,
        check=True,
    )
    assert file.endswith(".svg")
    assert b"<svg" in done.stdout
