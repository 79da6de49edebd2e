"""Scores of classifiers on Dask collections, summed partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.batch_evaluation import (
    PREFIT,
    BatchScores,
    check_position_folds,
    evaluate_folds,
    score_samples,
)
from tanager.classifiers.evaluation_result import EvaluationResult
from tanager.data.partition_values import add_results
from tanager.distributed.collections import (
    Chunk,
    PositionFold,
    SampleCollections,
    active_client,
    count_rows,
    n_rows_of,
)
from tanager.distributed.encoded_partitions import collect_tasks, sum_tasks
from tanager.encoding.labels import encode_labels
from tanager.errors import InputError
from tanager.types import Progress
from tanager.utils.validation import is_word, read_weights


def score_collections(
    model: DataFrameClassifier, collections: SampleCollections
) -> BatchScores:
    """Score a fitted classifier on all labelled samples of Dask collections.

    Every partition is scored where it is; only the model and sums travel.
    """
    tasks = collections.map(_score_chunks, model)
    total: BatchScores = sum_tasks(active_client(), tasks, add_results)
    if not total.weight:
        raise InputError(
            "There are no samples with a class in y; expected at least one."
        )
    return total


def _score_chunks(chunks: Iterable[Chunk], model: DataFrameClassifier) -> BatchScores:
    """The sum of the scores of the chunks of one partition."""
    total = BatchScores()
    for X, y, weights in chunks:
        n_rows = n_rows_of(X)
        given = read_weights(weights, n_rows)
        classes, labels = encode_labels(
            y, n_rows, "evaluate", allow_missing=True, some=False
        )
        total = total + score_samples(model, X, classes, labels, given)
    return total


class _PartitionFolds:
    """The folds of Dask collections; a `FoldSource`."""

    def __init__(self, collections: SampleCollections, n_folds: int) -> None:
        self.collections = collections
        self.n_folds = n_folds

    @cached_property
    def starts(self) -> Sequence[int]:
        """Positions of the first samples of all partitions."""
        sizes = collect_tasks(active_client(), self.collections.map(count_rows))
        starts: list[int] = np.cumsum([0, *sizes[:-1]]).tolist()
        return starts

    def fit(self, model: Any, fold: int) -> None:
        """Fit a fresh model to all folds but one."""
        model._fit_collections(self._samples(fold, inside=False))

    def score(self, model: Any, fold: int | None) -> BatchScores:
        """Score a fitted model on one fold, or on all samples."""
        if fold is None:
            return score_collections(model, self.collections)
        tested = self._samples(fold, inside=True)
        return score_collections(model, replace(tested, weights=None))

    def _samples(self, fold: int, *, inside: bool) -> SampleCollections:
        chosen = PositionFold(self.starts, self.n_folds, fold, inside)
        return replace(self.collections, fold=chosen)


def evaluate_collections(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    n_repeats: int,
    scoring: Any,
    sample_weight: Any,
    name: str,
    progress: Progress | None,
) -> EvaluationResult:
    """Compare classifiers on Dask collections; arguments are those of `evaluate`."""
    check_position_folds(models, cv, n_repeats, scoring)
    collections = SampleCollections(X, y, sample_weight)
    source = _PartitionFolds(collections, 0 if is_word(cv, PREFIT) else cv)
    return evaluate_folds(models, source, cv, name, progress)
