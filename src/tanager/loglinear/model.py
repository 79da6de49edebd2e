"""`LogLinearModel`: the class given factors over small sets of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from tanager.data.coded_data import CodedData, RowBlock
from tanager.errors import InputError
from tanager.inference.log_joint_tables import PaddedLayout, ScoreTables
from tanager.loglinear import weights_to_cpts
from tanager.loglinear.class_free_terms import grouped_terms
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.linear_maps import (
    LinearMap,
    MergedTables,
    TableSums,
    state_groups,
)
from tanager.loglinear.objective import ConditionalLogLoss, PenalisedObjective
from tanager.loglinear.solver import Solution, solve
from tanager.loglinear.summed_loss import SummedLoss
from tanager.loglinear.weights_to_cpts import FullNormaliser, log_linear_families
from tanager.model.layout import MAX_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.optim import Monitor
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import map_threads
from tanager.utils.validation import is_whole

LARGE = 40_000
"""Cells from which on samples read coordinates faster, by trials with chains of 10 to
40 features of 3 to 50 states. With fewer cells, or where groups save little, factors
are faster: they are half as many, and stay in the cache."""
SAVED = 4

TERM_GROUPS = 2
"""Terms of the distribution of the features have so many times the groups of weights.

On 16 datasets (50 bins, 6 groups of weights, up to 10,000 samples, 30 % of the values
missing at prediction) the mean log loss was 0.499 with twice the groups, 0.507 with as
many, 0.516 with four times as many and 0.535 with a term for each of 2,500 cells."""


class _Column(NamedTuple):
    """A column of codes: states of a feature, or the groups that they are in.

    It is missing where one of the features in `others` is: then the factor that the
    coordinates belong to has no effect.
    """

    feature: int
    grouped: bool
    others: tuple[int, ...]


class LogLinearModel:
    """``P(c | x)`` proportional to ``exp(sum_t w_t[x_t, c])``, with factors w_t.

    Parameters
    ----------
    coordinates : Coordinates
        The factors, each over a small set of features and the class, and the map from
        coordinates u, shape (n_coordinates,), to their weights.

    Attributes
    ----------
    factors : FamilyLayout
        The layout of the factors.
    read_coordinates : Coordinates
        The map from the same coordinates u to the factors that samples read.

    Notes
    -----
    A factor with a missing feature adds nothing to the sum; a caller that wants missing
    to be a state of its own gives the feature one state more.

    Where states share weights in groups, factors have a cell for every pair of states,
    though few coordinates: 2,500 for 36, with 50 states in 6 groups. If factors are
    large, samples get columns for the groups, and read the coordinates one by one: the
    same function, with about twice as many codes per sample in trees.

    Examples
    --------
    >>> model = LogLinearModel.of_factors((200, 200, 2), [(0,), (1,), (0, 1)])
    >>> model.factors.axes
    ((0, 2), (1, 2), (0, 1, 2), (2,))
    >>> model.coordinates.n_in
    80802
    """

    def __init__(self, coordinates: Coordinates) -> None:
        self.coordinates = self.read_coordinates = coordinates
        factors = self.factors = coordinates.factors
        places: dict[_Column, int] = {}
        tables = []
        n_states, groups, target = factors.n_states, coordinates.groups, factors.target
        assert target is not None
        if coordinates.is_coarse and factors.n_cells >= max(
            LARGE, SAVED * coordinates.n_in
        ):
            for axes, whole in zip(
                coordinates.layout.axes, coordinates.into, strict=True
            ):
                # Axes of groups are numbered after those of states.
                features = [v % len(n_states) for v in axes if v != target]
                coarse = max(axes) >= len(n_states)
                others = tuple(
                    v for v in factors.axes[whole] if v not in (target, *features)
                )
                own = [
                    # A single axis that is missing is enough.
                    _Column(
                        v,
                        coarse and groups[v] < n_states[v],
                        others if v == features[-1] else (),
                    )
                    for v in features
                ]
                tables.append([places.setdefault(c, len(places)) for c in own])
            states = [(groups if c.grouped else n_states)[c.feature] for c in places]
            axes_read = tuple((*own_places, len(places)) for own_places in tables)
            layout = FamilyLayout(
                (*states, n_states[target]),
                axes_read,
                tuple(own_axes[0] for own_axes in axes_read),
                len(places),
            )
            smooth = (*(coordinates.smooth[c.feature] for c in places), False)
            apart = coordinates.apart
            if apart:
                apart = (*(apart[c.feature] for c in places), False)
            self.read_coordinates = Coordinates(
                layout,
                smooth,
                apart=apart,
                hierarchical=False,
                penalty=coordinates.penalty,
            )
        self._columns = list(places)
        self._merged = MergedTables(self.read_coordinates.factors)

    @classmethod
    def of_factors(
        cls,
        n_states: Sequence[int],
        factors: Iterable[Sequence[int]],
        *,
        smooth: Sequence[bool] = (),
        groups: Sequence[int] = (),
        apart: Sequence[bool] = (),
    ) -> LogLinearModel:
        """Make the model with given factors, and one over the class alone.

        `n_states` are those of every feature and of the class, which comes last;
        `factors` the features of every factor. `smooth`, `groups` and `apart` are as in
        `Coordinates`; empty means no running sums, no groups, no states kept apart.

        Raises
        ------
        InputError
            If factors are not over distinct, non-empty sets of features, or `smooth`,
            `groups` or `apart` do not fit `n_states`.
        """
        target = len(n_states) - 1
        scopes = _check_scopes(factors, target)
        _check_groups(n_states, smooth, groups, apart)
        layout = FamilyLayout(
            tuple(n_states),
            (*((*scope, target) for scope in scopes), (target,)),
            (*(scope[-1] for scope in scopes), target),
            target,
        )
        layout.check_size(None)
        flags = tuple(smooth) or (False,) * len(n_states)
        return cls(
            Coordinates(layout, flags, tuple(groups), tuple(apart), hierarchical=False)
        )

    def loss(
        self, blocks: Iterable[RowBlock], n_jobs: int | None = None
    ) -> ConditionalLogLoss:
        """Prepare the negative conditional log likelihood of coded samples."""
        read, n_states = self.read_coordinates.factors, self.factors.n_states
        if not self._columns:
            return ConditionalLogLoss(read, blocks, n_jobs, self._merged)
        encoded = []
        for block in blocks:
            shape = len(block.codes), len(self._columns)
            codes = np.empty(shape, block.codes.dtype, order="F")
            for place, (v, grouped, others) in enumerate(self._columns):
                own: CodeArray = block.codes[:, v]
                if grouped:
                    coordinates = self.coordinates
                    group_of = state_groups(
                        n_states[v],
                        coordinates.groups[v],
                        apart=bool(coordinates.apart) and coordinates.apart[v],
                    )
                    own = group_of.astype(codes.dtype)[own]
                codes[:, place] = own
                for other in others:
                    missing = block.codes[:, other] == n_states[other]
                    codes[missing, place] = read.n_states[place]
            encoded.append(RowBlock(codes, block.labels, block.weights))
        return ConditionalLogLoss(read, encoded, n_jobs, self._merged)

    def loss_of(self, data: CodedData, n_jobs: int | None) -> SummedLoss:
        """Prepare the loss of samples in one or several parts.

        `n_jobs` is the number of threads where the samples are in one part.
        """
        factors = self.read_coordinates.factors
        return SummedLoss(factors, data, _make_loss, self, n_jobs)

    def fit(
        self,
        data: CodedData,
        C: float,
        *,
        starts: Sequence[FloatArray] = (),
        tol: float = 1e-4,
        max_iter: int = 500,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Minimise the penalised objective with weight C of the data; see `solve`.

        The search begins at the best of `starts`, shape (n_coordinates,), or at zero.
        """
        loss = self.loss_of(data, data.n_jobs)
        objective = PenalisedObjective(loss, self.read_coordinates, C)
        start = min(
            starts or [np.zeros(self.coordinates.n_in)],
            key=lambda u: (
                objective.value_and_gradient(u)[0] if len(starts) > 1 else 0.0
            ),
        )
        return solve(objective, start, tol, max_iter, monitor)

    def posterior(
        self,
        u: FloatArray,
        blocks: Sequence[RowBlock],
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Compute P(c | x) of coded samples, shape (n_samples, n_classes)."""
        # A missing feature is a state under which its factors add nothing.
        padded = PaddedLayout.of(self.factors)
        tables = ScoreTables.of_layout(
            padded.layout,
            padded.pad(self.coordinates.apply(u)),
            padded.layout.n_states,
        )
        parts = map_threads(
            lambda block: softmax(tables.log_joint(block.codes), axis=1), blocks, n_jobs
        )
        return np.concatenate([np.empty((0, tables.n_classes)), *parts])


def _make_loss(
    part: CodedData, model: LogLinearModel, n_jobs: int | None
) -> ConditionalLogLoss:
    return model.loss(part.blocks(), n_jobs if part.n_jobs is not None else None)


def _check_scopes(
    factors: Iterable[Sequence[int]], n_features: int
) -> list[tuple[int, ...]]:
    """Sort the features of every factor, or raise `InputError`."""
    scopes: dict[tuple[int, ...], None] = {}
    for features in factors:
        given = tuple(features)
        if not given or not all(is_whole(v) and 0 <= v < n_features for v in given):
            raise InputError(
                "Every factor must be over one or more features, numbered from 0 to "
                f"{n_features - 1}, without the class; got {given!r}."
            )
        scope = tuple(sorted(given))
        if len(set(scope)) < len(scope):
            raise InputError(f"A factor must have every feature once, got {given!r}.")
        if scope in scopes:
            raise InputError(
                f"Factors must be over different sets of features, got {scope!r} twice."
            )
        scopes[scope] = None
    return list(scopes)


def _check_groups(
    n_states: Sequence[int],
    smooth: Sequence[bool],
    groups: Sequence[int],
    apart: Sequence[bool],
) -> None:
    """Raise `InputError` unless `smooth`, `groups` and `apart` fit the variables."""
    for name, values in (("smooth", smooth), ("groups", groups), ("apart", apart)):
        if len(values) not in (0, len(n_states)):
            raise InputError(
                f"{name} must be empty or have one entry for every feature and the "
                f"class, {len(n_states)} in all, got {len(values)}."
            )
    for v, n_groups in enumerate(groups):
        least = 2 if apart and apart[v] else 1
        if not (is_whole(n_groups) and least <= n_groups <= n_states[v]):
            raise InputError(
                f"groups[{v}] must be a whole number from {least} to {n_states[v]}, "
                f"the number of states, got {n_groups!r}."
            )


class NetworkModel(LogLinearModel):
    """A log-linear model whose factors are within the families of a structure.

    `schema` says which states are ordered, and which are those of missing values: these
    are not neighbours of the others. The class is the root of `structure` and a
    parent of every feature, and the feature parents of every feature are joined
    pairwise. A family of more than `interactions` features has one factor for every
    choice of that many, its owner among them; None: every family has one factor. If
    `smooth`, weights are running sums along ordered states; `pair_bins` is the number
    of groups of ordered states in factors over several features.

    `families` has one CPT per family, with axes (feature parents..., owner, class).
    `stays_sum` says whether a family that is a sum of factors is too large for one CPT.

    Examples
    --------
    Two parents and no interaction of three features:

    >>> from tanager import Variable
    >>> schema = Schema(tuple(Variable(name, (0, 1)) for name in "abcd"), target=3)
    >>> structure = Structure(((3,), (3, 0), (3, 0, 1), ()), target=3)
    >>> model = NetworkModel(schema, structure, 2, smooth=False, pair_bins=None)
    >>> model.factors.axes
    ((0, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3), (3,))
    """

    def __init__(
        self,
        schema: Schema,
        structure: Structure,
        interactions: int | None,
        *,
        smooth: bool,
        pair_bins: int | None,
    ) -> None:
        self.structure = structure
        families = self.families = FamilyLayout.of_families(
            schema.n_states.tolist(), structure.families, structure.target
        )
        factors, self.into = families, tuple(range(families.n_tables))
        largest = max(map(len, families.axes)) - 1
        if interactions is not None and largest > interactions:
            factors, self.into = limit_interactions(families, interactions)
        factors.check_size(schema)
        self.stays_sum = any(
            self.into.count(t) > 1 and size > weights_to_cpts.FULL_CELLS
            for t, size in enumerate(families.sizes)
        )
        groups: tuple[int, ...] = ()
        self._term_groups: tuple[int, ...] = ()
        if pair_bins is not None:
            groups = count_groups(schema, pair_bins)
            self._term_groups = count_groups(schema, TERM_GROUPS * pair_bins)
        smooths = tuple(smooth and v.ordered for v in schema)
        apart = tuple(v.missing_state for v in schema)
        super().__init__(
            Coordinates(factors, smooths, groups, apart if any(apart) else ())
        )

    def to_cpts(
        self, u: FloatArray, data: CodedData | None = None
    ) -> Parameters | None:
        """Convert coordinates to CPTs with the same P(c | x).

        With `data` the CPTs are those that fit its features best, and families that are
        too large for one CPT stay sums; without data the result is None for them.
        """
        weights = self.coordinates.apply(u)
        if self.stays_sum or self.families.n_cells > MAX_CELLS:
            if data is None:
                return None
            return log_linear_families(
                self.structure, self.factors, weights, data,
                full_cells=weights_to_cpts.FULL_CELLS, terms=self._feature_terms(),
            )  # fmt: skip
        if self.factors is not self.families:
            to_families = TableSums(self.factors, self.families, self.into)
            weights = to_families.apply(weights)
        normaliser = FullNormaliser(self.structure, self.families)
        if data is None:
            return Parameters(self.families, normaliser.normalise(weights)[0])
        terms = self._feature_terms()
        if terms is not None and self.factors is not self.families:
            terms = to_families @ terms
        return normaliser.fit_cpts(weights, data, terms)

    def _feature_terms(self) -> LinearMap | None:
        """Terms by which the features are fitted; None is one for every cell."""
        if not self.coordinates.is_coarse:
            return None
        return grouped_terms(self.factors, self._term_groups, self.coordinates.apart)

    def from_cpts(self, log_theta: FloatArray) -> FloatArray:
        """Find coordinates with about the same P(c | x) as CPTs of the families.

        It is the same where factors add up to the weights of the families.
        """
        rest = FullNormaliser(self.structure, self.families).centre(log_theta)
        if self.factors is self.families:
            return self.coordinates.from_weights(rest)
        weights = np.empty(self.factors.n_cells)
        for t, whole in enumerate(self.into):
            table = self.families.table(rest, whole)
            gone = tuple(
                k
                for k, v in enumerate(self.families.axes[whole])
                if v not in self.factors.axes[t]
            )
            mean = table.mean(axis=gone, keepdims=True)
            own = self.factors.table(weights, t)
            own[...] = mean.reshape(own.shape)
            table -= mean
        return self.coordinates.from_weights(weights)


def count_groups(schema: Schema, n_groups: int) -> tuple[int, ...]:
    """At most `n_groups` groups for ordered variables, without the missing state."""
    return tuple(
        min(n_groups, v.n_values) + v.missing_state if v.ordered else v.n_states
        for v in schema
    )


def limit_interactions(
    families: FamilyLayout, interactions: int
) -> tuple[FamilyLayout, tuple[int, ...]]:
    """Split families into factors; the factors, and the family of each of them."""
    axes: list[tuple[int, ...]] = []
    into: list[int] = []
    for t, (members, owner) in enumerate(
        zip(families.axes, families.owners, strict=True)
    ):
        parents = [v for v in members if v not in (owner, families.target)]
        n_parents = min(len(parents), interactions - 1)
        for some in combinations(parents, n_parents):
            kept = {*some, owner, families.target}
            axes.append(tuple(v for v in members if v in kept))
            into.append(t)
    owners = tuple(families.owners[t] for t in into)
    factors = FamilyLayout(families.n_states, tuple(axes), owners, families.target)
    return factors, tuple(into)
