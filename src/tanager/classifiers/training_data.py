"""Training data before they are coded, and the schemas made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.encoding.feature_schema import extend_variable
from tanager.encoding.frame import Frame, plain_state, read_frame
from tanager.encoding.labels import BY_EM, encode_labels
from tanager.errors import InputError
from tanager.model.schema import Schema, Variable
from tanager.types import FloatArray
from tanager.utils.validation import check_weights, is_number


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Checked features, labels and weights, without samples of weight zero.

    Parameters
    ----------
    frame : Frame
        The features.
    classes : ndarray of shape (n_found,)
        The classes that occur, sorted.
    labels : ndarray of unsigned int, shape (n_samples,)
        Positions in `classes`; their number where the label is missing.
    weights : ndarray of float64, shape (n_samples,), or None
        Sample weights; None means all one.
    target : str
        Name of the class variable: that of a named series, else "class".
    """

    frame: Frame
    classes: npt.NDArray[Any]
    labels: npt.NDArray[np.unsignedinteger]
    weights: FloatArray | None
    target: str

    def recode_labels(
        self, classes: npt.NDArray[Any]
    ) -> npt.NDArray[np.unsignedinteger]:
        """Labels as positions in `classes`, which must contain all that occur."""
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


def read_training_data(
    X: Any,
    y: Any,
    sample_weight: Any,
    who: str,
    *,
    allow_unlabelled: bool = False,
    advice: str = BY_EM,
) -> TrainingData:
    """Read and check the arguments of a fit; `advice` is that of `encode_labels`."""
    frame = read_frame(X)
    weights = check_weights(sample_weight, frame.n_rows)
    classes, labels = encode_labels(
        y, frame.n_rows, who, allow_missing=allow_unlabelled, advice=advice
    )
    if weights is not None and not weights.all():
        # A sample of weight zero adds no states, cuts or classes.
        rows = np.flatnonzero(weights)
        frame, weights, labels = frame.take(rows), weights[rows], labels[rows]
        found = np.unique(labels[labels < len(classes)])
        if not len(found):
            raise InputError(
                "Every labelled sample has weight 0. Give some of them a weight "
                "above 0."
            )
        positions = np.full(len(classes) + 1, len(found))
        positions[found] = np.arange(len(found))
        classes, labels = classes[found], positions[labels].astype(labels.dtype)
    name = getattr(y, "name", None)
    target = name if isinstance(name, str) and name else "class"
    return TrainingData(frame, classes, labels, weights, target)


def weight_by_class(
    class_weight: Any,
    classes: npt.NDArray[Any],
    labels: npt.NDArray[np.unsignedinteger],
    weights: FloatArray | None,
) -> FloatArray | None:
    """Multiply sample weights by the weight of each sample's class.

    "balanced" makes the total weight of every class that occurs the same. Unlabelled
    samples keep their weight.
    """
    if class_weight is None:
        return weights
    totals = np.bincount(labels, weights, len(classes) + 1)[: len(classes)]
    if isinstance(class_weight, str) and class_weight == "balanced":
        mean = totals.sum() / max(1, np.count_nonzero(totals))
        factors = np.divide(mean, totals, where=totals > 0, out=np.zeros(len(totals)))
    elif isinstance(class_weight, Mapping):
        # A rare class may be absent here; if all are absent, the names are wrong.
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
                f"class_weight={dict(class_weight)!r} gives all labelled samples the "
                "weight zero, so there is nothing to learn from. Give some class a "
                "weight above 0."
            )
    else:
        raise InputError(
            f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}."
        )
    by_sample: FloatArray = np.append(factors, 1.0)[labels]
    return by_sample if weights is None else weights * by_sample


def add_target(features: Schema, classes: npt.NDArray[Any], name: str) -> Schema:
    """Append a class variable, with underscores if a feature has its name."""
    while name in features.position:
        name += "_"
    states = tuple(plain_state(label) for label in classes)
    return Schema((*features.variables, Variable(name, states)), target=len(features))


def join_schemas(one: Schema, other: Schema, classes: npt.NDArray[Any]) -> Schema:
    """Join the schemas of two datasets with the same features and cut points."""
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
                "one fitted TableEncoder first, or start both from the same batch."
            )
        variables.append(extend_variable(mine, theirs.states))
    return add_target(Schema(tuple(variables)), classes, one.names[-1])


def join_classes(known: npt.NDArray[Any], fresh: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All classes, sorted; raises if labels are strings on one side only."""
    if (known.dtype.kind in "OU") != (fresh.dtype.kind in "OU"):
        raise InputError(
            f"The classes so far are {known.tolist()} and the new ones "
            f"{fresh.tolist()}: labels of different types. Convert them to one type."
        )
    return np.union1d(known, fresh)
