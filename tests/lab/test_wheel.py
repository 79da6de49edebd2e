"""The wheel holds the library and nothing of the lab."""

import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tanager"
DATA = {".css", ".html", ".js", ".json", ".py", ".toml", ".typed"}
"""Suffixes of files that belong to the library."""


def test_the_wheel_is_made_of_the_library_alone():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = config["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/tanager"]}


def test_the_library_has_no_files_of_the_lab():
    others = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
        if file.suffix not in DATA
    }
    assert others == {"datasets/penguins.csv"}
    assert not any((PACKAGE / name).exists() for name in ("lab", "experiments"))


@pytest.mark.slow
def test_the_content_of_the_wheel(tmp_path):
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", "--wheel", *isolation]
    done = subprocess.run(
        [*command, "--outdir", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not isolation:
        pytest.skip("hatchling is not installed and cannot be downloaded")
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tanager/__init__.py", "tanager/report/page/app.js"} <= set(names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tanager"}
    tables = [name for name in names if name.endswith(".csv")]
    assert tables == ["tanager/datasets/penguins.csv"]
