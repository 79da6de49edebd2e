"""Likelihoods of a network as functions of its tables, rows incomplete or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import softmax

from tanager.data.coded_data import CodedData, RowBlock
from tanager.inference.expectations import Expectations, expectations_of
from tanager.loglinear.objective import (
    TINY,
    ConditionalLogLoss,
    labels_and_weights,
    sum_blocks,
)
from tanager.losses.conditional import negative_log_posterior
from tanager.model.layout import FamilyLayout
from tanager.types import BoolArray, FloatArray, IntArray

LOWEST = -50.0
"""Logarithm a table of zeros starts from: a free parameter has to be finite."""


@dataclass(frozen=True, eq=False)
class SoftmaxLayout:
    """Tables as softmax of free parameters beta over their owner's states.

    Notes
    -----
    With ``theta[x | h] = exp(beta[x | h]) / sum_x' exp(beta[x' | h])`` and g the
    derivative by log theta, that by beta is ``g - theta sum_x g``.
    """

    layout: FamilyLayout

    @cached_property
    def compiled(self) -> tuple[IntArray, ...]:
        """Ends of the tables, the owner's states, and the cells after its axis."""
        layout = self.layout
        states = [layout.n_states[owner] for owner in layout.owners]
        widths = [
            int(np.prod(shape[layout.owner_axis(t) + 1 :], dtype=np.int64))
            for t, shape in enumerate(layout.shapes)
        ]
        ends = np.append(layout.offsets, layout.n_cells)
        return ends, np.array(states, dtype=np.int64), np.array(widths, dtype=np.int64)

    def tables(self, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Theta and its logarithm at `beta`, both of shape (layout.n_cells,)."""
        from tanager.parameters import _softmax_kernels

        log_theta = beta.copy()
        theta = np.empty(len(beta))
        _softmax_kernels.normalise(theta, log_theta, *self.compiled)
        return theta, log_theta

    def gradient(self, by_log_theta: FloatArray, theta: FloatArray) -> FloatArray:
        """Derivative by beta from that by log theta, which is overwritten."""
        from tanager.parameters import _softmax_kernels

        _softmax_kernels.by_softmax(by_log_theta, theta, *self.compiled)
        return by_log_theta


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Rows, those that leave P(c | e) to be summed up apart from the others.

    A row counts as complete if nothing is missing in the families that have the class:
    the class does then not depend on any other feature.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    complete, incomplete : tuples of RowBlock
        The rows.
    expectations : Expectations or None
        The engine of incomplete rows; None where there are none.
    n_jobs : int or None, default=None
        Threads over blocks.
    """

    layout: FamilyLayout
    complete: tuple[RowBlock, ...] = field(repr=False)
    incomplete: tuple[RowBlock, ...] = field(repr=False)
    expectations: Expectations | None
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        layout: FamilyLayout,
        data: CodedData,
        n_jobs: int | None = None,
        expectations: Expectations | None = None,
    ) -> NetworkRows:
        """Part the rows; `expectations` are made where they are needed and not given.

        Raises `TableSizeError` as `expectations_of` does.
        """
        complete: list[RowBlock] = []
        incomplete: list[RowBlock] = []
        near = {v for t in layout.class_tables for v in layout.axes[t]}
        for block in data.blocks():
            gaps = with_gaps(layout, block, sorted(near - {layout.target}))
            complete += some_rows(block, ~gaps)
            incomplete += some_rows(block, gaps)
        if incomplete and expectations is None:
            expectations = expectations_of(layout, data.schema)
        return cls(layout, tuple(complete), tuple(incomplete), expectations, n_jobs)

    def log_joint(self, log_theta: FloatArray, block: RowBlock) -> FloatArray:
        """Log joint of incomplete rows with every class."""
        assert self.expectations is not None
        return self.expectations.log_joint(log_theta, block.codes)


@dataclass(frozen=True, eq=False)
class NetworkConditional:
    """Mean negative conditional log likelihood -LCL by softmax parameters.

    ``LCL = sum_m v_m log P(c_m | e_m) / sum_m v_m``, e_m what is observed in row m:
    missing features are summed over, in a network of normalised tables of any
    structure; see `expectations_of` for what happens where these sums are too large.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), section 3, equation 3 and Proposition 3: the
    derivative by beta[d | f] of one row is
    ``[P(d, f | e, c) - P(d, f | e)] - theta[d | f] [P(f | e, c) - P(f | e)]``.
    """

    rows: NetworkRows

    @cached_property
    def softmax(self) -> SoftmaxLayout:
        """The parameters."""
        return SoftmaxLayout(self.rows.layout)

    @cached_property
    def _complete(self) -> ConditionalLogLoss:
        return ConditionalLogLoss(
            self.rows.layout, self.rows.complete, self.rows.n_jobs
        )

    @cached_property
    def _incomplete(self) -> ConditionalLogLoss:
        """For the labels and weights of incomplete rows."""
        return ConditionalLogLoss(
            self.rows.layout, self.rows.incomplete, self.rows.n_jobs
        )

    @cached_property
    def total(self) -> float:
        """Weight of all rows that have a label."""
        return max(self._complete.total + self._incomplete.total, TINY)

    def value_and_gradient(self, beta: FloatArray) -> tuple[float, FloatArray]:
        """-LCL and its gradient, shapes () and (layout.n_cells,)."""
        theta, log_theta = self.softmax.tables(beta)
        loss, gradient = self._complete.value_and_gradient(log_theta)
        if self.rows.incomplete:
            more, also = self._summed_over(log_theta)
            loss += more
            gradient += also
        gradient = self.softmax.gradient(gradient, theta)
        return loss / self.total, gradient / self.total

    def _summed_over(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Loss and derivative by log theta of the incomplete rows."""
        expectations = self.rows.expectations
        assert expectations is not None

        def work(block: RowBlock, gradient: FloatArray) -> float:
            labels, weights = labels_and_weights(block, self._complete.n_classes)
            log_joint = self.rows.log_joint(log_theta, block)
            every = np.arange(len(labels))
            by_joint = softmax(log_joint, axis=1) * weights[:, None]
            by_joint[every, labels] -= weights
            expectations.add_expected(
                log_theta, block.codes, by_joint, gradient, barren=False
            )
            return float(weights @ negative_log_posterior(log_joint, labels))

        return sum_blocks(self.rows.incomplete, len(log_theta), work, self.rows.n_jobs)

    def error(self, beta: FloatArray) -> float:
        """Share of rows whose most probable class is not theirs."""
        _, log_theta = self.softmax.tables(beta)
        wrong = self._complete.evaluate(log_theta)[1] * self._complete.total
        for block in self.rows.incomplete:
            labels, weights = labels_and_weights(block, self._complete.n_classes)
            log_joint = self.rows.log_joint(log_theta, block)
            wrong += float(weights @ (log_joint.argmax(axis=1) != labels))
        return wrong / self.total


def with_gaps(
    layout: FamilyLayout, block: RowBlock, features: Iterable[int] | None = None
) -> BoolArray:
    """Whether one of some features, or of all, is missing, for every row of a block."""
    gaps = np.zeros(len(block.labels), dtype=np.bool_)
    for j in range(block.codes.shape[1]) if features is None else features:
        column, states = block.codes[:, j], layout.n_states[j]
        # The reserved code is the highest: most columns are done after one look.
        if column.max(initial=0) >= states:
            gaps |= column >= states
    return gaps


def some_rows(block: RowBlock, rows: BoolArray) -> list[RowBlock]:
    """The marked rows of a block as one block, or as none where no row is marked."""
    if rows.all():
        return [block]
    if not rows.any():
        return []
    return [
        RowBlock(
            np.asfortranarray(block.codes[rows]),
            block.labels[rows],
            None if block.weights is None else block.weights[rows],
        )
    ]
