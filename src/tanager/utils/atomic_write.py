"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from tanager.errors import InputError

_TEMPORARY = re.compile(
    r"\.tanager-(?P<host>[0-9a-f]{8})-(?P<process>\d{1,10})-[0-9a-f]{16}\.tmp"
)
_OLD_SECONDS = 24 * 3600.0

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all is written.

    The bytes go to a temporary file in the same folder, are forced to the disk and
    then renamed. On any failure the temporary file is removed and an older file of
    that name stays as it was. Temporary files of processes that were killed are
    removed from the folder, too. Devices and pipes are written to directly, and
    symbolic links are followed. `InputError` says why a file cannot be written, and
    what to do.
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
    remove_leftovers(os.path.dirname(target))
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
    if "\0" in os.fsdecode(path):
        raise InputError(
            f"Cannot write {os.fspath(path)!r}: names of files have no null characters."
        )
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


def find_leftovers(folder: str) -> list[Path]:
    """Temporary files whose process on this machine has ended, or a day old."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = _TEMPORARY.fullmatch(entry.name)
            if named is None:
                continue
            with suppress(OSError):
                is_old = time.time() - entry.stat().st_mtime > _OLD_SECONDS
                is_local = named["host"] == _host()
                if is_old or (is_local and not _is_running(int(named["process"]))):
                    found.append(Path(entry.path))
    return found


def remove_leftovers(folder: str) -> None:
    """Remove what `find_leftovers` finds, as far as this user may."""
    for path in find_leftovers(folder):
        with suppress(OSError):
            path.unlink()


def _is_running(process: int) -> bool:
    """Whether there is a process of this number; True if that cannot be found out."""
    if os.name != "posix" or process <= 0:  # os.kill would end it elsewhere
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


@cache
def _host() -> str:
    """A short name of this machine and, in a container, of its process numbers."""
    name = platform.node()
    with suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]


def _is_device(path: PathLike) -> bool:
    return os.path.exists(path) and not Path(path).is_file()


def _temporary_path(target: str) -> str:
    name = f".tanager-{_host()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"
    return os.path.join(os.path.dirname(target), name)


def _cannot_write(path: PathLike, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError(
        f"Cannot write '{os.fspath(path)}': {reason}; choose a folder that you may "
        "write to and that has space."
    )
