"""The folder of tanager's own cache: the user's, and nobody else may write to it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tanager.errors import InputError

VARIABLE = "TANAGER_CACHE"
"""The environment variable that names the folder."""


def cache_folder() -> Path:
    """Make the cache folder if need be; only its owner may read or write it.

    It is the folder in the environment variable TANAGER_CACHE, or ``tanager`` in the
    user's cache folder. `InputError` says why it cannot be used, and what to do.
    """
    chosen = os.environ.get(VARIABLE)
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    folder = Path(chosen or os.path.join(root, "tanager")).expanduser()
    remedy = f"Set {VARIABLE} to a folder of your own."
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot make the cache folder {str(folder)!r}: {error.strerror}. {remedy}"
        ) from error
    if is_open_to_all(str(folder)):
        raise InputError(
            f"Every user may write to the cache folder {str(folder)!r}; expected one "
            f"that only its owner may change. {remedy}"
        )
    return folder


def is_open_to_all(folder: str) -> bool:
    """Whether every user may write to a folder."""
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return os.name == "posix" and bool(mode & stat.S_IWOTH)
