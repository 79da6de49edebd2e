"""`ArcGains`: the change of the score by adding, deleting or reversing each arc."""

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
"""The kinds of changes; in a tie the first one is preferred."""


class Change(NamedTuple):
    """An arc (parent, child) that is added, deleted or, in this direction, reversed."""

    kind: str
    parent: int
    child: int


@dataclass(frozen=True)
class ScoredNetwork:
    """Parents of every variable, in increasing order, and the score of the network."""

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


class ArcGains:
    """A network with the gains of all single changes, kept up to date.

    A change rescores only the families of variables whose parents it changed. `parents`
    holds those of every variable in increasing order, `value` the score of the network;
    ``above[i, j]``: i is j or an ancestor of it. The constraints include the class.
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
        # Random numbers of the arcs, whose exclusive or is the key of a network.
        self._marks = np.random.default_rng(0).integers(2**63, size=shape)
        self.go_to(parents)

    @property
    def snapshot(self) -> ScoredNetwork:
        """The present network."""
        return ScoredNetwork(tuple(self.parents), self.value)

    @property
    def key(self) -> int:
        """A hash of the network."""
        return int(np.bitwise_xor.reduce(self._marks[self.arcs]))

    def keys(self) -> IntArray:
        """Keys of the networks that every change leads to; axes as in `gains`."""
        turned = self._marks ^ self.key
        return np.stack([turned, turned, turned ^ self._marks.T])

    def go_to(self, parents: Sequence[Sequence[int]]) -> None:
        """Replace the network."""
        n_variables = len(parents)
        self.parents = [tuple(sorted(of)) for of in parents]
        self.arcs = np.zeros((n_variables, n_variables), dtype=np.bool_)
        for child, of in enumerate(self.parents):
            self.arcs[list(of), child] = True
        self.above = _ancestors(self.parents)
        # Gain of the child's score by deleting a present arc or adding an absent one.
        self._turned = np.full((n_variables, n_variables), -np.inf)
        self._parts = np.zeros(n_variables)
        self._score(range(n_variables))

    def gains(self) -> FloatArray:
        """Gain by every change, axes (kind, parent, child); -inf if impossible."""
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
        """Find the change of greatest gain.

        Ties are broken by kind, by the number of children of the parent, most first,
        then by parent and by child, the class first.
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
        self.arcs[parent, child] = kind == "add"
        changed = [child]
        if kind == "reverse":
            self.arcs[child, parent] = True
            changed.append(parent)
        for variable in changed:
            parents = np.flatnonzero(self.arcs[:, variable])
            self.parents[variable] = tuple(parents.tolist())
        if kind == "add":
            self.above |= np.outer(self.above[:, parent], self.above[child])
        else:
            self.above = _ancestors(self.parents)
        self._score(changed)

    def _has_detour(self, parents: IndexArray, children: IndexArray) -> BoolArray:
        """Whether a parent is also an ancestor of another parent of its child."""
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
        """Score the families of some variables, with one arc more and one less."""
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
