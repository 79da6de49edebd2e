"""`MemberClassifier`: one network of an ensemble, learned from codes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from tanager.classifiers.base import fill_in_prior
from tanager.data import ArrayData
from tanager.model.schema import Schema
from tanager.network import Network
from tanager.parameters import ParameterLearner
from tanager.structure import StructureLearner
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray
from tanager.utils.validation import random_generator


class MemberClassifier(ClassifierMixin, BaseEstimator):
    """A network learned from codes: the base estimator of scikit-learn's AdaBoost.

    Codes and labels are finite integers, so they pass scikit-learn's checks; a missing
    value has a code of its own. `total` is the sum that the sample weights are scaled
    to: an ensemble gives relative weights, but the learners take them as frequencies.
    The schema, with the class last, is shared by all clones.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        structure: StructureLearner,
        parameters: ParameterLearner,
        total: float,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.structure = structure
        self.parameters = parameters
        self.total = total
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: CodeArray,
        y: LabelArray,
        sample_weight: FloatArray,
    ) -> Self:
        """Learn from codes (n_samples, n_features), class codes and weights."""
        weights = sample_weight * (self.total / sample_weight.sum())
        data = ArrayData(self.schema, X, y, weights, self.n_jobs)
        random = random_generator(self.random_state)
        found = self.structure.learn(data, random_state=random)
        tables = self.parameters.learn(
            found.structure, data, start=found.start, random_state=random
        )
        self.network_ = Network(self.schema, found.structure, tables)
        self.classes_ = np.arange(self.schema.n_classes)
        return self

    def predict(self, X: CodeArray) -> IndexArray:
        """Predict the code of the most probable class of every sample."""
        engine = self.network_.engine
        log_joint = engine.log_joint(np.asfortranarray(X), self.n_jobs)
        best: IndexArray = fill_in_prior(engine, log_joint).argmax(axis=1)
        return best

    def __sklearn_clone__(self) -> MemberClassifier:
        return MemberClassifier(
            schema=self.schema,  # a value: copying it would only cost
            structure=clone(self.structure),
            parameters=clone(self.parameters),
            total=self.total,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
