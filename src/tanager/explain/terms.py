"""`Terms`: the log odds of a fitted model as a sum of small tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from tanager.explain.odds_conversion import log_odds_of
from tanager.explain.tree_marginals import TreeMarginals
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.types import BoolArray, CodeArray, FloatArray, IntArray
from tanager.utils import jit
from tanager.utils.threads import map_threads

LOG_ZERO = float(np.log(1e-30))
"""The logarithm of a probability of zero in an explanation, which must be finite."""


@dataclass(frozen=True, eq=False)
class Term:
    """A table of the sum, over some features.

    Parameters
    ----------
    features : ndarray of int64, shape (n_axes,)
        Positions of the features.
    lookup : ndarray of int64, shape (n_axes, widest)
        What every code of a feature adds to the cell of a sample. The code of a value
        that is not observed is a valid one.
    weights : ndarray of float64, shape (n_cells, n_outputs)
        Log odds, or centred log weights.
    """

    features: IntArray
    lookup: IntArray
    weights: FloatArray

    def cells(self, columns: CodeArray) -> IntArray:
        """Find the cells of samples; `columns` have shape (n_features, n_samples)."""
        rows = range(len(self.features))
        found = sum(self.lookup[a][columns[self.features[a]]] for a in rows)
        return np.broadcast_to(np.asarray(found, dtype=np.int64), columns.shape[1])

    def write_to(
        self, columns: CodeArray, out: FloatArray, scale: float, *, compiled: bool
    ) -> None:
        """Write `scale` times the weights of every sample to `out`, as `add_to`."""
        weights = self.weights if scale == 1.0 else scale * self.weights
        if compiled:
            from tanager.explain._kernels import write_factor

            write_factor(columns, self.features, self.lookup, weights, out)
        else:
            out[...] = weights[self.cells(columns)]

    def add_to(
        self, columns: CodeArray, out: FloatArray, scale: float, *, compiled: bool
    ) -> None:
        """Add `scale` times the weights of every sample to `out`, (n_samples, ...)."""
        weights = self.weights if scale == 1.0 else scale * self.weights
        if compiled:
            from tanager.loglinear._factor_kernels import add_factor

            add_factor(columns, self.features, self.lookup, weights, out)
        else:
            out += weights[self.cells(columns)]


class Terms(ABC):
    """The prior and the terms whose sum is the log odds of a sample.

    Two classes have one output, the log odds of the second. More classes have one
    each, the log weights less their mean over the classes, so that differences of two
    outputs are log odds of two classes.
    """

    schema: Schema
    keys: tuple[tuple[int, ...], ...]
    """Positions of the features of every term."""

    prior: FloatArray
    """Outputs without any feature, shape (n_outputs,)."""

    @abstractmethod
    def evaluate(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Values of every term, shape (n_terms, n_samples, n_outputs).

        `codes`, shape (n_samples, n_features), are in Fortran order; the number of
        states of a feature means that it is not observed.
        """

    @abstractmethod
    def evaluate_features(
        self, codes: CodeArray, n_jobs: int | None = None
    ) -> FloatArray:
        """The same by feature, shape (n_features, n_samples, n_outputs)."""

    @abstractmethod
    def additive(self, row: CodeArray) -> tuple[Term, ...] | None:
        """Tables whose sum is exact for all samples with the observed features of one.

        None if there are none: an observed feature depends on one that is not, or a
        probability is zero.
        """

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.schema) - 1

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Names of the features of every term; a family of the class begins with it."""
        return tuple(tuple(self.schema.names[j] for j in key) for key in self.keys)

    def _sum_slabs(
        self,
        codes: CodeArray,
        slabs: Sequence[Sequence[tuple[Term, float]]],
        n_jobs: int | None,
    ) -> FloatArray:
        """Sum scaled terms for every slab, shape (n_slabs, n_samples, n_outputs)."""
        # Not zeros: their pages would be mapped twice, when they are first read and
        # when they are written, and cleared slabs would have left the cache by then.
        out = np.empty((len(slabs), len(codes), len(self.prior)))
        columns = codes.T
        compiled = out.size > jit.SMALL_WORK

        def fill(index: int) -> None:
            slab = out[index]
            if not slabs[index]:
                slab[...] = 0.0
            for place, (term, scale) in enumerate(slabs[index]):
                fold = term.add_to if place else term.write_to
                fold(columns, slab, scale, compiled=compiled)

        map_threads(fill, range(len(slabs)), n_jobs)
        return out


class FactorTerms(Terms):
    """The factors of a log-linear network.

    A factor with a feature that is not observed has a weight for that, too. Where the
    model shrinks the scores of a sample that lacks a feature, its terms are divided by
    one number per class, then centred (`FactorTables.shrinkage`).
    """

    def __init__(self, network: LogLinearNetwork) -> None:
        self._factors = network.factors
        self.schema = network.schema
        self.prior = log_odds_of(self._factors.log_prior)
        self.keys = tuple(table.factor.key for table in self._factors.tables)
        self._terms = tuple(
            Term(t.factor.features, t.factor.lookup, log_odds_of(t.weights))
            for t in self._factors.tables
        )

    def evaluate(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """See `Terms.evaluate`."""
        slabs = [[(term, 1.0)] for term in self._terms]
        return self._shrink(codes, self._sum_slabs(codes, slabs, n_jobs))

    def evaluate_features(
        self, codes: CodeArray, n_jobs: int | None = None
    ) -> FloatArray:
        """See `Terms.evaluate_features`: features divide a factor equally."""
        slabs: list[list[tuple[Term, float]]] = [[] for _ in range(self.n_features)]
        for key, term in zip(self.keys, self._terms, strict=True):
            for j in key:
                slabs[j].append((term, 1.0 / len(key)))
        return self._shrink(codes, self._sum_slabs(codes, slabs, n_jobs))

    def _shrink(self, codes: CodeArray, values: FloatArray) -> FloatArray:
        """Divide the terms of samples that lack a feature, in place."""
        rows, divisors = self._factors.shrinkage(codes)
        if len(rows):
            values[:, rows] = _centre(values[:, rows] / divisors)
        return values

    def additive(self, row: CodeArray) -> tuple[Term, ...] | None:
        """See `Terms.additive`: the divisor must not depend on observed features."""
        codes = np.asfortranarray(row[None])
        rows, divisors = self._factors.shrinkage(codes)
        if not len(rows):
            return self._terms
        missing = row[: self.n_features] == self.schema.n_states[:-1]
        for key in self.keys:
            lacking = [bool(missing[j]) for j in key]
            if any(lacking) and not all(lacking):
                return None
        return tuple(
            replace(term, weights=_centre(term.weights / divisors))
            for term in self._terms
        )


def _centre(values: FloatArray) -> FloatArray:
    """Make the outputs of several classes sum to zero."""
    if values.shape[-1] == 1:
        return values
    centred: FloatArray = values - values.mean(axis=-1, keepdims=True)
    return centred


class FamilyTerms(Terms):
    """The families of a network: a term for every feature, and one for the class.

    The term of a feature x is log P(x | e, c), e being the evidence on the variables
    before x in an order with ancestors of the class first, then the class, and every
    parent before its children. Where all parents of x are observed this is an entry of
    its CPT. It is zero where x is not observed. If the class has parents, its own term
    is log P(c | e) - log P(c) with the evidence e on its ancestors, whose own terms are
    zero.
    """

    def __init__(self, network: Network) -> None:
        self.schema = network.schema
        self.network = without_zeros(network)
        self.has_zeros = network.engine.has_zeros
        structure, target = network.structure, len(network.schema) - 1
        self.parents = structure.feature_parents
        self.has_class_family = bool(self.parents[target])
        self.prior = log_odds_of(self.network.engine.log_prior)
        ancestors = find_ancestors(structure.parents, target)
        order = [v for v in structure.topological_order if v in ancestors]
        order += [v for v in structure.topological_order if v not in ancestors]
        self.order = [v for v in order if v != target]
        self.ancestors = sorted(ancestors)
        self.keys = tuple((j,) for j in range(target))
        if self.has_class_family:
            self.keys = (*self.keys, self.parents[target])
        self._tables = [self._family_terms(v) for v in range(target + 1)]

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """See `Terms.names`."""
        found = super().names
        if not self.has_class_family:
            return found
        return (*found[:-1], (self.schema.names[-1], *found[-1]))

    def _family_terms(self, variable: int) -> list[Term]:
        """The tables of a family that have the class; none for ancestors of it."""
        layout, target = self.network.parameters.layout, len(self.schema) - 1
        is_root = variable == target and not self.has_class_family
        if variable in self.ancestors or is_root:
            return []
        found = []
        for t in layout.tables_of(variable):
            if target not in layout.axes[t]:
                continue
            features = layout.axes[t][:-1]
            weights = log_odds_of(self.network.parameters.log_table(t))
            if variable in features:
                # A state with weights of zero: the variable is not observed.
                place = features.index(variable)
                shape = list(weights.shape)
                shape[place] = 1
                weights = np.concatenate([weights, np.zeros(shape)], axis=place)
            sizes = weights.shape[:-1]
            widest = max((layout.n_states[j] for j in features), default=0) + 1
            lookup = np.zeros((len(features), widest), dtype=np.int64)
            stride = prod(sizes)
            for place, size in enumerate(sizes):
                stride //= size
                lookup[place, :size] = np.arange(size) * stride
            table = np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]))
            found.append(Term(np.array(features, dtype=np.int64), lookup, table))
        if variable == target:
            found[0] = replace(found[0], weights=found[0].weights - self.prior)
        return found

    def evaluate(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """See `Terms.evaluate`."""
        slabs = [
            [(term, 1.0) for term in tables]
            for tables in self._tables[: len(self.keys)]
        ]
        out = self._sum_slabs(codes, slabs, n_jobs)
        # No code of a feature is larger: most columns are looked at only once.
        most = np.maximum.reduce(codes[:, : self.n_features], axis=0)
        if (most == self.schema.n_states[:-1]).any():
            if self._tree is not None:
                self._tree.write_to(codes, out)
            else:
                missing = codes[:, : self.n_features] == self.schema.n_states[:-1]
                self._marginalise(codes, missing, out)
        return out

    def _marginalise(
        self, codes: CodeArray, missing: BoolArray, out: FloatArray
    ) -> None:
        """Replace the values of families with missing members by exact differences."""
        target = self.n_features
        if self.has_class_family:
            rows = missing[:, list(self.parents[target])].any(axis=1)
            if rows.any():
                out[target, rows] = self._outputs(codes[rows], self.ancestors)
                out[target, rows] -= self.prior
        for place, j in enumerate(self.order):
            if not self._has_own_state(j):
                out[j, missing[:, j]] = 0.0
            if j in self.ancestors or not self.parents[j]:
                continue
            rows = missing[:, list(self.parents[j])].any(axis=1) & ~missing[:, j]
            if rows.any():
                before, after = self.order[:place], self.order[: place + 1]
                some = codes[rows]
                out[j, rows] = self._outputs(some, after) - self._outputs(some, before)

    @cached_property
    def _tree(self) -> TreeMarginals | None:
        return TreeMarginals.of(self.network, self.order)

    def _has_own_state(self, j: int) -> bool:
        """Whether the tables of a feature are zero where it is not observed."""
        return all(j in term.features for term in self._tables[j])

    def _outputs(self, codes: CodeArray, observed: Sequence[int]) -> FloatArray:
        """Outputs of samples from some of their features."""
        known = np.empty((len(codes), self.n_features), dtype=codes.dtype, order="F")
        known[...] = self.schema.n_states[:-1]
        known[:, observed] = codes[:, observed]
        return log_odds_of(self.network.engine.log_joint(known))

    def evaluate_features(
        self, codes: CodeArray, n_jobs: int | None = None
    ) -> FloatArray:
        """See `Terms.evaluate_features`.

        The term of the class is divided equally between its observed parents, or, if
        there are none, its observed ancestors.
        """
        out = self.evaluate(codes, n_jobs)
        if not self.has_class_family:
            return out
        *_, own = out
        observed = codes[:, : self.n_features] != self.schema.n_states[:-1]
        parents = np.zeros(self.n_features, dtype=np.bool_)
        parents[list(self.parents[self.n_features])] = True
        ancestors = np.zeros(self.n_features, dtype=np.bool_)
        ancestors[self.ancestors] = True
        known = observed & parents
        known = np.where(known.any(axis=1, keepdims=True), known, observed & ancestors)
        fractions = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
        for j in self.ancestors:
            out[j] += fractions[:, j, None] * own
        return out[:-1]

    def additive(self, row: CodeArray) -> tuple[Term, ...] | None:
        """See `Terms.additive`: features below missing ones forbid it."""
        if self.has_zeros:
            return None
        target = self.n_features
        missing = set(np.flatnonzero(row[:target] == self.schema.n_states[:-1]))
        found: list[Term] = []
        for v in range(target + 1):
            if v in missing:
                continue
            if missing.intersection(self.parents[v]):
                return None
            found += self._tables[v]
        return tuple(found)


def terms_of(network: AnyNetwork) -> Terms:
    """The terms of a fitted model, whose class is the last variable."""
    return FamilyTerms(network) if network.has_cpts else FactorTerms(network)


def without_zeros(network: Network) -> Network:
    """The same network, with 1e-30 in the place of probabilities of zero."""
    if not network.engine.has_zeros:
        return network
    log_theta = network.parameters.log_theta
    finite = np.where(np.isneginf(log_theta), LOG_ZERO, log_theta)
    parameters = Parameters(network.parameters.layout, finite)
    return Network(network.schema, network.structure, parameters)


def find_ancestors(parents: Sequence[Iterable[int]], variable: int) -> set[int]:
    """Find all ancestors of a variable."""
    found: set[int] = set()
    waiting = list(parents[variable])
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            waiting += parents[v]
    return found
