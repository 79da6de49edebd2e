"""`InspectionMixin`: explanations of a classifier and of its predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager import explain, loglinear
from tanager.classifiers.export_methods import ExportMixin
from tanager.data import ArrayData, CountedData, Counts
from tanager.encoding.labels import encode_labels
from tanager.errors import InputError, unknown_name
from tanager.explain.feature_arguments import single_row
from tanager.types import CodeArray, IntArray
from tanager.utils.validation import check_weights

if TYPE_CHECKING:
    from tanager.explain import (
        Counterfactual,
        CredibleInterval,
        EdgeStrengths,
        Effect,
        Explanation,
        Importance,
        Questions,
        Sensitivity,
        Typicality,
    )
    from tanager.loglinear import CurvatureSamples, FactorStatistics


class InspectionMixin(ExportMixin):
    """Explanations of a classifier with one network; see `tanager.explain`."""

    _counts: CountedData | FactorStatistics | None
    """Counts or other statistics of the training samples, if they were kept."""

    _samples: CurvatureSamples | None = None  # of a model without CPTs
    """Some training samples of a log-linear network that was fitted here."""

    def explain(self, X: Any, *, by: str = "feature") -> Explanation:
        """Explain the log odds of every sample by exact additive contributions.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.
        by : {"feature", "factor"}, default="feature"
            A term for every feature, or for every factor (family of a network).

        Returns
        -------
        Explanation
            Prior and contributions; their sum is the log odds of the model.

        See Also
        --------
        tanager.explain.explain_samples : Defines the terms.
        """
        fitted = self._fitted()
        codes = fitted.encode(X)
        return explain.explain_samples(
            fitted.network_, codes, by=by, n_jobs=fitted.n_jobs
        )

    def counterfactual(
        self,
        X: Any,
        *,
        target: Any = None,
        costs: Mapping[str, float] | None = None,
        immutable: Iterable[str] = (),
        max_changes: int = 3,
    ) -> Counterfactual:
        """Find the smallest change of a sample after which another class is predicted.

        Parameters
        ----------
        X : data frame or array-like of shape (1, n_features)
            One sample, as in `predict`.
        target : class or None, default=None
            The class to reach; any other than the present one by default.
        costs : mapping from name to number, or None, default=None
            Costs of the features, at least 0; 1 by default. Those of ordered states,
            such as bins, are multiplied by the fraction of the range that is crossed.
        immutable : iterable of str, default=()
            Features that do not change. Missing values stay missing, too.
        max_changes : int, default=3
            Largest number of features to change, 1 to 3.

        Returns
        -------
        Counterfactual
            A change of the fewest features, and of these the cheapest. Its `target` is
            None if `max_changes` features do not suffice.

        See Also
        --------
        tanager.explain.find_counterfactual : Details of the search.
        """
        fitted = self._fitted()
        return explain.find_counterfactual(
            fitted.network_,
            single_row(fitted.encode(X)),
            target=target,
            costs=costs,
            immutable=immutable,
            max_changes=max_changes,
        )

    def next_question(
        self, X: Any, *, costs: Mapping[str, float] | None = None
    ) -> Questions:
        """Rank the missing features of a sample by expected information gain per cost.

        Parameters
        ----------
        X : data frame or array-like of shape (1, n_features)
            One sample, as in `predict`.
        costs : mapping from name to number, or None, default=None
            Costs of the features, above 0; 1 by default.

        Returns
        -------
        Questions
            The missing features, the one to ask for first.

        See Also
        --------
        tanager.explain.rank_questions : Defines the gain.
        """
        fitted = self._fitted()
        row = single_row(fitted.encode(X))
        return explain.rank_questions(fitted.network_, row, costs=costs)

    def typicality(
        self, X: Any, *, n_samples: int = 10_000, random_state: Any = 0
    ) -> Typicality:
        """Compare the likelihood of samples with that of samples of the model.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.
        n_samples : int, default=10000
            Random samples of the model to compare with; not used for few features.
        random_state : int, Generator, RandomState or None, default=0
            Source of randomness.

        Returns
        -------
        Typicality
            Log likelihoods and percentiles; a low percentile is an unusual sample.

        Raises
        ------
        NetworkOnlyError
            For a `LogLinearNetwork`, which has no distribution of the features.
        """
        fitted = self._fitted()
        return explain.measure_typicality(
            fitted.network_,
            fitted.encode(X),
            n_samples=n_samples,
            random_state=random_state,
        )

    def importance(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        by: str = "factor",
    ) -> Importance:
        """Measure what every factor, family or feature contributes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features), or None
            Samples on which the increase of the log loss is measured; None for the
            importance that follows from the model alone.
        y : array-like of shape (n_samples,), or None
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        by : {"factor", "feature"}, default="factor"
            Of factors (families of a network), or of features.

        Returns
        -------
        Importance

        See Also
        --------
        tanager.explain.measure_importance : The measure on samples.
        tanager.explain.stored_importance : The measure without samples.
        """
        fitted = self._fitted()
        network = fitted.network_
        if X is None and y is None:
            return explain.stored_importance(network, by=by)
        if X is None or y is None:
            raise InputError("importance needs both X and y, or neither.")
        codes = fitted.encode(X)
        labels = fitted._encode_classes(y, len(codes))
        weights = check_weights(sample_weight, len(codes))
        return explain.measure_importance(
            network, codes, labels, weights, by=by, n_jobs=fitted.n_jobs
        )

    def edge_strengths(self) -> EdgeStrengths:
        """Rank the edges of the network by what they add.

        Returns
        -------
        EdgeStrengths
            Conditional mutual information of arcs, or sizes of factors; see
            `tanager.explain.measure_edges`.
        """
        fitted = self._fitted()
        return explain.measure_edges(fitted.network_)

    def effect(self, *names: str) -> Effect:
        """Compute the curve of one feature, or the surface of two.

        Parameters
        ----------
        *names : str
            One or two features. With two, a `LogLinearNetwork` must have a factor over
            them.

        Returns
        -------
        Effect
            Log odds by bin, with standard errors and support where these are known.

        See Also
        --------
        tanager.explain.measure_effect : Defines the effect.
        """
        fitted = self._fitted()
        return explain.measure_effect(fitted.network_, names, fitted._family_counts())

    def sensitivity(
        self, X: Any, label: Any = None, *, odds: float = 2.0, max_entries: int = 100
    ) -> Sensitivity:
        """Measure how a posterior depends on every entry of the CPTs.

        Parameters
        ----------
        X : data frame or array-like of shape (1, n_features)
            One sample, as in `predict`.
        label : class or None, default=None
            The class; the most probable one by default.
        odds : float, default=2.0
            Factor by which the odds of every entry are divided and multiplied, above 1.
        max_entries : int, default=100
            Entries to return, those with the widest range of the posterior.

        Returns
        -------
        Sensitivity

        Raises
        ------
        NetworkOnlyError
            For a `LogLinearNetwork`, which has no CPTs.

        See Also
        --------
        tanager.explain.measure_sensitivity : Details of the analysis.
        """
        fitted = self._fitted()
        return explain.measure_sensitivity(
            fitted.network_,
            single_row(fitted.encode(X)),
            label,
            odds=odds,
            max_entries=max_entries,
        )

    def credible_interval(
        self,
        X: Any,
        *,
        level: float = 0.95,
        training_data: tuple[Any, Any] | None = None,
        n_draws: int = 500,
        random_state: Any = 0,
    ) -> CredibleInterval:
        """Compute credible intervals of the probabilities of every sample.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.
        level : float, default=0.95
            Probability of the intervals.
        training_data : (X, y) or None, default=None
            Training samples and their classes, for models that kept none of them, such
            as those of model files. Of CPTs, the intervals are meaningful for
            frequencies; factors use X alone.
        n_draws : int, default=500
            Random CPTs for samples in which an observed feature has a missing parent.
        random_state : int, Generator, RandomState or None, default=0
            Source of randomness for these.

        Returns
        -------
        CredibleInterval

        Raises
        ------
        CapabilityError
            If the model has neither the counts of its training samples nor factors with
            standard errors.

        See Also
        --------
        tanager.explain.measure_intervals : Details of the method.
        """
        fitted = self._fitted()
        network = fitted.network_
        counts, samples = fitted._family_counts(), fitted._samples
        if training_data is not None:
            counted = fitted.encode(training_data[0])
            if network.has_cpts:
                labels = fitted._encode_classes(training_data[1], len(counted))
                data = ArrayData(network.schema, counted, labels, n_jobs=fitted.n_jobs)
                counts = data.count(network.structure.families)
            else:
                samples = loglinear.CurvatureSamples.of(
                    counted, None, len(fitted.classes_)
                )
        return explain.measure_intervals(
            network,
            fitted.encode(X),
            counts,
            samples=samples,
            level=level,
            n_draws=n_draws,
            random_state=random_state,
        )

    def encode(self, X: Any) -> CodeArray:
        """Encode samples as the network and `tanager.explain` see them.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of unsigned int, shape (n_samples, n_features), Fortran order
            Positions of the states in ``network_.schema``; the number of states of a
            feature means that it is not observed.
        """
        fitted = self._fitted()
        states = fitted.encoder_.schema_.n_states
        dtype = np.min_scalar_type(int(states.max()))
        codes = fitted._score(
            X, lambda codes, _: codes, states.shape, dtype, "F", every_column=True
        )
        return np.asfortranarray(codes)

    def _encode_classes(self, y: Any, n_samples: int) -> IntArray:
        """Positions of labels among the classes, shape (n_samples,)."""
        found, labels = encode_labels(y, n_samples, "importance")
        places = {label: k for k, label in enumerate(self.classes_.tolist())}
        for label in found.tolist():
            if label not in places:
                raise unknown_name("class", label, places)
        positions = np.array([places[label] for label in found.tolist()])
        return np.asarray(positions[labels], dtype=np.int64)

    def _family_counts(self) -> Counts | None:
        """Counts of the families of the network, if plain counts were kept."""
        if not isinstance(self._counts, CountedData) or self.parameters_.online:
            return None  # no plain counts
        return self._counts.count(self.network_.structure.families)
