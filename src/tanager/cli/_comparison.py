"""Cross-validation of several classifiers on the same folds, and its summary."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from tanager._version import __version__
from tanager.classifiers import BayesNetClassifier, BoostedClassifier
from tanager.classifiers.metrics import scores
from tanager.cli._data import TrainingData, with_class
from tanager.cli._output import Progress, one_line, table_text
from tanager.compare import corrected_t_test
from tanager.encoding.table import Table
from tanager.errors import InputError
from tanager.types import BoolArray, IndexArray

WARM_CELLS = 250_000
"""Cells of a fit that is not timed: enough for the compiled kernels to be used."""

WARM_ROWS = 100
"""Rows of a prediction that is not timed, of complete and of incomplete rows."""

SIGNIFICANT = 0.05
"""Differences with a smaller p are marked."""

Make = Callable[[], BayesNetClassifier | BoostedClassifier]
Split = tuple[int, int, IndexArray, IndexArray]


@dataclass(frozen=True)
class FoldResult:
    """How one classifier did in one fold.

    Parameters
    ----------
    model : str
        Name of the classifier.
    repeat, fold : int
        Which fold, counted from 1.
    n_train, n_test : int
        Numbers of rows that have a class.
    accuracy : float
        Share of test rows whose most probable class is right.
    log_loss : float
        Mean of -ln P(right class), probabilities of at least 2.2e-16.
    brier : float
        Mean over rows of the sum over classes of (P(class) - [right])^2; 0 to 2.
    fit_seconds, predict_seconds : float
        Time to fit, and to classify the test rows.
    n_parameters : int
        Free parameters of the network.
    """

    model: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    accuracy: float
    log_loss: float
    brier: float
    fit_seconds: float
    predict_seconds: float
    n_parameters: int


@dataclass(frozen=True)
class Metric:
    """A column of the summary: title, value of a fold, digits, better if higher."""

    title: str
    value: Callable[[FoldResult], float]
    digits: int
    sign: int


METRICS = (
    Metric("Accuracy %", lambda fold: 100 * fold.accuracy, 2, 1),
    Metric("Log loss", lambda fold: fold.log_loss, 3, -1),
    Metric("Brier score", lambda fold: fold.brier, 3, -1),
)
SECONDS = Metric("Seconds", lambda fold: fold.fit_seconds + fold.predict_seconds, 3, 0)


def make_splits(
    labels: npt.NDArray[Any], cv: int, repeats: int, seed: int
) -> tuple[list[Split], list[str]]:
    """Stratified folds, shuffled anew in every repetition.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Classes; rows without one (None) are in all training rows and in no test.
    cv : int
        Number of folds.
    repeats : int
        Number of repetitions.
    seed : int
        Seed of the shuffling.

    Returns
    -------
    splits : list of (repeat, fold, training rows, test rows)
        Counted from 1.
    rare : list of str
        Classes with fewer rows than folds, in words.
    """
    known = with_class(labels)
    rows, others = np.flatnonzero(known), np.flatnonzero(~known)
    classes, codes = np.unique(np.asarray(labels)[rows], return_inverse=True)
    counts = np.bincount(codes)
    if counts.max() < cv:
        raise InputError(
            f"The largest class has {counts.max()} rows, fewer than the {cv} folds; "
            f"use --cv {max(2, int(counts.max()))} or get more rows."
        )
    rare = [
        f"{one_line(str(label))} ({count})"
        for label, count in zip(classes, counts, strict=True)
        if count < cv
    ]
    splits = []
    for repeat in range(repeats):
        folds = StratifiedKFold(cv, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            # Rare classes are told of by the caller, by name.
            warnings.filterwarnings("ignore", message="The least populated class")
            pairs = list(folds.split(codes, codes))
        splits += [
            (repeat + 1, k + 1, np.union1d(rows[train], others), rows[test])
            for k, (train, test) in enumerate(pairs)
        ]
    return splits, rare


def compare(
    data: TrainingData,
    makers: Mapping[str, Make],
    splits: Sequence[Split],
    progress: Progress,
) -> list[FoldResult]:
    """Fit and test every classifier on every fold.

    Parameters
    ----------
    data : TrainingData
        The rows.
    makers : mapping from name to function
        Each makes a fresh classifier.
    splits : sequence of splits
        As `make_splits` gives them.
    progress : Progress
        Told of every step.

    Returns
    -------
    list of FoldResult
        By fold, then in the order of `makers`.

    Notes
    -----
    Every classifier is first fitted once to some rows and predicts complete and
    incomplete ones, which is not counted: the first use loads or compiles code, and
    that is not the time of a fold.
    """
    labels = np.asarray(data.labels)
    classes = data.classes
    _, _, train, _ = splits[0]
    some = _some_rows(train, labels, max(200, WARM_CELLS // data.features.n_columns))
    for make in makers.values():
        _warm_up(make(), data, labels, some)
    results = []
    for split in splits:
        for name, make in makers.items():
            progress.step(f"{name}, fold {split[1]} of repetition {split[0]}")
            results.append(_run(make, name, data, labels, classes, split))
    return results


def _warm_up(
    model: BayesNetClassifier | BoostedClassifier,
    data: TrainingData,
    labels: npt.NDArray[Any],
    rows: IndexArray,
) -> None:
    """Fit and predict once, so that all code that folds may need is loaded.

    Rows with a missing cell have kernels of their own, which a fold also needs for a
    category that is not in its training rows.
    """
    weights = None if data.weights is None else data.weights[rows]
    model.fit(data.features.take(rows), labels[rows], sample_weight=weights)
    model.predict_proba(data.features)
    complete = np.flatnonzero(~_incomplete(data.features))[:WARM_ROWS]
    if len(complete):
        model.predict_proba(data.features.take(complete))
    model.predict_proba(_with_a_gap(data.features.take(slice(0, WARM_ROWS))))


def _incomplete(table: Table) -> BoolArray:
    """Rows with a missing cell."""
    found = np.zeros(table.n_rows, dtype=np.bool_)
    for j in range(table.n_columns):
        column = table.column(j)
        found |= np.isnan(column.data) if column.is_numeric else column.data < 0
    return found


def _with_a_gap(table: Table) -> Table:
    """The same rows, the first column missing in the first of them."""
    columns = [table.column(j) for j in range(table.n_columns)]
    first = columns[0]
    if first.is_numeric:
        values = first.data.astype(np.float64)
        values[0] = np.nan
        columns[0] = replace(first, values=values)
    else:
        codes = first.data.copy()
        codes[0] = -1
        columns[0] = replace(first, codes=codes)
    return replace(table, columns=tuple(columns), matrix=None)


def _some_rows(rows: IndexArray, labels: npt.NDArray[Any], enough: int) -> IndexArray:
    """About `enough` rows, spread evenly, and one of every class."""
    step = max(1, len(rows) // enough)
    known = rows[with_class(labels[rows])]
    _, first = np.unique(labels[known], return_index=True)
    return np.union1d(rows[::step], known[first])


def _run(
    make: Make,
    name: str,
    data: TrainingData,
    labels: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    split: Split,
) -> FoldResult:
    repeat, fold, train, test = split
    weights = None if data.weights is None else data.weights[train]
    model = make()
    features = data.features.take(train)
    started = perf_counter()
    model.fit(features, labels[train], sample_weight=weights)
    fitted = perf_counter()
    found = model.predict_proba(data.features.take(test))
    ended = perf_counter()
    # A class without a training row has probability zero.
    probabilities = np.zeros((len(test), len(classes)))
    probabilities[:, np.searchsorted(classes, model.classes_)] = found
    right = np.searchsorted(classes, labels[test])
    accuracy, log_loss, brier = scores(probabilities, right)
    return FoldResult(
        name,
        repeat,
        fold,
        int(with_class(labels[train]).sum()),
        len(test),
        accuracy,
        log_loss,
        brier,
        fitted - started,
        ended - fitted,
        sum(network.n_parameters for network in model.networks_),
    )


def summary_text(results: Sequence[FoldResult]) -> str:
    """Table of means and standard deviations, with marks; see `legend_text`.

    Parameters
    ----------
    results : sequence of FoldResult
        Of all classifiers on the same folds; the first is what the others are
        compared with.

    Returns
    -------
    str
        A line for every classifier.
    """
    by_name: dict[str, list[FoldResult]] = {}
    for result in results:
        by_name.setdefault(result.model, []).append(result)
    first = next(iter(by_name.values()))
    rows = []
    for name, own in by_name.items():
        cells = [_cell(metric, own, first) for metric in METRICS]
        rows.append([name, *cells, _cell(SECONDS, own, own)])
    head = ["Model", *(metric.title for metric in (*METRICS, SECONDS))]
    return table_text(head, rows)


def legend_text(names: Sequence[str]) -> str:
    """What the numbers and marks of `summary_text` mean."""
    text = "Mean ± standard deviation over folds; seconds to fit and predict."
    if len(names) > 1:
        text += (
            f"\n+ better, - worse than {names[0]} (corrected paired t-test, p < "
            f"{SIGNIFICANT})."
        )
    return text


def _cell(
    metric: Metric, own: Sequence[FoldResult], first: Sequence[FoldResult]
) -> str:
    values = np.array([metric.value(fold) for fold in own])
    text = f"{values.mean():.{metric.digits}f} ± {values.std(ddof=1):.{metric.digits}f}"
    return text + " " + _mark(metric, own, first)


def _mark(
    metric: Metric, own: Sequence[FoldResult], first: Sequence[FoldResult]
) -> str:
    if metric.sign == 0 or own is first:
        return " "
    differences = [
        metric.sign * (metric.value(a) - metric.value(b))
        for a, b in zip(own, first, strict=True)
    ]
    share = float(np.mean([fold.n_test / fold.n_train for fold in own]))
    t, p = corrected_t_test(differences, share)
    if p >= SIGNIFICANT:
        return " "
    return "+" if t > 0 else "-"


def result_columns(
    results: Sequence[FoldResult], data: str, seed: int
) -> dict[str, list[Any]]:
    """Columns of a results file: one row for every classifier and fold."""
    rows = [
        {"data": data, **asdict(result), "seed": seed, "tanager": __version__}
        for result in results
    ]
    return {key: [row[key] for row in rows] for key in rows[0]}
