"""Columns that came, matched to the variables of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanager.classifiers import BayesNetClassifier, BoostedClassifier, load
from tanager.cli._input_data import Data, text_among
from tanager.encoding.column_facts import is_whole
from tanager.encoding.date_parts import restore_date_parts
from tanager.encoding.frame import Column, Frame, coded_column
from tanager.errors import InputError, unknown_name
from tanager.io.csv_text import number_in
from tanager.model.schema import State, Variable
from tanager.network import AnyNetwork
from tanager.utils.text import escape_controls
from tanager.utils.time_values import time_texts

_UNUSUAL = re.compile(r"\+\d+|-?0\d+|-0")  # other than the usual whole numbers


def load_classifier(
    path: str, jobs: int | None = None, target: str | None = None
) -> BayesNetClassifier | BoostedClassifier:
    """Read a classifier from a file; a network becomes one by its target.

    `jobs` is not part of a model file. `target` is by default that of the file.
    """
    found = load(path)
    if target is not None:
        found = with_target(found, target, path)
    if not isinstance(found, (BayesNetClassifier, BoostedClassifier)):
        if found.schema.target is None:
            raise InputError(
                f"The model '{path}' has no target variable, so it cannot classify; "
                "choose the variable to predict with --target."
            )
        found = BayesNetClassifier.from_network(found)
    threads = [name for name in found.get_params() if name.endswith("n_jobs")]
    found.set_params(**dict.fromkeys(threads, jobs))
    return found


def with_target(
    found: BayesNetClassifier | BoostedClassifier | AnyNetwork, target: str, path: str
) -> BayesNetClassifier | BoostedClassifier | AnyNetwork:
    """Replace the target; only the network is left of a classifier then."""
    if isinstance(found, (BayesNetClassifier, BoostedClassifier)):
        network = found.networks_[0]
    else:
        network = found
    position = network.schema.index(target)
    if position == network.schema.target:
        return found
    if isinstance(found, BoostedClassifier):
        raise InputError(
            f"The networks in '{path}' are an ensemble for their own target and "
            f"cannot predict {target!r}; leave out --target."
        )
    return network.with_target_last(target)


def text_columns(variables: Sequence[Variable]) -> list[str]:
    """Names of the categorical variables, read as text: ``01`` may not be ``1``."""
    return [variable.name for variable in variables if variable.cuts is None]


def features_for(data: Data, variables: Sequence[Variable]) -> tuple[Frame, list[str]]:
    """Columns in the order and of the types that a model expects.

    Also returns the features without a column, which are missing in every row; other
    columns are ignored.
    """
    table = restore_date_parts(data.table, [variable.name for variable in variables])
    names = table.names
    absent = [variable.name for variable in variables if variable.name not in names]
    if len(absent) == len(variables):
        expected = ", ".join(map(repr, absent[:5])) + (", ..." if absent[5:] else "")
        raise InputError(
            f"None of the model's features ({expected}) is a column of {data.name!r}; "
            "is it the right file, with the names of the columns in its first row?"
        )
    columns = []
    for variable in variables:
        if variable.name in absent:
            nothing = np.full(table.n_rows, np.nan)
            columns.append(Column(variable.name, values=nothing))
        else:
            column = table.column(names.index(variable.name))
            columns.append(as_variable(column, variable))
    picked = tuple(column.name for column in columns)
    return Frame(picked, table.n_rows, tuple(columns), None, True), absent


def absent_note(source: str, absent: Sequence[str]) -> str:
    """Note which features have no column, the first five by name."""
    shown = ", ".join(map(repr, absent[:5]))
    more = f" and {len(absent) - 5:,} more" if absent[5:] else ""
    columns, count = (
        ("columns", "they count") if absent[1:] else ("column", "it counts")
    )
    return (
        f"Note: {source} has no {columns} {shown}{more}; {count} as missing in every "
        "row."
    )


def join_columns(kept: dict[str, Any], predicted: dict[str, Any]) -> dict[str, Any]:
    """Columns to copy and predictions, which must have other names."""
    both = [name for name in kept if name in predicted]
    if both:
        raise InputError(
            f"The data have a column {both[0]!r}, and so have the predictions; rename "
            "it in the data, or leave out --keep for it."
        )
    return kept | predicted


def kept_columns(
    table: Frame, names: Sequence[str], *, to_terminal: bool = False
) -> dict[str, list[Any]]:
    """Columns of a table to copy to a file, None where a value is missing.

    Control characters in names and values are escaped for a terminal.
    """
    found: dict[str, list[Any]] = {}
    for name in names:
        if name not in table.names:
            raise unknown_name("column to keep", name, table.names)
        column = table.column(table.names.index(name))
        observed = column.is_observed()
        values: list[Any] = column.data[observed].tolist()
        if column.unit is not None:
            values = time_texts(values, column.unit)
        elif not column.is_numeric:
            values = [column.categories[code] for code in values]
        elif is_whole(column.data[observed]):
            values = [int(value) for value in values]
        if to_terminal:
            name = escape_controls(name)
            values = [escape_controls(v) if isinstance(v, str) else v for v in values]
        cells = np.full(column.n_rows, None, dtype=object)
        cells[observed] = values
        found[name] = cells.tolist()
    return found


def as_variable(column: Column, variable: Variable) -> Column:
    """Convert the values of a column to the types of the states of a variable.

    The type of a column depends on the file: CSV has no bools, and a column of 1, 2 and
    x is text where one of 1 and 2 is numeric. A value that is no state is kept, as an
    unknown category.
    """
    if variable.is_left_out:
        return column
    if variable.cuts is not None:
        if column.codes is not None and (column.codes >= 0).any():
            text = text_among(column)
            raise InputError(
                f"Column {variable.name!r} holds text such as {text!r}, but "
                f"the model has {_feature_text(variable)} there. Correct the column, "
                "or use --missing if such text means a missing value."
            )
        return column
    numbers = {_spelling(s): s for s in variable.states if not isinstance(s, str)}
    if column.values is None:
        found: list[State] = list(column.categories)
        codes = column.data
    elif len(numbers) == variable.n_values:
        return column
    else:
        distinct, codes = np.unique(column.values, return_inverse=True)
        found = distinct.tolist()
    states = [_state(value, variable, numbers) for value in found]
    return coded_column(column.name, codes, states)


def _feature_text(variable: Variable) -> str:
    return "a numeric feature" if variable.unit is None else "dates or times"


def _state(value: State, variable: Variable, numbers: Mapping[str, State]) -> State:
    """The state that a value stands for in another type, or the value itself."""
    if value in variable.code_by_state:
        return value
    if isinstance(value, str):
        # "01" may be another category than "1", and was when the model was fitted.
        if _UNUSUAL.fullmatch(value):
            return value
        if (spelled := numbers.get(_spelling(value))) is not None:
            return spelled
        # As in Python, 1 and 0 are also True and False.
        code = variable.code_by_state.get(number_in(value))
        return value if code is None else variable.states[code]
    for text in (_spelling(value), str(value)):
        if text in variable.code_by_state:
            return text
    return value


def _spelling(value: State) -> str:
    """One text for all spellings of a number or bool; other text as it is."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower()
    if isinstance(value, bool):
        return str(value).lower()
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return str(value)
    return str(int(number)) if number.is_integer() else repr(number)


def read_classes(rows: Data, of_class: Variable) -> list[Any] | None:
    """The class of every sample, None where it is missing; None without a column."""
    table = rows.table
    if of_class.name not in table.names:
        return None
    column = as_variable(table.column(table.names.index(of_class.name)), of_class)
    if column.values is not None:
        numbers = column.values.tolist()
        return [None if value != value else value for value in numbers]
    categories = np.array([*column.categories, None], dtype=object)
    return list(categories[column.data])
