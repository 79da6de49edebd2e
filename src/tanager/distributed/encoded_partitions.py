"""Encoding of Dask partitions: one pass for the schema, one for the codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import ArrayData
from tanager.data.partitioned_data import LocalPartitions, join_parts
from tanager.data.placement import FAN_IN
from tanager.distributed.collections import (
    active_client,
    n_rows_of,
    read_chunks,
    target_name,
    zip_partitions,
)
from tanager.distributed.dask_data import (
    ATTEMPTS,
    DaskData,
    check_open,
    name_partition,
    workers_died_error,
)
from tanager.distributed.part_state import naming_partition
from tanager.encoding import EncodingPlan, TableEncoder, TableSummary, read_frame
from tanager.encoding.date_parts import restore_date_parts
from tanager.encoding.feature_checks import refuse_missing
from tanager.encoding.frame import Frame
from tanager.encoding.labels import encode_labels
from tanager.encoding.table_summary import sum_summaries
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.types import FloatArray
from tanager.utils.validation import read_weights


@dataclass(frozen=True)
class ReadingRules:
    """How the partitions of a fit are read: the estimator, and what may be missing."""

    who: str
    allow_unlabelled: bool
    refuses_missing: bool


class DaskSamples:
    """Features, labels and weights in the partitions of Dask collections.

    Parameters
    ----------
    X, y, sample_weight : Dask DataFrame, Series, Array or Bag, the last may be None
        Partition by partition the same samples. Bags hold frames.
    rules : ReadingRules
        How they are read.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, rules: ReadingRules) -> None:
        self.partitions = zip_partitions(X, y, sample_weight)
        self.rules = rules
        self.target = target_name(y)
        self.client = active_client()

    def summarize(self, encoder: TableEncoder) -> TableSummary:
        """Summarise all partitions where they are, and add the summaries up."""
        from dask.delayed import delayed

        make = delayed(_summarize_partition, pure=False)
        tasks = [
            make(number, len(self.partitions), *part, encoder, self.rules)
            for number, part in enumerate(self.partitions)
        ]
        if self.client is None:
            summary = _add_summaries(_compute_here(tasks))
        else:
            summary = _sum_on_workers(self.client, tasks)
        return summary if summary is not None else sum_summaries([])

    def encode(
        self,
        schema: Schema,
        classes: npt.NDArray[Any],
        factors: FloatArray | None,
        scale: float,
        n_jobs: int | None,
    ) -> DaskData | LocalPartitions:
        """Encode all partitions; with a client the codes stay on its workers.

        `schema` has the class last; `factors` are weights of the classes and of
        unlabelled samples, shape (n_classes + 1,), or None; `scale` multiplies the
        sample weights.
        """
        from dask.delayed import delayed

        make, n_parts = delayed(_encode_partition, pure=False), len(self.partitions)
        tasks = [
            make(number, n_parts, *part, schema, classes, factors, scale, self.rules)
            for number, part in enumerate(self.partitions)
        ]
        if self.client is not None:
            return DaskData(self.client, schema, tasks, n_jobs)
        return LocalPartitions(_compute_here(tasks), n_jobs)


def _compute_here(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks by Dask's scheduler in this process."""
    from dask.base import compute

    return list(compute(*tasks))  # type: ignore[no-untyped-call]


def _sum_on_workers(client: Any, tasks: Sequence[Any]) -> TableSummary | None:
    """Add the summaries of all partitions on the workers of a cluster."""
    from distributed import KilledWorker

    for _ in range(ATTEMPTS):
        check_open(client)
        futures = client.compute(list(tasks))
        level = futures
        try:
            while len(level) > 1:
                level = [
                    client.submit(_add_summaries, level[k : k + FAN_IN], pure=False)
                    for k in range(0, len(level), FAN_IN)
                ]
            found: TableSummary | None = level[0].result()
        except KilledWorker:
            client.cancel([*futures, *level], force=True)
            continue
        except BaseException as error:
            try:
                if isinstance(error, Exception):
                    name_partition(futures, error)
            finally:
                client.cancel([*futures, *level], force=True)
            raise
        return found
    raise workers_died_error()


def _read(
    X: Any, y: Any, weights: Any, rules: ReadingRules
) -> tuple[Frame, npt.NDArray[Any], npt.NDArray[Any], FloatArray | None]:
    """Frame, classes, labels and weights of one frame of a partition."""
    frame = read_frame(X)
    if rules.refuses_missing:
        refuse_missing(frame)
    classes, labels = encode_labels(
        y,
        frame.n_rows,
        rules.who,
        allow_missing=rules.allow_unlabelled,
        some=False,
    )
    return frame, classes, labels, read_weights(weights, frame.n_rows)


def _summarize_partition(
    number: int,
    n_parts: int,
    X: Any,
    y: Any,
    weights: Any,
    encoder: TableEncoder,
    rules: ReadingRules,
) -> TableSummary | None:
    with naming_partition(number, n_parts):
        summaries = [
            encoder.summarize_frame(*_read(*chunk, rules))
            for chunk in read_chunks(X, y, weights)
            if n_rows_of(chunk[0])
        ]
        return _add_summaries(summaries)


def _add_summaries(summaries: Sequence[TableSummary | None]) -> TableSummary | None:
    """Add summaries; None are those of empty partitions."""
    found = [summary for summary in summaries if summary is not None]
    return sum_summaries(found) if found else None


def _encode_partition(
    number: int,
    n_parts: int,
    X: Any,
    y: Any,
    weights: Any,
    schema: Schema,
    classes: npt.NDArray[Any],
    factors: FloatArray | None,
    scale: float,
    rules: ReadingRules,
) -> ArrayData:
    features = Schema(schema.variables[:-1])
    n_classes = len(classes)

    def encode(chunk: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        frame, own, labels, given = _read(*chunk, rules)
        frame = restore_date_parts(frame, features.names)
        if frame.names != features.names:
            raise InputError(
                f"The columns are {list(frame.names)}; expected "
                f"{list(features.names)}, as in other partitions."
            )
        positions = np.append(np.searchsorted(classes, own), n_classes)
        codes = EncodingPlan(frame, features).encode()
        recoded = positions.astype(np.min_scalar_type(n_classes))[labels]
        if given is not None and not given.all():
            rows = np.flatnonzero(given)
            codes, recoded, given = codes[rows], recoded[rows], given[rows]
        if given is not None and scale != 1.0:
            given = given * scale
        if factors is not None:
            by_class = factors[recoded]
            given = by_class if given is None else given * by_class
        return codes, recoded, given

    with naming_partition(number, n_parts):
        chunks = [c for c in read_chunks(X, y, weights) if n_rows_of(c[0])]
        if not chunks:
            dtype = np.min_scalar_type(n_classes)
            codes = np.empty((0, len(features)), dtype=np.uint8, order="F")
            return ArrayData(schema, codes, np.empty(0, dtype=dtype))
        return join_parts(schema, list(map(encode, chunks)), None)
