"""`ProbabilityTable`: a conditional distribution with the names of its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.schema import State


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
    values: npt.NDArray[np.float64]

    def __str__(self) -> str:
        head = f"P({self.names[-1]}" + (
            f" | {', '.join(self.names[:-1])})" if len(self.names) > 1 else ")"
        )
        own = self.states[-1]
        rows = [[*self.names[:-1], *(str(state) for state in own)]]
        for index in np.ndindex(self.values.shape[:-1]):
            given = [str(s[i]) for s, i in zip(self.states, index, strict=False)]
            rows.append([*given, *(f"{p:.4f}" for p in self.values[index])])
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join([head, *lines])
