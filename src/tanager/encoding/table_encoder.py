"""`TableEncoder`: from a data frame to integer codes and their schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from tanager.encoding.encoding_plan import EncodingPlan
from tanager.encoding.feature_checks import check_features
from tanager.encoding.feature_schema import Role, fit_schema
from tanager.encoding.frame import Frame, plain_state, read_frame
from tanager.encoding.labels import labels_for_cuts
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
)
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State
from tanager.types import CodeArray, FloatArray, LabelArray
from tanager.utils.validation import check_weights

NUMERIC_ENCODERS: dict[str, type[NumericEncoder]] = {
    "mdl": MDLEncoder,
    "width": EqualWidthEncoder,
    "equal-width": EqualWidthEncoder,
    "quantile": QuantileEncoder,
}
"""Short names of the encoders of numeric features."""


def make_numeric_encoder(numeric: object) -> NumericEncoder:
    """Make a numeric encoder from a short name, or clone one.

    Examples
    --------
    >>> make_numeric_encoder("quantile")
    QuantileEncoder()
    """
    if isinstance(numeric, str):
        if numeric not in NUMERIC_ENCODERS:
            raise unknown_name("numeric encoder", numeric, NUMERIC_ENCODERS)
        return NUMERIC_ENCODERS[numeric]()
    if not isinstance(numeric, NumericEncoder):
        raise InputError(
            f"numeric must be one of {sorted(NUMERIC_ENCODERS)} or an encoder such as "
            f"QuantileEncoder(n_bins=50), got {numeric!r}."
        )
    return clone(numeric)  # type: ignore[no-any-return]


class TableEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Encode a data frame: discretise numeric features, code categories.

    The type of a column decides its treatment (see `tanager.encoding.read_frame`).
    Undeclared categories are sorted; declared ones keep their order, including those
    that do not occur. Missing values have a code of their own.

    Parameters
    ----------
    numeric : {"mdl", "width", "equal-width", "quantile"} or NumericEncoder, \
            default="mdl"
        How numeric features are discretised.
    categorical_features : None, "all", or list of names or indices, or mask, \
            default=None
        Numeric columns whose values are categories.
    ordinal_features : None, "all", list of names or indices, mask or mapping, \
            default=None
        Columns whose categories are ordered, numeric or not. A mapping from names (or
        indices) to lists gives the categories in order; None means sorted.

    Attributes
    ----------
    schema_ : Schema
        The variables, one for every column; no target. It determines the codes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all were strings.

    See Also
    --------
    tanager.encoding.read_frame : Input types, and how columns are typed.
    tanager.encoding.EncodingPlan : Codes from data and variables, without an encoder.

    Notes
    -----
    Weights are frequencies: samples of weight 0 are ignored, so a category that occurs
    only in them is unknown.

    Examples
    --------
    >>> X = {"age": [20, 30, 60, 70], "sky": ["grey", "blue", None, "blue"]}
    >>> encoder = TableEncoder().fit(X, y=[0, 0, 1, 1])
    >>> [variable.states for variable in encoder.schema_]
    [('(-inf, 45]', '(45, inf)'), ('blue', 'grey')]
    >>> encoder.encode({"age": [50, None], "sky": ["grey", "green"]})
    array([[1, 1],
           [2, 2]], dtype=uint8)
    >>> encoder.transform({"age": [50, None], "sky": ["grey", "green"]})
    array([[ 1.,  1.],
           [nan, nan]])
    """

    # The number of threads is not metadata of samples, so it is not routed.
    __metadata_request__fit = {"n_jobs": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        *,
        numeric: str | NumericEncoder = "mdl",
        categorical_features: Any = None,
        ordinal_features: Any = None,
    ) -> None:
        self.numeric = numeric
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Learn the schema.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Any input of `tanager.encoding.read_frame`.
        y : array-like of shape (n_samples,), default=None
            Classes; needed if a numeric column is discretised by "mdl", which ignores
            samples whose class is missing. Their categories are states all the same.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of every sample.
        n_jobs : int or None, default=None
            Number of threads; the result does not depend on it.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self._fit(X, y, sample_weight, n_jobs, keep_codes=False)
        return self

    def fit_encode(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> CodeArray:
        """Learn the schema and encode the same samples, in one pass where possible.

        Parameters are those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), unsigned, column-major
            The same as ``fit(X, y).encode(X)``.
        """
        codes = self._fit(X, y, sample_weight, n_jobs, keep_codes=True)
        assert codes is not None  # they were asked for
        return codes

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        n_jobs: int | None,
        *,
        keep_codes: bool,
    ) -> CodeArray | None:
        frame = read_frame(X)
        roles = _resolve_roles(frame, self.categorical_features, self.ordinal_features)
        labels = None
        if make_numeric_encoder(self.numeric).uses_labels and any(
            frame.column(j).is_numeric and not role.categorical
            for j, role in enumerate(roles)
        ):
            labels = labels_for_cuts(y, frame.n_rows, type(self).__name__)
        weights = check_weights(sample_weight, frame.n_rows)
        return self.fit_frame(frame, labels, weights, n_jobs, keep_codes=keep_codes)

    def fit_frame(
        self,
        frame: Frame,
        labels: LabelArray | None,
        weights: FloatArray | None,
        n_jobs: int | None = None,
        *,
        keep_codes: bool = True,
    ) -> CodeArray | None:
        """Learn the schema from checked data and encode them.

        Parameters
        ----------
        frame : Frame
            The data.
        labels : ndarray of shape (n_rows,), integer, or None
            Class codes from 0 up, -1 where the class is missing.
        weights : ndarray of shape (n_rows,), float64, or None
            Frequency of every row.
        n_jobs : int or None, default=None
            Number of threads.
        keep_codes : bool, default=True
            Whether to return the codes.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), unsigned, column-major, or None
        """
        encoder = make_numeric_encoder(self.numeric)
        roles = _resolve_roles(frame, self.categorical_features, self.ordinal_features)
        if not encoder.uses_labels:
            labels = None
        schema, codes = fit_schema(
            frame, roles, encoder, labels, weights, n_jobs=n_jobs, keep_codes=keep_codes
        )
        self.n_features_in_ = len(frame.names)
        if frame.has_names:
            self.feature_names_in_ = np.array(frame.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.schema_: Schema = schema
        return codes

    def encode(self, X: Any, *, n_jobs: int | None = 1) -> CodeArray:
        """Encode samples.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The columns of `fit`.
        n_jobs : int or None, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (n_samples, n_features), unsigned, column-major
            The codes, in the smallest type that holds all; missing values and unknown
            categories have the code `n_states` of their variable.
        """
        check_is_fitted(self)
        frame = read_frame(X)
        check_features(self, frame)
        return EncodingPlan(frame, self.schema_.variables).encode(n_jobs=n_jobs)

    def transform(self, X: Any) -> FloatArray:
        """Encode samples as floats, as scikit-learn's transformers do.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            The codes; NaN for missing values and unknown categories.
        """
        codes = self.encode(X)
        return np.where(codes == self.schema_.n_states, np.nan, codes)

    @property
    def cuts_(self) -> list[FloatArray | None]:
        """Cut points of every numeric column; None for categorical ones."""
        return [None if v.cuts is None else np.array(v.cuts) for v in self._variables()]

    @property
    def categories_(self) -> list[tuple[State, ...] | None]:
        """Categories of every categorical column; None for numeric ones."""
        return [v.states if v.cuts is None else None for v in self._variables()]

    def _variables(self) -> Schema:
        try:
            return self.schema_
        except AttributeError:
            raise AttributeError("The encoder is not fitted yet.") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # A target is needed only to discretise numeric features by class.
        chosen = self.categorical_features
        all_categories = isinstance(chosen, str) and chosen == "all"
        by_class = self.numeric == "mdl" or getattr(self.numeric, "uses_labels", False)
        tags.target_tags.required = bool(by_class) and not all_categories
        return tags


def _resolve_roles(frame: Frame, categorical: Any, ordinal: Any) -> list[Role]:
    """Roles of the columns from `categorical_features` and `ordinal_features`."""
    if categorical is None and ordinal is None:
        return [Role()] * len(frame.names)
    chosen = set(_select_columns(frame, categorical, "categorical_features"))
    lists: dict[int, tuple[State, ...]] = {}
    if isinstance(ordinal, Mapping):
        positions = _select_columns(frame, list(ordinal), "ordinal_features")
        for j, categories in zip(positions, ordinal.values(), strict=True):
            if categories is not None:
                lists[j] = _given_categories(frame.names[j], categories)
        ordered = set(positions)
    else:
        ordered = set(_select_columns(frame, ordinal, "ordinal_features"))
    return [
        Role(j in chosen or j in ordered, j in ordered, lists.get(j))
        for j in range(len(frame.names))
    ]


def _given_categories(name: str, categories: Any) -> tuple[State, ...]:
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise InputError(
            f"ordinal_features[{name!r}] must list the categories in order, got "
            f"{categories!r}."
        )
    states = tuple(plain_state(category) for category in categories)
    if not states or len(set(states)) < len(states):
        raise InputError(
            f"ordinal_features[{name!r}] must list different categories, at least one, "
            f"got {list(states)}."
        )
    return states


def _select_columns(frame: Frame, chosen: Any, argument: str) -> list[int]:
    """Positions, in the order given, of the columns that an argument selects."""
    n_columns = len(frame.names)
    if chosen is None:
        return []
    if isinstance(chosen, str):
        if chosen == "all":
            return list(range(n_columns))
        raise InputError(
            f"{argument} must be None, 'all', or a list of names, indices or a mask, "
            f"got {chosen!r}. For a single column, write [{chosen!r}]."
        )
    try:
        items = list(chosen)
    except TypeError:
        raise InputError(
            f"{argument} must be None, 'all', or a list of names, indices or a mask, "
            f"got {chosen!r}."
        ) from None
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            raise InputError(
                f"{argument} is a mask of {len(items)} entries for {n_columns} columns."
            )
        return [j for j, item in enumerate(items) if item]
    return [_position(frame, item, argument) for item in items]


def _position(frame: Frame, item: Any, argument: str) -> int:
    if isinstance(item, str):
        if item not in frame.names:
            raise unknown_name(f"column in {argument}", item, frame.names)
        return frame.names.index(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not -frame.n_columns <= item < frame.n_columns:
            raise InputError(
                f"{argument} names column {item}, but there are {frame.n_columns}."
            )
        return int(item) % frame.n_columns
    raise InputError(f"{argument} must hold names, indices or a mask, got {item!r}.")
