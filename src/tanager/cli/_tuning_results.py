"""Settings that were tried: for how long, with what result, and all in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from tanager._version import __version__
from tanager.cli._output import PLAIN_WIDTH, counted, table_text

FACTOR = 3
"""Every round keeps one setting in so many, and trains it so many times as long."""

MAX_LINES = 20
"""Lines of the summary; a file of results has all."""


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
    20 settings for 11 epochs, 7 of them for 33, 3 for 99
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
        text = f"{counted(self.settings[0], 'setting')} for "
        text += counted(self.epochs[0], "epoch")
        for k, epochs in enumerate(self.epochs[1:], start=1):
            of_them = " of them" if k == 1 else ""
            text += f", {self.settings[k]:,}{of_them} for {epochs:,}"
        return text


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
        Values of what is tuned, in the order of `Search.titles`; None if the learner
        chooses them itself.
    epochs, errors, probabilities, seconds : tuple of int and float
        Of every round it took part in: epochs, share of validation rows that are wrong,
        mean probability of the right class in them, seconds of training.
    """

    number: int
    arguments: dict[str, Any]
    values: tuple[Any, ...]
    epochs: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()


def _text(value: Any) -> str:
    return "own" if value is None else f"{value:g}"


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
        ]
        for setting in ranked[:MAX_LINES]
    ]
    head = ["Setting", *titles, "Epochs", "Error %"]
    text = table_text(head, rows, right=range(len(head)))
    if left := len(ranked) - len(rows):
        text += f"\n... and {left:,} more; --results writes all"
    return text


def legend_text(titles: Sequence[str], ranked: Sequence[Setting]) -> str:
    """What the numbers of `summary_text` mean, and which setting is the best."""
    best = ranked[0]
    own = "setting 1 is the method's own"
    lines = [f"Error on the rows held out, after so many epochs; {own}."]
    if any("." in title for title in titles):
        lines.append("Ending in .s: of the structure; in .p: of the parameters.")
    if any(None in setting.values for setting in ranked):
        lines.append("Where it says own, the method chooses the value itself.")
    pairs = zip(titles, best.values, strict=True)
    values = ", ".join(f"{title} {_text(value)}" for title, value in pairs)
    if all(value is None for value in best.values):
        values = "the method's own"
    lines.append(fill(f"Best: setting {best.number}, {values}.", PLAIN_WIDTH))
    return "\n".join(lines)


def result_columns(
    titles: Sequence[str], ranked: Sequence[Setting], n_train: int, n_validation: int
) -> dict[str, list[Any]]:
    """Columns of a results file: one row for every training."""
    rows = [
        {
            "setting": setting.number,
            **dict(zip(titles, setting.values, strict=True)),
            "round": k + 1,
            "epochs": setting.epochs[k],
            "error": setting.errors[k],
            "right_probability": setting.probabilities[k],
            "fit_seconds": setting.seconds[k],
            "n_train": n_train,
            "n_validation": n_validation,
            "tanager": __version__,
        }
        for setting in sorted(ranked, key=lambda setting: setting.number)
        for k in range(len(setting.epochs))
    ]
    return {key: [row[key] for row in rows] for key in rows[0]}
