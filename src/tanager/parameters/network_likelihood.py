"""Conditional likelihood of a network as a function of its CPTs."""

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
from tanager.losses.likelihood import negative_log_posterior
from tanager.model.layout import FamilyLayout
from tanager.types import BoolArray, FloatArray, IntArray

LOWEST = -50.0
"""Least logarithm to start from: a free parameter has to be finite."""


@dataclass(frozen=True, eq=False)
class SoftmaxLayout:
    """CPTs as softmax of free parameters beta over their owner's states.

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
    """Complete and incomplete samples, with the engine of the incomplete ones.

    A sample counts as complete if nothing is missing in the families that have the
    class: the class does then not depend on any other feature.
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
        """Split the samples; `expectations` are made where needed and not given."""
        complete: list[RowBlock] = []
        incomplete: list[RowBlock] = []
        near = {v for t in layout.class_tables for v in layout.axes[t]}
        for block in data.blocks():
            missing = find_missing(layout, block, sorted(near - {layout.target}))
            complete += select_rows(block, ~missing)
            incomplete += select_rows(block, missing)
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

    ``LCL = sum_m v_m log P(c_m | e_m) / sum_m v_m``, e_m the observed features of
    sample m: missing features are marginalised, in a network of any structure; see
    `expectations_of` for what happens where that is too large.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), section 3, equation 3 and Proposition 3: the
    derivative by beta[d | f] of one sample is
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
        """The same of incomplete samples, for their weight."""
        return ConditionalLogLoss(
            self.rows.layout, self.rows.incomplete, self.rows.n_jobs
        )

    @cached_property
    def total(self) -> float:
        """Weight of all labelled samples."""
        return max(self._complete.total + self._incomplete.total, TINY)

    def value_and_gradient(self, beta: FloatArray) -> tuple[float, FloatArray]:
        """-LCL and its gradient, shapes () and (layout.n_cells,)."""
        theta, log_theta = self.softmax.tables(beta)
        loss, gradient = self._complete.value_and_gradient(log_theta)
        if self.rows.incomplete:
            more, also = self._add_incomplete(log_theta)
            loss += more
            gradient += also
        gradient = self.softmax.gradient(gradient, theta)
        return loss / self.total, gradient / self.total

    def _add_incomplete(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Loss and derivative by log theta of the incomplete samples."""
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
        """Fraction of misclassified samples."""
        _, log_theta = self.softmax.tables(beta)
        wrong = self._complete.evaluate(log_theta)[1] * self._complete.total
        for block in self.rows.incomplete:
            labels, weights = labels_and_weights(block, self._complete.n_classes)
            log_joint = self.rows.log_joint(log_theta, block)
            wrong += float(weights @ (log_joint.argmax(axis=1) != labels))
        return wrong / self.total


def find_missing(
    layout: FamilyLayout, block: RowBlock, features: Iterable[int] | None = None
) -> BoolArray:
    """Whether one of some features, or of all, is missing, for every sample."""
    missing = np.zeros(len(block.labels), dtype=np.bool_)
    for j in range(block.codes.shape[1]) if features is None else features:
        column, states = block.codes[:, j], layout.n_states[j]
        # The reserved code is the highest: most columns are done after one look.
        if column.max(initial=0) >= states:
            missing |= column >= states
    return missing


def select_rows(block: RowBlock, rows: BoolArray) -> list[RowBlock]:
    """Select rows of a block: one block, or none if no row is selected."""
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
