"""`CsvDialect`: encoding, delimiter and decimal sign of a text file, found in it."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

SAMPLED_ROWS = 200
"""Rows that are looked at."""

DELIMITERS = ",;\t|"
"""Separators that are tried, in this order."""

DECIMALS = (".", ",")

_COMMA = re.compile(r"[+-]?(\d{1,3}([. '\u00a0\u202f]\d{3})+|\d*),\d+")
_SURELY_COMMA = re.compile(
    r"[+-]?(\d{1,3}([. '\u00a0\u202f]\d{3})+,\d+|\d*,(\d\d?|\d{4,}))"
)
_SURELY_POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+\.\d*|\d*\.(\d\d?|\d{4,}))")
_NAMES = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}


@dataclass(frozen=True)
class CsvDialect:
    """How a text file is written.

    Parameters
    ----------
    encoding : str, default="UTF-8"
        Encoding of its characters.
    delimiter : str, default=","
        Separator of the fields.
    decimal : {".", ","} or None, default=None
        Decimal sign; None if no number shows it.
    """

    encoding: str = "UTF-8"
    delimiter: str = ","
    decimal: str | None = None

    def differences(self, usual: str) -> str:
        """What is other than in UTF-8 files with decimal points; empty if nothing.

        `usual` is the delimiter that was expected.

        Examples
        --------
        >>> CsvDialect("UTF-8", ";", ",").differences(",")
        'fields separated by semicolons, decimal commas'
        """
        found = []
        if self.encoding != "UTF-8":
            found.append(f"encoded in {self.encoding}")
        if self.delimiter != usual:
            shown = _NAMES.get(self.delimiter, repr(self.delimiter))
            found.append(f"fields separated by {shown}")
        if self.decimal == ",":
            found.append("decimal commas")
        return ", ".join(found)


def decode_text(content: bytes) -> tuple[str, str]:
    """Text of bytes, and the name of their encoding.

    UTF-8 and UTF-16 by their marks or by being valid; all else is Windows-1252, in
    which most older files of Western languages are written.

    Examples
    --------
    >>> decode_text("Zürich".encode("cp1252"))
    ('Zürich', 'Windows-1252')
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16"), "UTF-16"
        except UnicodeDecodeError:
            return content.decode("utf-16", "replace"), "UTF-16"
    try:
        return content.decode("utf-8-sig"), "UTF-8"
    except UnicodeDecodeError:
        pass
    try:
        return content.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:  # five bytes have no character there
        return content.decode("latin-1"), "ISO-8859-1"


def find_delimiter(text: str, usual: str = ",") -> str:
    r"""The delimiter that divides the first rows into equal numbers of fields.

    `usual` is preferred, and the answer if none does.

    Examples
    --------
    >>> find_delimiter("a;b\n1,5;2\n2,5;3\n")
    ';'
    """
    candidates = [usual, *(mark for mark in DELIMITERS if mark != usual)]
    return next((mark for mark in candidates if _divides(text, mark)), usual)


def _divides(text: str, delimiter: str) -> bool:
    """Whether all first rows have the same number of fields, more than one."""
    try:
        widths = {len(row) for row in _rows(text, delimiter) if row}
    except csv.Error:
        return False
    return len(widths) == 1 and widths.pop() > 1


def find_decimal(text: str, delimiter: str) -> str | None:
    r"""The decimal sign of the numbers in the first rows; None if none shows it.

    Examples
    --------
    >>> find_decimal("a;b\nx;2,25\ny;3\n", ";")
    ','
    """
    try:
        rows = [row for row in _rows(text, delimiter) if row][1:]
    except csv.Error:
        return None
    commas = points = False
    width = max(map(len, rows), default=0)
    for j in range(width):
        fields = [row[j].strip() for row in rows if len(row) > j and row[j].strip()]
        points = points or any(map(_SURELY_POINT.fullmatch, fields))
        commas = commas or _mostly_commas(fields)
    if points:
        return "."
    return "," if commas else None


def _mostly_commas(fields: Sequence[str]) -> bool:
    """Whether a column has numbers with decimal commas, some beyond doubt."""
    if not any(map(_SURELY_COMMA.fullmatch, fields)):
        return False
    numbers = [f for f in fields if _COMMA.fullmatch(f) or f.lstrip("+-").isdigit()]
    return len(numbers) > len(fields) / 2


def _rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return list(islice(reader, SAMPLED_ROWS))
