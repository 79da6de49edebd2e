"""`CodeBuffer`: coded samples that arrive in batches, in memory or in a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from tanager.errors import InputError
from tanager.types import AnyArray


class CodeBuffer:
    """Columns of a known number of rows, filled batch by batch.

    They are kept in memory up to `max_memory` bytes, otherwise in a temporary file,
    which is mapped to memory at the end. The file has no name, or is removed by the
    system: nothing is left behind, however the process ends.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    dtypes : sequence of dtype
        Type of every column.
    max_memory : int
        Bytes up to which the columns are kept in memory.
    folder : str or path or None, default=None
        Folder of the file; None means that of the system.

    Examples
    --------
    >>> with CodeBuffer(3, [np.dtype("u1"), np.dtype("u1")], max_memory=0) as buffer:
    ...     buffer.append([np.array([1, 2]), np.array([5, 6])])
    ...     buffer.append([np.array([3]), np.array([7])])
    ...     codes = buffer.matrix(0, 2)
    >>> codes
    array([[1, 5],
           [2, 6],
           [3, 7]], dtype=uint8)
    """

    def __init__(
        self,
        n_rows: int,
        dtypes: Sequence[np.dtype[Any]],
        *,
        max_memory: int,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_filled = 0
        self._dtypes = list(dtypes)
        sizes = [n_rows * dtype.itemsize for dtype in self._dtypes]
        # Columns start at multiples of 8 bytes, unless they are of the same type.
        self._starts = [0]
        for j, size in enumerate(sizes):
            end = self._starts[-1] + size
            same = j + 1 < len(sizes) and self._dtypes[j + 1] == self._dtypes[j]
            self._starts.append(end if same else -(-end // 8) * 8)
        self.n_bytes = self._starts[-1]
        self.in_memory = self.n_bytes <= max_memory
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._open = ExitStack()
        self._bytes: AnyArray | None = None
        self._file: Any = None

    def __enter__(self) -> Self:
        if self.in_memory:
            self._bytes = np.empty(self.n_bytes, dtype=np.uint8)
            return self
        try:
            self._file = self._open.enter_context(
                tempfile.TemporaryFile(dir=self._folder, prefix="tanager-", buffering=0)
            )
            _reserve(self._file, self.n_bytes)
        except OSError as error:
            self._open.close()
            raise self._cannot_write(error) from error
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file; what is mapped from it stays as long as it is used."""
        self._open.close()

    def append(self, columns: Sequence[AnyArray]) -> None:
        """Add rows: one array of equal length for every column."""
        n_more = len(columns[0])
        if self.n_filled + n_more > self.n_rows:
            raise row_count_error(self.n_rows, "more")
        for start, dtype, values in zip(
            self._starts[:-1], self._dtypes, columns, strict=True
        ):
            content = np.ascontiguousarray(values, dtype=dtype)
            place = start + self.n_filled * dtype.itemsize
            if self._bytes is not None:
                self._bytes[place : place + content.nbytes] = content.view(np.uint8)
            else:
                self._write(place, content)
        self.n_filled += n_more

    def column(self, index: int) -> AnyArray:
        """One column, shape (n_rows,)."""
        return self.matrix(index, index + 1)[:, 0]

    def matrix(self, first: int, last: int) -> AnyArray:
        """Neighbouring columns of one type, shape (n_rows, last - first).

        The matrix has Fortran order. Of a file it is mapped copy-on-write.
        """
        if self.n_filled < self.n_rows:
            raise row_count_error(self.n_rows, f"only {self.n_filled:,}")
        if self._bytes is None:
            self._bytes = np.asarray(
                np.memmap(self._file, np.uint8, "c", 0, (self.n_bytes,))
            )
        stop = self._starts[last - 1] + self.n_rows * self._dtypes[first].itemsize
        flat = self._bytes[self._starts[first] : stop].view(self._dtypes[first])
        return flat.reshape((self.n_rows, last - first), order="F")

    def _write(self, place: int, content: AnyArray) -> None:
        rest = memoryview(content.tobytes())
        try:
            self._file.seek(place)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> InputError:
        return InputError(
            f"The codes of the samples, {self.n_bytes:,} bytes, cannot be kept in "
            f"a temporary file in '{self._folder}': {error.strerror or error}. Free "
            "space there, or give another folder or more memory: Batches(source, "
            "folder=..., max_memory=...)."
        )


def row_count_error(n_rows: int, found: str) -> InputError:
    """The error for batches that differ between passes."""
    return InputError(
        f"The first pass over the batches gave {n_rows:,} rows, the second {found}; "
        "expected the same rows in every pass. If they come from a function or object, "
        "it must start from the beginning whenever it is asked for them."
    )


def _reserve(file: Any, n_bytes: int) -> None:
    """Reserve space, so that a full disk is noticed at once."""
    if hasattr(os, "posix_fallocate") and n_bytes:
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    else:
        file.truncate(n_bytes)
