"""`EM`: CPTs by expectation maximisation, for incomplete data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.counts import Counts
from tanager.data.round_count import RoundCount
from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.optim import Monitor, warn_not_converged
from tanager.parameters.base import ParameterLearner
from tanager.parameters.frequency import Frequency
from tanager.parameters.incomplete_likelihood import (
    ObservedLikelihood,
    check_arguments,
    likelihood_and_start,
    penalised,
)
from tanager.types import FloatArray
from tanager.utils.progress import keep_best
from tanager.utils.threads import one_blas_thread


class EM(ParameterLearner):
    """Expectation maximisation (EM): frequencies from incomplete data.

    Samples with missing values contribute what is observed of them. Unlabelled samples
    contribute, too, if there are labelled ones. Features may be missing altogether.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count added to every cell, as in `Frequency`.
    tol : float, default=1e-6
        The iteration ends when a step gains no more than this per sample.
    max_iter : int, default=200
        Maximum number of steps.

    Attributes
    ----------
    n_iter_ : int
        Number of steps.
    trace_ : list of dict
        For every step, the start being step 0, the "log_likelihood" of the observed
        values and the "objective".

    Notes
    -----
    With e_m the observed features of sample m, c_m its label and v_m its weight, the
    objective is ``sum_m v_m log P(e_m, c_m) + alpha sum log theta``, the second sum
    over all cells of all CPTs; an unlabelled sample adds ``v_m log P(e_m)``. A step
    computes the expected count of every family given the observed values under the
    current CPTs, then frequencies of these counts; the objective never falls. The start
    are frequencies over the samples in which all members of a family are observed [1]_.

    The structure may be any. Missing features without observed descendants do not
    affect the likelihood and are left out of the expectations. If all samples are
    labelled, naive Bayes has no others: one step gives `Frequency`, as it does in any
    network on complete data. Below a root class, features with at most one feature
    parent are marginalised along the tree, others by a junction tree; if that is too
    large, missing values raise an error, and missing labels do not.

    A variable may be hidden, never observed: a column of missing values with declared
    categories. Frequencies would be the same for all of its states, and no step would
    ever separate them. The CPTs of its children, and of families whose members are
    never observed in one sample, therefore start from the frequencies without the
    hidden parents, times ``exp(z)`` with z normal, of standard deviation 0.3, from
    `random_state`. The labelling of hidden states is arbitrary, and another seed may
    lead to another optimum.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 5.1.3.
    .. [2] Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via
       the EM algorithm.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "u"], ["b", "v"], ["b", "v"], [None, "u"], ["b", None]]
    >>> model = BayesNetClassifier(structure="tan", parameters=EM())
    >>> model = model.fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.network_.table("x0").values.round(2)
    array([[0.6 , 0.4 ],
           [0.26, 0.74]])
    """

    uses_unlabelled: ClassVar[bool] = True
    rounds = RoundCount(2, ((1, "evaluation"),))

    def __init__(
        self, *, alpha: float = 1.0, tol: float = 1e-6, max_iter: int = 200
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Alternate expectation and maximisation; see `ParameterLearner.learn`."""
        check_arguments(self.alpha, self.tol, self.max_iter)
        with one_blas_thread():
            rows, first = likelihood_and_start(
                structure, data, self.alpha, start, random_state
            )
            return Parameters(rows.layout, self._iterate(rows, first))

    def _iterate(self, rows: ObservedLikelihood, log_theta: FloatArray) -> FloatArray:
        frequencies = Frequency(alpha=self.alpha)
        monitor = Monitor(self, self.max_iter)
        self.trace_ = monitor.trace
        self.n_iter_ = 0
        with keep_best(self, lambda: f"{self.n_iter_} steps"):
            log_likelihood, counts = rows.expected(log_theta)
            objective = penalised(log_likelihood, log_theta, self.alpha)
            monitor.record(
                iteration=0, log_likelihood=log_likelihood, objective=objective
            )
            for step in range(1, self.max_iter + 1):
                log_theta = frequencies.log_tables(Counts(rows.layout, counts))
                self.n_iter_ = step
                log_likelihood, counts = rows.expected(log_theta)
                before = objective
                objective = penalised(log_likelihood, log_theta, self.alpha)
                monitor.record(
                    iteration=step, log_likelihood=log_likelihood, objective=objective
                )
                gain = (objective - before) / rows.total
                if gain <= self.tol:
                    return log_theta
            warn_not_converged(
                self,
                f"stopped after max_iter={self.max_iter} steps with a gain of "
                f"{gain:.2g} per sample, above tol={self.tol:g}",
                "raise max_iter",
            )
        return log_theta
