"""`ELR` (CL): tables of greatest conditional likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError, InputError, unknown_name
from tanager.loglinear import family_conversion
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.design import Reading
from tanager.loglinear.normalisation import Normaliser
from tanager.loglinear.solver import PenalisedLikelihood, PenaltyPath, solve
from tanager.loglinear.weight_tables import WeightTables
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.optim import (
    Monitor,
    conjugate_gradient,
    lbfgs,
    some_of_each_class,
    stratified_folds,
    tuned_iterations,
)
from tanager.parameters.base import ParameterLearner, check_start
from tanager.parameters.initial_tables import first_tables
from tanager.parameters.network_likelihood import (
    LOWEST,
    NetworkConditional,
    NetworkRows,
)
from tanager.types import FloatArray, IndexArray
from tanager.utils.threads import map_threads, one_blas_thread
from tanager.utils.validation import check_flag, check_number, check_whole

First = Callable[[CodedData], FloatArray]
"""Softmax parameters to start from, by the rows to learn from."""

SOLVERS = ("convex", "cg", "lbfgs", "auto")
STEPS = {"convex": 500, "cg": 100, "lbfgs": 200}

ROWS_OF_CV = 20_000
"""Rows by which C is chosen at most, so that the choice takes no longer with more."""


class ELR(ParameterLearner):
    """Greatest conditional likelihood (CL, ELR), convex or as published.

    Parameters
    ----------
    solver : {"convex", "cg", "lbfgs", "auto"}, default="convex"
        "convex" solves a penalised convex problem to a certified optimum; it applies
        to naive Bayes, trees and true k-trees. "cg" is the published algorithm, for any
        structure: conjugate gradient on softmax parameters from frequency estimates,
        stopped by cross tuning. "lbfgs" is the same with L-BFGS. "auto" is "convex"
        where it applies and "lbfgs" elsewhere.
    C : float or "cv", default=1.0
        For "convex": weight of the data against an L2 penalty on the log-linear
        weights, as in scikit-learn's `LogisticRegression`; smaller is smoother. "cv"
        chooses it by cross-validated conditional likelihood, of more than 20,000 rows
        on so many of them.
    smooth : bool, default=False
        For "convex": whether the penalty falls on the differences of neighbouring
        states where states are ordered (bins of numbers, ordinal categories) instead of
        on the weights themselves. Goes with many bins, such as 30 quantiles.
    interactions : int or None, default=None
        For "convex": the largest number of features in one table of weights; those of
        larger families are sums of such tables. None sets no limit. 2 goes with
        k-trees: pairs are all that is learned, and tables are no harder to learn than
        those of a tree.
    pair_bins : int or None, default=None
        For "convex": where states are ordered, the number of groups of neighbouring
        states that share their weights in tables of several features; a feature's own
        weights keep all states. None makes no groups.
    folds : int or None, default=5
        Folds of cross tuning and of ``C="cv"``. None turns cross tuning off: "cg" and
        "lbfgs" then run until `tol` or `max_iter`. Classes with fewer rows than folds
        are never held out; where no class has two rows, C is 1 and no step is taken.
    alpha : float, default=1.0
        Pseudo-count of the frequency estimates that "cg" and "lbfgs" start from.
    tol : float, default=1e-4
        The search ends when no component of the gradient of the mean loss per row is
        larger; that of "convex" only when the gap, too, is about 5 % of the objective
        or less.
    max_iter : int or None, default=None
        Steps at most; None is 500 for "convex", 100 for "cg" and 200 for "lbfgs".

    Attributes
    ----------
    solver_ : str
        The solver that was used: what "auto" came to.
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
    [1]_, whatever the structure. Tables that say nothing of the class, given the rows,
    stay at their frequencies. Children of a variable that is never observed start as
    they do in `EM`, from `random_state`. If the junction tree that sums over gaps would
    be too large, families with a missing member are left out instead where the class is
    a parent of every feature; other structures are refused. Cross tuning runs on the
    rows of all folds but one, watches the error on that one, and takes as many steps on
    all rows as the median of the folds' best.

    Where, given the class, the moral graph needs no fill-in, maximising over proper
    tables equals maximising over unnormalised log-linear weights, which is convex
    (section 7.1 of [1]_ asks for this). The objective is
    ``f(u) = C sum_m -log P(c_m | x_m) + |u|^2 / 2``, the penalty on all weights but
    those of the class table, as an intercept has none. The weights of a feature with
    parents are sums of those of the feature alone and those of the interaction, both
    penalised, so that trees shrink towards naive Bayes. Those of the class table are
    solved for last, to rounding; minimised over them, f is strongly convex in the
    others, so with gradient g it exceeds its least value by no more than
    ``|g|^2 / 2``. The search is L-BFGS; where the tables are few and small beside the
    rows, as in most naive Bayes, it goes in units in which the Hessian at zero, one
    matrix for all classes, is the identity; a third of the steps is then often enough.
    The weights are then turned into proper tables with the same
    P(c | x); of the many such tables those are taken under which the features
    themselves are likeliest, which matters when some of them are missing later. In a
    row with missing features, the families they belong to are left out of this
    objective.

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
        interactions: int | None = None,
        pair_bins: int | None = None,
        folds: int | None = 5,
        alpha: float = 1.0,
        tol: float = 1e-4,
        max_iter: int | None = None,
    ) -> None:
        self.solver = solver
        self.C = C
        self.smooth = smooth
        self.interactions = interactions
        self.pair_bins = pair_bins
        self.folds = folds
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    @property
    def order_matters(self) -> bool:
        """Whether rows are dealt into folds."""
        if self.solver == "convex":
            return self.C == "cv"
        return self.folds is not None or self.C == "cv"

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
        self.solver_ = self.solver
        if self.solver == "auto":
            self.solver_ = "convex" if _is_convex(structure) else "lbfgs"
        with one_blas_thread():
            if self.solver_ == "convex":
                return self._learn_convex(structure, data, start)
            seed = int(np.random.default_rng(random_state).integers(2**32))
            first = partial(self._first, structure, start, seed)
            return self._learn_by_gradient(structure, data, first)

    # Convex

    def _learn_convex(
        self, structure: Structure, data: CodedData, start: Parameters | None
    ) -> Parameters:
        if not _is_convex(structure):
            raise CapabilityError(
                "solver='convex' needs a structure in which the class is a root and a "
                "parent of every feature, and the feature parents of every feature are "
                "joined to each other (naive Bayes, trees, true k-trees); only then do "
                "weights turn into tables. For this one use solver='cg' or 'lbfgs'; "
                "'auto' chooses by the structure."
            )
        layout = FamilyLayout.of_families(
            data.schema.n_states.tolist(), structure.families, structure.target
        )
        tables = WeightTables.of(layout, self.interactions)
        # Large families of pairs stay sums; then full tables are never written out.
        sums = tables.stay_sums(family_conversion.FULL_CELLS)
        (tables.tables if sums else layout).check_size(data.schema)
        if start is not None:
            check_start(start, layout)
        coordinates = Coordinates.of(
            tables.tables, data.schema, smooth=self.smooth, bins=self.pair_bins
        )
        n_jobs = data.n_jobs
        monitor = Monitor()
        normaliser = Normaliser(structure, layout)
        reading = Reading(coordinates)
        starts = []
        self.C_ = 1.0 if self.C == "cv" else float(self.C)
        if self.C == "cv":
            few = _not_too_many(data)
            parts = [
                (reading.rows(rest.blocks()), reading.rows(held.blocks()))
                for rest, held in few.split(self._folds(few))
            ]
            if parts:
                self.C_, first = PenaltyPath(
                    parts, reading.coordinates, self._steps, n_jobs, monitor
                ).search()
                starts.append(first)
        if start is not None:
            weights = normaliser.centred(np.maximum(start.log_theta, LOWEST))
            starts.append(coordinates.of_weights(tables.taken_apart(weights)))
        rows = reading.rows(data.blocks(), n_jobs)
        problem = PenalisedLikelihood(rows, reading.coordinates, self.C_)
        first = min(
            starts or [np.zeros(coordinates.n_coordinates)],
            key=lambda u: problem.value_and_gradient(u)[0] if len(starts) > 1 else 0.0,
        )
        solution = solve(problem, first, self.tol, self._steps, monitor)
        if not solution.converged:
            self._warn(
                f"a gradient of {solution.largest:.2g} (tol={self.tol:g}) and an "
                f"objective of {solution.objective:.4g}, up to "
                f"{min(solution.gap, solution.objective):.2g} above its least value",
                solution.iterations,
                "raise max_iter, or lower C",
            )
        self.certificate_ = {
            "objective": solution.objective,
            "gradient_norm": solution.gradient_norm,
            "gap": solution.gap,
            "iterations": solution.iterations,
        }
        self.n_iter_ = solution.iterations
        self.trace_ = monitor.trace
        weights = coordinates.weights(solution.coordinates)
        if sums:
            return family_conversion.log_linear_families(
                structure, tables.tables, weights, data,
                full_cells=family_conversion.FULL_CELLS,
            )  # fmt: skip
        weights = tables.added_up(weights)
        return normaliser.likeliest(weights, normaliser.observed_shares(data))

    # By the gradient of softmax parameters

    def _learn_by_gradient(
        self, structure: Structure, data: CodedData, first: First
    ) -> Parameters:
        n_jobs = data.n_jobs
        layout = FamilyLayout.of_structure(data.schema, structure)
        objective = NetworkConditional(NetworkRows.of(layout, data, n_jobs))
        steps = self._steps
        folds: list[Monitor] = []
        if self.folds is not None:
            parts = list(data.split(self._folds(data)))
            folds = map_threads(
                lambda fold: self._watched(fold, objective.rows, *parts[fold], first),
                range(len(parts)),
                n_jobs,
            )
            errors = [[step["held_out_error"] for step in f.trace] for f in folds]
            # Without rows to hold out nothing speaks for any step.
            steps = tuned_iterations(errors) if errors else 0
        monitor = Monitor()
        norms = [np.inf]

        def report(_: FloatArray, value: float, norm: float) -> None:
            norms.append(norm)
            monitor.record(objective=value, gradient_norm=norm)

        beta, self.n_iter_ = self._minimise(objective, first(data), steps, report)
        if self.folds is None and self.n_iter_ >= steps and norms[-1] > self.tol:
            self._warn(
                f"a gradient of {norms[-1]:.2g}, above tol={self.tol:g}",
                self.n_iter_,
                "raise max_iter",
            )
        self.trace_ = [step for fold in folds for step in fold.trace] + monitor.trace
        return Parameters(objective.rows.layout, objective.softmax.tables(beta)[1])

    def _watched(
        self,
        fold: int,
        rows: NetworkRows,
        rest: CodedData,
        held: CodedData,
        first: First,
    ) -> Monitor:
        """The held-out error at the start and after every step on the other rows."""
        learned, watched = (
            NetworkConditional(
                NetworkRows.of(rows.layout, part, expectations=rows.expectations)
            )
            for part in (rest, held)
        )
        monitor = Monitor()

        def watch(beta: FloatArray, value: float, norm: float) -> None:
            monitor.record(
                fold=fold,
                iteration=len(monitor.trace),
                objective=value,
                gradient_norm=norm,
                held_out_error=watched.error(beta),
            )

        beta = first(rest)
        value, gradient = learned.value_and_gradient(beta)
        watch(beta, value, float(np.linalg.norm(gradient)))
        self._minimise(learned, beta, self._steps, watch)
        return monitor

    def _first(
        self,
        structure: Structure,
        start: Parameters | None,
        seed: int,
        data: CodedData,
    ) -> FloatArray:
        """Softmax parameters to start from: frequencies, or what was given."""
        if start is None:
            # The same numbers in every fold: hidden states keep their meaning.
            random = np.random.default_rng(seed)
            first = first_tables(structure, data, self.alpha, random)
        else:
            check_start(start, FamilyLayout.of_structure(data.schema, structure))
            first = start.log_theta
        return np.maximum(first, LOWEST)

    def _minimise(
        self,
        objective: NetworkConditional,
        first: FloatArray,
        steps: int,
        callback: Callable[[FloatArray, float, float], object],
    ) -> tuple[FloatArray, int]:
        if not steps:
            return first, 0
        optimiser = conjugate_gradient if self.solver_ == "cg" else lbfgs
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
        return STEPS[self.solver_] if self.max_iter is None else self.max_iter

    def _folds(self, data: CodedData) -> list[IndexArray]:
        labels = _labels(data)
        assert self.folds is not None
        # As many folds as the largest class can fill.
        most = int(np.bincount(labels, minlength=1)[: data.schema.n_classes].max())
        if most < 2:
            return []
        return stratified_folds(labels, data.schema.n_classes, min(self.folds, most))

    def _warn(self, where: str, steps: int, remedy: str) -> None:
        warnings.warn(
            f"ELR ended after {steps} of max_iter={self._steps} steps with {where}; "
            f"{remedy}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _check(self) -> None:
        if self.solver not in SOLVERS:
            raise unknown_name("solver", self.solver, SOLVERS)
        if self.C != "cv":
            check_number("C", self.C, above=0, why="; 'cv' chooses it")
        check_flag("smooth", self.smooth)
        check_whole("interactions", self.interactions, 1, none=True)
        check_whole("pair_bins", self.pair_bins, 1, none=True)
        check_whole("folds", self.folds, 2, none=True)
        check_number("alpha", self.alpha, least=0)
        check_number("tol", self.tol, above=0)
        check_whole("max_iter", self.max_iter, 1, none=True)
        if self.C == "cv" and self.folds is None:
            raise InputError("C='cv' needs folds, a whole number of at least 2.")
        limits = (self.interactions, self.pair_bins)
        if self.solver in ("cg", "lbfgs") and (
            self.smooth or self.C != 1.0 or limits != (None, None)
        ):
            raise CapabilityError(
                "C, smooth, interactions and pair_bins set weights and a penalty of "
                f"solver='convex'; solver={self.solver!r} has none. Use "
                "solver='convex', or leave them out."
            )


def _is_convex(structure: Structure) -> bool:
    """Whether unnormalised weights can say no more than proper tables."""
    return structure.is_class_rooted and structure.needs_no_fill_in


def _labels(data: CodedData) -> npt.NDArray[np.integer]:
    return np.concatenate([block.labels for block in data.blocks()])


def _not_too_many(data: CodedData) -> CodedData:
    """The rows by which C is chosen."""
    if data.n_samples <= ROWS_OF_CV:
        return data
    rows = some_of_each_class(_labels(data), ROWS_OF_CV)
    _, few = next(iter(data.split([rows])))
    return few
