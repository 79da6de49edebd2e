"""`TuningResult`: settings and their errors, as text, data or plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from tanager._version import __version__
from tanager.classifiers.result_export import ExportableResult
from tanager.plots.figure import draw_figure
from tanager.plots.style import BLUE, ORANGE, make_axes
from tanager.utils.text import TEXT_WIDTH, pluralise, table_text

FACTOR = 3  # a round keeps one setting in so many and trains it so many times as long
MAX_LINES = 20  # of the printed table; an export has all settings


@dataclass(frozen=True)
class HalvingSchedule:
    """How many settings are trained for how many epochs, in every round.

    Examples
    --------
    >>> HalvingSchedule.of(20, 100)
    HalvingSchedule(settings=(20, 7, 3), epochs=(11, 33, 99))
    >>> print(HalvingSchedule.of(20, 100))
    20 settings for 11 epochs, 7 of them for 33, 3 for 99
    """

    settings: tuple[int, ...]
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, n_settings: int, epochs: int) -> HalvingSchedule:
        """As many rounds as settings and epochs allow, the last with most epochs."""
        # As scikit-learn counts them, which takes logarithms.
        rounds = range(1 + int(math.log(min(n_settings, epochs), FACTOR)))
        first = epochs // FACTOR ** rounds[-1]
        settings = tuple(math.ceil(n_settings / FACTOR**k) for k in rounds)
        return cls(settings, tuple(first * FACTOR**k for k in rounds))

    @property
    def n_fits(self) -> int:
        """Number of fits in all rounds."""
        return sum(self.settings)

    def __str__(self) -> str:
        text = f"{pluralise(self.settings[0], 'setting')} for "
        text += pluralise(self.epochs[0], "epoch")
        for k, epochs in enumerate(self.epochs[1:], start=1):
            of_them = " of them" if k == 1 else ""
            text += f", {self.settings[k]:,}{of_them} for {epochs:,}"
        return text


@dataclass(frozen=True)
class Setting:
    """One setting and its results.

    Parameters
    ----------
    number : int
        Counted from 1, the classifier's own setting.
    arguments : dict
        What `set_params` is given; empty for the classifier's own setting.
    values : tuple
        Values of the tuned arguments, in the order of `TuningResult.titles`; None if
        the learner chooses them itself.
    epochs, errors, probabilities, seconds : tuple of int and float
        Of every round that the setting took part in: epochs, fraction of validation
        samples that are wrong, mean probability of the right class, seconds of fitting.
    """

    number: int
    arguments: dict[str, Any]
    values: tuple[Any, ...]
    epochs: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class TuningResult(ExportableResult):
    """Result of `tune`: prints as a table, exports and plots.

    Parameters
    ----------
    model : str
        Name of the method, or of the estimator's class.
    data : str
        Name of the dataset.
    titles : tuple of str
        Short names of the tuned arguments.
    settings : tuple of Setting
        The best first: by rounds survived, error, probability of the right class.
    schedule : HalvingSchedule
        The rounds.
    n_train, n_validation : int
        Samples of the training and of the validation set.
    random_state : int
        Seed of the settings and of the validation set.
    seconds : float
        Time of the search.
    estimator : BayesNetClassifier or BoostedClassifier
        With the best setting; fitted to all samples unless ``refit=False``.
    """

    model: str
    data: str
    titles: tuple[str, ...]
    settings: tuple[Setting, ...]
    schedule: HalvingSchedule
    n_train: int
    n_validation: int
    random_state: int
    seconds: float
    estimator: Any

    @property
    def best(self) -> Setting:
        """The best setting."""
        return self.settings[0]

    @property
    def best_params(self) -> dict[str, Any]:
        """Arguments of the best setting for `set_params`; empty for the own one."""
        return dict(self.best.arguments)

    @property
    def best_error(self) -> float:
        """Error of the best setting on the validation set."""
        return self.best.errors[-1]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every setting and round; see `to_frame`."""
        return [
            {
                "data": self.data,
                "model": self.model,
                "seed": self.random_state,
                "setting": setting.number,
                **dict(zip(self.titles, setting.values, strict=True)),
                "round": k + 1,
                "epochs": setting.epochs[k],
                "error": setting.errors[k],
                "right_probability": setting.probabilities[k],
                "fit_seconds": setting.seconds[k],
                "n_train": self.n_train,
                "n_validation": self.n_validation,
                "tanager": __version__,
            }
            for setting in sorted(self.settings, key=lambda setting: setting.number)
            for k in range(len(setting.epochs))
        ]

    def table(self, more: str = "to_frame() has all") -> str:
        """The settings, the best first, at most 20 of them; `more` names the rest."""
        lines = [
            [
                str(setting.number),
                *map(_text, setting.values),
                f"{setting.epochs[-1]:,}",
                f"{100 * setting.errors[-1]:.2f}",
            ]
            for setting in self.settings[:MAX_LINES]
        ]
        head = ["Setting", *self.titles, "Epochs", "Error %"]
        text = table_text(head, lines, right=range(len(head)))
        if left := len(self.settings) - len(lines):
            text += f"\n... and {left:,} more; {more}"
        return text

    def legend(self) -> str:
        """What the numbers of `table` mean, and which setting is the best."""
        own = "setting 1 is the method's own"
        lines = [f"Error on the validation set after the last epoch; {own}."]
        if any("." in title for title in self.titles):
            lines.append("Ending in .s: of the structure; in .p: of the parameters.")
        if any(None in setting.values for setting in self.settings):
            lines.append("own: the method chooses the value itself.")
        pairs = zip(self.titles, self.best.values, strict=True)
        values = ", ".join(f"{title} {_text(value)}" for title, value in pairs)
        if all(value is None for value in self.best.values):
            values = "the method's own"
        lines.append(fill(f"Best: setting {self.best.number}, {values}.", TEXT_WIDTH))
        return "\n".join(lines)

    def heading(self) -> str:
        """The rounds and the validation set in words."""
        held = f"{pluralise(self.n_validation, 'sample')}, seed {self.random_state}"
        return f"{self.model}: {self.schedule}\nvalidated on {held}"

    def __str__(self) -> str:
        return f"{self.heading()}\n\n{self.table()}\n\n{self.legend()}"

    def plot(self, path: Any = None) -> Any:
        """Plot the error on the validation set against the epochs of every setting.

        Parameters
        ----------
        path : str or path, default=None
            File to write: .svg, .pdf or .png; without such an ending an SVG and a PNG.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows. Needs the extra ``plot``.
        """

        def draw(figure: Any) -> None:
            figure.set_size_inches(5.5, 3.2)
            figure.set_layout_engine("constrained")
            axes = make_axes(figure.add_subplot(), 0, 0)
            for setting in reversed(self.settings):
                best = setting is self.best
                axes.plot(
                    setting.epochs,
                    [100 * error for error in setting.errors],
                    "o-",
                    color=ORANGE if best else BLUE,
                    alpha=1.0 if best else 0.4,
                    markersize=4,
                    label=f"setting {setting.number} (best)" if best else None,
                )
            axes.set_xscale("log")
            ticks = self.schedule.epochs
            axes.set_xticks(ticks, [str(epochs) for epochs in ticks], minor=False)
            axes.set_xticks([], minor=True)
            axes.set(xlabel="Epochs", ylabel="Error on the validation set (%)")
            axes.legend()

        return draw_figure(draw, path)


def _text(value: Any) -> str:
    return "own" if value is None else f"{value:g}"
