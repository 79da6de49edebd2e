"""Decimal texts of probabilities that restore every bit of a CPT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tanager.types import FloatArray

_STEPS = 2  # neighbours on each side that are tried: ``log`` is off by less than that
_SMALLEST = np.finfo(np.float64).smallest_subnormal
_FEWEST_DIGITS, _MOST_DIGITS = 12, 16


def logarithms(probabilities: FloatArray) -> FloatArray:
    """Logarithms whose ``exp`` is, where possible, exactly the probability.

    ``exp(log(p))`` may differ from p in its last bits. If p is the ``exp`` of some
    number, that number is at most two steps from ``log(p)``, and is found here. Any
    other p, such as 0.1, has no exact logarithm and gets the nearest one.
    """
    flat = np.ravel(probabilities)
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(flat)
    left = np.flatnonzero(np.exp(logs) != flat)
    for towards in (-np.inf, np.inf):
        tried = logs[left]
        for _ in range(_STEPS):
            tried = np.nextafter(tried, towards)
            found = np.exp(tried) == flat[left]
            logs[left[found]] = tried[found]
    return logs.reshape(probabilities.shape)


def shortest(probabilities: FloatArray) -> FloatArray:
    """The decimals with fewest digits that are read as the same probabilities.

    `probabilities`, shape (n,), are the ``exp`` of logarithms. Decimals of up to 15
    digits that a file had are restored: 0.1, not 0.10000000000000002.
    """
    short = probabilities.copy()
    for digits in range(_MOST_DIGITS, _FEWEST_DIGITS - 1, -1):
        texts = f"%.{digits}g " * len(probabilities) % tuple(probabilities.tolist())
        tried = np.array(texts.split(), dtype=np.float64)
        same = np.exp(logarithms(tried)) == probabilities
        short[same] = tried[same]
    return short


def decimals(tables: Sequence[FloatArray]) -> Iterator[list[list[str]]]:
    """Rows of every table as texts that are read as the same to the last bit.

    `tables` hold logarithms, shape (..., n_states). A positive probability that
    underflows becomes the smallest positive number, so that it stays positive.
    """
    logs = np.concatenate([table.ravel() for table in tables])
    probabilities = np.exp(logs)
    probabilities[(probabilities == 0) & (logs > -np.inf)] = _SMALLEST
    flat = shortest(probabilities)
    ends = np.cumsum([table.size for table in tables])[:-1]
    for table, numbers in zip(tables, np.split(flat, ends), strict=True):
        rows = numbers.reshape(-1, table.shape[-1]).tolist()
        yield [list(map(repr, row)) for row in rows]
