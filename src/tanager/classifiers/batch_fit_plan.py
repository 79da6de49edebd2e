"""`FitPlan`: passes, memory and rounds of a fit to batches, before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tanager.classifiers.batch_encoding import check_columns
from tanager.classifiers.training import NetworkLearner
from tanager.data.round_count import RoundCount
from tanager.encoding import TableEncoder, TableSummary
from tanager.encoding.category_summary import CategorySummary
from tanager.encoding.frame import Frame
from tanager.encoding.labels import column_labels
from tanager.encoding.numeric_summary import MAX_DISTINCT
from tanager.errors import InputError
from tanager.io.batches import as_batches, naming
from tanager.utils.threads import n_threads

COPIES = 6
"""Copies of a batch: that of the reader, of the frame, its codes, sorted columns."""


@dataclass(frozen=True)
class FitPlan:
    """What a fit to batches will do; prints as text.

    Parameters
    ----------
    n_samples : int or None
        Number of rows; None if it takes a pass to count them.
    n_features, n_classes : int
        Numbers of features, and of classes in the first batch.
    reading_passes : int
        How often the source is read.
    batch_bytes : int
        Memory of a batch, its copies and the row group that it is part of, about.
    summary_bytes : int
        Memory of the summaries for the encoder, at most.
    code_bytes : int or None
        Codes, labels and weights of all samples; None if their number is unknown.
    codes_in_memory : bool or None
        Whether they are kept in memory, and not in a temporary file.
    learner_bytes : int or None
        Further memory of the learners, about.
    rounds : dict of str to RoundCount
        Passes over the codes by each learner, at most. Passes over a sample that it
        has drawn into memory, such as that of a search for factors, are not counted.
    """

    n_samples: int | None
    n_features: int
    n_classes: int
    reading_passes: int
    batch_bytes: int
    summary_bytes: int
    code_bytes: int | None
    codes_in_memory: bool | None
    learner_bytes: int | None
    rounds: Mapping[str, RoundCount]

    @property
    def peak_bytes(self) -> int | None:
        """Memory that the fit takes at most, about; without mapped files."""
        if self.code_bytes is None or self.learner_bytes is None:
            return None
        codes = self.code_bytes if self.codes_in_memory else 0
        reading = self.batch_bytes + self.summary_bytes
        return codes + max(reading, self.learner_bytes)

    def __str__(self) -> str:
        size = (
            "an unknown number of" if self.n_samples is None else f"{self.n_samples:,}"
        )
        lines = [
            f"{size} samples, {self.n_features} features, {self.n_classes} classes",
            f"Reading   {_passes(self.reading_passes)}: encoder, codes"
            + (" (kept in a temporary file in between)" * (self.reading_passes == 1)),
            f"Batches   {_megabytes(self.batch_bytes)}, summaries at most "
            f"{_megabytes(self.summary_bytes)}",
        ]
        if self.code_bytes is None or self.learner_bytes is None:
            lines.append("Codes     unknown: the number of samples is not known")
        else:
            place = "in memory" if self.codes_in_memory else "in a temporary file"
            lines.append(f"Codes     {_megabytes(self.code_bytes)} {place}")
            more = f"{_megabytes(self.learner_bytes)} more"
            lines.append(f"Learners  {more if self.learner_bytes else 'counts only'}")
        for number, (name, rounds) in enumerate(self.rounds.items()):
            lines.append(f"{'' if number else 'Rounds':10}{name}: {rounds}")
        if self.peak_bytes is not None:
            lines.append(f"Peak      {_megabytes(self.peak_bytes)} of memory, about")
        return "\n".join(lines)


def plan_fit(
    X: Any,
    y: Any,
    sample_weight: Any,
    encoder: TableEncoder,
    learner: NetworkLearner,
    options: Any,
) -> FitPlan:
    """Plan a fit from the first batch and the number of rows.

    Arguments are those of `encode_batches`, and the learners.
    """
    batches = as_batches(X)
    columns = check_columns(y, sample_weight)
    if not batches.is_repeatable:
        raise InputError(
            "An iterator can be read only once, so a plan, which reads the first "
            "batch, would spoil it; pass a function that returns a new one."
        )
    found = next(batches.named_frames(), None)
    if found is None:
        raise InputError("There are no samples: every batch is empty.")
    where, frame = found
    with naming(where):
        features, target, weights = columns.split(frame)
        classes, labels = column_labels(target, allow_missing=True)
        summary = encoder.summarize_frame(features, classes, labels, weights)
    n_samples = batches.n_rows()
    n_classes = max(2, len(classes))
    weighted = weights is not None or options.class_weight is not None
    code_size = 2 if _has_many_states(summary) else 1
    sample_bytes = len(features.names) * code_size + 1 + 8 * weighted
    learner_bytes = learner.sample_bytes(len(features.names), n_classes)
    code_bytes = None if n_samples is None else n_samples * sample_bytes
    return FitPlan(
        n_samples,
        len(features.names),
        n_classes,
        2 if batches.is_repeatable else 1,
        COPIES * min(batches.batch_rows, n_samples or batches.batch_rows)
        * _row_bytes(frame) + batches.reader().held_bytes(),
        _summary_bytes(summary, n_classes, n_threads(options.n_jobs)),
        code_bytes,
        None if code_bytes is None else code_bytes <= batches.max_memory,
        None if n_samples is None else n_samples * learner_bytes,
        learner.rounds,
    )  # fmt: skip


def _row_bytes(frame: Frame) -> int:
    """Bytes of one row of numbers and category codes."""
    return sum(frame.column(j).data.dtype.itemsize for j in range(frame.n_columns))


def _has_many_states(summary: TableSummary) -> bool:
    """Whether a column of the first batch has so many categories as to need 2 bytes."""
    return any(
        isinstance(column, CategorySummary) and len(column.weights) > 200
        for column in summary.columns
    )


def _summary_bytes(summary: TableSummary, n_classes: int, n_jobs: int) -> int:
    """Greatest size of the summaries, and of the sums of as many as there are threads.

    A numeric column has two bounds and the counts of every cell.
    """
    total = 0
    largest = 0
    for column in summary.columns:
        if isinstance(column, CategorySummary):
            total += 200 * len(column.weights)
            continue
        cells = (
            MAX_DISTINCT
            if 2 * len(column.low) > column.n_observed
            else (len(column.low))
        )
        size = 8 * cells * (2 + (n_classes if column.by_class else 1))
        total += size
        largest = max(largest, size)
    return total + 4 * n_jobs * largest


def _megabytes(n_bytes: int) -> str:
    return f"{max(1, round(n_bytes / 1e6)):,} MB"


def _passes(number: int) -> str:
    return "1 pass" if number == 1 else f"{number} passes"
