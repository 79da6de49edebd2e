"""`ColumnFacts`: what is known of a column, and the kind of feature it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tanager.encoding.frame import Column
from tanager.encoding.numeric_encoders import MAX_EXACT
from tanager.model.schema import State
from tanager.types import AnyArray

MIN_VALUES = 20
"""Values from which on a column can be recognised as an identifier."""

DISTINCT = 0.8
"""Fraction of distinct values from which on categories identify samples."""

MANY_NUMBERS = 10
"""A column with no more different numbers may well hold categories."""

SAMPLED = 200
"""Categories whose spelling is looked at."""

FEW_NUMBERS = 30
"""Different numbers in a column of text up to which they are taken as codes."""

NAMED_AS_KEY = frozenset(
    ("guid", "id", "identifier", "ids", "idx", "index", "key", "row", "rowid", "uuid")
)
"""Words in the name of a column that say that its whole numbers are no quantities."""

_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PLAIN = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_POINT = rf"{_PLAIN}|[+-]?\d{{1,3}}(,\d{{3}})+(\.\d*)?"
_COMMA = r"[+-]?(\d+|\d{1,3}([. ']\d{3})+)(,\d+)?"
SPELLINGS = {
    "numbers": re.compile(_PLAIN),
    "numbers with thousands separators": re.compile(_POINT),
    "numbers with decimal commas": re.compile(_COMMA),
    "dates": re.compile(
        r"\d{4}-\d\d?-\d\d?([T ]\d\d:\d\d.*)?|\d\d?\.\d\d?\.\d{4}|\d\d?/\d\d?/\d{2,4}"
    ),
}
"""How texts may spell what is no category, the simplest first."""


@dataclass(frozen=True)
class ColumnFacts:
    """A small summary of a column, from which its treatment follows.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "datetime", "time", "timedelta", "category"}
        The type of its values.
    n_rows, n_values : int
        Number of rows, and of those with a value.
    n_distinct : int or None
        Number of different values; None if no rule needs it.
    ordered : bool, default=False
        Whether the source declares an order of categories.
    whole : bool, default=False
        Whether all values are whole numbers.
    exact : bool, default=True
        Whether floats separate all numbers; integers beyond 2^53 may not.
    spelling : str or None, default=None
        What most categories spell: one of `SPELLINGS`.
    odd : str or None, default=None
        A category that does not spell it.

    Examples
    --------
    >>> facts = ColumnFacts("name", "category", 800, 800, 795)
    >>> feature_kind(facts)
    'identifier'
    """

    name: str
    kind: str
    n_rows: int
    n_values: int
    n_distinct: int | None
    ordered: bool = False
    whole: bool = False
    exact: bool = True
    spelling: str | None = None
    odd: str | None = None

    @property
    def looks_misread(self) -> bool:
        """Whether texts spell what is better converted; few numbers may be codes."""
        if self.spelling == "numbers" and self.odd is None:
            return self.n_distinct is None or self.n_distinct > FEW_NUMBERS
        return self.spelling is not None

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return self.n_rows - self.n_values


def feature_kind(facts: ColumnFacts) -> str:
    """Decide what a column is: the rule of every encoder.

    Parameters
    ----------
    facts : ColumnFacts
        The summary.

    Returns
    -------
    {"empty", "constant", "identifier", "numeric", "categorical"}
        "identifier": at least 20 values, and either categories without a declared
        order of which at least 80 % are different, or whole numbers that are all
        different in a column named as a key (`NAMED_AS_KEY`: id, index, key, ...).
        "categorical" are other categories, and integers that floats do not
        separate. All else is "numeric".

    Examples
    --------
    >>> feature_kind(ColumnFacts("customerId", "number", 99, 99, 99, whole=True))
    'identifier'
    >>> feature_kind(ColumnFacts("salary", "number", 99, 99, 99, whole=True))
    'numeric'
    """
    if facts.n_values == 0:
        return "empty"
    if facts.n_distinct == 1:
        return "constant"
    n_distinct = facts.n_distinct or 0
    many = facts.n_values >= MIN_VALUES
    if facts.kind == "category" or not facts.exact:
        distinct = n_distinct >= DISTINCT * facts.n_values
        identifies = many and distinct and not facts.ordered
        return "identifier" if identifies else "categorical"
    if facts.whole and many and n_distinct == facts.n_values and is_key(facts.name):
        return "identifier"
    return "numeric"


def is_key(name: str) -> bool:
    """Whether the name of a column has one of the words `NAMED_AS_KEY`.

    Examples
    --------
    >>> [is_key(name) for name in ("PassengerId", "row_id", "width", "Unnamed: 0")]
    [True, True, False, True]
    """
    words = {word.lower() for word in _WORD.findall(name)}
    return not words.isdisjoint(NAMED_AS_KEY) or words == {"unnamed"}


def column_facts(column: Column, *, thorough: bool = False) -> ColumnFacts:
    """Summarise a column.

    Parameters
    ----------
    column : Column
        The column.
    thorough : bool, default=False
        Whether to count the different values of numeric columns, too, for which it
        takes a sort; otherwise only where `feature_kind` needs it.

    Returns
    -------
    ColumnFacts
        The summary.
    """
    if column.data.dtype.kind in "iu" and column.is_numeric:
        observed = np.ones(0, dtype=np.bool_)
        n_values = column.n_rows
    else:
        observed = column.is_observed()
        n_values = int(np.count_nonzero(observed))
    if not column.is_numeric:
        codes = column.data[observed]
        counts = np.bincount(codes, minlength=len(column.categories))
        used = np.flatnonzero(counts)
        spelling, odd = find_spelling([column.categories[k] for k in used[:SAMPLED]])
        return ColumnFacts(
            column.name, "category", column.n_rows, n_values, len(used),
            column.ordered, spelling=spelling, odd=odd,
        )  # fmt: skip
    values = column.data if n_values == column.n_rows else column.data[observed]
    whole = column.unit is None and is_whole(values)
    exact = not whole or tells_apart(values)
    n_distinct = None
    if thorough or not exact or (whole and is_key(column.name)):
        n_distinct = len(np.unique(values))
    return ColumnFacts(
        column.name, column.unit or "number", column.n_rows, n_values, n_distinct,
        whole=whole, exact=exact,
    )  # fmt: skip


def is_whole(values: AnyArray) -> bool:
    """Whether all numbers are whole; a look at the first settles most columns."""
    if values.dtype.kind != "f":
        return True
    first = values[:64]
    if not (first == np.trunc(first)).all():
        return False
    return bool((values == np.trunc(values)).all())


def tells_apart(values: AnyArray) -> bool:
    """Whether whole numbers that differ are different floats."""
    if values.dtype.kind == "f" or values.dtype.itemsize < 8 or not len(values):
        return True
    low, high = int(values.min()), int(values.max())
    if max(-low, high) <= MAX_EXACT:
        return True
    return len(np.unique(values)) == len(np.unique(values.astype(np.float64)))


def find_spelling(categories: Sequence[State]) -> tuple[str | None, str | None]:
    """What most categories spell, if it is no text, and one that does not."""
    texts = [c for c in categories if not isinstance(c, bool)]
    if len(texts) <= MANY_NUMBERS:
        return None, None
    for spelling, pattern in SPELLINGS.items():
        others = (
            text
            for text in texts
            if isinstance(text, str) and not pattern.fullmatch(text.strip())
        )
        # Most columns of texts are known as such after a few of them.
        odd = list(islice(others, len(texts) // 4 + 1))
        if len(odd) <= len(texts) // 4 and len(texts) - len(odd) > MANY_NUMBERS:
            return spelling, odd[0] if odd else None
    return None, None
