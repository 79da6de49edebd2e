"""Variables learned from the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tanager.encoding.column_alignment import MISSING_ONLY
from tanager.encoding.column_encoder import infinite, kernel_ready, read_only
from tanager.encoding.numeric_encoders import MAX_EXACT, NumericEncoder
from tanager.encoding.row_encoder import TASK_ROWS, EncodingPlan
from tanager.encoding.table import Column, Table
from tanager.errors import InputError
from tanager.model.schema import Schema, State, Variable
from tanager.types import BoolArray, CodeArray, FloatArray, LabelArray
from tanager.utils.jit import use_kernels
from tanager.utils.threads import map_threads, row_blocks


@dataclass(frozen=True)
class Role:
    """What the user says about one column.

    Parameters
    ----------
    categorical : bool, default=False
        Categories even if the values are numbers.
    ordered : bool, default=False
        The categories are ordered.
    categories : tuple of str, int, float or bool, or None
        The categories in order, if they are given.
    """

    categorical: bool = False
    ordered: bool = False
    categories: tuple[State, ...] | None = None


def sorted_states(states: Iterable[State]) -> tuple[State, ...]:
    """Sort categories: numbers by value, then strings by code point.

    Examples
    --------
    >>> sorted_states(["b", 10, 9.5, "a"])
    (9.5, 10, 'a', 'b')
    """
    found = list(states)
    numbers = sorted(state for state in found if not isinstance(state, str))
    return *numbers, *sorted(state for state in found if isinstance(state, str))


def occurring_states(column: Column) -> tuple[State, ...]:
    """Categories that occur in a column, sorted; declared ones all, as declared.

    Whole numbers stored as floats, as in a column of integers with missing cells,
    are integers.

    Parameters
    ----------
    column : Column
        Categories or numbers.

    Returns
    -------
    tuple of str, int, float or bool
        Empty if every cell is missing.
    """
    if not column.is_numeric:
        if column.declared:
            return column.categories
        return sorted_states(_used_categories(column))
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


def fit_variable(
    column: Column,
    role: Role,
    encoder: NumericEncoder,
    labels: LabelArray | None,
    weights: FloatArray | None,
) -> Variable:
    """Learn one variable from its column.

    Parameters
    ----------
    column : Column
        The training rows.
    role : Role
        What the user says about it.
    encoder : NumericEncoder
        Finds the cuts of numbers.
    labels : ndarray of shape (n_rows,), integer, or None
        Class of every row, -1 where it is missing.
    weights : ndarray of shape (n_rows,), float64, or None
        Frequency of every row.

    Returns
    -------
    Variable
        A column without a value has one state.
    """
    if column.is_numeric and not role.categorical:
        if column.data.dtype.kind == "f" and np.isinf(column.data).any():
            raise infinite(column.name)
        cuts = encoder.cuts_of(column.data, labels, weights)
        return Variable.binned(column.name, cuts.tolist())
    return category_variable(column, role, occurring_states(column))


def category_variable(column: Column, role: Role, found: tuple[State, ...]) -> Variable:
    """Make the variable of a categorical column from the states found in it."""
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


def fit_table(
    table: Table,
    roles: Sequence[Role],
    encoder: NumericEncoder,
    labels: LabelArray | None = None,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
    keep_codes: bool = False,
) -> tuple[Schema, CodeArray | None]:
    """Learn the schema of a table and, in the same pass, its codes.

    Parameters
    ----------
    table : Table
        The training rows.
    roles : sequence of Role
        One for every column.
    encoder : NumericEncoder
        Finds the cuts of numbers.
    labels : ndarray of shape (n_rows,), integer, or None
        Class of every row, -1 where it is missing; needed if the encoder uses them.
    weights : ndarray of shape (n_rows,), float64, or None
        Frequency of every row; rows of weight 0 count for nothing.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    keep_codes : bool, default=False
        Whether to return the codes too.

    Returns
    -------
    schema : Schema
        The features, without a target.
    codes : ndarray of shape (n_rows, n_columns), unsigned, column-major, or None
        As `encode_table` would give them.
    """
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        schema, _ = fit_table(
            table.take(kept),
            roles,
            encoder,
            None if labels is None else labels[kept],
            weights[kept],
            n_jobs=n_jobs,
        )
        if not keep_codes:
            return schema, None
        return schema, EncodingPlan(table, schema.variables).encode(n_jobs=n_jobs)

    columns = [table.column(j) for j in range(table.n_columns)]
    candidates = [
        j
        for j, (column, role) in enumerate(zip(columns, roles, strict=True))
        if column.is_numeric and role.categorical and kernel_ready(column.data)
    ]
    codes: CodeArray | None = None
    scanned: dict[int, BoolArray] = {}
    if candidates and use_kernels(len(candidates) * table.n_rows):
        if keep_codes:
            codes = np.empty(table.shape, dtype=np.uint8, order="F")
        scanned = _scan(table, candidates, codes, n_jobs)

    def learn(j: int) -> Variable:
        if j in scanned:
            found = tuple(np.flatnonzero(scanned[j][:255]).tolist())
            return category_variable(columns[j], roles[j], found)
        return fit_variable(columns[j], roles[j], encoder, labels, weights)

    schema = Schema(tuple(map_threads(learn, range(len(columns)), n_jobs)))
    if not keep_codes:
        return schema, None
    plan = EncodingPlan(table, schema.variables)
    if codes is None or plan.dtype != codes.dtype:
        return schema, plan.encode(n_jobs=n_jobs)
    plan.fill(codes, [j for j in range(len(columns)) if j not in scanned], 0, n_jobs)
    _recode(codes, schema, scanned, n_jobs)
    return schema, codes


def _scan(
    table: Table,
    candidates: Sequence[int],
    codes: CodeArray | None,
    n_jobs: int | None,
) -> dict[int, BoolArray]:
    """Copy columns of small whole numbers into `codes` and note which occur.

    Returns
    -------
    dict from int to ndarray of shape (256,), bool
        For the columns where it worked, which numbers occur (255: missing).
    """
    from tanager.encoding._kernels import scan, scan_block

    def work(rows: tuple[int, int]) -> tuple[BoolArray, BoolArray]:
        first, last = rows
        present = np.zeros((table.n_columns, 256), dtype=np.bool_)
        failed = np.zeros(table.n_columns, dtype=np.bool_)
        if codes is not None:
            out = codes[first:last]
        else:
            out = np.empty((last - first, table.n_columns), dtype=np.uint8, order="F")
        if table.matrix is not None:
            chosen = np.array(candidates, dtype=np.int64)
            scan_block(
                read_only(table.matrix[first:last]), chosen, out, present, failed
            )
        else:
            for j in candidates:
                block = read_only(table.column(j).data[first:last])
                failed[j] = not scan(block, out[:, j], present[j])
        return present, failed

    results = map_threads(work, row_blocks(table.n_rows, TASK_ROWS), n_jobs)
    present = np.logical_or.reduce([found for found, _ in results])
    failed = np.logical_or.reduce([failed for _, failed in results])
    return {j: present[j] for j in candidates if not failed[j]}


def _recode(
    codes: CodeArray,
    schema: Schema,
    scanned: dict[int, BoolArray],
    n_jobs: int | None,
) -> None:
    """Turn numbers into codes where they are not the same already."""
    from tanager.encoding._kernels import recode

    def work(j: int) -> None:
        table = np.full(256, schema[j].n_states, dtype=np.uint8)
        for code, state in enumerate(schema[j].states):
            if not isinstance(state, str) and state in range(255):
                table[int(state)] = code
        used = np.flatnonzero(scanned[j])
        if not np.array_equal(table[used], used):
            recode(codes[:, j], table)

    map_threads(work, scanned, n_jobs)
