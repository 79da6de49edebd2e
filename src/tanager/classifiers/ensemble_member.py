"""`MemberClassifier`: one network of an ensemble, learned from codes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from tanager.classifiers.base import with_prior
from tanager.classifiers.validation import random_generator
from tanager.data import ArrayData
from tanager.model.schema import Schema
from tanager.network import Network
from tanager.parameters import ParameterLearner
from tanager.structure import StructureLearner
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray


class MemberClassifier(ClassifierMixin, BaseEstimator):
    """A network learned from rows that are codes already.

    What an ensemble of scikit-learn clones and fits: codes and labels are finite
    integers, so they pass its checks, and the code for missing is one of them.

    Parameters
    ----------
    schema : Schema
        The variables, the class last; shared by all clones.
    structure : StructureLearner
        How the parents of the features are found.
    parameters : ParameterLearner
        How the tables are learned.
    total : float
        What the weights of the rows are made to sum to. An ensemble gives relative
        weights, but the learners take weights for frequencies.
    n_jobs : int or None, default=None
        Threads.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness for learners that use one.

    Attributes
    ----------
    network_ : Network
        The network.
    classes_ : ndarray of shape (n_classes,)
        The codes of the classes.
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
        """Learn structure and tables.

        Parameters
        ----------
        X : ndarray of unsigned int, shape (n_samples, n_features)
            Codes of the features.
        y : ndarray of int, shape (n_samples,)
            Codes of the class.
        sample_weight : ndarray of float64, shape (n_samples,)
            Relative weights of the rows.

        Returns
        -------
        self : MemberClassifier
            The fitted classifier.
        """
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
        """Code of the most probable class of every row.

        Parameters
        ----------
        X : ndarray of unsigned int, shape (n_samples, n_features)
            Codes of the features.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        engine = self.network_.engine
        log_joint = engine.log_joint(np.asfortranarray(X), self.n_jobs)
        best: IndexArray = with_prior(engine, log_joint).argmax(axis=1)
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
