import re
import subprocess
from pathlib import Path

import pytest
import sklearn.ensemble  # noqa: F401 (loads its library of threads)
from threadpoolctl import threadpool_info

from tanager import load
from tanager.cli import _demo
from tanager.errors import InputError


def test_the_demonstration(tanager, tmp_path):
    result = tanager("demo", "--folder", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    text = result.stdout
    assert "penguins: 344 samples, 6 features, 3 classes, 19 missing values" in text
    for name in ("BayesNetClassifier()", "HistGradientBoosting", "LogisticRegression"):
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        accuracy, loss, hidden, hidden_loss, seconds = map(float, line.split()[1:])
        assert 0.9 < accuracy <= 1
        assert 0.7 < hidden < accuracy
        assert 0 < loss < hidden_loss
        assert seconds >= 0
    assert "│ flipper_length_mm │" in text
    assert re.search(r"^ *5\.\d │.*⠉", text, flags=re.MULTILINE)
    assert "Penguin 160, a Chinstrap" in text
    assert "The same without bill_length_mm" in text
    folder = tmp_path / "out"
    for name in _demo.FILES:
        assert str(folder / name) in text
    assert (folder / "report.html").read_text("utf-8").startswith("<!DOCTYPE")
    for name in ("network.svg", "bill_length.svg"):
        assert (folder / name).read_text("utf-8").startswith("<svg")
    assert load(folder / "model.json").network_.schema.n_classes == 3


def test_a_folder_that_cannot_be_made(tanager, tmp_path):
    (tmp_path / "file").write_text("")
    result = tanager("demo", "--folder", "file/sub")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "--folder" in result.stderr


def test_a_folder_that_is_not_ours(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match=r"Permission denied\. .* --folder"):
        _demo.run()


def test_the_command_that_it_proposes_runs():
    done = subprocess.run(
        f"{_demo.own_command()} --version",
        shell=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert done.stdout.startswith("tanager")


def test_the_comparison_has_one_thread(tanager, tmp_path, monkeypatch):
    found = []

    def look():
        found.extend(pool["num_threads"] for pool in threadpool_info())
        return "compared"

    monkeypatch.setattr(_demo, "_comparison_text", look)
    assert tanager("demo", "--folder", tmp_path).exit_code == 0
    assert found
    assert set(found) == {1}
