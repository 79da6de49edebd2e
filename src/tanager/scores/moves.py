"""`Moves`: candidate changes of a structure, one family each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tanager.types import IntArray


@dataclass(frozen=True, eq=False)
class Moves:
    """Candidate changes: feature ``children[t]`` gets the parents ``parents[t]``.

    Parameters
    ----------
    children : ndarray of int, shape (n_moves,)
        The feature whose parents change.
    parents : ndarray of int, shape (n_moves, most)
        Its feature parents after the move, padded by -1.

    Examples
    --------
    >>> moves = Moves.of([(2, (0,)), (2, (1, 0))])
    >>> moves.parents
    array([[ 0, -1],
           [ 1,  0]])
    >>> moves[1]
    (2, (1, 0))
    """

    children: IntArray
    parents: IntArray

    @classmethod
    def of(cls, moves: Sequence[tuple[int, Sequence[int]]]) -> Moves:
        """From (child, parents) pairs."""
        most = max((len(parents) for _, parents in moves), default=0)
        table = np.full((len(moves), most), -1, dtype=np.int64)
        for t, (_, parents) in enumerate(moves):
            table[t, : len(parents)] = parents
        return cls(np.array([child for child, _ in moves], dtype=np.int64), table)

    def __len__(self) -> int:
        return len(self.children)

    def __getitem__(self, t: int) -> tuple[int, tuple[int, ...]]:
        """Child and parents of move t."""
        parents = self.parents[t]
        return int(self.children[t]), tuple(parents[parents >= 0].tolist())

    @cached_property
    def sizes(self) -> IntArray:
        """Number of parents of every move."""
        sizes: IntArray = (self.parents >= 0).sum(axis=1)
        return sizes

    def groups(self) -> Iterator[tuple[int, IntArray]]:
        """Iterate over children, with the numbers of their moves of equal size."""
        keys = self.children * (self.parents.shape[1] + 1) + self.sizes
        order = np.argsort(keys, kind="stable")
        borders = np.flatnonzero(np.diff(keys[order])) + 1
        for part in np.split(order, borders):
            if len(part):
                yield int(self.children[part[0]]), part


@dataclass(frozen=True)
class Best:
    """The best of several moves, or groups of moves.

    Parameters
    ----------
    index : int or None
        Its number; None if no move is good enough.
    score : float
        The score of the structure after it.
    candidates : int
        Number of moves compared.
    samples_visited, samples_looked_up : int
        Number of samples evaluated in full, and compared with a bound only, over all
        candidates: the work of a step, which predicts the time of a search on more
        samples or features.
    """

    index: int | None
    score: float
    candidates: int
    samples_visited: int
    samples_looked_up: int = 0
