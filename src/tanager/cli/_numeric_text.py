"""Texts of a file that are numbers, could be numbers or should have been."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import numpy as np

from tanager.encoding.frame import Column
from tanager.io.csv_text import OddText, number_in
from tanager.model.schema import State
from tanager.utils.text import pluralise

_PLAIN = re.compile("0|-?[1-9][0-9]*")  # a whole number as Python writes it


def odd_text_note(odd: OddText) -> str:
    """Note that a text made a numeric column categorical, and what to do."""
    where = f"{odd.text!r} (line {odd.line})"
    if odd.n_others:
        where += f" and {pluralise(odd.n_others, 'other text')}"
    kind = "finite numbers" if odd.infinite else "numbers"
    but = f"but not {where}"
    if odd.infinite:
        but += ", which is infinite" if not odd.n_others else "; the first is infinite"
    marker = shlex.quote(odd.text)
    option = f"--missing{'=' if marker.startswith('-') else ' '}{marker}"
    return (
        f"Note: {odd.column!r} is categorical: {odd.n_numbers:,} of {odd.n_fields:,} "
        f"fields are {kind}, {but}. Use {option} if it means missing."
    )


def whole_numbers(column: Column) -> Column:
    """Convert categories to integers unless ``01``, ``+1`` or ``1.0`` is among them.

    These would become the same as ``1``.
    """
    texts = column.categories
    # 18 characters always fit into 64 bits.
    if all(isinstance(t, str) and _PLAIN.fullmatch(t) and len(t) <= 18 for t in texts):
        return replace(column, categories=tuple(int(text) for text in texts))
    return column


def text_among(column: Column) -> State:
    """A category that is no finite number; the first if all of them are."""
    texts = column.categories
    return next((t for t in texts if not np.isfinite(number_in(str(t)))), texts[0])
