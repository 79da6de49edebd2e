"""From the columns of a table to codes, given the variables: block by block."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import isinf
from typing import Any

import numpy as np

from tanager.encoding.column_alignment import check_kind
from tanager.encoding.column_encoder import (
    BinStep,
    LookUpStep,
    Step,
    infinite,
    kernel_ready,
    make_step,
    read_only,
)
from tanager.encoding.table import Table
from tanager.errors import InputError
from tanager.model.schema import Variable, code_dtype
from tanager.types import AnyArray, CodeArray
from tanager.utils.jit import use_kernels
from tanager.utils.threads import map_threads, row_blocks

TASK_ROWS = 2**15
"""Rows of one task of a thread."""

FEW_ROWS = 2
"""Rows up to which plain Python beats NumPy's overhead for every column."""


class Panel:
    """A matrix whose columns are encoded by one kernel, so that it is read once.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns), integer or floating
        The numbers.
    steps : sequence of Step
        One for every column; only those that look up or bin are done here.
    dtype : dtype
        Type of the codes.
    """

    def __init__(
        self, matrix: AnyArray, steps: Sequence[Step], dtype: np.dtype[Any]
    ) -> None:
        self.matrix = read_only(matrix)
        self.columns = frozenset(
            j for j, step in enumerate(steps) if isinstance(step, (BinStep, LookUpStep))
        )
        n_columns = len(steps)
        self.missing = np.array([s.variable.n_states for s in steps], dtype=dtype)
        self.low = np.zeros(n_columns, dtype=np.int64)
        self.is_bin = np.zeros(n_columns, dtype=np.bool_)
        tables: list[AnyArray] = [np.empty(0, dtype=dtype)]
        cuts: list[AnyArray] = [np.empty(0)]
        self.bounds = np.zeros((n_columns, 2), dtype=np.int64)
        n_codes = n_cuts = 0
        for j, step in enumerate(steps):
            if isinstance(step, LookUpStep):
                self.low[j] = step.low
                self.bounds[j] = n_codes, n_codes + len(step.table)
                n_codes += len(step.table)
                tables.append(step.table)
            elif isinstance(step, BinStep):
                self.is_bin[j] = True
                self.bounds[j] = n_cuts, n_cuts + len(step.cuts)
                n_cuts += len(step.cuts)
                cuts.append(step.cuts)
        self.tables, self.cuts = np.concatenate(tables), np.concatenate(cuts)

    def write(
        self, start: int, stop: int, columns: Iterable[int], out: AnyArray
    ) -> int:
        """Write the codes of some rows and columns.

        Returns
        -------
        int
            Column where an infinite number was met, or -1.
        """
        from tanager.encoding._kernels import encode_block

        return int(
            encode_block(
                self.matrix[start:stop],
                np.array(list(columns), dtype=np.int64),
                self.is_bin,
                self.low,
                self.bounds,
                self.missing,
                self.tables,
                self.cuts,
                out,
            )
        )


class EncodingPlan:
    """The encoding of one table by given variables, ready for any range of rows.

    Making a plan looks at the variables once; use one plan for many blocks.

    Parameters
    ----------
    table : Table
        What came; its columns stand in the order of `variables`.
    variables : sequence of Variable
        What they are to be.

    Examples
    --------
    >>> from tanager.encoding import as_table
    >>> table = as_table([[1.5, "b"], [None, "a"], [9.0, "?"]])
    >>> variables = [Variable.binned("x", [2.0]), Variable("z", ("a", "b"))]
    >>> EncodingPlan(table, variables).encode(start=1)
    array([[2, 0],
           [1, 2]], dtype=uint8)
    """

    def __init__(self, table: Table, variables: Sequence[Variable]) -> None:
        _check_width(table, variables)
        self.n_rows = table.n_rows
        self.dtype = code_dtype(max(variable.n_states for variable in variables))
        self.steps = [
            make_step(table.column(j), variable, self.dtype)
            for j, variable in enumerate(variables)
        ]
        # By the whole table, so that its blocks all take the same way.
        self._compiled = use_kernels(table.n_rows * table.n_columns)
        self._panel: Panel | None = None
        if self._compiled and table.matrix is not None and kernel_ready(table.matrix):
            self._panel = Panel(table.matrix, self.steps, self.dtype)

    def encode(
        self, start: int = 0, stop: int | None = None, *, n_jobs: int | None = 1
    ) -> CodeArray:
        """Encode a range of rows; no other row is touched.

        Parameters
        ----------
        start, stop : int
            The rows; all by default.
        n_jobs : int or None, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (stop - start, n_variables), unsigned, column-major
            The codes; missing cells and unknown categories have the code `n_states`
            of their variable.
        """
        stop = self.n_rows if stop is None else min(stop, self.n_rows)
        shape = (max(0, stop - start), len(self.steps))
        codes: CodeArray = np.empty(shape, dtype=self.dtype, order="F")
        self.fill(codes, range(len(self.steps)), start, n_jobs)
        return codes

    def fill(
        self,
        codes: CodeArray,
        columns: Iterable[int],
        start: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        """Write some columns of an array of codes.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_variables), unsigned, column-major
            Filled in the given columns.
        columns : iterable of int
            Positions of the columns.
        start : int, default=0
            Row of the table that is row 0 of `codes`.
        n_jobs : int or None, default=1
            Number of threads.
        """
        together, single = [], list(columns)
        if self._panel is not None:
            together = [j for j in single if j in self._panel.columns]
            single = [j for j in single if j not in self._panel.columns]

        def work(rows: tuple[int, int]) -> None:
            first, last = start + rows[0], start + rows[1]
            block = codes[rows[0] : rows[1]]
            if self._panel is not None and together:
                bad = self._panel.write(first, last, together, block)
                if bad >= 0:
                    raise infinite(self.steps[bad].variable.name)
            for j in single:
                self.steps[j].write(first, last, block[:, j], self._compiled)

        map_threads(work, row_blocks(len(codes), TASK_ROWS), n_jobs)


def encode_table(
    table: Table,
    variables: Sequence[Variable],
    *,
    start: int = 0,
    stop: int | None = None,
) -> CodeArray:
    """Encode a range of rows of a table, also a single one, by given variables.

    Parameters and result are those of `EncodingPlan` and its `encode`. For many blocks
    of one table make a plan; for a row or two this is faster.

    Examples
    --------
    >>> from tanager.encoding import as_table
    >>> encode_table(as_table([[1.5], [None]]), [Variable.binned("x", [1.0])])
    array([[1],
           [2]], dtype=uint8)
    """
    stop = table.n_rows if stop is None else min(stop, table.n_rows)
    if stop - start > FEW_ROWS:
        return EncodingPlan(table, variables).encode(start, stop)
    _check_width(table, variables)
    rows = [
        [
            _scalar_code(variable, value)
            for variable, value in zip(
                variables, _row(table, variables, i), strict=True
            )
        ]
        for i in range(start, stop)
    ]
    dtype = code_dtype(max(variable.n_states for variable in variables))
    shape = (len(rows), len(variables))
    return np.array(rows, dtype=dtype, order="F").reshape(shape, order="F")


def _check_width(table: Table, variables: Sequence[Variable]) -> None:
    if table.n_columns != len(variables):
        raise InputError(
            f"X has {table.n_columns} features, but {len(variables)} are expected."
        )


def _row(table: Table, variables: Sequence[Variable], i: int) -> list[Any]:
    """Values of one row as plain scalars, None where a category is missing."""
    if table.matrix is not None:
        for j, variable in enumerate(variables):
            if variable.cuts is None:
                check_kind(table.column(j), variable)
        row: list[Any] = table.matrix[i].tolist()
        return row
    values: list[Any] = []
    for column, variable in zip(table.columns or (), variables, strict=True):
        check_kind(column, variable)
        value = column.data[i].item()
        if column.is_numeric:
            values.append(value)
        else:
            values.append(column.categories[value] if value >= 0 else None)
    return values


def _scalar_code(variable: Variable, value: Any) -> int:
    if value is None or value != value:
        return variable.n_states
    if isinstance(value, float) and isinf(value):
        raise infinite(variable.name)
    if variable.cuts is not None:
        return bisect_left(variable.cuts, value)
    return variable.code_by_state.get(value, variable.n_states)
