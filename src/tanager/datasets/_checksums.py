"""Checksums of the content of downloads, and the record of those seen first."""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import Any

from tanager.datasets._catalog import DatasetInfo
from tanager.datasets._dataset import TARGET
from tanager.errors import DataWarning, InputError
from tanager.utils.atomic_write import write_text
from tanager.utils.cache_folder import cache_folder

RECORD = "openml-sha256.json"
"""File in the cache folder: checksum of the content by number of the dataset."""


def content_checksum(entry: DatasetInfo, frame: Any) -> str:
    """SHA-256 sum of the cells of a data frame.

    It does not depend on the order of the rows, on the file format or on how numbers
    were written: every row is the JSON text of its cells, numbers as floats, other
    values as strings, missing ones as null; the rows are sorted.
    """
    columns = []
    for name, kind in zip((*entry.columns, TARGET), f"{entry.kinds}c", strict=True):
        cells = list(frame[name])
        gone = [cell is None or cell != cell for cell in cells]
        kept = float if kind == "n" else str
        columns.append(
            [None if g else kept(c) for c, g in zip(cells, gone, strict=True)]
        )
    rows = sorted(
        json.dumps(row, ensure_ascii=True) for row in zip(*columns, strict=True)
    )
    return hashlib.sha256("\n".join(rows).encode("ascii")).hexdigest()


def verify_download(entry: DatasetInfo, frame: Any) -> None:
    """Compare a download with the catalogue's checksum, or with the first download.

    Content that the catalogue knows is accepted. Other content may be another version,
    or may have been changed on the way: it is accepted with a `DataWarning` when it is
    seen for the first time, and its checksum is recorded in the cache folder. From then
    on, content with another checksum is refused.
    """
    found = content_checksum(entry, frame)
    if found == entry.content_sha256:
        return
    number, what = str(entry.openml), f"OpenML's dataset {entry.openml}"
    path = cache_folder() / RECORD
    try:
        known = json.loads(path.read_text("utf-8")) if path.exists() else {}
        if not isinstance(known, dict):
            raise ValueError("it is no JSON object")
    except (OSError, ValueError) as error:
        raise InputError(
            f"The record of checksums {RECORD!r} cannot be read: {error}. Remove the "
            "file if it is damaged; downloads are then recorded again."
        ) from error
    if known.get(number, found) != found:
        raise InputError(
            f"{what} for {entry.name!r} has changed since it was first used: the "
            f"SHA-256 sum of its content is {found}, recorded is {known[number]}. If "
            f"the change is right, remove {number!r} from {str(path)!r}."
        )
    if number in known:
        return
    write_text(path, json.dumps({**known, number: found}, indent=1, sort_keys=True))
    path.chmod(0o600)
    warnings.warn(
        f"{what} for {entry.name!r} is not the content that the catalogue describes "
        f"(SHA-256 sum {found}): another version, or changed on the way. It is "
        "recorded, and other content will be refused from now on.",
        DataWarning,
        stacklevel=2,
    )
