"""Sheets of Excel files as typed columns, if openpyxl is installed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanager.encoding.frame import Frame, array_column
from tanager.errors import InputError, unknown_name


def read_excel(
    content: bytes,
    what: str,
    sheet: str | None = None,
    missing: Sequence[str] = ("",),
    text: Sequence[str] = (),
) -> Frame:
    """Read a sheet of an Excel file; its first row has the names of the columns.

    Parameters
    ----------
    content : bytes
        The file.
    what : str
        Its name in errors.
    sheet : str or None, default=None
        Name of the sheet; None is the first.
    missing : sequence of str, default=("",)
        Texts that mean a missing value; empty cells always do.
    text : sequence of str, default=()
        Columns that are categories even if all cells are numbers.

    Returns
    -------
    Frame
        Typed columns; rows without any value are skipped.
    """
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise InputError(
            f"{what} needs openpyxl, which is not installed: pip install "
            "tanager[excel]. You can also save the sheet as CSV."
        ) from None
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, OSError, ValueError):
        raise InputError(
            f"{what} is not a readable Excel file (.xlsx); save it again, or as CSV."
        ) from None
    if sheet is not None and sheet not in book.sheetnames:
        raise unknown_name(f"sheet of {what}", sheet, book.sheetnames)
    chosen = book[book.sheetnames[0] if sheet is None else sheet]
    rows = [row for row in chosen.iter_rows(values_only=True) if _has_value(row)]
    book.close()
    if len(rows) < 2:
        raise InputError(
            f"{what}, sheet {chosen.title!r}, has no rows below the names of columns."
        )
    header, *body = rows
    width = max(k for k, name in enumerate(header) if name is not None) + 1
    names = ["" if name is None else str(name).strip() for name in header[:width]]
    if "" in names or len(set(names)) < len(names):
        raise InputError(
            f"{what}, sheet {chosen.title!r}: the first row must name every column, "
            f"each name once, got {names}."
        )
    markers = frozenset(missing)
    columns = []
    for j, name in enumerate(names):
        cells = np.empty(len(body), dtype=object)
        cells[:] = [_cell(row[j] if j < len(row) else None, markers) for row in body]
        if name in text:
            cells[:] = [None if c is None else _spelling(c) for c in cells]
        columns.append(array_column(name, cells))
    return Frame(tuple(names), len(body), tuple(columns), None, True)


def _has_value(row: Sequence[Any]) -> bool:
    return any(cell is not None and cell != "" for cell in row)


def _cell(cell: Any, markers: frozenset[str]) -> Any:
    return None if isinstance(cell, str) and cell.strip() in markers else cell


def _spelling(cell: Any) -> str:
    """The text of a cell; Excel stores whole numbers as floats."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
