"""`DataFrameClassifier` and `NetworkClassifier`: prediction from data frames."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tanager.encoding import EncodingPlan, TableEncoder, encode_frame, read_frame
from tanager.encoding.dataframe_libraries import is_dask
from tanager.encoding.date_parts import restore_date_parts
from tanager.encoding.feature_checks import (
    check_features,
    match_features,
    refuse_missing,
    refuse_unknown,
    select_features,
    warn_of_unknown,
)
from tanager.encoding.frame import Frame
from tanager.encoding.pandas_rows import encode_rows
from tanager.errors import CapabilityError
from tanager.io.batches import as_batches, is_batched, naming
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import map_threads, row_blocks

if TYPE_CHECKING:
    from tanager.distributed.collections import SampleCollections
    from tanager.inference.engine import Engine
    from tanager.loglinear.fitted_factors import FactorTables
    from tanager.network import AnyNetwork

POLICIES = ("marginalize", "error")
"""Treatments of missing values and unknown categories."""

FEW_CLASSES = 8
"""Classes from which on sums over those of one sample are vectorised."""

FITTED_SOMETIMES = (
    "n_features_in_", "feature_names_in_", "structure_", "parameters_", "_by_name",
)  # fmt: skip
"""Attributes that a fitted classifier may lack though it had them after a fit before;
the first two are those of its encoder."""

SHOWN_EFFECTS = 6
"""Curves and heat maps below the network in a notebook."""

Score = Callable[[CodeArray, list[int]], npt.NDArray[Any]]
"""From codes to output; appends the number of impossible samples to the list."""


class DataFrameClassifier(ClassifierMixin, BaseEstimator):
    """Prediction methods of a fitted classifier of data frames.

    Subclasses compute scores from codes (`_log_scores`) and set `encoder_`, `classes_`,
    `n_features_in_` and `feature_names_in_`.
    """

    encoder_: TableEncoder
    classes_: npt.NDArray[Any]
    _by_name: bool = False
    """Whether columns are matched with variables by name, in any order."""

    @property
    @abstractmethod
    def networks_(self) -> tuple[AnyNetwork, ...]:
        """The networks of the classifier: one, or the members of an ensemble."""

    @property
    def markov_blanket_(self) -> tuple[str, ...]:
        """Names of the features in the Markov blanket of the class, in column order.

        They are its parents, its children and the other parents of its children; of an
        ensemble those of all its networks. If all of them are observed, no other
        feature changes the probabilities.
        """
        from tanager.network.markov_blanket import features_that_matter

        return features_that_matter(self._fitted().networks_)

    @abstractmethod
    def _log_scores(self, codes: CodeArray, impossible: list[int]) -> FloatArray:
        """Logarithms of unnormalised class probabilities, shape (n_rows, n_classes).

        They have a finite entry in every row: samples of probability zero under every
        class get the prior, and their number, if any, is appended to `impossible`.
        `codes` (n_rows, n_features) are in Fortran order; the number of states of a
        variable means missing.
        """

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class of every sample; ties go to the first.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The columns of `fit`; may have missing values and new categories. Named
            columns are matched by name, in any order: an absent one is missing in
            every sample, with a `DataWarning`, and others are ignored. A Dask
            collection gives a lazy one of the same partitions.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        fitted = self._fitted()
        if is_dask(X):
            return fitted._map_partitions(X, fitted.predict, fitted.classes_[:0])  # type: ignore[no-any-return]
        best = fitted._score(
            X, lambda *block: fitted._log_scores(*block).argmax(axis=1), (), np.intp
        )
        labels: npt.NDArray[Any] = fitted.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of every class for every sample.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        fitted = self._fitted()
        if is_dask(X):
            return fitted._map_partitions(X, fitted.predict_proba)  # type: ignore[no-any-return]
        return fitted._score_classes(
            X, lambda *block: normalize_scores(fitted._log_scores(*block))
        )

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Predict the log probability of every class for every sample.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        fitted = self._fitted()
        if is_dask(X):
            return fitted._map_partitions(X, fitted.predict_log_proba)  # type: ignore[no-any-return]
        return fitted._score_classes(
            X, lambda *block: log_softmax(fitted._log_scores(*block), axis=1)
        )

    def predict_batches(
        self, X: Any, *, method: str = "predict_proba"
    ) -> Iterator[npt.NDArray[Any]]:
        """Predict batch by batch, for results that exceed the memory.

        Parameters
        ----------
        X : Batches or source of `tanager.Batches`
            The samples. Columns that are no features are ignored, and the features may
            be in any order.
        method : str, default="predict_proba"
            The method that predicts each batch, such as ``"predict"``.

        Yields
        ------
        ndarray of shape (n_batch_samples,) or (n_batch_samples, n_classes)
            The result of the method for one batch.

        Examples
        --------
        >>> from tanager import BayesNetClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = BayesNetClassifier.from_name("NB+FE").fit(iris.X, iris.y)
        >>> frames = [iris.X[:100], iris.X[100:]]
        >>> [len(part) for part in model.predict_batches(frames, method="predict")]
        [100, 50]
        """
        predict = getattr(self._fitted(), method)
        for where, frame in as_batches(X).named_frames():
            with naming(where):
                found = predict(frame)
            yield found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on samples.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`; or a source of `tanager.Batches`. A Dask collection is
            scored partition by partition, where the partitions are.
        y : array-like of shape (n_samples,), or str
            The classes; for batches the name of the column that holds them, for a Dask
            collection one of the same partitions.
        sample_weight : array-like of shape (n_samples,), or str, default=None
            Weights; given as `y` is.

        Returns
        -------
        float
        """
        if is_dask(X):
            from tanager.classifiers.distributed_evaluation import score_collections
            from tanager.distributed.collections import SampleCollections

            collections = SampleCollections(X, y, sample_weight)
            return score_collections(self._fitted(), collections).accuracy
        if not is_batched(X):
            return float(super().score(X, y, sample_weight))
        from tanager.classifiers.batch_evaluation import score_batches

        return score_batches(self._fitted(), X, y, sample_weight).accuracy

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted classifier to a file; see `tanager.load`.

        Parameters
        ----------
        path : str or path
            File to write; replaced in one step, so never half-written. With the suffix
            ``.bif``, ``.xmlbif``, ``.xml`` or ``.bifxml`` it holds only the network.
        """
        from tanager.classifiers.persistence import save

        save(self._fitted(), path)

    def report(
        self,
        path: str | PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str = "",
    ) -> None:
        """Write a report: one HTML file that is read without a server.

        It shows the network, the effect of every feature and the posterior for any
        evidence, computed in the page by exact inference. CPTs and curves can be edited
        and the edited model exported.

        Parameters
        ----------
        path : str or path
            File to write, usually ``something.html``; replaced in one step.
        X : data frame or array-like of shape (n_samples, n_features), default=None
            Samples to load into the page, as in `predict`; at most 1000 are kept in
            the file. None is a report without data.
        y : array-like of shape (n_samples,), default=None
            Their classes, for the metrics; may have missing labels. Samples that the
            model was not fitted to give honest metrics.
        title : str, default=""
            Heading of the page.

        Raises
        ------
        CapabilityError
            For ensembles of networks.
        InputError
            If the file cannot be written, or the samples do not fit the model.

        Examples
        --------
        >>> import os, tempfile
        >>> from tanager import BayesNetClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = BayesNetClassifier.from_name("TAN+FE").fit(iris.X, iris.y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "report.html")
        ...     model.report(path, iris.X, iris.y)
        ...     os.path.getsize(path) < 500_000
        True
        """
        from tanager.classifiers.reports_and_cards import write_model_report

        write_model_report(self._fitted(), path, X, y, title=title)

    def _fit_collections(self, collections: SampleCollections) -> None:
        """Fit to Dask collections; only classifiers that learn from sums can."""
        raise CapabilityError(
            f"{type(self).__name__} needs the samples in one place, but "
            f"X is a Dask {type(collections.X).__name__}. Fit a BayesNetClassifier, or "
            "fit to a sample in memory."
        )

    def _map_partitions(
        self,
        X: Any,
        predict: Callable[[Any], Any],
        nothing: npt.NDArray[Any] | None = None,
    ) -> Any:
        """Predict the partitions of a Dask collection when they are computed."""
        from tanager.classifiers.distributed_fit import predict_partitions

        if nothing is not None:
            return predict_partitions(X, predict, nothing)
        columns = self.classes_.tolist()
        return predict_partitions(X, predict, np.empty((0, len(columns))), columns)

    def _score_classes(self, X: Any, score: Score) -> FloatArray:
        """Apply `_score` with one output column per class."""
        return self._score(X, score, (len(self.classes_),), np.float64)

    def _score(
        self,
        X: Any,
        score: Score,
        shape: tuple[int, ...],
        dtype: Any,
        order: Literal["C", "F"] = "C",
        *,
        every_column: bool = False,
    ) -> npt.NDArray[Any]:
        """Encode and score blocks of samples; `score` turns codes into output.

        Unless `every_column` is true, codes of features that `_log_scores` does not
        depend on may be anything.
        """
        impossible: list[int] = []  # of this call; threads may append to a list
        codes = self._encode_rows(X)
        columns = None if every_column else self._used_columns()
        if codes is not None:
            out = score(codes, impossible)
        elif is_batched(X):
            parts = [np.empty((0, *shape), dtype=dtype)]
            for where, frame in as_batches(X).named_frames():
                with naming(where):
                    scores = self._score_frame(
                        frame, score, shape, dtype, order, columns, impossible
                    )
                parts.append(scores)
            out = np.concatenate(parts)
        else:
            out = self._score_frame(X, score, shape, dtype, order, columns, impossible)
        if impossible:
            warnings.warn(
                f"{sum(impossible)} of {len(out)} samples have probability zero "
                "under every class; they get the prior probabilities of the classes. "
                "Check these samples, or learn CPTs without zeros: Frequency().",
                UserWarning,
                stacklevel=3,
            )
        return out

    def _encode_rows(self, X: Any) -> CodeArray | None:
        """Codes of a row or two that need no closer look; see `encode_rows`."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or self._options().missing == "error":
            return None
        return encode_rows(X, self.encoder_.schema_, names.tolist())

    def _score_frame(
        self,
        X: Any,
        score: Score,
        shape: tuple[int, ...],
        dtype: Any,
        order: Literal["C", "F"],
        columns: IntArray | None,
        impossible: list[int],
    ) -> npt.NDArray[Any]:
        """Do what `_score` does for samples of any type, with all checks."""
        frame = read_frame(X)
        frame = self._match_columns(frame)
        check_features(self, frame)
        options = self._options()
        if options.missing == "error":
            refuse_missing(frame)
        schema = self.encoder_.schema_
        if options.unknown == "marginalize":
            warn_of_unknown(frame, schema.variables)

        def score_codes(codes: CodeArray, start: int) -> npt.NDArray[Any]:
            if options.unknown == "error":
                refuse_unknown(frame, schema.variables, codes, start)
            return score(codes, impossible)

        if options.unknown == "error" or frame.matrix is None:
            columns = None
        blocks = row_blocks(frame.n_rows)
        if len(blocks) == 1:
            return score_codes(encode_frame(frame, schema, columns), 0)
        plan = EncodingPlan(frame, schema)
        out = np.empty((frame.n_rows, *shape), dtype=dtype, order=order)
        wanted = None if columns is None else columns.tolist()

        def score_block(block: tuple[int, int]) -> None:
            codes = plan.encode(*block, columns=wanted)
            out[slice(*block)] = score_codes(codes, block[0])

        map_threads(score_block, blocks, options.n_jobs)
        return out

    def _used_columns(self) -> IntArray | None:
        """Positions of the features that scores depend on; None means all."""
        return None

    def _match_columns(self, frame: Frame) -> Frame:
        """Columns in the order of the features, by name where there are names."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not frame.has_names:
            return frame
        frame = restore_date_parts(frame, names)
        if self._by_name:
            return select_features(frame, self.networks_[0].schema)
        return match_features(frame, names.tolist(), type(self).__name__)

    def _options(self) -> Any:
        """The estimator that has the arguments `missing`, `unknown` and `n_jobs`."""
        return self

    def _fitted(self) -> Self:
        """The classifier as it is now, even if another thread fits it again.

        It shares its attributes with this one until `_set_state` replaces them.
        """
        # The check is slow for single samples: it makes the tags of the estimator.
        if not hasattr(self, "classes_"):
            check_is_fitted(self, "classes_")
        fitted: Self = object.__new__(type(self))
        fitted.__dict__ = self.__dict__
        return fitted

    def _set_state(self, encoder: TableEncoder, **state: Any) -> None:
        """Replace all that was fitted in one step, never a part of it."""
        kept = {k: v for k, v in vars(self).items() if k not in FITTED_SOMETIMES}
        features = {k: v for k, v in vars(encoder).items() if k in FITTED_SOMETIMES}
        self.__dict__ = {**kept, **features, "encoder_": encoder, **state}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class NetworkClassifier(DataFrameClassifier):
    """Prediction methods of a classifier with one network, `network_`."""

    missing: str
    unknown: str
    n_jobs: int | None
    network_: AnyNetwork

    @property
    def networks_(self) -> tuple[AnyNetwork, ...]:
        """The network, as the only one."""
        return (self.network_,)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """The display of scikit-learn and, once fitted, the network; for notebooks."""
        display: Callable[[], str] = super()._repr_html_
        return lambda: display() + self._picture()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same, which newer notebooks ask for."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._picture()
        return bundle

    def _picture(self) -> str:
        """The network and its main effects as SVG; empty if not fitted."""
        if not hasattr(self, "network_"):
            return ""
        svg = self.network_.to_svg(n_effects=SHOWN_EFFECTS)
        return f'<div style="margin-top:0.5em">{svg}</div>'

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Log joint probability of the observed features and every class.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
        """
        fitted = self._fitted()
        return fitted._score_classes(
            X, lambda codes, _: fitted.network_.engine.log_joint_block(codes)
        )

    def _used_columns(self) -> IntArray | None:
        return self.network_.used_columns

    def _log_scores(self, codes: CodeArray, impossible: list[int]) -> FloatArray:
        engine = self.network_.engine
        return fill_in_prior(engine, engine.log_joint_block(codes), impossible)


def normalize_scores(log_scores: FloatArray) -> FloatArray:
    """Class probabilities from their unnormalised logarithms: the softmax of every row.

    Both arrays have shape (n_rows, n_classes). The result is that of
    `scipy.special.softmax`, which takes longer for single rows and for few classes.
    """
    if log_scores.shape[1] < FEW_CLASSES:
        classes = np.array(log_scores.T, order="C")
        classes -= np.maximum.reduce(classes)
        np.exp(classes, out=classes)
        classes /= np.add.reduce(classes)
        return np.ascontiguousarray(classes.T)
    weights: FloatArray = np.exp(log_scores - log_scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def fill_in_prior(
    engine: Engine | FactorTables,
    log_joint: FloatArray,
    impossible: list[int] | None = None,
) -> FloatArray:
    """Write the prior to the rows of `log_joint` that are impossible for every class.

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
    encoder: TableEncoder, schema: Schema, *, has_names: bool
) -> TableEncoder:
    """Fit a fresh encoder by the features of a schema whose target is last."""
    encoder.schema_ = Schema(schema.variables[:-1])
    encoder.n_features_in_ = len(schema) - 1
    if has_names:
        encoder.feature_names_in_ = np.array(schema.names[:-1], dtype=object)
    return encoder
