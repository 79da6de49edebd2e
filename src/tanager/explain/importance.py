"""`Importance`: what every factor or feature contributes to the predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from tanager.data.information import shared_information
from tanager.explain.edge_strength import arc_strengths
from tanager.explain.explanation import GROUPINGS
from tanager.explain.feature_arguments import check_not_empty
from tanager.explain.odds_conversion import log_odds_of, log_weights_of
from tanager.explain.terms import terms_of, without_zeros
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.plots.bars import bar_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import CodeArray, FloatArray, LabelArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.threads import map_threads
from tanager.utils.validation import check_choice


@dataclass(frozen=True, eq=False, repr=False)
class Importance(PictureMixin, FrameMixin):
    """Importances of terms, the largest first.

    Parameters
    ----------
    terms : tuple of tuples of str
        Names of the features of every term.
    values : ndarray of float64, shape (n_terms,)
        The importances.
    errors : ndarray of float64, shape (n_terms,), or None
        Their standard errors over the samples; None without data.
    support : ndarray of float64, shape (n_terms,), or None
        Total weight of the samples in which all features of the term are observed;
        None if there were no samples.
    measure : str
        What the values are.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", *["grey"] * 3] * 5, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> y = ["dry", "wet"] * 10
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    >>> found = model.importance(X, y)
    >>> found.measure, found.terms
    ('increase in log loss', (('wind',), ('sky',)))
    >>> found.values.round(3).tolist(), found.support.tolist()
    ([0.45, 0.021], [20.0, 20.0])
    """

    terms: tuple[tuple[str, ...], ...]
    values: FloatArray
    errors: FloatArray | None
    support: FloatArray | None
    measure: str

    @property
    def names(self) -> tuple[str, ...]:
        """The terms as text, such as ``age x education``."""
        return tuple(" x ".join(term) for term in self.terms)

    def columns(self) -> dict[str, list[Any]]:
        """List by column: `term`, `importance`, `standard_error` and `support`."""
        nothing = np.full(len(self.values), np.nan)
        errors = nothing if self.errors is None else self.errors
        support = nothing if self.support is None else self.support
        return {
            "term": list(self.names),
            "importance": self.values.tolist(),
            "standard_error": errors.tolist(),
            "support": support.tolist(),
        }

    def picture(self, *, max_terms: int = 20) -> Picture:
        """The largest importances as bars."""
        errors = None if self.errors is None else self.errors[:max_terms]
        return bar_picture(
            self.names[:max_terms],
            self.values[:max_terms],
            errors=errors,
            xlabel=self.measure.capitalize(),
        )


def measure_importance(
    network: AnyNetwork,
    codes: CodeArray,
    labels: LabelArray,
    weights: FloatArray | None = None,
    *,
    by: str = "factor",
    n_jobs: int | None = None,
) -> Importance:
    """Measure by how much the log loss increases without a factor or feature.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
        The samples; the number of states of a feature means that it is not observed.
    labels : ndarray of int, shape (n_samples,)
        Their classes.
    weights : ndarray of float64, shape (n_samples,), or None, default=None
        Their weights.
    by : {"factor", "feature"}, default="factor"
        Remove a factor (the term of a family), or a feature.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    Importance
        Positive values are terms that help. Standard errors are those of the mean
        difference over the samples.

    Notes
    -----
    A factor, or the term of a family (`explain_samples`), is removed by subtraction
    from the log odds. A feature is removed from a network by marginalisation, and from
    a log-linear network together with all of its factors. The other terms stay as they
    are: nothing is fitted again.
    """
    check_choice("by", by, GROUPINGS)
    check_not_empty(codes, "importance")
    given = np.ones(len(codes)) if weights is None else weights
    n_states = network.schema.n_states[:-1]
    observed = codes[:, : len(n_states)] != n_states
    terms = terms_of(network)
    values = terms.evaluate(codes, n_jobs)
    whole = terms.prior + values.sum(axis=0)
    n_classes = network.schema.n_classes
    base = _losses(whole, labels, n_classes)
    keys, names = terms.keys, terms.names
    if by == "feature":
        keys = tuple((j,) for j in range(len(n_states)))
        names = tuple((name,) for name in network.schema.names[:-1])

    def remove(index: int) -> tuple[float, float, float]:
        if by == "factor":
            rest = whole - values[index]
        elif network.has_cpts:
            hidden = codes.copy(order="F")
            hidden[:, index] = n_states[index]
            rest = log_odds_of(without_zeros(network).engine.log_joint(hidden))
        else:
            own = [t for t, key in enumerate(terms.keys) if index in key]
            rest = whole - values[own].sum(axis=0)
        gain = _losses(rest, labels, n_classes) - base
        mean = float(given @ gain) / given.sum()
        spread = float(given**2 @ (gain - mean) ** 2) ** 0.5 / given.sum()
        support = float(given[observed[:, list(keys[index])].all(axis=1)].sum())
        return mean, spread, support

    found = np.array(map_threads(remove, range(len(keys)), n_jobs)).reshape(-1, 3)
    means, errors, support = found.T
    return _sort(names, means, errors, support, "increase in log loss")


def stored_importance(network: AnyNetwork, *, by: str = "factor") -> Importance:
    """Importances that follow from the model alone, without data.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    by : {"factor", "feature"}, default="factor"
        Of factors (families), or of features.

    Returns
    -------
    Importance
        Of a log-linear network the root mean square of the log weights over the
        training samples; by feature the root of the sum of squares over its factors.
        Of a network the mutual information in nats of a feature and the class, by
        factor given the other parents of the feature: the expected weight of evidence.
    """
    check_choice("by", by, GROUPINGS)
    if network.has_cpts:
        return _expected_importance(network, by)
    return _weight_importance(network, by)


def _weight_importance(network: LogLinearNetwork, by: str) -> Importance:
    tables = network.factors.tables
    measure = "root mean square of the log weights"
    values = np.array([table.importance for table in tables])
    support = np.array(
        [
            table.support.reshape(table.factor.shape)[
                tuple(slice(0, -1) for _ in table.factor.axes)
            ].sum()
            for table in tables
        ]
    )
    if by == "factor":
        names = tuple(network.names_of(table) for table in tables)
        return _sort(names, values, None, support, measure)
    n_features = len(network.schema) - 1
    squares, most = np.zeros(n_features), np.zeros(n_features)
    for table, value, total in zip(tables, values, support, strict=True):
        for j in table.factor.key:
            squares[j] += value**2
            most[j] = max(most[j], total)
    names = tuple((name,) for name in network.schema.names[:-1])
    return _sort(names, np.sqrt(squares), None, most, measure)


def _expected_importance(network: Network, by: str) -> Importance:
    target = len(network.schema) - 1
    names = tuple((name,) for name in network.schema.names[:-1])
    values = np.zeros(target)
    if by == "factor":
        strengths = arc_strengths(network).tolist()
        for (parent, child), value in zip(
            network.structure.arcs, strengths, strict=True
        ):
            if parent == target:
                values[child] = value
        measure = "mutual information with the class, given the parents (nats)"
        return _sort(names, values, None, None, measure)
    states = network.schema.n_states[:-1]
    dtype = np.min_scalar_type(int(states.max()))
    for j in range(target):
        rows = np.empty((states[j], target), dtype=dtype, order="F")
        rows[...] = states
        rows[:, j] = np.arange(states[j])
        joint = np.exp(network.engine.log_joint(rows))
        values[j] = shared_information(joint, 0, 1)
    return _sort(names, values, None, None, "mutual information with the class (nats)")


def _losses(log_odds: FloatArray, labels: LabelArray, n_classes: int) -> FloatArray:
    """Minus the log probability of the class of every sample."""
    log_weights = log_weights_of(log_odds, n_classes)
    log_p = log_softmax(log_weights, axis=-1)
    found: FloatArray = -log_p[np.arange(len(labels)), labels]
    return found


def _sort(
    names: tuple[tuple[str, ...], ...],
    values: FloatArray,
    errors: FloatArray | None,
    support: FloatArray | None,
    measure: str,
) -> Importance:
    order = np.argsort(-values, kind="stable")
    return Importance(
        tuple(names[k] for k in order),
        values[order],
        None if errors is None else errors[order],
        None if support is None else support[order],
        measure,
    )
