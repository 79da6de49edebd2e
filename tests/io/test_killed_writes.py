"""Npz files that a killed process left behind."""

import json
import os
import subprocess
import sys

import pytest

from tanager.io import model_file, read_model, write_model
from tanager.network import Network

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills a process by SIGKILL")

SCRIPT = """
import os, sys
from tanager.io import model_file, write_model
from tanager.network import Network
model_file.INLINE_CELLS = 0
write = model_file.write_bytes
def write_and_die(*arguments):
    write(*arguments)
    os.kill(os.getpid(), 9)
model_file.write_bytes = write_and_die
p = float(sys.argv[2])
write_model(sys.argv[1], Network.build({"a": [0, 1]}, {"a": [p, 1 - p]}, target="a"))
"""


def coin(p):
    return Network.build({"a": [0, 1]}, {"a": [p, 1 - p]}, target="a")


def write_and_be_killed(path, p):
    """The npz file is complete, the JSON file that names it has not taken its place."""
    subprocess.run([sys.executable, "-c", SCRIPT, path, str(p)], check=False)


def npz_files(folder):
    return sorted(path.name for path in folder.glob("*.npz"))


def test_an_npz_file_without_its_model_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 0)
    path = tmp_path / "model.json"
    write_model(path, coin(0.25))
    (former,) = npz_files(tmp_path)
    write_and_be_killed(path, 0.75)
    assert len(npz_files(tmp_path)) == 2
    assert read_model(path).network.table("a").values.tolist() == [0.25, 0.75]
    write_model(path, coin(0.5))
    assert npz_files(tmp_path) != [former]
    assert len(os.listdir(tmp_path)) == 2
    assert read_model(path).network.table("a").values.tolist() == [0.5, 0.5]


def test_the_npz_file_of_a_renamed_model_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 0)
    path, renamed = tmp_path / "model.json", tmp_path / "old.json"
    write_model(path, coin(0.25))
    path.rename(renamed)
    write_and_be_killed(path, 0.75)
    write_model(path, coin(0.5))
    assert len(npz_files(tmp_path)) == 2
    assert json.loads(renamed.read_text())["tables_file"]["name"] in npz_files(tmp_path)
    assert read_model(renamed).network.table("a").values.tolist() == [0.25, 0.75]
