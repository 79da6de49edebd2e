"""Scores that are sums over batches or partitions, and cross-validation by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.batch_encoding import BatchColumns, check_columns
from tanager.classifiers.evaluation_result import (
    EvaluationResult,
    FoldResult,
    feature_edges,
)
from tanager.classifiers.metrics import scores
from tanager.distributed.collections import take_rows
from tanager.encoding.frame import Frame
from tanager.encoding.labels import column_labels
from tanager.errors import InputError
from tanager.io.batches import Batches, as_batches, naming
from tanager.types import FloatArray, Progress
from tanager.utils.progress import watch
from tanager.utils.validation import check_whole, is_word

PREFIT = "prefit"
"""The `cv` of models that are fitted already."""

PREFIT_PROTOCOL = "All samples, scored by models that were fitted before"


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
    return score_samples(model, features, classes, labels, weights)


def score_samples(
    model: Any,
    features: Any,
    classes: npt.NDArray[Any],
    labels: npt.NDArray[np.integer],
    weights: FloatArray | None,
) -> BatchScores:
    """Score a fitted classifier on the labelled ones of some samples.

    `labels` are positions in `classes`, their number where the class is missing.
    """
    labelled = np.flatnonzero(labels < len(classes))
    if not len(labelled):
        return BatchScores()
    found = model.predict_proba(take_rows(features, labelled))
    # A class that the model does not know has probability zero.
    probabilities = np.column_stack([found, np.zeros(len(found))])
    known = {label: k for k, label in enumerate(model.classes_.tolist())}
    places = [known.get(label, len(known)) for label in classes.tolist()]
    right = np.array(places)[labels[labelled]]
    given = np.ones(len(right)) if weights is None else weights[labelled]
    totals = given.sum() * np.array(scores(probabilities, right, weights=given))
    return BatchScores(len(right), float(given.sum()), *totals.tolist())


class FoldSource(Protocol):
    """Samples that are split by their position; sample i is in fold i modulo `cv`."""

    def fit(self, model: Any, fold: int) -> None:
        """Fit a fresh model to all folds but one."""
        ...

    def score(self, model: Any, fold: int | None) -> BatchScores:
        """Score a fitted model on one fold, or on all samples."""
        ...


@dataclass(frozen=True, eq=False)
class _BatchFolds:
    """The folds of a table that is read in batches; a `FoldSource`."""

    batches: Batches
    columns: BatchColumns
    n_folds: int

    def fit(self, model: Any, fold: int) -> None:
        source = self._source(fold, training=True)
        model.fit(source, self.columns.target, sample_weight=self.columns.weights)

    def score(self, model: Any, fold: int | None) -> BatchScores:
        if fold is None:
            return score_batches(
                model, self.batches, self.columns.target, self.columns.weights
            )
        source = self._source(fold, training=False)
        return score_batches(model, source, self.columns.target)

    def _source(self, fold: int, *, training: bool) -> Batches:
        def read() -> Iterator[Frame]:
            return _fold_frames(self.batches, self.n_folds, fold, training=training)

        return replace(self.batches, source=read)


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
    """Compare classifiers on data in batches; arguments are those of `evaluate`."""
    check_position_folds(models, cv, n_repeats, scoring)
    columns = check_columns(y, sample_weight)
    batches = as_batches(X)
    if not batches.is_repeatable and not (is_word(cv, PREFIT) and len(models) == 1):
        raise InputError(
            "evaluate reads the batches several times, but an iterator can be read "
            "only once; pass a function that returns a new one."
        )
    source = _BatchFolds(batches, columns, 0 if is_word(cv, PREFIT) else cv)
    return evaluate_folds(models, source, cv, name, progress)


def check_position_folds(
    models: Mapping[str, Any], cv: Any, n_repeats: int, scoring: Any
) -> None:
    """Check the arguments of `evaluate` for data that are not in memory."""
    if not is_word(cv, PREFIT):
        why = "; samples that are not in memory are split by their position"
        check_whole("cv", cv, 2, why=why)
    refuse_further_scores(n_repeats, scoring)
    for title, model in models.items():
        if not isinstance(model, DataFrameClassifier):
            raise InputError(
                f"Model {title!r} ({type(model).__name__}) cannot be fitted in "
                "parts; give classifiers of tanager, or a data frame as X."
            )


def refuse_further_scores(n_repeats: int, scoring: Any) -> None:
    """Raise for repetitions, and for scores that are no sums over samples."""
    if n_repeats != 1 or scoring:
        raise InputError(
            "For data that are not in memory, and for models that are fitted already, "
            "evaluate takes no n_repeats and no scoring: samples are split by their "
            "position, once, and scores are added up."
        )


@dataclass(frozen=True, eq=False)
class FittedOnly:
    """Samples in memory for models that are fitted already; a `FoldSource`.

    `labels` are positions in `classes`, their number where the class is missing.
    """

    X: Any
    classes: npt.NDArray[Any]
    labels: npt.NDArray[np.integer]
    weights: FloatArray | None

    def fit(self, model: Any, fold: int) -> None:
        """Raise: there are no folds."""
        raise AssertionError(f"{type(model).__name__} is not fitted to fold {fold}.")

    def score(self, model: Any, fold: int | None) -> BatchScores:
        """Score a fitted model on all labelled samples."""
        assert fold is None
        return score_samples(model, self.X, self.classes, self.labels, self.weights)


def evaluate_folds(
    models: Mapping[str, Any],
    source: FoldSource,
    cv: Any,
    name: str,
    progress: Progress | None,
) -> EvaluationResult:
    """Fit all models to all folds but one, for every fold, or score fitted ones."""
    folds: list[FoldResult] = []
    n_features = n_classes = 0
    numbers: Iterable[int | None] = [None] if cv == PREFIT else range(cv)
    with watch("evaluate", keeps=False):  # Ctrl-C ends all fits
        for place, fold in enumerate(numbers):
            for title, model in models.items():
                if progress is not None:
                    text = title
                    if fold is not None:
                        text += f", fold {fold + 1} of repetition 1"
                    n_folds = 1 if fold is None else cv
                    progress(len(folds) + 1, len(models) * n_folds, text)
                fitted = model if fold is None else clone(model)
                folds.append(_run_fold(title, fitted, source, place, fold))
                n_features = fitted.n_features_in_
                n_classes = max(n_classes, len(fitted.classes_))
    n_samples = sum(found.n_test for found in folds[:: len(models)])
    if cv != PREFIT:
        folds = [replace(found, n_train=n_samples - found.n_test) for found in folds]
    return EvaluationResult(
        data=name,
        models=tuple(models),
        folds=tuple(folds),
        n_samples=n_samples,
        n_unlabelled=0,
        n_features=n_features,
        n_classes=n_classes,
        n_repeats=1,
        random_state=0,
        protocol=PREFIT_PROTOCOL
        if cv == PREFIT
        else f"{cv}-fold cross-validation by position of the samples",
        rare_classes=(),
    )


def _run_fold(
    title: str, model: Any, source: FoldSource, place: int, fold: int | None
) -> FoldResult:
    """Fit a fresh model to the other folds and score it on this one."""
    started = perf_counter()
    if fold is None:
        check_is_fitted(model)
    else:
        source.fit(model, fold)
    fitted = perf_counter()
    found = source.score(model, fold)
    ended = perf_counter()
    networks = model.networks_ if isinstance(model, DataFrameClassifier) else ()
    return FoldResult(
        model=title,
        repeat=1,
        fold=place + 1,
        n_train=0,
        n_test=found.n_samples,
        accuracy=found.accuracy,
        log_loss=found.log_loss,
        brier=found.brier,
        fit_seconds=fitted - started if fold is not None else 0.0,
        predict_seconds=ended - fitted,
        n_parameters=sum(n.n_parameters for n in networks) if networks else None,
        scores={},
        edges=feature_edges(networks),
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
