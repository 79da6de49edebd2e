"""`TableSummary`: what an encoder needs to know of a table, as a value that adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from operator import add

import numpy as np

from tanager.encoding.category_summary import CategorySummary
from tanager.encoding.column_facts import SAMPLED, ColumnFacts, find_spelling
from tanager.encoding.column_roles import Role
from tanager.encoding.encoding_plan import infinite
from tanager.encoding.feature_states import categorical_variable
from tanager.encoding.frame import Frame, as_categories
from tanager.encoding.labels import join_classes
from tanager.encoding.numeric_encoders import NumericEncoder
from tanager.encoding.numeric_summary import MAX_DISTINCT, NumericSummary
from tanager.errors import InputError
from tanager.model.schema import Schema, Variable
from tanager.types import AnyArray, FloatArray, LabelArray
from tanager.utils.threads import map_threads
from tanager.utils.validation import weight_scale

ColumnSummary = NumericSummary | CategorySummary
"""The summary of one column, by how its values are encoded."""


@dataclass(frozen=True, eq=False)
class TableSummary:
    """Values, missing values and classes of a table; summaries of batches add.

    Rows of weight zero are left out, as in `tanager.encoding.TableEncoder.fit`.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    has_names : bool
        Whether the source had names.
    columns : tuple of NumericSummary or CategorySummary
        One for every column.
    n_rows : int
        Number of rows.
    total_weight : float
        Sum of the weights; the number of rows if there are none.
    is_weighted : bool
        Whether weights were given.
    classes : ndarray of shape (n_classes,) or None
        The classes that occur, sorted; None if no labels were given.
    class_weights : ndarray of shape (n_classes,), float64
        Total weight of every class.
    n_unlabelled : int
        Number of rows whose class is missing.

    See Also
    --------
    tanager.encoding.TableEncoder.summarize : Makes the summary of a batch.
    tanager.encoding.TableEncoder.fit_summary : Learns from the sum of all batches.

    Notes
    -----
    The sum does not depend on the order of the batches or on their boundaries, apart
    from rounding if weights are not whole numbers.

    Examples
    --------
    >>> from tanager.encoding import TableEncoder
    >>> encoder = TableEncoder()
    >>> one = encoder.summarize({"age": [20, 30], "sky": ["grey", None]}, [0, 0])
    >>> two = encoder.summarize({"age": [60, 70], "sky": ["blue", "blue"]}, [1, 1])
    >>> [variable.states for variable in encoder.fit_summary(two + one).schema_]
    [('(-inf, 45]', '(45, inf)'), ('blue', 'grey')]
    """

    names: tuple[str, ...]
    has_names: bool
    columns: tuple[ColumnSummary, ...]
    n_rows: int
    total_weight: float
    is_weighted: bool
    classes: AnyArray | None
    class_weights: FloatArray
    n_unlabelled: int

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def weight_scale(self) -> float:
        """Factor of the weights: not one if they are relative (`check_weights`)."""
        return weight_scale(self.total_weight, self.n_rows) if self.is_weighted else 1.0

    @property
    def is_exact(self) -> bool:
        """Whether no numeric column has more distinct values than are kept."""
        return all(
            column.is_exact
            for column in self.columns
            if isinstance(column, NumericSummary)
        )

    def facts(self) -> list[ColumnFacts]:
        """What is known of every column, from which its treatment follows."""
        return list(map(_facts_of, self.names, self.columns))

    def __add__(self, other: TableSummary) -> TableSummary:
        if not isinstance(other, TableSummary):
            return NotImplemented
        if self.names != other.names:
            raise InputError(
                f"The batches have different columns: {list(self.names)} and "
                f"{list(other.names)}; expected the same, in the same order."
            )
        if (self.classes is None) != (other.classes is None):
            raise InputError("Some batches have labels and others have none.")
        if self.is_weighted != other.is_weighted:
            raise InputError("Some batches have sample weights and others have none.")
        classes = None
        mine, theirs = self, other
        if self.classes is not None and other.classes is not None:
            classes = join_classes(self.classes, other.classes)
            mine, theirs = self._with_classes(classes), other._with_classes(classes)
        return TableSummary(
            self.names,
            self.has_names and other.has_names,
            tuple(map(_add_columns, self.names, mine.columns, theirs.columns)),
            self.n_rows + other.n_rows,
            self.total_weight + other.total_weight,
            self.is_weighted,
            classes,
            mine.class_weights + theirs.class_weights,
            self.n_unlabelled + other.n_unlabelled,
        )

    def _with_classes(self, classes: AnyArray) -> TableSummary:
        """The same summary over more classes."""
        assert self.classes is not None
        if len(classes) == len(self.classes):
            return replace(self, classes=classes)
        positions = np.searchsorted(classes, self.classes)
        weights = np.zeros(len(classes))
        weights[positions] = self.class_weights
        columns = tuple(
            column.select_classes(positions, len(classes))
            if isinstance(column, NumericSummary) and column.by_class
            else column
            for column in self.columns
        )
        return replace(self, classes=classes, class_weights=weights, columns=columns)


def sum_summaries(summaries: Iterable[TableSummary]) -> TableSummary:
    """Add the summaries of all batches; raises if there are none."""
    found = iter(summaries)
    first = next(found, None)
    if first is None:
        raise InputError(
            "There are no samples: every batch is empty, or there are no batches. Give "
            "at least one sample of every class."
        )
    return reduce(add, found, first)


def _facts_of(name: str, column: ColumnSummary) -> ColumnFacts:
    """What `tanager.encoding.column_facts` says of a column, from its summary."""
    n_rows = column.n_observed + column.n_missing
    if isinstance(column, NumericSummary):
        return ColumnFacts(
            name, column.unit or "number", n_rows, column.n_values, column.n_distinct,
            whole=column.whole, exact=column.separate,
        )  # fmt: skip
    first = list(islice(column.weights, SAMPLED))
    spelling, odd = find_spelling(first) if column.dtype is None else (None, None)
    return ColumnFacts(
        name, "category", n_rows, column.n_observed, len(column.weights),
        column.ordered, spelling=spelling, odd=odd,
    )  # fmt: skip


def _add_columns(name: str, one: ColumnSummary, other: ColumnSummary) -> ColumnSummary:
    """Add the summaries of a column of two batches."""
    if isinstance(one, NumericSummary) and isinstance(other, NumericSummary):
        if one.unit != other.unit and one.n_observed and other.n_observed:
            kinds = sorted(part.unit or "number" for part in (one, other))
            raise InputError(
                f"Column {name!r} holds values of type {kinds[0]} in one batch and "
                f"{kinds[1]} in another; expected one type in all batches. Convert the "
                "column."
            )
        return one + other
    if isinstance(one, CategorySummary) and isinstance(other, CategorySummary):
        if (
            one.n_observed
            and other.n_observed
            and (one.dtype is None) != (other.dtype is None)
        ):
            raise _two_kinds(name, other if one.dtype is not None else one)
        return one.add(other, name)
    numeric, category = (
        (one, other) if isinstance(one, NumericSummary) else (other, one)
    )
    assert isinstance(numeric, NumericSummary)
    assert isinstance(category, CategorySummary)
    # A column without values has the type of the other batch.
    if category.is_untyped:
        return replace(numeric, n_missing=numeric.n_missing + category.n_missing)
    if not numeric.n_observed:
        return replace(category, n_missing=category.n_missing + numeric.n_missing)
    raise _two_kinds(name, category)


def _two_kinds(name: str, category: CategorySummary) -> InputError:
    shown = ", ".join(map(repr, category.states(name)[:3]))
    return InputError(
        f"Column {name!r} is numeric in one batch and holds categories ({shown}) in "
        "another; expected one type in all batches. Convert the column."
    )


def summarize_frame(
    frame: Frame,
    roles: Sequence[Role],
    *,
    classes: AnyArray | None = None,
    labels: LabelArray | None = None,
    weights: FloatArray | None = None,
    by_class: bool = False,
    max_distinct: int = MAX_DISTINCT,
    n_jobs: int | None = None,
) -> TableSummary:
    """Summarise one batch of checked data.

    Parameters
    ----------
    frame : Frame
        The batch.
    roles : sequence of Role
        One for every column.
    classes : ndarray of shape (n_classes,) or None
        The classes of `labels`, sorted.
    labels : ndarray of shape (n_rows,), integer, or None
        Positions in `classes`, their number where the class is missing.
    weights : ndarray of shape (n_rows,), float64, or None
        Frequency of every row; rows of weight 0 are ignored.
    by_class : bool, default=False
        Whether to keep the weight of numeric values in every class; needs labels.
    max_distinct : int, default=65,536
        Distinct values of a numeric column up to which its summary is exact.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    """
    weighted = weights is not None
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        frame, weights = frame.take(kept), weights[kept]
        labels = None if labels is None else labels[kept]
    class_weights, n_unlabelled = np.zeros(0), 0
    if classes is not None and labels is not None:
        present = np.bincount(labels, minlength=len(classes) + 1)
        n_unlabelled = int(present[-1])
        found = np.flatnonzero(present[:-1])
        if len(found) < len(classes):
            positions = np.full(len(classes) + 1, len(found))
            positions[found] = np.arange(len(found))
            classes, labels = classes[found], positions[labels]
        totals = np.bincount(labels, weights, minlength=len(classes) + 1)
        class_weights = totals[:-1].astype(np.float64)
    n_classes = len(classes) if by_class and classes is not None else 1

    def summarize_column(j: int) -> ColumnSummary:
        column = frame.column(j)
        if column.data.dtype.kind == "f" and np.isinf(column.data).any():
            raise infinite(column.name)
        if column.unit is not None and roles[j].categorical:
            column = as_categories(column)
        if column.is_numeric and not roles[j].categorical:
            return NumericSummary.of(
                column.data,
                labels if by_class else None,
                weights,
                n_classes=n_classes,
                by_class=by_class,
                max_cells=max_distinct,
                unit=column.unit,
            )
        return CategorySummary.of(column, weights)

    columns = map_threads(summarize_column, range(frame.n_columns), n_jobs)
    return TableSummary(
        frame.names,
        frame.has_names,
        tuple(columns),
        frame.n_rows,
        float(frame.n_rows if weights is None else weights.sum()),
        weighted,
        classes,
        class_weights,
        n_unlabelled,
    )


def learn_schema(
    summary: TableSummary,
    roles: Sequence[Role],
    encoder: NumericEncoder,
    *,
    missing_state: bool = False,
    n_jobs: int | None = None,
) -> Schema:
    """Learn the schema from the sum of the summaries of all batches.

    Parameters and result are those of `tanager.encoding.fit_schema`.
    """

    def fit_variable(j: int) -> Variable:
        name, column = summary.names[j], summary.columns[j]
        if roles[j].left_out:
            return Variable.left_out(name)
        if isinstance(column, NumericSummary):
            if roles[j].categorical:
                raise InputError(
                    f"Column {name!r} holds integers beyond 2^53, which floats cannot "
                    "all represent; expected smaller ones in batches. Name the column "
                    "in categorical_features, or subtract a constant."
                )
            cuts = column.find_cuts(encoder, summary.weight_scale)
            variable = Variable.binned(name, cuts.tolist(), column.unit)
        else:
            variable = categorical_variable(
                name,
                roles[j],
                column.states(name),
                used=column.states(name) if column.declared is None else column.weights,
                ordered=column.ordered,
            )
        if missing_state and column.n_observed and column.n_missing:
            return variable.with_missing_state()
        return variable

    return Schema(tuple(map_threads(fit_variable, range(summary.n_columns), n_jobs)))
