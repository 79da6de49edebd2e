"""`CategorySummary`: the weights of the categories of a column, which add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from tanager.encoding.feature_states import occurring_states, sort_states
from tanager.encoding.frame import Column
from tanager.errors import InputError
from tanager.model.schema import State
from tanager.types import AnyArray, FloatArray

MAX_CATEGORIES = 1_000_000
"""Categories of one column from which on a summary is refused."""


@dataclass(frozen=True, eq=False)
class CategorySummary:
    """The weight of every category of a column; summaries add.

    Parameters
    ----------
    n_observed, n_missing : int
        Number of rows with and without a value.
    weights : mapping from str, int, float or bool to float
        Total weight of every category that occurs.
    declared : tuple of str, int, float or bool, or None
        The categories in order, if the source declares them: see `Column`.
    ordered : bool, default=False
        Whether the source declares the categories to be ordered.
    dtype : dtype or None, default=None
        Type of the numbers, if the categories are the values of a numeric column.

    Examples
    --------
    >>> column = Column("sky", codes=np.array([1, 0, 1]), categories=("grey", "blue"))
    >>> both = CategorySummary.of(column) + CategorySummary.of(column)
    >>> both.weights["blue"], both.states("sky")
    (4.0, ('blue', 'grey'))
    """

    n_observed: int
    n_missing: int
    weights: Mapping[State, float]
    declared: tuple[State, ...] | None = None
    ordered: bool = False
    dtype: np.dtype[np.generic] | None = None

    @classmethod
    def of(cls, column: Column, weights: FloatArray | None = None) -> CategorySummary:
        """Summarise a column of one batch.

        `weights` (n_rows,) are positive; None means one each. The values of a numeric
        column are categories.
        """
        observed = column.is_observed()
        n_observed = int(np.count_nonzero(observed))
        values: AnyArray = column.data
        if n_observed < len(values):
            values = values[observed]
            weights = None if weights is None else weights[observed]
        if column.is_numeric:
            found, position = np.unique(values, return_inverse=True)
            states = found.tolist()
        else:
            states, position = list(column.categories), values
        totals = np.bincount(position, weights, minlength=len(states))
        used = np.flatnonzero(totals)
        by_state = {states[i]: float(totals[i]) for i in used.tolist()}
        summary = cls(
            n_observed,
            len(observed) - n_observed,
            MappingProxyType(by_state),
            column.categories if column.declared else None,
            column.ordered,
            column.data.dtype if column.is_numeric else None,
        )
        return summary._check_size(column.name)

    @property
    def is_untyped(self) -> bool:
        """Whether the batches gave neither a value nor a list of categories."""
        return not self.n_observed and self.declared is None

    def add(self, other: CategorySummary, name: str) -> CategorySummary:
        """Add the summary of other rows of the column; `name` is for errors."""
        declared, ordered = self._join_declared(other, name)
        weights = dict(self.weights)
        for state, weight in other.weights.items():
            weights[state] = weights.get(state, 0.0) + weight
        kinds = [part.dtype for part in (self, other) if part.dtype is not None]
        summary = CategorySummary(
            self.n_observed + other.n_observed,
            self.n_missing + other.n_missing,
            MappingProxyType(weights),
            declared,
            ordered,
            np.result_type(*kinds) if kinds else None,
        )
        return summary._check_size(name)

    def __add__(self, other: CategorySummary) -> CategorySummary:
        if not isinstance(other, CategorySummary):
            return NotImplemented
        return self.add(other, "?")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the weights as a dictionary: proxies cannot be pickled."""
        fields = (self.declared, self.ordered, self.dtype)
        return _restore, (self.n_observed, self.n_missing, dict(self.weights), *fields)

    def states(self, name: str) -> tuple[State, ...]:
        """States of the column, as `occurring_states` finds them in all rows."""
        if self.dtype is not None:
            values = np.array(list(self.weights), dtype=self.dtype)
            return occurring_states(Column(name, values=values))
        if self.declared is not None:
            return self.declared
        return sort_states(self.weights)

    def _join_declared(
        self, other: CategorySummary, name: str
    ) -> tuple[tuple[State, ...] | None, bool]:
        """The declared categories of both, and whether they are ordered."""
        if self.is_untyped or other.is_untyped:
            typed = other if self.is_untyped else self
            return typed.declared, typed.ordered
        if self.declared == other.declared:
            return self.declared, self.ordered and other.ordered
        if self.ordered or other.ordered:
            raise InputError(
                f"Column {name!r} has the ordered categories {_shown(self)} in one "
                f"batch and {_shown(other)} in another; expected the same ones in all. "
                "Give every batch all categories, in order."
            )
        return None, False

    def _check_size(self, name: str) -> CategorySummary:
        if len(self.weights) > MAX_CATEGORIES:
            raise InputError(
                f"Column {name!r} has more than {MAX_CATEGORIES:,} categories, such as "
                f"{next(iter(self.weights))!r}; expected fewer. Leave the column out "
                "if it identifies the rows, or group rare categories."
            )
        return self


def _restore(
    n_observed: int, n_missing: int, weights: dict[State, float], *fields: object
) -> CategorySummary:
    return CategorySummary(
        n_observed,
        n_missing,
        MappingProxyType(weights),
        *fields,  # type: ignore[arg-type]
    )


def _shown(summary: CategorySummary) -> list[State]:
    return list(summary.states(""))[:10]
