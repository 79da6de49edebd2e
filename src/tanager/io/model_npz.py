"""The npz file that belongs to the JSON file of a model."""

from __future__ import annotations

import os
import re
import stat
import warnings
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from tanager.errors import FileFormatError, InputError
from tanager.io.checked_fields import TABLES_FILE, check_fields, check_kind
from tanager.io.json_text import decode_json
from tanager.io.stored_cpts import digest
from tanager.utils.atomic_write import find_leftovers

_DIGITS = 12

PART_BYTES = 2**20
"""Bytes of a device that are read at a time."""

MAX_NAME_BYTES = 255
"""Length of a file name, as file systems limit it."""


def tables_path(path: Path, sha256: str) -> Path:
    """Path of the npz file of the model at `path`, from its SHA-256."""
    return path.with_name(f"{_stem(path)}-{sha256[:_DIGITS]}.npz")


def _stem(path: Path) -> str:
    """Beginning of the names of npz files that belong to a JSON file.

    Path separators are escaped, and "%" with them, so that no two JSON files share it.
    """
    return re.sub(r"[%\\:]", lambda mark: f"%{ord(mark[0]):02X}", path.name)


def find_own_tables(path: Path, limit: int) -> Path | None:
    """The npz file of the model at `path`, if `write_model` named it for this path.

    A copied or renamed JSON file still names the npz file of the original. JSON files
    above `limit` bytes are not read.
    """
    return _named_tables(path, path, limit)


def _named_tables(document_path: Path, path: Path, limit: int) -> Path | None:
    """The npz file that a JSON file names, if it is named for the model at `path`."""
    if not document_path.is_file():
        return None
    what = f"The file '{document_path}'"
    try:
        content = file_content(document_path, limit, what)
        if b'"tables_file"' not in content:  # saves decoding large tables
            return None
        document = decode_json(content, what)
        check_kind(document, what)
        packed = document.get("tables_file")
        check_fields(packed, TABLES_FILE, what)
    except (FileFormatError, InputError):
        return None  # no model that could be loaded, so nothing is known to be its own
    name = packed["name"]
    ours = rf"{re.escape(_stem(path))}-[0-9a-f]{{{_DIGITS}}}\.npz"
    return path.with_name(name) if re.fullmatch(ours, name) else None


def remove_orphans(path: Path, own: Path | None, limit: int) -> None:
    """Remove npz files of models that a killed process did not finish to write.

    Its temporary JSON file names them. `own` belongs to the model at `path`, and a file
    that was there before that one may belong to a copy of it.
    """
    for leftover in find_leftovers(str(path.parent)):
        npz = _named_tables(leftover, path, limit)
        with suppress(OSError):
            if npz not in (None, own) and (
                npz.stat().st_mtime_ns >= leftover.stat().st_mtime_ns
            ):
                npz.unlink()


def remove_former(former: Path | None, npz: Path | None, path: Path) -> None:
    """Remove the npz file of the replaced model."""
    if former is None or former == npz:
        return
    try:
        former.unlink(missing_ok=True)
    except OSError as error:
        warnings.warn(
            f"The model is saved as '{path}', but the tables of the one before it, "
            f"'{former}', cannot be removed: {error.strerror or error}; nothing needs "
            "them, so delete the file when you can.",
            UserWarning,
            stacklevel=4,
        )


def file_content(path: Path, limit: int, what: str) -> bytes:
    """Bytes of a file of bounded size."""
    try:
        if path.is_dir():
            raise FileFormatError(f"{what} is a folder; give the name of a file.")
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            too_large = status.st_size > limit
            if too_large:
                content = b""
            elif stat.S_ISREG(status.st_mode):
                content = file.read()
            else:
                # A device has no size. It is read in parts, because a read of `limit`
                # bytes allocates all of them first.
                parts = iter(lambda: file.read(PART_BYTES), b"")
                content = b"".join(islice(parts, limit // PART_BYTES + 1))
    except FileNotFoundError:
        raise InputError(f"{what} does not exist; check the name.") from None
    except FileFormatError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{what} cannot be read: {error}.") from None
    if too_large or len(content) > limit:
        raise FileFormatError(
            f"{what} is larger than {limit:,} bytes, so it is not read."
        )
    return content


def tables_content(packed: Any, path: Path, limit: int, what: str) -> tuple[bytes, str]:
    """Bytes of the npz file that the model at `path` names, and what to call it."""
    check_fields(packed, TABLES_FILE, f"{what}, field 'tables_file',")
    name = packed["name"]
    # Only a file in the same folder: a path could lead anywhere.
    if name in ("", ".", "..") or any(mark in name for mark in "/\\:\0"):
        raise FileFormatError(
            f"{what} names the tables file {name!r}; expected a name without a folder."
        )
    if len(name.encode("utf-8", "backslashreplace")) > MAX_NAME_BYTES:
        raise FileFormatError(
            f"{what} names the tables file {name[:40]!r}..., of {len(name):,} "
            f"characters; expected at most {MAX_NAME_BYTES} bytes."
        )
    npz = path.with_name(name)
    if not os.path.isfile(npz):  # perhaps `path` is a symbolic link
        npz = Path(os.path.realpath(path)).with_name(name)
    if not os.path.isfile(npz):
        raise FileFormatError(
            f"{what} has its tables in the file '{name}', which is not in the "
            "same folder; put it back or save the model again."
        )
    name_of_it = f"The tables file '{npz}'"
    content = file_content(npz, limit, name_of_it)
    if digest(content) != packed["sha256"].lower():
        raise FileFormatError(
            f"{what} has its tables in the file '{name}', which is not the one it was "
            "saved with (another SHA-256); put the right one back or save the model "
            "again."
        )
    return content, name_of_it
