"""The likelihood of what is observed, for learners that fill gaps by expectation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.data.counts import Counts
from tanager.errors import InputError
from tanager.inference.expectations import ExactExpectations, exact_expectations
from tanager.inference.merged_tables import MergedTables
from tanager.loglinear.objective import TINY, sum_blocks
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.parameters.base import check_start
from tanager.parameters.initial_tables import first_tables
from tanager.parameters.network_likelihood import (
    LOWEST,
    SoftmaxLayout,
    some_rows,
    with_gaps,
)
from tanager.types import FloatArray
from tanager.utils.validation import check_number, check_whole


@dataclass(frozen=True, eq=False)
class ObservedLikelihood:
    """Log likelihood of observed features and labels, and expected family counts.

    ``log L = sum_m v_m log P(e_m, c_m)``, e_m the observed features of row m; rows
    without a label give ``v_m log P(e_m)``.

    Parameters
    ----------
    counts : Counts
        Counts of every family over the rows in which it is observed whole.
    complete : tuple of RowBlock
        Rows without a label in which every feature is observed.
    incomplete : tuple of RowBlock
        Rows with missing features.
    total : float
        Weight of all rows.
    expectations : ForestExpectations, JunctionExpectations or None
        What sums over the gaps of incomplete rows.
    n_jobs : int or None
        Threads over blocks; the value does not depend on it.

    Notes
    -----
    A family that is observed whole, label included, adds a count that no change of the
    tables alters: it is counted once. What is left for every step are rows without a
    label and the families with a missing member.

    A missing feature with nothing observed below it, nor the class, is barren: it sums
    to one, so the likelihood does not depend on it. It is left out of the completions,
    which is EM over fewer hidden variables: the same likelihood in fewer steps.
    """

    counts: Counts
    complete: tuple[RowBlock, ...] = field(repr=False)
    incomplete: tuple[RowBlock, ...] = field(repr=False)
    total: float
    expectations: ExactExpectations | None
    n_jobs: int | None = None

    @classmethod
    def of(cls, structure: Structure, data: CodedData) -> ObservedLikelihood:
        """Count what is observed whole, and keep the rows that hide something."""
        counts = data.count(structure.families)
        complete: list[RowBlock] = []
        incomplete: list[RowBlock] = []
        total = labelled = 0.0
        some_label = False
        for block in data.blocks():
            n_rows = len(block.labels)
            weights = np.ones(n_rows) if block.weights is None else block.weights
            gaps = with_gaps(counts.layout, block)
            unlabelled = block.labels >= data.schema.n_classes
            total += float(weights.sum())
            labelled += float(weights[~unlabelled].sum())
            some_label |= not unlabelled.all()
            complete += some_rows(block, unlabelled & ~gaps)
            incomplete += some_rows(block, gaps)
        if some_label and labelled == 0.0:
            raise InputError(
                "All rows that have a label have weight zero; expected labelled rows "
                "that count. Give some of them a weight above 0."
            )
        if not some_label:
            raise InputError(
                "No row has a label. Nothing then tells the classes apart: they start "
                "alike and stay alike. Label at least some rows of every class."
            )
        return cls(
            counts,
            tuple(complete),
            tuple(incomplete),
            max(total, TINY),
            exact_expectations(counts.layout, data.schema) if incomplete else None,
            data.n_jobs,
        )

    @property
    def layout(self) -> FamilyLayout:
        """The tables."""
        return self.counts.layout

    @cached_property
    def softmax(self) -> SoftmaxLayout:
        """The tables as softmax of free parameters."""
        return SoftmaxLayout(self.layout)

    @cached_property
    def _merged(self) -> MergedTables:
        return MergedTables.of(self.layout)

    def lifted(self, log_theta: FloatArray) -> FloatArray:
        """The same tables without zeros, so that steps can start from them."""
        # A probability of zero would stay zero for ever.
        return self.softmax.tables(np.maximum(log_theta, LOWEST))[1]

    def expected(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Log likelihood and expected counts, shapes () and (layout.n_cells,).

        The counts are the derivative of the log likelihood by `log_theta`, up to what
        normalised tables make vanish.
        """
        counts = self.counts.values
        touched = counts > 0
        # Cells without a count are left out: their logarithm may be -inf.
        value = float(counts[touched] @ log_theta[touched])
        out = counts.copy()
        if self.complete:
            more, also = self._of_complete(log_theta)
            value += more
            out += also
        if self.incomplete:
            more, also = self._of_incomplete(log_theta)
            value += more
            out += also
        return value, out

    def _of_complete(self, log_theta: FloatArray) -> tuple[float, FloatArray]:
        """Rows of which only the label is missing: the tables that have it."""
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
        """Rows with missing features: what is not observed whole."""
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
    """What EM and APN climb, and from where: tables given, or frequencies."""
    rows = ObservedLikelihood.of(structure, data)
    if start is not None:
        check_start(start, rows.layout)
        return rows, rows.lifted(start.log_theta)
    random = np.random.default_rng(random_state)
    first = first_tables(structure, data, alpha, random, rows.counts)
    return rows, rows.lifted(first)


def penalised(value: float, log_theta: FloatArray, alpha: float) -> float:
    """``log L + alpha sum log theta``: what frequencies with pseudo-counts maximise."""
    return value + alpha * float(log_theta.sum()) if alpha else value


def check_arguments(alpha: object, tol: object, max_iter: object) -> None:
    """Refuse what neither EM nor APN can use."""
    check_number("alpha", alpha, least=0)
    check_number("tol", tol, above=0)
    check_whole("max_iter", max_iter, 1)
