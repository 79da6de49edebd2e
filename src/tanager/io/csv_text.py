"""CSV text as typed columns, and columns as CSV text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite, isinf, nan
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from tanager.encoding.frame import Column, Frame, coded_column
from tanager.errors import InputError
from tanager.types import IntArray

CHUNK_ROWS = 2**11  # whose fields are text at the same time
MOSTLY = 0.9  # fraction of numbers from which other text in the column is reported
UNNAMED = "Unnamed: 0"  # the name of an index, as in pandas
MANY_NUMBERS = 10  # a column with no more different numbers may well hold categories

LEADING_ZERO = re.compile(r"0\d+")
"""Digits that are rather a code than a number."""

Rows = list[list[str]]
Columns = Mapping[str, Sequence[Any] | npt.NDArray[Any]]


@dataclass(frozen=True)
class OddText:
    """A text that made a column categorical whose other fields are numbers.

    `n_fields` fields are not missing, `n_numbers` of them are numbers. `text` is the
    first other one, in `line` of the file, and there are `n_others` further, different
    texts. `infinite` says whether `text` is an infinite number, such as ``inf`` or
    ``1e400``.
    """

    column: str
    n_fields: int
    n_numbers: int
    text: str
    line: int
    n_others: int
    infinite: bool


def parse_csv(
    text: str,
    what: str,
    delimiter: str = ",",
    missing: Sequence[str] = ("",),
    categorical: Sequence[str] = (),
    *,
    decimal: str = ".",
    codes: bool = False,
    guess: bool = False,
    noticed: Callable[[OddText], object] | None = None,
) -> Frame:
    """Read CSV text as typed columns; `read_table` describes the rules.

    The first row holds the column names; empty lines are skipped. With a `decimal` of
    a comma, fields with a point are text; with `codes`, so are integers with a leading
    zero, such as ``007``. With `guess`, a single column whose name
    contains another delimiter is an error. `noticed` is called for every column, except
    those in `categorical`, that has many different numbers and a few texts. A first
    column without a name, as pandas writes an index, is called ``Unnamed: 0``.
    """
    names = _header(text, what, delimiter, guess)
    columns: list[_Numbers | _Texts] = [
        _Texts(missing) if name in categorical else _Numbers(missing, decimal, codes)
        for name in names
    ]
    # Most columns are what their first rows say. One that turns out to be text later
    # is read again from the start, so that no column keeps all its fields as text.
    again: list[int] = []
    n_rows = 0
    for rows in _chunks(text, what, delimiter, len(names)):
        n_rows += len(rows)
        for j, fields in enumerate(zip(*rows, strict=True)):
            if columns[j].add(fields):
                continue
            columns[j] = texts = _Texts(missing)
            if n_rows > len(rows):
                again.append(j)
            else:
                texts.add(fields)
    if n_rows == 0:
        raise InputError(f"{what} has a header but no rows; expected at least one.")
    if again:
        for j in again:
            columns[j] = _Texts(missing)
        for rows in _chunks(text, what, delimiter, len(names)):
            for j in again:
                columns[j].add([row[j] for row in rows])
    if noticed is not None:
        for name, column in zip(names, columns, strict=True):
            if isinstance(column, _Texts) and name not in categorical:
                odd = _odd_text(name, column, text, delimiter)
                if odd is not None:
                    noticed(odd)
    made = tuple(column.make(name) for name, column in zip(names, columns, strict=True))
    return Frame(tuple(names), n_rows, made, None, True)


def write_csv(
    stream: TextIO, columns: Columns, delimiter: str = ",", *, header: bool = True
) -> None:
    """Write columns of equal length as CSV text; None and NaN become empty fields."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow(columns)
    n_rows = len(next(iter(columns.values()), ()))
    for start in range(0, n_rows, CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        fields = [_plain(values[part]) for values in columns.values()]
        writer.writerows(zip(*fields, strict=True))


def csv_bytes(columns: Columns, delimiter: str = ",", *, header: bool = True) -> bytes:
    """The bytes of a CSV file; see `write_csv`."""
    buffer = io.StringIO(newline="")
    write_csv(buffer, columns, delimiter, header=header)
    return buffer.getvalue().encode("utf-8")


def _plain(values: Sequence[Any] | npt.NDArray[Any]) -> list[Any]:
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biuUS":
            return list(values.tolist())
        values = values.tolist()
    return [None if value != value else value for value in values]


def _header(text: str, what: str, delimiter: str, guess: bool) -> list[str]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names: list[str] = next((row for row in reader if row), [])
    except csv.Error as error:
        raise _not_csv(what, reader.line_num, error) from None
    if not names:
        raise InputError(f"{what} is empty; expected column names and rows.")
    if guess and len(names) == 1:
        other = next((mark for mark in ";\t|," if mark in names[0]), None)
        if other is not None:
            raise InputError(
                f"{what} has a single column, {names[0]!r}. If its fields are "
                f"separated by {other!r}, use --delimiter {other!r}."
            )
    if names[0] == "" and len(names) > 1 and UNNAMED not in names:
        names = [UNNAMED, *names[1:]]
    if "" in names:
        raise InputError(
            f"{what} has no name for column {names.index('') + 1}; the first row must "
            "name every column."
        )
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(
            f"{what} has column names more than once: {', '.join(map(repr, twice))}. "
            "Rename them; if the first row is data, put a row of names before it."
        )
    return names


def _chunks(text: str, what: str, delimiter: str, n_columns: int) -> Iterator[Rows]:
    """Rows after the header, in chunks, each with all its fields."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)

    def rows() -> Iterator[list[str]]:
        for row in reader:
            if len(row) == n_columns:
                yield row
            elif row:
                raise InputError(
                    f"{what}, line {reader.line_num}, has {len(row)} fields; expected "
                    f"{n_columns}, as in the header. Correct the line; a field that "
                    "holds the delimiter needs quotes."
                )

    found = rows()
    try:
        next(found)
        while chunk := list(islice(found, CHUNK_ROWS)):
            yield chunk
    except csv.Error as error:
        raise _not_csv(what, reader.line_num, error) from None


def _not_csv(what: str, line: int, error: csv.Error) -> InputError:
    return InputError(
        f"{what}, line {line}, is not CSV: {error}. Is a quote not closed?"
    )


def number_in(text: str) -> float:
    """The number that a field spells, possibly infinite; NaN for other text."""
    try:
        return nan if "_" in text else float(text)
    except ValueError:
        return nan


def _odd_text(
    name: str, column: _Texts, content: str, delimiter: str
) -> OddText | None:
    """Describe the text in a column of numbers, if nearly all fields are numbers."""
    counts = column.counts()
    kinds = {text: number_in(text) for text in counts}
    n_fields = sum(counts.values())
    numbers = [text for text, number in kinds.items() if isfinite(number)]
    n_numbers = sum(counts[text] for text in numbers)
    if len(numbers) <= MANY_NUMBERS or n_numbers < MOSTLY * n_fields:
        return None
    # Texts are in the order of their first use.
    others = [text for text, number in kinds.items() if not isfinite(number)]
    if not others:
        return None
    first = others[0]
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
    rows = (row for row in reader if row)
    position = next(rows).index("" if name == UNNAMED else name)
    next(row for row in rows if row[position] == first)
    return OddText(
        name,
        n_fields,
        n_numbers,
        first,
        reader.line_num,
        len(others) - 1,
        isinf(kinds[first]),
    )


class _Numbers:
    """A column as long as all its fields are numbers."""

    def __init__(self, missing: Sequence[str], decimal: str, codes: bool) -> None:
        self._missing = frozenset(missing)
        self._codes = codes
        self._refused = "_" if decimal == "." else "_."
        self._parts: list[npt.NDArray[Any]] = []

    def add(self, fields: Sequence[str]) -> bool:
        """Add fields; False, and nothing added, if one is not a finite number."""
        given: Sequence[str] = fields
        complete = self._missing.isdisjoint(fields)
        if not complete:
            given = [field for field in fields if field not in self._missing]
        # int() and float() take "1_000", which no one means as a number.
        joined = "".join(given)
        if any(mark in joined for mark in self._refused):
            return False
        if self._codes and any(map(LEADING_ZERO.fullmatch, dict.fromkeys(given))):
            return False
        numbers = _parse(given, int, np.int64) if complete else None
        if numbers is None:
            numbers = _parse(given, float, np.float64)
        if numbers is None or not np.isfinite(numbers).all():
            return False
        if not complete:
            part = np.full(len(fields), np.nan)
            part[[field not in self._missing for field in fields]] = numbers
            numbers = part
        self._parts.append(numbers)
        return True

    def make(self, name: str) -> Column:
        """Make the column of all fields; integers if all of them are."""
        return Column(name, values=np.concatenate(self._parts))


def _parse(
    fields: Sequence[str], kind: Callable[[str], float], dtype: npt.DTypeLike
) -> npt.NDArray[Any] | None:
    try:
        return np.fromiter(map(kind, fields), dtype, len(fields))
    except (ValueError, OverflowError):
        return None


class _Texts:
    """A column of categories."""

    def __init__(self, missing: Sequence[str]) -> None:
        self._position: dict[str, int] = {}
        self._missing = frozenset(missing)
        self._parts: list[IntArray] = []

    def add(self, fields: Sequence[str]) -> bool:
        """Add fields, which may be any text."""
        position = self._position
        for field in dict.fromkeys(fields):
            position.setdefault(field, len(position))
        codes = np.fromiter(map(position.__getitem__, fields), np.int64, len(fields))
        self._parts.append(codes)
        return True

    def counts(self) -> dict[str, int]:
        """Number of fields of every text, in order of first use, missing left out."""
        found = np.bincount(np.concatenate(self._parts), minlength=len(self._position))
        return {
            text: count
            for text, count in zip(self._position, found.tolist(), strict=True)
            if text not in self._missing
        }

    def make(self, name: str) -> Column:
        """Make the column of all fields."""
        found = [None if text in self._missing else text for text in self._position]
        return coded_column(name, np.concatenate(self._parts), found)
