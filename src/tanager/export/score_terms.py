"""`ScoreTerms`: a classifier as a sum of tables, to be written in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tanager.errors import CapabilityError
from tanager.loglinear.missing_features import missing_variances, shrink_scores
from tanager.model.schema import Variable
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.types import CodeArray, FloatArray, IntArray

MAX_CELLS = 2_000_000
"""Entries of all tables of a model that can be exported."""


@dataclass(frozen=True, eq=False)
class TermAxis:
    """One feature of a term, and the bins into which its codes are merged.

    Parameters
    ----------
    feature : int
        Position of the feature in `ScoreTerms.features`.
    bins : tuple of int
        The bin of every code; the last one is that of a feature that is not observed,
        -1 if the term has no weight for that.
    """

    feature: int
    bins: tuple[int, ...]

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return max(self.bins) + 1


@dataclass(frozen=True, eq=False)
class ScoreTerm:
    """A table over some features whose entries are added to the scores.

    Parameters
    ----------
    axes : tuple of TermAxis
        The features; the last one varies fastest along the cells.
    weights : ndarray of float64, shape (n_cells, n_columns)
        What the term adds to the score of every class, or to the log odds of two.
        Scores of more than two classes sum to zero.
    variances : ndarray of float64, shape (n_cells, n_columns), or None
        What the term adds to the variances by which scores are shrunk.
    owner : int, default=-1
        The feature whose contribution the term is, -1 if it is divided equally between
        its features.
    """

    axes: tuple[TermAxis, ...]
    weights: FloatArray
    variances: FloatArray | None = None
    owner: int = -1

    @property
    def strides(self) -> tuple[int, ...]:
        """Cells from one bin to the next, for every axis."""
        sizes = [axis.n_bins for axis in self.axes]
        return tuple(prod(sizes[i + 1 :]) for i in range(len(sizes)))


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """Scores of the classes as a prior and a sum of terms.

    Parameters
    ----------
    features : tuple of Variable
        The features that some term depends on, with the rules from values to codes.
    target : Variable
        The class.
    prior : ndarray of float64, shape (n_columns,)
        Scores without any term; one column, the log odds, for two classes.
    terms : tuple of ScoreTerm
        The terms.
    variance_scale : float
        Scale of the variances, by which scores are shrunk towards the prior
        (`shrink_scores`); 0 shrinks nothing.
    needed : tuple of int
        Features without which there is no score: parents of others in a network whose
        missing features would have to be marginalised.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, [0, 1, 1, 0])
    >>> terms = ScoreTerms.of_network(model.network_)
    >>> [variable.name for variable in terms.features], len(terms.terms)
    (['sky', 'wind'], 2)
    """

    features: tuple[Variable, ...]
    target: Variable
    prior: FloatArray
    terms: tuple[ScoreTerm, ...]
    variance_scale: float = 0.0
    needed: tuple[int, ...] = ()

    @classmethod
    def of_network(cls, network: AnyNetwork, max_cells: int = MAX_CELLS) -> ScoreTerms:
        """Read the terms of a network whose class comes last.

        Parameters
        ----------
        network : Network or LogLinearNetwork
            The model.
        max_cells : int, default=2,000,000
            Entries of all tables up to which terms are read.

        Raises
        ------
        CapabilityError
            If the class has parents, a CPT has zeros, the tables are too large, or a
            feature holds dates or times.
        """
        check_units(network)
        if isinstance(network, LogLinearNetwork):
            return _of_factors(network, max_cells)
        return _of_cpts(network, max_cells)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.target.n_states

    @property
    def n_columns(self) -> int:
        """Number of scores: one, the log odds, for two classes."""
        return len(self.prior)

    @property
    def shares(self) -> FloatArray:
        """Fraction of every term that belongs to a feature, (n_features, n_terms)."""
        found = np.zeros((len(self.features), len(self.terms)))
        for t, term in enumerate(self.terms):
            if term.owner >= 0:
                found[term.owner, t] = 1.0
            else:
                found[[axis.feature for axis in term.axes], t] = 1.0 / len(term.axes)
        return found

    @property
    def n_cells(self) -> int:
        """Number of weights in all terms."""
        return sum(term.weights.size for term in self.terms)

    def scores(self, codes: CodeArray) -> FloatArray:
        """Scores of samples, by the formula.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_samples, n_features)
            Codes of `features`; the number of states means not observed.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Log weights of the classes; NaN where a needed feature is not observed.
        """
        totals = np.tile(self.prior, (len(codes), 1))
        variances = np.zeros_like(totals)
        for term in self.terms:
            cells, absent = _cells_of(term, codes)
            totals += np.where(absent[:, None], np.nan, term.weights[cells])
            if term.variances is not None:
                variances += term.variances[cells]
        if self.variance_scale > 0.0:
            prior = self.prior[np.newaxis]
            totals = shrink_scores(totals, prior, variances, self.variance_scale)
        if self.n_classes > 2:
            return totals
        return np.concatenate([np.zeros_like(totals), totals], axis=1)


def check_units(network: AnyNetwork) -> None:
    """Raise if a feature holds dates or times, which other languages store otherwise.

    A cut point is in seconds; a column of dates compared with it would silently give
    wrong bins.
    """
    for variable in network.schema:
        if variable.unit is not None:
            raise CapabilityError(
                f"{variable.name!r} holds values of type {variable.unit}, which other "
                "languages do not compare with seconds. Convert it to a number before "
                "fitting, such as days since a date, and export that model."
            )


def _cells_of(term: ScoreTerm, codes: CodeArray) -> tuple[IntArray, IntArray]:
    """Cells of samples, and whether they have none."""
    cells = np.zeros(len(codes), dtype=np.int64)
    absent = np.zeros(len(codes), dtype=np.int64)
    for axis, stride in zip(term.axes, term.strides, strict=True):
        bins = np.array(axis.bins)[codes[:, axis.feature]]
        absent |= bins < 0
        cells += np.maximum(bins, 0) * stride
    return cells, absent


def _check_cells(n_cells: int, max_cells: int) -> None:
    if n_cells > max_cells:
        raise CapabilityError(
            f"The tables of this model have {n_cells:,} entries, more than the "
            f"{max_cells:,} that can be exported. Fit it with fewer bins, fewer "
            "parents or fewer factors, such as FactorSearch(order=2, max_factors=50)."
        )


def _of_factors(network: LogLinearNetwork, max_cells: int) -> ScoreTerms:
    """The factors of a log-linear network, over the features that they use."""
    factors = network.factors
    _check_cells(factors.n_cells, max_cells)
    two = network.schema.n_classes == 2
    used = sorted({j for table in factors.tables for j in table.factor.key})
    place = {feature: position for position, feature in enumerate(used)}
    terms = []
    for table in factors.tables:
        weights = table.weights
        if two:
            weights = weights[:, 1:] - weights[:, :1]
        variances = None
        if factors.variance_scale > 0.0:
            found = missing_variances(table.factor, weights, table.support)
            variances = found if found.any() else None
        axes = tuple(
            TermAxis(place[axis.feature], tuple(axis.bins.tolist()))
            for axis in table.factor.axes
        )
        terms.append(ScoreTerm(axes, weights, variances))
    prior = factors.log_prior
    return ScoreTerms(
        tuple(network.schema[j] for j in used),
        network.schema.target_variable,
        prior[1:] - prior[:1] if two else prior,
        tuple(terms),
        factors.variance_scale,
    )


def _of_cpts(network: Network, max_cells: int) -> ScoreTerms:
    """The CPTs of a network, in which the class has no parents."""
    schema, structure = network.schema, network.structure
    target = len(schema) - 1
    if structure.parents[target]:
        names = [schema.names[p] for p in structure.parents[target]]
        raise CapabilityError(
            f"The class {schema.names[target]!r} has the parents {names}, so its "
            "scores are no sum over features. Export a model in which the class has "
            'none, such as structure="tan-res", or the default.'
        )
    layout, log_theta = network.parameters.layout, network.parameters.log_theta
    _check_cells(layout.n_cells, max_cells)
    if not np.isfinite(log_theta).all():
        raise CapabilityError(
            "Some entries of the CPTs are zero, and their logarithms have no value in "
            'other languages. Learn smoothed CPTs, such as parameters="fe".'
        )
    n_classes = schema.n_classes
    has_children = {p for v, ps in enumerate(structure.parents) for p in ps if v != p}
    prior = np.zeros(n_classes)
    terms: list[ScoreTerm] = []
    for index, (owner, axes) in enumerate(zip(layout.owners, layout.axes, strict=True)):
        table = layout.table(log_theta, index)
        if owner == target:
            prior = prior + table.ravel()
            continue
        others = [v for v in axes if v != target]
        if target in axes:
            table = np.moveaxis(table, axes.index(target), -1)
        else:  # a factor of the family that is the same for all classes
            table = np.zeros((*table.shape, n_classes))
        term_axes = []
        for position, v in enumerate(others):
            n_states = schema[v].n_states
            # A feature without children that is not observed adds nothing: its CPT
            # sums to one. The cell for that is appended, with weight zero.
            drops_out = v == owner and v not in has_children
            if drops_out:
                shape = list(table.shape)
                shape[position] = 1
                table = np.concatenate([table, np.zeros(shape)], axis=position)
            bins = (*range(n_states), n_states if drops_out else -1)
            term_axes.append(TermAxis(v, bins))
        weights = _class_weights(table.reshape(-1, n_classes))
        if weights.any() or any(-1 in axis.bins for axis in term_axes):
            terms.append(ScoreTerm(tuple(term_axes), weights, owner=owner))
    used = sorted({axis.feature for term in terms for axis in term.axes})
    place = {feature: position for position, feature in enumerate(used)}
    return ScoreTerms(
        tuple(schema[v] for v in used),
        schema.target_variable,
        _class_weights(prior[np.newaxis])[0],
        tuple(_with_places(term, place) for term in terms),
        needed=tuple(place[v] for v in used if v in has_children),
    )


def _class_weights(log_weights: FloatArray) -> FloatArray:
    """What log weights of shape (n_cells, n_classes) say of the classes.

    For two classes the log odds, otherwise the weights less their mean: what all
    classes have in common changes no probability, but would take up the range of
    numbers with few bits.
    """
    if log_weights.shape[1] == 2:
        return log_weights[:, 1:] - log_weights[:, :1]
    return np.ascontiguousarray(log_weights - log_weights.mean(axis=1, keepdims=True))


def _with_places(term: ScoreTerm, place: Mapping[int, int]) -> ScoreTerm:
    """Number the features of a term by their places among those that are used."""
    axes = tuple(replace(axis, feature=place[axis.feature]) for axis in term.axes)
    owner = place.get(term.owner, -1)
    return replace(term, axes=axes, owner=owner)
