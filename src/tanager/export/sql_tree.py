"""`TreeQuery`: the SQL of a tree, whose missing features are marginalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.export.feature_tree import ClassTree
from tanager.export.score_terms import TermAxis
from tanager.export.sql_dialect import Dialect
from tanager.export.sql_query import SumQuery
from tanager.types import FloatArray

MAX_NUMBERS = 4_000
"""Entries of all CPTs up to which a query marginalises: each is written out."""


class TreeQuery(SumQuery):
    """A query that passes messages from the leaves of a tree to its roots.

    Notes
    -----
    The message of feature j to its parent p is, for every state v of p and class c,

        m_j[v, c] = log P(x_j | v, c) + n_j[x_j, c]              if j is observed,
        m_j[v, c] = log sum_u P(u | v, c) exp(n_j[u, c])         if it is not,

    where n_j[u, c] is the sum of the messages of its children. A leaf that is not
    observed sends zeros. The score of a class is its log prior and the messages of the
    roots. Every feature is a part of the query, with one column for every number.
    """

    def __init__(
        self, tree: ClassTree, dialect: Dialect, table: str, keep: Sequence[str]
    ) -> None:
        super().__init__(tree.terms, dialect, table, tuple(keep))
        self.tree = tree

    def axes_used(self) -> list[TermAxis]:
        """Every feature with its codes; no bin where it is not observed."""
        return [
            TermAxis(j, (*range(variable.n_states), -1))
            for j, variable in enumerate(self.terms.features)
        ]

    def add_terms(self, last: str) -> str:
        """Add one or two parts for every feature, and give the last name."""
        codes = [self.bins[axis.feature, axis.bins] for axis in self.axes_used()]
        # Columns that later parts need: codes of features, and messages to them.
        carried: dict[str, None] = dict.fromkeys(codes)
        for j in self.tree.order:
            children = [k for k, p in enumerate(self.tree.parents) if p == j]
            if children:
                last = self._add_inbox(j, children, carried, last)
            last = self._add_message(j, codes[j], bool(children), carried, last)
        roots = [j for j, p in enumerate(self.tree.parents) if p < 0]
        columns = [f"{last}.{name} AS {name}" for name in self.kept]
        for c, name in enumerate(self.sums):
            added = [name, *(_message(j, 0, c) for j in roots)]
            columns.append(f"{' + '.join(added)} AS {name}")
        self.part("tanager_roots", columns, [last])
        return "tanager_roots"

    def _add_inbox(
        self, j: int, children: list[int], carried: dict[str, None], last: str
    ) -> str:
        """Add the part with the sums of messages to feature j."""
        n_states, n_classes = self.tree.log_cpts[j].shape[1:]
        sums = {
            f"tanager_n{u}_{c}": " + ".join(_message(k, u, c) for k in children)
            for u in range(n_states)
            for c in range(n_classes)
        }
        for k in children:
            for u in range(n_states):
                for c in range(n_classes):
                    carried.pop(_message(k, u, c))
        columns = [*self._carry(carried, last)]
        columns += [f"{text} AS {name}" for name, text in sums.items()]
        inbox = f"tanager_n_{j}"
        self.part(inbox, columns, [last])
        largest = [
            f"{self.dialect.largest([f'tanager_n{u}_{c}' for u in range(n_states)])} "
            f"AS tanager_x{c}"
            for c in range(n_classes)
        ]
        columns = [f"{inbox}.*", *largest]
        self.part(f"{inbox}_max", columns, [inbox])
        return f"{inbox}_max"

    def _add_message(
        self, j: int, code: str, has_children: bool, carried: dict[str, None], last: str
    ) -> str:
        """Add the part with the message of feature j to its parent."""
        log_cpt = self.tree.log_cpts[j]
        n_parent_states, n_states, n_classes = log_cpt.shape
        table = f"tanager_t{j}"
        names = [
            (v, c, f"l{v}_{c}")
            for v in range(n_parent_states)
            for c in range(n_classes)
        ]
        rows = [
            [
                str(u),
                *(self.dialect.number(float(log_cpt[v, u, c])) for v, c, _ in names),
            ]
            for u in range(n_states)
        ]
        self.values(table, ["code", *(name for _, _, name in names)], rows)
        carried.pop(code)
        columns = [*self._carry(carried, last)]
        cpt = np.exp(log_cpt)
        for v, c, name in names:
            observed, missing = f"{table}.{name}", self.dialect.number(0.0)
            if has_children:
                own = " ".join(
                    f"WHEN {u} THEN tanager_n{u}_{c}" for u in range(n_states)
                )
                observed += f" + CASE {code} {own} END"
                missing = self._log_sum(cpt[v, :, c], c)
            columns.append(
                f"CASE WHEN {code} IS NULL THEN {missing} ELSE {observed} END "
                f"AS {_message(j, v, c)}"
            )
            carried[_message(j, v, c)] = None
        part = f"tanager_m_{j}"
        self.part(part, columns, [last, f"LEFT JOIN {table} ON {table}.code = {code}"])
        return part

    def _carry(self, carried: dict[str, None], last: str) -> list[str]:
        every = [*self.kept, *self.sums, *carried]
        return [f"{last}.{name} AS {name}" for name in every]

    def _log_sum(self, probabilities: FloatArray, c: int) -> str:
        """``log sum_u P(u) exp(n[u, c])``; the largest n is taken out of the sum."""
        terms = [
            f"{self.dialect.number(p)} * EXP(tanager_n{u}_{c} - tanager_x{c})"
            for u, p in enumerate(probabilities.tolist())
        ]
        return f"tanager_x{c} + LN({' + '.join(terms)})"


def _message(j: int, state: int, c: int) -> str:
    return f"tanager_m{j}_{state}_{c}"
