"""Likelihood of incomplete data, for learners that compute expected counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.data.counts import Counts
from tanager.data.partition_values import Placed
from tanager.errors import InputError
from tanager.inference.expectations import ExactExpectations, exact_expectations
from tanager.loglinear.linear_maps import MergedTables
from tanager.loglinear.objective import TINY, sum_blocks
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.parameters.initial_cpts import make_initial_cpts
from tanager.parameters.softmax_objective import (
    SoftmaxLayout,
    find_missing,
    select_rows,
)
from tanager.types import FloatArray
from tanager.utils.validation import check_number, check_whole


@dataclass(frozen=True, eq=False)
class ObservedLikelihood:
    """Log likelihood of observed features and labels, and expected family counts.

    ``log L = sum_m v_m log P(e_m, c_m)``, e_m the observed features of sample m; an
    unlabelled sample adds ``v_m log P(e_m)``. `parts` have the samples of which
    something is missing, where the samples are.

    A family all of whose members are observed, label included, is counted once, in
    `counts`. Every step computes the expectations of the others. A missing feature
    without observed descendants or class is barren: it sums to one, and is left out,
    which is EM over fewer hidden variables: the same likelihood in fewer steps.
    """

    counts: Counts
    parts: Placed[_ObservedPart] = field(repr=False)
    total: float
    has_missing: bool
    """Whether `parts` have samples whose expectations change from step to step."""

    @classmethod
    def of(cls, structure: Structure, data: CodedData) -> ObservedLikelihood:
        """Count complete families, and keep the incomplete samples."""
        counts = data.count(structure.families)
        parts = data.place(_ObservedPart.of, counts.layout)
        total, labelled, n_labels, n_complete, n_incomplete = parts.sum(
            _ObservedPart.sizes
        )
        if n_labels and labelled == 0.0:
            raise InputError(
                "All labelled samples have weight zero. Give some of them a weight "
                "above 0."
            )
        if not n_labels:
            raise InputError(
                "No sample has a label, so nothing distinguishes the classes. Label at "
                "least some samples of every class."
            )
        if n_incomplete:
            expectations = exact_expectations(counts.layout, data.schema)
            parts.update(_ObservedPart.with_expectations, expectations)
        return cls(counts, parts, max(total, TINY), bool(n_complete or n_incomplete))

    @property
    def layout(self) -> FamilyLayout:
        """The layout of the CPTs."""
        return self.counts.layout

    def without_zeros(self, log_theta: FloatArray) -> FloatArray:
        """Lift zeros, which no step could leave."""
        softmax = SoftmaxLayout(self.layout)
        return softmax.cpts(softmax.start(log_theta))[1]

    def expected(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Log likelihood and expected counts, shapes () and (layout.n_cells,)."""
        counts = self.counts.values
        touched = counts > 0
        # Cells without a count are left out: their logarithm may be -inf.
        value = float(counts[touched] @ log_theta[touched])
        if not self.has_missing:
            return value, counts.copy()
        more, also = self.parts.sum(_ObservedPart.expected, log_theta)
        return value + more, counts + also


@dataclass(frozen=True, eq=False)
class _ObservedPart:
    """Samples of one part of which something is missing.

    `complete` are the unlabelled samples without missing features, `incomplete` those
    with missing features; `sums` are the sums of `ObservedLikelihood.of`.
    """

    layout: FamilyLayout
    complete: tuple[RowBlock, ...]
    incomplete: tuple[RowBlock, ...]
    sums: tuple[float, float, int]
    n_jobs: int | None
    expectations: ExactExpectations | None = None

    @classmethod
    def of(cls, part: CodedData, layout: FamilyLayout) -> _ObservedPart:
        complete: list[RowBlock] = []
        incomplete: list[RowBlock] = []
        total = labelled = 0.0
        n_labels = 0
        for block in part.blocks():
            n_rows = len(block.labels)
            weights = np.ones(n_rows) if block.weights is None else block.weights
            missing = find_missing(layout, block)
            unlabelled = block.labels >= part.schema.n_classes
            total += float(weights.sum())
            labelled += float(weights[~unlabelled].sum())
            n_labels += int((~unlabelled).sum())
            complete += select_rows(block, unlabelled & ~missing)
            incomplete += select_rows(block, missing)
        return cls(
            layout,
            tuple(complete),
            tuple(incomplete),
            (total, labelled, n_labels),
            part.n_jobs,
        )

    def with_expectations(self, expectations: ExactExpectations) -> _ObservedPart:
        return replace(self, expectations=expectations)

    def sizes(self) -> tuple[float, float, int, int, int]:
        """`sums`, and the numbers of complete and of incomplete blocks."""
        return (*self.sums, len(self.complete), len(self.incomplete))

    def expected(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Log likelihood and expected counts of families with a missing member."""
        value, out = 0.0, np.zeros(len(log_theta))
        if self.complete:
            more, also = self._of_complete(log_theta)
            value += more
            out += also
        if self.incomplete:
            more, also = self._of_incomplete(log_theta)
            value += more
            out += also
        return value, out

    @cached_property
    def _merged(self) -> MergedTables:
        return MergedTables(self.layout)

    def _of_complete(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Expected counts of samples of which only the label is missing."""
        from tanager.parameters import _kernels

        merged = self._merged
        spread = merged.apply(log_theta)

        def work(block: RowBlock, out: FloatArray) -> float:
            value: float = _kernels.expected_classes(
                block.codes.T,
                np.empty(0) if block.weights is None else block.weights,
                spread, merged.offsets, merged.start, merged.axis_variable,
                merged.axis_stride, self.layout.compiled.n_classes, out,
            )  # fmt: skip
            return value

        value, found = sum_blocks(self.complete, merged.n_out, work, self.n_jobs)
        return value, merged.adjoint(found)

    def _of_incomplete(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Expected counts of families with a missing member."""
        expectations = self.expectations
        assert expectations is not None

        def work(block: RowBlock, out: FloatArray) -> float:
            return expectations.expect(
                log_theta, block.codes, block.labels, block.weights, out
            )

        return sum_blocks(self.incomplete, len(log_theta), work, self.n_jobs)


def likelihood_and_start(
    structure: Structure,
    data: CodedData,
    alpha: float,
    start: Parameters | None,
    random_state: np.random.Generator | None,
) -> tuple[ObservedLikelihood, FloatArray]:
    """Prepare the likelihood of EM and APN, and the CPTs to start from."""
    rows = ObservedLikelihood.of(structure, data)
    if start is not None:
        start.check_start(rows.layout)
        return rows, rows.without_zeros(start.log_theta)
    random = np.random.default_rng(random_state)
    frequency = Frequency(alpha=alpha)
    first = make_initial_cpts(structure, data, frequency, random, rows.counts)
    return rows, rows.without_zeros(first)


def penalised(value: float, log_theta: FloatArray, alpha: float) -> float:
    """``log L + alpha sum log theta``, maximised by frequencies with pseudo-counts."""
    return value + alpha * float(log_theta.sum()) if alpha else value


def check_arguments(alpha: object, tol: object, max_iter: object) -> None:
    """Check the arguments of EM and APN."""
    check_number("alpha", alpha, least=0)
    check_number("tol", tol, above=0)
    check_whole("max_iter", max_iter, 1)
