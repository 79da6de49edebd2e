"""The conditional likelihood of rows as a function of additive tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.special import logsumexp

from tanager.data.coded_data import RowBlock
from tanager.inference.merged_tables import MergedTables
from tanager.model.layout import FamilyLayout
from tanager.types import FloatArray, IntArray
from tanager.utils.threads import map_threads

LANES = 16
"""Partial gradients that are added up in order, whatever the number of threads."""

LANE_CELLS = 8_000_000
"""Cells of all partial gradients together; large tables have fewer of them."""


Item = TypeVar("Item")
Result = TypeVar("Result")

TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class ConditionalLogLoss:
    """Negative conditional log likelihood of rows, sum_m -v_m log P(c_m | x_m).

    ``P(c | x)`` is proportional to ``exp(sum of the cells that x touches in class c)``;
    the tables need not be normalised. A table with a missing member adds nothing, nor
    does one without the class.

    Parameters
    ----------
    layout : FamilyLayout
        The tables; for curvatures every one has the class.
    blocks : sequence of RowBlock
        The rows; those without a label give nothing.
    n_jobs : int or None, default=None
        Threads over blocks; the value does not depend on it.
    tables : MergedTables or None, default=None
        The layout merged, where that is already known.
    """

    layout: FamilyLayout
    blocks: Sequence[RowBlock] = field(repr=False)
    n_jobs: int | None = None
    tables: MergedTables | None = field(default=None, repr=False)

    @cached_property
    def merged(self) -> MergedTables:
        """The tables as the kernel reads them."""
        return MergedTables.of(self.layout) if self.tables is None else self.tables

    def value_and_gradient(self, values: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its gradient by the cells, shapes () and (layout.n_cells,)."""
        from tanager.loglinear import _kernels

        merged = self.merged
        spread = merged.spread(values)
        n_classes = self.layout.compiled.n_classes
        if n_classes == 2:
            # Only the differences of the classes matter: half the cells.
            odds = spread[1::2] - spread[::2]
            offsets, stride = merged.offsets // 2, merged.axis_stride // 2

            def work_on_odds(block: RowBlock, gradient: FloatArray) -> float:
                loss: float = _kernels.two_class_loss(
                    block.codes.T, block.labels, _weights(block), odds, offsets,
                    merged.start, merged.axis_variable, stride, gradient,
                )  # fmt: skip
                return loss

            loss, by_odds = added_up(self.blocks, len(odds), work_on_odds, self.n_jobs)
            return loss, merged.collect(np.stack([-by_odds, by_odds], 1).ravel())

        def work(block: RowBlock, gradient: FloatArray) -> float:
            loss: float = _kernels.conditional_loss(
                block.codes.T, block.labels, _weights(block), spread,
                merged.offsets, merged.start, merged.axis_variable,
                merged.axis_stride, n_classes, gradient,
            )  # fmt: skip
            return loss

        loss, gradient = added_up(self.blocks, merged.n_cells, work, self.n_jobs)
        return loss, merged.collect(gradient)

    def held_out(self, values: FloatArray) -> tuple[float, float]:
        """Mean -log P(c | x) and share of errors of the rows under given tables."""

        def sums(block: RowBlock, log_joint: FloatArray) -> tuple[float, float, float]:
            labels, weights = self.labelled(block)
            own = log_joint[np.arange(len(labels)), labels]
            loss = weights @ (logsumexp(log_joint, axis=1) - own)
            wrong = weights @ (log_joint.argmax(axis=1) != labels)
            return float(loss), float(wrong), float(weights.sum())

        parts = self._by_block(values, sums)
        loss, wrong, total = np.sum([(0.0, 0.0, 0.0), *parts], axis=0).tolist()
        return loss / max(total, TINY), wrong / max(total, TINY)

    def class_moments(
        self, values: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """The loss, classes observed, sum of P(c | x), and sum of P(c | x) P(d | x).

        Shapes (), (n_classes,), (n_classes,) and (n_classes, n_classes).
        """
        from tanager.loglinear import _kernels

        merged = self.merged
        spread = merged.spread(values)
        n_classes = self.layout.compiled.n_classes

        def work(block: RowBlock, sums: FloatArray) -> float:
            table = sums.reshape(n_classes + 2, n_classes)
            loss: float = _kernels.class_moments(
                block.codes.T, block.labels, _weights(block), spread,
                merged.offsets, merged.start, merged.axis_variable,
                merged.axis_stride, n_classes, table[0], table[1], table[2:],
            )  # fmt: skip
            return loss

        size = (n_classes + 2) * n_classes
        loss, sums = added_up(self.blocks, size, work, self.n_jobs)
        observed, expected, *lower = sums.reshape(n_classes + 2, n_classes)
        products = np.array(lower)
        return loss, observed, expected, products + np.tril(products, -1).T

    @cached_property
    def total(self) -> float:
        """Weight of all rows that have a label."""
        return float(sum(self.labelled(block)[1].sum() for block in self.blocks))

    @property
    def n_rows(self) -> int:
        """Number of rows, labelled or not."""
        return sum(len(block.labels) for block in self.blocks)

    @cached_property
    def curvature_at_zero(self) -> FloatArray:
        """As `curvature`, at tables of zeros: no row tells the classes apart."""
        return self._touched_together(list(map(_weights, self.blocks)))

    def curvature(self, values: FloatArray) -> FloatArray:
        """Weight of the rows that touch two cells, those counting less that are clear.

        Of a row with label it is ``v (1 - sum_c P(c | x)^2) K / (K - 1)``, v its weight
        and K the number of classes: v where all classes are as probable, 0 where one is
        certain. Divided by K it is the mean of the Hessian's blocks of the classes, if
        classes sum to zero.

        Returns
        -------
        ndarray of float64, shape (n_cells / K, n_cells / K)
            The cells those of any one class.
        """
        from tanager.loglinear import _kernels

        merged = self.merged
        spread = merged.spread(values)

        def doubts(block: RowBlock) -> FloatArray:
            out = np.empty(len(block.labels))
            _kernels.class_doubts(
                block.codes.T, block.labels, _weights(block), spread,
                merged.offsets, merged.start, merged.axis_variable,
                merged.axis_stride, self.layout.compiled.n_classes, out,
            )  # fmt: skip
            return out

        return self._touched_together(map_threads(doubts, self.blocks, self.n_jobs))

    def _touched_together(self, weights: Sequence[FloatArray]) -> FloatArray:
        """Sum of the given weights over rows with label that touch two cells."""
        from tanager.loglinear import _kernels

        compiled = self.layout.compiled
        size = self.layout.n_cells // compiled.n_classes
        n_states = np.array(self.layout.n_states, dtype=np.int64)

        def work(part: tuple[RowBlock, FloatArray], together: FloatArray) -> float:
            block, given = part
            _kernels.touched_together(
                block.codes.T, block.labels, given, n_states, compiled.offsets,
                compiled.start, compiled.axis_variable, compiled.axis_stride,
                compiled.n_classes, together.reshape(size, size),
            )  # fmt: skip
            return 0.0

        parts = list(zip(self.blocks, weights, strict=True))
        _, flat = added_up(parts, size * size, work, self.n_jobs)
        upper = flat.reshape(size, size)
        return upper + np.triu(upper, 1).T

    def _by_block(
        self, values: FloatArray, work: Callable[[RowBlock, FloatArray], Result]
    ) -> list[Result]:
        """What `work` makes of every block and its log joint."""
        from tanager.inference import _kernels

        merged = self.merged
        spread = merged.spread(values)
        n_classes = self.layout.compiled.n_classes

        def one(block: RowBlock) -> Result:
            log_joint = np.empty((len(block.labels), n_classes))
            _kernels.add_tables(
                block.codes.T, spread, merged.offsets, merged.start,
                merged.axis_variable, merged.axis_stride, len(merged.offsets),
                n_classes, log_joint,
            )  # fmt: skip
            return work(block, log_joint)

        return map_threads(one, self.blocks, self.n_jobs)

    def labelled(self, block: RowBlock) -> tuple[IntArray, FloatArray]:
        """Labels and weights of a block; a row without a label has weight zero."""
        n_classes = self.layout.compiled.n_classes
        labels = block.labels.astype(np.int64)
        weights = np.ones(len(labels)) if block.weights is None else block.weights
        known = labels < n_classes
        return np.where(known, labels, 0), np.where(known, weights, 0.0)


def _weights(block: RowBlock) -> FloatArray:
    """Weights of a block as kernels read them: none if all are one."""
    return np.empty(0) if block.weights is None else block.weights


def added_up(
    blocks: Sequence[Item],
    n_cells: int,
    work: Callable[[Item, FloatArray], float],
    n_jobs: int | None,
) -> tuple[float, FloatArray]:
    """Sums over blocks of rows, in an order that threads do not change.

    Parameters
    ----------
    blocks : sequence
        The rows, by blocks.
    n_cells : int
        Length of the vector that is summed.
    work : callable
        Adds a block's share to the vector it is given and returns its value.
    n_jobs : int or None
        Threads.

    Returns
    -------
    value : float
        Sum of the blocks' values.
    vector : ndarray of float64, shape (n_cells,)
        Sum of their shares.
    """
    lanes = min(len(blocks), max(1, min(LANES, LANE_CELLS // n_cells)))

    def lane(number: int) -> tuple[float, FloatArray]:
        out = np.zeros(n_cells)
        return sum(work(block, out) for block in blocks[number::lanes]), out

    value, vector = 0.0, np.zeros(n_cells)
    for part, share in map_threads(lane, range(lanes), n_jobs):
        value += part
        vector += share
    return value, vector
