"""`NetworkClassifier`: predictions of a classifier that has a network."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tanager.classifiers.checks import refuse_missing, refuse_unknown
from tanager.core.schema import CodeArray, Schema
from tanager.core.threads import map_threads, row_blocks
from tanager.encoding.alignment import check_features
from tanager.encoding.plan import EncodingPlan, encode_table
from tanager.encoding.table import as_table
from tanager.network import Network
from tanager.registry import encoder_from

FloatArray = npt.NDArray[np.float64]


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """What a classifier can be asked once it has a network.

    Subclasses set the constructor arguments `encoder`, `missing`, `unknown` and
    `n_jobs`, and call `_adopt` when they have learned a network.
    """

    encoder: Any
    missing: str
    unknown: str
    n_jobs: int | None
    network_: Network
    classes_: npt.NDArray[Any]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Most probable class of every row; ties go to the first.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The columns of `fit`; missing cells and new categories are welcome.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self._score(X, lambda log_joint: log_joint.argmax(axis=1), (), np.intp)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of every class for every row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        shape = (len(self._fitted().classes_),)
        return self._score(X, lambda joint: softmax(joint, axis=1), shape, np.float64)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithm of the probability of every class for every row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        shape = (len(self._fitted().classes_),)
        return self._score(
            X, lambda joint: log_softmax(joint, axis=1), shape, np.float64
        )

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Log joint probability of every row's observed features with every class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        shape = (len(self._fitted().classes_),)
        return self._score(X, lambda joint: joint, shape, np.float64, possible=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted classifier to a model file; see `tanager.load`.

        Parameters
        ----------
        path : str or path
            File to write; replaced in one step, so never half-written.
        """
        from tanager.classifiers.persistence import save

        save(self._fitted(), path)

    def _score(
        self,
        X: Any,
        finish: Callable[[FloatArray], npt.NDArray[Any]],
        shape: tuple[int, ...],
        dtype: Any,
        *,
        possible: bool = True,
    ) -> npt.NDArray[Any]:
        """Encode and score blocks of rows; `finish` turns a log joint into output."""
        self._fitted()
        table = as_table(X)
        check_features(self, table, reset=False)
        if self.missing == "error":
            refuse_missing(table)
        variables = self.network_.schema.variables[:-1]
        engine = self.network_.engine

        def scored(codes: CodeArray, start: int) -> npt.NDArray[Any]:
            if self.unknown == "error":
                refuse_unknown(table, variables, codes, start)
            log_joint = engine.log_joint_block(codes)
            return finish(self._possible(log_joint) if possible else log_joint)

        blocks = row_blocks(table.n_rows)
        if len(blocks) == 1:
            return scored(encode_table(table, variables), 0)
        plan = EncodingPlan(table, variables)
        out = np.empty((table.n_rows, *shape), dtype=dtype)

        def work(block: tuple[int, int]) -> None:
            out[slice(*block)] = scored(plan.encode(*block), block[0])

        map_threads(work, blocks, self.n_jobs)
        return out

    def _possible(self, log_joint: FloatArray) -> FloatArray:
        """The prior in rows that are impossible under every class."""
        engine = self.network_.engine
        if engine.has_zeros:
            impossible = log_joint.max(axis=1) == -np.inf
            if impossible.any():
                log_joint[impossible] = engine.log_prior
        return log_joint

    def _fitted(self) -> Self:
        check_is_fitted(self, "network_")
        return self

    def _adopt(self, network: Network, classes: npt.NDArray[Any]) -> None:
        """Become the fitted classifier of a network whose target is last."""
        features = Schema(network.schema.variables[:-1])
        self.network_ = network
        self.classes_ = classes
        self.encoder_ = encoder_from(self.encoder)
        self.encoder_.schema_ = features
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(self.encoder_, name, getattr(self, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
