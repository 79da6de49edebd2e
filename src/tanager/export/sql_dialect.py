"""`Dialect`: how a database writes names, strings, numbers and functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tanager.errors import InputError, unknown_name
from tanager.model.schema import State

MAX_ARGUMENTS = 100
"""Arguments of a function: SQLite allows 127 by default."""


@dataclass(frozen=True)
class Dialect:
    """What differs between databases.

    Parameters
    ----------
    name : str
        Name of the database.
    quote : str
        Character around names.
    doubles_quotes : bool
        Whether a quote inside of a name or a string is doubled; otherwise it is
        escaped by a backslash.
    real : str
        Name of the type of 64-bit numbers.
    text : str
        Name of the type of strings.
    greatest : str
        Name of the function for the largest of several numbers.
    materialized : str
        Word after AS that keeps a common table expression from being merged.
    not_a_number : str
        Condition for NaN, of ``{}``; empty where there is none.
    has_booleans : bool
        Whether TRUE and FALSE are values of their own type.
    number_suffix : str, default=""
        What makes a number with an exponent one of 64 bits.
    case_sensitive : bool, default=False
        Whether names of columns that differ in case only are different.
    max_columns : int or None, default=None
        Columns that a table or a SELECT may have; None without a limit.
    max_length : int or None, default=None
        Characters that a query may have; None without a limit.
    plain_names : bool, default=False
        Whether columns of results have letters, digits and underscores only.
    max_name : int or None, default=None
        Bytes of a name that are read, in UTF-8; None without a limit.

    Examples
    --------
    >>> print(DIALECTS["duckdb"].literal("it's"))
    'it''s'
    >>> print(DIALECTS["bigquery"].identifier("two words"))
    `two words`
    """

    name: str
    quote: str
    doubles_quotes: bool
    real: str
    text: str
    greatest: str
    materialized: str
    not_a_number: str
    has_booleans: bool
    number_suffix: str = ""
    case_sensitive: bool = False
    max_columns: int | None = None
    max_length: int | None = None
    plain_names: bool = False
    max_name: int | None = None

    def identifier(self, name: str) -> str:
        """Quote the name of a column or a table."""
        return self._quoted(name, self.quote)

    def literal(self, state: State) -> str:
        """Write a string, a number or a bool."""
        if isinstance(state, str):
            return self._quoted(state, "'")
        if isinstance(state, bool):
            if self.has_booleans:
                return "TRUE" if state else "FALSE"
            return str(int(state))
        return str(state) if isinstance(state, int) else self.number(state)

    def number(self, value: float) -> str:
        """Write a 64-bit number so that every bit is read back."""
        text = repr(float(value))
        # Without an exponent databases read a decimal number with few digits.
        return (text if "e" in text else f"{text}e0") + self.number_suffix

    def largest(self, expressions: Sequence[str]) -> str:
        """The largest of several expressions."""
        if len(expressions) == 1:
            return expressions[0]
        if len(expressions) > MAX_ARGUMENTS:
            starts = range(0, len(expressions), MAX_ARGUMENTS)
            parts = [expressions[i : i + MAX_ARGUMENTS] for i in starts]
            return self.largest([self.largest(part) for part in parts])
        return f"{self.greatest}({', '.join(expressions)})"

    def probability_name(self, state: State) -> str:
        """Name of the column with the probability of a class."""
        if not self.plain_names:
            return f"P({state})"
        return "P_" + re.sub(r"[^A-Za-z0-9_]", "_", str(state))

    def same_name(self, name: str) -> str:
        """What is equal for names that are the same column for the database."""
        name = self.cut_name(name)
        return name if self.case_sensitive else name.casefold()

    def cut_name(self, name: str, ending: str = "") -> str:
        """The part of a name that is read, and an ending for which there is room."""
        if self.max_name is None:
            return name + ending
        room = self.max_name - len(ending.encode())
        return name.encode()[:room].decode(errors="ignore") + ending

    def is_missing(self, expression: str, *, numeric: bool) -> str:
        """Condition for a missing value."""
        found = f"{expression} IS NULL"
        if numeric and self.not_a_number:
            found += f" OR {self.not_a_number.format(expression)}"
        return found

    def _quoted(self, text: str, quote: str) -> str:
        if "\0" in text:
            raise InputError(
                f"{text!r} has a NUL character, which {self.name} cannot hold. Rename "
                "the column or category before fitting."
            )
        if self.doubles_quotes:
            return f"{quote}{text.replace(quote, quote * 2)}{quote}"
        escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
        return f"{quote}{escaped}{quote}"


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb", '"', True, "DOUBLE", "VARCHAR", "GREATEST", "MATERIALIZED",
            "isnan(CAST({} AS DOUBLE))", True,
        ),
        Dialect(
            "postgres", '"', True, "DOUBLE PRECISION", "TEXT", "GREATEST",
            "MATERIALIZED", "CAST({} AS DOUBLE PRECISION) = 'NaN'", True, "::float8",
            case_sensitive=True, max_columns=1600, max_name=63,
        ),
        Dialect(
            "sqlite", '"', True, "REAL", "TEXT", "MAX", "MATERIALIZED", "", False,
            max_columns=2000,
        ),
        Dialect(
            "bigquery", "`", False, "FLOAT64", "STRING", "GREATEST", "",
            "IS_NAN(CAST({} AS FLOAT64))", True, max_columns=10_000,
            max_length=1_000_000, plain_names=True,
        ),
    )
}  # fmt: skip
"""The databases for which queries can be written."""


def find_dialect(name: str) -> Dialect:
    """Find a dialect by name, with suggestions if there is none."""
    if name not in DIALECTS:
        raise unknown_name("dialect", name, DIALECTS)
    return DIALECTS[name]
