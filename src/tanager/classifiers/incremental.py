"""Incremental learning: batches, merged classifiers, and the drift report."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from tanager import loglinear, registry
from tanager import structure as structures
from tanager.classifiers.inspection import InspectionMixin
from tanager.classifiers.training import (
    FitProgress,
    FitResult,
    NetworkLearner,
    TrainingData,
    join_schemas,
)
from tanager.data import CountedData
from tanager.encoding import EncodingPlan, extend_schema
from tanager.encoding.date_parts import restore_date_parts
from tanager.encoding.feature_checks import check_features
from tanager.encoding.labels import encode_labels, join_classes
from tanager.errors import CapabilityError, InputError
from tanager.model.schema import Schema
from tanager.utils.text import one_line
from tanager.utils.validation import check_number, random_generator

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.drift import DriftReport
    from tanager.encoding import TableEncoder
    from tanager.loglinear import CurvatureSamples
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
    def _parts(self, *, incremental: bool) -> tuple[TableEncoder, NetworkLearner]:
        """Check the arguments, and make a fresh encoder and learners."""

    @abstractmethod
    def _read(
        self, X: Any, y: Any, sample_weight: Any, learner: NetworkLearner
    ) -> TrainingData:
        """Read and check the arguments of a fit to one data frame."""

    @abstractmethod
    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: npt.NDArray[Any],
        result: FitResult,
        *,
        declared: bool,
        samples: CurvatureSamples | None,
    ) -> None:
        """Become the fitted classifier of a result."""

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
        encoder, learner = self._parts(incremental=True)
        if hasattr(self, "network_"):
            self._continue(learner, X, y, sample_weight, half_life)
        else:
            self._begin(encoder, learner, X, y, sample_weight, classes)
        return self

    def _begin(
        self,
        encoder: TableEncoder,
        learner: NetworkLearner,
        X: Any,
        y: Any,
        sample_weight: Any,
        classes: Any,
    ) -> None:
        """Learn from the first batch."""
        given = self._read(X, y, sample_weight, learner)
        progress = FitProgress()
        with progress.stage("encode"):
            known = given.classes if classes is None else _declared_classes(classes)
            codes = given.fit_codes(encoder, self.n_jobs)
            data = given.join_codes(codes, encoder.schema_, known, self)
            learner.structure.check(data.schema)
        with progress.stage("count"):
            counts = learner.count(data, incremental=True)
        result = learner.learn(
            data if counts is None else counts,
            random_generator(self.random_state),
            progress,
        )
        self._set_fitted(
            encoder,
            known,
            result,
            declared=classes is not None,
            samples=_curvature_samples(result),
        )

    def _continue(
        self,
        learner: NetworkLearner,
        X: Any,
        y: Any,
        sample_weight: Any,
        half_life: float | None,
    ) -> None:
        """Learn from one more batch; one that cannot be used changes nothing."""
        kept = self._kept_counts()
        learner.check_continues(self.structure_, self.parameters_)
        given = self._read(X, y, sample_weight, learner)
        encoder = copy(self.encoder_)
        frame = restore_date_parts(given.frame, encoder.schema_.names)
        given = replace(given, frame=frame, target=kept.schema.names[-1])
        check_features(self, frame)
        progress = FitProgress()
        with progress.stage("encode"):
            classes = self.classes_
            if not self._declared:
                classes = join_classes(classes, given.classes)
            encoder.schema_ = extend_schema(
                encoder.schema_, frame, missing_state=encoder.missing == "state"
            )
            codes = EncodingPlan(frame, encoder.schema_).encode(n_jobs=self.n_jobs)
            data = given.join_codes(codes, encoder.schema_, classes, self)
            learner.structure.check(data.schema)
            batches = self._measure_drift(given, data.schema)
            weight = remaining_weight(half_life, data.n_samples)
            kept = kept.recode(data.schema).forget(weight)
        found = None
        with progress.stage("count"):
            counts = learner.count(data, incremental=True)
            if counts is not None:
                assert isinstance(kept, CountedData)
                counts = kept + counts
            elif not learner.structure.online:
                steps = tuple(self.trace_["structure"])
                found = structures.StructureResult(self.network_.structure, steps)
                learner = NetworkLearner(self.structure_, learner.parameters)
        result = learner.learn(
            data if counts is None else counts,
            random_generator(self.random_state),
            progress,
            found=found,
            kept=kept,
        )
        result.trace["batches"] = batches
        self._set_fitted(
            encoder,
            classes,
            result,
            declared=self._declared,
            samples=_curvature_samples(result),
        )

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
        merged._set_fitted(
            encoder,
            classes,
            result,
            declared=declared,
            samples=_curvature_samples(result),
        )
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


def _declared_classes(classes: Any) -> npt.NDArray[Any]:
    """The classes that the first batch is given, sorted."""
    if not len(classes):
        raise InputError(
            "classes is empty. Give all classes, or None to take those that occur."
        )
    known, _ = encode_labels(classes, len(classes), "partial_fit")
    return known


def _curvature_samples(result: FitResult) -> CurvatureSamples | None:
    """Samples for the intervals of factors, which the statistics of batches keep."""
    if isinstance(result.counts, loglinear.FactorStatistics):
        return result.counts.curvature_samples()
    return None


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
