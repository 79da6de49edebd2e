"""Compiled kernels: when to use them, and the decorator that makes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

SMALL_WORK = 100_000
"""Array cells up to which NumPy is used: a small fit never waits for a compiler."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a serial function over arrays, without the GIL, cached on disk.

    numba looks for a writable place for its cache next to the module, then in the
    user's cache folder. Kernels that were compiled before a folder became read-only,
    as in an image of a container, are loaded from there (see `KernelCache`). Where no
    folder can be written (a read-only install under a user without a home) numba
    raises; the kernel is then compiled again in each process instead of failing, as it
    is where files of the cache are damaged. With ``NUMBA_DISABLE_JIT=1`` the plain
    function is returned.

    Divisions follow NumPy: a test for zero in front of each of them, in order to raise
    an error, would keep loops from being vectorised.
    """
    # Only modules of kernels call this, and they are imported on first need:
    # numba alone takes half a second to import.
    import numba

    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if compiled is not function:  # it is the function itself with JIT off
        import tanager.utils.compile_notice  # noqa: F401 (it listens from now on)
        from tanager.utils.kernel_cache import KernelCache

        with suppress(RuntimeError):
            compiled._cache = KernelCache(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Make a part of kernels: each that calls it is compiled with its body inside.

    So it costs no compilation of its own, unless it is called from Python as well. It
    must not assign an array to the same name twice: the counting of references would
    then slow down every loop of the kernel.
    """
    import numba

    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)
