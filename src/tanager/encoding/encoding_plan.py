"""`EncodingPlan`: from the columns of a frame to codes, given the variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any, ClassVar

import numpy as np

from tanager.encoding.frame import Column, Frame, as_categories
from tanager.errors import InputError
from tanager.model.schema import Schema, Variable
from tanager.model.value_coding import ValueRules
from tanager.types import AnyArray, CodeArray, IntArray
from tanager.utils import jit
from tanager.utils.threads import map_threads, row_blocks

MISSING_ONLY = "(missing)"
"""The one state of a categorical column that had no value at fit."""

TASK_ROWS = 2**15
"""Rows of one task of a thread."""

FEW_ROWS = 2
"""Rows up to which plain Python is faster than NumPy calls for every column."""

FEW_COLUMNS = 128
"""Columns of a matrix up to which plain Python is faster for a row or two."""


def kernel_ready(values: AnyArray) -> bool:
    """Whether numba can read the array; NumPy always can."""
    return values.dtype.isnative and (
        values.dtype.kind in "iu" or values.dtype in (np.float32, np.float64)
    )


def read_only(values: AnyArray) -> AnyArray:
    """View that cannot be written, so that one compiled form serves all inputs."""
    view = values.view()
    view.flags.writeable = False
    return view


def infinite(name: str) -> InputError:
    """The error for an infinite value in a column."""
    return InputError(
        f"Input X contains infinity or a value too large in column {name!r}; expected "
        "finite numbers. Replace infinite values by finite ones or by NaN."
    )


def check_kind(column: Column, variable: Variable) -> None:
    """Raise if a column holds text where numbers were at fit, or numbers for text.

    A column without any value is accepted, and so are numbers for a categorical
    variable that has numbers among its states.
    """
    if variable.states == (MISSING_ONLY,) or variable.is_left_out:
        return
    if variable.cuts is not None:
        if column.is_numeric and column.unit == variable.unit:
            return
        if not column.is_observed().any():
            return
        if column.is_numeric or variable.unit is not None:
            raise InputError(
                f"Column {variable.name!r} held {_kind_text(variable.unit)} at fit and "
                f"now holds {_kind_text(column.unit, text=not column.is_numeric)}; "
                "expected the same. Convert the column; pandas.to_datetime reads dates."
            )
        shown = ", ".join(map(repr, column.categories[:3]))
        raise InputError(
            f"Column {variable.name!r} was numeric at fit and now holds categories "
            f"({shown}); expected numbers. Convert the column, or fit it as a "
            "category with categorical_features."
        )
    if column.is_numeric:
        if not variable.has_numbers and column.is_observed().any():
            if column.unit is not None:
                return  # its texts are categories: see `as_categories`
            raise InputError(
                f"Column {variable.name!r} was categorical at fit, with states such as "
                f"{variable.states[0]!r}, and is now numeric ({column.data.dtype}); "
                "expected the same categories. Convert the column to strings."
            )
        return
    if (
        not variable.has_text
        and all(isinstance(state, str) for state in column.categories)
        and column.is_observed().any()
        and all(
            variable.category_code(category) == variable.n_states
            for category in column.categories
        )
    ):
        raise InputError(
            f"Column {variable.name!r} had numbers as categories at fit, such as "
            f"{variable.states[0]!r}, and now holds text, such as "
            f"{column.categories[0]!r}; expected numbers. Convert the column."
        )


def _kind_text(unit: str | None, *, text: bool = False) -> str:
    """The kind of values of a column, for messages."""
    if text:
        return "text"
    kinds = {None: "numbers", "datetime": "dates", "time": "times of day"}
    return kinds.get(unit, "durations")


@dataclass(frozen=True, eq=False)
class Step(ABC):
    """The rule that makes the codes of one column.

    `values` (n_rows,) are category codes or numbers. Errors name the variable, whose
    number of states is the code of unknown categories and, unless there is a state for
    them, of missing values.
    """

    variable: Variable
    values: AnyArray
    has_kernel: ClassVar[bool] = True

    def write(self, start: int, stop: int, out: AnyArray, compiled: bool) -> None:
        """Write the codes of rows from `start` to `stop` to `out`.

        `compiled` says whether to use a kernel, if there is one for these values.
        """
        block = self.values[start:stop]
        if compiled and self.has_kernel and kernel_ready(block):
            found_infinite = self.compiled_codes(block, out)
        else:
            out[:] = self.numpy_codes(block, out.dtype)
            found_infinite = False
            if block.dtype.kind == "f":
                finite = np.isfinite(block)
                if not finite.all():
                    found_infinite = bool(np.isinf(block).any())
                    out[~finite] = self.variable.missing_code
        if found_infinite:
            raise infinite(self.variable.name)

    @abstractmethod
    def numpy_codes(self, block: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
        """Codes of a block; any for NaN and infinite values."""

    def compiled_codes(self, block: AnyArray, out: AnyArray) -> bool:
        """Write the codes of a block; return whether it has an infinite value."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LookUpStep(Step):
    """Category codes, or integers of a narrow range, through a lookup array.

    ``table[i]``, of an unsigned integer type, is the code of the integer ``low + i``.
    """

    low: int
    table: AnyArray

    def numpy_codes(self, block: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
        """Look up the integers of the range."""
        unknown = dtype.type(self.variable.n_states)
        if block.dtype == np.uint8:
            # With an entry for every byte there is nothing to compare.
            whole = np.full(256, unknown)
            first, last = max(self.low, 0), min(self.low + len(self.table), 256)
            if first < last:
                whole[first:last] = self.table[first - self.low : last - self.low]
            return whole[block]
        inside = (block >= self.low) & (block < self.low + len(self.table))
        position = np.where(inside, block, self.low).astype(np.int64)
        inside &= position == block
        return np.where(inside, self.table[position - self.low], unknown)

    def compiled_codes(self, block: AnyArray, out: AnyArray) -> bool:
        """Do the same in one pass."""
        from tanager.encoding._kernels import look_up

        code = out.dtype.type
        missing, unknown = self.variable.missing_code, self.variable.n_states
        return bool(
            look_up(block, self.low, self.table, code(missing), code(unknown), out)
        )


@dataclass(frozen=True, eq=False)
class BinStep(Step):
    """Numbers into the bins between increasing cuts, shape (n_cuts,), float64."""

    cuts: AnyArray

    def numpy_codes(self, block: AnyArray, dtype: np.dtype[Any]) -> AnyArray:  # noqa: ARG002
        """Count the cuts below every number."""
        return np.searchsorted(self.cuts, block)

    def compiled_codes(self, block: AnyArray, out: AnyArray) -> bool:
        """Do the same in one pass."""
        from tanager.encoding._kernels import find_bins

        missing = out.dtype.type(self.variable.missing_code)
        return bool(find_bins(block, self.cuts, missing, out))


@dataclass(frozen=True, eq=False)
class MatchStep(Step):
    """Any numbers, by binary search among the sorted states that are numbers.

    `states` may be empty; `codes` has their codes, of an unsigned integer type.
    """

    states: AnyArray
    codes: AnyArray
    has_kernel: ClassVar[bool] = False

    def numpy_codes(self, block: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
        """Find the states that are equal to the numbers."""
        unknown = dtype.type(self.variable.n_states)
        if not len(self.states):
            return np.full(len(block), unknown)
        position = np.searchsorted(self.states, block)
        np.minimum(position, len(self.states) - 1, out=position)
        same = self.states[position] == block
        return np.where(same, self.codes[position], unknown)


def make_step(column: Column, rules: ValueRules, j: int) -> Step:
    """Choose the rule that makes the codes of variable number `j`."""
    variable = rules.variables[j]
    check_kind(column, variable)
    if column.unit is not None and variable.cuts is None:
        column = as_categories(column)
    values = read_only(column.data)
    if not column.is_numeric:
        table = rules.category_table(j, column.categories)
        return LookUpStep(variable, values, -1, table)
    if variable.cuts is not None:
        return BinStep(variable, values, variable.cut_array)
    if variable.number_table is None:
        states, codes = variable.number_codes
        if values.dtype.kind in "iu" and states.dtype.kind in "iu":
            # Signed and unsigned integers together would become floats.
            limits = np.iinfo(values.dtype)
            inside = (states >= limits.min) & (states <= limits.max)
            states, codes = states[inside].astype(values.dtype), codes[inside]
        return MatchStep(variable, values, states, codes.astype(rules.dtype))
    low, table = variable.number_table
    return LookUpStep(variable, values, low, table.astype(rules.dtype))


class MatrixEncoder:
    """A matrix whose columns are encoded together, so that it is read once.

    A kernel does all columns but those whose numbers are searched; without it
    (`compiled`) all columns are done if they are discretised, otherwise none.
    """

    def __init__(self, matrix: AnyArray, rules: ValueRules, compiled: bool) -> None:
        self.matrix = matrix
        self.rules = rules
        self.compiled = compiled
        self.columns: frozenset[int] = frozenset()
        if kernel_ready(matrix) if compiled else rules.finds_bins:
            self.columns = rules.direct_columns

    def write(
        self, start: int, stop: int, columns: Sequence[int], out: AnyArray
    ) -> int:
        """Write codes; return a column with an infinite value, or -1."""
        rules, block = self.rules, self.matrix[start:stop]
        if not self.compiled:
            if block.dtype.kind == "f" and not np.isfinite(block).all():
                found = np.flatnonzero(np.isinf(block[:, columns]).any(axis=0))
                if len(found):
                    return columns[int(found[0])]
            if len(columns) < len(rules.variables):
                rules, block = rules.part(np.array(columns)), block[:, columns]
            out[:, columns] = rules.find_bins(block)
            return -1
        from tanager.encoding._kernels import encode_block

        return int(
            encode_block(
                read_only(block), np.array(columns, dtype=np.int64), rules.is_bin,
                rules.low, rules.bounds, rules.missing, rules.unknown, rules.tables,
                rules.cuts, out,
            )
        )  # fmt: skip


class EncodingPlan:
    """The encoding of one frame by given variables, for any range of rows.

    Making a plan looks at the columns once; use one plan for many blocks.

    Parameters
    ----------
    frame : Frame
        The data; its columns are in the order of `variables`.
    variables : Schema or sequence of Variable
        The variables to encode. A schema keeps what is made of them for other frames.

    Examples
    --------
    >>> from tanager.encoding import read_frame
    >>> frame = read_frame([[1.5, "b"], [None, "a"], [9.0, "?"]])
    >>> variables = [Variable.binned("x", [2.0]), Variable("z", ("a", "b"))]
    >>> EncodingPlan(frame, variables).encode(start=1)
    array([[2, 0],
           [1, 2]], dtype=uint8)
    """

    def __init__(self, frame: Frame, variables: Schema | Sequence[Variable]) -> None:
        rules = _rules_of(frame, variables)
        self.n_rows = frame.n_rows
        self.dtype = rules.dtype
        self._variables = rules.variables
        # By the whole frame, so that all its blocks are encoded in the same way.
        self._compiled = frame.n_rows * len(self._variables) > jit.SMALL_WORK
        self._matrix: MatrixEncoder | None = None
        done: frozenset[int] = frozenset()
        if frame.matrix is not None:
            for j in rules.texts:
                check_kind(frame.column(j), self._variables[j])
            self._matrix = MatrixEncoder(frame.matrix, rules, self._compiled)
            done = self._matrix.columns
        alone = rules.searched if done else range(len(self._variables))
        self._steps = {j: make_step(frame.column(j), rules, j) for j in alone}

    def encode(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        columns: Iterable[int] | None = None,
        out: CodeArray | None = None,
        n_jobs: int | None = 1,
    ) -> CodeArray:
        """Encode a range of rows; no other row is touched.

        Parameters
        ----------
        start, stop : int
            The rows; all by default.
        columns : iterable of int or None, default=None
            Positions of the columns to encode; None means all. A new array has zeros
            in the others.
        out : ndarray of shape (stop - start, n_variables), unsigned, or None
            Filled in the given columns; None makes a new array.
        n_jobs : int or None, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (stop - start, n_variables), unsigned, column-major
            The codes; unknown categories have the code `n_states` of their variable,
            and so have missing cells, unless the variable has a state for them.
        """
        stop = self.n_rows if stop is None else min(stop, self.n_rows)
        shape = (max(0, stop - start), len(self._variables))
        make = np.empty if columns is None else np.zeros
        codes = make(shape, dtype=self.dtype, order="F") if out is None else out
        wanted = list(range(len(self._variables)) if columns is None else columns)
        single = [j for j in wanted if j in self._steps]
        together = [j for j in wanted if j not in self._steps]

        def encode_rows(rows: tuple[int, int]) -> None:
            first, last = start + rows[0], start + rows[1]
            block = codes[rows[0] : rows[1]]
            if self._matrix is not None and together:
                bad = self._matrix.write(first, last, together, block)
                if bad >= 0:
                    raise infinite(self._variables[bad].name)
            for j in single:
                self._steps[j].write(first, last, block[:, j], self._compiled)

        map_threads(
            encode_rows, row_blocks(len(codes), TASK_ROWS), n_jobs, what="codes"
        )
        return codes


def encode_frame(
    frame: Frame,
    variables: Schema | Sequence[Variable],
    columns: IntArray | None = None,
) -> CodeArray:
    """Encode all rows of a frame; for a row or two faster than an `EncodingPlan`.

    `columns`, increasing, are the positions of those that matter: others of a matrix
    are not read, and have the code 0. None means all.

    Examples
    --------
    >>> from tanager.encoding import read_frame
    >>> encode_frame(read_frame([[1.5], [None]]), [Variable.binned("x", [1.0])])
    array([[1],
           [2]], dtype=uint8)
    """
    if frame.matrix is None:
        columns = None
    if frame.n_rows > FEW_ROWS:
        wanted = None if columns is None else columns.tolist()
        return EncodingPlan(frame, variables).encode(columns=wanted)
    rules = _rules_of(frame, variables)
    if columns is None or frame.matrix is None:
        return _encode_few(frame, rules)
    codes = np.zeros(frame.shape, dtype=rules.dtype, order="F")
    if len(columns):
        names = tuple(map(frame.names.__getitem__, columns.tolist()))
        part = Frame(names, frame.n_rows, matrix=frame.matrix[:, columns])
        codes[:, columns] = _encode_few(part, rules.part(columns))
    return codes


def _encode_few(frame: Frame, rules: ValueRules) -> CodeArray:
    """Encode a row or two."""
    if (
        frame.matrix is not None
        and frame.n_columns > FEW_COLUMNS
        and rules.finds_bins
        and not np.isinf(frame.matrix).any()  # plain Python names the column
    ):
        return rules.find_bins(frame.matrix)
    rows = [
        list(map(_scalar_code, rules.variables, _row(frame, rules, i)))
        for i in range(frame.n_rows)
    ]
    shape = (frame.n_rows, len(rules.variables))
    return np.array(rows, dtype=rules.dtype, order="F").reshape(shape, order="F")


def _rules_of(frame: Frame, variables: Schema | Sequence[Variable]) -> ValueRules:
    """The rules of variables, which must be as many as the columns of a frame."""
    if len(frame.names) != len(variables):
        raise InputError(
            f"X has {frame.n_columns} features, but {len(variables)} are expected."
        )
    if isinstance(variables, Schema):
        return variables.value_rules
    return ValueRules.of(variables)


def _row(frame: Frame, rules: ValueRules, i: int) -> list[Any]:
    """Values of one row as plain scalars, None where a category is missing."""
    if frame.matrix is not None:
        for j in rules.texts:
            check_kind(frame.column(j), rules.variables[j])
        row: list[Any] = frame.matrix[i].tolist()
        return row
    values: list[Any] = []
    for column, variable in zip(frame.columns or (), rules.variables, strict=True):
        check_kind(column, variable)
        if column.unit is not None and variable.cuts is None:
            column = as_categories(column)
        value = column.data[i].item()
        if column.is_numeric:
            values.append(value)
        else:
            values.append(column.categories[value] if value >= 0 else None)
    return values


def _scalar_code(variable: Variable, value: Any) -> int:
    if value is None or value != value or variable.is_left_out:
        return variable.missing_code
    if isinstance(value, float) and isinf(value):
        raise infinite(variable.name)
    if variable.cuts is not None:
        return bisect_left(variable.cuts, value)
    return variable.category_code(value)
