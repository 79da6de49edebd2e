"""How learners see incomplete rows: by the fastest exact sums that there are."""

from __future__ import annotations

from tanager.errors import TableSizeError
from tanager.inference.junction_expectations import JunctionExpectations
from tanager.inference.junction_tree import JunctionTree
from tanager.inference.observed_families import WholeFamilies
from tanager.inference.tree import is_forest
from tanager.inference.tree_expectations import ForestExpectations
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema

ExactExpectations = ForestExpectations | JunctionExpectations
Expectations = ExactExpectations | WholeFamilies


def exact_expectations(
    layout: FamilyLayout, schema: Schema | None = None
) -> ExactExpectations:
    """Sums over what is missing, for tables of any structure.

    Parameters
    ----------
    layout : FamilyLayout
        The tables.
    schema : Schema or None, default=None
        Names of the variables, for messages.

    Raises
    ------
    TableSizeError
        If the structure is no forest and its junction tree is too large.

    Examples
    --------
    >>> tree = FamilyLayout.of_families((2, 2, 2), ((2, 0), (2, 0, 1), (2,)), 2)
    >>> type(exact_expectations(tree)).__name__
    'ForestExpectations'
    >>> effect = FamilyLayout.of_families((2, 2, 2), ((0,), (1,), (0, 1, 2)), 2)
    >>> type(exact_expectations(effect)).__name__
    'JunctionExpectations'
    """
    if is_forest(layout) and len(layout.class_tables) == layout.n_tables:
        return ForestExpectations.of(layout)
    return JunctionExpectations(JunctionTree.of(layout, schema))


def expectations_of(layout: FamilyLayout, schema: Schema | None = None) -> Expectations:
    """Exact sums, or the families that are observed whole if sums are too large.

    The second is for learners that maximise what rows say of the class, where the class
    is the root and a parent of every feature; other structures with too large a
    junction tree are refused as in `exact_expectations`.
    """
    try:
        return exact_expectations(layout, schema)
    except TableSizeError:
        if len(layout.class_tables) < layout.n_tables:
            raise
        return WholeFamilies.of(layout)
