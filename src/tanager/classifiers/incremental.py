"""Incremental learning: batches, merged classifiers, and the drift report."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from tanager import loglinear, registry
from tanager.classifiers.inspection import InspectionMixin
from tanager.classifiers.training import (
    FitProgress,
    NetworkLearner,
    TrainingData,
    join_schemas,
)
from tanager.data import CountedData
from tanager.encoding.labels import join_classes
from tanager.errors import CapabilityError, InputError
from tanager.model.schema import Schema
from tanager.utils.text import one_line
from tanager.utils.validation import check_number, random_generator

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.drift import DriftReport
    from tanager.loglinear.factor_statistics import FactorStatistics
    from tanager.parameters import ParameterLearner
    from tanager.structure import StructureLearner


def _supports_partial_fit(estimator: IncrementalMixin) -> bool:
    """Whether the learners can learn incrementally; raises with the reason if not."""
    estimator._incremental_learner().check_incremental()
    if hasattr(estimator, "parameters_"):  # "auto" may have chosen others in `fit`
        NetworkLearner(estimator.structure_, estimator.parameters_).check_incremental()
    return True


def remaining_weight(half_life: float | None, n_samples: int) -> float:
    """Weight that the samples so far keep when a batch of `n_samples` comes.

    Examples
    --------
    >>> remaining_weight(None, 100), remaining_weight(100, 200), remaining_weight(0, 1)
    (1.0, 0.25, 0.0)
    """
    if half_life is None:
        return 1.0
    return 0.5 ** (n_samples / half_life) if half_life > 0 else 0.0


class IncrementalMixin(InspectionMixin):
    """`partial_fit`, `merge` and `drift_report` of a classifier with one network."""

    encoder: Any
    structure: Any
    parameters: Any
    class_weight: Any
    random_state: Any
    structure_: StructureLearner
    parameters_: ParameterLearner
    trace_: dict[str, Any]
    _declared: bool

    @abstractmethod
    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        classes: Any,
        incremental: bool,
        half_life: float | None = None,
    ) -> None:
        """Learn from all samples, or from a batch after those before."""

    @available_if(_supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        half_life: float | None = None,
    ) -> Self:
        """Learn from one more batch, with learners that count or are online.

        The first batch sets the cut points of numeric features. Later batches may add
        categories and, unless `classes` were declared, classes. With learners that only
        count, the result is that of one `fit` on all samples with these cut points.

        Factors (`FactorSearch`, the default) are selected again from all samples when
        their number has doubled, up to about 16,000 samples. Then the factors stay, and
        each batch updates their tables. Begin with a batch that has
        many samples of all kinds; `fit` on it has the same effect.

        An online learner (`DFE`) learns from the samples of the batch, starting from
        the counts of the batches before; the structure is that of the first batch. The
        first call is the same as `fit`. After more calls the result depends on the
        order of the samples and on the batch boundaries.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like or None, default=None
            All classes; only used in the first call.
        half_life : float or None, default=None
            Number of samples after which an earlier sample has half its weight: before
            a batch of n samples is learned, all statistics so far are multiplied by
            ``0.5 ** (n / half_life)``. None forgets nothing; 0 forgets all but the cut
            points, categories and factors.

        Returns
        -------
        self : BayesNetClassifier
            The fitted classifier.

        See Also
        --------
        drift_report : How well every batch was predicted before it was learned.
        """
        if isinstance(self.class_weight, str):
            raise InputError(
                "class_weight='balanced' depends on all samples, so partial_fit cannot "
                "use it; give the weights as a dict."
            )
        check_number("half_life", half_life, least=0, none=True)
        self._fit(
            X, y, sample_weight, classes=classes, incremental=True, half_life=half_life
        )
        return self

    def merge(self, other: BayesNetClassifier) -> BayesNetClassifier:
        """Merge two classifiers fitted on different samples into one on all of them.

        Parameters
        ----------
        other : BayesNetClassifier
            Fitted with the same features and cut points, by learners that only count,
            or with the same factors. Classifiers of online parameter learners cannot be
            merged, since their counts depend on the samples before.

        Returns
        -------
        BayesNetClassifier
            A new classifier, with the constructor arguments of this one.

        Raises
        ------
        CapabilityError
            If the two have different structure learners or factors, or no statistics.
        InputError
            If their features or cut points differ.

        Notes
        -----
        Counts are added. Of factors the losses of both sets of samples are added, as
        `FactorUpdate` in `tanager.loglinear` has them, and minimised with the penalty
        from the means of both tables on, weighted by their precision. Where the
        strengths of a penalty differ, it is their geometric mean.
        """
        from tanager.classifiers.bayes_net import BayesNetClassifier

        if not isinstance(other, BayesNetClassifier):
            raise InputError(
                "merge needs another fitted BayesNetClassifier, got "
                f"{one_line(repr(other))}."
            )
        mine, theirs = self._kept_counts(), other._kept_counts()
        learner = self._incremental_learner()
        for part in (learner.parameters, self.parameters_, other.parameters_):
            if part.online:
                raise CapabilityError(
                    f"The counts of {type(part).__name__} depend on the samples before,"
                    " so those of two classifiers do not add up. Fit one classifier, "
                    "incrementally with partial_fit."
                )
        if not _are_alike(mine, theirs):
            raise CapabilityError(
                "The two classifiers kept different counts: only classifiers with the "
                f"same structure learner can be merged, not {self.structure!r} and "
                f"{other.structure!r}."
            )
        classes = join_classes(self.classes_, other.classes_)
        schema = join_schemas(mine.schema, theirs.schema, classes)
        encoder = copy(self.encoder_)
        encoder.schema_ = Schema(schema.variables[:-1])
        merged: BayesNetClassifier = clone(self)
        pair: Any = mine.recode(schema), theirs.recode(schema)
        progress = FitProgress()
        if learner.structure.online:
            found = learner.structure.merge(*pair)
            result = learner.join_factors(schema, found, progress)
        else:
            random = random_generator(self.random_state)
            result = learner.learn(pair[0] + pair[1], random, progress)
        declared = self._declared and other._declared
        samples = None
        if isinstance(result.counts, loglinear.FactorStatistics):
            samples = result.counts.curvature_samples()
        merged._set_fitted(encoder, classes, result, declared=declared, samples=samples)
        return merged

    def drift_report(self) -> DriftReport:
        """Report how well each batch of `partial_fit` was predicted before it came.

        Returns
        -------
        DriftReport
            Log loss, the loss that the model expected, and accuracy by batch.

        Raises
        ------
        InputError
            If the classifier has not learned from a second batch.
        """
        from tanager.classifiers.drift import make_report

        return make_report(self._fitted().trace_)

    def _measure_drift(
        self, given: TrainingData, schema: Schema
    ) -> list[dict[str, Any]]:
        """The batches so far, and how well the model predicts the next one.

        `schema` has the variables with all states, those of the new batch included.
        """
        from tanager.classifiers.drift import measure_batch

        former: list[dict[str, Any]] = list(self.trace_.get("batches", ()))
        known = self.network_.schema
        pairs = zip(known, schema, strict=True)
        more = [new.n_values - old.n_values for old, new in pairs]
        entry = measure_batch(
            self.network_,
            self.encoder_.schema_,
            self.classes_,
            given.frame,
            given.classes[given.labels],
            given.weights,
        )
        number = former[-1]["batch"] + 1 if former else 2
        counts = {"new_categories": sum(more[:-1]), "new_classes": more[-1]}
        return [*former, {"batch": number, **entry, **counts}]

    def _incremental_learner(self) -> NetworkLearner:
        """Fresh learners for incremental learning from the constructor arguments."""
        _, structure, parameters = registry.parts_from(
            self.encoder, self.structure, self.parameters, incremental=True
        )
        return NetworkLearner(structure, parameters)

    def _kept_counts(self) -> CountedData | FactorStatistics:
        counts: CountedData | FactorStatistics | None = self._fitted()._counts
        if counts is None:
            raise CapabilityError(
                "This classifier has no counts to continue from: it was made from a "
                "network or a file, its learners need all samples, or its counts were "
                "too large to keep. Call fit with all samples."
            )
        return counts


def _are_alike(
    one: CountedData | FactorStatistics, other: CountedData | FactorStatistics
) -> bool:
    """Whether two classifiers kept the same kind of statistics."""
    factors = loglinear.FactorStatistics
    if isinstance(one, factors) or isinstance(other, factors):
        return type(one) is type(other)
    return (one.pairs is None) == (other.pairs is None) and (
        one.families.layout.axes == other.families.layout.axes
    )
