import subprocess
import sys
from pathlib import Path

import pytest

import tanager
from tanager.cli import demo
from tanager.errors import InputError
from tanager.io import read_table


def test_a_small_demonstration(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(demo, "DATASETS", ("iris",))
    monkeypatch.setattr(demo, "MODELS", ("NB-ML", "TAN+FE"))
    demo.run(tmp_path / "out")
    text = capsys.readouterr().out
    assert "sklearn/iris: 150 samples, 4 features, 3 classes" in text
    assert "P(class) of one flower" in text
    assert "  nothing                  setosa 0.333  versicolor 0.333" in text
    assert max(map(len, text.replace(str(tmp_path), "").splitlines())) <= 84
    assert read_table(tmp_path / "out" / "results.csv").n_rows == 10
    assert "out/report.html in a browser" in text
    assert (tmp_path / "out" / "report.html").read_text("utf-8").startswith("<!DOCTYPE")
    model = tanager.load(tmp_path / "out" / "model.json")
    assert model.network_.schema.n_classes == 3


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "tanager.cli.demo", "--folder", "file/sub"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1
    assert "--folder" in done.stderr


def test_a_folder_that_is_not_ours(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(InputError, match=r"Permission denied\. .* --folder"):
        demo.run()


def test_the_usage_line():
    done = subprocess.run(
        [sys.executable, "-m", "tanager.cli.demo", "--help"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.startswith("Usage: python -m tanager.cli.demo [OPTIONS]\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")
def test_the_command_as_it_is_typed_here(monkeypatch, tmp_path):
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert demo.own_command() == ".venv/bin/python -m tanager"
    script = programs / "tanager"
    script.write_text("")
    script.chmod(0o755)
    assert demo.own_command() == ".venv/bin/tanager"
    monkeypatch.setenv("PATH", f"/nowhere:{programs}")
    assert demo.own_command() == "tanager"
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(programs)
    assert demo.own_command() == "./tanager"
    monkeypatch.chdir("/")
    assert demo.own_command() == str(script).lstrip("/")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert demo.own_command() == str(script)


@pytest.mark.slow
def test_the_whole_demonstration():
    done = subprocess.run(
        [sys.executable, "-m", "tanager.cli.demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in Path("tanager-demo").iterdir()) == [
        "model.json",
        "report.html",
        "results.csv",
    ]
    for name in demo.DATASETS:
        assert f"sklearn/{name}: " in done.stdout
