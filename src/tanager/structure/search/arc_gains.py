"""`Climb`: a network that changes by one arc at a time, and what each change brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tanager.model.structure import Structure
from tanager.scores import FamilyScores
from tanager.structure.constraints import ArcMasks
from tanager.types import BoolArray, FloatArray, IndexArray, IntArray

KINDS = ("add", "delete", "reverse")
"""The changes there are; of equal ones those named first are preferred."""


class Change(NamedTuple):
    """One arc that is added, deleted or reversed.

    Parameters
    ----------
    kind : {"add", "delete", "reverse"}
        What is done.
    parent, child : int
        The arc; one that is reversed as it was before.
    """

    kind: str
    parent: int
    child: int


@dataclass(frozen=True)
class Place:
    """A network that was reached.

    Parameters
    ----------
    parents : tuple of tuples of int
        Parents of every variable, in increasing order.
    value : float
        Its score.
    """

    parents: tuple[tuple[int, ...], ...]
    value: float

    @property
    def structure(self) -> Structure:
        """As a structure; the class, the last variable, comes first among parents."""
        last = len(self.parents) - 1
        return Structure(
            tuple(
                tuple(sorted(of, key=lambda p: (p != last, p))) for of in self.parents
            ),
            target=last,
        )


class Climb:
    """A network with the gains of all single changes, kept up to date.

    After a change only families of variables whose parents changed are scored anew.

    Parameters
    ----------
    scores : FamilyScores
        Scores of families; further parents are asked for only where they are allowed.
    constraints : ArcMasks
        Arcs that may, and must, be used, over all variables.
    max_parents : int
        Parents that a variable may have.
    parents : sequence of sequences of int
        The network to begin with.

    Attributes
    ----------
    parents : list of tuple of int
        Parents of every variable, in increasing order.
    value : float
        Score of the network.
    above : ndarray of bool, shape (n_variables, n_variables)
        ``above[i, j]``: i is j or an ancestor of it.
    """

    def __init__(
        self,
        scores: FamilyScores,
        constraints: ArcMasks,
        max_parents: int,
        parents: Sequence[Sequence[int]],
    ) -> None:
        self.scores = scores
        self.constraints = constraints
        self.max_parents = max_parents
        shape = (len(parents), len(parents))
        # Numbers of the arcs, whose exclusive or is the key of a network.
        self._marks = np.random.default_rng(0).integers(2**63, size=shape)
        self.go_to(parents)

    @property
    def place(self) -> Place:
        """The network as it is now."""
        return Place(tuple(self.parents), self.value)

    @property
    def key(self) -> int:
        """A number of the network; two networks hardly ever have the same."""
        return int(np.bitwise_xor.reduce(self._marks[self.arcs]))

    def keys(self) -> IntArray:
        """Keys of the networks that every change leads to; axes as in `gains`."""
        turned = self._marks ^ self.key
        return np.stack([turned, turned, turned ^ self._marks.T])

    def go_to(self, parents: Sequence[Sequence[int]]) -> None:
        """Begin with another network."""
        n_variables = len(parents)
        self.parents = [tuple(sorted(of)) for of in parents]
        self.arcs = np.zeros((n_variables, n_variables), dtype=np.bool_)
        for child, of in enumerate(self.parents):
            self.arcs[list(of), child] = True
        self.above = _ancestors(self.parents)
        # What taking an arc out, or putting it in, adds to the score of its child.
        self._turned = np.full((n_variables, n_variables), -np.inf)
        self._parts = np.zeros(n_variables)
        self._score(range(n_variables))

    def gains(self) -> FloatArray:
        """What every change adds to the score; -inf where it cannot be made.

        Returns
        -------
        ndarray of float64, shape (3, n_variables, n_variables)
            Axes (kind, parent, child).
        """
        free = self.arcs & ~self.constraints.required
        out = np.full((3, *self.arcs.shape), -np.inf)
        # An arc i -> j closes a cycle where j is i or above it.
        np.copyto(out[0], self._turned, where=~self.arcs & ~self.above.T)
        np.copyto(out[1], self._turned, where=free)
        parents, children = np.nonzero(free)
        back = self._turned[parents, children] + self._turned[children, parents]
        out[2, parents, children] = np.where(
            self._has_detour(parents, children), -np.inf, back
        )
        return out

    def best(self, gains: FloatArray) -> tuple[Change, float]:
        """The change with the greatest of the given gains; of equal ones the first.

        That is by kind, then by the number of children its parent has, the most first,
        then by parent and by child, the class before the others.
        """
        class_first = np.roll(np.arange(len(self.parents)), 1)
        n_children = self.arcs.sum(axis=1)
        by_children = class_first[np.argsort(-n_children[class_first], kind="stable")]
        ordered = gains[:, by_children[:, None], class_first]
        kind, row, column = np.unravel_index(int(ordered.argmax()), ordered.shape)
        parent, child = int(by_children[row]), int(class_first[column])
        return Change(KINDS[kind], parent, child), float(ordered[kind, row, column])

    def make(self, change: Change) -> None:
        """Change one arc."""
        kind, parent, child = change
        if kind == "add":
            self._put(parent, child)
            changed = [child]
        elif kind == "delete":
            self._take(parent, child)
            changed = [child]
        else:
            self._take(parent, child)
            self._put(child, parent)
            changed = [child, parent]
        if kind == "add":
            self.above |= np.outer(self.above[:, parent], self.above[child])
        else:
            self.above = _ancestors(self.parents)
        self._score(changed)

    def _put(self, parent: int, child: int) -> None:
        self.arcs[parent, child] = True
        self.parents[child] = tuple(sorted((*self.parents[child], parent)))

    def _take(self, parent: int, child: int) -> None:
        self.arcs[parent, child] = False
        self.parents[child] = tuple(p for p in self.parents[child] if p != parent)

    def _has_detour(self, parents: IndexArray, children: IndexArray) -> BoolArray:
        """Whether a parent reaches its child also by way of another parent of it."""
        most = max(map(len, self.parents))
        ways = np.full((len(self.parents), most), -1)
        for child, of in enumerate(self.parents):
            ways[child, : len(of)] = of
        others = ways[children]
        reached = self.above[parents[:, None], others]
        reached &= (others >= 0) & (others != parents[:, None])
        detour: BoolArray = reached.any(axis=1)
        return detour

    def _score(self, children: Sequence[int]) -> None:
        """Score the families of some variables, and what one arc more or less brings.

        Only variables that have room are asked for further parents.
        """
        roomy = [c for c in children if len(self.parents[c]) < self.max_parents]
        further = self.scores.further([(c, self.parents[c]) for c in roomy])
        self._turned[:, list(children)] = -np.inf
        for child in children:
            self._parts[child] = self.scores.of(child, self.parents[child])
        for child, scores in zip(roomy, further, strict=True):
            known = ~np.isnan(scores)
            self._turned[known, child] = scores[known] - self._parts[child]
        for child in children:
            for parent in self.parents[child]:
                fewer = tuple(p for p in self.parents[child] if p != parent)
                gain = self.scores.of(child, fewer) - self._parts[child]
                self._turned[parent, child] = gain
        self.value = float(self._parts.sum())


def _ancestors(parents: Sequence[Sequence[int]]) -> BoolArray:
    """``[i, j]``: i is j or an ancestor of it."""
    above = np.eye(len(parents), dtype=np.bool_)
    for child in Structure(tuple(map(tuple, parents))).topological_order:
        for parent in parents[child]:
            above[:, child] |= above[:, parent]
    return above
