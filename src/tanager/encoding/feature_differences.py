"""`FeatureContrasts`: means of correlated numeric features, and their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tanager.encoding.encoding_plan import infinite
from tanager.encoding.feature_checks import check_features, record_features
from tanager.encoding.frame import Frame, read_frame
from tanager.errors import InputError
from tanager.types import AnyArray, FloatArray, IndexArray
from tanager.utils.validation import check_number, check_whole

LEAST_VALUES = 9
"""Distinct values that a feature must have to be combined with others."""


class FeatureContrasts(TransformerMixin, BaseEstimator):
    """Add means of correlated numeric features, and differences between features.

    Trees and factors cut one feature at a time. Where features are correlated, a
    difference between two of them often separates the classes, and takes many cuts to
    follow.

    Parameters
    ----------
    correlation : float, default=0.8
        Features are grouped while their mean absolute correlation is at least this.
        With 1 only perfectly correlated features are.
    max_contrasts : int, default=64
        Largest number of differences, those of the most correlated pairs.

    Attributes
    ----------
    groups_ : dict of str to tuple of str
        Names of the means that are added, and the features of each. A minus before a
        name says that its sign is reversed, since it is negatively correlated with the
        first one.
    contrasts_ : tuple of str
        Names of the differences that are added, best correlated first; ``a + b`` where
        a and b are negatively correlated.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if all were strings.

    See Also
    --------
    sklearn.cluster.FeatureAgglomeration : Replaces features by means of groups.

    Notes
    -----
    Features are standardised: ``z = (x - mean) / deviation``. Groups are those of
    average linkage on ``1 - |r|``, r the correlations. A group of two and more has its
    mean, ``m = mean_j s_j z_j`` with signs s, over the members that are observed; a
    feature alone stands for itself. A contrast is ``m_a - sign(r_ab) m_b``, missing
    where one of both is. Dates, categories and numeric features with fewer than 9
    distinct values are not combined.

    Time and memory grow with the square of the number of numeric features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from tanager import BayesNetClassifier
    >>> rng = np.random.default_rng(0)
    >>> left = rng.normal(size=1000)
    >>> X = {"left": left, "right": left + 0.3 * rng.normal(size=1000)}
    >>> y = X["left"] > X["right"]
    >>> contrasts = FeatureContrasts(correlation=1.0)
    >>> model = make_pipeline(contrasts, BayesNetClassifier()).fit(X, y)
    >>> contrasts.contrasts_
    ('left - right',)
    >>> model.score(X, y) > 0.98
    True

    With the default of 0.8 they are a group, too, and have a mean:

    >>> FeatureContrasts().fit(X).groups_
    {'mean(left, right)': ('left', 'right')}
    """

    def __init__(self, *, correlation: float = 0.8, max_contrasts: int = 64) -> None:
        self.correlation = correlation
        self.max_contrasts = max_contrasts

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the groups and the contrasts.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Any input of `tanager.encoding.read_frame`.
        y : None
            Ignored.

        Returns
        -------
        self : FeatureContrasts
            The fitted transformer.
        """
        frame = read_frame(X)
        check_number("correlation", self.correlation, above=0)
        if self.correlation > 1:
            raise InputError(
                f"correlation must be at most 1, got {self.correlation!r}."
            )
        check_whole("max_contrasts", self.max_contrasts, 0)
        columns = [frame.column(j) for j in range(frame.n_columns)]
        numeric = [
            j
            for j, column in enumerate(columns)
            if column.is_numeric
            and column.unit is None
            and _has_many_values(_finite(column.name, column.data))
        ]
        values = _numbers(frame, numeric)
        z, self._shift, self._scale = _standardise(values)
        self._numeric = numeric
        names = [frame.names[j] for j in numeric]
        self._signs = self._group(np.nan_to_num(z))
        self._pairs, pair_signs = self._pair(self._group_means(z))
        self._pair_signs = pair_signs
        members = [np.flatnonzero(column) for column in self._signs.T]
        titles = [_title([names[j] for j in group]) for group in members]
        self._means = np.array(
            [k for k, group in enumerate(members) if len(group) > 1], dtype=np.intp
        )
        self.groups_ = {
            titles[k]: tuple(
                names[j] if self._signs[j, k] > 0 else f"-{names[j]}"
                for j in members[k]
            )
            for k in self._means
        }
        self.contrasts_ = tuple(
            f"{titles[a]} {'-' if sign > 0 else '+'} {titles[b]}"
            for (a, b), sign in zip(self._pairs, pair_signs, strict=True)
        )
        self._names = frame.names
        _check_distinct([*frame.names, *self.groups_, *self.contrasts_])
        record_features(self, frame.names, has_names=frame.has_names)
        return self

    def transform(self, X: Any) -> Any:
        """Add the means and the differences to samples.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            The columns of `fit`.

        Returns
        -------
        data frame, mapping, list or ndarray
            The columns of `X` and the new ones: a data frame of the same library,
            mappings for mappings, and otherwise an array.
        """
        check_is_fitted(self)
        frame = read_frame(X)
        check_features(self, frame)
        z = (_numbers(frame, self._numeric) - self._shift) / self._scale
        means = self._group_means(z)
        first, second = self._pairs.T
        contrasts = means[:, first] - self._pair_signs * means[:, second]
        new = np.concatenate([means[:, self._means], contrasts], axis=1)
        return _append(X, frame, new, (*self.groups_, *self.contrasts_))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:  # noqa: ARG002
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            Names of the columns of `fit`, of the means and of the differences.
        """
        check_is_fitted(self)
        names = (*self._names, *self.groups_, *self.contrasts_)
        return np.array(names, dtype=object)

    def _group(self, z: FloatArray) -> FloatArray:
        """Signs of the features in each group, shape (n_numeric, n_groups); else 0.

        Groups are in the order of their first features.
        """
        n_numeric = z.shape[1]
        if n_numeric < 2:
            return np.eye(n_numeric)
        # Here and not above: importing takes longer than many a fit.
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        correlations = _correlations(z)
        distances = 1.0 - np.abs(correlations)
        np.fill_diagonal(distances, 0.0)
        tree = linkage(squareform(distances, checks=False), "average")
        found = fcluster(tree, 1.0 - self.correlation + 1e-9, "distance")
        _, first, places = np.unique(found, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        groups = rank[places]
        leaders = np.sort(first)[groups]
        own = correlations[np.arange(n_numeric), leaders]
        signs = np.zeros((n_numeric, len(first)))
        signs[np.arange(n_numeric), groups] = np.where(own < 0.0, -1.0, 1.0)
        return signs

    def _group_means(self, z: FloatArray) -> FloatArray:
        """Means of the observed members, shape (n_samples, n_groups)."""
        observed = ~np.isnan(z)
        sums = np.where(observed, z, 0.0) @ self._signs
        counts = observed.astype(np.float64) @ np.abs(self._signs)
        return np.divide(
            sums, counts, out=np.full_like(sums, np.nan), where=counts > 0.0
        )

    def _pair(self, means: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Groups of every contrast, shape (n_contrasts, 2), and their signs."""
        first, second = np.triu_indices(means.shape[1], 1)
        if not len(first):
            return np.empty((0, 2), dtype=np.intp), np.empty(0)
        found = _correlations(np.nan_to_num(_standardise(means)[0]))[first, second]
        # Rounded, so that ties go to the first pair on every machine.
        order = np.argsort(-np.abs(found).round(9), kind="stable")
        order = order[: self.max_contrasts]
        signs = np.where(found[order] < 0.0, -1.0, 1.0)
        return np.column_stack([first[order], second[order]]), signs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _finite(name: str, values: AnyArray) -> AnyArray:
    """The values that are not missing; raise for infinite ones."""
    if np.isinf(values).any():
        raise infinite(name)
    observed: AnyArray = values[~np.isnan(values)]
    return observed


def _has_many_values(observed: AnyArray) -> bool:
    return len(np.unique(observed)) >= LEAST_VALUES


def _numbers(frame: Frame, numeric: Sequence[int]) -> FloatArray:
    """Columns as numbers, shape (n_rows, n_numeric)."""
    values = np.empty((frame.n_rows, len(numeric)))
    for place, j in enumerate(numeric):
        column = frame.column(j)
        if not column.is_numeric:
            raise InputError(
                f"Column {column.name!r} was numeric at fit and now holds categories; "
                "expected numbers. Convert the column."
            )
        values[:, place] = column.data
        _finite(column.name, values[:, place])
    return values


def _standardise(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standardised columns, their means and their deviations, ignoring NaN."""
    if not values.shape[1]:
        return values, np.empty(0), np.empty(0)
    # Squares of large numbers would overflow.
    peak = np.maximum(np.nanmax(np.abs(values), axis=0), np.finfo(float).tiny)
    shift = peak * np.nanmean(values / peak, axis=0)
    scale = peak * np.nanstd(values / peak, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    return (values - shift) / scale, shift, scale


def _correlations(z: FloatArray) -> FloatArray:
    """Correlations of standardised columns without NaN."""
    z = z / np.maximum(np.sqrt(np.square(z).sum(axis=0)), 1e-300)
    found: FloatArray = np.clip(z.T @ z, -1.0, 1.0)
    return found


def _title(names: list[str]) -> str:
    """Name of the mean of some features, short enough for a heading."""
    if len(names) == 1:
        return names[0]
    if len(names) <= 3:
        return f"mean({', '.join(names)})"
    return f"mean({names[0]} and {len(names) - 1} more)"


def _check_distinct(names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"Two columns would have the name {repeated[0]!r}: names of new columns "
            "are made of those of X. Rename the columns of X."
        )


def _append(X: Any, frame: Frame, new: FloatArray, names: tuple[str, ...]) -> Any:
    """Append columns to the source of a frame."""
    if isinstance(X, Mapping):
        return {**X, **dict(zip(names, new.T, strict=True))}
    if hasattr(X, "columns"):
        return _append_to_data_frame(X, new, names)
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        rows = zip(X, new.tolist(), strict=True)
        return [{**row, **dict(zip(names, more, strict=True))} for row, more in rows]
    if frame.matrix is not None:
        return np.concatenate([frame.matrix, new], axis=1)
    every = range(frame.n_columns)
    if all(frame.column(j).is_numeric for j in every):
        return np.concatenate([_numbers(frame, every), new], axis=1)
    return np.concatenate([np.asarray(X, dtype=object), new.astype(object)], axis=1)


def _append_to_data_frame(X: Any, new: FloatArray, names: tuple[str, ...]) -> Any:
    """Append columns to a data frame of any library that narwhals supports."""
    import narwhals as nw  # not needed for arrays

    if not names:
        return X
    table = nw.from_native(X, eager_only=True)
    added = nw.from_dict(
        {name: np.ascontiguousarray(new[:, k]) for k, name in enumerate(names)},
        backend=table.implementation,
    )
    if table.implementation.is_pandas_like():  # which joins rows by their index
        added.to_native().index = X.index
    return nw.concat([table, added], how="horizontal").to_native()
