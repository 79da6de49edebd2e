"""Parts of dates, such as the weekday, as features of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tanager.encoding.frame import Column, Frame
from tanager.errors import InputError, unknown_name
from tanager.types import AnyArray
from tanager.utils.time_values import DAY, HOUR
from tanager.utils.validation import check_known, is_iterable

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def _months_since_1970(seconds: AnyArray) -> AnyArray:
    moments = np.floor(seconds).astype(np.int64).astype("datetime64[s]")
    months: AnyArray = moments.astype("datetime64[M]").astype(np.int64)
    return months


def _day_of_month(seconds: AnyArray) -> AnyArray:
    days = np.floor(seconds / DAY).astype(np.int64).astype("datetime64[D]")
    since: AnyArray = days - days.astype("datetime64[M]")
    return since.astype(np.int64) + 1


DATE_PARTS: Mapping[str, Callable[[AnyArray], AnyArray]] = {
    "year": lambda seconds: 1970 + _months_since_1970(seconds) // 12,
    "month": lambda seconds: _months_since_1970(seconds) % 12,
    "day": _day_of_month,
    "weekday": lambda seconds: (np.floor(seconds / DAY).astype(np.int64) + 3) % 7,
    "hour": lambda seconds: np.floor(seconds % DAY / HOUR).astype(np.int64),
}
"""Parts, from seconds since 1970; those with names in `PART_STATES` as codes."""

PART_STATES = {"weekday": WEEKDAYS, "month": MONTHS}
"""Names of the values of a part, in order; the others are numbers."""

_PART_NAME = re.compile(rf"(.+) \(({'|'.join(DATE_PARTS)})\)", re.DOTALL)


def date_part(column: Column, part: str) -> Column:
    """A part of dates as a column: numbers, or ordered categories.

    Examples
    --------
    >>> from tanager.encoding import read_frame
    >>> days = np.array(["2024-02-29", "NaT"], dtype="datetime64[D]")
    >>> when = read_frame({"when": days}).column(0)
    >>> found = date_part(when, "weekday")
    >>> found.name, found.categories[3], found.codes
    ('when (weekday)', 'Thu', array([ 3, -1]))
    >>> date_part(when, "day").values
    array([29., nan])
    """
    assert column.values is not None  # seconds
    known = column.is_observed()
    found = DATE_PARTS[part](column.values[known])
    name = f"{column.name} ({part})"
    states = PART_STATES.get(part)
    if states is None:
        values = np.full(column.n_rows, np.nan)
        values[known] = found
        return Column(name, values=values)
    codes = np.full(column.n_rows, -1, dtype=np.int64)
    codes[known] = found
    return Column(name, codes=codes, categories=states, ordered=True, declared=True)


def add_date_parts(frame: Frame, chosen: Any) -> Frame:
    """Append the chosen parts of dates to the columns of a frame.

    Parameters
    ----------
    frame : Frame
        The data.
    chosen : None, sequence of str, or mapping from str to sequence of str
        Parts (`DATE_PARTS`) of all columns of dates or, by name, of some. Times of day
        have the part "hour" only.

    Returns
    -------
    Frame
        The columns, and after them one for every part: ``when (weekday)``.
    """
    if chosen is None:
        return frame
    more = [date_part(column, part) for column, part in _choose_parts(frame, chosen)]
    taken = [column.name for column in more if column.name in frame.names]
    if taken:
        raise InputError(
            f"date_parts makes the column {taken[0]!r}, but X has one of this name; "
            "rename it, or leave out the part."
        )
    return _append(frame, more)


def restore_date_parts(frame: Frame, names: Iterable[str]) -> Frame:
    """Append the parts of dates that a model expects and a frame lacks.

    Parameters
    ----------
    frame : Frame
        New samples; returned as it is if it has no names.
    names : iterable of str
        The features of the model.

    Returns
    -------
    Frame
        With a column for every absent name such as ``when (weekday)`` if there is a
        column ``when`` of dates.
    """
    if not frame.has_names:
        return frame
    position = {name: j for j, name in enumerate(frame.names)}
    more = []
    for name in names:
        found = None if name in position else _PART_NAME.fullmatch(name)
        if found is None or found[1] not in position:
            continue
        column = frame.column(position[found[1]])
        if found[2] in parts_of(column):
            more.append(date_part(column, found[2]))
    return _append(frame, more)


def parts_of(column: Column) -> tuple[str, ...]:
    """The parts that a column has.

    Examples
    --------
    >>> parts_of(Column("t", values=np.zeros(1), unit="time"))
    ('hour',)
    """
    if column.unit == "datetime":
        return tuple(DATE_PARTS)
    return ("hour",) if column.unit == "time" else ()


def _choose_parts(frame: Frame, chosen: Any) -> list[tuple[Column, str]]:
    """Columns and parts in the order of the columns; everything is checked."""
    if not frame.has_names:
        raise InputError(
            "date_parts needs columns with names, such as those of a data frame: "
            "the names of the new features are made of them."
        )
    columns = [frame.column(j) for j in range(frame.n_columns)]
    if not isinstance(chosen, Mapping):
        parts = _check_parts(chosen)
        dated = [column for column in columns if parts_of(column)]
        if not dated:
            raise InputError(
                f"date_parts={list(parts)} needs a column of dates, and X has none: "
                f"{_kinds_text(columns)}. Convert texts with pandas.to_datetime."
            )
        return [(c, part) for c in dated for part in parts if part in parts_of(c)]
    for name in chosen:
        if name not in frame.names:
            raise unknown_name("column in date_parts", name, frame.names)
    found = []
    for column in columns:
        for part in _check_parts(chosen.get(column.name, ())):
            if part not in parts_of(column):
                raise InputError(
                    f"Column {column.name!r} has no part {part!r}: it holds "
                    f"{_kind_text(column)}. Convert texts with pandas.to_datetime."
                )
            found.append((column, part))
    return found


def _check_parts(parts: Any) -> Sequence[str]:
    known = ", ".join(map(repr, DATE_PARTS))
    if isinstance(parts, (str, bytes)) or not is_iterable(parts):
        raise InputError(
            "date_parts must be None, a list of parts, or a mapping from names of "
            f"columns to such lists, got {parts!r}; the parts are {known}. For one "
            f"part write ['weekday']."
        )
    given = list(parts)
    for part in given:
        check_known("part of dates", part, DATE_PARTS)
    found = list(dict.fromkeys(given))
    return found


def _kind_text(column: Column) -> str:
    if column.unit is not None:
        return {"datetime": "dates", "time": "times of day"}.get(
            column.unit, "durations"
        )
    return "numbers" if column.is_numeric else "categories"


def _kinds_text(columns: Sequence[Column]) -> str:
    shown = [f"{column.name!r} holds {_kind_text(column)}" for column in columns[:4]]
    return ", ".join(shown) + (", ..." if columns[4:] else "")


def _append(frame: Frame, more: Sequence[Column]) -> Frame:
    if not more:
        return frame
    columns = tuple(frame.column(j) for j in range(frame.n_columns))
    names = (*frame.names, *(column.name for column in more))
    return replace(frame, names=names, columns=(*columns, *more), matrix=None)
