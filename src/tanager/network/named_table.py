"""`ProbabilityTable`, `LogTable`: numbers with the names and states of their axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.model.schema import State
from tanager.types import FloatArray


@dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """P(variable | parents).

    Parameters
    ----------
    names : tuple of str
        The axes: parents in order, then the variable.
    states : tuple of tuples
        States along every axis.
    values : ndarray of float64, shape (states of each axis...)
        Probabilities; the last axis sums to one.
    """

    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    values: FloatArray

    @property
    def title(self) -> str:
        """P(variable | parents), with their names."""
        given = f" | {', '.join(self.names[:-1])}" if len(self.names) > 1 else ""
        return f"P({self.names[-1]}{given})"

    def __str__(self) -> str:
        return _text(self.title, self.names, self.states, self.values)


@dataclass(frozen=True, eq=False)
class LogTable:
    """One of the tables whose sum is the logarithm of a probability.

    Parameters
    ----------
    names : tuple of str
        The axes: some of the parents in order, then the variable, if it has it.
    states : tuple of tuples
        States along every axis.
    values : ndarray of float64, shape (states of each axis...)
        Natural logarithms of factors; they mean something only with the other tables.
    """

    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    values: FloatArray

    @property
    def title(self) -> str:
        """The names of the axes."""
        return f"log table over {', '.join(self.names)}"

    def __str__(self) -> str:
        return _text(self.title, self.names, self.states, self.values)


def _text(
    title: str,
    names: tuple[str, ...],
    states: tuple[tuple[State, ...], ...],
    values: FloatArray,
) -> str:
    """A line for every configuration of all axes but the last."""
    rows = [[*names[:-1], *(str(state) for state in states[-1])]]
    for index in np.ndindex(values.shape[:-1]):
        given = [str(s[i]) for s, i in zip(states, index, strict=False)]
        rows.append([*given, *(f"{p:.4f}" for p in values[index])])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in rows
    ]
    return "\n".join([title, *lines])
