"""Tests of independence of two variables given others, from weighted counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from tanager.data.coded_data import CodedData, columns_of
from tanager.data.information import x_log_x
from tanager.types import FloatArray, IntArray
from tanager.utils.jit import use_kernels

KindOfTest = Literal["mi", "g2"]

ROWS_PER_CELL = 5
"""Rows per cell of its table that a test given other variables must have."""

TEST_CELLS = 2_000_000
"""Cells that the table of one test may have, however many rows there are.

The table of two variables and no others may have more; then only cells that occur are
kept.
"""

DIGITS = 12
"""Decimal places that are compared: without the last ones equal values are equal."""


@dataclass(frozen=True)
class Outcome:
    """What a test of independence found.

    Parameters
    ----------
    independent : bool
        Whether the two variables count as independent.
    strength : float
        How strongly they depend on each other; comparable between tests.
    information : float
        Their (conditional) mutual information in nats.
    p_value : float or None, default=None
        Probability of at least as much by chance, where the test is by it.
    """

    independent: bool
    strength: float
    information: float
    p_value: float | None = None


class IndependenceTest(Protocol):
    """Answers whether two variables are independent given others."""

    def test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        """Test variables i and j given `given`; None where no test can be made."""
        ...


class DataTest:
    """Independence tests on coded rows, each made once.

    Parameters
    ----------
    data : CodedData
        Coded rows; the class is a variable like any other. Rows in which a tested
        variable is missing are left out of the test.
    kind : {"mi", "g2"}
        Whether information is held against a threshold, or its G2 statistic against
        the chi-squared distribution.
    threshold : float
        Nats, beyond what is expected by chance, below which "mi" finds independence.
    significance : float
        Probability above which "g2" finds independence.

    Notes
    -----
    With n the weight of the rows without a missing value, G2 is 2 n I(X; Y | Z). Its
    degrees of freedom are counted over the configurations z that occur, for each
    (states of X seen with z - 1) (states of Y seen with z - 1): states that do not
    occur cost nothing. Among independent variables G2 is about its degrees of freedom,
    so I is about degrees / (2 n) by chance alone; `strength` is what is left of I when
    this is taken away.

    Given other variables, a table with fewer than `ROWS_PER_CELL` rows per cell, or
    with more than `TEST_CELLS` cells, proves nothing and is not tested. Without such
    variables there is always a test.

    Examples
    --------
    >>> from tanager.model import Schema, Variable
    >>> from tanager.data import ArrayData
    >>> schema = Schema((Variable("x", (0, 1)), Variable("y", (0, 1))), target=1)
    >>> codes = np.asfortranarray([[0], [0], [1], [1]] * 10, dtype=np.uint8)
    >>> data = ArrayData(schema, codes, np.array([0, 1] * 20, dtype=np.uint8))
    >>> DataTest(data, "g2").test(0, 1, ())
    Outcome(independent=True, strength=-0.0125, information=0.0, p_value=1.0)
    """

    def __init__(
        self,
        data: CodedData,
        kind: KindOfTest = "mi",
        *,
        threshold: float = 0.01,
        significance: float = 0.01,
    ) -> None:
        self.kind = kind
        self.threshold = threshold
        self.significance = significance
        self.n_states = data.schema.n_states
        self.codes, self.weights = columns_of(data)
        n_rows = self.codes.shape[1]
        self.n_rows = float(self.weights.sum()) if len(self.weights) else float(n_rows)
        self._by_kernel = use_kernels(self.codes.size)
        self._table = np.empty(0)
        self._made: dict[tuple[int, int, tuple[int, ...]], Outcome | None] = {}

    def test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        """Test variables i and j given `given`; None where no test can be made."""
        key = (min(i, j), max(i, j), tuple(sorted(given)))
        if key not in self._made:
            self._made[key] = self._test(*key)
        return self._made[key]

    @property
    def n_tests(self) -> int:
        """Number of different tests that were made."""
        return sum(made is not None for made in self._made.values())

    def _test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        cells = prod(int(self.n_states[v]) for v in (i, j, *given))
        if given and (
            cells > TEST_CELLS or cells * ROWS_PER_CELL > max(self.n_rows, 1.0)
        ):
            return None
        information, degrees, total = self._measure(i, j, given, cells)
        information = round(max(information, 0.0), DIGITS)
        chance = degrees / (2 * total) if total > 0 else 0.0
        strength = round(information - chance, DIGITS)
        if self.kind == "mi":
            return Outcome(strength < self.threshold, strength, information)
        p_value = float(chdtrc(degrees, 2 * total * information)) if degrees else 1.0
        return Outcome(p_value > self.significance, strength, information, p_value)

    def _measure(
        self, i: int, j: int, given: tuple[int, ...], cells: int
    ) -> tuple[float, float, float]:
        """Information, degrees of freedom and weight of the rows of one test."""
        if cells > TEST_CELLS:
            return _measure_sparsely(self.codes, self.weights, self.n_states, i, j)
        if not self._by_kernel:
            return _measure_plainly(
                self.codes, self.weights, self.n_states, (*given, i, j)
            )
        from tanager.data import _information_kernels

        if len(self._table) <= cells:
            self._table = np.empty(cells + 1)
        found: tuple[float, float, float] = _information_kernels.information_given(
            self.codes, self.weights, self.n_states, i, j,
            np.array(given, dtype=np.int64), self._table,
        )  # fmt: skip
        return found


def _measure_plainly(
    codes: npt.NDArray[np.integer],
    weights: FloatArray,
    n_states: IntArray,
    members: tuple[int, ...],
) -> tuple[float, float, float]:
    """As the kernel `information_given`, in NumPy; the tested pair comes last."""
    seen = np.ones(codes.shape[1], dtype=np.bool_)
    joint = np.zeros(codes.shape[1], dtype=np.int64)
    for v in members:
        seen &= codes[v] < n_states[v]
        joint = joint * int(n_states[v]) + codes[v]
    states = [int(n_states[v]) for v in members]
    counted = np.bincount(
        joint[seen], weights[seen] if len(weights) else None, prod(states)
    )
    table = counted.astype(np.float64).reshape(-1, *states[-2:])
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    whole = rows.sum(axis=1)
    total = float(whole.sum())
    if total <= 0:
        return 0.0, 0.0, 0.0
    shared = (
        x_log_x(table).sum()
        - x_log_x(rows).sum()
        - x_log_x(columns).sum()
        + x_log_x(whole).sum()
    )
    free = [np.maximum((side > 0).sum(axis=1) - 1, 0) for side in (rows, columns)]
    return float(shared / total), float((free[0] * free[1]).sum()), total


def _measure_sparsely(
    codes: npt.NDArray[np.integer],
    weights: FloatArray,
    n_states: IntArray,
    i: int,
    j: int,
) -> tuple[float, float, float]:
    """As `_measure_plainly` of a pair, with memory for the cells that occur only."""
    seen = (codes[i] < n_states[i]) & (codes[j] < n_states[j])
    if len(weights):
        seen &= weights > 0
    given = weights[seen] if len(weights) else None
    joint = codes[i, seen].astype(np.int64) * int(n_states[j]) + codes[j, seen]
    counts = [
        np.bincount(np.unique(values, return_inverse=True)[1], given)
        for values in (joint, codes[i, seen], codes[j, seen])
    ]
    table, rows, columns = (counted.astype(np.float64) for counted in counts)
    total = float(rows.sum())
    if total <= 0:
        return 0.0, 0.0, 0.0
    shared = (
        x_log_x(table).sum()
        - x_log_x(rows).sum()
        - x_log_x(columns).sum()
        + total * np.log(total)
    )
    return float(shared / total), float((len(rows) - 1) * (len(columns) - 1)), total
