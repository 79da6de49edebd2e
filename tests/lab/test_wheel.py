"""Wheel and source archive: what they hold, and what they say of themselves."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

import pytest

import tanager
from tanager import datasets

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tanager"
if not PACKAGE.is_dir():
    pytest.skip("needs the sources of the package", allow_module_level=True)
DATA = {".css", ".html", ".js", ".json", ".py", ".toml", ".typed"}
"""Suffixes of files that belong to the library."""
EMBEDDED = {
    f"datasets/{datasets.info(name).embedded}"
    for name in datasets.names(source="embedded")
}
"""Files of datasets that belong to the library."""
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_wheel_is_made_of_the_library_alone():
    wheel = CONFIG["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/tanager"]}


def test_the_library_has_no_files_of_the_lab():
    others = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
        if file.suffix not in DATA
    }
    assert others == EMBEDDED
    assert not any((PACKAGE / name).exists() for name in ("lab", "experiments"))


def test_the_version_to_cite():
    lines = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    assert f"version: {tanager.__version__}" in lines


def test_all_extras_for_users():
    extras = dict(CONFIG["project"]["optional-dependencies"])
    (requirement,) = extras.pop("all")
    named = requirement.removeprefix("tanager[").removesuffix("]").split(",")
    # "data" needs older libraries than the others; two are for developers.
    assert {*named} == extras.keys() - {"data", "bench", "dev"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Source archive and wheel, the second built from the first."""
    folder = tmp_path_factory.mktemp("dist")
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    done = subprocess.run(
        [sys.executable, "-m", "build", *isolation, "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not isolation:
        pytest.skip("hatchling is not installed and cannot be downloaded")
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


@pytest.mark.slow
def test_the_content_of_the_wheel(packages):
    names = zipfile.ZipFile(packages[1]).namelist()
    modules = {
        f"tanager/{file.relative_to(PACKAGE).as_posix()}"
        for file in PACKAGE.rglob("*")
        if file.suffix in DATA and "__pycache__" not in file.parts
    }
    found = {name for name in names if ".dist-info/" not in name}
    assert found == modules | {f"tanager/{name}" for name in EMBEDDED}


@pytest.mark.slow
def test_the_metadata_of_the_wheel(packages):
    with zipfile.ZipFile(packages[1]) as wheel:
        folder = f"tanager-{tanager.__version__}.dist-info"
        metadata = message_from_bytes(wheel.read(f"{folder}/METADATA"))
        entry_points = wheel.read(f"{folder}/entry_points.txt").decode()
        assert wheel.read(f"{folder}/licenses/LICENSE")
    assert metadata["Version"] == tanager.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    extras = CONFIG["project"]["optional-dependencies"]
    assert set(metadata.get_all("Provides-Extra")) == set(extras)
    assert "tanager = tanager.__main__:main" in entry_points


@pytest.mark.slow
def test_the_content_of_the_source_archive(packages):
    with tarfile.open(packages[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.partition("/")[0] for name in names}
    assert {"src", "tests", "pyproject.toml", "README.md", "LICENSE"} <= tops
    assert "src/tanager/report/page/app.js" in names
    assert not tops & {"lab", "docs", "tools", "dist"}
    assert not [name for name in names if name.startswith(("tests/lab", "tests/docs"))]
