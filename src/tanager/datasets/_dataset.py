"""`Dataset`, and how columns become a frame with and without pandas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.types import IndexArray

TARGET = "class"  # the class column of every dataset here


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset: features, a class column and a description.

    Parameters
    ----------
    name : str
        Full name, such as ``"uci25/chess"``.
    frame : pandas.DataFrame or dict of str to ndarray
        Features and class: a data frame where pandas is installed, else one
        array of shape (n_rows,) per column. Nominal columns are categorical
        with text categories (without pandas: arrays of `str`, `None` where
        missing), numeric ones int64 or float64 with NaN where missing; pixels
        that are bytes stay uint8.
    target : str
        Name of the class column.
    description : str
        Size, origin and peculiarities in a few sentences.
    source : str
        Where the rows came from: ``"local"``, ``"sklearn"``, ``"embedded"``,
        ``"generator"``, ``"keel"`` or ``"openml"``.
    n_train : int or None, default=None
        Number of training samples, which come first; None if there is no
        published split, or if the source has the rows in another order.

    Examples
    --------
    >>> from tanager.datasets import load
    >>> iris = load("sklearn/iris")
    >>> iris.n_rows, iris.target, iris.n_train, iris.folds
    (150, 'class', None, ())
    >>> iris.feature_names[0]
    'sepal length (cm)'
    """

    name: str
    frame: Any = field(repr=False)
    target: str
    description: str = field(repr=False)
    source: str
    n_train: int | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all columns but the target."""
        return tuple(str(name) for name in self.frame if name != self.target)

    @property
    def X(self) -> Any:  # noqa: N802
        """The features: the frame without the target."""
        if isinstance(self.frame, dict):
            return {name: self.frame[name] for name in self.feature_names}
        return self.frame.drop(columns=self.target)

    @property
    def y(self) -> Any:
        """The class of every row: a series, or an array without pandas."""
        return self.frame[self.target]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def folds(self) -> tuple[tuple[IndexArray, IndexArray], ...]:
        """The published split as ((train_rows, test_rows),); empty without one.

        It can be given as `cv` to scikit-learn. Datasets with several published
        folds discretise each separately: ``load(name, fold=2)``.
        """
        if self.n_train is None:
            return ()
        return ((np.arange(self.n_train), np.arange(self.n_train, self.n_rows)),)

    def split(self) -> tuple[Any, Any, Any, Any]:
        """Cut at the published border: X_train, X_test, y_train, y_test.

        Examples
        --------
        >>> from tanager.datasets import generators
        >>> X_train, X_test, y_train, y_test = generators.mofn().split()
        >>> len(y_train), len(y_test)
        (300, 1024)
        """
        if self.n_train is None:
            raise InputError(
                f"Dataset {self.name!r} from {self.source!r} has no published split; "
                "use cross-validation or `sklearn.model_selection.train_test_split`."
            )
        train, test = slice(None, self.n_train), slice(self.n_train, None)
        X, y = self.X, self.y
        if isinstance(X, dict):
            cut = [{name: X[name][part] for name in X} for part in (train, test)]
            return (*cut, y[train], y[test])
        return X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]


@dataclass(frozen=True, eq=False)
class Nominal:
    """A nominal column before it goes into a frame; code -1 is missing."""

    codes: npt.NDArray[np.integer]
    categories: Sequence[str]
    ordered: bool = False


Column = Nominal | npt.NDArray[np.generic]


def find_pandas() -> ModuleType | None:
    """Import pandas where it is installed."""
    try:
        return import_module("pandas")
    except ImportError:
        return None


def make_frame(columns: Mapping[str, Column]) -> Any:
    """Put columns into a data frame, or into a dict of arrays without pandas."""
    pandas = find_pandas()
    if pandas is None:
        return {name: plain_column(column) for name, column in columns.items()}
    return pandas.DataFrame(
        {
            name: pandas.Categorical.from_codes(
                column.codes, categories=list(column.categories), ordered=column.ordered
            )
            if isinstance(column, Nominal)
            else column
            for name, column in columns.items()
        }
    )


def plain_column(column: Column) -> npt.NDArray[np.generic]:
    """Write a column as one array; missing nominal values become None."""
    if not isinstance(column, Nominal):
        return column
    # The last entry is what the code -1 picks.
    values: npt.NDArray[np.object_] = np.array([*column.categories, None], object)
    picked: npt.NDArray[np.object_] = values[column.codes]
    return picked


def sort_values(values: set[str]) -> list[str]:
    """Sort values as numbers where all are whole numbers, else as text."""
    if all(re.fullmatch(r"-?[0-9]+", value) for value in values):
        return sorted(values, key=lambda value: (int(value), value))
    return sorted(values)


def nominal_column(values: Sequence[str | None]) -> Nominal:
    """Code texts; None is missing."""
    categories = sort_values({value for value in values if value is not None})
    code_of: dict[str | None, int] = {value: i for i, value in enumerate(categories)}
    code_of[None] = -1
    codes = np.fromiter((code_of[value] for value in values), np.int64, len(values))
    return Nominal(codes, categories)


def numeric_column(name: str, values: Sequence[str | None]) -> npt.NDArray[np.generic]:
    """Turn texts into int64, or into float64 with NaN where a value is missing."""
    try:
        if None not in values:
            try:
                return np.array([int(value or "") for value in values], np.int64)
            except ValueError:
                pass
        return np.array(
            [np.nan if value is None else float(value) for value in values], np.float64
        )
    except ValueError as error:
        raise InputError(
            f"Column {name!r} should hold numbers, but: {error}."
        ) from None


def count_missing(frame: Any) -> int:
    """Count the missing cells of a frame made here."""
    if not isinstance(frame, dict):
        return int(frame.isna().to_numpy().sum())
    columns = frame.values()
    texts = sum(value is None for c in columns if c.dtype == object for value in c)
    return texts + sum(int(np.isnan(c).sum()) for c in columns if c.dtype.kind == "f")
