"""A search for the best settings of a classifier, with scikit-learn's halving."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
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

from tanager.classifiers import tuning_resource, tuning_space
from tanager.cli._data import TrainingData
from tanager.cli._output import Progress, counted, one_line
from tanager.cli._tuning_results import FACTOR, Plan, Setting
from tanager.encoding.table import Table
from tanager.errors import InputError
from tanager.types import IndexArray

Split = tuple[IndexArray, IndexArray]


class Search:
    """Settings of a classifier, drawn at random, of which bad ones are stopped early.

    Parameters
    ----------
    classifier : BayesNetClassifier or BoostedClassifier
        What is tuned; not changed.
    n_settings : int
        Settings to try. The classifier's own is the first.
    seed : int
        Seed of the drawing.
    epochs : int or None, default=None
        Epochs of the last round; None means those of the classifier.

    Attributes
    ----------
    settings : list of Setting
        Different from each other, so there may be fewer than were asked for.
    titles : tuple of str
        Names of what is tuned.
    plan : Plan
        The rounds.
    """

    def __init__(
        self, classifier: Any, n_settings: int, seed: int, epochs: int | None = None
    ) -> None:
        space = tuning_space(classifier)
        self._resource = tuning_resource(classifier)
        if epochs is not None:
            classifier = clone(classifier).set_params(**{self._resource: epochs})
        self._classifier = classifier
        own = classifier.get_params()
        # A loss stands in the space only to have its weights set.
        inner = {name.rpartition("__")[0] for name in space}
        self._tuned = [name for name in space if name not in inner]
        self.titles = _titles(self._tuned)
        drawn: list[dict[str, Any]] = [{}]
        if n_settings > 1:
            with warnings.catch_warnings():
                # Lists alone have an end, which is no harm.
                warnings.filterwarnings("ignore", message="The total space")
                drawn += ParameterSampler(space, n_settings - 1, random_state=seed)
        different: dict[tuple[Any, ...], dict[str, Any]] = {}
        for arguments in drawn:
            rounded = {name: _rounded(value) for name, value in arguments.items()}
            values = tuple((own | rounded).get(name) for name in self._tuned)
            different.setdefault(values, rounded)
        self.settings = [
            Setting(number, arguments, values)
            for number, (values, arguments) in enumerate(different.items(), start=1)
        ]
        self.plan = Plan.of(len(self.settings), own[self._resource])

    def run(
        self, data: TrainingData, split: Split, jobs: int | None, progress: Progress
    ) -> list[Setting]:
        """Train the settings, round by round.

        Parameters
        ----------
        data : TrainingData
            The rows.
        split : (training rows, validation rows)
            As `validation_split` gives them.
        jobs : int or None
            Threads, each with a setting of its own.
        progress : Progress
            Told of every training.

        Returns
        -------
        list of Setting
            The best first: by rounds survived, by error, by probability of the right
            class.
        """
        first, last = self.plan.epochs[0], self.plan.epochs[-1]
        search = HalvingGridSearchCV(
            clone(self._classifier).set_params(n_jobs=None),
            [{k: [v] for k, v in s.arguments.items()} for s in self.settings],
            factor=FACTOR,
            resource=self._resource,
            min_resources=first,
            # A little more: the logarithm of a power may be just below a whole number.
            max_resources=last + first,
            scoring=_Scoring(data.classes, self._resource, progress),
            cv=[split],
            n_jobs=jobs,
            refit=False,
            error_score="raise",
            return_train_score=False,
        )
        labels = np.asarray(data.labels)
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        # Threads: kernels run side by side, and nothing is copied.
        with warnings.catch_warnings(), parallel_config("threading"):
            # That a setting is bad is told by its error.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search.fit(_Rows.of(data.features), labels, **weights)
        return self._ranked(search.cv_results_, len(split[1]))

    def _ranked(self, results: dict[str, Any], n_validation: int) -> list[Setting]:
        """The settings with their results, the best first."""
        own = self._classifier.get_params()
        by_values = {setting.values: setting for setting in self.settings}
        for k, arguments in enumerate(results["params"]):
            values = tuple((own | arguments).get(name) for name in self._tuned)
            setting = by_values[values]
            error, probability = _unpacked(results["mean_test_score"][k], n_validation)
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


class _Rows(Table):
    """A table whose rows can be taken as those of an array, for scikit-learn."""

    @classmethod
    def of(cls, table: Table) -> _Rows:
        parts = (table.names, table.n_rows, table.columns, table.matrix)
        return cls(*parts, table.has_names)

    def __getitem__(self, rows: Any) -> Table:
        return self.take(rows[0] if isinstance(rows, tuple) else rows)


class _Scoring:
    """Score of a trained setting, as one number; tells how far the search is.

    It is the share of rows that are right. In a small set many settings are right in as
    many rows, so half the mean probability of the right class counts for a part of a
    row, never for a whole one.
    """

    def __init__(
        self, classes: npt.NDArray[Any], resource: str, progress: Progress
    ) -> None:
        self._classes = classes
        self._progress = progress
        self._resource = resource
        self._least = 1.0
        self._lock = Lock()

    def __call__(
        self,
        model: Any,
        rows: Table,
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
        error, _ = _unpacked(score, len(codes))
        with self._lock:
            self._least = min(self._least, error)
            epochs = counted(model.get_params()[self._resource], "epoch")
            self._progress.step(
                f"{epochs}: error {100 * error:.2f} %, least so far "
                f"{100 * self._least:.2f} %"
            )
        return score


def _unpacked(score: float, n_rows: int) -> tuple[float, float]:
    """Error and mean probability of the right class in a score of `_Scoring`."""
    rows = float(score) * n_rows
    right = math.floor(rows + 0.25)  # the rest is at most a half
    return (n_rows - right) / n_rows, max(0.0, 2 * (rows - right))


def validation_split(labels: npt.NDArray[Any], share: float, seed: int) -> Split:
    """Rows to learn from and rows to validate on, with the same shares of classes.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Classes, known in every row.
    share : float
        Share of the rows to validate on.
    seed : int
        Seed of the drawing.

    Returns
    -------
    learned, validated : ndarray of int
        Row numbers, ascending.

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
            "Every class needs at least 2 rows, one to learn from and one to validate "
            f"on, but these have only 1: {shown}. Leave such rows out, or join classes."
        )
    held_out = math.ceil(share * len(codes))
    fewer = min(held_out, len(codes) - held_out)
    if fewer < len(classes):
        raise InputError(
            f"--held-out {share:g} of {counted(len(codes), 'row')} leaves {fewer} on "
            f"one side, fewer than the {len(classes)} classes; choose another share or "
            "get more rows."
        )
    chance = StratifiedShuffleSplit(1, test_size=held_out, random_state=seed)
    learned, validated = next(chance.split(codes, codes))
    return np.sort(learned), np.sort(validated)


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
