"""`KernelCache`: compiled kernels on disk, without which every fit still works."""

# mypy: allow-untyped-calls

from __future__ import annotations

import os
import stat
import warnings
from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache

_warned = False


class KernelCache(FunctionCache):
    """numba's cache of a compiled function; a failure costs time, never the fit.

    A full disk, a file that was cut short and files of another installation end in a
    warning, one for each process, and the kernel is compiled. What cannot be read is
    replaced. A folder that everybody may write to is not used: the files hold code.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        if is_open_to_all(self.cache_path):
            self.disable()
            _warn(f"every user may write to the folder '{self.cache_path}'")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled function; None if it has to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling damaged files raises any of many
            _warn(f"{type(error).__name__}: {error}")
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function, if possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn(f"{type(error).__name__}: {error}")


def is_open_to_all(folder: str) -> bool:
    """Whether every user may write to a folder."""
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return os.name == "posix" and bool(mode & stat.S_IWOTH)


def _warn(reason: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "The cache of compiled kernels cannot be used, so they are compiled in "
            f"this process ({reason}). Set NUMBA_CACHE_DIR to a folder of your own "
            "that has space.",
            RuntimeWarning,
            stacklevel=2,
        )
