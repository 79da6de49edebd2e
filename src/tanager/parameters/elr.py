"""`ELR` (CL): tables of greatest conditional likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isfinite
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from tanager.core.errors import CapabilityError, InputError, unknown_name
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.core.threads import one_blas_thread
from tanager.counts.coded import CodedData
from tanager.optim import (
    Monitor,
    conjugate_gradient,
    lbfgs,
    stratified_folds,
    tuned_iterations,
)
from tanager.parameters.base import ParameterLearner
from tanager.parameters.conditional import ConditionalLikelihood
from tanager.parameters.convex import PenalisedLikelihood, PenaltyPath, solve
from tanager.parameters.frequency import Frequency
from tanager.parameters.likelihood import LOWEST, NetworkConditional, NetworkRows
from tanager.parameters.normalising import Normaliser
from tanager.parameters.penalty import Coordinates

FloatArray = npt.NDArray[np.float64]

SOLVERS = ("convex", "cg", "lbfgs")
STEPS = {"convex": 500, "cg": 100, "lbfgs": 200}


class ELR(ParameterLearner):
    """Greatest conditional likelihood (CL, ELR), convex or as published.

    Parameters
    ----------
    solver : {"convex", "cg", "lbfgs"}, default="convex"
        "convex" solves a penalised convex problem to a certified optimum; it applies
        to naive Bayes, trees and true k-trees. "cg" is the published algorithm:
        conjugate gradient on softmax parameters from frequency estimates, stopped by
        cross tuning. "lbfgs" is the same with L-BFGS.
    C : float or "cv", default=1.0
        For "convex": weight of the data against an L2 penalty on the log-linear
        weights, as in scikit-learn's `LogisticRegression`; smaller is smoother. "cv"
        chooses it by cross-validated conditional likelihood.
    smooth : bool, default=False
        For "convex": whether the penalty falls on the differences of neighbouring
        states where states are ordered (bins of numbers, ordinal categories) instead of
        on the weights themselves. Goes with many bins, such as 30 quantiles.
    folds : int or None, default=5
        Folds of cross tuning and of ``C="cv"``. None turns cross tuning off: "cg" and
        "lbfgs" then run until `tol` or `max_iter`. Classes with fewer rows than folds
        are never held out; where no class has two rows, C is 1 and no step is taken.
    alpha : float, default=1.0
        Pseudo-count of the frequency estimates that "cg" and "lbfgs" start from.
    tol : float, default=1e-4
        The search ends when no component of the gradient of the mean loss per row is
        larger; that of "convex" only when the gap, too, is within 1 % of the objective.
    max_iter : int or None, default=None
        Steps at most; None is 500 for "convex", 100 for "cg" and 200 for "lbfgs".

    Attributes
    ----------
    certificate_ : dict
        For "convex": "gradient_norm" at the end; "gap", an upper bound on how far the
        objective is above its least value; "objective" and "iterations".
    C_ : float
        For "convex": the penalty that was used.
    n_iter_ : int
        Steps that were taken in the last run, on all rows.
    trace_ : list of dict
        By iteration the objective and the norm of its gradient; of cross tuning also
        the fold and the held-out error, of ``C="cv"`` the held-out loss and error of
        every value.

    Notes
    -----
    LCL = mean of log P(c | e) over rows, e what is observed. "cg" and "lbfgs" ascend
    it in parameters beta with ``theta = softmax(beta)``, missing features summed over
    [1]_. Cross tuning runs on the rows of all folds but one, watches the error on that
    one, and takes as many steps on all rows as the median of the folds' best.

    Where, given the class, the moral graph needs no fill-in, maximising over proper
    tables equals maximising over unnormalised log-linear weights, which is convex
    (section 7.1 of [1]_ asks for this). The objective is
    ``f(u) = C sum_m -log P(c_m | x_m) + |u|^2 / 2``, the penalty on all weights but
    those of the class table, as an intercept has none. The weights of a feature with
    parents are sums of those of the feature alone and those of the interaction, both
    penalised, so that trees shrink towards naive Bayes. Those of the class table are
    solved for last, to
    rounding; minimised over them, f is strongly convex in the others, so with gradient
    g it exceeds its least value by no more than ``|g|^2 / 2``. The weights are then
    turned into proper tables with the same P(c | x); of the many such tables those are
    taken under which the features themselves are likeliest, which matters when some of
    them are missing later. In a row with missing features, the families they belong to
    are left out of this objective.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       sections 3, 4 and 7.1.

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
        C: float | str = 1.0,
        smooth: bool = False,
        folds: int | None = 5,
        alpha: float = 1.0,
        tol: float = 1e-4,
        max_iter: int | None = None,
    ) -> None:
        self.solver = solver
        self.C = C
        self.smooth = smooth
        self.folds = folds
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    @property
    def order_matters(self) -> bool:
        """Whether rows are dealt into folds."""
        if self.solver == "convex":
            return self.C == "cv"
        return self.folds is not None

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> Parameters:
        """Maximise the conditional likelihood; see `ParameterLearner.learn`."""
        self._check()
        if not structure.is_class_rooted:
            raise CapabilityError(
                "ELR needs a structure in which the class is a root and a parent of "
                "every feature."
            )
        with one_blas_thread():
            if self.solver == "convex":
                return self._learn_convex(structure, data, start)
            return self._learn_by_gradient(structure, data, start)

    # Convex

    def _learn_convex(
        self, structure: Structure, data: CodedData, start: Parameters | None
    ) -> Parameters:
        if not structure.needs_no_fill_in:
            raise CapabilityError(
                "solver='convex' needs a structure in which the feature parents of "
                "every feature are joined to each other (naive Bayes, trees, true "
                "k-trees); only then do weights turn into tables. Use solver='cg' or "
                "'lbfgs' for this one."
            )
        layout = FamilyLayout.of_structure(data.schema, structure)
        coordinates = Coordinates(
            layout, tuple(self.smooth and v.ordered for v in data.schema)
        )
        n_jobs = getattr(data, "n_jobs", None)
        monitor = Monitor()
        first = np.zeros(coordinates.n_coordinates)
        if self.C == "cv":
            parts = [
                (
                    ConditionalLikelihood(layout, tuple(rest.blocks())),
                    ConditionalLikelihood(layout, tuple(held.blocks())),
                )
                for rest, held in data.split(self._folds(data))
            ]
            if parts:
                search = PenaltyPath(parts, coordinates, self._steps, n_jobs)
                self.C_, first, tried = search.search()
                for record in tried:
                    monitor.record(**record)
            else:
                self.C_ = 1.0  # no rows to hold out
        else:
            self.C_ = float(self.C)
        normaliser = Normaliser(structure, layout)
        if start is not None:
            weights = normaliser.centred(np.maximum(start.log_theta, LOWEST))
            first = coordinates.of_weights(weights)
        rows = ConditionalLikelihood(layout, tuple(data.blocks()), n_jobs)
        solution = solve(
            PenalisedLikelihood(rows, coordinates, self.C_),
            first,
            self.tol,
            self._steps,
            monitor,
        )
        if solution.iterations >= self._steps and solution.largest > self.tol:
            self._warn(solution.largest, "raise max_iter, or lower C")
        self.certificate_ = {
            "objective": solution.objective,
            "gradient_norm": solution.gradient_norm,
            "gap": solution.gap,
            "iterations": solution.iterations,
        }
        self.n_iter_ = solution.iterations
        self.trace_ = monitor.trace
        weights = coordinates.weights(solution.coordinates)
        return normaliser.likeliest(weights, normaliser.observed_shares(data))

    # By the gradient of softmax parameters

    def _learn_by_gradient(
        self, structure: Structure, data: CodedData, start: Parameters | None
    ) -> Parameters:
        objective = _objective(structure, data)
        monitor = Monitor()
        steps = self._steps
        if self.folds is not None:
            errors = [
                self._errors_of_fold(fold, structure, rest, held, start, monitor)
                for fold, (rest, held) in enumerate(data.split(self._folds(data)))
            ]
            # Without rows to hold out nothing speaks for any step.
            steps = tuned_iterations(errors) if errors else 0
        norms = [np.inf]

        def report(_: FloatArray, value: float, norm: float) -> None:
            norms.append(norm)
            monitor.record(step=len(norms) - 1, objective=value, gradient_norm=norm)

        beta = self._first(structure, data, start)
        beta, self.n_iter_ = self._minimise(objective, beta, steps, report)
        if self.folds is None and self.n_iter_ >= steps and norms[-1] > self.tol:
            self._warn(norms[-1], "raise max_iter")
        self.trace_ = monitor.trace
        return Parameters(objective.rows.layout, objective.softmax.tables(beta)[1])

    def _errors_of_fold(
        self,
        fold: int,
        structure: Structure,
        rest: CodedData,
        held: CodedData,
        start: Parameters | None,
        monitor: Monitor,
    ) -> list[float]:
        """Held-out error at the start and after every step on the other rows."""
        watched = _objective(structure, held)
        first = self._first(structure, rest, start)
        errors = [watched.error(first)]

        def watch(beta: FloatArray, value: float, norm: float) -> None:
            errors.append(watched.error(beta))
            monitor.record(
                fold=fold,
                step=len(errors) - 1,
                objective=value,
                gradient_norm=norm,
                held_out_error=errors[-1],
            )

        self._minimise(_objective(structure, rest), first, self._steps, watch)
        return errors

    def _first(
        self, structure: Structure, data: CodedData, start: Parameters | None
    ) -> FloatArray:
        """Softmax parameters to start from: frequencies, or what was given."""
        if start is None:
            start = Frequency(alpha=self.alpha).learn(structure, data)
        return np.maximum(start.log_theta, LOWEST)

    def _minimise(
        self,
        objective: NetworkConditional,
        first: FloatArray,
        steps: int,
        callback: Callable[[FloatArray, float, float], object],
    ) -> tuple[FloatArray, int]:
        if not steps:
            return first, 0
        optimiser = conjugate_gradient if self.solver == "cg" else lbfgs
        return optimiser(
            objective.value_and_gradient,
            first,
            max_iter=steps,
            tol=self.tol,
            callback=callback,
        )

    # Checks

    @property
    def _steps(self) -> int:
        return STEPS[self.solver] if self.max_iter is None else self.max_iter

    def _folds(self, data: CodedData) -> list[npt.NDArray[np.intp]]:
        labels = np.concatenate([block.labels for block in data.blocks()])
        assert self.folds is not None
        # As many folds as the largest class can fill.
        most = int(np.bincount(labels, minlength=1)[: data.schema.n_classes].max())
        if most < 2:
            return []
        return stratified_folds(labels, data.schema.n_classes, min(self.folds, most))

    def _warn(self, gradient: float, remedy: str) -> None:
        warnings.warn(
            f"ELR stopped after max_iter={self._steps} steps with a gradient of "
            f"{gradient:.2g}, above tol={self.tol:g}; {remedy}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _check(self) -> None:
        if self.solver not in SOLVERS:
            raise unknown_name("solver", self.solver, SOLVERS)
        if isinstance(self.C, str):
            if self.C != "cv":
                raise InputError(f"C must be a number above 0 or 'cv', got {self.C!r}.")
            if self.solver == "convex" and self.folds is None:
                raise InputError("C='cv' needs folds, a whole number of at least 2.")
        elif not isfinite(self.C) or self.C <= 0:
            raise InputError(f"C must be a number above 0 or 'cv', got {self.C!r}.")
        if self.smooth and self.solver != "convex":
            raise CapabilityError(
                f"smooth=True is a penalty of solver='convex'; solver={self.solver!r} "
                "has none. Use solver='convex'."
            )
        if self.folds is not None and not _is_whole(self.folds, 2):
            raise InputError(
                f"folds must be None or a whole number of at least 2, got "
                f"{self.folds!r}."
            )
        for name, least in (("tol", np.nextafter(0, 1)), ("alpha", 0.0)):
            value = getattr(self, name)
            if not isfinite(value) or value < least:
                expected = "above 0" if least else "of at least 0"
                raise InputError(f"{name} must be a number {expected}, got {value!r}.")
        if self.max_iter is not None and not _is_whole(self.max_iter, 1):
            raise InputError(
                "max_iter must be None or a whole number of at least 1, got "
                f"{self.max_iter!r}."
            )


def _objective(structure: Structure, data: CodedData) -> NetworkConditional:
    """-LCL of some rows as a function of softmax parameters."""
    layout = FamilyLayout.of_structure(data.schema, structure)
    n_jobs = getattr(data, "n_jobs", None)
    return NetworkConditional(NetworkRows.of(layout, data.blocks(), n_jobs))


def _is_whole(value: object, least: int) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and int(value) >= least  # type: ignore[call-overload]
