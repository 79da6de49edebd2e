"""`InspectionMixin`: explanations of the predictions of a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tanager.classifiers.base import NetworkClassifier
from tanager.explain import (
    Counterfactual,
    Explanation,
    explain_samples,
    find_counterfactual,
)
from tanager.explain.feature_costs import single_row
from tanager.types import CodeArray


class InspectionMixin(NetworkClassifier):
    """Explanations of a classifier with one network; see `tanager.explain`."""

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
        codes = self._encode(X)
        return explain_samples(self.network_, codes, by=by, n_jobs=self.n_jobs)

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
        return find_counterfactual(
            self.network_,
            single_row(self._encode(X)),
            target=target,
            costs=costs,
            immutable=immutable,
            max_changes=max_changes,
        )

    def _encode(self, X: Any) -> CodeArray:
        """Codes of samples, shape (n_samples, n_features), in Fortran order."""
        states = self._fitted().encoder_.schema_.n_states
        dtype = np.min_scalar_type(int(states.max()))
        codes = self._score(X, lambda codes, _: codes, states.shape, dtype)
        return np.asfortranarray(codes)
