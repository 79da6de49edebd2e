"""`TableClassifier` and `NetworkClassifier`: from rows of a table to classes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tanager.classifiers.validation import refuse_missing, refuse_unknown
from tanager.encoding import TableEncoder
from tanager.encoding.column_alignment import (
    check_features,
    matched_by_name,
    warn_of_near_misses,
)
from tanager.encoding.row_encoder import EncodingPlan, encode_table
from tanager.encoding.table import as_table
from tanager.inference.engine import Engine
from tanager.model.schema import Schema
from tanager.network import Network
from tanager.network.markov_blanket import features_that_matter
from tanager.registry import encoder_from
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import map_threads, row_blocks

Score = Callable[[CodeArray, list[int]], npt.NDArray[Any]]
"""From codes to output; adds to the list how many rows are impossible."""


class TableClassifier(ClassifierMixin, BaseEstimator):
    """What every classifier of tables can be asked once it is fitted.

    Subclasses give scores of coded rows (`_log_scores`) and set `encoder_`, `classes_`
    and, by `check_features`, the names of the columns.
    """

    encoder_: TableEncoder
    classes_: npt.NDArray[Any]
    _by_name: bool = False
    """Whether named columns are matched with variables, not with columns of `fit`."""

    @property
    @abstractmethod
    def networks_(self) -> tuple[Network, ...]:
        """The networks that are asked: one, or the members of an ensemble."""

    @property
    def markov_blanket_(self) -> tuple[str, ...]:
        """Names of the features that matter to the class, in the order of the columns.

        They are its parents, its children and the other parents of its children, of an
        ensemble those of all its networks. Where all of them are known, no other
        feature changes the probabilities.
        """
        return features_that_matter(self._fitted().networks_)

    @abstractmethod
    def _log_scores(self, codes: CodeArray, impossible: list[int]) -> FloatArray:
        """Logarithms of what is proportional to the probabilities of the classes.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_rows, n_features), Fortran order
            Codes of the features; the number of states of a variable means missing.
        impossible : list of int
            Gets the number of rows that are given the prior because they have
            probability zero under every class, if there are any.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
            With a finite entry in every row.
        """

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
        best = self._score(
            X,
            lambda codes, impossible: self._log_scores(codes, impossible).argmax(1),
            (),
            np.intp,
        )
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
        return self._score_classes(
            X,
            lambda codes, impossible: softmax(
                self._log_scores(codes, impossible), axis=1
            ),
        )

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
        return self._score_classes(
            X,
            lambda codes, impossible: log_softmax(
                self._log_scores(codes, impossible), axis=1
            ),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted classifier to a file; see `tanager.load`.

        Parameters
        ----------
        path : str or path
            File to write; replaced in one step, so never half-written. With the suffix
            ``.bif``, ``.xmlbif``, ``.xml`` or ``.bifxml`` it holds the network alone.
        """
        from tanager.classifiers.persistence import save

        save(self._fitted(), path)

    def _score_classes(self, X: Any, score: Score) -> FloatArray:
        """Score with a column for every class."""
        return self._score(X, score, (len(self._fitted().classes_),), np.float64)

    def _score(
        self,
        X: Any,
        score: Score,
        shape: tuple[int, ...],
        dtype: Any,
    ) -> npt.NDArray[Any]:
        """Encode and score blocks of rows; `score` turns codes into output."""
        self._fitted()
        table = as_table(X)
        if self._by_name and table.has_names:
            table = matched_by_name(table, self.networks_[0].schema)
        check_features(self, table, reset=False)
        options = self._options()
        if options.missing == "error":
            refuse_missing(table)
        variables = self.encoder_.schema_.variables
        if options.unknown == "marginalize":
            warn_of_near_misses(table, variables)

        def scored(codes: CodeArray, start: int) -> npt.NDArray[Any]:
            if options.unknown == "error":
                refuse_unknown(table, variables, codes, start)
            return score(codes, impossible)

        impossible: list[int] = []  # of this call; threads may append to a list
        blocks = row_blocks(table.n_rows)
        if len(blocks) == 1:
            out = scored(encode_table(table, variables), 0)
        else:
            plan = EncodingPlan(table, variables)
            out = np.empty((table.n_rows, *shape), dtype=dtype)

            def work(block: tuple[int, int]) -> None:
                out[slice(*block)] = scored(plan.encode(*block), block[0])

            map_threads(work, blocks, options.n_jobs)
        if impossible:
            warnings.warn(
                f"{sum(impossible)} of {table.n_rows} rows have probability zero under "
                "every class; they get the prior probabilities of the classes. Check "
                "these rows, or learn tables without zeros, as Frequency() does.",
                UserWarning,
                stacklevel=3,
            )
        return out

    def _options(self) -> Any:
        """Where the arguments `missing`, `unknown` and `n_jobs` stand."""
        return self

    def _fitted(self) -> Self:
        check_is_fitted(self, "classes_")
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class NetworkClassifier(TableClassifier):
    """What a classifier can be asked once it has a network.

    Subclasses set the constructor arguments `encoder`, `missing`, `unknown` and
    `n_jobs`, and call `_adopt` when they have learned a network.
    """

    encoder: Any
    missing: str
    unknown: str
    n_jobs: int | None
    network_: Network

    @property
    def networks_(self) -> tuple[Network, ...]:
        """The network, as the only one that is asked."""
        return (self.network_,)

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
        return self._score_classes(
            X, lambda codes, _: self.network_.engine.log_joint_block(codes)
        )

    def _log_scores(self, codes: CodeArray, impossible: list[int]) -> FloatArray:
        engine = self.network_.engine
        return with_prior(engine, engine.log_joint_block(codes), impossible)

    def _adopt(self, network: Network, classes: npt.NDArray[Any]) -> None:
        """Become the fitted classifier of a network whose target is last."""
        self.network_ = network
        self.classes_ = classes
        self.encoder_ = fitted_encoder(self, self._fresh_encoder(), network.schema)

    def _fresh_encoder(self) -> TableEncoder:
        """An encoder as the constructor argument says, not fitted."""
        return encoder_from(self.encoder)


def with_prior(
    engine: Engine, log_joint: FloatArray, impossible: list[int] | None = None
) -> FloatArray:
    """The prior in rows that are impossible under every class; changes `log_joint`.

    If there are any, their number is appended to `impossible`.
    """
    if engine.has_zeros:
        rows = log_joint.max(axis=1) == -np.inf
        if rows.any():
            log_joint[rows] = engine.log_prior
            if impossible is not None:
                impossible.append(int(rows.sum()))
    return log_joint


def fitted_encoder(
    model: object, encoder: TableEncoder, schema: Schema
) -> TableEncoder:
    """A fresh encoder, made to give the features of a schema whose target is last."""
    encoder.schema_ = Schema(schema.variables[:-1])
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(encoder, name, getattr(model, name))
    return encoder
