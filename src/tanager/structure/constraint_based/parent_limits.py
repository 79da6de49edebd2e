"""Bounds on the families of a network: how many parents, and how large a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tanager.types import BoolArray


@dataclass(frozen=True, eq=False)
class ParentLimits:
    """How many parents a variable may have, and how many cells its table.

    Parameters
    ----------
    n_states : sequence of int
        Number of states of every variable.
    required : ndarray of bool, shape (n_variables, n_variables)
        Arcs (parent, child) that are kept in any case.
    max_parents : int or None
        Most parents of a variable; None sets no bound.
    max_cells : float
        Most cells of a table; a single parent is granted in any case.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = ParentLimits([2, 3, 4], np.zeros((3, 3), dtype=bool), None, 20)
    >>> bounds.fit(0, [1]), bounds.fit(0, [1, 2])
    (True, False)
    """

    n_states: Sequence[int]
    required: BoolArray
    max_parents: int | None
    max_cells: float

    def fit(self, child: int, parents: Sequence[int]) -> bool:
        """Whether a variable may have these parents."""
        if self.max_parents is not None and len(parents) > self.max_parents:
            return False
        cells = prod(self.n_states[v] for v in (child, *parents))
        return len(parents) <= 1 or cells <= self.max_cells

    def keep(
        self,
        parents: Sequence[Sequence[int]],
        edges: Sequence[tuple[int, int]],
        target: int,
    ) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
        """Leave out parents until every family is within the bounds.

        Parameters
        ----------
        parents : sequence of sequences of int
            Parents of every variable.
        edges : sequence of (int, int)
            All edges, lower index first, those to be kept rather at the front.
        target : int
            A variable that is kept as a parent before all that are not required.

        Returns
        -------
        tuple of lists
            The parents of every variable, and the edges that were left out.
        """
        place = {edge: number for number, edge in enumerate(edges)}
        kept: list[tuple[int, ...]] = []
        left_out: list[tuple[int, int]] = []
        for child, of in enumerate(parents):
            rank = {v: place[min(v, child), max(v, child)] for v in of}
            wanted = {v: bool(self.required[v, child]) for v in of}
            own: list[int] = []
            for v in sorted(of, key=lambda v: (not wanted[v], v != target, rank[v])):
                if wanted[v] or self.fit(child, [*own, v]):
                    own.append(v)
                else:
                    left_out.append((min(v, child), max(v, child)))
            kept.append(tuple(sorted(own)))
        return kept, left_out
