"""Training data in batches: one pass for the encoder, one to codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.classifiers.training import add_target, class_factors
from tanager.data import ArrayData
from tanager.data.code_buffer import CodeBuffer
from tanager.encoding import EncodingPlan, TableEncoder, TableSummary
from tanager.encoding.date_parts import restore_date_parts
from tanager.encoding.feature_checks import refuse_missing
from tanager.encoding.frame import Column, Frame
from tanager.encoding.labels import BY_EM, column_labels
from tanager.encoding.table_summary import sum_summaries
from tanager.errors import InputError, unknown_name
from tanager.io.batches import Batches, as_batches, naming
from tanager.io.frame_spool import FrameSpool
from tanager.types import AnyArray, FloatArray, LabelArray
from tanager.utils.progress import check_stop, report
from tanager.utils.validation import read_weights

NamedFrames = Callable[[], Iterator[tuple[str, Frame]]]


@dataclass(frozen=True)
class BatchColumns:
    """The names of the columns that hold the class and, if any, the weight."""

    target: str
    weights: str | None = None

    def split(self, frame: Frame) -> tuple[Frame, Column, FloatArray | None]:
        """Features, target and weights of a batch, without rows of weight zero."""
        target = find_column(frame, self.target, "target column")
        weights = None
        if self.weights is not None:
            column = find_column(frame, self.weights, "weight column")
            if not column.is_numeric:
                raise InputError(
                    f"The weights in {self.weights!r} must be numbers, got "
                    f"{column.categories[0]!r}."
                )
            weights = read_weights(column.data, frame.n_rows)
        kept = [
            j
            for j, name in enumerate(frame.names)
            if name not in (self.target, self.weights)
        ]
        if not kept:
            raise InputError(
                f"There is no column except {', '.join(map(repr, frame.names))}; a "
                "classifier needs at least one feature."
            )
        features = Frame(
            tuple(frame.names[j] for j in kept),
            frame.n_rows,
            tuple(frame.column(j) for j in kept),
            None,
            frame.has_names,
        )
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            return features.take(rows), target.take(rows), weights[rows]
        return features, target, weights


def find_column(frame: Frame, name: str, what: str) -> Column:
    """A column of a batch by name; the error for an unknown name lists the nearest."""
    if name not in frame.names:
        raise unknown_name(what, name, frame.names)
    return frame.column(frame.names.index(name))


def check_columns(y: Any, sample_weight: Any) -> BatchColumns:
    """Check that target and weights are given by name."""
    if not isinstance(y, str):
        raise InputError(
            "For data in batches y must be the name of the column that holds the "
            f"classes, got {type(y).__name__}; for example "
            'fit("folder/*.parquet", "species").'
        )
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise InputError(
            "For data in batches sample_weight must be None or the name of the column "
            f"that holds the weights, got {type(sample_weight).__name__}."
        )
    if sample_weight == y:
        raise InputError(f"{y!r} cannot be both the target and the weights.")
    return BatchColumns(y, sample_weight)


def encode_batches(
    X: Any,
    y: Any,
    sample_weight: Any,
    encoder: TableEncoder,
    options: Any,
    unlabelled: bool,
) -> tuple[AnyArray, ArrayData]:
    """Fit an encoder to all batches, and encode them.

    Parameters
    ----------
    X : Batches or source of `Batches`
        The table.
    y, sample_weight : str, and str or None
        Names of columns.
    encoder : TableEncoder
        Becomes fitted.
    options : object
        An estimator with `missing`, `class_weight` and `n_jobs`.
    unlabelled : bool
        Whether classes may be missing.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    data : ArrayData
        The coded samples; its arrays may be in a file.
    """
    batches = as_batches(X)
    columns = check_columns(y, sample_weight)
    with ExitStack() as stack:
        spool = None
        if not batches.is_repeatable:
            spool = stack.enter_context(FrameSpool(batches.folder))
        parts = (
            _summarize(where, frame, columns, encoder, options, unlabelled, spool)
            for where, frame in batches.named_frames()
        )
        summary = sum_summaries(_added(parts))
        _check_classes(summary, columns.target)
        encoder.fit_summary(summary, options.n_jobs)
        frames = batches.named_frames if spool is None else spool.frames
        coder = _Coder(summary, columns, encoder, options)
        return coder.classes, coder.encode(frames, batches)


def _summarize(
    where: str,
    frame: Frame,
    columns: BatchColumns,
    encoder: TableEncoder,
    options: Any,
    unlabelled: bool,
    spool: FrameSpool | None,
) -> tuple[str, TableSummary | None]:
    """The summary of one batch; None if all its weights are zero."""
    check_stop()
    with naming(where):
        if spool is not None:
            spool.append(frame)
        features, target, weights = columns.split(frame)
        if not features.n_rows:
            return where, None
        if options.missing == "error":
            refuse_missing(features)
        classes, labels = column_labels(target, allow_missing=unlabelled, advice=BY_EM)
        return where, encoder.summarize_frame(
            features, classes, labels, weights, options.n_jobs
        )


def _added(
    parts: Iterator[tuple[str, TableSummary | None]],
) -> Iterator[TableSummary]:
    """Running sum of the summaries; errors name the batch that does not fit."""
    total: TableSummary | None = None
    for number, (where, summary) in enumerate(parts, start=1):
        n_rows = 0 if total is None else total.n_rows
        report("summary", number, unit="batch", values={"rows": n_rows})
        if summary is None:
            continue
        with naming(where):
            total = summary if total is None else total + summary
    if total is not None:
        yield total


def _check_classes(summary: TableSummary, target: str) -> None:
    """Raise unless there are at least two classes."""
    assert summary.classes is not None
    found = summary.classes.tolist()
    if len(found) < 2:
        what = f"only one class, {found[0]!r}" if found else "no class"
        raise InputError(
            f"The target {target!r} has {what}; a classifier needs at least two "
            "classes."
        )


class _Coder:
    """The second pass: from batches to coded samples."""

    def __init__(
        self,
        summary: TableSummary,
        columns: BatchColumns,
        encoder: TableEncoder,
        options: Any,
    ) -> None:
        assert summary.classes is not None
        self.summary = summary
        self.columns = columns
        self.features = encoder.schema_
        self.n_jobs = options.n_jobs
        self.classes = summary.classes
        self.factors = None
        if options.class_weight is not None:
            totals = summary.class_weights * summary.weight_scale
            self.factors = class_factors(options.class_weight, self.classes, totals)

    def encode(self, frames: NamedFrames, batches: Batches) -> ArrayData:
        """Fill a buffer with the codes, labels and weights of all batches."""
        schema = add_target(self.features, self.classes, self.columns.target)
        n_features = len(self.features)
        code_type = self.features.value_rules.dtype
        label_type = np.min_scalar_type(len(self.classes))
        dtypes = [np.dtype(code_type)] * n_features + [label_type]
        weighted = self.columns.weights is not None or self.factors is not None
        if weighted:
            dtypes.append(np.dtype(np.float64))
        with CodeBuffer(
            self.summary.n_rows,
            dtypes,
            max_memory=batches.max_memory,
            folder=batches.folder,
        ) as buffer:
            for where, frame in frames():
                n_done = buffer.n_rows
                report("encoding", n_done, self.summary.n_rows, unit="row")
                with naming(where):
                    features, target, weights = self.columns.split(frame)
                    if not features.n_rows:
                        continue
                    features = restore_date_parts(features, self.features.names)
                    plan = EncodingPlan(features, self.features)
                    codes = plan.encode(n_jobs=self.n_jobs)
                    labels = self._labels(target)
                    more = [self._weights(labels, weights)] if weighted else []
                    buffer.append([*codes.T, labels, *more])
            return ArrayData(
                schema,
                buffer.matrix(0, n_features),
                buffer.column(n_features),
                buffer.column(n_features + 1) if weighted else None,
                self.n_jobs,
            )

    def _labels(self, target: Column) -> LabelArray:
        """Positions of the classes of a batch among all."""
        found, labels = column_labels(target, allow_missing=True)
        places = np.append(np.searchsorted(self.classes, found), len(self.classes))
        if not np.isin(found, self.classes).all():
            raise InputError(
                f"The target {target.name!r} has classes that the first pass did not "
                f"find: {np.setdiff1d(found, self.classes).tolist()}; expected the "
                "same rows in every pass."
            )
        positions: LabelArray = places[labels]
        return positions

    def _weights(self, labels: LabelArray, weights: FloatArray | None) -> FloatArray:
        """Weights of the samples of a batch."""
        given = np.ones(len(labels)) if weights is None else weights
        given = given * self.summary.weight_scale
        return given if self.factors is None else given * self.factors[labels]
