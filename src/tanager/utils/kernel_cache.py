"""`KernelCache`: compiled kernels on disk, without which every fit still works."""

# mypy: allow-untyped-calls

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from typing import Any

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)

try:
    from numba.core.runtime.nrt import rtsys
except ImportError:  # a numba that keeps it elsewhere
    rtsys = None  # type: ignore[assignment]

from tanager.utils.cache_folder import is_open_to_all

LOADS_ALONE = rtsys is not None and all(
    hasattr(FunctionCache, name)
    for name in ("_load_overload", "_guard_against_spurious_io_errors")
)
"""Whether numba has what loads a kernel without setting its compiler up."""

_warned = False


class ReadOnlyLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Finds kernels that were compiled before their folder became read-only.

    numba's own locators accept only folders that can be written, so what was compiled
    while an image of a container was built would be compiled again in each container.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder that numba would use, were it writable."""
        chosen = vars(config)["CACHE_DIR"]
        if chosen:
            subfolder = self.get_suitable_cache_subpath(self._py_file)
            return os.path.join(str(chosen), str(subfolder))
        return os.path.join(os.path.dirname(self._py_file), "__pycache__")

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> ReadOnlyLocator | None:
        """The locator, or None if the folder is writable or has no such kernel."""
        found = cls(py_func, py_file)
        folder = found.get_cache_path()
        if not os.path.isdir(folder) or os.access(folder, os.W_OK):
            return None
        module = os.path.splitext(os.path.basename(py_file))[0]
        start = f"{module}.{py_func.__qualname__}-{found.get_disambiguator()}."
        has_index = any(
            name.startswith(start) and name.endswith(".nbi")
            for name in os.listdir(folder)
        )
        return found if has_index else None


class KernelFiles(CompileResultCacheImpl):
    """Files of a compiled kernel, read-only ones first."""

    _locator_classes = [  # noqa: RUF012 (as in the base class)
        ReadOnlyLocator,
        *CompileResultCacheImpl._locator_classes,
    ]


class KernelCache(FunctionCache):
    """numba's cache of a compiled function; a failure costs time, never the fit.

    A full disk, a file that was cut short and files of another installation end in a
    warning, one for each process, and the kernel is compiled. What cannot be read is
    replaced. A folder that everybody may write to is not used: the files hold code.
    """

    _impl_class = KernelFiles

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        if is_open_to_all(self.cache_path):
            self.disable()
            _warn(f"every user may write to the folder '{self.cache_path}'")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled function; None if it has to be compiled."""
        try:
            if LOADS_ALONE:
                return self._load_alone(sig, target_context)
            return super().load_overload(sig, target_context)
        except Exception as error:  # unpickling damaged files raises any of many
            _warn(f"{type(error).__name__}: {error}")
            with suppress(OSError):
                self.flush()
            return None

    def _load_alone(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled function without all that numba can compile.

        numba sets up its registries first, which takes longer than to load the kernels
        of a fit. A compilation does that as well, when it begins; what a kernel that is
        loaded needs is the memory manager.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function, if possible."""
        if isinstance(self._impl.locator, ReadOnlyLocator):
            return
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn(f"{type(error).__name__}: {error}")


def is_kept(kernel: Any) -> bool:
    """Whether a kernel is loaded from disk, or saved when it is compiled."""
    cache = kernel._cache
    return isinstance(cache, KernelCache) and bool(cache._enabled)


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
