"""The schema of the features: learned from a frame, extended by further data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tanager.encoding.encoding_plan import (
    MISSING_ONLY,
    TASK_ROWS,
    EncodingPlan,
    check_kind,
    infinite,
    kernel_ready,
    read_only,
)
from tanager.encoding.frame import Column, Frame
from tanager.encoding.numeric_encoders import MAX_EXACT, NumericEncoder
from tanager.errors import InputError
from tanager.model.schema import Schema, State, Variable
from tanager.types import BoolArray, CodeArray, FloatArray, LabelArray
from tanager.utils.jit import use_kernels
from tanager.utils.threads import map_threads, row_blocks


@dataclass(frozen=True)
class Role:
    """What the arguments of an encoder say about one column.

    Parameters
    ----------
    categorical : bool, default=False
        Whether the values are categories even if they are numbers.
    ordered : bool, default=False
        Whether the categories are ordered.
    categories : tuple of str, int, float or bool, or None
        The categories in order, if they are given.
    """

    categorical: bool = False
    ordered: bool = False
    categories: tuple[State, ...] | None = None


def fit_schema(
    frame: Frame,
    roles: Sequence[Role],
    encoder: NumericEncoder,
    labels: LabelArray | None = None,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
    keep_codes: bool = False,
) -> tuple[Schema, CodeArray | None]:
    """Learn the schema of a frame and, in the same pass, its codes.

    Parameters
    ----------
    frame : Frame
        The training data.
    roles : sequence of Role
        One for every column.
    encoder : NumericEncoder
        Finds the cuts of numeric columns.
    labels : ndarray of shape (n_rows,), integer, or None
        Class of every row, -1 where it is missing; needed if the encoder uses them.
    weights : ndarray of shape (n_rows,), float64, or None
        Frequency of every row; rows of weight 0 are ignored.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    keep_codes : bool, default=False
        Whether to return the codes too.

    Returns
    -------
    schema : Schema
        The features, without a target. A column without a value has one state.
    codes : ndarray of shape (n_rows, n_columns), unsigned, column-major, or None
        As `EncodingPlan.encode` gives them.
    """
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        schema, _ = fit_schema(
            frame.take(kept),
            roles,
            encoder,
            None if labels is None else labels[kept],
            weights[kept],
            n_jobs=n_jobs,
        )
        if not keep_codes:
            return schema, None
        return schema, EncodingPlan(frame, schema.variables).encode(n_jobs=n_jobs)

    columns = [frame.column(j) for j in range(len(roles))]
    candidates = [
        j
        for j, (column, role) in enumerate(zip(columns, roles, strict=True))
        if column.is_numeric and role.categorical and kernel_ready(column.data)
    ]
    codes: CodeArray | None = None
    scanned: dict[int, BoolArray] = {}
    if candidates and use_kernels(len(candidates) * frame.n_rows):
        if keep_codes:
            shape = (frame.n_rows, len(columns))
            codes = np.empty(shape, dtype=np.uint8, order="F")
        scanned = _scan(frame, candidates, codes, n_jobs)

    def fit_variable(j: int) -> Variable:
        column, role = columns[j], roles[j]
        if column.is_numeric and not role.categorical:
            if column.data.dtype.kind == "f" and np.isinf(column.data).any():
                raise infinite(column.name)
            cuts = encoder.cuts_of(column.data, labels, weights)
            return Variable.binned(column.name, cuts.tolist())
        found: tuple[State, ...]
        if j in scanned:
            found = tuple(np.flatnonzero(scanned[j][:255]).tolist())
        else:
            found = _occurring_states(column)
        return _categorical_variable(column, role, found)

    schema = Schema(tuple(map_threads(fit_variable, range(len(columns)), n_jobs)))
    if not keep_codes:
        return schema, None
    plan = EncodingPlan(frame, schema.variables)
    if codes is None or plan.dtype != codes.dtype:
        return schema, plan.encode(n_jobs=n_jobs)
    others = [j for j in range(len(columns)) if j not in scanned]
    plan.encode(columns=others, out=codes, n_jobs=n_jobs)
    _recode(codes, schema, scanned, n_jobs)
    return schema, codes


def _categorical_variable(
    column: Column, role: Role, found: tuple[State, ...]
) -> Variable:
    """The variable of a categorical column from the states found in it."""
    states = found
    if role.categories is not None:
        known = set(role.categories)
        used = _used_categories(column) if column.declared else found
        other = [state for state in used if state not in known]
        if other:
            raise InputError(
                f"Column {column.name!r} holds {other[0]!r}, which is not among the "
                f"categories given in ordinal_features: {list(role.categories)}."
            )
        states = role.categories
    ordered = column.ordered or role.ordered
    return Variable(column.name, states or (MISSING_ONLY,), ordered=ordered)


def _occurring_states(column: Column) -> tuple[State, ...]:
    """Categories that occur in a column, sorted; all declared ones, in their order.

    Whole numbers stored as floats, as in a column of integers with missing values,
    become integers. Empty if every cell is missing.
    """
    if not column.is_numeric:
        if column.declared:
            return column.categories
        return sort_states(_used_categories(column))
    values = column.data
    if values.dtype.kind == "f":
        values = values[~np.isnan(values)]
    found = np.unique(values)
    if found.dtype.kind == "f":
        found = found.astype(np.float64)
        if np.isinf(found).any():
            raise infinite(column.name)
        if (found == np.trunc(found)).all() and (np.abs(found) <= MAX_EXACT).all():
            found = found.astype(np.int64)
    return tuple(found.tolist())


def _used_categories(column: Column) -> list[State]:
    codes = column.data
    counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
    return [column.categories[i] for i in np.flatnonzero(counts)]


def sort_states(states: Iterable[State]) -> tuple[State, ...]:
    """Sort categories: numbers by value, then strings by code point.

    Examples
    --------
    >>> sort_states(["b", 10, 9.5, "a"])
    (9.5, 10, 'a', 'b')
    """
    found = list(states)
    numbers = sorted(state for state in found if not isinstance(state, str))
    return *numbers, *sorted(state for state in found if isinstance(state, str))


def _scan(
    frame: Frame,
    candidates: Sequence[int],
    codes: CodeArray | None,
    n_jobs: int | None,
) -> dict[int, BoolArray]:
    """Copy columns of small integers into `codes` and mark those that occur.

    Returns, for the columns that hold integers from 0 to 254 only, which of them occur
    (255: missing), shape (256,).
    """
    from tanager.encoding._kernels import scan, scan_block

    def scan_rows(rows: tuple[int, int]) -> tuple[BoolArray, BoolArray]:
        first, last = rows
        present = np.zeros((frame.n_columns, 256), dtype=np.bool_)
        failed = np.zeros(frame.n_columns, dtype=np.bool_)
        if codes is not None:
            out = codes[first:last]
        else:
            out = np.empty((last - first, frame.n_columns), dtype=np.uint8, order="F")
        if frame.matrix is not None:
            chosen = np.array(candidates, dtype=np.int64)
            scan_block(
                read_only(frame.matrix[first:last]), chosen, out, present, failed
            )
        else:
            for j in candidates:
                block = read_only(frame.column(j).data[first:last])
                failed[j] = not scan(block, out[:, j], present[j])
        return present, failed

    results = map_threads(scan_rows, row_blocks(frame.n_rows, TASK_ROWS), n_jobs)
    present = np.logical_or.reduce([found for found, _ in results])
    failed = np.logical_or.reduce([failed for _, failed in results])
    return {j: present[j] for j in candidates if not failed[j]}


def _recode(
    codes: CodeArray,
    schema: Schema,
    scanned: dict[int, BoolArray],
    n_jobs: int | None,
) -> None:
    """Turn scanned integers into codes where they differ."""
    from tanager.encoding._kernels import recode

    def recode_column(j: int) -> None:
        table = np.full(256, schema[j].n_states, dtype=np.uint8)
        for code, state in enumerate(schema[j].states):
            if not isinstance(state, str) and state in range(255):
                table[int(state)] = code
        used = np.flatnonzero(scanned[j])
        if not np.array_equal(table[used], used):
            recode(codes[:, j], table)

    map_threads(recode_column, scanned, n_jobs)


def extend_schema(schema: Schema, frame: Frame) -> Schema:
    """Add the categories of new data to the variables; bins stay.

    Parameters
    ----------
    schema : Schema
        The features so far.
    frame : Frame
        New data, the columns in the same order.

    Returns
    -------
    Schema
        The same variables, extended as by `extend_variable`.

    Examples
    --------
    >>> from tanager.encoding import read_frame
    >>> known = Schema((Variable("sky", ("blue", "grey")),))
    >>> extend_schema(known, read_frame([["red"], ["blue"]]))[0].states
    ('blue', 'grey', 'red')
    """
    variables = []
    for j, variable in enumerate(schema.variables):
        column = frame.column(j)
        check_kind(column, variable)
        if variable.cuts is None:
            untyped = variable.states == (MISSING_ONLY,)
            if untyped and column.is_numeric and column.is_observed().any():
                raise InputError(
                    f"Column {variable.name!r} had no value in the first batch, so it "
                    "was taken as categorical, and now it is numeric. Begin with a "
                    "batch in which it has values, or give it a numeric type from the "
                    "start."
                )
            variable = extend_variable(variable, _occurring_states(column))
        variables.append(variable)
    return replace(schema, variables=tuple(variables))


def extend_variable(known: Variable, states: tuple[State, ...]) -> Variable:
    """Add states to a categorical variable; a discretised one stays as it is.

    Sorted states stay sorted; otherwise new ones come last. Ordered states take a new
    order only if it contains the old one.

    Examples
    --------
    >>> extend_variable(Variable("sky", ("blue", "red")), ("green", "red")).states
    ('blue', 'green', 'red')
    """
    if known.cuts is not None or states in ((), (MISSING_ONLY,)):
        return known
    if known.states == (MISSING_ONLY,):
        return replace(known, states=states)
    fresh = [state for state in states if state not in known.code_by_state]
    if not fresh:
        return known
    if known.ordered:
        if tuple(s for s in states if s in known.code_by_state) == known.states:
            return replace(known, states=states)
        raise InputError(
            f"The states of {known.name!r} are ordered, {list(known.states)}, and "
            f"{fresh[0]!r} has no place among them. Declare all categories in order "
            "from the start."
        )
    together = (*known.states, *fresh)
    if known.states == sort_states(known.states):
        together = sort_states(together)
    return replace(known, states=together)
