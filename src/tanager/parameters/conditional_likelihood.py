"""`ConditionalLikelihood` (CL): penalised maximum conditional likelihood."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import clone

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.errors import CapabilityError
from tanager.loglinear.model import NetworkModel
from tanager.loglinear.solver import select_penalty
from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.optim import Monitor, warn_not_converged
from tanager.parameters.base import ParameterLearner
from tanager.parameters.frequency import Frequency
from tanager.parameters.softmax_objective import LOWEST
from tanager.utils.threads import one_blas_thread
from tanager.utils.validation import check_flag, check_number, check_whole, is_word

MAX_SAMPLES = 20_000
"""Maximum number of samples by which C is chosen, which bounds the time it takes."""


class ConditionalLikelihood(ParameterLearner):
    """Penalised maximum conditional likelihood, a convex problem (CL).

    Parameters
    ----------
    C : float or "cv", default=1.0
        Weight of the data relative to an L2 penalty on the log-linear weights, as in
        scikit-learn's `LogisticRegression`; smaller values penalise more. "cv" chooses
        it by cross-validated conditional likelihood, on at most 20,000 samples.
    smooth : bool, default=False
        Whether the penalty applies to first differences between neighbouring states of
        ordered features (discretised numeric features, ordinal categories) instead of
        to the weights themselves. Suits many bins, such as 30 quantiles.
    interactions : int or None, default=None
        Maximum number of features in one factor; the weights of larger families are
        sums of such factors. None sets no limit. 2 suits k-trees: only pairs are
        learned.
    pair_bins : int or None, default=None
        Number of groups of neighbouring states that ordered features have in factors
        over several features; the factor of a single feature keeps all states. None
        makes no groups.
    folds : int, default=3
        Folds of ``C="cv"``. Classes with fewer samples than folds are never held out;
        if no class has two samples, C is 1.
    tol : float, default=1e-4
        The solver stops when no component of the gradient of the mean loss is larger
        and the optimality gap is at most about 5 % of the objective.
    max_iter : int, default=500
        Maximum number of iterations: steps of L-BFGS or of Newton's method.
    fallback : ParameterLearner or None, default=None
        Learns the CPTs of structures for which the problem is not convex. None raises
        `CapabilityError` for them.

    Attributes
    ----------
    fallback_ : ParameterLearner or None
        The fitted fallback; None if the convex problem was solved.
    certificate_ : dict
        "objective"; "gap", an upper bound on how far it is above the minimum;
        "gradient_norm" and "iterations".
    C_ : float
        The value of C that was used.
    n_iter_ : int
        Number of iterations of the fit to all samples.
    trace_ : list of dict
        Objective and gradient norm of every iteration; first, for ``C="cv"``, the
        held-out loss and error of every value tried.

    See Also
    --------
    ELR : The published algorithm, for any structure.

    Notes
    -----
    The class must be a root and a parent of every feature, and the feature parents of
    every feature must be joined pairwise (naive Bayes, trees, true k-trees). Then
    maximising over CPTs equals maximising over unnormalised log-linear weights, which
    is convex (section 7.1 of [1]_ asks for this). The objective is
    ``f(u) = C sum_m -log P(c_m | x_m) + |u|^2 / 2``; the penalty leaves out the weights
    of the class, as it leaves out an intercept. The weights of a feature with parents
    are sums of those of the feature alone and those of the interaction, both penalised,
    so that trees shrink towards naive Bayes.

    The solver is L-BFGS. Where factors are few and small compared with the samples, as
    in most naive Bayes, the inverse Cholesky factor of the Hessian at zero, one matrix
    for all classes, is its preconditioner. Where it has none and `smooth` applies, the
    solver is Newton's method, whose steps are found by conjugate gradient: it takes
    half the time or less. The weights of the class are solved for last, by Newton's
    method, too. Minimised over them, f is strongly convex in the others, so with
    gradient g it exceeds its minimum by at most ``|g|^2 / 2``.

    The weights are converted to CPTs with the same P(c | x). Of the many such CPTs the
    result has those under which the features are most likely, which matters when some
    of them are missing later; with `pair_bins` their distribution is fitted by twice as
    many groups of states in pairs, and by single states. The objective leaves out the
    families of missing features of a sample.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 7.1.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure="nb", parameters=ConditionalLikelihood())
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> model.predict_proba([["a", "u"]]).round(2)
    array([[0.89, 0.11]])
    """

    suits_missing_state: ClassVar[bool] = True
    rounds = RoundCount(8, ((1, "evaluation"),))

    def __init__(
        self,
        *,
        C: float | str = 1.0,
        smooth: bool = False,
        interactions: int | None = None,
        pair_bins: int | None = None,
        folds: int = 3,
        tol: float = 1e-4,
        max_iter: int = 500,
        fallback: ParameterLearner | None = None,
    ) -> None:
        self.C = C
        self.smooth = smooth
        self.interactions = interactions
        self.pair_bins = pair_bins
        self.folds = folds
        self.tol = tol
        self.max_iter = max_iter
        self.fallback = fallback

    @property
    def order_matters(self) -> bool:
        """Whether samples are split into folds."""
        fallback = self.fallback
        # `learn` refuses what is not a learner, with a message that says so.
        return is_word(self.C, "cv") or (
            isinstance(fallback, ParameterLearner) and fallback.order_matters
        )

    @property
    def suits_many_bins(self) -> bool:
        """Whether neighbouring states share what they learn."""
        # `learn` refuses what is neither True nor False.
        return isinstance(self.smooth, (bool, np.bool_)) and bool(self.smooth)

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Solve the convex problem; see `ParameterLearner.learn`."""
        self._check()
        self.fallback_: ParameterLearner | None = None
        if structure.is_class_rooted and structure.needs_no_fill_in:
            with one_blas_thread():
                return self._learn(structure, data, start)
        if self.fallback is None:
            raise CapabilityError(
                "ConditionalLikelihood needs a structure in which the class is a root "
                "and a parent of every feature, and the feature parents of every "
                "feature are joined to each other (naive Bayes, trees, true k-trees). "
                "For other structures use ELR, or give fallback=ELR()."
            )
        fallback: ParameterLearner = clone(self.fallback)
        found = fallback.learn(structure, data, start=start, random_state=random_state)
        self.fallback_, self.trace_ = fallback, fallback.trace_
        return found

    def _learn(
        self, structure: Structure, data: CodedData, start: Parameters | None
    ) -> Parameters:
        model = NetworkModel(
            data.schema,
            structure,
            self.interactions,
            smooth=self.smooth,
            pair_bins=self.pair_bins,
        )
        if not model.stays_sum:
            model.families.check_size(data.schema)
        if start is not None:
            start.check_start(model.families)
        monitor = Monitor(self, self.max_iter)
        starts = []
        if is_word(self.C, "cv"):
            trials = Monitor(f"{type(self).__name__}, C", unit="value")
            self.C_, first = select_penalty(
                model,
                data,
                folds=self.folds,
                max_iter=self.max_iter,
                monitor=trials,
                max_samples=MAX_SAMPLES,
            )
            monitor.trace += trials.trace
            starts += [] if first is None else [first]
        else:
            self.C_ = float(self.C)
        if start is not None:
            starts.append(model.from_cpts(np.maximum(start.log_theta, LOWEST)))
        solution = model.fit(
            data,
            self.C_,
            starts=starts,
            tol=self.tol,
            max_iter=self.max_iter,
            monitor=monitor,
        )
        if not solution.converged and not solution.stopped:
            warn_not_converged(
                self,
                f"stopped after {solution.iterations} of max_iter={self.max_iter} "
                f"iterations with a gradient of {solution.largest:.2g} "
                f"(tol={self.tol:g}) and an objective of {solution.objective:.4g}, up "
                f"to {min(solution.gap, solution.objective):.2g} above its minimum",
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
        if solution.stopped and not (solution.iterations or starts or model.stays_sum):
            # All classes would be alike.
            return Frequency().learn(structure, data)
        # P(c | x) stays; few samples say which CPTs suit the features.
        few = data.stratified_sample(MAX_SAMPLES) if solution.stopped else data
        found = model.to_cpts(solution.coordinates, few)
        assert found is not None
        return found

    def _check(self) -> None:
        if not is_word(self.C, "cv"):
            check_number("C", self.C, above=0, why="; 'cv' chooses it")
        check_flag("smooth", self.smooth)
        check_whole("interactions", self.interactions, 1, none=True)
        check_whole("pair_bins", self.pair_bins, 1, none=True)
        check_whole("folds", self.folds, 2)
        check_number("tol", self.tol, above=0)
        check_whole("max_iter", self.max_iter, 1)
        if not (self.fallback is None or isinstance(self.fallback, ParameterLearner)):
            raise CapabilityError(
                f"fallback={self.fallback!r} is not a ParameterLearner; give "
                "fallback=ELR(), another instance of a learner, or None."
            )
