"""`ELR`: maximum conditional likelihood by gradient steps on softmax parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.optim import (
    Monitor,
    select_iterations,
    warn_not_converged,
)
from tanager.parameters.base import ParameterLearner
from tanager.parameters.frequency import Frequency
from tanager.parameters.gradient_solvers import (
    GradientSolver,
    check_solver,
    make_solver,
)
from tanager.parameters.initial_cpts import (
    check_start,
    make_initial_cpts,
    make_random_cpts,
)
from tanager.parameters.softmax_objective import NetworkConditional
from tanager.types import FloatArray
from tanager.utils.progress import keep_best, report
from tanager.utils.threads import map_threads, one_blas_thread
from tanager.utils.validation import check_number, check_whole

First = Callable[[CodedData], FloatArray]
"""Logarithms of the initial CPTs, given the samples to learn from."""

STEPS = {"cg": 100, "lbfgs": 200, "cg-theta": 100}
"""Maximum number of iterations by solver."""


class ELR(ParameterLearner):
    """Maximum conditional likelihood by gradient steps, as published (ELR, CL).

    Parameters
    ----------
    solver : {"cg", "lbfgs", "cg-theta"}, default="cg"
        Optimiser of the softmax parameters: conjugate gradient, as published, or
        L-BFGS, which takes fewer evaluations. "cg-theta" is conjugate gradient on the
        probabilities themselves, the paper's ELR_theta, which it found inferior; use it
        to compare the two.
    folds : int or None, default=5
        Folds of cross tuning, which chooses the number of iterations. None turns cross
        tuning off: the solver then runs until `tol` or `max_iter`. Classes with fewer
        samples than folds are never held out; if no class has two samples, no iteration
        is made.
    start : {"frequency", "random"}, default="frequency"
        Initial CPTs: relative frequencies ("plug-in parameters"), or softmax of uniform
        random numbers between -0.1 and 0.1, the paper's other choice. Random starts
        show whether the result depends on the start, as it may where the problem is not
        convex: general networks and incomplete data.
    alpha : float, default=1.0
        Pseudo-count of the frequency estimates that the solver starts from. Not used
        where `zero` is given.
    zero : float or None, default=None
        If given, the solver starts from frequencies without pseudo-counts, in which
        this probability stands for zero; see `Frequency`.
    tol : float, default=1e-4
        The solver stops when no component of the gradient of the mean loss is larger.
    max_iter : int or None, default=None
        Maximum number of iterations; None is 100 for "cg" and "cg-theta", and 200 for
        "lbfgs".

    Attributes
    ----------
    n_iter_ : int
        Number of iterations of the last run, on all samples.
    trace_ : list of dict
        "objective", "gradient_norm" and "seconds" since the start of every iteration;
        those of cross tuning also have the "fold" and the "held_out_error".

    See Also
    --------
    ConditionalLikelihood : The penalised convex problem, solved to its optimum.

    Notes
    -----
    The objective is the mean of ``-log P(c | e)`` over the samples, e their observed
    features, as a function of parameters beta with ``theta = softmax(beta)`` [1]_.
    Missing features are marginalised. The structure may be any. CPTs that do not affect
    the class, given the samples, keep their initial values. Children of a variable that
    is never observed start as they do in `EM`, from `random_state`. If the junction
    tree that marginalises missing features would be too large, families with a missing
    member are left out instead where the class is a parent of every feature, with a
    warning; other structures raise an error.

    The directions of conjugate gradient are those of Polak and Ribiere:
    ``d = g + beta d_old`` with ``beta = g . (g - g_old) / |g_old|^2``, g the gradient
    of LCL. Section 4 of [1]_ prints a minus before the second term, which would not
    give conjugate directions; it is taken for a misprint.

    Cross tuning learns from all folds but one, monitors the error on that one, and
    makes as many iterations on all samples as the median of the folds' best.

    Names that end in ``+ELR`` start from Laplace frequencies, as [1]_; those that end
    in ``-CL`` start from frequencies with ``zero=1e-5``, as [2]_.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       sections 3 and 4; section 5 for ELR_theta.
    .. [2] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers, sections 4.2 and 6.1.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure="nb", parameters=ELR(folds=None))
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> model.predict([["a", "u"], ["b", "u"]])
    array([0, 1])

    The same problem from random parameters:

    >>> again = ELR(folds=None, start="random")
    >>> model = BayesNetClassifier(structure="nb", parameters=again, random_state=0)
    >>> model.fit(X, [0, 0, 1, 1] * 5).predict([["a", "u"], ["b", "u"]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        solver: str = "cg",
        folds: int | None = 5,
        start: str = "frequency",
        alpha: float = 1.0,
        zero: float | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
    ) -> None:
        self.solver = solver
        self.folds = folds
        self.start = start
        self.alpha = alpha
        self.zero = zero
        self.tol = tol
        self.max_iter = max_iter

    @property
    def rounds(self) -> RoundCount:
        """Rounds; see `ParameterLearner`."""
        folds = self.folds or 0
        repeated = ((1, "evaluation"), (1, "iteration"))
        return RoundCount(3 + 3 * folds, repeated if folds else repeated[:1])

    @property
    def order_matters(self) -> bool:
        """Whether samples are split into folds."""
        return self.folds is not None

    @property
    def stops_early(self) -> bool:
        """Whether cross tuning chooses the number of iterations."""
        return self.folds is not None

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Maximise the conditional likelihood; see `ParameterLearner.learn`."""
        self._check()
        with one_blas_thread():
            seed = int(np.random.default_rng(random_state).integers(2**32))
            first = partial(self._first, structure, start, seed)
            return self._learn(structure, data, first)

    def _learn(self, structure: Structure, data: CodedData, first: First) -> Parameters:
        n_jobs = data.n_jobs
        layout = FamilyLayout.of_structure(data.schema, structure)
        solver = make_solver(self.solver, layout)
        objective = NetworkConditional(
            layout, data, n_jobs, coordinates=solver.coordinates
        )
        steps = self._steps
        folds: list[Monitor] = []
        if self.folds is not None:
            parts = data.stratified_split(self.folds)
            folds = [
                Monitor(f"{type(self).__name__}, fold {fold} of {len(parts)}", steps)
                for fold in range(1, len(parts) + 1)
            ]
            # What the folds have found when the time is up decides.
            with keep_best(f"{type(self).__name__}, cross tuning", lambda: done(folds)):
                map_threads(
                    lambda fold: self._tune(
                        fold, folds[fold], solver, objective, *parts[fold], first
                    ),
                    range(len(parts)),
                    n_jobs,
                )
            errors = [
                [step["held_out_error"] for step in fold.trace]
                for fold in folds
                if fold.trace
            ]
            # Without held-out samples there is no evidence for any iteration.
            steps = select_iterations(errors) if errors else 0
        monitor = Monitor(self, steps)
        norm = np.inf
        beta = solver.coordinates.start(first(data))
        self.n_iter_ = 0

        def record(vector: FloatArray, value: float, length: float) -> None:
            nonlocal beta, norm
            beta, norm, self.n_iter_ = vector, length, self.n_iter_ + 1
            monitor.record(objective=value, gradient_norm=norm)

        with keep_best(self, lambda: done([monitor])):
            report(self, 0, steps, unit="iteration", bound=True)
            beta, self.n_iter_ = self._minimise(solver, objective, beta, steps, record)
            if self.folds is None and self.n_iter_ >= steps and norm > self.tol:
                warn_not_converged(
                    self,
                    f"stopped after {self.n_iter_} of max_iter={self._steps} "
                    f"iterations with a gradient of {norm:.2g}, above "
                    f"tol={self.tol:g}",
                    "raise max_iter",
                )
        self.trace_ = [step for fold in folds for step in fold.trace] + monitor.trace
        return Parameters(layout, solver.coordinates.cpts(beta)[1])

    def _tune(
        self,
        fold: int,
        monitor: Monitor,
        solver: GradientSolver,
        objective: NetworkConditional,
        rest: CodedData,
        held: CodedData,
        first: First,
    ) -> None:
        """Record the held-out error at the start and after every iteration."""
        train, test = (
            NetworkConditional(
                objective.layout,
                part,
                expectations=objective.expectations,
                coordinates=solver.coordinates,
            )
            for part in (rest, held)
        )

        def record(beta: FloatArray, value: float, norm: float) -> None:
            monitor.record(
                fold=fold,
                iteration=len(monitor.trace),
                objective=value,
                gradient_norm=norm,
                held_out_error=test.error(beta),
            )

        beta = solver.coordinates.start(first(rest))
        value, gradient = train.value_and_gradient(beta)
        record(beta, value, float(np.linalg.norm(gradient)))
        self._minimise(solver, train, beta, self._steps, record)

    def _first(
        self,
        structure: Structure,
        start: Parameters | None,
        seed: int,
        data: CodedData,
    ) -> FloatArray:
        """Logarithms of the CPTs to start from: those given, or by `self.start`."""
        layout = FamilyLayout.of_structure(data.schema, structure)
        if start is not None:
            start.check_start(layout)
            return start.log_theta
        # The same random numbers in every fold: hidden states keep their meaning.
        random = np.random.default_rng(seed)
        if self.start == "random":
            return make_random_cpts(layout, random)
        return make_initial_cpts(structure, data, self._frequency, random)

    def _minimise(
        self,
        solver: GradientSolver,
        objective: NetworkConditional,
        first: FloatArray,
        steps: int,
        callback: Callable[[FloatArray, float, float], object],
    ) -> tuple[FloatArray, int]:
        if not steps:
            return first, 0
        return solver.minimise(
            objective.value_and_gradient,
            first,
            max_iter=steps,
            tol=self.tol,
            callback=callback,
        )

    @property
    def _frequency(self) -> Frequency:
        """The estimates that the solver starts from."""
        return Frequency(alpha=self.alpha, zero=self.zero)

    @property
    def _steps(self) -> int:
        return STEPS[self.solver] if self.max_iter is None else self.max_iter

    def _check(self) -> None:
        convex = isinstance(self.solver, str) and self.solver in ("convex", "auto")
        hint = " The convex problem is ConditionalLikelihood()." if convex else ""
        check_solver(self.solver, hint)
        check_start(self.start)
        check_whole("folds", self.folds, 2, none=True)
        check_number("alpha", self.alpha, least=0)
        check_number("zero", self.zero, above=0, below=1, none=True)
        check_number("tol", self.tol, above=0)
        check_whole("max_iter", self.max_iter, 1, none=True)


def done(monitors: Sequence[Monitor]) -> str:
    """How many iterations were recorded, in words."""
    return f"{sum(len(monitor.trace) for monitor in monitors)} iterations"
