"""Encoding of Dask partitions: one pass for the schema, one for the codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import ArrayData
from tanager.data.partition_values import FAN_IN
from tanager.data.partitioned_data import LocalPartitions, join_parts
from tanager.distributed.collections import Chunk, SampleCollections, active_client
from tanager.distributed.dask_data import (
    ATTEMPTS,
    DaskData,
    check_open,
    name_partition,
    workers_died_error,
)
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
    """The samples of a fit in Dask collections, and how they are read."""

    def __init__(self, collections: SampleCollections, rules: ReadingRules) -> None:
        self.collections = collections
        self.rules = rules
        self.client = active_client()

    def summarize(self, encoder: TableEncoder) -> TableSummary:
        """Summarise all partitions where they are, and add the summaries up."""
        from dask.delayed import delayed

        tasks = self.collections.map(_summarize_partition, encoder, self.rules)
        numbered = [
            delayed(_PartSummary, pure=False)(number, number, task)
            for number, task in enumerate(tasks)
        ]
        summary = sum_tasks(self.client, numbered, _add_parts).summary
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
        tasks = self.collections.map(
            _encode_partition, schema, classes, factors, scale, self.rules
        )
        if self.client is not None:
            return DaskData(self.client, schema, tasks, n_jobs)
        return LocalPartitions(_compute_here(tasks), n_jobs)


def _compute_here(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks by Dask's scheduler in this process."""
    from dask.base import compute

    return list(compute(*tasks))  # type: ignore[no-untyped-call]


def collect_tasks(client: Any, tasks: Sequence[Any]) -> list[Any]:
    """The results of tasks, computed on the workers of a cluster if there is one."""
    if client is None:
        return _compute_here(tasks)

    def wait(futures: list[Any]) -> list[Any]:
        return list(client.gather(futures))

    found: list[Any] = _repeat_while_workers_die(client, tasks, wait)
    return found


def sum_tasks(
    client: Any, tasks: Sequence[Any], add_all: Callable[[Sequence[Any]], Any]
) -> Any:
    """Add the results of tasks, on the workers of a cluster if there is a client.

    Neighbouring results are added in groups of `FAN_IN` by `add_all`, then their sums.
    """

    def add_groups(level: list[Any], call: Callable[[Any, Any], Any]) -> Any:
        while len(level) > 1:
            starts = range(0, len(level), FAN_IN)
            level = [call(add_all, level[start : start + FAN_IN]) for start in starts]
        return level[0]

    if client is None:
        return add_groups(_compute_here(tasks), lambda function, group: function(group))

    def wait(futures: list[Any]) -> Any:
        def submit(function: Any, group: Any) -> Any:
            futures.append(client.submit(function, group, pure=False))
            return futures[-1]

        return add_groups(list(futures), submit).result()

    return _repeat_while_workers_die(client, tasks, wait)


def _repeat_while_workers_die(
    client: Any, tasks: Sequence[Any], wait: Callable[[list[Any]], Any]
) -> Any:
    """What `wait` makes of the futures of tasks; nothing is left on the workers.

    It appends further futures to those that it gets.
    """
    from distributed import KilledWorker

    for _ in range(ATTEMPTS):
        check_open(client)
        futures = client.compute(list(tasks))
        try:
            return wait(futures)
        except KilledWorker:
            continue
        except Exception as error:
            check_open(client)
            name_partition(futures[: len(tasks)], error)
            raise
        finally:
            if client.status == "running":
                client.cancel(futures, force=True)
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
    chunks: Iterable[Chunk], encoder: TableEncoder, rules: ReadingRules
) -> TableSummary | None:
    return _add_summaries(
        encoder.summarize_frame(*_read(*chunk, rules)) for chunk in chunks
    )


@dataclass(frozen=True)
class _PartSummary:
    """The summary of neighbouring partitions; None if they are empty."""

    first: int
    last: int
    summary: TableSummary | None

    @property
    def where(self) -> str:
        """Their numbers, for errors."""
        if self.first == self.last:
            return f"partition {self.first}"
        return f"partitions {self.first} to {self.last}"

    def __add__(self, other: _PartSummary) -> _PartSummary:
        try:
            total = _add_summaries([self.summary, other.summary])
        except InputError as error:
            raise InputError(
                f"{error} (found in {other.where}, compared with {self.where})"
            ) from error
        return _PartSummary(self.first, other.last, total)


def _add_parts(parts: Sequence[_PartSummary]) -> _PartSummary:
    """Add the summaries of neighbouring partitions, one after the other."""
    return reduce(add, parts)


def _add_summaries(summaries: Iterable[TableSummary | None]) -> TableSummary | None:
    """Add summaries; None are those of empty partitions."""
    total = None
    for summary in summaries:
        if summary is not None:
            total = summary if total is None else total + summary
    return total


def _encode_partition(
    chunks: Iterable[Chunk],
    schema: Schema,
    classes: npt.NDArray[Any],
    factors: FloatArray | None,
    scale: float,
    rules: ReadingRules,
) -> ArrayData:
    features = Schema(schema.variables[:-1])
    n_classes = len(classes)

    def encode(chunk: Chunk) -> tuple[Any, Any, Any]:
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

    coded = list(map(encode, chunks))
    if not coded:
        dtype = np.min_scalar_type(n_classes)
        codes = np.empty((0, len(features)), dtype=np.uint8, order="F")
        return ArrayData(schema, codes, np.empty(0, dtype=dtype))
    return join_parts(schema, coded, None)
