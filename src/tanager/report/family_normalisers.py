"""Families that are sums of tables, without their normalisers.

The log CPT of a family with several tables is ``sum of F_t - log Z``, where Z sums
``exp(sum of F_t)`` over the states of the owner. Where ``-log Z`` is a table of its
own, it need not be stored: the page computes it. Nor need its opposite number, which a
table of a parent has taken up so that the posterior of complete samples does not have
it (see `tanager.loglinear.weights_to_cpts`). No two entries of either are equal, but
what is left are the factors that were learned, with few effects. The script of the page
is `page/normalisers.js`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from tanager.inference.loglinear_family_sums import FamilySum
from tanager.model.layout import FamilyLayout, along
from tanager.network import Network
from tanager.types import FloatArray

NORMALISED = 1e-12
"""Largest logarithm of the sum of a row that the page may normalise."""


@dataclass(frozen=True, eq=False)
class StoredTables:
    """The tables of a network as a page stores them.

    Parameters
    ----------
    tables : tuple of ndarray of float64
        Logarithms, in the order of the network's tables.
    normalisers : dict from int to int or None, default={}
        Tables that the page computes from the others of their family; their values here
        are not needed. Each has the table that their opposite numbers are added to, if
        there is one.
    """

    tables: tuple[FloatArray, ...]
    normalisers: dict[int, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Network) -> StoredTables:
        """All tables as they are."""
        layout, log_theta = network.parameters.layout, network.parameters.log_theta
        return cls(tuple(layout.table(log_theta, t) for t in range(layout.n_tables)))


def leave_out_normalisers(network: Network) -> StoredTables:
    """Subtract the normalisers of families that are sums from all tables.

    A term of the parents in a table is a part of the normaliser as well: it is moved to
    the table of the parent. Terms of the owner alone are all in the first table.

    Examples
    --------
    The pairs of a 2-tree; the family of the last feature is a sum:

    >>> from tanager.loglinear.weights_to_cpts import log_linear_families
    >>> from tanager.model.schema import Schema, Variable
    >>> from tanager.model.structure import Structure
    >>> structure = Structure(((3,), (3, 0), (3, 0, 1), ()), target=3)
    >>> pairs = ((0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    >>> layout = FamilyLayout((10, 10, 10, 2), pairs, (1, 2, 2, 3), 3)
    >>> weights = np.random.default_rng(0).normal(size=layout.n_cells)
    >>> found = log_linear_families(structure, layout, weights, full_cells=1000)
    >>> states = [tuple(range(n)) for n in layout.n_states]
    >>> schema = Schema(tuple(map(Variable, "abcd", states)), 3)
    >>> stored = leave_out_normalisers(Network(schema, structure, found))
    >>> found.layout.axes, stored.normalisers
    (((0, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 1, 3), (3,)), {4: 1})
    """
    layout = network.parameters.layout
    log_theta = network.parameters.log_theta
    order = network.structure.topological_order
    rank = {v: place for place, v in enumerate(order)}
    tables = [table.copy() for table in StoredTables.of(network).tables]
    normalisers: dict[int, int | None] = {}
    for owner in reversed(order):
        t = _find_normaliser(layout, log_theta, owner)
        if t is None:
            continue
        own = layout.axes[t]
        negative_log_z = tables[t]
        _gather_owner_terms(layout, owner, t, tables)
        negative_log_z += _subtract_parent_terms(layout, owner, t, tables)
        features = [v for v in own if v != layout.target]
        last = max(features, key=rank.__getitem__) if features else -1
        with_all = (u for u in layout.tables_of(last) if set(own) <= {*layout.axes[u]})
        normalisers[t] = up = next(with_all, None)
        if up is not None:
            tables[up] += along(negative_log_z, own, layout.axes[up])
    return StoredTables(tuple(tables), normalisers)


def is_normalised(layout: FamilyLayout, log_theta: FloatArray, t: int) -> bool:
    """Whether a table is a CPT of a feature, so that the page may normalise it."""
    owner, axes = layout.owners[t], layout.axes[t]
    is_cpt = len(layout.tables_of(owner)) == 1 and owner in axes
    if owner == layout.target or not is_cpt:
        return False
    sums = logsumexp(layout.table(log_theta, t), axis=axes.index(owner))
    return bool(np.abs(sums).max(initial=0.0) <= NORMALISED)


def _find_normaliser(
    layout: FamilyLayout, log_theta: FloatArray, owner: int
) -> int | None:
    """The table of a family that follows from the others; all are finite then."""
    tables = layout.tables_of(owner)
    rest = [t for t in tables if owner not in layout.axes[t]]
    own = {v for t in tables if t not in rest for v in layout.axes[t]} - {owner}
    if len(rest) != 1 or owner == layout.target or {*layout.axes[rest[0]]} != own:
        return None
    if not all(np.isfinite(layout.table(log_theta, t)).all() for t in tables):
        return None
    log_sums = FamilySum.of(layout, owner).log_sums(log_theta)
    return rest[0] if np.abs(log_sums).max() <= NORMALISED else None


def _gather_owner_terms(
    layout: FamilyLayout, owner: int, normaliser: int, tables: list[FloatArray]
) -> None:
    """Move terms of the owner and the class to the first table, in place."""
    first, *others = (t for t in layout.tables_of(owner) if t != normaliser)
    for t in others:
        kept = [v for v in layout.axes[t] if v in (owner, layout.target)]
        if not set(kept) <= set(layout.axes[first]):
            continue
        places = tuple(slice(None) if v in kept else 0 for v in layout.axes[t])
        term = tables[t][places].copy()
        tables[t] -= along(term, kept, layout.axes[t])
        tables[first] += along(term, kept, layout.axes[first])


def _subtract_parent_terms(
    layout: FamilyLayout, owner: int, normaliser: int, tables: list[FloatArray]
) -> FloatArray:
    """Subtract terms without the owner, in place; returns their sum."""
    total = np.zeros_like(tables[normaliser])
    for t in layout.tables_of(owner):
        if t == normaliser:
            continue
        axes = layout.axes[t]
        place = axes.index(owner)
        term = np.moveaxis(tables[t], place, 0)[0].copy()
        tables[t] -= np.expand_dims(term, place)
        rest = [v for v in axes if v != owner]
        total += along(term, rest, layout.axes[normaliser])
    return total
