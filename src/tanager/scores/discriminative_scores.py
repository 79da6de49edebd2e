"""Scores by classification: `ClassificationRate`, `ConditionalLogLikelihood`, ..."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sklearn.base import clone

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError, unknown_name
from tanager.parameters import (
    DFE,
    ELR,
    ConditionalLikelihood,
    Frequency,
    ParameterLearner,
)
from tanager.parameters.base import Smoothing
from tanager.scores.base import MoveScorer, Score
from tanager.scores.classification_scorer import ClassificationScorer
from tanager.scores.function_scorer import (
    CappedMarginSum,
    FunctionScorer,
    LogPosteriorSum,
    SampleSum,
    ScoreFunction,
    UserFunction,
)
from tanager.scores.partitioned_scorer import PartitionedScorer
from tanager.scores.refit_scorer import RefitScorer
from tanager.scores.scoring_data import ScoringData
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number, check_whole

LEARNERS: Mapping[str, Callable[[], ParameterLearner]] = {
    "ml": lambda: Frequency(zero=1e-5),
    "fe": Frequency,
    "dfe": DFE,
    "cl": lambda: ELR(zero=1e-5),
    "rcl": lambda: ConditionalLikelihood(C=1.0, tol=1e-3),
}
"""Parameter learners of scores, by short name."""


class DiscriminativeScore(Score):
    """Base of scores that are a function of the log joint of all samples.

    A subclass implements `value`.

    Parameters
    ----------
    parameters : {"ml", "fe", "dfe", "cl", "rcl"} or ParameterLearner, default="ml"
        CPTs of the candidates: frequencies with zeros set to 1e-5, with Laplace
        smoothing, discriminative frequencies, or CPTs of maximum conditional
        likelihood, by conjugate gradient with cross tuning (CRCL) or penalised.
        Frequencies are exchanged one family at a time; any other learner is run for
        every candidate, starting from the present CPTs unless it stops early (as "cl"
        does).
    folds : int or None, default=None
        If given, a sample is scored by CPTs learned from the other folds; otherwise the
        training samples are scored. Classes with fewer samples than folds are never
        held out. If no class has that many samples, there are fewer folds, and none if
        every class has one sample.

    Notes
    -----
    Log frequencies are rounded to multiples of 2^-30 nats while structures are
    compared, so that sums are exact and ties do not depend on the order of the moves.

    A missing feature does not count, and a missing parent is marginalised: the child is
    scored by its frequencies given the other parents.
    """

    def __init__(
        self, *, parameters: str | ParameterLearner = "ml", folds: int | None = None
    ) -> None:
        self.parameters = parameters
        self.folds = folds

    @property
    def order_matters(self) -> bool:
        """Whether there are folds, or a learner that depends on the order."""
        return self.folds is not None or self._learner().order_matters

    @abstractmethod
    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Compute the score; greater is better.

        Parameters
        ----------
        log_joint : ndarray of float64, shape (n_samples, n_classes)
            Log probability of every sample together with every class.
        labels : ndarray of int32, shape (n_samples,)
            The classes.
        weights : ndarray of float64, shape (n_samples,)
            The weights.

        Notes
        -----
        The arrays are read-only. With folds they hold only samples that are held out.
        Several threads may call this at the same time.
        """

    def scorer(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        *,
        random_state: np.random.Generator | None = None,
    ) -> MoveScorer:
        """Make a scorer; see `Score.scorer`."""
        check_whole("folds", self.folds, least=2, none=True)
        learner = self._learner()
        function = self._function()
        smoothing = learner.smoothing
        if data.in_parts:
            return self._scorer_of_parts(data, parents, function, smoothing)
        rows = ScoringData.of(data, self.folds)
        if smoothing is None:
            seed = int(np.random.default_rng(random_state).integers(2**31))
            return RefitScorer(data, rows, parents, learner, function, seed)
        return self._frequency_scorer(rows, smoothing, parents, function)

    def _scorer_of_parts(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        function: ScoreFunction,
        smoothing: Smoothing | None,
    ) -> MoveScorer:
        """Score samples in parts, which sums over samples by frequencies can do."""
        by_rate = self._is_rate()
        if smoothing is None or not (by_rate or isinstance(function, SampleSum)):
            raise CapabilityError(
                f"{self!r} needs all samples in one place, but they are in partitions. "
                "Use 'cr', 'cl' or 'margin' with frequencies (parameters='ml' or "
                "'fe'), or search on a sample in memory."
            )
        own = function if isinstance(function, SampleSum) and not by_rate else None
        return PartitionedScorer(data, smoothing, parents, own, self.folds)

    def _is_rate(self) -> bool:
        """Whether this is the classification rate."""
        return False

    def _frequency_scorer(
        self,
        rows: ScoringData,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        function: ScoreFunction,
    ) -> MoveScorer:
        """Score by frequencies, one family exchanged at a time."""
        return FunctionScorer(rows, smoothing, parents, function)

    def _function(self) -> ScoreFunction:
        """`value` as a function whose result is checked."""
        return UserFunction(self.value, type(self).__name__)

    def _overrides_value(self, base: type[DiscriminativeScore]) -> bool:
        """Whether a subclass of `base` has a `value` of its own."""
        return type(self).value is not base.value

    def _learner(self) -> ParameterLearner:
        if isinstance(self.parameters, str):
            if self.parameters not in LEARNERS:
                raise unknown_name("parameter learner", self.parameters, LEARNERS)
            return LEARNERS[self.parameters]()
        if not isinstance(self.parameters, ParameterLearner):
            raise CapabilityError(
                f"parameters={self.parameters!r} is not a ParameterLearner; give one "
                "such as Frequency(), or 'ml', 'fe', 'dfe', 'cl' or 'rcl'."
            )
        learner: ParameterLearner = clone(self.parameters)
        return learner


class ClassificationRate(DiscriminativeScore):
    """Weight of the correctly classified samples (CR); ties go to the lowest class.

    Parameters
    ----------
    parameters, folds
        As in `DiscriminativeScore`.

    Notes
    -----
    Pernkopf, Bilmes (2010), section 4.4. A move is scored by visiting only the samples
    whose class it can change; the result is that of scoring every sample.

    Examples
    --------
    >>> score = ClassificationRate()
    >>> score.value(np.log([[0.6, 0.4], [0.5, 0.5]]), np.array([0, 1]), np.ones(2))
    1.0
    """

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Weight of the samples whose true class has the greatest log joint."""
        return float(weights[log_joint.argmax(axis=1) == labels].sum())

    def _frequency_scorer(
        self,
        rows: ScoringData,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        function: ScoreFunction,
    ) -> MoveScorer:
        if not self._is_rate():
            return super()._frequency_scorer(rows, smoothing, parents, function)
        return ClassificationScorer(rows, smoothing, parents)

    def _is_rate(self) -> bool:
        return not self._overrides_value(ClassificationRate)


class ConditionalLogLikelihood(DiscriminativeScore):
    """Conditional log likelihood, the sum of log P(c | x) over the samples (CL).

    Parameters
    ----------
    parameters, folds
        As in `DiscriminativeScore`.

    Examples
    --------
    >>> score = ConditionalLogLikelihood()
    >>> value = score.value(np.log([[0.3, 0.1]]), np.array([0]), np.ones(1))
    >>> round(float(np.exp(value)), 4)
    0.75
    """

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Sum of log P(c | x)."""
        return LogPosteriorSum()(log_joint, labels, weights)

    def _function(self) -> ScoreFunction:
        if self._overrides_value(ConditionalLogLikelihood):
            return super()._function()
        return LogPosteriorSum()


class CappedMargin(DiscriminativeScore):
    """Sum over the samples of the log margin of the true class over the best other.

    Parameters
    ----------
    cap : float, default=1.0
        Greatest value that a margin counts.
    parameters, folds
        As in `DiscriminativeScore`.

    Examples
    --------
    >>> score = CappedMargin(cap=1.0)
    >>> score.value(np.array([[0.0, -5.0], [0.0, 0.5]]), np.array([0, 0]), np.ones(2))
    0.5
    """

    def __init__(
        self,
        *,
        cap: float = 1.0,
        parameters: str | ParameterLearner = "ml",
        folds: int | None = None,
    ) -> None:
        super().__init__(parameters=parameters, folds=folds)
        self.cap = cap

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Sum of capped margins."""
        check_number("cap", self.cap, above=0)
        return CappedMarginSum(float(self.cap))(log_joint, labels, weights)

    def _function(self) -> ScoreFunction:
        check_number("cap", self.cap, above=0)
        if self._overrides_value(CappedMargin):
            return super()._function()
        return CappedMarginSum(float(self.cap))


class CustomScore(DiscriminativeScore):
    """A function of the log joint as a score.

    Parameters
    ----------
    function : callable
        Called with log joint, labels and weights as `DiscriminativeScore.value`.
    parameters, folds
        As in `DiscriminativeScore`.

    Examples
    --------
    >>> def balanced(log_joint, labels, weights):
    ...     right = log_joint.argmax(axis=1) == labels
    ...     return np.mean([right[labels == c].mean() for c in np.unique(labels)])
    >>> CustomScore(balanced, folds=5).folds
    5
    """

    def __init__(
        self,
        function: Callable[[FloatArray, LabelArray, FloatArray], float] | None = None,
        *,
        parameters: str | ParameterLearner = "ml",
        folds: int | None = None,
    ) -> None:
        super().__init__(parameters=parameters, folds=folds)
        self.function = function

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Apply the function."""
        return self._function()(log_joint, labels, weights)

    def _function(self) -> ScoreFunction:
        if not callable(self.function):
            raise CapabilityError(
                f"CustomScore needs a function of log joint, labels and weights, got "
                f"function={self.function!r}."
            )
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return UserFunction(self.function, name)
