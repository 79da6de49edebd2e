"""Scores of several methods on several datasets, checked once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log10
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from tanager.compare._score_grouping import (
    check_cells,
    check_names,
    check_values,
    group_scores,
    order_sizes,
)
from tanager.errors import InputError, unknown_name
from tanager.types import FloatArray
from tanager.utils.validation import check_flag, check_whole

DIGITS = 12  # of a mean that count: without the last ones equal means are equal
MOST_DECIMALS = 22


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of several methods on the same folds of several datasets.

    Build it with `from_mapping`, `from_columns` or `from_rows`.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    datasets : tuple of str
        Names of the datasets.
    values : tuple of ndarrays of shape (n_methods, n_values)
        For every dataset the scores of the methods, one of every fold; a single one
        for a hold-out or a published mean. Column f of all methods is the same fold.
        Datasets may have different numbers of folds.
    sizes : tuple of int or None, default=None
        Rows of the datasets, the weights of the weighted average.
    higher_is_better : bool, default=True
        False for errors, losses and times.
    n_repeats : int, default=1
        Repetitions of the cross-validation that the values are from: 10 where there
        are 100 values of 10 x 10 folds.

    Examples
    --------
    >>> scores = {("iris", "NB"): [0.90, 0.94], ("iris", "TAN"): [0.92, 0.96]}
    >>> scores |= {("wine", "NB"): [0.98, 0.96], ("wine", "TAN"): [0.97, 0.95]}
    >>> results = Results.from_mapping(scores, sizes={"iris": 150, "wine": 178})
    >>> results.methods, results.datasets
    (('NB', 'TAN'), ('iris', 'wine'))
    >>> results.means()
    array([[0.92, 0.94],
           [0.97, 0.96]])
    >>> results.average(weighted=True).round(4)
    array([0.9471, 0.9509])
    >>> results.ranks()
    array([[2., 1.],
           [1., 2.]])
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: tuple[FloatArray, ...] = field(repr=False)
    sizes: tuple[int, ...] | None = None
    higher_is_better: bool = True
    n_repeats: int = 1

    def __post_init__(self) -> None:
        check_names("method", self.methods)
        check_names("dataset", self.datasets)
        check_flag("higher_is_better", self.higher_is_better)
        check_whole("n_repeats", self.n_repeats, 1)
        if len(self.values) != len(self.datasets):
            raise InputError(
                f"There are {len(self.datasets)} datasets, but values of "
                f"{len(self.values)}; give one array for every dataset."
            )
        arrays = tuple(
            check_values(name, values, self.methods, self.n_repeats)
            for name, values in zip(self.datasets, self.values, strict=True)
        )
        object.__setattr__(self, "values", arrays)
        if self.sizes is not None:
            if len(self.sizes) != len(self.datasets):
                raise InputError(
                    f"There are {len(self.datasets)} datasets, but "
                    f"{len(self.sizes)} sizes; give one for every dataset."
                )
            for name, size in zip(self.datasets, self.sizes, strict=True):
                check_whole(f"The size of dataset {name!r}", size, 1)

    @classmethod
    def from_mapping(
        cls,
        scores: Mapping[tuple[str, str], npt.ArrayLike],
        *,
        sizes: Mapping[str, int] | None = None,
        higher_is_better: bool = True,
        n_repeats: int = 1,
    ) -> Results:
        """Make results from ``{(dataset, method): scores of the folds}``.

        Parameters
        ----------
        scores : mapping
            From pairs of names to sequences of scores, or to single scores. Names
            keep the order in which they come first.
        sizes : mapping of str to int, default=None
            Rows of every dataset.
        higher_is_better : bool, default=True
            False for errors, losses and times.
        n_repeats : int, default=1
            Repetitions of the cross-validation.

        Returns
        -------
        Results
            Checked: no holes, the same number of folds for all methods.
        """
        cells, datasets, methods = check_cells(scores)
        return cls(
            methods=methods,
            datasets=datasets,
            values=tuple(
                np.array([cells[name, method] for method in methods])
                for name in datasets
            ),
            sizes=None if sizes is None else order_sizes(sizes, datasets),
            higher_is_better=higher_is_better,
            n_repeats=n_repeats,
        )

    @classmethod
    def from_columns(
        cls,
        datasets: Iterable[str],
        methods: Iterable[str],
        values: Iterable[Any],
        folds: Iterable[Hashable] | None = None,
        **keywords: Any,
    ) -> Results:
        """Make results from columns in long form, one row for every score.

        Parameters
        ----------
        datasets, methods : iterables of str of length n_rows
            Names; columns of a data frame will do.
        values : iterable of numbers of length n_rows
            The scores; text is read as numbers.
        folds : iterable of length n_rows, default=None
            Which fold a score is of, to pair those of different methods. By default
            scores of a method on a dataset are in the order of the folds.
        **keywords
            The others of `from_mapping`.

        Examples
        --------
        >>> results = Results.from_columns(
        ...     ["iris"] * 4,
        ...     ["NB", "NB", "TAN", "TAN"],
        ...     [0.9, 0.94, 0.96, 0.92],
        ...     folds=[1, 2, 2, 1],
        ... )
        >>> results.values[0]
        array([[0.9 , 0.94],
               [0.92, 0.96]])
        """
        cells = group_scores(datasets, methods, values, folds)
        return cls.from_mapping(cells, **keywords)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        dataset: str = "data",
        method: str = "model",
        value: str = "accuracy",
        fold: str | Sequence[str] = (),
        **keywords: Any,
    ) -> Results:
        r"""Make results from rows in long form, such as those of `csv.DictReader`.

        Parameters
        ----------
        rows : iterable of mappings
            One for every score. The defaults below are names of columns that
            ``tanager evaluate --output`` writes.
        dataset, method, value : str
            Columns of the names and of the score.
        fold : str or sequence of str, default=()
            Columns that say which fold it is, ``("repeat", "fold")`` for instance.
        **keywords
            The others of `from_mapping`.

        Examples
        --------
        >>> import csv, io
        >>> text = "data,model,accuracy\niris,NB,0.93\niris,TAN,0.95\n"
        >>> Results.from_rows(csv.DictReader(io.StringIO(text))).means()
        array([[0.93, 0.95]])
        """
        keys = (fold,) if isinstance(fold, str) else tuple(fold)
        found = list(rows)
        for row in found:
            for key in (dataset, method, value, *keys):
                if key not in row:
                    raise unknown_name("column", key, row)
        return cls.from_columns(
            [row[dataset] for row in found],
            [row[method] for row in found],
            [row[value] for row in found],
            [tuple(row[key] for key in keys) for row in found] if keys else None,
            **keywords,
        )

    @property
    def n_methods(self) -> int:
        """Number of methods."""
        return len(self.methods)

    @property
    def n_datasets(self) -> int:
        """Number of datasets."""
        return len(self.datasets)

    def index(self, method: str) -> int:
        """Place of a method; the error for an unknown one names the nearest."""
        if method not in self.methods:
            raise unknown_name("method", method, self.methods)
        return self.methods.index(method)

    def select(
        self,
        methods: Sequence[str] | None = None,
        datasets: Sequence[str] | None = None,
    ) -> Results:
        """The results of some methods on some datasets, in the order given.

        Parameters
        ----------
        methods, datasets : sequence of str or None, default=None
            Names; None for all.
        """
        kept = self.methods if methods is None else tuple(methods)
        names = self.datasets if datasets is None else tuple(datasets)
        columns = [self.index(name) for name in kept]
        for name in names:
            if name not in self.datasets:
                raise unknown_name("dataset", name, self.datasets)
        rows = [self.datasets.index(name) for name in names]
        return replace(
            self,
            methods=kept,
            datasets=names,
            values=tuple(self.values[r][columns] for r in rows),
            sizes=None if self.sizes is None else tuple(self.sizes[r] for r in rows),
        )

    def means(self) -> FloatArray:
        """Mean over folds, of shape (n_datasets, n_methods)."""
        return np.array([values.mean(axis=1) for values in self.values])

    def deviations(self, test_rows: Mapping[str, int] | None = None) -> FloatArray:
        """Standard deviations of the scores of every method on every dataset.

        Parameters
        ----------
        test_rows : mapping of str to int, default=None
            Datasets with a single split, and the number n of its test samples: for
            these the deviation is sqrt(p (1 - p) / n), where p is the accuracy.

        Returns
        -------
        ndarray of shape (n_datasets, n_methods)
            Of the values of the folds (divided by their number less one); NaN where
            there is one value and no `test_rows`.

        References
        ----------
        R. Greiner, X. Su, B. Shen, W. Zhou (2005), Structural extension to logistic
        regression, Machine Learning 59, section 5.1.1, footnote 11.

        Examples
        --------
        >>> results = Results.from_mapping({("a", "NB"): 0.9, ("b", "NB"): [0.8, 1]})
        >>> results.deviations({"a": 900}).round(4)
        array([[0.01  ],
               [0.1414]])
        """
        split = {} if test_rows is None else dict(test_rows)
        for name in split:
            if name not in self.datasets:
                raise unknown_name("dataset", name, self.datasets)
        rows = []
        for name, values in zip(self.datasets, self.values, strict=True):
            if name in split:
                rows.append(_split_deviations(name, values, split[name]))
            elif values.shape[1] == 1:
                rows.append(np.full(len(values), np.nan))
            else:
                rows.append(values.std(axis=1, ddof=1))
        return np.array(rows)

    def average(self, *, weighted: bool = False) -> FloatArray:
        """Average over datasets of the means, of shape (n_methods,).

        `weighted` says whether datasets count by their sizes.
        """
        check_flag("weighted", weighted)
        if weighted and self.sizes is None:
            raise InputError(
                "A weighted average needs the number of samples of every dataset; "
                "give sizes."
            )
        weights = self.sizes if weighted else None
        return np.asarray(np.average(self.means(), axis=0, weights=weights))

    def ranks(self) -> FloatArray:
        """Rank of every method on every dataset, 1 for the best; ties are averaged.

        The shape is (n_datasets, n_methods).
        """
        means = self.means()
        kept = np.array([_round_stable(row, np.abs(row).max()) for row in means])
        return np.asarray(rankdata(-self._sign * kept, axis=1), dtype=np.float64)

    def differences(self, first: str, second: str) -> FloatArray:
        """Differences of the mean scores of two methods, of shape (n_datasets,).

        Positive where the first method is better.
        """
        means = self.means()
        a, b = means[:, self.index(first)], means[:, self.index(second)]
        scales = np.maximum(np.abs(a), np.abs(b))
        pairs = zip(self._sign * (a - b), scales, strict=True)
        return np.array([_round_stable(d, scale) for d, scale in pairs])

    def fold_differences(self, first: str, second: str) -> tuple[FloatArray, ...]:
        """Differences of the scores of two methods in every fold.

        Positive where the first method is better; one array of shape (n_values,) for
        every dataset.
        """
        i, j = self.index(first), self.index(second)
        return tuple(self._sign * (values[i] - values[j]) for values in self.values)

    @property
    def _sign(self) -> float:
        return 1.0 if self.higher_is_better else -1.0


def _round_stable(values: Any, scale: float) -> Any:
    """Drop digits that depend on the order of a sum, zeros without a sign."""
    # Beyond the powers of ten that floats hold exactly, all digits stay.
    decimals = DIGITS - ceil(log10(scale)) if scale > 0.0 else MOST_DECIMALS + 1
    return (np.round(values, decimals) if decimals <= MOST_DECIMALS else values) + 0.0


def _split_deviations(dataset: str, values: FloatArray, test_rows: int) -> FloatArray:
    """Of accuracies on the test samples of a single split: sqrt(p (1 - p) / n)."""
    check_whole(f"test_rows of dataset {dataset!r}", test_rows, 1)
    if values.shape[1] != 1:
        raise InputError(
            f"Dataset {dataset!r} has {values.shape[1]} values; test_rows is for a "
            "single split. Leave it out for cross-validation."
        )
    p = values[:, 0]
    outside = p[(p < 0) | (p > 1)]
    if len(outside):
        raise InputError(
            "The deviation of a single split is for fractions from 0 to 1, but dataset "
            f"{dataset!r} has {outside[0]:g}; divide percentages by 100."
        )
    return np.asarray(np.sqrt(p * (1.0 - p) / test_rows))
