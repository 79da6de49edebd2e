"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tanager.errors import InputError

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all is written.

    The bytes go to a temporary file in the same folder, are forced to the disk and
    then renamed. On any failure the temporary file is removed and an older file of
    that name stays as it was. Devices and pipes are written to directly, and symbolic
    links are followed. `InputError` says why a file cannot be written, and what to do.
    """
    check_writable(path)
    if _is_device(path):
        try:
            with open(path, "wb") as device:
                yield device
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _cannot_write(path, error) from error
        return
    target = os.path.realpath(path)
    temporary = _temporary_path(target)
    try:
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o7777)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_bytes(path: PathLike, content: bytes) -> None:
    """Write a file whole or not at all; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: PathLike, text: str) -> None:
    """Write text as UTF-8, whole or not at all; see `replacing`."""
    write_bytes(path, text.encode("utf-8"))


def check_writable(path: PathLike) -> None:
    """Raise `InputError` unless a file can be written later, without touching it."""
    if os.path.isdir(path):
        raise InputError(
            f"Cannot write '{os.fspath(path)}': it is a folder; give the name of a "
            "file."
        )
    if _is_device(path):
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise InputError(
            f"Cannot write '{os.fspath(path)}': the folder '{folder}' does not exist; "
            "create it or choose another."
        )
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise InputError(
            f"Cannot write '{os.fspath(path)}': the file is there and may not be "
            "changed; give it write permission or choose another name."
        )
    # Asking the system is not enough: quotas, read-only mounts and Windows' rights
    # show only when a file is made.
    probe = _temporary_path(target)
    try:
        with open(probe, "xb"):
            pass
        os.unlink(probe)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _is_device(path: PathLike) -> bool:
    return os.path.exists(path) and not Path(path).is_file()


def _temporary_path(target: str) -> str:
    name = f".tanager-{secrets.token_hex(8)}.tmp"
    return os.path.join(os.path.dirname(target), name)


def _cannot_write(path: PathLike, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError(
        f"Cannot write '{os.fspath(path)}': {reason}; choose a folder that you may "
        "write to and that has space."
    )
