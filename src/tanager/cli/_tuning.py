"""A search for the best settings of a classifier, and its summary."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

from tanager._version import __version__
from tanager.classifiers import tuning_resource, tuning_space
from tanager.cli._data import TrainingData
from tanager.cli._output import Progress, counted, one_line, table_text
from tanager.core.errors import InputError
from tanager.encoding.table import Table

FACTOR = 3
"""Every round keeps one setting in so many, and trains it so many times as long."""

MAX_LINES = 20
"""Lines of the summary; a file of results has all."""

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


@dataclass(frozen=True)
class Plan:
    """How many settings are trained for how long.

    Parameters
    ----------
    settings, epochs : tuple of int
        Of every round.

    Examples
    --------
    >>> Plan.of(20, 100)
    Plan(settings=(20, 7, 3), epochs=(11, 33, 99))
    >>> print(Plan.of(20, 100))
    20 settings for 11 epochs, the best 7 for 33, the best 3 for 99
    """

    settings: tuple[int, ...]
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, n_settings: int, epochs: int) -> Plan:
        """As many rounds as settings and epochs allow, the last with most epochs."""
        # As scikit-learn counts them, which takes logarithms.
        rounds = 1 + int(math.log(min(n_settings, epochs), FACTOR))
        first = epochs // FACTOR ** (rounds - 1)
        settings = [n_settings]
        while len(settings) < rounds:
            settings.append(math.ceil(settings[-1] / FACTOR))
        return cls(tuple(settings), tuple(first * FACTOR**k for k in range(rounds)))

    @property
    def n_runs(self) -> int:
        """Number of trainings."""
        return sum(self.settings)

    def __str__(self) -> str:
        first = f"{counted(self.settings[0], 'setting')} for "
        first += counted(self.epochs[0], "epoch")
        pairs = zip(self.settings[1:], self.epochs[1:], strict=True)
        return ", ".join([first, *(f"the best {n} for {e:,}" for n, e in pairs)])


@dataclass(frozen=True)
class Setting:
    """One setting and how it did.

    Parameters
    ----------
    number : int
        Counted from 1, the classifier's own.
    arguments : dict
        What is set; nothing for the classifier's own.
    values : tuple
        Values of what is tuned, in the order of `Search.titles`; None if they are set
        from the data.
    epochs, errors, seconds : tuple of int and float
        Of every round it took part in: epochs, share of validation rows that are wrong,
        seconds of training.
    """

    number: int
    arguments: dict[str, Any]
    values: tuple[Any, ...]
    epochs: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()


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
            The best first: by rounds survived, then by error, then by number.
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
            scoring=_Scoring(progress, self._resource),
            cv=[split],
            n_jobs=jobs,
            refit=False,
            error_score="raise",
            return_train_score=False,
        )
        codes = np.searchsorted(data.classes, np.asarray(data.labels))
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        # Threads: kernels run side by side, and nothing is copied.
        with warnings.catch_warnings(), parallel_config("threading"):
            # That a setting is bad is told by its error.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search.fit(_Rows.of(data.features), codes, **weights)
        return self._ranked(search.cv_results_)

    def _ranked(self, results: dict[str, Any]) -> list[Setting]:
        """The settings with their results, the best first."""
        own = self._classifier.get_params()
        by_values = {setting.values: setting for setting in self.settings}
        for k, arguments in enumerate(results["params"]):
            values = tuple((own | arguments).get(name) for name in self._tuned)
            setting = by_values[values]
            by_values[values] = replace(
                setting,
                epochs=(*setting.epochs, int(results["n_resources"][k])),
                errors=(*setting.errors, 1 - float(results["mean_test_score"][k])),
                seconds=(*setting.seconds, float(results["mean_fit_time"][k])),
            )
        return sorted(
            by_values.values(), key=lambda s: (-len(s.errors), s.errors[-1], s.number)
        )

    def best(self, setting: Setting) -> Any:
        """Make a fresh classifier with a setting, to be trained for all epochs."""
        return clone(self._classifier).set_params(**clone(setting.arguments, safe=False))


class _Rows(Table):
    """A table whose rows can be taken as those of an array, for scikit-learn."""

    @classmethod
    def of(cls, table: Table) -> _Rows:
        parts = (table.names, table.n_rows, table.columns, table.matrix)
        return cls(*parts, table.has_names)

    def __getitem__(self, rows: Any) -> Table:
        return self.take(rows[0] if isinstance(rows, tuple) else rows)


class _Scoring:
    """Share of rows that are classified right; tells how far the search is."""

    def __init__(self, progress: Progress, resource: str) -> None:
        self._progress = progress
        self._resource = resource
        self._least = 1.0
        self._lock = Lock()

    def __call__(self, model: Any, rows: Table, codes: npt.NDArray[np.intp]) -> float:
        right = float((model.predict(rows) == codes).mean())
        with self._lock:
            self._least = min(self._least, 1 - right)
            epochs = counted(model.get_params()[self._resource], "epoch")
            self._progress.step(
                f"{epochs}: error {100 * (1 - right):.2f} %, least so far "
                f"{100 * self._least:.2f} %"
            )
        return right


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
    """Short names of arguments; longer ones where two would be the same."""
    short = [name.rpartition("__")[2].rstrip("_") for name in names]
    return tuple(
        title if short.count(title) == 1 else name
        for title, name in zip(short, names, strict=True)
    )


def _text(value: Any) -> str:
    return "auto" if value is None else f"{value:g}"


def summary_text(titles: Sequence[str], ranked: Sequence[Setting]) -> str:
    """Table of the settings, the best first.

    Parameters
    ----------
    titles : sequence of str
        Names of what is tuned.
    ranked : sequence of Setting
        As `Search.run` gives them.

    Returns
    -------
    str
        A line for every setting, but not more than `MAX_LINES`.
    """
    rows = [
        [
            str(setting.number),
            *map(_text, setting.values),
            f"{setting.epochs[-1]:,}",
            f"{100 * setting.errors[-1]:.2f}",
            f"{sum(setting.seconds):.2f}",
        ]
        for setting in ranked[:MAX_LINES]
    ]
    head = ["Setting", *titles, "Epochs", "Error %", "Seconds"]
    text = table_text(head, rows, right=range(len(head)))
    if left := len(ranked) - len(rows):
        text += f"\n... and {left:,} more; --results writes all"
    return text


def legend_text(titles: Sequence[str], best: Setting, n_validation: int) -> str:
    """What the numbers of `summary_text` mean, and which setting is the best."""
    pairs = zip(titles, best.values, strict=True)
    values = ", ".join(f"{title} {_text(value)}" for title, value in pairs)
    return (
        f"Error on {counted(n_validation, 'row')} held out, after so many epochs; "
        "seconds of all rounds.\nSetting 1 is the method's own.\n\n"
        f"Best: setting {best.number}, {values}."
    )


def result_columns(
    search: Search, ranked: Sequence[Setting], split: Split
) -> dict[str, list[Any]]:
    """Columns of a results file: one row for every training."""
    learned, validated = split
    rows = [
        {
            "setting": setting.number,
            **dict(zip(search.titles, setting.values, strict=True)),
            "round": k + 1,
            "epochs": setting.epochs[k],
            "error": setting.errors[k],
            "fit_seconds": setting.seconds[k],
            "n_train": len(learned),
            "n_validation": len(validated),
            "tanager": __version__,
        }
        for setting in sorted(ranked, key=lambda setting: setting.number)
        for k in range(len(setting.epochs))
    ]
    return {key: [row[key] for row in rows] for key in rows[0]}
