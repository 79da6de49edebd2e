"""`ParentLimits`: maximum number of parents and maximum size of CPTs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tanager.types import BoolArray


@dataclass(frozen=True, eq=False)
class ParentLimits:
    """Maximum number of parents of a variable, and of cells of its CPT.

    Arcs in `required`, of shape (n_variables, n_variables), are always kept, and a
    single parent is always allowed.
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
        """Remove parents until every family is within the limits.

        Required parents are kept, then `target`, then the others in the order of
        `edges` (lower index first). Returns the parents of every variable and the
        removed edges.
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
