"""Factors whose effect vanishes: how large it is, and how they are dropped."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tanager.loglinear.block_newton import TINY, FactorFit, Term
from tanager.loglinear.factor_sum import FactorSum
from tanager.types import FloatArray

THRESHOLDS = (0.08, 0.04, 0.02, 0.01, 0.005)
"""Effects below which factors may be dropped, tried one after the other."""


def measure_effects(
    terms: Sequence[Term], counts: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """How much every table distinguishes between samples, and its mean over them.

    Parameters
    ----------
    terms : sequence of Term
        The factors and their tables.
    counts : sequence of ndarray of float64, shape (n_cells, n_classes) each
        Total weight of the training samples in every cell, by class.

    Returns
    -------
    effects : ndarray of float64, shape (n_terms,)
        Standard deviation of the log weights over the samples, the root of the mean
        square over the classes.
    means : ndarray of float64, shape (n_terms, n_columns)
        Means of the tables over the samples.

    Notes
    -----
    The effect is `FactorTable.importance` without the constants, which any other factor
    can take over. The effective number of parameters would not do: a common strength
    leaves several of them to factors of pure noise.

    Examples
    --------
    >>> from tanager.loglinear.factor import Axis, Factor
    >>> term = Term(Factor((Axis(0, np.array([0, 1, 2]), 0),)), 1, 1.0)
    >>> term.table[:, 0] = [3.0, 1.0, 9.0]
    >>> measure_effects([term], [np.array([[2.0, 3.0], [1.0, 4.0], [0.0, 0.0]])])
    (array([0.5]), array([[2.]]))
    """
    # All tables at once: many factors of few cells would take longer one by one.
    tables = np.concatenate([term.table for term in terms])
    weights = np.concatenate(counts).sum(axis=1, keepdims=True)
    n_cells = [len(term.table) for term in terms]
    first = np.cumsum([0, *n_cells[:-1]])
    totals = np.maximum(np.add.reduceat(weights, first), TINY)
    means = np.add.reduceat(weights * tables, first) / totals
    tables -= np.repeat(means, n_cells, axis=0)
    variances = np.add.reduceat(weights * np.square(tables), first) / totals
    scale = 1.0 if tables.shape[1] > 1 else 0.5
    return scale * np.sqrt(variances.mean(axis=1)), means


class WeakFactors:
    """The factors of a fit with the smallest effects, which may be dropped.

    Parameters
    ----------
    fit : FactorFit
        The fit; at least one of its factors stays.
    n_axes : collection of int
        Numbers of features of the factors that may be dropped.
    required : collection of tuples of int, default=()
        Features of factors that stay in any case.

    Attributes
    ----------
    dropped : list of (Term, ndarray of float64)
        The factors that `select` has chosen, and the mean of each over the training
        samples, shape (n_columns,).
    """

    def __init__(
        self,
        fit: FactorFit,
        n_axes: Collection[int],
        *,
        required: Collection[tuple[int, ...]] = (),
    ) -> None:
        self._fit = fit
        counts = [fit.samples.class_counts(term.factor) for term in fit.terms]
        self._effects, self._means = measure_effects(fit.terms, counts)
        self._concerned = np.isin([len(t.factor.axes) for t in fit.terms], list(n_axes))
        self._required = [term.factor.key in required for term in fit.terms]

    def select(self, threshold: float, n_kept: int = 0) -> None:
        """Choose the factors with an effect below a threshold.

        The `n_kept` factors with the largest effects stay in any case, of those that
        may be dropped.
        """
        terms = self._fit.terms
        order = np.argsort(-self._effects, kind="stable")
        stays = ~self._concerned | (self._effects >= threshold) | self._required
        stays[order[self._concerned[order]][:n_kept]] = True
        if not stays.any():
            stays[order[0]] = True
        self._kept = [terms[place] for place in np.flatnonzero(stays)]
        self._heir = terms[order[stays[order]][0]]
        self.dropped = [
            (term, mean)
            for term, mean, kept in zip(terms, self._means, stays, strict=True)
            if not kept
        ]

    def held_out_loss(self) -> tuple[float, float]:
        """`FactorFit.held_out_loss` without these factors, from the held-out samples.

        Their means over the training samples stay.
        """
        samples = self._fit.samples
        codes = np.ascontiguousarray(samples.codes[:, samples.held_out])
        scores = np.log(self._fit.posterior[samples.held_out].astype(np.float64))
        changes = FactorSum(
            [term.factor for term, _ in self.dropped],
            [mean - term.table for term, mean in self.dropped],
        )
        scores += changes.add_to(np.zeros((1, scores.shape[1])), codes.T)
        if samples.n_classes == 2:
            scores = np.hstack([np.zeros_like(scores), scores])
        labels = samples.labels[samples.held_out, np.newaxis].astype(np.intp)
        own = np.take_along_axis(scores, labels, axis=1)[:, 0]
        losses = np.logaddexp.reduce(scores, axis=1) - own
        weights = samples.held_out_weights
        return float(weights @ losses), float(weights.sum())

    def drop(self) -> None:
        """Drop them; their means go to the factor with the largest effect."""
        for _, mean in self.dropped:
            self._heir.table += mean
        self._fit.take_terms(self._kept)
