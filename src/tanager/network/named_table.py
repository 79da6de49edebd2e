"""`ProbabilityTable`, `LogTable`: factors with names and states of their axes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from tanager.model.schema import State
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import FloatArray

MAX_STATES, SHOWN_STATES = 200, 20
"""States of a variable up to which all are drawn, and how many of more are."""


@dataclass(frozen=True, eq=False)
class _NamedTable:
    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    values: FloatArray

    @property
    def title(self) -> str:
        """The names of the axes."""
        return f"log table over {', '.join(self.names)}"

    def __str__(self) -> str:
        """A line for every configuration of all axes but the last."""
        rows = [[*self.names[:-1], *(str(state) for state in self.states[-1])]]
        for index in np.ndindex(self.values.shape[:-1]):
            given = [str(s[i]) for s, i in zip(self.states, index, strict=False)]
            rows.append([*given, *(f"{p:.4f}" for p in self.values[index])])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join([self.title, *lines])


class ProbabilityTable(PictureMixin, _NamedTable):
    """P(variable | parents), a CPT.

    Parameters
    ----------
    names : tuple of str
        The axes: parents in order, then the variable.
    states : tuple of tuples
        States along every axis.
    values : ndarray of float64, shape (states of each axis...)
        Probabilities; the last axis sums to one.
    """

    @property
    def title(self) -> str:
        """P(variable | parents), with their names."""
        given = f" | {', '.join(self.names[:-1])}" if len(self.names) > 1 else ""
        return f"P({self.names[-1]}{given})"

    def picture(self) -> Picture:
        """A bar for every configuration of the parents; of more than 60, the first.

        Of more than 200 states the most probable 20 are shown, and the others together.

        Examples
        --------
        >>> from tanager import Network
        >>> coin = Network.build({"coin": ["heads", "tails"]}, {"coin": [0.5, 0.5]})
        >>> coin.table("coin").to_svg()[:4]
        '<svg'
        """
        from tanager.plots.cpt_bars import MAX_ROWS, cpt_picture

        values = self.values.reshape(-1, self.values.shape[-1])
        n_rows, title = len(values), self.title
        if n_rows > MAX_ROWS:
            values = values[:MAX_ROWS]
            title += f" ({MAX_ROWS} of {n_rows:,} configurations)"
        given = islice(product(*self.states[:-1]), MAX_ROWS)
        rows = [", ".join(map(str, states)) for states in given]
        states: list[object] = list(self.states[-1])
        if len(states) > MAX_STATES:
            order = np.argsort(-values.mean(axis=0), kind="stable")
            shown, others = np.sort(order[:SHOWN_STATES]), order[SHOWN_STATES:]
            rest = values[:, others].sum(axis=1, keepdims=True)
            values = np.hstack([values[:, shown], rest])
            states = [*(states[k] for k in shown), f"{len(others):,} others"]
        return cpt_picture(
            values,
            row_labels=rows,
            column_labels=states,
            title=title,
        )


class LogTable(_NamedTable):
    """One of the log factors whose sum is the logarithm of a CPT.

    Parameters
    ----------
    names : tuple of str
        The axes: some of the parents in order, then the variable, if it is one of them.
    states : tuple of tuples
        States along every axis.
    values : ndarray of float64, shape (states of each axis...)
        Natural logarithms; only the sum of all factors of a variable is meaningful.
    """
