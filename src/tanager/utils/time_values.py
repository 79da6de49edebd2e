"""Dates, times of day and durations as seconds, and seconds as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from tanager.types import AnyArray, FloatArray

UNITS = ("datetime", "time", "timedelta")
"""What seconds may count: since 1970 in UTC, since midnight, or a duration."""

DAY, HOUR, MINUTE = 86_400, 3_600, 60

_EPOCH = datetime(1970, 1, 1)
_MICRO = 1_000_000


def time_unit(kind: type) -> str | None:
    """The unit of the values of a type; None if they are no times.

    Examples
    --------
    >>> time_unit(date), time_unit(timedelta), time_unit(int)
    ('datetime', 'timedelta', None)
    """
    for known, unit in (
        ((date, np.datetime64), "datetime"),  # a datetime is a date, too
        ((time,), "time"),
        ((timedelta, np.timedelta64), "timedelta"),
    ):
        if issubclass(kind, known):
            return unit
    return None


def seconds_of(value: Any) -> float:
    """A date, time or duration in seconds; a time zone is taken into account.

    Examples
    --------
    >>> seconds_of(date(1970, 1, 2)), seconds_of(time(1, 0)), seconds_of(timedelta(2))
    (86400.0, 3600.0, 172800.0)
    """
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(array_seconds(np.array([value]))[0])
    if isinstance(value, timedelta):
        return float(value.total_seconds())
    if isinstance(value, time):
        whole = value.hour * HOUR + value.minute * MINUTE + value.second
        return float(whole + value.microsecond / _MICRO)
    if not isinstance(value, datetime):
        return float((value - _EPOCH.date()).days * DAY)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float((value - _EPOCH).total_seconds())


def array_seconds(values: AnyArray) -> FloatArray:
    """Dates (``datetime64``) or durations (``timedelta64``) as seconds, NaN for NaT.

    Examples
    --------
    >>> array_seconds(np.array(["1970-01-01T00:01", "NaT"], dtype="datetime64[ns]"))
    array([60., nan])
    """
    kind = values.dtype.kind
    absent = np.isnat(values)
    seconds: FloatArray = values.astype(f"{kind}8[us]").astype(np.int64) / _MICRO
    seconds[absent] = np.nan
    return seconds


def time_object(seconds: float, unit: str) -> datetime | time | timedelta:
    """Seconds of a unit as an object of Python's own type.

    Examples
    --------
    >>> time_object(86400.5, "datetime")
    datetime.datetime(1970, 1, 2, 0, 0, 0, 500000)
    """
    duration = timedelta(microseconds=round(seconds * _MICRO))
    if unit == "timedelta":
        return duration
    moment = _EPOCH + duration
    return moment.time() if unit == "time" else moment


def time_texts(seconds: Sequence[float], unit: str) -> list[str]:
    """Seconds of a unit as texts, all with the digits that separate them.

    Examples
    --------
    >>> time_texts([0.0, 86400.0], "datetime"), time_texts([45000.0], "time")
    (['1970-01-01', '1970-01-02'], ['12:30'])
    >>> time_texts([0.0, 43200.0], "datetime"), time_texts([5400.0], "timedelta")
    (['1970-01-01 00:00', '1970-01-01 12:00'], ['90 min'])
    """
    micros = [round(value * _MICRO) for value in seconds]
    if unit == "timedelta":
        for size, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
            if all(value % (size * _MICRO) == 0 for value in micros):
                return [f"{value // (size * _MICRO)} {name}" for value in micros]
        return [f"{value / _MICRO:.10g} s" for value in micros]
    digits = "us"
    for size, name in ((1, "s"), (MINUTE, "m"), (DAY, "D")):
        if all(value % (size * _MICRO) == 0 for value in micros):
            digits = name
    if unit == "time" and digits == "D":
        digits = "m"
    moments = np.array(micros, dtype=np.int64).astype("datetime64[us]")
    texts = np.datetime_as_string(moments, unit=digits).tolist()  # type: ignore[call-overload]
    return [
        text.partition("T")[2] if unit == "time" else text.replace("T", " ")
        for text in texts
    ]


def round_times(cuts: FloatArray, values: AnyArray) -> FloatArray:
    """Move cut points to full days, hours or minutes where no value is passed.

    Parameters
    ----------
    cuts : ndarray of shape (n_cuts,), float64
        Increasing cut points in seconds.
    values : ndarray of shape (n_rows,)
        The values that they divide, in seconds, without NaN; not empty.

    Returns
    -------
    ndarray of shape (n_cuts,), float64
        Each cut is the last moment of the coarsest unit that leaves the values on
        either side where they are; as it was if there is none.

    Examples
    --------
    >>> round_times(np.array([2.5 * 86400]), np.array([86400.0, 4 * 86400.0])) / 86400
    array([3.])
    """
    distinct = np.unique(values)
    above = np.searchsorted(distinct, cuts, side="right")
    low = distinct[np.maximum(above - 1, 0)]
    high = distinct[np.minimum(above, len(distinct) - 1)]
    found = cuts.copy()
    open_ = (low <= cuts) & (cuts < high)
    for size in (DAY, HOUR, MINUTE, 1):
        last = (np.ceil(high / size) - 1) * size
        fits = open_ & (last >= low) & (last < high)
        found[fits] = last[fits]
        open_ &= ~fits
    return found
