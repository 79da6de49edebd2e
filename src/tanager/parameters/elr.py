"""`ELR` (CL): tables of greatest conditional likelihood."""

from __future__ import annotations

import warnings
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from tanager.core.errors import CapabilityError, InputError, unknown_name
from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.counts.coded import CodedData
from tanager.parameters.base import ParameterLearner
from tanager.parameters.log_linear import (
    ConditionalLikelihood,
    FloatArray,
    normalised,
)


class ELR(ParameterLearner):
    """Greatest conditional likelihood (CL, ELR), by a convex problem.

    Parameters
    ----------
    solver : {"convex"}, default="convex"
        How the problem is solved.
    C : float, default=1.0
        Weight of the data against an L2 penalty on the log-linear weights, as in
        scikit-learn's `LogisticRegression`; smaller is smoother.
    tol : float, default=1e-4
        The search ends when no component of the gradient, divided by the number of
        rows and `C`, is larger.
    max_iter : int, default=500
        Steps of L-BFGS at most.

    Attributes
    ----------
    certificate_ : dict
        "gradient_norm" at the end; "gap", an upper bound on how far the objective is
        above its least value; "objective" and "iterations".

    Notes
    -----
    Where, given the class, the moral graph needs no fill-in (naive Bayes and trees),
    maximising sum log P(c | x) over proper tables equals maximising it over
    unnormalised log-linear weights, which is convex [1]_. These are found by L-BFGS and
    turned into proper tables with the same P(c | x) by handing normalisers from the
    leaves to the root. In a row with missing features, the families they belong to are
    left out of the objective.

    The objective is ``f(w) = C sum_m -log P(c_m | x_m) + |w|^2 / 2``, the penalty on
    all weights but those of the class table, as an intercept has none. These are solved
    for last, to rounding; minimised over them, f is strongly convex in the others, so
    with gradient g it exceeds its least value by no more than ``|g|^2 / 2``.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       sections 3 and 7.1.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure="nb", parameters=ELR())
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> model.predict_proba([["a", "u"]]).round(2)
    array([[0.89, 0.11]])
    """

    needs: ClassVar[Literal["counts", "rows"]] = "rows"

    def __init__(
        self,
        *,
        solver: str = "convex",
        C: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 500,
    ) -> None:
        self.solver = solver
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> Parameters:
        """Solve the convex problem; see `ParameterLearner.learn`."""
        self._check()
        if not structure.is_class_rooted or not structure.is_tree:
            raise CapabilityError(
                "ELR solves a convex problem, which holds for naive Bayes and trees: "
                "the class a root and a parent of every feature, at most one feature "
                "parent each. This structure is another."
            )
        n_jobs = getattr(data, "n_jobs", None)
        objective = ConditionalLikelihood.of(structure, data, self.C, n_jobs)
        scale = max(1.0, self.C * data.n_samples)

        def scaled(weights: Any) -> tuple[float, Any]:
            value, gradient = objective.value_and_gradient(weights)
            return value / scale, gradient / scale

        first = np.zeros(objective.layout.n_cells) if start is None else start.log_theta
        result = minimize(
            scaled,
            np.array(first),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0,
                     "maxfun": 2 * self.max_iter + 20},
        )  # fmt: skip
        if result.nit >= self.max_iter:
            warnings.warn(
                f"ELR stopped after max_iter={self.max_iter} steps with a gradient of "
                f"{np.abs(result.jac).max():.2g}, above tol={self.tol:g}; raise "
                "max_iter, or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        weights = self._with_best_prior(objective, result.x, scale)
        value, gradient = objective.value_and_gradient(weights)
        self.certificate_ = {
            "objective": value,
            "gradient_norm": float(np.linalg.norm(gradient)),
            "gap": float(gradient @ gradient) / 2,
            "iterations": int(result.nit),
        }
        return normalised(objective.layout, weights)

    def _with_best_prior(
        self, objective: ConditionalLikelihood, weights: FloatArray, scale: float
    ) -> FloatArray:
        """The weights with those of the class table solved for to rounding."""
        free = objective.penalised == 0.0

        def of_prior(prior: FloatArray) -> tuple[float, FloatArray]:
            moved = weights.copy()
            moved[free] = prior
            value, gradient = objective.value_and_gradient(moved)
            return value / scale, gradient[free] / scale

        found = minimize(
            of_prior, weights[free], jac=True, method="BFGS", options={"gtol": 1e-12}
        )
        best = weights.copy()
        best[free] = found.x
        return best

    def _check(self) -> None:
        if self.solver != "convex":
            raise unknown_name("solver", self.solver, ["convex"])
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not isfinite(value) or value <= 0:
                raise InputError(f"{name} must be a number above 0, got {value!r}.")
        if not isinstance(self.max_iter, (int, np.integer)) or self.max_iter < 1:
            raise InputError(
                f"max_iter must be a whole number of at least 1, got {self.max_iter!r}."
            )
