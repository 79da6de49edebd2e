"""Readers of sources in batches: files, datasets, lazy frames, streams, iterators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

from tanager.errors import InputError
from tanager.io.data_files import ARROW, INDEX_NAME, PARQUET, import_pyarrow

ROW_GROUPS = 2
"""Sizes of a row group that Arrow takes to read batches of it; measured."""

READ_AHEAD = 1
"""Batches, and files, that a pyarrow dataset may read ahead."""


class BatchReader(ABC):
    """Reads a source in batches of any eager data frame type."""

    is_repeatable: ClassVar[bool] = True

    @abstractmethod
    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Batches, and words that say where each comes from.

        They should have at most `batch_rows` rows; larger ones are cut later.
        """

    def n_rows(self) -> int | None:
        """Number of rows, if it is known without a pass over them."""
        return None

    def held_bytes(self) -> int:
        """Memory that reading takes besides the batch itself, about."""
        return 0


def make_reader(source: Any) -> BatchReader:
    """Choose the reader of a source; see `tanager.Batches` for what it may be."""
    if isinstance(source, (str, PathLike)):
        return FileReader(find_files(source))
    if isinstance(source, (list, tuple)):
        if source and all(isinstance(item, (str, PathLike)) for item in source):
            found = [find_files(item) for item in source]
            return FileReader(tuple(path for paths in found for path in paths))
        return FrameReader(source)
    if hasattr(source, "get_fragments"):
        return DatasetReader(source)
    if hasattr(source, "collect_batches"):
        return LazyFrameReader(source)
    if hasattr(source, "to_arrow_reader"):
        return RelationReader(source)
    if hasattr(source, "__next__"):
        # Streams of Arrow that are being read, too.
        return IteratorReader(source)
    if hasattr(source, "__arrow_c_stream__"):
        return StreamReader(source)
    if callable(source):
        return FunctionReader(source)
    if isinstance(source, Iterable):
        return FrameReader(source)
    raise InputError(
        f"Batches cannot be read from a {type(source).__name__}; expected paths, a "
        "pyarrow dataset, a polars LazyFrame, a DuckDB relation, an Arrow stream, an "
        "iterable of data frames, or a function that returns one."
    )


def find_files(path: str | PathLike[str]) -> tuple[Path, ...]:
    """The Parquet and Arrow files that a path, folder or pattern means, sorted."""
    text = fspath(path)
    place = Path(text)
    if place.is_dir():
        found = [
            file
            for file in sorted(place.rglob("*"))
            if file.suffix.lower() in (*PARQUET, *ARROW)
            and not file.name.startswith((".", "_"))
        ]
        if not found:
            raise InputError(
                f"The folder '{text}' has no Parquet or Arrow files (.parquet, .pq, "
                ".arrow, .feather, .ipc); check the name."
            )
        return tuple(found)
    if not place.exists() and has_magic(text):
        found = sorted(Path(name) for name in glob(text, recursive=True))
        if not found:
            raise InputError(f"No file matches '{text}'; check the pattern.")
    else:
        found = [place]
    for file in found:
        if file.suffix.lower() not in (*PARQUET, *ARROW):
            raise InputError(
                f"'{file}' is no file that can be read in batches; expected .parquet "
                "or .arrow. Convert it, or pass an iterable of data frames."
            )
        if not file.exists():
            raise InputError(f"'{file}' does not exist; check the name.")
    return tuple(found)


@contextmanager
def _reading(what: str) -> Iterator[Any]:
    """Turn errors of pyarrow into ones that name the file; gives pyarrow."""
    pyarrow = import_pyarrow(what)
    try:
        yield pyarrow
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "no reason"
        raise InputError(
            f"{what} cannot be read: {reason}. Write or copy the file again."
        ) from error


def _counted(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """The batches; raises `OSError` unless they have as many rows as is stated."""
    found = 0
    for batch in batches:
        found += batch.num_rows
        yield batch
    if found != n_rows:
        raise OSError(f"it states {n_rows:,} rows, but {found:,} can be read")


def _without_index(batch: Any) -> Any:
    """Leave out the index that pandas stores."""
    names = batch.schema.names
    index = [name for name in names if INDEX_NAME.fullmatch(name)]
    return batch.drop_columns(index) if index else batch


@dataclass(frozen=True, eq=False)
class FileReader(BatchReader):
    """Parquet and Arrow files, one after the other."""

    paths: Sequence[Path]

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Read the row groups of every file in parts."""
        for path in self.paths:
            what = f"'{path}'"
            with _reading(what) as pyarrow:
                for batch in self._batches(path, batch_rows, pyarrow):
                    # Arrow trusts offsets and texts in a file; wrong ones would end
                    # the process.
                    batch.validate(full=True)
                    yield what, _without_index(batch)

    def _batches(self, path: Path, batch_rows: int, pyarrow: Any) -> Iterator[Any]:
        if path.suffix.lower() in PARQUET:
            from pyarrow import parquet

            with parquet.ParquetFile(path, page_checksum_verification=True) as file:
                found = file.iter_batches(batch_rows)
                yield from _counted(found, file.metadata.num_rows)
            return
        with pyarrow.OSFile(str(path)) as file:
            if file.read(6) == b"ARROW1":
                reader = pyarrow.ipc.open_file(file)
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)
            else:
                file.seek(0)
                yield from pyarrow.ipc.open_stream(file)

    def n_rows(self) -> int | None:
        """Sum of the rows that the files state; only Parquet files do."""
        if not all(path.suffix.lower() in PARQUET for path in self.paths):
            return None
        total = 0
        for path in self.paths:
            with _reading(f"'{path}'"):
                from pyarrow import parquet

                total += parquet.read_metadata(path).num_rows
        return total

    def held_bytes(self) -> int:
        """Twice the largest row group: Arrow holds it compressed, and its pages."""
        largest = 0
        for path in self.paths:
            if path.suffix.lower() not in PARQUET:
                continue
            with _reading(f"'{path}'"):
                from pyarrow import parquet

                found = parquet.read_metadata(path)
                for number in range(found.num_row_groups):
                    largest = max(largest, found.row_group(number).total_byte_size)
        return ROW_GROUPS * largest


def _is_parquet(fragment: Any) -> bool:
    """Whether a fragment of a dataset is a Parquet file."""
    return (
        getattr(getattr(fragment, "format", None), "default_extname", "") == "parquet"
    )


@contextmanager
def _verifying_pages(fragment: Any) -> Iterator[None]:
    """Verify checksums of the pages of a Parquet fragment; its options stay otherwise.

    The options of the dataset itself are changed for as long as it is read: pyarrow
    cannot copy them, because a decryption of theirs cannot be read.
    """
    if not _is_parquet(fragment):
        yield
        return
    options = fragment.format.default_fragment_scan_options
    before = options.page_checksum_verification
    options.page_checksum_verification = True
    try:
        yield
    finally:
        options.page_checksum_verification = before


@dataclass(frozen=True, eq=False)
class DatasetReader(BatchReader):
    """A pyarrow dataset, one fragment after the other."""

    dataset: Any

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Read every fragment with the schema of the dataset."""
        for number, fragment in enumerate(self.dataset.get_fragments(), 1):
            path = getattr(fragment, "path", None)
            what = f"'{path}'" if path else f"Fragment {number} of the dataset"
            with _reading(what), _verifying_pages(fragment):
                found = fragment.to_batches(
                    schema=self.dataset.schema,
                    batch_size=batch_rows,
                    batch_readahead=READ_AHEAD,
                    fragment_readahead=READ_AHEAD,
                )
                if _is_parquet(fragment):  # its metadata state the number
                    found = _counted(found, fragment.count_rows())
                for batch in found:
                    batch.validate(full=True)
                    yield what, _without_index(batch)

    def n_rows(self) -> int | None:
        """Count by the metadata of the files where they state it."""
        with _reading("The dataset"):
            return int(self.dataset.count_rows())


@dataclass(frozen=True, eq=False)
class LazyFrameReader(BatchReader):
    """A lazy frame of polars, by its streaming engine."""

    frame: Any

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Execute the query."""
        found = self.frame.collect_batches(chunk_size=batch_rows, maintain_order=True)
        for number, batch in enumerate(found, 1):
            yield f"Batch {number} of the lazy frame", batch

    def n_rows(self) -> int | None:
        """Count by a query."""
        import polars

        return int(self.frame.select(polars.len()).collect().item())


@dataclass(frozen=True, eq=False)
class RelationReader(BatchReader):
    """A relation of DuckDB."""

    relation: Any

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Execute the query."""
        for number, batch in enumerate(self.relation.to_arrow_reader(batch_rows), 1):
            yield f"Batch {number} of the relation", batch

    def n_rows(self) -> int | None:
        """Count by a query."""
        return int(self.relation.shape[0])


@dataclass(frozen=True, eq=False)
class StreamReader(BatchReader):
    """An object that exports a stream of Arrow batches whenever it is asked to."""

    source: Any

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:  # noqa: ARG002
        """Ask for the stream."""
        pyarrow = import_pyarrow(f"A stream of {type(self.source).__name__}")
        stream = pyarrow.RecordBatchReader.from_stream(self.source)
        for number, batch in enumerate(stream, 1):
            yield f"Batch {number}", batch


@dataclass(frozen=True, eq=False)
class FrameReader(BatchReader):
    """A collection of data frames or record batches."""

    frames: Iterable[Any]

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:  # noqa: ARG002
        """Take them one after the other."""
        for number, frame in enumerate(self.frames, 1):
            yield f"Batch {number}", frame

    def n_rows(self) -> int | None:
        """Sum of the lengths of a list."""
        if not isinstance(self.frames, (list, tuple)):
            return None
        return sum(len(frame) for frame in self.frames)


@dataclass(frozen=True, eq=False)
class IteratorReader(FrameReader):
    """An iterator, which is used up when it has been read once."""

    is_repeatable: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class FunctionReader(BatchReader):
    """A function that returns an iterable of data frames whenever it is called."""

    function: Callable[[], Iterable[Any]]

    def read(self, batch_rows: int) -> Iterator[tuple[str, Any]]:
        """Call the function."""
        found = self.function()
        if found is None:
            raise InputError(
                "The function that makes the batches returned None; expected an "
                "iterable of data frames or record batches."
            )
        yield from make_reader(found).read(batch_rows)
