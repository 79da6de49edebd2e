"""`Fixed`: a structure given by its arcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.model.structure import Structure, find_cycle
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import Arc
from tanager.utils.validation import check_flag, is_iterable


class Fixed(StructureLearner):
    """A structure given by its arcs.

    Parameters
    ----------
    edges : sequence of (parent, child) names, default=()
        The arcs; the parents of a variable keep this order. Arcs from the class to the
        features are added unless `class_rooted` is False.
    class_rooted : bool, default=True
        Whether the class is the root and a parent of every feature. If not, there are
        no other arcs than those given, and the class may have parents.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure=Fixed(edges=[("x1", "x0")]))
    >>> model.fit([["a", "u"], ["b", "v"]], [0, 1]).network_.parents("x0")
    ('class', 'x1')

    The class as an effect of one feature, independent of the other:

    >>> effect = Fixed(edges=[("x0", "class")], class_rooted=False)
    >>> model = BayesNetClassifier(structure=effect)
    >>> network = model.fit([["a", "u"], ["b", "v"]], [0, 1]).network_
    >>> network.parents("class"), network.parents("x0"), network.parents("x1")
    (('x0',), (), ())
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"
    rounds = RoundCount()

    def __init__(self, edges: Sequence[Arc] = (), *, class_rooted: bool = True) -> None:
        self.edges = edges
        self.class_rooted = class_rooted

    @property
    def given_arcs(self) -> Sequence[tuple[str, str]]:
        """All edges."""
        return [(parent, child) for parent, child in self.edges]

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Return the given structure; see `StructureLearner.learn`."""
        return StructureResult(self._structure(data.schema))

    def check(self, schema: Schema) -> None:
        """Refuse edges that name unknown variables or form a cycle."""
        self._structure(schema)

    def statistics(self, schema: Schema) -> tuple[Sequence[Sequence[int]], bool]:
        """Counts of the families of the given structure."""
        return self._structure(schema).families, False

    def _structure(self, schema: Schema) -> Structure:
        check_flag("class_rooted", self.class_rooted)
        target = len(schema) - 1
        parents: list[list[int]] = [[] for _ in schema]
        if isinstance(self.edges, str) or not is_iterable(self.edges):
            raise InputError(
                "edges must be a list of (parent, child) pairs of names, got "
                f"{self.edges!r}."
            )
        for edge in self.edges:
            if isinstance(edge, str) or not is_iterable(edge) or len(edge) != 2:
                raise InputError(
                    f"edges expects (parent, child) pairs of names, got {edge!r}."
                )
            parent, child = (schema.index(name) for name in edge)
            if self.class_rooted and child == target:
                raise InputError(
                    f"The edge {tuple(edge)!r} leads into the class, which has no "
                    "parents here. Turn it round, or give class_rooted=False and all "
                    "edges."
                )
            if self.class_rooted and parent == target:
                continue
            if parent == child or parent in parents[child]:
                raise InputError(
                    f"The edge {tuple(edge)!r} is given twice or leads to itself."
                )
            parents[child].append(parent)
        cycle = find_cycle(parents)
        if cycle:
            names = " -> ".join(schema[v].name for v in cycle)
            raise InputError(f"edges form a cycle: {names}. Remove one of them.")
        if self.class_rooted:
            return Structure.class_rooted(parents, target)
        return Structure(tuple(map(tuple, parents)), target)
