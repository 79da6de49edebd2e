"""Checks of the features at prediction time against those seen by `fit`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanager.encoding.frame import Column, Frame
from tanager.errors import DataWarning, InputError, listed, unknown_name
from tanager.model.schema import Schema, State, Variable
from tanager.types import CodeArray

MANY_VALUES = 10
"""Values of a column from which on all of them being unknown is worth a warning."""


def record_features(estimator: Any, names: Sequence[str], *, has_names: bool) -> None:
    """Set `n_features_in_`, and `feature_names_in_` if the columns have names."""
    estimator.n_features_in_ = len(names)
    if has_names:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_features(estimator: Any, frame: Frame) -> None:
    """Compare number and names of the columns with those of a fitted estimator.

    This is scikit-learn's check with its messages, for every type of input alike.
    """
    who = type(estimator).__name__
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and frame.has_names:
        _check_names(frame.names, tuple(fitted))
    elif frame.has_names:
        warnings.warn(
            f"X has feature names, but {who} was fitted without feature names",
            UserWarning,
            stacklevel=3,
        )
    elif fitted is not None:
        warnings.warn(
            f"X does not have valid feature names, but {who} was fitted with feature "
            "names",
            UserWarning,
            stacklevel=3,
        )
    if frame.n_columns != estimator.n_features_in_:
        raise InputError(
            f"X has {frame.n_columns} features, but {who} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def _check_names(names: tuple[str, ...], fitted: tuple[str, ...]) -> None:
    """Raise unless the names are those of fit, in the order of fit."""
    if names == fitted:
        return
    unexpected = sorted(set(names) - set(fitted))
    absent = sorted(set(fitted) - set(names))
    message = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        message += f"Feature names unseen at fit time:\n{_bullets(unexpected)}"
    if absent:
        message += (
            f"Feature names seen at fit time, yet now missing:\n{_bullets(absent)}"
        )
    if not unexpected and not absent:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)


def _bullets(names: Sequence[str]) -> str:
    more = "- ...\n" if len(names) > 5 else ""
    return "".join(f"- {name}\n" for name in names[:5]) + more


def match_features(frame: Frame, names: Sequence[str], who: str) -> Frame:
    """Select the columns of a named frame by the names of fit, in any order.

    Absent columns are missing in every row, with a warning; others are ignored. `who`
    names the estimator. A frame that shares no name with `names` raises `InputError`.
    """
    if frame.names == tuple(names):
        return frame
    known = set(frame.names)
    absent = [name for name in names if name not in known]
    others = sorted(known.difference(names))
    if len(absent) == len(names):
        raise InputError(
            "The feature names should match those that were passed during fit: none of "
            f"{listed(absent, 5)} is a column of X, which has {listed(others, 5)}. "
            "Rename the columns."
        )
    if absent:
        several = len(absent) > 1
        hint = f" Columns unseen in fit: {listed(others, 5)}." if others else ""
        warnings.warn(
            f"X lacks the column{'s' * several} {listed(absent, 5)} that {who} was "
            f"fitted with; {'they are' if several else 'it is'} missing in every "
            f"sample.{hint} Add or rename columns if they have values.",
            DataWarning,
            stacklevel=3,
        )
    return _pick_columns(frame, names)


def _pick_columns(frame: Frame, names: Sequence[str]) -> Frame:
    """Columns by name, missing in every row where there is none."""
    positions = {name: j for j, name in enumerate(frame.names)}
    nothing = np.full(frame.n_rows, np.nan)
    columns = tuple(
        frame.column(positions[name])
        if name in positions
        else Column(name, values=nothing)
        for name in names
    )
    return Frame(tuple(names), frame.n_rows, columns, None, True)


def select_features(frame: Frame, schema: Schema) -> Frame:
    """Select the columns of a named frame by the names of a network's features.

    The columns may be in any order, and that of the target is ignored; an absent column
    is missing in every row. The target is the last variable of the schema.
    """
    features = schema.names[:-1]
    if frame.names == features:
        return frame
    for name in frame.names:
        if name not in schema.position:
            raise InputError(
                f"{unknown_name('column', name, schema.names)} Columns are matched by "
                "name with the variables of the network; rename or drop this one."
            )
    return _pick_columns(frame, features)


def refuse_missing(frame: Frame) -> None:
    """Raise if any value is missing (``missing="error"``)."""
    for j in range(frame.n_columns):
        column = frame.column(j)
        observed = column.is_observed()
        if not observed.all():
            raise InputError(
                f"Column {column.name!r} has {int((~observed).sum())} missing value(s),"
                f" the first in row {int(observed.argmin())}, and missing='error' was "
                "given. Impute them, or use missing='marginalize'."
            )


def refuse_unknown(
    frame: Frame, variables: Sequence[Variable], codes: CodeArray, start: int
) -> None:
    """Raise if an observed value is unknown (``unknown="error"``).

    `variables` are those at fit, `codes` (n_rows, n_columns) those of the rows of
    `frame` from `start` on.
    """
    for j, variable in enumerate(variables):
        rows = np.flatnonzero(codes[:, j] == variable.n_states) + start
        if not len(rows):
            continue
        column = frame.column(j)
        observed = column.is_observed(rows)
        if observed.any():
            row = int(rows[observed.argmax()])
            value = column.data[row]
            shown = value if column.is_numeric else column.categories[int(value)]
            raise InputError(
                f"Column {variable.name!r} has the value {shown!r} in row {row}, which "
                "did not occur in fit, and unknown='error' was given. Use "
                "unknown='marginalize' to treat it as missing."
            )


def warn_of_unknown(frame: Frame, variables: Sequence[Variable]) -> None:
    """Warn of columns of which no value is a known category.

    A new category in a sample is no mistake. But a column without any known category is
    one if a value nearly matches, for example ``"Yes"`` where a category is ``"yes"``,
    or if it has many values.
    """
    if frame.columns is None:  # numbers
        return
    found = [
        (variable, *shown)
        for column, variable in zip(frame.columns, variables, strict=True)
        if variable.cuts is None
        and column.unit is None
        and (shown := _unknown_value(column, variable)) is not None
    ]
    if found:
        variable, value, near = found[0]
        more = f" The same holds for {len(found) - 1} more column(s)."
        known = f"known are {listed(variable.value_states, 5)}"
        if near is not None:
            known = (
                f"which nearly matches the category {near!r} (of type "
                f"{type(near).__name__})"
            )
        warnings.warn(
            f"No value of column {variable.name!r} is a known category: it holds "
            f"{value!r} (of type {type(value).__name__}), {known}. All its values are "
            "treated as missing; write them like the categories of fit."
            f"{more if found[1:] else ''}",
            DataWarning,
            stacklevel=3,
        )


def _unknown_value(
    column: Column, variable: Variable
) -> tuple[State, State | None] | None:
    """A value, and the state it nearly matches if any, if no value is a state."""
    if column.is_numeric:
        observed = column.is_observed()
        if np.count_nonzero(observed) < MANY_VALUES:
            return None
        values = np.unique(column.data[observed]).tolist()
        if any(value in variable.code_by_state for value in values):
            return None
        return values[0], None
    if any(variable.category_code(c) < variable.n_states for c in column.categories):
        return None
    texts = {str(state).casefold(): state for state in reversed(variable.value_states)}
    for code, category in enumerate(column.categories):
        state = texts.get(str(category).casefold())
        if state is not None and (column.data == code).any():
            return category, state
    observed = column.is_observed()
    if np.count_nonzero(observed) < MANY_VALUES:
        return None
    return column.categories[int(column.data[observed.argmax()])], None
