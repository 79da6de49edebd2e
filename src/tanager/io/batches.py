"""`Batches`: a table that is read batch by batch, as often as needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager.encoding.frame import Frame, read_frame
from tanager.errors import InputError
from tanager.utils.validation import check_whole

if TYPE_CHECKING:
    from tanager.io.batch_readers import BatchReader

BATCH_ROWS = 131_072
"""Rows of a batch: 20 columns of floats take 21 MB."""

MAX_MEMORY = 2**30
"""Bytes of codes that are kept in memory."""


@dataclass(frozen=True, eq=False)
class Batches:
    """A table that is read batch by batch, for data that exceed the memory.

    `BayesNetClassifier.fit`, `predict` and their relatives make one from every `source`
    below; make it yourself to set the sizes.

    Parameters
    ----------
    source : path, dataset, lazy frame, relation, stream, iterable or function
        - a Parquet or Arrow file, a folder of them, a pattern such as
          ``"folder/*.parquet"``, or a list of paths;
        - a pyarrow dataset, a polars LazyFrame or a DuckDB relation;
        - any object with ``__arrow_c_stream__``;
        - a list of data frames or record batches, an iterator over them, or a function
          that returns such an iterator.
    batch_rows : int, default=131,072
        Largest number of rows that are read at a time.
    max_memory : int, default=2**30
        Bytes up to which codes of samples are kept in memory. More are kept in a
        memory-mapped temporary file.
    folder : str or path, default=None
        Folder of temporary files; None means that of the system. They have no name,
        so nothing is left behind, however a fit ends.

    Notes
    -----
    Files are read one after the other, one batch ahead of the computation at most. An
    iterator can be read only once: `fit`, which takes two passes, keeps its batches in
    a temporary file. Give a function instead where they can be made twice.

    All batches must have the same columns, in any order, of the same kinds.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = [pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3]})]
    >>> [frame.n_rows for frame in Batches(frames)]
    [2, 1]
    >>> [frame.n_rows for frame in Batches(lambda: iter(frames), batch_rows=1)]
    [1, 1, 1]
    """

    source: Any
    batch_rows: int = BATCH_ROWS
    max_memory: int = MAX_MEMORY
    folder: str | PathLike[str] | None = None

    def reader(self) -> BatchReader:
        """The reader of the source."""
        from tanager.io.batch_readers import make_reader

        check_whole("batch_rows", self.batch_rows, 1)
        check_whole("max_memory", self.max_memory, 0)
        return make_reader(self.source)

    @property
    def is_repeatable(self) -> bool:
        """Whether the source can be read more than once."""
        return self.reader().is_repeatable

    def n_rows(self) -> int | None:
        """Number of rows, if it is known without a pass over them."""
        return self.reader().n_rows()

    def __iter__(self) -> Iterator[Frame]:
        """Read the batches that have rows, the columns in the order of the first."""
        for _, frame in self.named_frames():
            yield frame

    def named_frames(self) -> Iterator[tuple[str, Frame]]:
        """Batches as in iteration, each with words that say where it comes from."""
        names: tuple[str, ...] | None = None
        first = ""
        try:
            for where, batch in self.reader().read(self.batch_rows):
                with naming(where):
                    for part in _split(batch, self.batch_rows):
                        frame = read_frame(part)
                        if names is None:
                            names, first = frame.names, where
                        elif frame.names != names:
                            frame = _reorder(frame, names, first)
                        yield where, frame
        finally:
            _release_arrow_memory()


def is_batched(X: Any) -> bool:
    """Whether data come in batches: whether X is a source of `Batches`, or one itself.

    Examples
    --------
    >>> is_batched("folder/*.parquet"), is_batched([[1, 2], [3, 4]])
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, (Batches, str, PathLike)) or callable(X):
        return True
    if isinstance(X, (list, tuple)):
        return bool(X) and (_is_path(X[0]) or _is_frame(X[0]))
    if type(X).__module__.partition(".")[0] == "duckdb":
        return True
    return (
        hasattr(X, "get_fragments")
        or hasattr(X, "collect_batches")
        or hasattr(X, "__next__")
        or (hasattr(X, "__arrow_c_stream__") and not hasattr(X, "shape"))
    )


def as_batches(X: Any) -> Batches:
    """Make `Batches` of a source with the default sizes, unless it is one."""
    return X if isinstance(X, Batches) else Batches(X)


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Say in every `InputError` inside which file or batch is concerned."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(where):
            raise
        raise InputError(f"{where}: {error}") from error


def _release_arrow_memory() -> None:
    """Give memory that Arrow keeps for further batches back to the system."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()


def _is_path(item: object) -> bool:
    if not isinstance(item, (str, PathLike)):
        return False
    from tanager.io.data_files import ARROW, PARQUET

    path = fspath(item)
    return isinstance(path, str) and Path(path).suffix.lower() in (*PARQUET, *ARROW)


def _is_frame(item: object) -> bool:
    return not isinstance(item, (np.ndarray, np.generic)) and (
        hasattr(item, "__arrow_c_array__")
        or (len(getattr(item, "shape", ())) == 2 and hasattr(item, "columns"))
    )


def _split(batch: Any, size: int) -> Iterator[Any]:
    """Cut a batch of any type into ones of at most `size` rows; none if it is empty."""
    if hasattr(batch, "__len__") and not isinstance(batch, dict):
        if len(batch) == 0:
            return
        if len(batch) <= size:
            yield batch
            return
    frame = read_frame(batch)
    for start in range(0, frame.n_rows, size):
        yield frame.take(slice(start, start + size))


def _reorder(frame: Frame, names: tuple[str, ...], first: str) -> Frame:
    """Bring the columns into the order of the first batch."""
    absent = [name for name in names if name not in frame.names]
    more = [name for name in frame.names if name not in names]
    if absent or more or not frame.has_names:
        parts = [
            f"{word} {', '.join(map(repr, found[:5]))}"
            for word, found in (("lacks", absent), ("has also", more))
            if found
        ]
        raise InputError(
            f"the columns differ from those of {first}: this batch "
            f"{' and '.join(parts) or 'has no names'}; expected the same columns in "
            "every file and batch. Rename, add or drop columns."
        )
    columns = tuple(frame.column(frame.names.index(name)) for name in names)
    return Frame(names, frame.n_rows, columns, None, True)
