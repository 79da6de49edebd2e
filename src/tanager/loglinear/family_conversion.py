"""Log-linear families: weights over cliques as proper families that stay sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from scipy.special import logsumexp

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError, InputError
from tanager.inference.family_sum import FamilySum
from tanager.loglinear.normalisation import GAUGE_STEPS, fit_features
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.structure import Structure
from tanager.types import FloatArray
from tanager.utils.threads import one_blas_thread

FULL_CELLS = 100_000
"""Cells up to which a family is written out as one table (800 kB)."""

GAUGE_CELLS = 2_000_000_000
"""Configurations visited at most while tables are fitted to the features."""

GAUGE_RIDGE = 1e-3
"""Keeps the changes bounded where gaps make counts of pairs disagree."""


def log_linear_families(
    structure: Structure,
    layout: FamilyLayout,
    weights: FloatArray,
    data: CodedData | None = None,
    *,
    full_cells: int = FULL_CELLS,
) -> Parameters:
    """Proper families with the same P(c | x) as additive weights.

    Parameters
    ----------
    structure : Structure
        Class-rooted, the feature parents of every feature joined pairwise.
    layout : FamilyLayout
        Tables of weights over the class, single features, pairs, triples and so on,
        each within one family of `structure`; their owners are not looked at.
    weights : ndarray of float64, shape (layout.n_cells,)
        Finite; P(c | x) is proportional to the exp of the sum of the touched cells.
    data : CodedData or None, default=None
        Rows whose features the tables shall fit where P(c | x) leaves a choice, which
        matters when features are missing later; None takes P(c, x) itself
        proportional to the exp of the weights.
    full_cells : int, default=FULL_CELLS
        Families of at most so many cells have one full table each; the others are
        sums, if they have two parents or more.

    Returns
    -------
    families : Parameters
        With `FamilyLayout.of_structure` if no family is too large for one table.

    Notes
    -----
    Let F_j be the tables of which j is the last feature (parents come before
    children), together with what its children hand up. Then

    ``log theta_j = sum of F_j - log Z_j``, ``log Z_j = log sum over x_j of exp F_j``.

    Z_j depends on the class and on parents of j only, which are joined to each other:
    it is handed to the last of them, and in the end to the class. No table is larger
    than those given and those over the parents: with pairs and k = 2 all have two
    features and the class. Greiner, Su, Shen, Zhou (2005), section 7.1, asks for such a
    form; full tables come from `Normaliser`.

    With `data`, numbers b that are the same in all classes are added to the tables that
    have the family's own feature, so that P(x) fits the counts of their features; as
    in `Normaliser.likeliest`, but by pairs where the families are sums of pairs. Each
    step visits all configurations of all families twice; there are only so many steps
    that `GAUGE_CELLS` are visited, and none beyond.

    Examples
    --------
    A 2-tree over three features of ten states, with a weight for every pair:

    >>> structure = Structure(((3,), (3, 0), (3, 0, 1), ()), target=3)
    >>> pairs = ((0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    >>> layout = FamilyLayout((10, 10, 10, 2), pairs, (1, 2, 2, 3), 3)
    >>> weights = np.random.default_rng(0).normal(size=layout.n_cells)
    >>> found = log_linear_families(structure, layout, weights, full_cells=1000)
    >>> found.layout.axes, found.layout.n_cells
    (((0, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 1, 3), (3,)), 822)
    """
    if not (structure.is_class_rooted and structure.needs_no_fill_in):
        raise CapabilityError(
            "Log-linear families need a root class that is a parent of every feature, "
            "and feature parents that are joined to each other (naive Bayes, trees, "
            "true k-trees); only then do weights turn into tables."
        )
    if weights.shape != (layout.n_cells,) or not np.isfinite(weights).all():
        raise InputError(
            f"Expected {layout.n_cells} finite weights, got an array of shape "
            f"{weights.shape}, or numbers that are infinite or NaN."
        )
    normaliser = SumNormaliser.of(structure, layout, full_cells)
    normaliser.layout.check_size(None if data is None else data.schema)
    values = normaliser.of_weights(layout, weights)
    with one_blas_thread():
        if data is None:
            return Parameters(normaliser.layout, normaliser.normalise(values)[0])
        return normaliser.likeliest(values, data)


@dataclass(frozen=True, eq=False)
class SumNormaliser:
    """`Normaliser` for families that are sums of tables.

    Parameters
    ----------
    structure : Structure
        Class-rooted, the feature parents of every feature joined pairwise.
    layout : FamilyLayout
        Its tables, all with the class. A feature's parents that occur in its tables
        occur together in one table of the feature, and in one of the last of them.
    """

    structure: Structure
    layout: FamilyLayout

    @classmethod
    def of(
        cls, structure: Structure, weights: FamilyLayout, full_cells: int
    ) -> SumNormaliser:
        """Lay the families out for weights over given tables."""
        target = weights.target
        assert target is not None
        states = weights.n_states

        above = _Last(structure)
        handed: list[set[frozenset[int]]] = [set() for _ in states]
        for axes in weights.axes:
            features = frozenset(axes) - {target}
            handed[above.of(features)].add(features)
        scopes: list[list[frozenset[int]]] = [[frozenset([target])] for _ in states]
        for v in reversed(structure.topological_order):
            if v == target:
                continue
            family = frozenset((*structure.feature_parents[v], v))
            own = {*handed[v], frozenset([v])}
            if prod(states[u] for u in family) * states[target] <= full_cells:
                own = {family}
            given = frozenset().union(*own) - {v}
            own.add(given)
            # The tables with v come first, then that of the normaliser alone.
            widest = sorted(
                (one for one in own if not any(one < other for other in own)),
                key=lambda scope: (v not in scope, sorted(scope)),
            )
            scopes[v] = [scope | {target} for scope in widest]
            handed[above.of(given)].add(given)
        return cls(structure, FamilyLayout.of_sums(states, structure, scopes))

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        """For every feature, children before parents, where its normaliser goes."""
        layout, target = self.layout, self._target
        above = _Last(self.structure)
        steps = []
        for v in reversed(self.structure.topological_order):
            if v == target:
                continue
            tables = layout.tables_of(v)
            members = {u for t in tables for u in layout.axes[t]} - {v, target}
            mine = self._table_over(v, members)
            outer = tuple(u for u in layout.axes[mine] if u in members)
            up = self._table_over(above.of(members), members)
            steps.append(_Step(FamilySum(layout, v, outer), mine, up))
        return tuple(steps)

    @property
    def _target(self) -> int:
        assert self.layout.target is not None
        return self.layout.target

    def _table_over(self, owner: int, scope: Iterable[int]) -> int:
        """The first table of `owner` that has all variables of `scope`."""
        wanted = set(scope)
        return next(
            t
            for t in self.layout.tables_of(owner)
            if wanted <= set(self.layout.axes[t])
        )

    def of_weights(self, layout: FamilyLayout, weights: FloatArray) -> FloatArray:
        """Weights over other tables, added to the tables here that hold them."""
        above = _Last(self.structure)
        values = np.zeros(self.layout.n_cells)
        for t, axes in enumerate(layout.axes):
            features = frozenset(axes) - {self._target}
            into = self._table_over(above.of(features), features)
            self.layout.table(values, into)[...] += along(
                layout.table(weights, t), axes, self.layout.axes[into]
            )
        return values

    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Log tables with the same P(c | x), and the logarithm of what they sum to.

        Parameters
        ----------
        weights : ndarray of float64, shape (layout.n_cells,)
            Log-linear weights.

        Returns
        -------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Proper families.
        log_sum : float
            Log of the sum of ``exp(total weight)`` over all configurations and classes.
        """
        layout = self.layout
        log_theta = weights.astype(np.float64)
        for step in self._steps:
            axes = (*step.family.outer, self._target)
            log_sums = step.family.log_sums(log_theta)
            own = layout.table(log_theta, step.mine)
            own -= along(log_sums, axes, layout.axes[step.mine])
            up = layout.table(log_theta, step.up)
            up += along(log_sums, axes, layout.axes[step.up])
        prior = layout.table(log_theta, layout.tables_of(self._target)[0])
        log_sum = float(logsumexp(prior))
        prior -= log_sum
        return log_theta, log_sum

    def family_shares(self, log_theta: FloatArray) -> FloatArray:
        """Joint probability of every cell's variables, flat as the tables."""
        layout = self.layout
        joint = np.zeros(layout.n_cells)
        prior = layout.tables_of(self._target)[0]
        layout.table(joint, prior)[...] = np.exp(layout.table(log_theta, prior))
        for step in reversed(self._steps):
            own = layout.axes[step.up]
            axes = (*step.family.outer, self._target)
            gone = tuple(place for place, v in enumerate(own) if v not in axes)
            left = tuple(v for v in own if v in axes)
            above = along(layout.table(joint, step.up).sum(axis=gone), left, axes)
            step.family.add_joint(log_theta, above, joint)
        return joint

    def likeliest(self, weights: FloatArray, data: CodedData) -> Parameters:
        """Of all families with the same P(c | x), those that fit the features best."""
        layout = self.layout
        tables = [
            t
            for t, v in enumerate(layout.owners)
            if v != self._target and v in layout.axes[t]
        ]
        counts = data.count([layout.axes[t][:-1] for t in tables])
        shares = []
        for place in range(len(tables)):
            # Smoothed by one row spread over each: nothing is impossible.
            seen = counts.table(place) + 1.0 / counts.layout.sizes[place]
            shares.append(seen / seen.sum())
        visited = sum(prod(s.family.shape) * s.family.n_states for s in self._steps)
        steps = min(GAUGE_STEPS, GAUGE_CELLS // (2 * max(visited, 1)))
        if not steps:
            return Parameters(layout, self.normalise(weights)[0])
        return fit_features(
            self, weights, tables, shares, max_iter=steps, ridge=GAUGE_RIDGE
        )


@dataclass(frozen=True, eq=False)
class _Step:
    """A feature's tables, and the tables that lose and gain its normaliser."""

    family: FamilySum
    mine: int
    up: int


class _Last:
    """Finds the family that has all of some features: that of the last of them."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._rank = {v: r for r, v in enumerate(structure.topological_order)}

    def of(self, features: Iterable[int]) -> int:
        """The last of some features, the class if there are none."""
        target = self._structure.target
        assert target is not None
        found = set(features)
        last = max(found, key=self._rank.__getitem__, default=target)
        if not found <= {last, *self._structure.parents[last]}:
            raise InputError(
                f"There are weights over the variables {sorted(found)}, which are in "
                "no family of the structure together; give weights within families "
                "only."
            )
        return last
