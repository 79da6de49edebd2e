"""The command that kills work: it finds nothing, and would find something."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from lab.__main__ import cli
from lab.robustness.crash_command import counts_csv, describe
from lab.robustness.crash_process import CrashCounts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="copies the process by fork"),
]


def run(*arguments):
    # In a process of its own: threads of the tests must not be copied.
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )


def test_killed_work_leaves_old_or_whole_files():
    tasks = ("fit-npz", "checkpoint", "export-c")
    result = run("-m", "lab", "crash", *tasks, "--times", "4", "--seed", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    rows = [line.rsplit(",", 6) for line in result.stdout.split("\n")[1:] if line]
    assert len(rows) == 2 * len(tasks)
    for _, kills, finished, absent, old, new, findings in rows[::2]:
        assert int(kills) == 4 or int(kills) + int(finished) == 16
        outputs = int(absent) + int(old) + int(new)
        assert outputs == int(kills) + int(finished)
        assert findings == "0"


CARELESS = """
import time
from lab.robustness.crash_process import crash, refuse_writing
from lab.robustness.crash_tasks import CrashTask

def write(folder):
    with open(folder / "a.txt", "w") as file:
        for part in range(20):
            file.write("part")
            file.flush()
            time.sleep(0.02)

def write_when_possible(folder):
    try:
        (folder / "a.txt").write_text("x" * 10_000)
    except OSError:
        pass

careless = CrashTask("careless", ("a.txt",), write, lambda _: None)
print(crash("careless", careless, times=5, seed=0).findings[0])
lenient = CrashTask("lenient", ("a.txt",), write_when_possible, lambda _: None)
print(sorted(refuse_writing("lenient", lenient).findings))
"""


def test_half_written_files_and_missing_errors_are_findings():
    result = run("-c", CARELESS)
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first == "a.txt is neither old nor new"
    assert "_fill_disk: no error" in second
    assert "_fill_disk: a file has changed" in second


def test_texts_of_the_command():
    counts = CrashCounts("fit", 3, 1, 0, 2, 2, ["model.json is empty"])
    assert describe(counts).endswith("findings 1\n  model.json is empty")
    assert counts_csv([counts]).splitlines()[1] == "fit,3,1,0,2,2,1"
    result = CliRunner().invoke(cli, ["crash", "nonsense"])
    assert result.exit_code == 2
    assert "There is no task nonsense" in result.output
