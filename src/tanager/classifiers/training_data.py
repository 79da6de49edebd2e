"""Training rows before they are coded, and the schemas they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.encoding.array_columns import plain_state
from tanager.encoding.labels import BY_EM, encode_labels
from tanager.encoding.numeric_encoders import check_weights
from tanager.encoding.state_union import extend_schema, joined_variable
from tanager.encoding.table import Table, as_table
from tanager.errors import InputError
from tanager.model.schema import Schema, Variable
from tanager.types import FloatArray
from tanager.utils.validation import is_number


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Checked rows, labels and weights; rows of weight zero are gone.

    Parameters
    ----------
    table : Table
        The features.
    classes : ndarray of shape (n_found,)
        The classes that occur, sorted.
    labels : ndarray of unsigned int, shape (n_rows,)
        Positions in `classes`; their number where the label is missing.
    weights : ndarray of float64, shape (n_rows,), or None
        Row weights; None means all one.
    """

    table: Table
    classes: npt.NDArray[Any]
    labels: npt.NDArray[np.unsignedinteger]
    weights: FloatArray | None

    @property
    def labels_for_cuts(self) -> npt.NDArray[Any]:
        """Labels for an encoder: NaN where they are missing."""
        gone = self.labels == len(self.classes)
        return np.where(gone, np.nan, self.labels) if gone.any() else self.labels

    def labels_by(self, classes: npt.NDArray[Any]) -> npt.NDArray[np.unsignedinteger]:
        """Labels as positions in `classes`, which must hold all that occur."""
        undeclared = np.setdiff1d(self.classes, classes)
        if len(undeclared):
            raise InputError(
                f"y has classes that were not declared: {undeclared.tolist()}; "
                f"declared are {classes.tolist()}."
            )
        dtype = np.min_scalar_type(len(classes))
        if len(classes) == len(self.classes):
            return self.labels.astype(dtype, copy=False)
        labels: npt.NDArray[np.unsignedinteger]
        positions = np.append(np.searchsorted(classes, self.classes), len(classes))
        labels = positions.astype(dtype)[self.labels]
        return labels


def training_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    who: str,
    *,
    allow_unlabelled: bool = False,
    advice: str = BY_EM,
) -> TrainingRows:
    """Read and check what a fit is given; labels may be missing if that is allowed.

    `advice` is what `encode_labels` takes.
    """
    table = as_table(X)
    weights = check_weights(sample_weight, table.n_rows)
    classes, labels = encode_labels(
        y, table.n_rows, who, allow_missing=allow_unlabelled, advice=advice
    )
    if weights is not None and not weights.all():
        # A row of weight zero is no row: it gives no states, cuts or classes.
        rows = np.flatnonzero(weights)
        table, weights, labels = table.take(rows), weights[rows], labels[rows]
        found = np.unique(labels[labels < len(classes)])
        if not len(found):
            raise InputError(
                "Every row with a label has weight 0; expected labelled rows that "
                "count. Give some of them a weight above 0."
            )
        positions = np.full(len(classes) + 1, len(found))
        positions[found] = np.arange(len(found))
        classes, labels = classes[found], positions[labels].astype(labels.dtype)
    return TrainingRows(table, classes, labels, weights)


def weighted_by_class(
    class_weight: Any,
    classes: npt.NDArray[Any],
    labels: npt.NDArray[np.unsignedinteger],
    weights: FloatArray | None,
) -> FloatArray | None:
    """Row weights times the weight of each row's class.

    "balanced" makes the total weight of every class that occurs the same. A row without
    a label keeps its weight.
    """
    if class_weight is None:
        return weights
    totals = np.bincount(labels, weights, len(classes) + 1)[: len(classes)]
    if isinstance(class_weight, str) and class_weight == "balanced":
        share = totals.sum() / max(1, np.count_nonzero(totals))
        factors = np.divide(share, totals, where=totals > 0, out=np.zeros(len(totals)))
    elif isinstance(class_weight, Mapping):
        # A rare class may be absent from these rows, but a wrong label never occurs.
        if class_weight and not any(
            label in class_weight for label in classes.tolist()
        ):
            raise InputError(
                f"None of the classes that class_weight names, {list(class_weight)}, "
                f"occurs; the classes are {classes.tolist()}."
            )
        given = [class_weight.get(label, 1.0) for label in classes.tolist()]
        if not all(is_number(factor) and factor >= 0 for factor in given):
            raise InputError(
                f"class_weight must hold finite numbers of at least 0, got "
                f"{dict(class_weight)!r}."
            )
        factors = np.array(given, dtype=np.float64)
        if not factors.any():
            raise InputError(
                f"class_weight={dict(class_weight)!r} gives all rows with a label the "
                "weight zero, so there is nothing to learn from. Give some class a "
                "weight above 0."
            )
    else:
        raise InputError(
            f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}."
        )
    by_row: FloatArray = np.append(factors, 1.0)[labels]
    return by_row if weights is None else weights * by_row


def target_name(y: Any) -> str:
    """Name of the class variable: that of a named series, else "class"."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "class"


def with_target(features: Schema, classes: npt.NDArray[Any], name: str) -> Schema:
    """The features and, last, a class variable with a name none of them has."""
    while name in features.position:
        name += "_"
    states = tuple(plain_state(label) for label in classes)
    return Schema((*features.variables, Variable(name, states)), target=len(features))


def names_only(table: Table, target: str) -> Schema:
    """The variables by name, before anything is known of their states."""
    features = Schema(tuple(Variable(name, ("?",)) for name in table.names))
    return with_target(features, np.array(["?"]), target)


def extended_schema(schema: Schema, table: Table, classes: npt.NDArray[Any]) -> Schema:
    """The schema with the categories of new rows and the given classes."""
    features = extend_schema(Schema(schema.variables[:-1]), table)
    return with_target(features, classes, schema.names[-1])


def joint_schema(one: Schema, other: Schema, classes: npt.NDArray[Any]) -> Schema:
    """The schema of two datasets with the same features and cut points."""
    if one.names[:-1] != other.names[:-1]:
        raise InputError(
            "Only classifiers of the same features, in the same order, can be merged."
        )
    variables = []
    for mine, theirs in zip(one.variables[:-1], other.variables[:-1], strict=True):
        if mine.cuts != theirs.cuts or mine.ordered != theirs.ordered:
            raise InputError(
                f"{mine.name!r} is cut at {mine.cuts} here and at {theirs.cuts} there; "
                "only classifiers with the same cut points can be merged. Encode with "
                "one fitted TableEncoder first, or start both from one portion."
            )
        variables.append(joined_variable(mine, theirs.states))
    return with_target(Schema(tuple(variables)), classes, one.names[-1])


def joined_classes(
    known: npt.NDArray[Any], fresh: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """All classes, sorted; an error where labels are strings on one side only."""
    if (known.dtype.kind in "OU") != (fresh.dtype.kind in "OU"):
        raise InputError(
            f"The classes so far are {known.tolist()} and now come {fresh.tolist()}: "
            "labels of different types. Convert them to one type."
        )
    return np.union1d(known, fresh)
