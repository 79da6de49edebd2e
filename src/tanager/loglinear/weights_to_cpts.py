"""Conversion of log-linear weights to CPTs with the same P(c | x)."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError, InputError
from tanager.inference.loglinear_family_sums import FamilySum
from tanager.loglinear.class_free_terms import CellTerms
from tanager.loglinear.linear_maps import LinearMap, TableSums
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.structure import Structure
from tanager.optim import lbfgs
from tanager.types import FloatArray, IntArray
from tanager.utils.threads import one_blas_thread

FULL_CELLS = 100_000
"""Largest number of cells of a family that is written out as one CPT (800 kB)."""

FEATURE_TOL = 1e-3
FEATURE_STEPS = 50
"""Bounds of the fit to the distribution of the features; a closer fit is no use."""

VISITED_CELLS = 2_000_000_000
"""Largest number of configurations visited by that fit for families kept as sums."""

RIDGE = 1e-3
"""Bounds the changes where missing values make counts of pairs inconsistent."""


class Normaliser(metaclass=ABCMeta):
    """Base of conversions for a structure whose feature parents are joined pairwise.

    The class is the root of `structure`; `layout` are the factors of its families, all
    with the class as last axis.

    Notes
    -----
    The normaliser of a feature is a function of its parents and the class. The parents
    are joined to each other, so the last of them has all others as its own parents: its
    factor takes the normaliser up, and those of features without feature parents go to
    the class. Greiner, Su, Shen, Zhou (2005), section 7.1, asks for such a form.
    """

    structure: Structure
    layout: FamilyLayout

    @abstractmethod
    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Compute the CPTs with the same P(c | x) as given weights.

        Returns their logarithms, shape (layout.n_cells,), and the log of the sum of
        ``exp(total weight)`` over all configurations and classes.
        """

    @abstractmethod
    def joint(self, log_theta: FloatArray) -> FloatArray:
        """Joint probability of every cell's variables, shape (layout.n_cells,)."""

    def fit_features(
        self,
        weights: FloatArray,
        terms: LinearMap,
        target: FloatArray,
        *,
        max_iter: int = FEATURE_STEPS,
        ridge: float = 0.0,
    ) -> Parameters:
        """Find those CPTs with the same P(c | x) under which features are most likely.

        `terms` maps terms of sets of cells, shape (n_terms,), to the cells of `layout`,
        in all classes alike; `target`, of the same shape, are the probabilities of
        these sets in the data. `ridge` weighs a penalty on the scaled terms, needed
        where the probabilities are inconsistent: nothing else bounds the terms then.

        A term added to a cell in all classes alike changes no P(c | x), but it does
        change P(x), and with it what is inferred when features are missing. With such
        terms b the log likelihood of the features is
        ``sum_t <q_t, b_t> - log Z(b)`` per sample, q_t the distributions, which is
        concave; its gradient is q_t less the model's distribution. A few steps of
        L-BFGS on factors, not samples, find its maximum.
        """
        # The second derivative by b is about the probability of its cell: scaled by
        # the root, all cells are alike.
        scale = 1.0 / np.sqrt(target)

        def misfit(u: FloatArray) -> tuple[float, FloatArray]:
            log_theta, log_sum = self.normalise(weights + terms.apply(scale * u))
            model = terms.adjoint(self.joint(log_theta))
            slope = scale * (model - target) + ridge * u
            value = log_sum - float(target @ (scale * u)) + ridge * float(u @ u) / 2
            return value, slope

        u, _ = lbfgs(misfit, np.zeros(len(target)), max_iter=max_iter, tol=FEATURE_TOL)
        log_theta, _ = self.normalise(weights + terms.apply(scale * u))
        return Parameters(self.layout, log_theta)


class FullNormaliser(Normaliser):
    """Conversion to one full CPT per family.

    `structure` and `layout` are as in `Normaliser`, with one factor per family, of axes
    (feature parents..., owner, class).
    """

    def __init__(self, structure: Structure, layout: FamilyLayout) -> None:
        self.structure = structure
        self.layout = layout
        self._prior = layout.owners.index(layout.target)
        table_of = {owner: t for t, owner in enumerate(layout.owners)}
        rank = {v: place for place, v in enumerate(structure.topological_order)}
        tables, ups, states, starts = [], [], [], [0]
        rows = [np.empty(0, dtype=np.int64)]
        for v in reversed(structure.topological_order):
            if v == layout.target:
                continue
            t, up = table_of[v], self._prior
            if structure.feature_parents[v]:
                up = table_of[max(structure.feature_parents[v], key=rank.__getitem__)]
            # Cell k of `up` takes the normaliser of row rows[start + k] of t: a
            # configuration of t's parents, and a class.
            mine = [u for u in layout.axes[t] if u != v]
            shape = [layout.n_states[u] for u in mine]
            numbers = along(
                np.arange(prod(shape)).reshape(shape), mine, layout.axes[up]
            )
            tables.append(t)
            ups.append(up)
            states.append(layout.n_states[v])
            rows.append(np.broadcast_to(numbers, layout.shapes[up]).ravel())
            starts.append(starts[-1] + layout.sizes[up])
        self._steps: tuple[IntArray, ...] = (
            *(np.array(a, dtype=np.int64) for a in (tables, ups, states, starts[:-1])),
            np.concatenate(rows),
            np.append(layout.offsets, layout.n_cells),
        )

    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Compute the CPTs; see `Normaliser.normalise`."""
        from tanager.loglinear import _kernels

        log_theta = weights.astype(np.float64)
        n_classes = self.layout.compiled.n_classes
        log_sum = _kernels.hand_up(log_theta, *self._steps, self._prior, n_classes)
        return log_theta, float(log_sum)

    def joint(self, log_theta: FloatArray) -> FloatArray:
        """Compute the joint distributions; see `Normaliser.joint`."""
        from tanager.loglinear import _kernels

        joint = np.exp(log_theta)
        _kernels.hand_down(joint, *self._steps, self.layout.compiled.n_classes)
        return joint

    def centre(self, log_theta: FloatArray) -> FloatArray:
        """Find small weights with the same P(c | x) as given CPTs.

        It undoes the normalisation: the distributions of every CPT get mean zero, and
        their means go to the parents.
        """
        weights = log_theta.astype(np.float64)
        *steps, rows, ends = self._steps
        for t, up, n_states, start in zip(*(a.tolist() for a in steps), strict=True):
            table = self.layout.table(weights, t)
            means = (table / n_states).sum(axis=-2)
            table -= means[..., None, :]
            above = weights[ends[up] : ends[up + 1]]
            above += means.ravel()[rows[start : start + len(above)]]
        prior = self.layout.table(weights, self._prior)
        prior -= prior.mean()
        return weights

    def fit_cpts(
        self, weights: FloatArray, data: CodedData, terms: LinearMap | None = None
    ) -> Parameters:
        """Find the CPTs with the same P(c | x) that fit the features of `data` best.

        The distribution of every family, without the class, follows from CPTs of the
        features alone, smoothed by one sample spread over each: nothing is impossible,
        and families are consistent, though missing values may leave each with other
        samples. `terms` is as in `fit_features`; None is one for every cell.
        """
        layout = self.layout
        counts = data.count(self.structure.families)
        theta = np.empty(layout.n_cells)
        for t in range(layout.n_tables):
            table = layout.table(theta, t)
            if t == self._prior:
                table[...] = 1.0 / table.size
            else:
                seen = counts.table(t).sum(axis=-1)
                seen += 1.0 / seen.size
                table[...] = (seen / seen.sum(axis=-1, keepdims=True))[..., None]
        joint = self.joint(np.log(theta))
        if terms is None:
            features = [t for t in range(layout.n_tables) if t != self._prior]
            terms = CellTerms(layout, features)
        return self.fit_features(weights, terms, terms.adjoint(joint))


class _Step(NamedTuple):
    """A feature's factors, and those that lose and gain its normaliser."""

    family: FamilySum
    mine: int
    up: int


class SumNormaliser(Normaliser):
    """Conversion to families that are sums of factors.

    `weights` are the factors to convert, each within one family of `structure`; `into`
    has for each of them the factor of `layout` that it is added into. Families of at
    most `full_cells` cells get one full CPT each.
    """

    def __init__(
        self, structure: Structure, weights: FamilyLayout, full_cells: int
    ) -> None:
        assert structure.target is not None
        states, target = weights.n_states, structure.target
        self._target = target
        rank = {v: place for place, v in enumerate(structure.topological_order)}
        last = partial(max, key=rank.__getitem__, default=target)
        handed: list[set[frozenset[int]]] = [set() for _ in states]
        owners = []
        for axes in weights.axes:
            features = frozenset(axes) - {target}
            owners.append(last(features))
            if not features <= {owners[-1], *structure.parents[owners[-1]]}:
                raise InputError(
                    f"There are weights over the variables {sorted(features)}, which "
                    "are in no family of the structure together; give weights within "
                    "families only."
                )
            handed[owners[-1]].add(features)
        scopes: list[list[frozenset[int]]] = [[frozenset([target])] for _ in states]
        order = [v for v in reversed(structure.topological_order) if v != target]
        for v in order:
            family = frozenset((*structure.feature_parents[v], v))
            own = {*handed[v], frozenset([v])}
            if prod(states[u] for u in family) * states[target] <= full_cells:
                own = {family}
            given = frozenset().union(*own) - {v}
            own.add(given)
            # The factors with v come first, then that of the normaliser alone.
            widest = sorted(
                (one for one in own if not any(one < other for other in own)),
                key=lambda scope: (v not in scope, sorted(scope)),
            )
            scopes[v] = [scope | {target} for scope in widest]
            handed[last(given)].add(given)
        self.structure = structure
        layout = self.layout = FamilyLayout.of_sums(states, structure, scopes)
        self.into = tuple(
            self._factor_over(owner, set(axes) - {target})
            for owner, axes in zip(owners, weights.axes, strict=True)
        )
        self._prior = layout.tables_of(target)[0]
        self._steps = []
        for v in order:
            tables = layout.tables_of(v)
            members = {u for t in tables for u in layout.axes[t]} - {v, target}
            mine = self._factor_over(v, members)
            outer = tuple(u for u in layout.axes[mine] if u in members)
            up = self._factor_over(last(members), members)
            self._steps.append(_Step(FamilySum(layout, v, outer), mine, up))

    def _factor_over(self, owner: int, scope: set[int]) -> int:
        """The first factor of `owner` that has all variables of `scope`."""
        layout = self.layout
        return next(t for t in layout.tables_of(owner) if scope <= set(layout.axes[t]))

    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Compute the families; see `Normaliser.normalise`."""
        layout = self.layout
        log_theta = weights.astype(np.float64)
        for step in self._steps:
            axes = (*step.family.outer, self._target)
            log_sums = step.family.log_sums(log_theta)
            own = layout.table(log_theta, step.mine)
            own -= along(log_sums, axes, layout.axes[step.mine])
            up = layout.table(log_theta, step.up)
            up += along(log_sums, axes, layout.axes[step.up])
        prior = layout.table(log_theta, self._prior)
        log_sum = float(logsumexp(prior))
        prior -= log_sum
        return log_theta, log_sum

    def joint(self, log_theta: FloatArray) -> FloatArray:
        """Compute the joint distributions; see `Normaliser.joint`."""
        layout = self.layout
        joint = np.zeros(layout.n_cells)
        prior = layout.table(log_theta, self._prior)
        layout.table(joint, self._prior)[...] = np.exp(prior)
        for step in reversed(self._steps):
            own = layout.axes[step.up]
            axes = (*step.family.outer, self._target)
            gone = tuple(place for place, v in enumerate(own) if v not in axes)
            left = tuple(v for v in own if v in axes)
            above = along(layout.table(joint, step.up).sum(axis=gone), left, axes)
            step.family.add_joint(log_theta, above, joint)
        return joint

    def fit_cpts(
        self, weights: FloatArray, data: CodedData, terms: LinearMap | None = None
    ) -> Parameters:
        """Find the families with the same P(c | x) that fit the features best.

        `terms` is as in `fit_features`; None is one for every cell of the factors that
        have the family's own feature.
        """
        layout = self.layout
        tables = [
            t
            for t, v in enumerate(layout.owners)
            if v != self._target and v in layout.axes[t]
        ]
        counts = data.count([layout.axes[t][:-1] for t in tables])
        joint = np.zeros(layout.n_cells)
        for place, t in enumerate(tables):
            # Smoothed by one sample spread over each: nothing is impossible. The class
            # has no effect on sums over it.
            seen = counts.table(place) + 1.0 / counts.layout.sizes[place]
            layout.table(joint, t)[..., 0] = seen / seen.sum()
        terms = CellTerms(layout, tables) if terms is None else terms
        return self.fit_sums(weights, terms, terms.adjoint(joint))

    def fit_sums(
        self, weights: FloatArray, terms: LinearMap, target: FloatArray
    ) -> Parameters:
        """Call `fit_features` with so many steps that `VISITED_CELLS` are visited."""
        visited = sum(prod(s.family.shape) * s.family.n_states for s in self._steps)
        steps = min(FEATURE_STEPS, VISITED_CELLS // (2 * max(visited, 1)))
        if not steps:
            return Parameters(self.layout, self.normalise(weights)[0])
        return self.fit_features(weights, terms, target, max_iter=steps, ridge=RIDGE)


def log_linear_families(
    structure: Structure,
    layout: FamilyLayout,
    weights: FloatArray,
    data: CodedData | None = None,
    *,
    full_cells: int = FULL_CELLS,
    terms: LinearMap | None = None,
) -> Parameters:
    """Convert additive weights to families with the same P(c | x).

    `structure` is class-rooted, the feature parents of every feature joined pairwise.
    `layout` are factors over the class, single features, pairs, triples and so on, each
    within one family; their owners have no effect. P(c | x) is proportional to the exp
    of the sum of the cells of x in `weights`, shape (layout.n_cells,). The CPTs fit the
    features of `data` where P(c | x) leaves a choice, which matters when features are
    missing later; without data P(c, x) itself is proportional to the exp of the
    weights. Families of at most `full_cells` cells have one full CPT each; the others
    are sums, if they have two parents or more. `terms` maps terms to cells of `layout`,
    in all classes alike, by which the features are fitted; None is one for every cell.

    Notes
    -----
    Let F_j be the factors of which j is the last feature (parents come before
    children), together with the normalisers of its children. Then

    ``log theta_j = sum of F_j - log Z_j``, ``log Z_j = log sum over x_j of exp F_j``.

    Z_j depends on the class and on parents of j only: see `Normaliser`. No factor is
    larger than those given and those over the parents: with pairs and k = 2 all have
    two features and the class. With `data`, terms that are the same in all classes are
    added to the factors that have the family's own feature, so that P(x) fits the
    counts of their features; there are only so many steps that `VISITED_CELLS` are
    visited.

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
            "true k-trees); only then can weights be converted to CPTs."
        )
    if weights.shape != (layout.n_cells,) or not np.isfinite(weights).all():
        raise InputError(
            f"Expected {layout.n_cells} finite weights, got an array of shape "
            f"{weights.shape}, or values that are infinite or NaN."
        )
    normaliser = SumNormaliser(structure, layout, full_cells)
    normaliser.layout.check_size(None if data is None else data.schema)
    added = TableSums(layout, normaliser.layout, normaliser.into)
    values = added.apply(weights)
    with one_blas_thread():
        if data is None:
            return Parameters(normaliser.layout, normaliser.normalise(values)[0])
        own_terms = None if terms is None else added @ terms
        return normaliser.fit_cpts(values, data, own_terms)
