"""`Frequency` (ML, FE, OFE): CPTs from relative frequencies."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.counts import Counts
from tanager.data.round_count import RoundCount
from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.parameters.base import ParameterLearner, Smoothing
from tanager.types import FloatArray
from tanager.utils.validation import check_number


class Frequency(ParameterLearner):
    """Frequency estimates (ML, FE, OFE), smoothed so that nothing is impossible.

    Parameters
    ----------
    alpha : float, default=1.0
        Dirichlet pseudo-count added to every cell; 1 is Laplace's rule. Not used
        where `zero` is given.
    zero : float or None, default=None
        If given, cells with no count become this probability instead, then rows are
        normalised, so that an unseen parent configuration is uniform: the rule of
        [1]_, with ``zero=1e-5``.

    Notes
    -----
    ``theta[x | h] = (N[x, h] + alpha) / (N[h] + alpha r)``, N weighted counts over the
    samples in which the whole family is observed and r the number of states of x. Names
    ending in ``-ML`` use ``zero=1e-5``; ``+FE`` and ``+OFE`` use ``alpha=1``. [1]_ may
    have left rows unnormalised; here every network is proper.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers, section 6.
    .. [2] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 5 (OFE).

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier(structure="nb", parameters=Frequency(alpha=1.0))
    >>> model.fit([["a"], ["a"], ["b"]], [0, 0, 1]).network_.table("x0").values
    array([[0.75      , 0.25      ],
           [0.33333333, 0.66666667]])
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"
    rounds = RoundCount(1)

    def __init__(self, *, alpha: float = 1.0, zero: float | None = None) -> None:
        self.alpha = alpha
        self.zero = zero

    @property
    def smoothing(self) -> Smoothing | None:
        """The smoothing; None for subclasses that learn in another way."""
        if type(self).learn is not Frequency.learn:
            return None
        self._check()
        if self.zero is not None:
            return Smoothing(0.0, float(self.zero))
        return Smoothing(float(self.alpha), 0.0)

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,  # noqa: ARG002 - part of the interface
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> Parameters:
        """Count every family and normalise; see `ParameterLearner.learn`."""
        self._check()
        counts = data.count(structure.families)
        return Parameters(counts.layout, self.log_tables(counts))

    def log_tables(self, counts: Counts) -> FloatArray:
        """Log probabilities of every table, shape (counts.layout.n_cells,)."""
        layout = counts.layout
        log_theta = np.empty(layout.n_cells)
        for index in range(layout.n_tables):
            table = counts.table(index)
            axis = layout.owner_axis(index)
            layout.table(log_theta, index)[...] = self._log_table(table, axis)
        return log_theta

    def _log_table(self, table: FloatArray, axis: int) -> FloatArray:
        if self.zero is None:
            smooth = table + self.alpha
            if self.alpha > 0:
                with np.errstate(divide="ignore"):  # next to nothing may round to it
                    total = smooth.sum(axis=axis, keepdims=True)
                    log_theta: FloatArray = np.log(smooth / total)
                    return log_theta
        else:
            total = table.sum(axis=axis, keepdims=True)
            theta = np.divide(table, total, where=total > 0, out=np.zeros(table.shape))
            smooth = np.where(theta > 0, theta, self.zero)
        total = smooth.sum(axis=axis, keepdims=True)
        # alpha = 0 leaves impossible states (log 0) and, where a configuration was
        # never seen, nothing at all to divide by: that row is uniform.
        rows = np.where(total > 0, smooth / np.where(total > 0, total, 1.0), np.nan)
        rows = np.where(np.isnan(rows), 1.0 / table.shape[axis], rows)
        with np.errstate(divide="ignore"):
            return np.log(rows)

    def _check(self) -> None:
        check_number("zero", self.zero, above=0, below=1, none=True)
        if self.zero is None:
            check_number("alpha", self.alpha, least=0)
