"""`fit_schema`: the variables of a frame and, in the same pass, its codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.encoding.column_roles import Role
from tanager.encoding.encoding_plan import (
    TASK_ROWS,
    EncodingPlan,
    infinite,
    kernel_ready,
    read_only,
)
from tanager.encoding.feature_states import (
    categorical_variable,
    occurring_states,
    used_categories,
)
from tanager.encoding.frame import Frame, as_categories
from tanager.encoding.numeric_encoders import NumericEncoder
from tanager.model.schema import Schema, State, Variable
from tanager.types import BoolArray, CodeArray, FloatArray, LabelArray
from tanager.utils import jit
from tanager.utils.threads import map_threads, row_blocks
from tanager.utils.time_values import round_times


def fit_schema(
    frame: Frame,
    roles: Sequence[Role],
    encoder: NumericEncoder,
    labels: LabelArray | None = None,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
    keep_codes: bool = False,
    missing_state: bool = False,
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
    missing_state : bool, default=False
        Whether columns with both values and missing values get a state for the latter.

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
            missing_state=missing_state,
        )
        if not keep_codes:
            return schema, None
        return schema, EncodingPlan(frame, schema).encode(n_jobs=n_jobs)

    columns = [frame.column(j) for j in range(len(roles))]
    candidates = [
        j
        for j, (column, role) in enumerate(zip(columns, roles, strict=True))
        if column.is_numeric
        and column.unit is None
        and role.categorical
        and kernel_ready(column.data)
    ]
    codes: CodeArray | None = None
    scanned: dict[int, BoolArray] = {}
    if candidates and len(candidates) * frame.n_rows > jit.SMALL_WORK:
        if keep_codes:
            shape = (frame.n_rows, len(columns))
            codes = np.empty(shape, dtype=np.uint8, order="F")
        scanned = _scan(frame, candidates, codes, n_jobs)

    def fit_variable(j: int) -> Variable:
        column, role = columns[j], roles[j]
        if role.left_out:
            return Variable.left_out(column.name)
        if column.unit is not None and role.categorical:
            column = as_categories(column)
        if column.is_numeric and not role.categorical:
            if column.data.dtype.kind == "f" and np.isinf(column.data).any():
                raise infinite(column.name)
            cuts = encoder.cuts_of(column.data, labels, weights)
            if column.unit is not None and len(cuts):
                cuts = round_times(cuts, column.data[column.is_observed()])
            variable = Variable.binned(column.name, cuts.tolist(), column.unit)
        else:
            found: tuple[State, ...]
            if j in scanned:
                found = tuple(np.flatnonzero(scanned[j][:255]).tolist())
            else:
                found = occurring_states(column)
            variable = categorical_variable(
                column.name,
                role,
                found,
                used=used_categories(column) if column.declared else found,
                ordered=column.ordered,
            )
        if missing_state and column.is_incomplete():
            return variable.with_missing_state()
        return variable

    everything = range(len(columns))
    variables = map_threads(
        fit_variable, everything, n_jobs, what="states", unit="column"
    )
    schema = Schema(tuple(variables))
    if not keep_codes:
        return schema, None
    plan = EncodingPlan(frame, schema)
    if codes is None or plan.dtype != codes.dtype:
        return schema, plan.encode(n_jobs=n_jobs)
    others = [j for j in range(len(columns)) if j not in scanned]
    plan.encode(columns=others, out=codes, n_jobs=n_jobs)
    _recode(codes, schema, scanned, n_jobs)
    return schema, codes


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
        table[255] = schema[j].missing_code
        for code, state in enumerate(schema[j].states):
            if not isinstance(state, str) and state in range(255):
                table[int(state)] = code
        used = np.flatnonzero(scanned[j])
        if not np.array_equal(table[used], used):
            recode(codes[:, j], table)

    map_threads(recode_column, scanned, n_jobs)
