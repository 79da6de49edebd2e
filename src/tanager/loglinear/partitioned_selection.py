"""Selection of factors on a subsample, and their fit to all samples in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.data.folds import class_ranks, count_codes
from tanager.loglinear.block_newton import FactorFit, Term
from tanager.loglinear.factor import sum_code_weights, sum_weights
from tanager.loglinear.factor_samples import (
    FactorSamples,
    check_sample_weights,
    search_ranks,
)
from tanager.loglinear.factor_selection import LAST_SWEEPS, FactorSelection
from tanager.loglinear.missing_features import HIDDEN_SAMPLES
from tanager.loglinear.partitioned_fit import PartitionedFit
from tanager.loglinear.selection_options import SelectionOptions
from tanager.types import (
    BoolArray,
    CodeArray,
    FloatArray,
    IndexArray,
    IntArray,
    LabelArray,
)

FEW_SAMPLES = 50_000
"""Samples up to which all of them are gathered: a search uses no fewer."""


class PartitionedSelection(FactorSelection):
    """Select factors for samples in parts, and fit them; see `FactorSelection`.

    Parameters
    ----------
    data : CodedData
        The samples, more than `FEW_SAMPLES` of them.
    options : SelectionOptions
        What the selection may do.

    Notes
    -----
    Axes and prior are made of counts of all samples. The search has the validation set
    and the training samples that it would have with all samples in memory: these are
    gathered, and it finds the same factors and strengths. The fit to all samples is
    that of `PartitionedFit`.
    """

    def __init__(self, data: CodedData, options: SelectionOptions) -> None:
        self._data = data
        self._parts = data.place(_LabelledPart.of)
        sizes = self._parts.collect(_LabelledPart.class_sizes)
        self._starts = np.cumsum([np.zeros_like(sizes[0]), *sizes[:-1]], axis=0)
        n_samples = int(np.sum(sizes))
        every = -(-n_samples // HIDDEN_SAMPLES)
        ranks = search_ranks(np.sum(sizes, axis=0))
        found = self._parts.collect(
            _LabelledPart.take, every, each=_by_part(self._starts, sizes, ranks)
        )
        held, rest, sparse = (_join([part[k] for part in found]) for k in range(3))
        self._held, self._rest = held, rest
        *totals, class_weights = self._parts.sum(_LabelledPart.totals)
        self._total = float(class_weights.sum())
        self.samples = FactorSamples.of(
            *sparse, data.schema.n_classes, n_jobs=data.n_jobs
        )
        self._prepare(data.schema, options, n_samples, totals, class_weights)

    def _split(self) -> list[FactorSamples]:
        (codes, labels, weights), n_held = self._search_rows(), len(self._held[1])
        return [
            FactorSamples.of(
                codes,
                labels,
                weights,
                self.n_classes,
                held_out=np.arange(n_held),
                n_jobs=self._data.n_jobs,
            )
        ]

    def _search_rows(self) -> _Rows:
        return _join([self._held, self._rest])

    def _fit_found(self, terms: list[Term]) -> FactorFit:
        samples = FactorSamples.of(
            *self._search_rows(), self.n_classes, n_jobs=self._data.n_jobs
        )
        some = FactorFit(samples, self.log_prior)
        some.take_terms(terms)
        some.add(self._missing_factors(terms), self._strength[2])
        starts = self._starts.sum(axis=1).tolist()
        fit = PartitionedFit(self._data, some, self._total, starts)
        fit.sweep(LAST_SWEEPS)
        fit.count_classes()
        return fit  # type: ignore[return-value] # has what FactorTables need


_Rows = tuple[CodeArray, LabelArray, FloatArray | None]
"""Codes (n_features, n_samples), labels and weights of some samples."""


@dataclass(frozen=True, eq=False)
class _LabelledPart:
    """The labelled samples of positive weight of one part."""

    part: ArrayData
    samples: FactorSamples

    @classmethod
    def of(cls, part: ArrayData) -> _LabelledPart:
        known = part.labels < part.schema.n_classes
        if part.weights is not None:
            known &= part.weights > 0
        if not known.all():
            part = part.take(np.flatnonzero(known))
        if part.weights is not None and len(part.weights):
            check_sample_weights(part.weights)
        return cls(part, FactorSamples.of_part(part))

    def class_sizes(self) -> IntArray:
        return count_codes(self.part.labels, self.part.schema.n_classes)

    def totals(self) -> tuple[FloatArray, ...]:
        """Weights of the states of every feature, then of the classes."""
        part = self.part
        features = part.schema.variables[:-1]
        n_classes = part.schema.n_classes
        classes = sum_code_weights(part.labels, part.weights, n_classes)
        totals = sum_weights(features, part.codes.T, part.weights)
        return (*totals, classes)

    def take(
        self, own: tuple[IntArray, list[IndexArray], list[IndexArray]], every: int
    ) -> tuple[_Rows, _Rows, _Rows]:
        """Rows by their numbers among those of their class, and every so many-th."""
        starts, held, rest = own
        labels = self.part.labels.astype(np.intp)
        ranks = class_ranks(labels, starts)
        chosen = [np.flatnonzero(_is_in(ranks, labels, some)) for some in (held, rest)]
        first = -int(starts.sum()) % every
        chosen.append(np.arange(first, len(labels), every))
        return tuple(self._rows(rows) for rows in chosen)  # type: ignore[return-value]

    def _rows(self, rows: IndexArray) -> _Rows:
        part = self.part
        codes = np.ascontiguousarray(part.codes.T[:, rows])
        weights = None if part.weights is None else part.weights[rows]
        return codes, part.labels[rows], weights


def _is_in(
    ranks: IndexArray, labels: IndexArray, chosen: Sequence[IndexArray]
) -> BoolArray:
    """Whether samples are among those chosen of their class."""
    found = np.zeros(len(labels), dtype=np.bool_)
    for label, some in enumerate(chosen):
        of_class = labels == label
        found[of_class] = np.isin(ranks[of_class], some, assume_unique=True)
    return found


def _by_part(
    starts: IntArray,
    sizes: Sequence[IntArray],
    ranks: tuple[list[IndexArray], list[IndexArray]],
) -> list[tuple[IntArray, list[IndexArray], list[IndexArray]]]:
    """Numbers of the first samples of every part, and the ranks that are in it."""
    found = []
    for first, size in zip(starts, sizes, strict=True):
        own = []
        for some in ranks:
            borders = [
                np.searchsorted(of_class, [a, a + n])
                for of_class, a, n in zip(some, first, size, strict=True)
            ]
            own.append(
                [of[slice(*border)] for of, border in zip(some, borders, strict=True)]
            )
        found.append((first, own[0], own[1]))
    return found


def _join(parts: Sequence[_Rows]) -> _Rows:
    """Join the rows of parts."""
    codes = np.concatenate([codes for codes, _, _ in parts], axis=1)
    labels = np.concatenate([labels for _, labels, _ in parts])
    given = [weights for *_, weights in parts if weights is not None]
    return codes, labels, np.concatenate(given) if given else None
