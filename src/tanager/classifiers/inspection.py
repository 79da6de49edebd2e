"""`InspectionMixin`: explanations of the predictions of a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager.classifiers.base import NetworkClassifier
from tanager.explain import Explanation, explain_samples
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

    def _encode(self, X: Any) -> CodeArray:
        """Codes of samples, shape (n_samples, n_features), in Fortran order."""
        states = self._fitted().encoder_.schema_.n_states
        dtype = np.min_scalar_type(int(states.max()))
        codes = self._score(X, lambda codes, _: codes, states.shape, dtype)
        return np.asfortranarray(codes)
