"""The network of a variable and its Markov blanket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tanager.errors import TableSizeError
from tanager.inference.elimination import log_marginal
from tanager.model.layout import Parameters, along
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.network.retargeting import renumber, tables_by_owner
from tanager.types import FloatArray

if TYPE_CHECKING:
    from tanager.network import AnyNetwork

MAX_BLANKET_CELLS = 10_000_000
"""Entries that a CPT may have when variables are marginalised (80 MB)."""


def features_that_matter(networks: Sequence[AnyNetwork]) -> tuple[str, ...]:
    """Names in the Markov blanket of the target in one of several networks."""
    found = {name for network in networks for name in network.markov_blanket()}
    return tuple(name for name in networks[0].schema.names if name in found)


def blanket_parts(
    schema: Schema,
    structure: Structure,
    parameters: Parameters,
    target: int,
    *,
    exact: bool,
) -> tuple[Schema, Structure, Parameters]:
    """Parts of the network over `target` and its Markov blanket.

    A variable outside the blanket is neither a parent nor a child of the target, and no
    parent of one of its children. So marginalising it changes neither the CPT of the
    target nor those of its children: only other members of the blanket get new parents.
    """
    members = {target, *structure.markov_blanket(target)}
    families = _Families(schema, structure, parameters, members)
    if exact:
        families.marginalise_others()
    else:
        families.cut_off_others()
    return families.parts(target)


class _Families:
    """Parents and CPTs of a network while all but its `members` are removed."""

    def __init__(
        self,
        schema: Schema,
        structure: Structure,
        parameters: Parameters,
        members: set[int],
    ) -> None:
        self.schema, self.parameters, self.members = schema, parameters, members
        self.states = parameters.layout.n_states
        self.rank = {v: k for k, v in enumerate(structure.topological_order)}
        # Variables without a descendant among the members sum to one: never visited.
        needed = set(members)
        for v in reversed(structure.topological_order):
            if v in needed:
                needed.update(structure.parents[v])
        self.parents = {v: structure.parents[v] for v in sorted(needed)}
        self.tables: dict[int, FloatArray] = {}
        """Log probabilities, axes (parents, variable), of families that changed."""

    def cut_off_others(self) -> None:
        """Give members with a parent outside their marginal distribution.

        A uniform one, where that would need too large a factor.
        """
        nothing = np.array([self.states], dtype=np.min_scalar_type(max(self.states)))
        for v in sorted(self.members):
            if not self.members.issuperset(self.parents[v]):
                try:
                    log_p = log_marginal(self.parameters, nothing, (v,), self.schema)[0]
                except TableSizeError:
                    log_p = np.zeros(self.states[v])
                self.tables[v] = log_p - np.logaddexp.reduce(log_p)
                self.parents[v] = ()

    def marginalise_others(self) -> None:
        """Marginalise other variables, always the one with the smallest new CPTs."""
        others = set(self.parents) - self.members
        costs: dict[int, int] = {}
        changed = others
        while others:
            children = self._children()
            for v in changed:
                costs[v] = sum(
                    self._cells(axes) for axes in self._new_families(v, children[v])
                )
            chosen = min(others, key=lambda v: (costs[v], v))
            near = {chosen, *self.parents[chosen], *children[chosen]}
            near.update(*(self.parents[c] for c in children[chosen]))
            self._marginalise(chosen, children[chosen])
            others.remove(chosen)
            # Costs depend on changed families: their members, and the parents of these.
            near.update(*(self.parents[v] for v in near if v in self.parents))
            changed = others & near

    def parts(self, target: int) -> tuple[Schema, Structure, Parameters]:
        """Schema, structure and parameters of the members."""
        tables = tables_by_owner(self.parameters, sorted(self.members))
        for v in self.members.intersection(self.tables):
            tables[v] = [((*self.parents[v], v), self.tables[v])]
        return renumber(self.schema, self.parents, tables, target)

    def _children(self) -> dict[int, list[int]]:
        """Children of every variable, parents before their children."""
        children: dict[int, list[int]] = {v: [] for v in self.parents}
        for v in sorted(self.parents, key=self.rank.__getitem__):
            for p in self.parents[v]:
                children[p].append(v)
        return children

    def _new_families(self, removed: int, children: list[int]) -> list[tuple[int, ...]]:
        """Families of the children after `removed` is marginalised, each child last.

        Without their common parent the children depend on each other: each gets those
        before it and their parents.
        """
        scope = set(self.parents[removed])
        found = []
        for child in children:
            scope.update(self.parents[child])
            scope.discard(removed)
            found.append((*sorted(scope, key=self.rank.__getitem__), child))
            scope.add(child)
        return found

    def _marginalise(self, removed: int, children: list[int]) -> None:
        """Marginalise one variable and give its children their new CPTs."""
        families = self._new_families(removed, children)
        for family in families:
            cells = self._cells((*family, removed))
            if cells > MAX_BLANKET_CELLS:
                names = [self.schema[v].name for v in (*family, removed)]
                raise TableSizeError(
                    f"Marginalising {names[-1]!r} would need a CPT of {cells:,} "
                    f"entries over {names}, more than the {MAX_BLANKET_CELLS:,} "
                    "allowed. With exact=False the posteriors are the same where the "
                    "whole blanket is observed."
                )
        axes = (*self.parents[removed], removed)
        joint = self._log_table(removed)
        for child, family in zip(children, families, strict=True):
            own = (*self.parents[child], child)
            wider = (*family, removed)
            factor = along(self._log_table(child), own, wider)
            joint = along(joint, axes, wider) + factor
            axes = wider
            self.tables[child] = _normalise(np.logaddexp.reduce(joint, axis=-1))
        for child, family in zip(children, families, strict=True):
            self.parents[child] = family[:-1]
        del self.parents[removed]
        self.tables.pop(removed, None)

    def _log_table(self, v: int) -> FloatArray:
        """Log CPT with axes (parents, variable)."""
        if v in self.tables:
            return self.tables[v]
        return self.parameters.log_family(v, (*self.parents[v], v))

    def _cells(self, axes: Iterable[int]) -> int:
        return prod(self.states[v] for v in axes)


def _normalise(log_values: FloatArray) -> FloatArray:
    """Normalise rows; uniform where the configuration is impossible."""
    total = np.logaddexp.reduce(log_values, axis=-1, keepdims=True)
    impossible = np.isneginf(total)
    uniform = -np.log(log_values.shape[-1])
    return np.where(impossible, uniform, log_values - np.where(impossible, 0.0, total))
