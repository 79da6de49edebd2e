"""Columns of texts that spell numbers or dates, read as such, with notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from math import isfinite

import numpy as np

from tanager.encoding.frame import Column, Frame
from tanager.errors import listed
from tanager.io.csv_text import LEADING_ZERO
from tanager.types import FloatArray
from tanager.utils.time_values import seconds_of

MARKERS = frozenset(("?", "#N/A", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"))
"""Texts that mean a missing value among numbers or dates."""

LOOSE_MARKERS = frozenset((*MARKERS, "-", "--", ".", "..", "None", "none", "unknown"))
"""The same among many different numbers or dates."""

MANY_VALUES = 10
"""Different numbers above which `LOOSE_MARKERS` are missing values."""

_GROUP = r"[. '\u00a0\u202f]"
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(rf"[+-]?(\d{{1,3}}({_GROUP}\d{{3}})+|\d*)(,\d+)?")
_SURELY_COMMA = re.compile(
    rf"[+-]?(\d{{1,3}}({_GROUP}\d{{3}})+,\d+|\d*,(\d\d?|\d{{4,}})|"
    r"\d{1,3}([ '\u00a0\u202f]\d{3})+|\d{1,3}(\.\d{3}){2,})"
)
_POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?")
_SURELY_POINT = re.compile(r"[+-]?\d{1,3}((,\d{3})+\.\d*|(,\d{3}){2,})")
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?"
)
_DOTTED = re.compile(r"(\d\d?)([./])(\d\d?)\2(\d{4})")
_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?")

CODES = "codes with leading zeros, which are categories"

Numbers = tuple[FloatArray, str, str | None]
"""Values, what they are in a note, and their unit."""


@dataclass(frozen=True)
class ReadNote:
    """A note about how a text file was understood."""

    text: str


def interpret_texts(
    frame: Frame,
    decimal: str | None,
    keep: Collection[str] = (),
    noticed: Callable[[ReadNote], object] | None = None,
) -> Frame:
    r"""Turn columns of texts into numbers or dates where all texts spell them.

    Parameters
    ----------
    frame : Frame
        Typed columns of a text file.
    decimal : {".", ","} or None
        The decimal sign, if it is known.
    keep : collection of str, default=()
        Columns that stay text.
    noticed : function or None, default=None
        Called with a note for every kind of change.

    Returns
    -------
    Frame
        Numbers with decimal commas and thousands separators, dates (year-month-day,
        day.month.year, and with slashes where the order is certain) and times of day
        are numeric; markers of missing values (`MARKERS`) among them are missing.

    Examples
    --------
    >>> from tanager.io.csv_text import parse_csv
    >>> frame = parse_csv("price;day\n1.200,5;2024-02-01\n?;2024-02-03\n", "x", ";")
    >>> found = interpret_texts(frame, ",", noticed=lambda note: print(note.text))
    'price' holds numbers with decimal commas.
    'day' holds dates.
    '?' is a missing value in 'price'.
    >>> found.column(0).values
    array([1200.5,    nan])
    """
    made = []
    kinds: dict[str, list[str]] = {}
    markers: dict[str, list[str]] = {}
    for j in range(frame.n_columns):
        column = frame.column(j)
        if not column.is_numeric and column.name not in keep:
            column = _interpret(column, decimal, kinds, markers)
            if not column.is_numeric and _has_codes(column):
                kinds.setdefault(CODES, []).append(column.name)
        made.append(column)
    if noticed is not None:
        for kind, names in kinds.items():
            verb = "hold" if names[1:] else "holds"
            noticed(ReadNote(f"{listed(names, 5)} {verb} {kind}."))
        for marker, names in markers.items():
            noticed(ReadNote(f"{marker!r} is a missing value in {listed(names, 5)}."))
    return replace(frame, columns=tuple(made), matrix=None)


def _interpret(
    column: Column,
    decimal: str | None,
    kinds: dict[str, list[str]],
    markers: dict[str, list[str]],
) -> Column:
    """One column; adds its name to its kind and to the markers in it."""
    texts = [str(text).strip() for text in column.categories]
    for known in (MARKERS, LOOSE_MARKERS):
        spelled = [text for text in texts if text not in known]
        if known is LOOSE_MARKERS and len(spelled) <= MANY_VALUES:
            break
        found = _numbers(spelled, decimal) or _times(spelled)
        if found is None:
            continue
        values, kind, unit = found
        of_text = dict(zip(spelled, values.tolist(), strict=True))
        numbers = np.array([*(of_text.get(text, np.nan) for text in texts), np.nan])
        made = numbers[column.data]
        if unit is None and np.isfinite(made).all() and (made == np.trunc(made)).all():
            made = made.astype(np.int64)
        if kind:
            kinds.setdefault(kind, []).append(column.name)
        for text in texts:
            if text in known:
                markers.setdefault(text, []).append(column.name)
        return Column(column.name, values=made, unit=unit)
    return column


def _has_codes(column: Column) -> bool:
    """Whether all categories are digits, some with a leading zero."""
    texts = [str(text).strip() for text in column.categories]
    known = [text for text in texts if text not in MARKERS]
    return all(map(str.isdigit, known)) and any(map(LEADING_ZERO.fullmatch, known))


def _numbers(texts: Sequence[str], decimal: str | None) -> Numbers | None:
    """Numbers that all texts spell; None if one does not, or it is not clear how."""
    if not texts or any(map(LEADING_ZERO.fullmatch, texts)):
        return None
    kind = ""
    plain = texts
    if decimal == "," or not all(map(_PLAIN.fullmatch, texts)):
        with_commas = all(map(_COMMA.fullmatch, texts)) and all(
            any(map(str.isdigit, text)) for text in texts
        )
        if with_commas and (decimal == "," or any(map(_SURELY_COMMA.fullmatch, texts))):
            plain = [re.sub(_GROUP, "", text).replace(",", ".") for text in texts]
            kind = "numbers with decimal commas"
            if not any("," in text for text in texts):
                kind = "numbers with thousands separators"
        elif all(map(_POINT.fullmatch, texts)) and (
            decimal == "." or any(map(_SURELY_POINT.fullmatch, texts))
        ):
            plain = [text.replace(",", "") for text in texts]
            kind = "numbers with thousands separators"
        else:
            return None
    values = [float(text) for text in plain]
    if not all(map(isfinite, values)):
        return None
    return np.array(values), kind, None


def _times(texts: Sequence[str]) -> Numbers | None:
    """Dates or times of day that all texts spell."""
    if not texts:
        return None
    try:
        if all(map(_ISO.fullmatch, texts)):
            return _seconds(list(map(datetime.fromisoformat, texts)), "dates")
        if all(map(_TIME.fullmatch, texts)):
            parts = [[*map(int, text.split(":")), 0] for text in texts]
            values = np.array([seconds_of(time(h, m, s)) for h, m, s, *_ in parts])
            return values, "times of day", "time"
        return _numbered_dates(texts)
    except ValueError:  # such as the 30th of February
        return None


def _numbered_dates(texts: Sequence[str]) -> Numbers | None:
    """Dates such as 24.12.2024, 24/12/2024 or 12/24/2024, if the order is certain."""
    found = [_DOTTED.fullmatch(text) for text in texts]
    matches = [match for match in found if match is not None]
    if len(matches) < len(found):
        return None
    parts = [(int(m[1]), int(m[3]), int(m[4])) for m in matches]
    day_first = all(m[2] == "." for m in matches) or any(a > 12 for a, _, _ in parts)
    if day_first:
        return _seconds([date(y, m, d) for d, m, y in parts], "dates (day first)")
    if any(b > 12 for _, b, _ in parts):
        return _seconds([date(y, m, d) for m, d, y in parts], "dates (month first)")
    return None


def _seconds(moments: Sequence[date], kind: str) -> Numbers:
    return np.array([seconds_of(moment) for moment in moments]), kind, "datetime"
