"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from tanager import InputError


def write_bytes(path: Path, content: bytes) -> None:
    """Write a temporary file in the same folder, then rename it to `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        reason = error.strerror or error
        raise InputError(
            f"Cannot write '{path}': {reason}; choose a folder that you may write to "
            "and that has space."
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def make_folder(folder: Path, *, option: str) -> None:
    """Make a folder if need be, and check that files can be written there.

    Parameters
    ----------
    folder : Path
        The folder.
    option : str
        How a user names another one, for the error message.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot make the folder '{folder}': {error.strerror or error}; name one "
            f"that you may write to with {option}."
        ) from error
    probe = folder / f".probe-{os.getpid()}"
    write_bytes(probe, b"")
    probe.unlink(missing_ok=True)
