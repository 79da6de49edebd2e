"""Conditional likelihood of a network as a function of its CPTs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

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


class Coordinates(Protocol):
    """Free parameters of CPTs, a vector of shape (layout.n_cells,)."""

    def start(self, log_theta: FloatArray) -> FloatArray:
        """Parameters of CPTs that are given by their logarithm."""
        ...

    def cpts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Theta and its logarithm, both of shape (layout.n_cells,)."""
        ...

    def gradient(self, by_log_theta: FloatArray, theta: FloatArray) -> FloatArray:
        """Derivative by the parameters, from that by log theta, which may change."""
        ...


@dataclass(frozen=True, eq=False)
class SoftmaxLayout:
    """CPTs as softmax of free parameters beta over their owner's states.

    With ``theta[x | h] = exp(beta[x | h]) / sum_x' exp(beta[x' | h])`` and g the
    derivative by log theta, that by beta is ``g - theta sum_x g``.
    """

    layout: FamilyLayout

    @cached_property
    def compiled(self) -> tuple[IntArray, ...]:
        """Ends of the CPTs, the owner's states, and the cells after its axis."""
        layout = self.layout
        states = [layout.n_states[owner] for owner in layout.owners]
        widths = [
            int(np.prod(shape[layout.owner_axis(t) + 1 :], dtype=np.int64))
            for t, shape in enumerate(layout.shapes)
        ]
        ends = np.append(layout.offsets, layout.n_cells)
        return ends, np.array(states, dtype=np.int64), np.array(widths, dtype=np.int64)

    def start(self, log_theta: FloatArray) -> FloatArray:
        """Return the logarithms themselves, -inf replaced by `LOWEST`."""
        return np.maximum(log_theta, LOWEST)

    def cpts(self, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
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


class NetworkConditional:
    """Mean negative conditional log likelihood -LCL by the parameters of CPTs.

    ``LCL = sum_m v_m log P(c_m | e_m) / sum_m v_m``, e_m the observed features of
    sample m: missing features are marginalised, in a network of any structure; see
    `expectations_of` for what happens where that is too large, and for `expectations`,
    made where needed and not given. A sample counts as complete if nothing is missing
    in the families that have the class: the class does then not depend on any other
    feature. `total` is the weight of all labelled samples. The parameters are those of
    `coordinates`, by default softmax parameters.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), section 3, equation 3 and Proposition 3: the
    derivative by beta[d | f] of one sample is
    ``[P(d, f | e, c) - P(d, f | e)] - theta[d | f] [P(f | e, c) - P(f | e)]``.
    """

    def __init__(
        self,
        layout: FamilyLayout,
        data: CodedData,
        n_jobs: int | None = None,
        expectations: Expectations | None = None,
        coordinates: Coordinates | None = None,
    ) -> None:
        self.layout = layout
        self.coordinates = SoftmaxLayout(layout) if coordinates is None else coordinates
        self._parts = data.place(_ConditionalPart.of, layout, n_jobs)
        total, n_incomplete = self._parts.sum(_ConditionalPart.sizes)
        self.total = max(total, TINY)
        if n_incomplete and expectations is None:
            expectations = expectations_of(layout, data.schema)
        if n_incomplete:
            self._parts.update(_ConditionalPart.with_expectations, expectations)
        self.expectations = expectations

    def value_and_gradient(self, beta: FloatArray) -> tuple[float, FloatArray]:
        """-LCL and its gradient, shapes () and (layout.n_cells,)."""
        theta, log_theta = self.coordinates.cpts(beta)
        loss, gradient = self._parts.sum(_ConditionalPart.value_and_gradient, log_theta)
        gradient = self.coordinates.gradient(gradient, theta)
        return loss / self.total, gradient / self.total

    def error(self, beta: FloatArray) -> float:
        """Fraction of misclassified samples."""
        _, log_theta = self.coordinates.cpts(beta)
        return self._parts.sum(_ConditionalPart.error, log_theta) / self.total


@dataclass(frozen=True, eq=False)
class _ConditionalPart:
    """The samples of one part, those without missing features apart."""

    complete: ConditionalLogLoss
    incomplete: tuple[RowBlock, ...]
    n_jobs: int | None
    expectations: Expectations | None = None

    @classmethod
    def of(
        cls, part: CodedData, layout: FamilyLayout, n_jobs: int | None
    ) -> _ConditionalPart:
        complete: list[RowBlock] = []
        incomplete: list[RowBlock] = []
        near = {v for t in layout.class_tables for v in layout.axes[t]}
        for block in part.blocks():
            missing = find_missing(layout, block, sorted(near - {layout.target}))
            complete += select_rows(block, ~missing)
            incomplete += select_rows(block, missing)
        threads = None if part.n_jobs is None else n_jobs
        loss = ConditionalLogLoss(layout, complete, threads)
        return cls(loss, tuple(incomplete), threads)

    def with_expectations(self, expectations: Expectations) -> _ConditionalPart:
        return replace(self, expectations=expectations)

    def sizes(self) -> tuple[float, int]:
        """Weight of the labelled samples, and number of incomplete blocks."""
        weights = (
            labels_and_weights(block, self.complete.n_classes)[1].sum()
            for block in self.incomplete
        )
        return self.complete.total + float(sum(weights)), len(self.incomplete)

    def value_and_gradient(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Loss and derivative by log theta of all samples."""
        loss, gradient = self.complete.value_and_gradient(log_theta)
        if self.incomplete:
            more, also = self._add_incomplete(log_theta)
            loss += more
            gradient += also
        return loss, gradient

    def _add_incomplete(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Loss and derivative by log theta of the incomplete samples."""
        expectations = self.expectations
        assert expectations is not None

        def work(block: RowBlock, gradient: FloatArray) -> float:
            labels, weights = labels_and_weights(block, self.complete.n_classes)
            log_joint = expectations.log_joint(log_theta, block.codes)
            every = np.arange(len(labels))
            by_joint = softmax(log_joint, axis=1) * weights[:, None]
            by_joint[every, labels] -= weights
            expectations.add_expected(
                log_theta, block.codes, by_joint, gradient, barren=False
            )
            return float(weights @ negative_log_posterior(log_joint, labels))

        return sum_blocks(self.incomplete, len(log_theta), work, self.n_jobs)

    def error(self, log_theta: FloatArray) -> float:
        """Weight of the misclassified samples."""
        wrong = self.complete.sum_losses(log_theta)[1]
        for block in self.incomplete:
            assert self.expectations is not None
            labels, weights = labels_and_weights(block, self.complete.n_classes)
            log_joint = self.expectations.log_joint(log_theta, block.codes)
            wrong += float(weights @ (log_joint.argmax(axis=1) != labels))
        return wrong


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
