"""`describe`: the columns of data as an encoder understands them, with suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.encoding.column_facts import ColumnFacts, column_facts, feature_kind
from tanager.encoding.column_roles import spelling_text
from tanager.encoding.date_parts import add_date_parts
from tanager.encoding.feature_states import used_categories
from tanager.encoding.frame import Column, read_frame
from tanager.encoding.labels import encode_labels
from tanager.errors import InputError, listed
from tanager.model.schema import cut_texts
from tanager.utils.data_frame import FrameMixin
from tanager.utils.text import one_line, pluralise, shorten, table_text

FEW_VALUES = 10
"""Different whole numbers up to which a column may well hold codes of categories."""

MANY_CATEGORIES = 50
"""Categories above which rare ones are worth grouping."""

MOSTLY_MISSING = 0.5
"""Fraction of missing values above which a column is noted."""

DENSE = 1.1
"""Range of whole numbers, in units of their number, up to which they count rows."""

MAX_NAME, MAX_VALUES = 28, 44
"""Characters of the name and of the values of a column in a printed table."""

SHOWN = 40
"""Characters of the values that are shown."""


_KINDS = {"datetime": "date", "time": "time of day", "timedelta": "duration"}
"""Kinds of columns as they are printed."""


@dataclass(frozen=True)
class Problem:
    """Something to look at in a column, and what to do.

    Parameters
    ----------
    kind : str
        One of "empty", "constant", "identifier", "text", "inexact", "serial", "codes",
        "missing", "categories", "spelling", "class".
    text : str
        What was found.
    remedy : str
        What to do.
    """

    kind: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.text}: {self.remedy}."


@dataclass(frozen=True)
class ColumnDescription:
    """One column as an encoder understands it.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "datetime", "time", "timedelta", "category"}
        The type of its values.
    role : {"numeric", "categorical", "identifier", "constant", "empty", "class"}
        What it is for a classifier: see `tanager.encoding.feature_kind`.
    n_missing, n_distinct : int
        Number of missing and of different values.
    values : str
        The range of numbers and dates, or the most frequent categories.
    problems : tuple of Problem
        What to look at.
    """

    name: str
    kind: str
    role: str
    n_missing: int
    n_distinct: int
    values: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, repr=False)
class TableDescription(FrameMixin):
    """The columns of data as an encoder understands them; prints as a table.

    Parameters
    ----------
    n_rows : int
        Number of samples.
    descriptions : tuple of ColumnDescription
        The columns in their order; the class last, if it was given apart.

    See Also
    --------
    describe : Makes it.
    """

    n_rows: int
    descriptions: tuple[ColumnDescription, ...]

    def columns(self) -> dict[str, list[Any]]:
        """List name, kind, role, missing, distinct, values and problems by column."""
        rows = self.descriptions
        return {
            "name": [row.name for row in rows],
            "kind": [row.kind for row in rows],
            "role": [row.role for row in rows],
            "missing": [row.n_missing for row in rows],
            "distinct": [row.n_distinct for row in rows],
            "values": [row.values for row in rows],
            "problems": [" ".join(map(str, row.problems)) for row in rows],
        }

    def table(self) -> str:
        """One line for every column, below a heading."""
        rows = [
            [
                shorten(one_line(row.name), MAX_NAME),
                _KINDS.get(row.kind, row.kind),
                row.role,
                f"{row.n_missing:,}",
                f"{row.n_distinct:,}",
                shorten(one_line(row.values), MAX_VALUES),
            ]
            for row in self.descriptions
        ]
        head = ["column", "kind", "role", "missing", "distinct", "values"]
        sizes = f"{pluralise(self.n_rows, 'row')}, {pluralise(len(rows), 'column')}"
        return f"{sizes}\n\n{table_text(head, rows, right=[3, 4])}"

    def __repr__(self) -> str:
        problems = [
            f"  {one_line(row.name)}: {one_line(str(problem))}"
            for row in self.descriptions
            for problem in row.problems
        ]
        return "\n".join(
            [self.table(), *(["", "Problems:"] if problems else []), *problems]
        )

    def __getitem__(self, name: str) -> ColumnDescription:
        for row in self.descriptions:
            if row.name == name:
                return row
        raise KeyError(name)


def describe(X: Any, y: Any = None, *, date_parts: Any = None) -> TableDescription:
    """Describe data as an encoder understands them, with a suggestion for each problem.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
        Any input of `tanager.encoding.read_frame`.
    y : array-like of shape (n_samples,) or str, default=None
        The classes, or the name of their column in X.
    date_parts : None, list of str, or mapping from str to list of str, default=None
        Parts of dates to describe, too; as in `TableEncoder`.

    Returns
    -------
    TableDescription
        Kind, role, missing and different values of every column, and its problems.

    Examples
    --------
    >>> X = {"id": list(range(30)), "sky": ["blue"] * 30, "wind": [1.5, None] * 15}
    >>> found = describe(X)
    >>> [(row.name, row.role) for row in found.descriptions]
    [('id', 'identifier'), ('sky', 'constant'), ('wind', 'constant')]
    >>> print(found["sky"].problems[0])
    it has one value, 'blue', and so no effect: drop it.
    """
    frame = add_date_parts(read_frame(X), date_parts)
    target = y if isinstance(y, str) else None
    if target is not None and target not in frame.names:
        raise InputError(
            f"There is no column {target!r} to take the classes from; X has "
            f"{listed(frame.names)}."
        )
    found = []
    for j, name in enumerate(frame.names):
        column = frame.column(j)
        if name == target:
            found.append(_describe_class(column))
        else:
            found.append(_describe_column(column))
    if y is not None and target is None:
        given = getattr(y, "name", None)
        label = given if isinstance(given, str) else "y"
        column = _label_column(y, frame.n_rows, label)
        found.append(_describe_class(column))
    return TableDescription(frame.n_rows, tuple(found))


def _label_column(y: Any, n_rows: int, name: str) -> Column:
    """Labels as a column of categories."""
    classes, labels = encode_labels(y, n_rows, "describe", allow_missing=True)
    codes = np.where(labels == len(classes), -1, labels.astype(np.int64))
    return Column(name, codes=codes, categories=tuple(classes.tolist()))


def _describe_column(column: Column) -> ColumnDescription:
    facts = column_facts(column, thorough=True)
    return ColumnDescription(
        column.name,
        facts.kind,
        feature_kind(facts),
        facts.n_missing,
        facts.n_distinct or 0,
        _values_text(column),
        tuple(_problems(column, facts)),
    )


def _problems(column: Column, facts: ColumnFacts) -> list[Problem]:
    """What to look at in a feature, the most serious first."""
    role = feature_kind(facts)
    n_distinct = facts.n_distinct or 0
    if role == "empty":
        return [Problem("empty", "it has no value", "drop it")]
    if role == "constant":
        value = _values_text(column)
        text = f"it has one value, {value}, and so no effect"
        return [Problem("constant", text, "drop it")]
    found = []
    if facts.spelling is not None:
        text, _, remedy = spelling_text(facts, left_out=role == "identifier").partition(
            ". Convert it, "
        )
        text = text.replace(f"Column {facts.name!r} holds", "it holds")
        found.append(Problem("text", text, f"convert it, {remedy.rstrip('.')}"))
    elif role == "identifier":
        found.append(
            Problem(
                "identifier",
                f"{n_distinct:,} of {facts.n_values:,} values are different, so it "
                "identifies samples and is left out",
                'drop it, or keep it with TableEncoder(identifiers="keep")',
            )
        )
    if not facts.exact:
        text = "its integers are beyond 2^53, so every value is a category"
        found.append(Problem("inexact", text, "subtract a constant from quantities"))
    elif role == "numeric" and facts.whole:
        found += _whole_number_problems(column, facts)
    if facts.n_missing > MOSTLY_MISSING * facts.n_rows:
        text = f"{facts.n_missing / facts.n_rows:.0%} of its values are missing"
        found.append(Problem("missing", text, "check how it is filled in"))
    if role == "categorical" and not column.is_numeric:
        found += _category_problems(column, n_distinct)
    return found


def _whole_number_problems(column: Column, facts: ColumnFacts) -> list[Problem]:
    """Whether whole numbers may count rows, or be codes of categories."""
    n_distinct = facts.n_distinct or 0
    if 2 < n_distinct <= FEW_VALUES < facts.n_values:
        return [
            Problem(
                "codes",
                f"it has {n_distinct} different whole numbers, which are taken as "
                "ordered",
                f"if they are codes, use categorical_features=[{facts.name!r}]",
            )
        ]
    values = column.data[column.is_observed()]
    span = float(values.max()) - float(values.min()) + 1.0
    if n_distinct == facts.n_values > FEW_VALUES and span <= DENSE * n_distinct:
        text = "its whole numbers seem to count the samples"
        return [Problem("serial", text, "drop it if they do")]
    return []


def _category_problems(column: Column, n_distinct: int) -> list[Problem]:
    """Whether there are too many categories, or several spellings of one."""
    found = []
    if n_distinct > MANY_CATEGORIES:
        text = f"it has {n_distinct:,} categories"
        found.append(Problem("categories", text, "group rare ones, or drop it"))
    by_text: dict[str, Any] = {}
    for category in used_categories(column):
        folded = " ".join(str(category).casefold().split())
        if folded in by_text:
            text = f"{by_text[folded]!r} and {category!r} are two categories"
            remedy = "write them alike if they are the same"
            found.append(Problem("spelling", text, remedy))
            break
        by_text[folded] = category
    return found


def _describe_class(column: Column) -> ColumnDescription:
    """The column of the classes, with what a classifier would refuse."""
    facts = column_facts(column, thorough=True)
    n_distinct = facts.n_distinct or 0
    found = []
    if n_distinct < 2:
        text = f"it has {n_distinct} different values"
        found.append(Problem("class", text, "choose a column with two classes or more"))
    if facts.n_missing:
        text = f"the class of {facts.n_missing:,} samples is missing"
        remedy = 'drop these samples, or use parameters="em"'
        found.append(Problem("class", text, remedy))
    is_quantity = column.is_numeric and (not facts.whole or n_distinct > 100)
    if is_quantity or feature_kind(facts) == "identifier":
        text = f"it has {n_distinct:,} different values, so it is no class"
        found.append(Problem("class", text, "put its values into a few groups"))
    elif n_distinct > 1:
        counts = np.unique(column.data[column.is_observed()], return_counts=True)[1]
        if counts.min() < 2:
            text = f"{np.count_nonzero(counts < 2)} classes have a single sample"
            found.append(Problem("class", text, "add samples or join classes"))
    return ColumnDescription(
        column.name, facts.kind, "class", facts.n_missing, n_distinct,
        _values_text(column), tuple(found),
    )  # fmt: skip


def _values_text(column: Column) -> str:
    """The range of numbers and dates, or the most frequent categories."""
    data = column.data[column.is_observed()]
    if not len(data):
        return ""
    if column.is_numeric:
        ends: list[float] = [data.min().item(), data.max().item()]
        if column.unit is not None:
            texts = cut_texts(ends, column.unit)
        else:
            texts = [str(e) if isinstance(e, int) else f"{e:.6g}" for e in ends]
        return " to ".join(texts if ends[0] < ends[1] else texts[:1])
    counts = np.bincount(data, minlength=len(column.categories))
    order = np.argsort(-counts, kind="stable")
    shown: Sequence[str] = [
        repr(column.categories[k]) for k in order[: SHOWN // 4].tolist() if counts[k]
    ]
    text = ""
    for place, item in enumerate(shown):
        joined = f"{text}, {item}" if text else item
        if len(joined) > SHOWN and text:
            return f"{text}, ..."
        text = joined if place or len(item) <= SHOWN else f"{item[: SHOWN - 3]}..."
    return f"{text}, ..." if np.count_nonzero(counts) > len(shown) else text
