"""Scores of classifiers on a table that is read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.batch_training import BatchColumns, check_columns
from tanager.classifiers.evaluation_result import (
    EvaluationResult,
    FoldResult,
    feature_edges,
)
from tanager.classifiers.metrics import scores
from tanager.encoding.frame import Frame
from tanager.encoding.labels import column_labels
from tanager.errors import InputError
from tanager.io.batches import Batches, as_batches, naming
from tanager.types import Progress
from tanager.utils.progress import watch
from tanager.utils.validation import check_whole


@dataclass(frozen=True)
class BatchScores:
    """Sums over samples; scores of batches add.

    Parameters
    ----------
    n_samples : int
        Number of labelled samples.
    weight : float
        Sum of their weights.
    right, log_loss_sum, brier_sum : float
        Weighted sums of right predictions, losses and Brier scores.
    """

    n_samples: int = 0
    weight: float = 0.0
    right: float = 0.0
    log_loss_sum: float = 0.0
    brier_sum: float = 0.0

    def __add__(self, other: BatchScores) -> BatchScores:
        return BatchScores(
            self.n_samples + other.n_samples,
            self.weight + other.weight,
            self.right + other.right,
            self.log_loss_sum + other.log_loss_sum,
            self.brier_sum + other.brier_sum,
        )

    @property
    def accuracy(self) -> float:
        """Fraction of the weight of samples whose most probable class is right."""
        return self.right / self.weight

    @property
    def log_loss(self) -> float:
        """Mean of -ln P(right class)."""
        return self.log_loss_sum / self.weight

    @property
    def brier(self) -> float:
        """Mean Brier score, the sum of squares over all classes."""
        return self.brier_sum / self.weight


def score_batches(
    model: DataFrameClassifier, X: Any, y: Any, sample_weight: Any = None
) -> BatchScores:
    """Score a fitted classifier on all labelled samples, batch by batch."""
    columns = check_columns(y, sample_weight)
    total = BatchScores()
    for where, frame in as_batches(X).named_frames():
        with naming(where):
            total = total + _score_frame(model, frame, columns)
    if not total.weight:
        raise InputError(
            f"There are no samples with a class in {y!r}; expected at least one."
        )
    return total


def _score_frame(
    model: DataFrameClassifier, frame: Frame, columns: BatchColumns
) -> BatchScores:
    features, target, weights = columns.split(frame)
    if not features.n_rows:
        return BatchScores()
    classes, labels = column_labels(target, allow_missing=True)
    labelled = np.flatnonzero(labels < len(classes))
    if not len(labelled):
        return BatchScores()
    found = model.predict_proba(features.take(labelled))
    # A class that the model does not know has probability zero.
    probabilities = np.column_stack([found, np.zeros(len(found))])
    known = {label: k for k, label in enumerate(model.classes_.tolist())}
    places = [known.get(label, len(known)) for label in classes.tolist()]
    right = np.array(places)[labels[labelled]]
    given = np.ones(len(right)) if weights is None else weights[labelled]
    totals = given.sum() * np.array(scores(probabilities, right, weights=given))
    return BatchScores(len(right), float(given.sum()), *totals.tolist())


def evaluate_batches(
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
    """Compare classifiers by cross-validation; arguments are those of `evaluate`."""
    check_whole("cv", cv, 2, why="; batches are split by the position of their rows")
    columns = check_columns(y, sample_weight)
    batches = as_batches(X)
    if n_repeats != 1 or scoring:
        raise InputError(
            "For data in batches evaluate takes no n_repeats and no scoring: samples "
            "are split by their position, once, and scores are added over batches."
        )
    if not batches.is_repeatable:
        raise InputError(
            "evaluate reads the batches several times, but an iterator can be read "
            "only once; pass a function that returns a new one."
        )
    for title, model in models.items():
        if not isinstance(model, DataFrameClassifier):
            raise InputError(
                f"Model {title!r} ({type(model).__name__}) cannot be fitted in "
                "batches; give classifiers of tanager, or a data frame as X."
            )
    folds: list[FoldResult] = []
    n_features = n_classes = 0
    with watch("evaluate", keeps=False):  # Ctrl-C ends all fits
        for fold in range(1, cv + 1):
            for title, model in models.items():
                if progress is not None:
                    text = f"{title}, fold {fold} of repetition 1"
                    progress(len(folds) + 1, cv * len(models), text)
                fitted = clone(model)
                folds.append(_run_fold(title, fitted, batches, columns, cv, fold))
                n_features = fitted.n_features_in_
                n_classes = max(n_classes, len(fitted.classes_))
    n_samples = sum(found.n_test for found in folds[:: len(models)])
    return EvaluationResult(
        data=name,
        models=tuple(models),
        folds=tuple(replace(f, n_train=n_samples - f.n_test) for f in folds),
        n_samples=n_samples,
        n_unlabelled=0,
        n_features=n_features,
        n_classes=n_classes,
        n_repeats=1,
        random_state=0,
        protocol=f"{cv}-fold cross-validation by position of the samples",
        rare_classes=(),
    )


def _run_fold(
    title: str,
    model: Any,
    batches: Batches,
    columns: BatchColumns,
    cv: int,
    fold: int,
) -> FoldResult:
    """Fit a fresh model to the other folds and score it on this one."""

    def source(training: bool) -> Batches:
        return replace(
            batches,
            source=lambda: _fold_frames(batches, cv, fold - 1, training=training),
        )

    started = perf_counter()
    model.fit(source(True), columns.target, sample_weight=columns.weights)
    fitted = perf_counter()
    found = score_batches(model, source(False), columns.target)
    ended = perf_counter()
    return FoldResult(
        model=title,
        repeat=1,
        fold=fold,
        n_train=0,
        n_test=found.n_samples,
        accuracy=found.accuracy,
        log_loss=found.log_loss,
        brier=found.brier,
        fit_seconds=fitted - started,
        predict_seconds=ended - fitted,
        n_parameters=sum(network.n_parameters for network in model.networks_),
        scores={},
        edges=feature_edges(model.networks_),
    )


def _fold_frames(
    batches: Batches, cv: int, fold: int, *, training: bool
) -> Iterator[Frame]:
    """The rows of all other folds, or of one; row i is in fold i modulo `cv`."""
    start = 0
    for _, frame in batches.named_frames():
        inside = np.arange(start, start + frame.n_rows) % cv == fold
        start += frame.n_rows
        rows = np.flatnonzero(inside != training)
        if len(rows):
            yield frame.take(rows)
