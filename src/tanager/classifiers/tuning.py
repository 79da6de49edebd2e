"""`tune`: search for the best settings of a classifier by successive halving."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

# Successive halving asks for this import as long as it may change.
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingGridSearchCV,
    ParameterSampler,
    StratifiedShuffleSplit,
)

from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.search_space import tuning_resource, tuning_space
from tanager.classifiers.tuning_result import (
    FACTOR,
    HalvingSchedule,
    Setting,
    TuningResult,
)
from tanager.encoding.frame import Frame, read_frame
from tanager.encoding.labels import encode_labels
from tanager.errors import InputError
from tanager.types import FloatArray, IndexArray
from tanager.utils.text import one_line, pluralise
from tanager.utils.validation import (
    check_flag,
    check_number,
    check_weights,
    check_whole,
)

Progress = Callable[[int, int, str], object]
Split = tuple[IndexArray, IndexArray]


def tune(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_settings: int = 20,
    epochs: int | None = None,
    validation_fraction: float = 0.25,
    sample_weight: Any = None,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: int = 0,
    name: str = "data",
    progress: Progress | None = None,
) -> TuningResult:
    """Search for the best settings of a classifier that is trained in epochs.

    Parameters
    ----------
    model : str or BayesNetClassifier or BoostedClassifier
        A method name such as ``"TAN-CMI-HYB"``, or an estimator; not changed.
    X : array-like or data frame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The classes.
    n_settings : int, default=20
        Settings to try. The first is the classifier's own.
    epochs : int or None, default=None
        Epochs of the last round and of the final fit; None means those of the
        classifier.
    validation_fraction : float, default=0.25
        Fraction of the samples of every class in the validation set.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights for fitting. Errors are not weighted.
    refit : bool, default=True
        Whether to fit the best setting to all samples.
    n_jobs : int or None, default=None
        Threads, each of which trains one setting. Results do not depend on it.
    random_state : int, default=0
        Seed of the settings, of the validation set and of a classifier that is given
        by name.
    name : str, default="data"
        Name of the dataset in the result.
    progress : callable or None, default=None
        Called after every fit with its number, the number of fits and a text.

    Returns
    -------
    TuningResult
        Prints as a table; has `estimator`, `best_params`, `to_frame`, `to_csv` and
        `plot`.

    Raises
    ------
    InputError
        If there is nothing to tune or a class has a single sample.

    See Also
    --------
    tuning_space : The arguments that are tuned and their ranges.
    evaluate : Cross-validation of several classifiers.

    Notes
    -----
    Settings are sampled from `tuning_space`. All of them are trained for a few epochs;
    the best third goes on with three times as many epochs, and so on (successive
    halving). Settings with the same error are ranked by the mean probability of the
    right class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tanager import tune
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = tune("NB-HYB", X, y, n_settings=4, epochs=6)
    >>> print(result)
    NB-HYB: 4 settings for 2 epochs, 2 of them for 6
    validated on 38 samples, seed 0
    ...
    Best: setting ..., lambda ..., gamma ..., eta ..., rate ...
    >>> result.estimator.predict(X[:2])
    array([0, 0])
    """
    check_whole("n_settings", n_settings, 1)
    check_whole("random_state", random_state, 0)
    check_number("validation_fraction", validation_fraction, above=0, below=1)
    check_flag("refit", refit)
    title = model if isinstance(model, str) else type(model).__name__
    if isinstance(model, str):
        model = BayesNetClassifier.from_name(
            model, n_jobs=n_jobs, random_state=random_state
        )
    search = Search(model, n_settings, random_state, epochs)
    table = read_frame(X)
    classes, codes = encode_labels(y, table.n_rows, "tune")
    weights = check_weights(sample_weight, table.n_rows)
    split = validation_split(classes[codes], validation_fraction, random_state)
    started = perf_counter()
    ranked = search.run(table, classes, codes, weights, split, n_jobs, progress)
    seconds = perf_counter() - started
    estimator = search.classifier(ranked[0])
    if refit:
        estimator.fit(X, y, sample_weight=sample_weight)
    return TuningResult(
        model=title,
        data=name,
        titles=search.titles,
        settings=tuple(ranked),
        schedule=search.schedule,
        n_train=len(split[0]),
        n_validation=len(split[1]),
        random_state=random_state,
        seconds=seconds,
        estimator=estimator,
    )


class Search:
    """Random settings of a classifier, of which bad ones are stopped early.

    Parameters are those of `tune`. `settings` differ from each other, so there may be
    fewer than were asked for.
    """

    def __init__(
        self, classifier: Any, n_settings: int, seed: int, epochs: int | None = None
    ) -> None:
        space = tuning_space(classifier)
        self._resource = tuning_resource(classifier)
        if epochs is not None:
            check_whole("epochs", epochs, 1)
            classifier = clone(classifier).set_params(**{self._resource: epochs})
        self._classifier = classifier
        own = classifier.get_params()
        # A loss stands in the space only to have its weights set.
        inner = {name.rpartition("__")[0] for name in space}
        self._tuned = [name for name in space if name not in inner]
        self.titles = _titles(self._tuned)
        sampled: list[dict[str, Any]] = [{}]
        if n_settings > 1:
            with warnings.catch_warnings():
                # Lists alone have an end, which is no harm.
                warnings.filterwarnings("ignore", message="The total space")
                sampled += ParameterSampler(space, n_settings - 1, random_state=seed)
        different: dict[tuple[Any, ...], dict[str, Any]] = {}
        for arguments in sampled:
            rounded = {name: _rounded(value) for name, value in arguments.items()}
            values = tuple((own | rounded).get(name) for name in self._tuned)
            different.setdefault(values, rounded)
        self.settings = [
            Setting(number, arguments, values)
            for number, (values, arguments) in enumerate(different.items(), start=1)
        ]
        self.schedule = HalvingSchedule.of(len(self.settings), own[self._resource])

    def run(
        self,
        table: Frame,
        classes: npt.NDArray[Any],
        codes: npt.NDArray[np.integer],
        weights: FloatArray | None,
        split: Split,
        n_jobs: int | None,
        progress: Progress | None,
    ) -> list[Setting]:
        """Train the settings, round by round; the best comes first."""
        first, last = self.schedule.epochs[0], self.schedule.epochs[-1]
        scorer = _Scorer(classes, self._resource, self.schedule.n_fits, progress)
        search = HalvingGridSearchCV(
            clone(self._classifier).set_params(n_jobs=None),
            [{k: [v] for k, v in s.arguments.items()} for s in self.settings],
            factor=FACTOR,
            resource=self._resource,
            min_resources=first,
            # A little more: the logarithm of a power may be just below a whole number.
            max_resources=last + first,
            scoring=scorer,
            cv=[split],
            n_jobs=n_jobs,
            refit=False,
            error_score="raise",
            return_train_score=False,
        )
        fit_params = {} if weights is None else {"sample_weight": weights}
        # Threads: kernels run side by side, and nothing is copied.
        with warnings.catch_warnings(), parallel_config("threading"):
            # The error of a setting says that it is bad.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search.fit(_IndexedTable.of(table), classes[codes], **fit_params)
        return self._ranked(search.cv_results_, len(split[1]))

    def _ranked(self, results: dict[str, Any], n_validation: int) -> list[Setting]:
        """The settings with their results, the best first."""
        own = self._classifier.get_params()
        by_values = {setting.values: setting for setting in self.settings}
        for k, arguments in enumerate(results["params"]):
            values = tuple((own | arguments).get(name) for name in self._tuned)
            setting = by_values[values]
            error, probability = unpack_score(
                results["mean_test_score"][k], n_validation
            )
            by_values[values] = replace(
                setting,
                epochs=(*setting.epochs, int(results["n_resources"][k])),
                errors=(*setting.errors, error),
                probabilities=(*setting.probabilities, probability),
                seconds=(*setting.seconds, float(results["mean_fit_time"][k])),
            )

        def rank(setting: Setting) -> tuple[float, ...]:
            last = (setting.errors[-1], -setting.probabilities[-1])
            return (-len(setting.epochs), *last, setting.number)

        return sorted(by_values.values(), key=rank)

    def classifier(self, setting: Setting) -> Any:
        """Make a fresh classifier with a setting, to be trained for all epochs."""
        return clone(self._classifier).set_params(
            **clone(setting.arguments, safe=False)
        )


class _IndexedTable(Frame):
    """A table whose rows can be indexed like those of an array, for scikit-learn."""

    @classmethod
    def of(cls, table: Frame) -> _IndexedTable:
        parts = (table.names, table.n_rows, table.columns, table.matrix)
        return cls(*parts, table.has_names)

    def __getitem__(self, rows: Any) -> Frame:
        return self.take(rows[0] if isinstance(rows, tuple) else rows)


class _Scorer:
    """Score of a trained setting, as one number; reports progress.

    It is the fraction of samples that are right. In a small validation set many
    settings have the same, so half the mean probability of the right class counts as
    a part of a sample, never as a whole one.
    """

    def __init__(
        self,
        classes: npt.NDArray[Any],
        resource: str,
        n_fits: int,
        progress: Progress | None,
    ) -> None:
        self._classes = classes
        self._resource = resource
        self._n_fits = n_fits
        self._progress = progress
        self._done = 0
        self._least = 1.0
        self._lock = Lock()

    def __call__(
        self,
        model: Any,
        rows: Frame,
        labels: npt.NDArray[Any],
        sample_weight: Any = None,
    ) -> float:
        del sample_weight  # weights are for fitting
        codes = np.searchsorted(self._classes, labels)
        # A class that was not learned, for want of weight, has probability zero.
        found = np.zeros((len(codes), len(self._classes)))
        known = np.searchsorted(self._classes, model.classes_)
        found[:, known] = model.predict_proba(rows)
        right = int((found.argmax(axis=1) == codes).sum())
        probability = float(found[np.arange(len(codes)), codes].mean())
        score = (right + probability / 2) / len(codes)
        error, _ = unpack_score(score, len(codes))
        with self._lock:
            self._done += 1
            self._least = min(self._least, error)
            if self._progress is not None:
                epochs = pluralise(model.get_params()[self._resource], "epoch")
                text = (
                    f"error {100 * error:.2f} %, least so far {100 * self._least:.2f} %"
                )
                self._progress(self._done, self._n_fits, f"{epochs}: {text}")
        return score


def unpack_score(score: float, n_samples: int) -> tuple[float, float]:
    """Error and mean probability of the right class in a score of `_Scorer`."""
    rows = float(score) * n_samples
    right = math.floor(rows + 0.25)  # the rest is at most a half
    return (n_samples - right) / n_samples, max(0.0, 2 * (rows - right))


def validation_split(labels: npt.NDArray[Any], fraction: float, seed: int) -> Split:
    """Stratified rows of a training set and of a validation set, ascending.

    Examples
    --------
    >>> labels = np.array(["a", "b"] * 4)
    >>> [len(rows) for rows in validation_split(labels, 0.25, seed=0)]
    [6, 2]
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    counts = np.bincount(codes)
    if counts.min() < 2:
        rare = [one_line(str(label)) for label in classes[counts < 2]]
        shown = ", ".join(rare[:10]) + (", ..." if rare[10:] else "")
        raise InputError(
            "Every class needs at least 2 samples, one for training and one for "
            f"validation, but these have only 1: {shown}. Leave them out, or join "
            "classes."
        )
    held_out = math.ceil(fraction * len(codes))
    fewer = min(held_out, len(codes) - held_out)
    if fewer < len(classes):
        raise InputError(
            f"A validation set of {fraction:g} of {pluralise(len(codes), 'sample')} "
            f"leaves {fewer} on one side, fewer than the {len(classes)} classes; "
            "choose another fraction or use more samples."
        )
    splitter = StratifiedShuffleSplit(1, test_size=held_out, random_state=seed)
    train, validation = next(splitter.split(codes, codes))
    return np.sort(train), np.sort(validation)


def _rounded(value: Any) -> Any:
    """A number to three digits, so that what is printed is what was tried."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _titles(names: Sequence[str]) -> tuple[str, ...]:
    """Short names of arguments, with an initial where both learners have one.

    Examples
    --------
    >>> _titles(["structure__loss__gamma", "structure__rate", "parameters__gamma"])
    ('gamma.s', 'rate', 'gamma.p')
    """
    short = [name.rpartition("__")[2].rstrip("_") for name in names]
    learner = ["s" if "structure" in name.split("__") else "p" for name in names]
    return tuple(
        title if short.count(title) == 1 else f"{title}.{initial}"
        for title, initial in zip(short, learner, strict=True)
    )
