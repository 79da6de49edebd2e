"""`TableEncoder`: from a data frame to integer codes and their schema."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from tanager.encoding.column_roles import (
    Role,
    complete_roles,
    infer_roles,
    resolve_roles,
)
from tanager.encoding.date_parts import add_date_parts, restore_date_parts
from tanager.encoding.encoding_plan import EncodingPlan
from tanager.encoding.feature_checks import check_features
from tanager.encoding.frame import Frame, read_frame
from tanager.encoding.frame_schema import fit_schema
from tanager.encoding.labels import encode_labels, labels_for_cuts
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
)
from tanager.encoding.table_summary import (
    TableSummary,
    learn_schema,
    summarize_frame,
)
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State
from tanager.types import AnyArray, CodeArray, FloatArray, LabelArray
from tanager.utils.validation import check_choice, check_weights, read_weights

NUMERIC_ENCODERS: dict[str, type[NumericEncoder]] = {
    "mdl": MDLEncoder,
    "width": EqualWidthEncoder,
    "equal-width": EqualWidthEncoder,
    "quantile": QuantileEncoder,
}
"""Short names of the encoders of numeric features."""


MISSING = ("marginalize", "state")
"""What a missing value may be for the encoder."""


IDENTIFIERS = ("drop", "keep")
"""What may become of columns that identify samples."""


def make_numeric_encoder(numeric: object) -> NumericEncoder:
    """Make a numeric encoder from a short name, or clone one."""
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
    that do not occur. Missing values have a code of their own, or a state.

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
    missing : {"marginalize", "state"}, default="marginalize"
        What a missing value is. "marginalize": not observed, so that a network
        marginalises it. "state": a state of its own, "missing", for features with
        missing values in training; features that are always observed there, or never,
        are marginalised.
    identifiers : {"drop", "keep"}, default="drop"
        What becomes of columns that identify samples (see Notes). "drop" leaves them
        out, with a warning: the variable has one state, and any value is accepted at
        prediction. Columns that another argument names are kept.
    date_parts : None, list of str, or mapping from str to list of str, default=None
        Parts of dates that are features besides the dates themselves: "year", "month",
        "day", "weekday" and "hour" (for times of day "hour"); of all columns of dates
        or, by name, of some. Month and weekday are ordered categories, the others
        numbers, and the names of the features are such as ``when (weekday)``.

    Attributes
    ----------
    schema_ : Schema
        The variables, one for every column; no target. It determines the codes.
    n_features_in_ : int
        Number of columns, parts of dates included.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if all were strings.

    See Also
    --------
    tanager.encoding.read_frame : Input types, and how columns are typed.
    tanager.encoding.EncodingPlan : Codes from data and variables, without an encoder.

    Notes
    -----
    Weights are frequencies: samples of weight 0 are ignored, so a category that occurs
    only in them is unknown.

    A column of at least 20 values identifies samples if it has categories without a
    declared order, of which at least 80 % are different, or whole numbers that are all
    different and a name such as ``id``, ``index`` or ``customerKey``
    (`tanager.encoding.feature_kind`). Integers beyond 2^53 that floats do not
    separate are categories.

    Dates, times and durations are numeric; cut points are moved to full days, hours or
    minutes where that changes no code of the training data. At prediction their parts
    are computed again, unless the data have columns of their names. Dates with a time
    zone count in UTC, and so do their parts.

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

    A state for missing values where there were any:

    >>> encoder = TableEncoder(missing="state").fit(X, y=[0, 0, 1, 1])
    >>> [variable.states for variable in encoder.schema_]
    [('(-inf, 45]', '(45, inf)'), ('blue', 'grey', 'missing')]
    >>> encoder.encode({"age": [50, None], "sky": ["green", None]})
    array([[1, 3],
           [2, 2]], dtype=uint8)
    """

    # The number of threads is not metadata of samples, so it is not routed.
    __metadata_request__fit = {"n_jobs": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        *,
        numeric: str | NumericEncoder = "mdl",
        categorical_features: Any = None,
        ordinal_features: Any = None,
        missing: str = "marginalize",
        identifiers: str = "drop",
        date_parts: Any = None,
    ) -> None:
        self.numeric = numeric
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing = missing
        self.identifiers = identifiers
        self.date_parts = date_parts

    def set_params(self, **params: Any) -> Self:
        """Set arguments, also of `numeric`: ``numeric__n_bins=5``.

        A short name becomes the encoder that it stands for.

        Parameters
        ----------
        **params
            Arguments of this encoder, and of the numeric one after two underscores.

        Returns
        -------
        self : TableEncoder
            The same object.
        """
        nested = any(name.startswith("numeric__") for name in params)
        numeric = params.get("numeric", self.numeric)
        if nested and isinstance(numeric, str):
            params["numeric"] = make_numeric_encoder(numeric)
        super().set_params(**params)
        return self

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
        labels = None
        if self._cuts_by_class(frame):
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
        """Learn the schema from checked data, and return their codes.

        `labels` (n_rows,) are class codes, -1 where the class is missing, or None;
        `weights` (n_rows,) are frequencies or None. Codes are as in `encode`; None
        unless `keep_codes`.
        """
        encoder = make_numeric_encoder(self.numeric)
        check_choice("missing", self.missing, MISSING)
        check_choice("identifiers", self.identifiers, IDENTIFIERS)
        frame = add_date_parts(frame, self.date_parts)
        roles = infer_roles(
            frame, self._roles(frame.names), keep=self.identifiers == "keep"
        )
        if not encoder.uses_labels:
            labels = None
        schema, codes = fit_schema(
            frame, roles, encoder, labels, weights, n_jobs=n_jobs,
            keep_codes=keep_codes, missing_state=self.missing == "state",
        )  # fmt: skip
        self._set_schema(schema, has_names=frame.has_names)
        return codes

    def summarize(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> TableSummary:
        """Summarise a batch of samples for `fit_summary`; the encoder stays as it is.

        Parameters are those of `fit`. In a batch all labels may be missing, and all
        weights may be zero.

        Returns
        -------
        TableSummary
            A value that adds.
        """
        frame = read_frame(X)
        classes = labels = None
        if y is not None or self._cuts_by_class(frame):
            classes, labels = encode_labels(
                y, frame.n_rows, type(self).__name__, allow_missing=True, some=False
            )
        weights = read_weights(sample_weight, frame.n_rows)
        return self.summarize_frame(frame, classes, labels, weights, n_jobs)

    def summarize_frame(
        self,
        frame: Frame,
        classes: AnyArray | None,
        labels: LabelArray | None,
        weights: FloatArray | None,
        n_jobs: int | None = None,
    ) -> TableSummary:
        """Summarise checked data; arguments are those of `table_summary`."""
        encoder = make_numeric_encoder(self.numeric)
        frame = add_date_parts(frame, self.date_parts)
        return summarize_frame(
            frame, self._roles(frame.names), classes=classes, labels=labels,
            weights=weights, by_class=encoder.uses_labels and labels is not None,
            n_jobs=n_jobs,
        )  # fmt: skip

    def fit_summary(self, summary: TableSummary, n_jobs: int | None = None) -> Self:
        """Learn the schema from the sum of the summaries of all batches.

        The result is that of `fit` on all samples, bit by bit, if no numeric column has
        more than 65,536 distinct values and weights are whole numbers; otherwise see
        `NumericSummary`.

        Parameters
        ----------
        summary : TableSummary
            A sum of results of `summarize`.
        n_jobs : int or None, default=None
            Number of threads; the result does not depend on it.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        check_choice("missing", self.missing, MISSING)
        check_choice("identifiers", self.identifiers, IDENTIFIERS)
        schema = learn_schema(
            summary,
            complete_roles(
                summary.facts(),
                self._roles(summary.names),
                keep=self.identifiers == "keep",
            ),
            make_numeric_encoder(self.numeric),
            missing_state=self.missing == "state",
            n_jobs=n_jobs,
        )
        self._set_schema(schema, has_names=summary.has_names)
        return self

    def _roles(self, names: tuple[str, ...]) -> list[Role]:
        """What the arguments say about every column."""
        categorical, ordinal = self.categorical_features, self.ordinal_features
        if categorical is None and ordinal is None:
            return [Role()] * len(names)
        return resolve_roles(names, categorical, ordinal)

    def _cuts_by_class(self, frame: Frame) -> bool:
        """Whether a column of a frame is discretised by its class."""
        frame = add_date_parts(frame, self.date_parts)
        return make_numeric_encoder(self.numeric).uses_labels and any(
            frame.column(j).is_numeric and not role.categorical
            for j, role in enumerate(self._roles(frame.names))
        )

    def _set_schema(self, schema: Schema, *, has_names: bool) -> None:
        """Become the fitted encoder of a schema."""
        self.n_features_in_ = len(schema)
        if has_names:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.schema_: Schema = schema

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
            The codes, in the smallest type that holds all; unknown categories have the
            code `n_states` of their variable, and so have missing values, unless the
            variable has a state for them.
        """
        check_is_fitted(self)
        frame = restore_date_parts(read_frame(X), self.schema_.names)
        check_features(self, frame)
        return EncodingPlan(frame, self.schema_).encode(n_jobs=n_jobs)

    def transform(self, X: Any) -> FloatArray:
        """Encode samples as floats, as scikit-learn's transformers do.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
            The codes; NaN for unknown categories and, unless they have a state, for
            missing values.
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
        return [v.value_states if v.cuts is None else None for v in self._variables()]

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
