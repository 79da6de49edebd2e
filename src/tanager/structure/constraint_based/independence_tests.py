"""Conditional independence tests on weighted counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, Protocol

import numpy as np
from scipy.special import chdtrc

from tanager.data.coded_data import CodedData, columns_of
from tanager.data.information import x_log_x
from tanager.data.partitioned_data import sum_of_weights
from tanager.errors import CapabilityError
from tanager.types import FloatArray
from tanager.utils import jit
from tanager.utils.progress import check_stop

KindOfTest = Literal["mi", "g2"]

ROWS_PER_CELL = 5
"""Samples per cell of the contingency table that a conditional test needs."""

TEST_CELLS = 2_000_000
"""Maximum number of cells of a contingency table. An unconditional test may have more;
then only the cells that occur are stored."""

DIGITS = 12
"""Decimal places that are compared, so that rounding errors make no difference."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of an independence test.

    Parameters
    ----------
    independent : bool
        Whether the two variables are considered independent.
    strength : float
        Strength of the dependence; comparable between tests.
    information : float
        (Conditional) mutual information in nats.
    p_value : float or None, default=None
        p-value of a G2 test.
    """

    independent: bool
    strength: float
    information: float
    p_value: float | None = None


class IndependenceTest(Protocol):
    """Conditional independence tests of two variables."""

    def test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        """Test variables i and j given `given`; None if there are too few samples."""
        ...


class DataTest:
    """Independence tests on coded data, with a cache.

    Parameters
    ----------
    data : CodedData
        Coded samples; the class is a variable as any other. A test ignores samples in
        which one of its variables is missing.
    kind : {"mi", "g2"}, default="mi"
        As `test` of `ConstraintBased`.
    threshold, significance : float, default=0.01
        As in `ConstraintBased`.
    bias_correction : bool, default=True
        As in `ConstraintBased`.

    Notes
    -----
    With n the weight of the complete samples, G2 is 2 n I(X; Y | Z). Its degrees of
    freedom are the sum over the observed configurations z of (states of X observed with
    z - 1) (states of Y observed with z - 1). Under independence the expectation of G2
    is about its degrees of freedom, so that of I is about degrees / (2 n); `strength`
    is I minus this, or I itself without `bias_correction`.

    A conditional test needs at least `ROWS_PER_CELL` samples per cell of its
    contingency table, and at most `TEST_CELLS` cells. Unconditional tests are always
    made.

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
        bias_correction: bool = True,
    ) -> None:
        self.kind = kind
        self.bias_correction = bias_correction
        self.threshold = threshold
        self.significance = significance
        self.n_states = data.schema.n_states
        self._table = np.empty(0)
        self._parts: CodedData | None = None
        self._pairs: dict[tuple[int, int], FloatArray] = {}
        if data.in_parts:
            self._parts = data
            self.n_rows = data.place(sum_of_weights).sum(float)
        else:
            self.codes, self.weights = columns_of(data)
            n_rows = self.codes.shape[1]
            self.n_rows = float(self.weights.sum() if len(self.weights) else n_rows)
            self._by_kernel = self.codes.size > jit.SMALL_WORK
        self._cache: dict[tuple[int, int, tuple[int, ...]], Outcome | None] = {}

    def test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        """Test variables i and j given `given`; None if there are too few samples."""
        key = (min(i, j), max(i, j), tuple(sorted(given)))
        if key not in self._cache:
            check_stop()
            self._cache[key] = self._test(*key)
        return self._cache[key]

    @property
    def n_tests(self) -> int:
        """Number of different tests made."""
        return sum(outcome is not None for outcome in self._cache.values())

    def _test(self, i: int, j: int, given: tuple[int, ...]) -> Outcome | None:
        cells = prod(int(self.n_states[v]) for v in (i, j, *given))
        if given and (
            cells > TEST_CELLS or cells * ROWS_PER_CELL > max(self.n_rows, 1.0)
        ):
            return None
        information, degrees, total = self._measure(i, j, given, cells)
        information = round(max(information, 0.0), DIGITS)
        corrected = self.bias_correction and total > 0
        chance = degrees / (2 * total) if corrected else 0.0
        strength = round(information - chance, DIGITS)
        if self.kind == "mi":
            return Outcome(strength < self.threshold, strength, information)
        p_value = float(chdtrc(degrees, 2 * total * information)) if degrees else 1.0
        return Outcome(p_value > self.significance, strength, information, p_value)

    def _measure(
        self, i: int, j: int, given: tuple[int, ...], cells: int
    ) -> tuple[float, float, float]:
        """Return information, degrees of freedom and weight of the samples."""
        if self._parts is not None:
            return self._measure_parts(self._parts, i, j, given, cells)
        if cells > TEST_CELLS:
            return self._measure_sparse(i, j)
        if not self._by_kernel:
            return self._measure_dense((*given, i, j))
        from tanager.data import _information_kernels

        if len(self._table) <= cells:
            self._table = np.empty(cells + 1)
        found: tuple[float, float, float] = _information_kernels.information_given(
            self.codes, self.weights, self.n_states, i, j,
            np.array(given, dtype=np.int64), self._table,
        )  # fmt: skip
        return found

    def _measure_dense(self, members: tuple[int, ...]) -> tuple[float, float, float]:
        """Compute what the kernel `information_given` does; the pair comes last."""
        seen = np.ones(self.codes.shape[1], dtype=np.bool_)
        joint = np.zeros(self.codes.shape[1], dtype=np.int64)
        states = [int(self.n_states[v]) for v in members]
        for v, n_states in zip(members, states, strict=True):
            seen &= self.codes[v] < n_states
            joint = joint * n_states + self.codes[v]
        weights = self.weights[seen] if len(self.weights) else None
        counted = np.bincount(joint[seen], weights, prod(states))
        return _measure_table(counted.astype(np.float64).reshape(-1, *states[-2:]))

    def _measure_parts(
        self, data: CodedData, i: int, j: int, given: tuple[int, ...], cells: int
    ) -> tuple[float, float, float]:
        """Measure samples in parts by counts; all pairs are counted in one round."""
        if cells > TEST_CELLS:
            names = [data.schema[v].name for v in (i, j)]
            raise CapabilityError(
                f"The counts of {names} have {cells:,} cells, more than the "
                f"{TEST_CELLS:,} that are added up over partitions. Use a coarser "
                "encoder, or group rare categories of these columns."
            )
        if given:
            return _measure_table(_joint_counts(data, [(*given, i, j)])[0])
        if not self._pairs:
            states = self.n_states.tolist()
            pairs = [
                (a, b)
                for b in range(len(states))
                for a in range(b)
                if states[a] * states[b] <= TEST_CELLS
            ]
            self._pairs = dict(zip(pairs, _joint_counts(data, pairs), strict=True))
        return _measure_table(self._pairs[min(i, j), max(i, j)])

    def _measure_sparse(self, i: int, j: int) -> tuple[float, float, float]:
        """Measure a pair with memory for the observed cells only."""
        codes, n_states = self.codes, self.n_states
        seen = (codes[i] < n_states[i]) & (codes[j] < n_states[j])
        if len(self.weights):
            seen &= self.weights > 0
        weights = self.weights[seen] if len(self.weights) else None
        joint = codes[i, seen].astype(np.int64) * int(n_states[j]) + codes[j, seen]
        counts = [
            np.bincount(np.unique(values, return_inverse=True)[1], weights)
            for values in (joint, codes[i, seen], codes[j, seen])
        ]
        table, rows, columns = (counted.astype(np.float64) for counted in counts)
        degrees = (len(rows) - 1) * (len(columns) - 1)
        return _summarise(table, rows, columns, rows.sum(keepdims=True), degrees)


def _joint_counts(
    data: CodedData, members: Sequence[tuple[int, ...]]
) -> list[FloatArray]:
    """Counts of sets of variables, each with the last two as its last axes."""
    counts = data.count(members)
    tables = []
    for number, own in enumerate(members):
        axes = counts.layout.axes[number]
        table = counts.table(number).transpose([axes.index(v) for v in own])
        tables.append(table.reshape(-1, *table.shape[-2:]))
    return tables


def _measure_table(table: FloatArray) -> tuple[float, float, float]:
    """Measure counts with axes (configuration of the others, i, j)."""
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    whole = rows.sum(axis=1)
    free = [np.maximum((side > 0).sum(axis=1) - 1, 0) for side in (rows, columns)]
    return _summarise(table, rows, columns, whole, (free[0] * free[1]).sum())


def _summarise(
    table: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    whole: FloatArray,
    degrees: float,
) -> tuple[float, float, float]:
    """Return information, degrees and weight from counts and their margins."""
    total = float(whole.sum())
    if total <= 0:
        return 0.0, 0.0, 0.0
    shared = x_log_x(table).sum() - x_log_x(rows).sum() - x_log_x(columns).sum()
    return float((shared + x_log_x(whole).sum()) / total), float(degrees), total
