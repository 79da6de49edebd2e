"""Data files: CSV, Parquet, Arrow and Excel."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from tanager.encoding.frame import Frame, read_frame
from tanager.errors import InputError
from tanager.io.csv_dialect import (
    CsvDialect,
    decode_text,
    find_decimal,
    find_delimiter,
)
from tanager.io.csv_text import Columns, OddText, csv_bytes, parse_csv
from tanager.io.excel_sheet import read_excel
from tanager.io.text_interpretation import ReadNote, interpret_texts
from tanager.utils.atomic_write import PathLike, replacing

DELIMITERS = {
    **dict.fromkeys(("", ".csv", ".txt", ".data"), ","),
    **dict.fromkeys((".tsv", ".tab"), "\t"),
}
"""Separator of the fields by the ending of a text file's name."""

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = (".xlsx", ".xlsm")

FREE_BYTES, MAX_RATIO = 2**28, 100
"""Bytes that any gzip file may unpack to; a larger one so many times its own."""

PART_BYTES = 2**20
"""Bytes that are unpacked at a time."""

INDEX_NAME = re.compile(r"__index_level_\d+__")


def read_table(
    path: PathLike,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] = ("",),
    text: Sequence[str] = (),
    interpret: bool = False,
    sheet: str | None = None,
    noticed: Callable[[OddText | ReadNote], object] | None = None,
) -> Frame:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or path
        A text file (``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.data``, without
        ending, or one of these with ``.gz``), Parquet (``.parquet``, ``.pq``), Arrow
        (``.arrow``, ``.feather``, ``.ipc``) or Excel (``.xlsx``, ``.xlsm``). ``"-"`` is
        standard input, as CSV.
    delimiter : str or None, default=None
        Separator of the fields of a text file; None finds it in the first rows, where
        a comma, or a tab for ``.tsv`` and ``.tab``, is preferred.
    decimal : {".", ","} or None, default=None
        Decimal sign of a text file; None finds it if `interpret`, otherwise a point.
    missing : sequence of str, default=("",)
        Fields of a text file that mean "not known".
    text : sequence of str, default=()
        Columns of a text file that are categories even if all fields are numbers.
    interpret : bool, default=False
        Whether texts that spell numbers with decimal commas or thousands separators,
        dates or times are read as such, and markers such as ``?`` among them as
        missing values (`tanager.io.text_interpretation`).
    sheet : str or None, default=None
        Sheet of an Excel file; None is the first.
    noticed : function or None, default=None
        Called for every other column of a text file that is categorical because of a
        few texts among many numbers, and with notes on how the file was understood.

    Returns
    -------
    Frame
        Typed columns.

    Raises
    ------
    InputError
        If the file cannot be read as such a table; the message says where and why.

    Notes
    -----
    A text file has the names of the columns in its first row. It is UTF-8, UTF-16 with
    a mark, or else Windows-1252. A column is numeric if every field that is not missing
    is a finite number, integer if all are whole numbers and none is missing. Without
    `interpret`, ``nan``, ``NA``, ``?`` and ``inf`` are categories like any other text
    unless `missing` names them.

    Index columns that pandas stores in Parquet and Arrow files are left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "days.csv"
    ...     _ = path.write_text("sky,degrees\nblue,21.5\n,17\n")
    ...     table = read_table(path)
    >>> table.column(0).categories, table.column(1).values
    (('blue',), array([21.5, 17. ]))
    """
    ending = ""
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError("Standard input is closed; give the name of a file.")
        what, content, usual = "Standard input", sys.stdin.buffer.read(), ","
    else:
        path = Path(path)
        what = f"'{path}'"
        if path.is_dir():
            raise InputError(f"{what} is a folder; give the name of a file.")
        ending = _ending(path)
        if ending in PARQUET or ending in ARROW:
            return _read_arrow(path, what, parquet=ending in PARQUET)
        if ending in EXCEL:
            return read_excel(_content(path, what), what, sheet, missing, text)
        if ending not in DELIMITERS:
            raise InputError(
                f"{what} is of an unknown kind ({path.suffix}); expected .csv or .tsv "
                "(also with .gz), .parquet, .arrow, .feather or .xlsx. Convert it."
            )
        content, usual = _content(path, what), DELIMITERS[ending]
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InputError(
            f"The delimiter must be one character and no quote, got {delimiter!r}."
        )
    decoded, dialect = _decode(what, content, delimiter, decimal, usual, interpret)
    odd: list[OddText] = []
    table = parse_csv(
        decoded, what, dialect.delimiter, missing, text,
        decimal=dialect.decimal or ".", codes=interpret, guess=delimiter is None,
        noticed=odd.append,
    )  # fmt: skip
    differences = dialect.differences(usual if delimiter is None else delimiter)
    if noticed is not None and differences:
        noticed(ReadNote(f"{what} is read with these settings: {differences}."))
    if interpret:
        table = interpret_texts(table, dialect.decimal, text, noticed)
    if noticed is not None:
        for found in odd:
            if not table.column(table.names.index(found.column)).is_numeric:
                noticed(found)
    return table


def write_table(path: PathLike, columns: Columns) -> None:
    """Write columns to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
        The ending says the kind, as in `read_table`; ``"-"`` is standard output.
    columns : mapping from str to sequence
        Columns of equal length. None and NaN become empty fields or nulls.

    Raises
    ------
    InputError
        If the file cannot be written or its ending is not known.
    """
    write_table_parts(path, [columns])


def write_table_parts(path: PathLike, parts: Iterable[Columns]) -> int:
    """Write a table that comes in parts; see `write_table`.

    Parameters
    ----------
    path : str or path
        As in `write_table`.
    parts : iterable of mappings from str to sequence
        At least one; all have the same columns.

    Returns
    -------
    int
        Number of rows.
    """
    if str(path) == "-":
        if sys.stdout is None:
            raise InputError("Standard output is closed; give the name of a file.")
        sys.stdout.flush()
        return _write_text(sys.stdout.buffer, parts, ",")
    path = Path(path)
    check_output(path)
    ending = _ending(path)
    with replacing(path) as file:
        if ending in PARQUET or ending in ARROW:
            return _write_arrow(file, parts, path, parquet=ending in PARQUET)
        if path.suffix.lower() != ".gz":
            return _write_text(file, parts, DELIMITERS[ending])
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            return _write_text(packed, parts, DELIMITERS[ending])


def _write_text(
    file: IO[bytes] | gzip.GzipFile, parts: Iterable[Columns], delimiter: str
) -> int:
    n_rows = 0
    for number, columns in enumerate(parts):
        file.write(csv_bytes(columns, delimiter, header=number == 0))
        n_rows += _length(columns)
    return n_rows


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def check_output(path: PathLike) -> None:
    """Make sure that `write_table` knows the kind of a file by its name."""
    path = Path(path)
    ending = _ending(path)
    if ending in PARQUET or ending in ARROW:
        import_pyarrow(f"'{path}'")
    elif ending not in DELIMITERS:
        raise InputError(
            f"Cannot write '{path}': files of this kind ({path.suffix}) are not known; "
            "use .csv, .csv.gz, .tsv, .parquet or .arrow."
        )


def _ending(path: Path) -> str:
    """Ending of the name in small letters, a last ``.gz`` left off."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _content(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{what} does not exist; check the name.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what} cannot be read: {reason}.") from None


def _decode(
    what: str,
    content: bytes,
    delimiter: str | None,
    decimal: str | None,
    usual: str,
    interpret: bool,
) -> tuple[str, CsvDialect]:
    """The text of a file, possibly compressed, and how it is written."""
    if content[:2] == b"\x1f\x8b":
        try:
            content = _unpack(content, what)
        except InputError:
            raise
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise InputError(
                f"{what} is damaged gzip data ({error}); get it again."
            ) from None
    _check_text(what, content)
    text, encoding = decode_text(content)
    if delimiter is None:
        delimiter = find_delimiter(text, usual)
    if decimal is None and interpret:
        decimal = find_decimal(text, delimiter)
    return text, CsvDialect(encoding, delimiter, decimal)


def _unpack(content: bytes, what: str) -> bytes:
    """Decompress gzip data, not without end."""
    most = max(FREE_BYTES, MAX_RATIO * len(content))
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        parts = iter(lambda: file.read(PART_BYTES), b"")
        unpacked = b"".join(islice(parts, most // PART_BYTES + 1))
    if len(unpacked) > most:
        raise InputError(
            f"{what} has {len(content):,} bytes and unpacks to more than {most:,}, so "
            "it is not read; unpack it with gunzip if it is what you expect."
        )
    return unpacked


def _check_text(what: str, content: bytes) -> None:
    """Refuse what is known by its first bytes to be no text."""
    for mark, kind, ending in (
        (b"PAR1", "a Parquet", PARQUET[0]),
        (b"ARROW1", "an Arrow", ARROW[0]),
        (b"PK\x03\x04", "an Excel or zip", EXCEL[0]),
    ):
        if content.startswith(mark):
            raise InputError(f"{what} is {kind} file; rename it to end in {ending}.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    if (position := content.find(0)) >= 0:
        line = content.count(b"\n", 0, position) + 1
        raise InputError(
            f"{what} holds a NUL byte, line {line}, as no text does; is it a CSV file?"
        )


def import_pyarrow(what: str) -> Any:
    """Import pyarrow, which is optional, to read or write `what`."""
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f"{what} needs Arrow, which is not installed: pip install tanager[arrow]."
        ) from None
    return pyarrow


def _read_arrow(path: Path, what: str, *, parquet: bool) -> Frame:
    pyarrow = import_pyarrow(what)
    content = _content(path, what)
    if not content:
        raise InputError(f"{what} is empty; expected a table.")
    source = pyarrow.BufferReader(content)
    try:
        if parquet:
            from pyarrow import parquet as parquet_module

            file = parquet_module.ParquetFile(source, page_checksum_verification=True)
            frame = file.read()
            if frame.num_rows != file.metadata.num_rows:
                raise OSError(
                    f"it states {file.metadata.num_rows:,} rows, but "
                    f"{frame.num_rows:,} can be read"
                )
        elif content.startswith(b"ARROW1"):
            frame = pyarrow.ipc.open_file(source).read_all()
        else:
            frame = pyarrow.ipc.open_stream(source).read_all()
        # Arrow trusts offsets and texts in a file; wrong ones would end the process.
        frame.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "no reason"
        kind = "Parquet" if parquet else "Arrow"
        raise InputError(f"{what} is not a readable {kind} file: {reason}.") from None
    index = [name for name in frame.schema.names if INDEX_NAME.fullmatch(name)]
    if index:
        frame = frame.drop_columns(index)
    if frame.num_rows == 0 or frame.num_columns == 0:
        raise InputError(
            f"{what} has {frame.num_rows} rows and {frame.num_columns} columns; "
            "expected at least one of each."
        )
    return read_frame(frame)


def _write_arrow(
    file: IO[bytes], parts: Iterable[Columns], path: Path, *, parquet: bool
) -> int:
    pyarrow = import_pyarrow(f"'{path}'")
    n_rows = 0
    with ExitStack() as stack:
        writer = None
        for columns in parts:
            arrays = {
                name: pyarrow.array(np.asarray(values), from_pandas=True)
                if isinstance(values, np.ndarray)
                else pyarrow.array(list(values))
                for name, values in columns.items()
            }
            frame = pyarrow.table(arrays)
            if writer is None:
                if parquet:
                    from pyarrow import parquet as parquet_module

                    opened = parquet_module.ParquetWriter(file, frame.schema)
                else:
                    opened = pyarrow.ipc.new_file(file, frame.schema)
                writer = stack.enter_context(opened)
            writer.write_table(frame)
            n_rows += frame.num_rows
    return n_rows
