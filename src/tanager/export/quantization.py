"""`QuantizedTable`: numbers as integers of 8 or 16 bits with a common scale."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.export.score_terms import ScoreTerms
from tanager.types import AnyArray, FloatArray

BITS = (8, 16, 32, 64)
"""Bits that a number may have: integers for 8 and 16, floating point for others."""


@dataclass(frozen=True, eq=False)
class QuantizedTable:
    """The numbers of a table with few bits.

    Parameters
    ----------
    numbers : ndarray of int8, int16, float32 or float64
        The numbers as they are stored.
    scale : float
        What a stored number is multiplied by.

    Examples
    --------
    >>> table = quantize(np.array([0.5, -1.27]), 8)
    >>> table.numbers, round(table.scale, 4)
    (array([  50, -127], dtype=int8), 0.01)
    """

    numbers: npt.NDArray[np.generic]
    scale: float

    @property
    def values(self) -> FloatArray:
        """The numbers that the table stands for."""
        values: FloatArray = self.numbers.astype(np.float64) * self.scale
        return values


def check_bits(bits: int) -> None:
    """Raise for a number of bits that no table can have."""
    if bits not in BITS:
        raise InputError(f"bits must be one of {list(BITS)}, got {bits!r}.")


def quantize(values: AnyArray, bits: int) -> QuantizedTable:
    """Round the numbers of a table; the largest sets the scale.

    Parameters
    ----------
    values : ndarray of float64
        The numbers.
    bits : {8, 16, 32, 64}
        Bits of a stored number.

    Returns
    -------
    QuantizedTable
        Errors are at most half of its scale for 8 and 16 bits.
    """
    check_bits(bits)
    if bits >= 32:
        return QuantizedTable(values.astype(f"f{bits // 8}"), 1.0)
    largest = float(np.abs(values).max(initial=0.0))
    limit = 2 ** (bits - 1) - 1
    scale = largest / limit if largest > 0.0 else 1.0
    return QuantizedTable(np.rint(values / scale).astype(f"i{bits // 8}"), scale)


def quantize_terms(terms: ScoreTerms, bits: int) -> ScoreTerms:
    """Round the weights of a model, so that the loss of accuracy can be measured."""
    rounded = tuple(
        replace(
            term,
            weights=quantize(term.weights, bits).values,
            variances=None
            if term.variances is None
            else quantize(term.variances, bits).values,
        )
        for term in terms.terms
    )
    return replace(terms, terms=rounded)
