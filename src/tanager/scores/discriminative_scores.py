"""Scores by classifying rows: `ClassificationRate`, `ConditionalLogLikelihood`, ..."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sklearn.base import clone

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError, unknown_name
from tanager.parameters import DFE, ConditionalLikelihood, Frequency, ParameterLearner
from tanager.parameters.base import Smoothing
from tanager.scores.base import MoveScorer, Score
from tanager.scores.classification_scorer import ClassificationScorer
from tanager.scores.function_scorer import (
    CappedMarginSum,
    FunctionScorer,
    LogPosteriorSum,
    ScoreFunction,
    UserFunction,
)
from tanager.scores.refit_scorer import RefitScorer
from tanager.scores.scoring_data import ScoringData
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number, check_whole

LEARNERS: Mapping[str, Callable[[], ParameterLearner]] = {
    "ml": lambda: Frequency(zero=1e-5),
    "fe": Frequency,
    "dfe": DFE,
    "cl": lambda: ConditionalLikelihood(C=1.0, tol=1e-3),
}
"""Parameters while a structure is scored, by short name."""


class DiscriminativeScore(Score):
    """Base of scores that are a function of the log joint of all rows.

    A score of your own implements `value`.

    Parameters
    ----------
    parameters : {"ml", "fe", "dfe", "cl"} or ParameterLearner, default="ml"
        Tables of the candidates: frequencies with zeros set to 1e-5, with Laplace
        smoothing, discriminative frequencies, or of greatest conditional likelihood
        (CRCL). For frequencies one family is exchanged at a time; any other learner is
        run for every candidate, from the present tables on.
    folds : int or None, default=None
        If given, a row is scored by tables made from the other folds; otherwise the
        training rows themselves are scored. Classes with fewer rows than folds are
        never held out. Where no class has as many rows, there are fewer folds, and none
        where every class has one row.

    Notes
    -----
    Frequency tables are rounded to multiples of 2^-30 nats while structures are
    compared, so that sums are exact: what is equal stays equal, in whatever order
    families were exchanged.

    In a row with missing cells, a missing feature has no part, and a missing parent is
    summed over: the child is scored by its frequencies given the other parents.
    """

    def __init__(
        self,
        *,
        parameters: str | ParameterLearner = "ml",
        folds: int | None = None,
    ) -> None:
        self.parameters = parameters
        self.folds = folds

    @property
    def order_matters(self) -> bool:
        """Whether rows are dealt into folds, or learned from one by one."""
        return self.folds is not None or self._learner().order_matters

    @abstractmethod
    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """The score.

        Parameters
        ----------
        log_joint : ndarray of float64, shape (n_rows, n_classes)
            Log probability of every row together with every class.
        labels : ndarray of int32, shape (n_rows,)
            The classes of the rows.
        weights : ndarray of float64, shape (n_rows,)
            Their weights.

        Notes
        -----
        The arrays cannot be written to. With folds only rows that are held out are
        among them. With several threads this is called from each of them.
        """

    def scorer(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        *,
        random_state: np.random.Generator | None = None,
    ) -> MoveScorer:
        """Begin with a structure; see `Score.scorer`."""
        check_whole("folds", self.folds, least=2, none=True)
        rows = ScoringData.of(data, self.folds)
        learner = self._learner()
        function = self._function()
        smoothing = learner.smoothing
        if smoothing is None:
            seed = int(np.random.default_rng(random_state).integers(2**31))
            return RefitScorer(data, rows, parents, learner, function, seed)
        return self._frequency_scorer(rows, smoothing, parents, function)

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
                "such as Frequency(), or 'ml', 'fe', 'dfe' or 'cl'."
            )
        learner: ParameterLearner = clone(self.parameters)
        return learner


class ClassificationRate(DiscriminativeScore):
    """Weight of the rows classified right (CR); ties go to the lowest class.

    Parameters
    ----------
    parameters, folds
        As in `DiscriminativeScore`.

    Notes
    -----
    Pernkopf, Bilmes (2010), section 4.4. Moves are scored by looking only at the rows
    whose verdict they can change; the result is that of scoring every row.

    Examples
    --------
    >>> score = ClassificationRate()
    >>> score.value(np.log([[0.6, 0.4], [0.5, 0.5]]), np.array([0, 1]), np.ones(2))
    1.0
    """

    def value(
        self, log_joint: FloatArray, labels: LabelArray, weights: FloatArray
    ) -> float:
        """Weight of the rows whose own class comes first."""
        return float(weights[log_joint.argmax(axis=1) == labels].sum())

    def _frequency_scorer(
        self,
        rows: ScoringData,
        smoothing: Smoothing,
        parents: Sequence[Sequence[int]],
        function: ScoreFunction,
    ) -> MoveScorer:
        if self._overrides_value(ClassificationRate):
            return super()._frequency_scorer(rows, smoothing, parents, function)
        return ClassificationScorer(rows, smoothing, parents)


class ConditionalLogLikelihood(DiscriminativeScore):
    """Sum of log P(c | x) over the rows (CL).

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
    """Sum over the rows of the log margin between the own and the best other class.

    Parameters
    ----------
    cap : float, default=1.0
        A margin counts up to this: rows that are safe need not become safer.
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
        """What the function gives."""
        return self._function()(log_joint, labels, weights)

    def _function(self) -> ScoreFunction:
        if not callable(self.function):
            raise CapabilityError(
                f"CustomScore needs a function of log joint, labels and weights, got "
                f"function={self.function!r}."
            )
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return UserFunction(self.function, name)
