"""`evaluate`: cross-validation of several classifiers on the same folds."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold

from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.batch_evaluation import (
    PREFIT,
    FittedOnly,
    evaluate_batches,
    evaluate_folds,
    refuse_further_scores,
)
from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.distributed_evaluation import evaluate_collections
from tanager.classifiers.evaluation_result import (
    EvaluationResult,
    FoldResult,
    feature_edges,
)
from tanager.classifiers.metrics import scores
from tanager.encoding.dataframe_libraries import is_dask
from tanager.encoding.frame import Frame, read_frame
from tanager.encoding.labels import encode_labels
from tanager.errors import InputError
from tanager.io.batches import is_batched
from tanager.types import BoolArray, FloatArray, IndexArray, Progress
from tanager.utils.progress import watch
from tanager.utils.text import one_line, pluralise
from tanager.utils.validation import check_weights, check_whole, is_word

WARM_CELLS = 250_000  # of a fit that is not timed, enough to use compiled kernels
WARM_ROWS = 100  # of a prediction that is not timed, complete and incomplete

FoldSplit = tuple[int, int, IndexArray, IndexArray]


def evaluate(
    models: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    scoring: Any = (),
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    name: str = "data",
    progress: Progress | None = None,
) -> EvaluationResult:
    """Compare classifiers by stratified cross-validation on the same folds.

    Parameters
    ----------
    models : str, estimator, sequence of these, or mapping from str to these
        Method names such as ``"TAN-CMI-ML"`` (see `tanager.names`), and classifiers of
        tanager, scikit-learn or others that have `predict_proba`. The keys of a mapping
        name the models in the result; in a sequence a classifier has the name of its
        class, from the second on with a number. All are compared with the first.
    X : array-like or data frame of shape (n_samples, n_features)
        The features. Or a table with the classes that is read in batches, such as
        ``"folder/*.parquet"``: see `tanager.Batches`. Or a Dask collection, with y and
        weights of the same partitions. Then sample i is in fold i modulo `cv`, and
        every fold reads the batches or partitions three times.
    y : array-like of shape (n_samples,), or str
        The classes; in batches the name of their column. Unlabelled samples (None or
        NaN), which methods such as NB+EM can use, are in all training sets and in no
        test set; in batches and partitions they are in training sets like the others.
    cv : int, scikit-learn splitter or "prefit", default=5
        Number of folds, or an object with a method ``split(X, y)``. ``"prefit"`` means
        that the models are fitted already: they are scored on all samples, and none is
        fitted.
    n_repeats : int, default=1
        Repetitions of the cross-validation, each with its own shuffling; for an `int`
        as `cv` only.
    scoring : str, sequence of str, or mapping from str to scorer, default=()
        Further scores as in scikit-learn, such as ``"balanced_accuracy"``; accuracy,
        log loss and Brier score are always there.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights for fitting. Scores are not weighted, but with ``"prefit"``.
    n_jobs : int or None, default=None
        Threads of every classifier that is given by name. Folds run one after the
        other, since they are timed.
    random_state : int, default=0
        Seed of the folds and of the classifiers that are given by name.
    name : str, default="data"
        Name of the dataset in the result.
    progress : callable or None, default=None
        Called before every fit with its number, the number of fits and a text.

    Returns
    -------
    EvaluationResult
        Prints as a table; has `to_frame`, `to_csv`, `to_results` and `plot`.

    Raises
    ------
    InputError
        If a model is unknown, is no classifier or has no `predict_proba`, or a class is
        too small.

    See Also
    --------
    tune : Search for the settings of one classifier.

    Notes
    -----
    Differences are tested by the corrected paired t-test of Nadeau and Bengio. Before
    the first fold tanager's classifiers are fitted once to a part of the samples, which
    is not timed, so that loading of compiled code does not count.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from tanager import BayesNetClassifier, evaluate
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> models = {
    ...     "TAN": BayesNetClassifier.from_name("TAN-CMI-ML"),
    ...     "logistic": LogisticRegression(max_iter=1000),
    ... }
    >>> result = evaluate(models, X, y, cv=3, name="iris")
    >>> print(result)
    iris: 150 samples, 4 features, 3 classes
    3-fold cross-validation, seed 0
    <BLANKLINE>
    Model     Accuracy %      Log loss         Brier score      Seconds
    TAN       9... ± ...
    logistic  9... ± ...
    <BLANKLINE>
    Mean ± standard deviation over folds; seconds to fit and predict.
    + better, - worse than TAN (corrected paired t-test, p < 0.05).
    >>> sorted(result.to_frame().columns)[:4]
    ['accuracy', 'brier', 'data', 'fit_seconds']
    """
    check_whole("n_repeats", n_repeats, 1)
    check_whole("random_state", random_state, 0)
    makers = _models_by_name(models, n_jobs, random_state)
    if is_dask(X) or is_batched(X):
        evaluate_parts = evaluate_collections if is_dask(X) else evaluate_batches
        return evaluate_parts(
            makers, X, y, cv=cv, n_repeats=n_repeats, scoring=scoring,
            sample_weight=sample_weight, name=name, progress=progress,
        )  # fmt: skip
    scorers = _scorers(scoring)
    table = read_frame(X)
    classes, labels = encode_labels(y, table.n_rows, "evaluate", allow_missing=True)
    codes = labels.astype(np.intp)
    weights = check_weights(sample_weight, table.n_rows)
    if is_word(cv, PREFIT):
        refuse_further_scores(n_repeats, scoring)
        source = FittedOnly(X, classes, codes, weights)
        return evaluate_folds(makers, source, cv, name, progress)
    if isinstance(cv, int | np.integer):
        check_whole("cv", cv, 2)
        cv = int(cv)
        splits, rare = stratified_splits(classes, codes, cv, n_repeats, random_state)
        protocol = f"{cv}-fold cross-validation"
        if n_repeats > 1:
            protocol += f", {pluralise(n_repeats, 'repetition')}"
    else:
        n_repeats, rare = 1, ()
        splits = _given_splits(cv, X, classes, codes)
        protocol = f"{pluralise(len(splits), 'split')} of {type(cv).__name__}"
    data = _Samples(table, _row_taker(X), classes, codes, weights)
    folds: list[FoldResult] = []
    with watch("evaluate", keeps=False):  # Ctrl-C ends all fits
        for model in makers.values():
            if isinstance(model, DataFrameClassifier):
                data.warm_up(clone(model), splits[0][2])
        for split in splits:
            for title, model in makers.items():
                if progress is not None:
                    text = f"{title}, fold {split[1]} of repetition {split[0]}"
                    progress(len(folds) + 1, len(splits) * len(makers), text)
                folds.append(data.run(title, clone(model), split, scorers))
    return EvaluationResult(
        data=name,
        models=tuple(makers),
        folds=tuple(folds),
        n_samples=table.n_rows,
        n_unlabelled=int((codes == len(classes)).sum()),
        n_features=table.n_columns,
        n_classes=len(classes),
        n_repeats=n_repeats,
        random_state=random_state,
        protocol=protocol,
        rare_classes=rare,
    )


def _models_by_name(
    models: Any, n_jobs: int | None, random_state: int
) -> dict[str, Any]:
    """The estimators by name, those given by method name made."""
    if isinstance(models, str) or hasattr(models, "fit"):
        models = [models]
    is_data = len(getattr(models, "shape", ())) == 2
    if is_data or not isinstance(models, Iterable):
        raise _not_a_model(models)
    if not isinstance(models, Mapping):
        models = _with_names(models)
    if not models:
        raise InputError("There is no model; give at least one.")
    made = {
        name: BayesNetClassifier.from_name(
            model, n_jobs=n_jobs, random_state=random_state
        )
        if isinstance(model, str)
        else model
        for name, model in models.items()
    }
    for name, model in made.items():
        if not hasattr(model, "fit"):
            raise _not_a_model(model)
        if not hasattr(model, "predict_proba"):
            raise InputError(
                f"Model {name!r} ({type(model).__name__}) has no predict_proba, which "
                "log loss and Brier score need; wrap it in scikit-learn's "
                "CalibratedClassifierCV."
            )
    return made


def _with_names(models: Iterable[Any]) -> dict[str, Any]:
    """Models by method name or class name, repeated class names with a number."""
    named: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for model in models:
        name = model
        if not isinstance(model, str):
            name = type(model).__name__
            counts[name] += 1
            if counts[name] > 1:
                name = f"{name} {counts[name]}"
        named[name] = model
    return named


def _not_a_model(given: Any) -> InputError:
    return InputError(
        "Models must be method names or classifiers, got an object of type "
        f"{type(given).__name__}. evaluate(models, X, y): models come first."
    )


def _scorers(scoring: Any) -> dict[str, Any]:
    """Further scores by name."""
    if isinstance(scoring, str):
        scoring = [scoring]
    if not isinstance(scoring, Mapping):
        scoring = {name: name for name in scoring}
    return {
        name: check_scoring(scoring=value) if isinstance(value, str) else value
        for name, value in scoring.items()
    }


def _row_taker(X: Any) -> Callable[[IndexArray], Any]:
    """A function that takes samples out of the features, in their own type."""
    if isinstance(X, np.ndarray):
        return lambda rows: X[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return lambda rows: frame[rows].to_native()
    return read_frame(X).take


def stratified_splits(
    classes: npt.NDArray[Any], codes: IndexArray, cv: int, n_repeats: int, seed: int
) -> tuple[list[FoldSplit], tuple[str, ...]]:
    """Stratified folds, shuffled again in every repetition, and rare classes.

    `codes`, shape (n_samples,), are positions of the classes, ``n_classes`` for
    unlabelled samples. Splits are (repeat, fold, training set, test set), counted
    from 1. Rare are the classes with fewer samples than folds, in words.
    """
    rows = np.flatnonzero(codes < len(classes))
    others = np.flatnonzero(codes == len(classes))
    known = codes[rows]
    counts = np.bincount(known)
    if counts.max() < cv:
        raise InputError(
            f"The largest class has {counts.max()} samples, fewer than the {cv} folds; "
            f"use at most {max(2, int(counts.max()))} folds or more samples."
        )
    rare = tuple(
        f"{one_line(str(label))} ({count})"
        for label, count in zip(classes, counts, strict=True)
        if count < cv
    )
    splits = []
    for repeat in range(n_repeats):
        folds = StratifiedKFold(cv, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            # The result names rare classes.
            warnings.filterwarnings("ignore", message="The least populated class")
            pairs = list(folds.split(known, known))
        splits += [
            (repeat + 1, k + 1, np.union1d(rows[train], others), rows[test])
            for k, (train, test) in enumerate(pairs)
        ]
    return splits, rare


def _given_splits(
    cv: Any, X: Any, classes: npt.NDArray[Any], codes: IndexArray
) -> list[FoldSplit]:
    """The splits of a scikit-learn splitter, which samples must be labelled for."""
    if not hasattr(cv, "get_n_splits"):
        raise InputError(
            'cv must be a whole number, "prefit", or a scikit-learn splitter such as '
            f"StratifiedKFold(5), got {cv!r}."
        )
    if (codes == len(classes)).any():
        raise InputError(
            "Unlabelled samples need a number of folds as cv; a splitter would "
            "put them into test sets."
        )
    pairs = list(cv.split(X, classes[codes]))
    return [(1, k + 1, train, test) for k, (train, test) in enumerate(pairs)]


@dataclass(frozen=True, eq=False)
class _Samples:
    """The dataset, from which folds are taken."""

    table: Frame
    take: Callable[[IndexArray], Any]
    classes: npt.NDArray[Any]
    codes: IndexArray
    weights: FloatArray | None

    def fit(self, model: Any, features: Any, rows: IndexArray) -> None:
        """Fit a model to features of some rows, unlabelled ones with None."""
        codes = self.codes[rows]
        labels = self.classes[codes.clip(max=len(self.classes) - 1)]
        unlabelled = codes == len(self.classes)
        if unlabelled.any():
            labels = labels.astype(object)
            labels[unlabelled] = None
        weights = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        model.fit(features, labels, **weights)

    def warm_up(self, model: DataFrameClassifier, train: IndexArray) -> None:
        """Fit and predict once, so that all code that folds may need is loaded."""
        # Incomplete samples have kernels of their own, which a fold also needs for a
        # category that is not in its training set.
        enough = max(200, WARM_CELLS // self.table.n_columns)
        rows = representative_rows(train, self.codes, len(self.classes), enough)
        self.fit(model, self.table.take(rows), rows)
        model.predict_proba(self.table)
        complete = np.flatnonzero(~incomplete_rows(self.table))[:WARM_ROWS]
        if len(complete):
            model.predict_proba(self.table.take(complete))
        model.predict_proba(_with_missing_value(self.table.take(slice(0, WARM_ROWS))))

    def run(
        self, name: str, model: Any, split: FoldSplit, scorers: Mapping[str, Any]
    ) -> FoldResult:
        """Fit a fresh model to the training set and score it on the test set."""
        repeat, fold, train, test = split
        features, tested = self.take(train), self.take(test)
        started = perf_counter()
        self.fit(model, features, train)
        fitted = perf_counter()
        found = model.predict_proba(tested)
        ended = perf_counter()
        # A class without a training sample has probability zero.
        probabilities = np.zeros((len(test), len(self.classes)))
        probabilities[:, np.searchsorted(self.classes, model.classes_)] = found
        accuracy, log_loss, brier = scores(probabilities, self.codes[test])
        labels = self.classes[self.codes[test]]
        n_parameters = None
        edges: tuple[tuple[str, str], ...] = ()
        if isinstance(model, DataFrameClassifier):
            n_parameters = sum(network.n_parameters for network in model.networks_)
            edges = feature_edges(model.networks_)
        return FoldResult(
            model=name,
            repeat=repeat,
            fold=fold,
            n_train=int((self.codes[train] < len(self.classes)).sum()),
            n_test=len(test),
            accuracy=accuracy,
            log_loss=log_loss,
            brier=brier,
            fit_seconds=fitted - started,
            predict_seconds=ended - fitted,
            n_parameters=n_parameters,
            scores={k: float(s(model, tested, labels)) for k, s in scorers.items()},
            edges=edges,
        )


def incomplete_rows(table: Frame) -> BoolArray:
    """Which samples have a missing value, shape (n_samples,)."""
    found = np.zeros(table.n_rows, dtype=np.bool_)
    for column in (table.column(j) for j in range(table.n_columns)):
        found |= np.isnan(column.data) if column.is_numeric else column.data < 0
    return found


def _with_missing_value(table: Frame) -> Frame:
    """The same samples, the first feature missing in the first of them."""
    first, *others = (table.column(j) for j in range(table.n_columns))
    if first.is_numeric:
        values = first.data.astype(np.float64)
        values[0] = np.nan
        first = replace(first, values=values)
    else:
        codes = first.data.copy()
        codes[0] = -1
        first = replace(first, codes=codes)
    return replace(table, columns=(first, *others), matrix=None)


def representative_rows(
    rows: IndexArray, codes: IndexArray, n_classes: int, enough: int
) -> IndexArray:
    """About `enough` of the rows, spread evenly, and one of every class."""
    step = max(1, len(rows) // enough)
    known = rows[codes[rows] < n_classes]
    _, first = np.unique(codes[known], return_index=True)
    return np.union1d(rows[::step], known[first])
