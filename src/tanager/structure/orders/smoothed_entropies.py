"""`ConfigurationCounter`: what smoothing adds to the entropies of a feature order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from tanager.data.coded_data import ArrayData
from tanager.types import FloatArray, IntArray

MAX_SPACE = 1e200
"""Numbers of possible configurations are cut off here, where they still have a sum."""


@dataclass(frozen=True, eq=False)
class ConfigurationCounter:
    """Configurations of some features that occur, and the number of possible ones.

    Smoothed by epsilon, the entropy of a variable Y is
    ``H(Y) = -sum_{y occurs} p(y) log p(y) - n_absent epsilon log(epsilon)``, with
    n_absent the number of its possible values that do not occur [1]_. In
    ``H(C | X, ...) = H(C, X, ...) - H(X, ...)`` that adds `penalties`.

    `configurations`, shape (n_samples,), numbers the configuration of every sample;
    `space` is the number of possible ones.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers, section 5.1.
    """

    data: ArrayData
    epsilon: float
    configurations: IntArray
    space: float = 1.0

    @classmethod
    def of(cls, data: ArrayData, epsilon: float) -> ConfigurationCounter:
        """One configuration: that of no features."""
        return cls(data, epsilon, np.zeros(len(data.labels), dtype=np.int64))

    def penalties(self, candidates: IntArray) -> FloatArray:
        """What smoothing adds to H(C | X, features so far), in nats, for every X."""
        schema = self.data.schema
        n_classes = schema.n_classes
        absent = []
        for j in candidates.tolist():
            joint = self._join(j)
            with_class = joint * n_classes + self.data.labels
            possible = (n_classes - 1.0) * float(schema.n_states[j]) * self.space
            occurring = _count_distinct(with_class) - _count_distinct(joint)
            absent.append(min(possible, MAX_SPACE) - occurring)
        return -self.epsilon * log(self.epsilon) * np.array(absent, dtype=np.float64)

    def split(self, feature: int) -> ConfigurationCounter:
        """Add one more feature to the configurations."""
        _, joint = np.unique(self._join(feature), return_inverse=True)
        space = self.space * float(self.data.schema.n_states[feature])
        return replace(
            self,
            configurations=joint.astype(np.int64),
            space=min(space, MAX_SPACE),
        )

    def _join(self, feature: int) -> IntArray:
        n_states = int(self.data.schema.n_states[feature])
        return self.configurations * n_states + self.data.codes[:, feature]


def _count_distinct(values: IntArray) -> int:
    """Count the different values of an array, by counting if they are small."""
    if int(values.max(initial=0)) <= 4 * len(values):
        return int(np.count_nonzero(np.bincount(values)))
    return len(np.unique(values))
