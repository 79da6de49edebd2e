"""The conditional likelihood of rows as a function of additive tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from tanager.core.layout import FamilyLayout
from tanager.core.threads import map_threads
from tanager.counts.coded import RowBlock
from tanager.inference.merged import MergedTables

LANES = 16
"""Partial gradients that are added up in order, whatever the number of threads."""

LANE_CELLS = 8_000_000
"""Cells of all partial gradients together; large tables have fewer of them."""

FloatArray = npt.NDArray[np.float64]

Result = TypeVar("Result")

TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """Negative conditional log likelihood of rows, sum_m -v_m log P(c_m | x_m).

    ``P(c | x)`` is proportional to ``exp(sum of the cells that x touches in class c)``;
    the tables need not be normalised. A table with a missing member adds nothing.

    Parameters
    ----------
    layout : FamilyLayout
        The tables; every one has the class.
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
        from tanager.parameters import _kernels

        merged = self.merged
        spread = merged.spread(values)
        lanes = lane_count(len(self.blocks), merged.n_cells)

        def lane(number: int) -> tuple[float, FloatArray]:
            gradient = np.zeros(merged.n_cells)
            loss = 0.0
            for block in self.blocks[number::lanes]:
                loss += _kernels.conditional_loss(
                    block.codes.T,
                    block.labels,
                    np.empty(0) if block.weights is None else block.weights,
                    spread, merged.offsets, merged.start, merged.axis_variable,
                    merged.axis_stride, self.layout.compiled.n_classes, gradient,
                )  # fmt: skip
            return loss, gradient

        parts = map_threads(lane, range(lanes), self.n_jobs)
        if not parts:
            return 0.0, np.zeros(self.layout.n_cells)
        gradient = parts[0][1]
        for part in parts[1:]:
            gradient += part[1]
        return float(sum(part[0] for part in parts)), merged.collect(gradient)

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

        def sums(
            block: RowBlock, log_joint: FloatArray
        ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
            labels, weights = self.labelled(block)
            own = log_joint[np.arange(len(labels)), labels]
            loss = float(weights @ (logsumexp(log_joint, axis=1) - own))
            posterior = softmax(log_joint, axis=1)
            weighted = posterior * weights[:, None]
            observed = np.bincount(labels, weights, log_joint.shape[1]).astype(float)
            products = weighted.T @ posterior
            return loss, observed, weighted.sum(axis=0), products

        parts = self._by_block(values, sums)
        loss, observed, expected, products = (
            np.sum(column, axis=0) for column in zip(*parts, strict=True)
        )
        return float(loss), observed, expected, products

    @cached_property
    def total(self) -> float:
        """Weight of all rows that have a label."""
        return float(sum(self.labelled(block)[1].sum() for block in self.blocks))

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

    def labelled(self, block: RowBlock) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """Labels and weights of a block; a row without a label has weight zero."""
        n_classes = self.layout.compiled.n_classes
        labels = block.labels.astype(np.int64)
        weights = np.ones(len(labels)) if block.weights is None else block.weights
        known = labels < n_classes
        return np.where(known, labels, 0), np.where(known, weights, 0.0)


def lane_count(n_blocks: int, n_cells: int) -> int:
    """How many partial gradients there are: it must not depend on the threads."""
    return min(n_blocks, max(1, min(LANES, LANE_CELLS // n_cells)))
