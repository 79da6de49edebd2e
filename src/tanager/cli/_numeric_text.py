"""Texts of a file that are numbers, could be numbers or should have been."""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np

from tanager.encoding.frame import Column
from tanager.io.csv_text import OddText, number_in
from tanager.model.schema import State
from tanager.utils.text import pluralise


def odd_text_note(odd: OddText) -> str:
    """Note that a text made a numeric column categorical, and what to do.

    Examples
    --------
    >>> print(odd_text_note(OddText("z", 500, 499, "NA", 72, 0, False)))
    Note: 'z' is categorical: 499 of 500 fields are numbers, but not 'NA' (line 72). \
Use --missing NA if it means missing.
    """
    where = f"{odd.text!r} (line {odd.line})"
    if odd.n_others:
        where += f" and {pluralise(odd.n_others, 'other text')}"
    kind = "finite numbers" if odd.infinite else "numbers"
    but = f"but not {where}"
    if odd.infinite:
        but += ", which is infinite" if not odd.n_others else "; the first is infinite"
    marker = shlex.quote(odd.text)
    if marker.startswith("-"):
        option = f"--missing={marker}"
    else:
        option = f"--missing {marker}"
    return (
        f"Note: {odd.column!r} is categorical: {odd.n_numbers:,} of {odd.n_fields:,} "
        f"fields are {kind}, {but}. Use {option} if it means missing."
    )


def whole_numbers(column: Column) -> Column:
    """Convert categories to integers if that is reversible.

    It is not if there is ``01``, ``+1`` or ``1.0``, which would become the same as
    ``1``.

    Examples
    --------
    >>> for texts in (("2", "-1"), ("2", "02")):
    ...     column = Column("x", codes=np.array([0, 1]), categories=texts)
    ...     print(whole_numbers(column).categories)
    (2, -1)
    ('2', '02')
    """
    numbers = []
    for text in column.categories:
        # 18 digits always fit into 64 bits.
        if not isinstance(text, str) or len(text) > 18:
            return column
        try:
            number = int(text)
        except ValueError:
            return column
        if str(number) != text:
            return column
        numbers.append(number)
    return replace(column, categories=tuple(numbers))


def text_among(column: Column) -> State:
    """A category that is no finite number; the first if all of them are."""
    for category in column.categories:
        if not np.isfinite(number_in(str(category))):
            return category
    return column.categories[0]
