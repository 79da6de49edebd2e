"""Checksums of downloads: those of the catalogue, and those of the first download."""

from __future__ import annotations

import gzip
import json
import os
import stat
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tanager import datasets
from tanager.datasets._checksums import RECORD, content_checksum, verify_download
from tanager.errors import DataWarning, InputError
from tanager.utils.cache_folder import cache_folder

IRIS = datasets.info("uci25/iris")
AT_OPENML = list(map(datasets.info, datasets.names("openml")))


def make_frame() -> dict[str, Any]:
    random = np.random.default_rng(0)
    frame: dict[str, Any] = {name: random.normal(size=5) for name in IRIS.columns}
    return frame | {"class": np.array(["a", None, "b", "a", "c"], dtype=object)}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TANAGER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("entry", AT_OPENML, ids=lambda entry: entry.name)
def test_checksum_of_the_local_copy(entry: Any, data_folder: Path) -> None:
    data = datasets.load(entry.name, folder=data_folder, source="local")
    assert content_checksum(entry, data.frame) == entry.content_sha256


def test_checksum_of_a_file_of_openml() -> None:
    """scikit-learn's tests bring OpenML's file of iris, numbered 61 there."""
    try:
        folder = files("sklearn.datasets.tests") / "data" / "openml" / "id_61"
        content = (folder / "data-v1-dl-61.arff.gz").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError):
        pytest.skip("scikit-learn is installed without the data of its tests")
    lines = gzip.decompress(content).decode().partition("@DATA")[2].split()
    cells = [line.split(",") for line in lines if line.count(",") == 4]
    assert (len(cells), IRIS.openml) == (150, 61)
    frame: dict[str, Any] = {
        name: np.array([float(row[j]) for row in cells])
        for j, name in enumerate(IRIS.columns)
    }
    frame["class"] = [row[4] for row in cells]
    assert content_checksum(IRIS, frame) == IRIS.content_sha256


def test_order_and_number_types_do_not_matter_but_cells_do() -> None:
    frame = make_frame()
    frame[IRIS.columns[0]] = np.arange(5)
    expected = content_checksum(IRIS, frame)
    turned = {name: values[::-1] for name, values in frame.items()}
    turned[IRIS.columns[0]] = turned[IRIS.columns[0]].astype(float)
    assert content_checksum(IRIS, turned) == expected
    for name in ("class", IRIS.columns[1]):
        changed = {**frame, name: np.roll(frame[name], 1)}
        assert content_checksum(IRIS, changed) != expected


def test_content_of_the_catalogue_leaves_no_record(cache: Path) -> None:
    frame = make_frame()
    known = replace(IRIS, content_sha256=content_checksum(IRIS, frame))
    verify_download(known, frame)
    assert not cache.exists()


def test_other_content_is_recorded_and_then_compared(cache: Path) -> None:
    frame = make_frame()
    with pytest.warns(DataWarning, match="not the content that the catalogue"):
        verify_download(IRIS, frame)
    record = cache / RECORD
    assert json.loads(record.read_text()) == {"61": content_checksum(IRIS, frame)}
    if os.name == "posix":
        assert stat.S_IMODE(cache.stat().st_mode) == 0o700
        assert stat.S_IMODE(record.stat().st_mode) == 0o600
    verify_download(IRIS, frame)  # without a warning
    frame["class"][0] = "c"
    with pytest.raises(InputError, match="has changed since it was first used"):
        verify_download(IRIS, frame)


def test_damaged_records_are_refused(cache: Path) -> None:
    cache.mkdir()
    for text in ("{", "[]"):
        (cache / RECORD).write_text(text)
        with pytest.raises(InputError, match="cannot be read"):
            verify_download(IRIS, make_frame())


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_cache_folder_belongs_to_the_user(cache: Path) -> None:
    assert cache_folder() == cache
    cache.chmod(0o777)
    with pytest.raises(InputError, match="Every user may write"):
        cache_folder()


def test_cache_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TANAGER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InputError, match="Cannot make the cache folder"):
        cache_folder()


def test_default_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TANAGER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "tanager"
