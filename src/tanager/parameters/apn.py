"""`APN`: maximum likelihood by gradient steps, for incomplete data."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.optim import Monitor, warn_not_converged
from tanager.parameters.base import ParameterLearner
from tanager.parameters.gradient_solvers import check_solver, make_solver
from tanager.parameters.incomplete_likelihood import (
    ObservedLikelihood,
    check_arguments,
    likelihood_and_start,
    penalised,
)
from tanager.parameters.softmax_objective import Coordinates
from tanager.types import FloatArray
from tanager.utils.progress import keep_best
from tanager.utils.threads import one_blas_thread


class APN(ParameterLearner):
    """Adaptive probabilistic networks (APN): the likelihood of `EM`, by gradient.

    Parameters
    ----------
    solver : {"cg", "lbfgs", "cg-theta"}, default="cg"
        Conjugate gradient with line searches, as published, or L-BFGS, which evaluates
        the likelihood about once per step instead of a dozen times. "cg-theta" is
        conjugate gradient on the probabilities themselves, the original APN_theta of
        [2]_.
    alpha : float, default=1.0
        Pseudo-count added to every cell, as in `Frequency`.
    tol : float, default=1e-4
        The solver stops when no component of the gradient of the mean per sample is
        larger.
    max_iter : int, default=200
        Maximum number of steps.

    Attributes
    ----------
    n_iter_ : int
        Number of steps.
    trace_ : list of dict
        For every step, the start being step 0, the "objective" and its
        "gradient_norm", both of the mean per sample.

    Notes
    -----
    The objective is that of `EM` divided by the weight of all samples, maximised over
    parameters beta with ``theta = softmax(beta)`` [1]_; the original searches over
    theta itself [2]_, with gradients projected onto the distributions. Its derivative
    by beta[d | f] is, for one sample,
    ``P(d, f | e, c) - theta[d | f] P(f | e, c)``. The start, the structures and hidden
    variables are as in `EM`. The search runs until `tol`: [1]_ describes cross tuning,
    the choice of the number of steps by held-out error, for ELR alone.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       sections 5 and 5.1.3.
    .. [2] Binder, Koller, Russell, Kanazawa (1997), Adaptive probabilistic networks
       with hidden variables.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "u"], ["b", "v"], ["b", "v"], [None, "u"], ["b", None]]
    >>> model = BayesNetClassifier(structure="tan", parameters=APN())
    >>> model = model.fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.network_.table("x0").values.round(2)
    array([[0.6 , 0.4 ],
           [0.26, 0.74]])
    """

    uses_unlabelled: ClassVar[bool] = True
    rounds = RoundCount(2, ((1, "evaluation"),))

    def __init__(
        self,
        *,
        solver: str = "cg",
        alpha: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 200,
    ) -> None:
        self.solver = solver
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
        """Ascend the likelihood; see `ParameterLearner.learn`."""
        check_solver(self.solver)
        check_arguments(self.alpha, self.tol, self.max_iter)
        with one_blas_thread():
            rows, first = likelihood_and_start(
                structure, data, self.alpha, start, random_state
            )
            return Parameters(rows.layout, self._ascend(rows, first))

    def _ascend(self, rows: ObservedLikelihood, log_theta: FloatArray) -> FloatArray:
        """Return the logarithms of the CPTs."""
        solver = make_solver(self.solver, rows.layout)
        first = solver.coordinates.start(log_theta)
        monitor = Monitor(self, self.max_iter, goal=("gradient_norm", self.tol))
        self.trace_ = monitor.trace
        self.n_iter_ = 0
        beta = first
        descent = partial(negative_mean, rows, solver.coordinates, self.alpha)

        def record(vector: FloatArray, value: float, norm: float) -> None:
            nonlocal beta
            beta, self.n_iter_ = vector, len(monitor.trace)
            monitor.record(iteration=self.n_iter_, objective=-value, gradient_norm=norm)

        with keep_best(self, lambda: f"{self.n_iter_} steps"):
            value, gradient = descent(first)
            record(first, value, float(np.linalg.norm(gradient)))
            beta, self.n_iter_ = solver.minimise(
                descent, first, max_iter=self.max_iter, tol=self.tol, callback=record
            )
            largest = np.abs(descent(beta)[1]).max(initial=0.0)
            if self.n_iter_ >= self.max_iter and largest > self.tol:
                warn_not_converged(
                    self,
                    f"stopped after max_iter={self.max_iter} steps with a gradient of "
                    f"{largest:.2g}, above tol={self.tol:g}",
                    "raise max_iter",
                )
        return solver.coordinates.cpts(beta)[1]


def negative_mean(
    rows: ObservedLikelihood, coordinates: Coordinates, alpha: float, beta: FloatArray
) -> tuple[float, FloatArray]:
    """Compute minus the objective of `APN` and its gradient by its parameters."""
    theta, log_theta = coordinates.cpts(beta)
    value, counts = rows.expected(log_theta)
    value = penalised(value, log_theta, alpha)
    gradient = coordinates.gradient(counts + alpha, theta)
    return -value / rows.total, -gradient / rows.total
