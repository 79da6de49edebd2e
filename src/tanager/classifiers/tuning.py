"""`tune`: search for the best settings of a classifier by successive halving."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterSampler, StratifiedShuffleSplit

from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.boosting import BoostedClassifier
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
from tanager.types import FloatArray, IndexArray, Progress
from tanager.utils.progress import Watch, current_watch, watch
from tanager.utils.text import one_line, pluralise
from tanager.utils.validation import (
    check_flag,
    check_number,
    check_weights,
    check_whole,
)

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
        If the model is of another kind, there is nothing to tune or a class has a
        single sample.

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
    if not isinstance(model, (str, BayesNetClassifier, BoostedClassifier)):
        raise InputError(
            "model must be a method name, a BayesNetClassifier or a BoostedClassifier, "
            f"got {one_line(repr(model))}."
        )
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
    data = HeldOutData(table, classes, codes, weights, split)
    with watch("tune", keeps=False):  # Ctrl-C ends all fits
        ranked = search.run(data, n_jobs, progress)
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

    The settings differ from each other, so there may be fewer than `n_settings`.
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
        self._serial = {
            name: None for name in own if name.rpartition("__")[2] == "n_jobs"
        }
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
            # To three digits, so that what is printed is what was tried.
            rounded = {
                name: float(f"{value:.3g}") if isinstance(value, float) else value
                for name, value in arguments.items()
            }
            values = tuple((own | rounded).get(name) for name in self._tuned)
            different.setdefault(values, rounded)
        self.settings = [
            Setting(number, arguments, values)
            for number, (values, arguments) in enumerate(different.items(), start=1)
        ]
        self.schedule = HalvingSchedule.of(len(self.settings), own[self._resource])

    def run(
        self, data: HeldOutData, n_jobs: int | None, progress: Progress | None
    ) -> list[Setting]:
        """Train the settings, round by round; the best comes first."""
        lock = Lock()
        errors: list[float] = []

        def train(setting: Setting, epochs: int) -> Setting:
            model = self.classifier(setting)
            model.set_params(**{self._resource: epochs}, **self._serial)
            trained = data.train(model, setting, epochs)
            with lock:
                errors.append(100 * trained.errors[-1])
                if progress is not None:
                    text = f"error {errors[-1]:.2f} %, least so far {min(errors):.2f} %"
                    text = f"{pluralise(epochs, 'epoch')}: {text}"
                    progress(len(errors), self.schedule.n_fits, text)
            return trained

        results: dict[int, Setting] = {}
        candidates = self.settings
        helping = (current_watch() or Watch()).helper()
        # Threads: kernels run side by side, and nothing is copied.
        parallel = Parallel(n_jobs=n_jobs, backend="threading")
        with warnings.catch_warnings():
            # The error of a setting says that it is bad.
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                for epochs in self.schedule.epochs:
                    fits = (delayed(helping.join(train))(s, epochs) for s in candidates)
                    trained = parallel(fits)
                    results |= {setting.number: setting for setting in trained}
                    kept = math.ceil(len(trained) / FACTOR)
                    candidates = sorted(trained, key=_rank)[:kept]
            finally:
                helping.cancel.on = True  # fits that go on after Ctrl-C
        return sorted(results.values(), key=_rank)

    def classifier(self, setting: Setting) -> Any:
        """Make a fresh classifier with a setting, to be trained for all epochs."""
        return clone(self._classifier).set_params(
            **clone(setting.arguments, safe=False)
        )


@dataclass(frozen=True, eq=False)
class HeldOutData:
    """A training and a validation set, with which settings are compared."""

    table: Frame
    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.integer]
    weights: FloatArray | None
    split: Split

    def train(self, model: Any, setting: Setting, epochs: int) -> Setting:
        """Fit a model and add its results to those of the setting."""
        train, validation = self.split
        features, labels = self.table.take(train), self.classes[self.codes[train]]
        weights = {} if self.weights is None else {"sample_weight": self.weights[train]}
        started = perf_counter()
        model.fit(features, labels, **weights)
        seconds = perf_counter() - started
        codes = self.codes[validation]
        # A class without weight in the training set has probability zero.
        found = np.zeros((len(codes), len(self.classes)))
        known = np.searchsorted(self.classes, model.classes_)
        found[:, known] = model.predict_proba(self.table.take(validation))
        wrong = int((found.argmax(axis=1) != codes).sum())
        right_probability = float(found[np.arange(len(codes)), codes].mean())
        return replace(
            setting,
            epochs=(*setting.epochs, epochs),
            errors=(*setting.errors, wrong / len(codes)),
            probabilities=(*setting.probabilities, right_probability),
            seconds=(*setting.seconds, seconds),
        )


def _rank(setting: Setting) -> tuple[float, ...]:
    """Sort key: more rounds, lower error, higher right probability, lower number.

    In a small validation set many settings have the same error.
    """
    last = (setting.errors[-1], -setting.probabilities[-1])
    return (-len(setting.epochs), *last, setting.number)


def validation_split(labels: npt.NDArray[Any], fraction: float, seed: int) -> Split:
    """Stratified rows of a training set and of a validation set, ascending."""
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


def _titles(names: Sequence[str]) -> tuple[str, ...]:
    """Short names of arguments; gamma.s and gamma.p where both learners have one."""
    short = [name.rpartition("__")[2].rstrip("_") for name in names]
    learner = ["s" if "structure" in name.split("__") else "p" for name in names]
    return tuple(
        title if short.count(title) == 1 else f"{title}.{initial}"
        for title, initial in zip(short, learner, strict=True)
    )
