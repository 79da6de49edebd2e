"""`TableEncoder`: any table to integer codes and the schema behind them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from tanager.encoding.column_alignment import check_features
from tanager.encoding.column_roles import resolve_roles
from tanager.encoding.labels import labels_for_cuts
from tanager.encoding.mdl import MDLEncoder
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    NumericEncoder,
    QuantileEncoder,
    check_weights,
)
from tanager.encoding.row_encoder import EncodingPlan
from tanager.encoding.table import Table, as_table
from tanager.encoding.variable_fitting import fit_table
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State
from tanager.types import CodeArray, FloatArray

NUMERIC_ENCODERS: dict[str, type[NumericEncoder]] = {
    "mdl": MDLEncoder,
    "width": EqualWidthEncoder,
    "equal-width": EqualWidthEncoder,
    "quantile": QuantileEncoder,
}
"""Short names of the encoders for numeric columns."""


def make_numeric_encoder(numeric: object) -> NumericEncoder:
    """Turn a short name or an encoder into an encoder of our own.

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
    """Encode any table: bins for numbers, codes for categories, missing kept apart.

    The type of a column decides what it is (see `as_table`). Undeclared categories
    are sorted; declared ones keep their order, also those that do not occur.

    Parameters
    ----------
    numeric : {"mdl", "width", "equal-width", "quantile"} or NumericEncoder, \
            default="mdl"
        How numeric columns are cut into bins.
    categorical_features : None, "all", or list of names or indices, or mask, \
            default=None
        Columns whose numbers are categories.
    ordinal_features : None, "all", list of names or indices, mask or mapping, \
            default=None
        Columns whose categories are ordered, numbers or not. A mapping from names (or
        indices) to lists gives the categories in order; None there means sorted.

    Attributes
    ----------
    schema_ : Schema
        The variables, one for every column; no target. It alone determines codes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all were strings.

    See Also
    --------
    as_table : What inputs are read, and how.
    encode_table : Codes from a table and variables, without an encoder.

    Notes
    -----
    Weights are frequencies: rows of weight 0
    are not there, so a category seen only in them is unknown.

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

    # How many threads fit uses is no data, so there is nothing to route.
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
        X : table of shape (n_samples, n_features)
            Whatever `as_table` reads.
        y : array-like of shape (n_samples,), default=None
            Classes; needed if a numeric column is cut by "mdl". Rows whose class is
            missing are left out of such cuts; their categories are states all the same.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of every row.
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
        """Learn the schema and encode the same rows, in one pass where possible.

        Parameters are those of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), unsigned, column-major
            What ``fit(X, y).encode(X)`` gives.
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
        table = as_table(X)
        encoder = make_numeric_encoder(self.numeric)
        roles = resolve_roles(table, self.categorical_features, self.ordinal_features)
        weights = check_weights(sample_weight, table.n_rows)
        labels = None
        if encoder.uses_labels and any(
            table.column(j).is_numeric and not role.categorical
            for j, role in enumerate(roles)
        ):
            labels = labels_for_cuts(y, table.n_rows, type(self).__name__)
        schema, codes = fit_table(
            table, roles, encoder, labels, weights, n_jobs=n_jobs, keep_codes=keep_codes
        )
        check_features(self, table, reset=True)
        self.schema_: Schema = schema
        return codes

    def encode(self, X: Any, *, n_jobs: int | None = 1) -> CodeArray:
        """Encode rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The columns of `fit`.
        n_jobs : int or None, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (n_samples, n_features), unsigned, column-major
            The codes, in the smallest type that holds all; missing cells and unknown
            categories have the code `n_states` of their variable.
        """
        return EncodingPlan(self._read(X), self.schema_.variables).encode(n_jobs=n_jobs)

    def transform(self, X: Any) -> FloatArray:
        """Encode rows as scikit-learn transformers do.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            The codes; NaN for missing cells and unknown categories.
        """
        codes = self.encode(X)
        return np.where(codes == self.schema_.n_states, np.nan, codes)

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        return table

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
        # Only where numeric columns are cut by class is a target needed.
        chosen = self.categorical_features
        all_categories = isinstance(chosen, str) and chosen == "all"
        by_class = self.numeric == "mdl" or getattr(self.numeric, "uses_labels", False)
        tags.target_tags.required = bool(by_class) and not all_categories
        return tags
