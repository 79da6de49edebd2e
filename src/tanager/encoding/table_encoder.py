"""`TableEncoder`: from a data frame to integer codes and their schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from tanager.encoding.column_roles import Role, infer_roles, resolve_roles
from tanager.encoding.encoding_plan import (
    MISSING_ONLY,
    TASK_ROWS,
    EncodingPlan,
    infinite,
    kernel_ready,
    read_only,
)
from tanager.encoding.feature_checks import check_features
from tanager.encoding.feature_states import (
    occurring_states,
    used_categories,
)
from tanager.encoding.frame import Column, Frame, as_categories, read_frame
from tanager.encoding.labels import labels_for_cuts
from tanager.encoding.numeric_encoders import (
    EqualWidthEncoder,
    MDLEncoder,
    NumericEncoder,
    QuantileEncoder,
)
from tanager.errors import InputError, unknown_name
from tanager.model.schema import Schema, State, Variable
from tanager.types import BoolArray, CodeArray, FloatArray, LabelArray
from tanager.utils import jit
from tanager.utils.threads import map_threads, row_blocks
from tanager.utils.time_values import round_times
from tanager.utils.validation import check_choice, check_weights

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

    Attributes
    ----------
    schema_ : Schema
        The variables, one for every column; no target. It determines the codes.
    n_features_in_ : int
        Number of columns.
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
    minutes where that changes no code of the training data.

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
    ) -> None:
        self.numeric = numeric
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.missing = missing
        self.identifiers = identifiers

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
        chosen = (self.categorical_features, self.ordinal_features)
        labels = None
        if make_numeric_encoder(self.numeric).uses_labels and any(
            frame.column(j).is_numeric and not role.categorical
            for j, role in enumerate(resolve_roles(frame, *chosen))
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
        """Learn the schema from checked data, and return their codes.

        `labels` (n_rows,) are class codes, -1 where the class is missing, or None;
        `weights` (n_rows,) are frequencies or None. Codes are as in `encode`; None
        unless `keep_codes`.
        """
        encoder = make_numeric_encoder(self.numeric)
        check_choice("missing", self.missing, MISSING)
        roles = [Role()] * len(frame.names)
        categorical, ordinal = self.categorical_features, self.ordinal_features
        if categorical is not None or ordinal is not None:
            roles = resolve_roles(frame, categorical, ordinal)
        check_choice("identifiers", self.identifiers, IDENTIFIERS)
        roles = infer_roles(frame, roles, keep=self.identifiers == "keep")
        if not encoder.uses_labels:
            labels = None
        schema, codes = fit_schema(
            frame, roles, encoder, labels, weights, n_jobs=n_jobs,
            keep_codes=keep_codes, missing_state=self.missing == "state",
        )  # fmt: skip
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
            The codes, in the smallest type that holds all; unknown categories have the
            code `n_states` of their variable, and so have missing values, unless the
            variable has a state for them.
        """
        check_is_fitted(self)
        frame = read_frame(X)
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


def fit_schema(
    frame: Frame,
    roles: Sequence[Role],
    encoder: NumericEncoder,
    labels: LabelArray | None = None,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
    keep_codes: bool = False,
    missing_state: bool = False,
) -> tuple[Schema, CodeArray | None]:
    """Learn the schema of a frame and, in the same pass, its codes.

    Parameters
    ----------
    frame : Frame
        The training data.
    roles : sequence of Role
        One for every column.
    encoder : NumericEncoder
        Finds the cuts of numeric columns.
    labels : ndarray of shape (n_rows,), integer, or None
        Class of every row, -1 where it is missing; needed if the encoder uses them.
    weights : ndarray of shape (n_rows,), float64, or None
        Frequency of every row; rows of weight 0 are ignored.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    keep_codes : bool, default=False
        Whether to return the codes too.
    missing_state : bool, default=False
        Whether columns with both values and missing values get a state for the latter.

    Returns
    -------
    schema : Schema
        The features, without a target. A column without a value has one state.
    codes : ndarray of shape (n_rows, n_columns), unsigned, column-major, or None
        As `EncodingPlan.encode` gives them.
    """
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        schema, _ = fit_schema(
            frame.take(kept),
            roles,
            encoder,
            None if labels is None else labels[kept],
            weights[kept],
            n_jobs=n_jobs,
            missing_state=missing_state,
        )
        if not keep_codes:
            return schema, None
        return schema, EncodingPlan(frame, schema).encode(n_jobs=n_jobs)

    columns = [frame.column(j) for j in range(len(roles))]
    candidates = [
        j
        for j, (column, role) in enumerate(zip(columns, roles, strict=True))
        if column.is_numeric
        and column.unit is None
        and role.categorical
        and kernel_ready(column.data)
    ]
    codes: CodeArray | None = None
    scanned: dict[int, BoolArray] = {}
    if candidates and len(candidates) * frame.n_rows > jit.SMALL_WORK:
        if keep_codes:
            shape = (frame.n_rows, len(columns))
            codes = np.empty(shape, dtype=np.uint8, order="F")
        scanned = _scan(frame, candidates, codes, n_jobs)

    def fit_variable(j: int) -> Variable:
        column, role = columns[j], roles[j]
        if role.left_out:
            return Variable.left_out(column.name)
        if column.unit is not None and role.categorical:
            column = as_categories(column)
        if column.is_numeric and not role.categorical:
            if column.data.dtype.kind == "f" and np.isinf(column.data).any():
                raise infinite(column.name)
            cuts = encoder.cuts_of(column.data, labels, weights)
            if column.unit is not None and len(cuts):
                cuts = round_times(cuts, column.data[column.is_observed()])
            variable = Variable.binned(column.name, cuts.tolist(), column.unit)
        else:
            found: tuple[State, ...]
            if j in scanned:
                found = tuple(np.flatnonzero(scanned[j][:255]).tolist())
            else:
                found = occurring_states(column)
            variable = _categorical_variable(column, role, found)
        if missing_state and column.is_incomplete():
            return variable.with_missing_state()
        return variable

    schema = Schema(tuple(map_threads(fit_variable, range(len(columns)), n_jobs)))
    if not keep_codes:
        return schema, None
    plan = EncodingPlan(frame, schema)
    if codes is None or plan.dtype != codes.dtype:
        return schema, plan.encode(n_jobs=n_jobs)
    others = [j for j in range(len(columns)) if j not in scanned]
    plan.encode(columns=others, out=codes, n_jobs=n_jobs)
    _recode(codes, schema, scanned, n_jobs)
    return schema, codes


def _categorical_variable(
    column: Column, role: Role, found: tuple[State, ...]
) -> Variable:
    """The variable of a categorical column from the states found in it."""
    states = found
    if role.categories is not None:
        known = set(role.categories)
        used = used_categories(column) if column.declared else found
        other = [state for state in used if state not in known]
        if other:
            raise InputError(
                f"Column {column.name!r} holds {other[0]!r}, which is not among the "
                f"categories given in ordinal_features: {list(role.categories)}."
            )
        states = role.categories
    ordered = column.ordered or role.ordered
    return Variable(column.name, states or (MISSING_ONLY,), ordered=ordered)


def _scan(
    frame: Frame,
    candidates: Sequence[int],
    codes: CodeArray | None,
    n_jobs: int | None,
) -> dict[int, BoolArray]:
    """Copy columns of small integers into `codes` and mark those that occur.

    Returns, for the columns that hold integers from 0 to 254 only, which of them occur
    (255: missing), shape (256,).
    """
    from tanager.encoding._kernels import scan, scan_block

    def scan_rows(rows: tuple[int, int]) -> tuple[BoolArray, BoolArray]:
        first, last = rows
        present = np.zeros((frame.n_columns, 256), dtype=np.bool_)
        failed = np.zeros(frame.n_columns, dtype=np.bool_)
        if codes is not None:
            out = codes[first:last]
        else:
            out = np.empty((last - first, frame.n_columns), dtype=np.uint8, order="F")
        if frame.matrix is not None:
            chosen = np.array(candidates, dtype=np.int64)
            scan_block(
                read_only(frame.matrix[first:last]), chosen, out, present, failed
            )
        else:
            for j in candidates:
                block = read_only(frame.column(j).data[first:last])
                failed[j] = not scan(block, out[:, j], present[j])
        return present, failed

    results = map_threads(scan_rows, row_blocks(frame.n_rows, TASK_ROWS), n_jobs)
    present = np.logical_or.reduce([found for found, _ in results])
    failed = np.logical_or.reduce([failed for _, failed in results])
    return {j: present[j] for j in candidates if not failed[j]}


def _recode(
    codes: CodeArray,
    schema: Schema,
    scanned: dict[int, BoolArray],
    n_jobs: int | None,
) -> None:
    """Turn scanned integers into codes where they differ."""
    from tanager.encoding._kernels import recode

    def recode_column(j: int) -> None:
        table = np.full(256, schema[j].n_states, dtype=np.uint8)
        table[255] = schema[j].missing_code
        for code, state in enumerate(schema[j].states):
            if not isinstance(state, str) and state in range(255):
                table[int(state)] = code
        used = np.flatnonzero(scanned[j])
        if not np.array_equal(table[used], used):
            recode(codes[:, j], table)

    map_threads(recode_column, scanned, n_jobs)
