"""CPTs of a page by what takes the fewest bits: their values, levels or effects.

- *values* are the logarithms as they are.
- *levels*: CPTs from counts have few different entries, if a row is divided by its
  smallest one: those of the counts 0, 1, 2 and so on. A page has the list of them and
  the place in it of every entry.
- *effects*: discriminatively trained CPTs of a feature and its parents are sums of
  functions of single features and of groups of states. Mixed differences of such a sum
  are zero nearly everywhere, though no two entries are equal.

What is the same in a row of a CPT is left out of levels and effects: the page
normalises the rows. Its script is `page/cpt_packing.js`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tanager.report.payload import STEP, to_units
from tanager.types import FloatArray, IntArray

EFFECT_STEP = 2.0**-40
"""Precision of mixed differences: finer than `STEP`, because errors add up in sums."""

ROUNDING = 2
"""Mixed differences along one axis up to so many units may be rounding errors alone,
twice as many along two axes, and so on."""

MAX_ERROR = 2.0**-36
"""Largest error of a sum after mixed differences are set to zero."""

MAX_UNITS = 2**51
"""Bound on mixed differences in units, so that their sums are exact in a page."""

MAX_LEVELS = 4096
"""Largest number of different entries of one table as levels."""

Coding = Literal["values", "levels", "effects"]


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table as it is stored.

    Parameters
    ----------
    coding : str
        "values", "levels" or "effects".
    logs : ndarray of float64, shape (n_classes, n_states of every feature...)
        Logarithms, of levels relative to the smallest in their row. Empty for effects.
    effects : ndarray of int64, same shape
        Mixed differences in units of `EFFECT_STEP`, of the first class, then of the
        contrasts of the other classes with it. Empty for other codings.
    normalised : bool, default=False
        Whether rows are to be normalised.
    """

    coding: Coding
    logs: FloatArray
    effects: IntArray
    normalised: bool = False


def code_table(table: FloatArray, owner_axis: int | None) -> CodedTable:
    """Code a table in the way that needs the fewest bits.

    Parameters
    ----------
    table : ndarray of float64, shape (n_classes, n_states of every feature...)
        Logarithms; the first axis has one entry where the class has no effect.
    owner_axis : int or None
        Axis of the variable over which the page may normalise, as these are its
        probabilities given all others; None where it must not.

    Examples
    --------
    >>> counts = np.array([[[1, 1, 5], [1, 9, 1]], [[1, 1, 1], [2, 1, 1]]])
    >>> table = np.log(counts / counts.sum(axis=-1, keepdims=True))
    >>> found = code_table(np.tile(table, (1, 20, 1)), owner_axis=2)
    >>> found.coding, found.normalised, np.unique(np.exp(found.logs)).round()
    ('levels', True, array([1., 2., 5., 9.]))
    """
    no_logs, no_effects = np.empty(0), np.empty(0, dtype=np.int64)
    values = CodedTable("values", table, no_effects)
    found = [(_n_bits(np.diff(to_units(table.ravel(), STEP), prepend=0)), values)]
    if owner_axis is not None:
        levels = _subtract_lowest(table, owner_axis)
        n_bits = _entropy(to_units(levels.ravel(), STEP))
        found.append(
            (n_bits, CodedTable("levels", levels, no_effects, normalised=True))
        )
    effects = mixed_effects(table)
    if effects is not None:
        if owner_axis is not None:
            np.moveaxis(effects, owner_axis, 0)[0] = 0
        is_normalised = owner_axis is not None
        coded = CodedTable("effects", no_logs, effects, normalised=is_normalised)
        found.append((_n_bits(effects), coded))
    return min(found, key=lambda pair: pair[0])[1]


def mixed_effects(table: FloatArray) -> IntArray | None:
    """Mixed differences along the features: of one class, and of contrasts with it.

    Sums along all axes but the first are ``table[:1]`` and ``table[1:] - table[:1]``.
    None where an entry is infinite, or too large.

    Examples
    --------
    >>> effects = np.log([[0.7, 0.2, 0.1]]) + np.log([[0.5], [0.5]])
    >>> (mixed_effects(effects[None]) != 0).astype(int)
    array([[[1, 1, 1],
            [0, 0, 0]]])
    """
    if not np.isfinite(table).all():
        return None
    contrasts = np.concatenate([table[:1], table[1:] - table[:1]])
    wanted = np.rint(contrasts / EFFECT_STEP).astype(np.int64)
    axes = range(1, wanted.ndim)
    mixed = wanted
    for axis in axes:
        mixed = np.diff(mixed, axis=axis, prepend=0)
    if len(axes) > 1:
        noise = ROUNDING * 2 ** (len(axes) - 1)
        simple = np.where(np.abs(mixed) <= noise, 0, mixed)
        sums = simple
        for axis in axes:
            sums = np.cumsum(sums, axis=axis)
        if np.abs(sums - wanted).max(initial=0) * EFFECT_STEP <= MAX_ERROR:
            mixed = simple
    return mixed if np.abs(mixed).max(initial=0) < MAX_UNITS else None


def merge_levels(tables: list[CodedTable]) -> tuple[FloatArray, IntArray]:
    """All levels of tables, and the place of every entry among them.

    Levels that differ by rounding errors alone are one.
    """
    if not tables:
        return np.empty(0), np.empty(0, dtype=np.int64)
    units = np.concatenate([to_units(t.logs.ravel(), STEP) for t in tables])
    distinct, places = np.unique(units, return_inverse=True)
    starts = np.diff(distinct, prepend=distinct[0] - 2) > 1
    levels = np.concatenate([t.logs.ravel() for t in tables])
    merged = (np.cumsum(starts) - 1)[places]
    first = np.unique(merged, return_index=True)[1]
    return levels[first], merged


def _subtract_lowest(table: FloatArray, axis: int) -> FloatArray:
    """Logarithms relative to the smallest finite one of their row."""
    finite = np.where(np.isfinite(table), table, np.inf)
    relative: FloatArray = table - finite.min(axis=axis, keepdims=True)
    return relative


def _n_bits(values: IntArray) -> float:
    """About how many bits whole numbers need."""
    return float(np.log2(1.0 + np.abs(values)).sum())


def _entropy(values: IntArray) -> float:
    """About how many bits the places of values need, and a list of the values."""
    _, counts = np.unique(values, return_counts=True)
    if len(counts) > MAX_LEVELS:
        return np.inf
    in_list = 40.0 * len(counts)
    return in_list + float((counts * np.log2(counts.sum() / counts)).sum())
