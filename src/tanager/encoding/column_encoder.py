"""How the codes of one column are made, in NumPy or compiled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.encoding.column_alignment import check_kind
from tanager.encoding.table import Column
from tanager.errors import InputError
from tanager.model.schema import Variable
from tanager.types import AnyArray


def kernel_ready(values: AnyArray) -> bool:
    """Tell whether numba can read the array; NumPy can always."""
    return values.dtype.isnative and (
        values.dtype.kind in "iu" or values.dtype in (np.float32, np.float64)
    )


def read_only(values: AnyArray) -> AnyArray:
    """View that cannot be written, so that one compiled form serves all inputs."""
    view = values.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Step(ABC):
    """How the codes of one column are made.

    Parameters
    ----------
    variable : Variable
        Gives the name for errors and the missing code.
    values : ndarray of shape (n_rows,), integer or floating
        Category codes or numbers.
    """

    variable: Variable
    values: AnyArray

    def write(self, start: int, stop: int, out: AnyArray, compiled: bool) -> None:
        """Write the codes of some rows.

        Parameters
        ----------
        start, stop : int
            The rows.
        out : ndarray of shape (stop - start,), unsigned integer
            Filled with the codes.
        compiled : bool
            Whether to use a kernel, if there is one for the type of the values.
        """
        block = self.values[start:stop]
        missing = out.dtype.type(self.variable.n_states)
        use_kernel = compiled and kernel_ready(block)
        fill = self.compiled_codes if use_kernel else self._fill
        if fill(block, missing, out):
            raise infinite(self.variable.name)

    @abstractmethod
    def numpy_codes(self, block: AnyArray, missing: Any) -> AnyArray:
        """Codes of a block without infinite numbers."""

    def compiled_codes(self, block: AnyArray, missing: Any, out: AnyArray) -> bool:
        """Write the codes of a block; tell whether an infinite number was met."""
        return self._fill(block, missing, out)

    def _fill(self, block: AnyArray, missing: Any, out: AnyArray) -> bool:
        if block.dtype.kind == "f" and np.isinf(block).any():
            return True
        out[:] = self.numpy_codes(block, missing)
        return False


@dataclass(frozen=True, eq=False)
class LookUpStep(Step):
    """Category codes, or whole numbers of a narrow range, through a table.

    Parameters
    ----------
    variable, values
        As in `Step`.
    low : int
        Number that stands first in `table`.
    table : ndarray of shape (n_numbers,), unsigned integer
        Code of every number from `low` up.
    """

    low: int
    table: AnyArray

    def numpy_codes(self, block: AnyArray, missing: Any) -> AnyArray:
        """Look the whole numbers of the range up."""
        if block.dtype == np.uint8:
            # Every byte has its place in a table: nothing to compare.
            whole = np.full(256, missing)
            first, last = max(self.low, 0), min(self.low + len(self.table), 256)
            if first < last:
                whole[first:last] = self.table[first - self.low : last - self.low]
            return whole[block]
        inside = (block >= self.low) & (block < self.low + len(self.table))
        position = np.where(inside, block, self.low).astype(np.int64)
        inside &= position == block
        return np.where(inside, self.table[position - self.low], missing)

    def compiled_codes(self, block: AnyArray, missing: Any, out: AnyArray) -> bool:
        """Do the same in one pass."""
        from tanager.encoding._kernels import look_up

        return bool(look_up(block, self.low, self.table, missing, out))


@dataclass(frozen=True, eq=False)
class BinStep(Step):
    """Numbers into the bins between cuts.

    Parameters
    ----------
    variable, values
        As in `Step`.
    cuts : ndarray of shape (n_cuts,), float64
        Increasing.
    """

    cuts: AnyArray

    def numpy_codes(self, block: AnyArray, missing: Any) -> AnyArray:
        """Count the cuts below every number."""
        bins = np.searchsorted(self.cuts, block)
        return np.where(np.isnan(block), missing, bins)

    def compiled_codes(self, block: AnyArray, missing: Any, out: AnyArray) -> bool:
        """Do the same in one pass."""
        from tanager.encoding._kernels import find_bins

        return bool(find_bins(block, self.cuts, missing, out))


@dataclass(frozen=True, eq=False)
class MatchStep(Step):
    """Any numbers, through their position among the sorted states.

    Parameters
    ----------
    variable, values
        As in `Step`.
    states : ndarray of shape (n_numbers,)
        The states that are numbers, increasing; may be empty.
    codes : ndarray of shape (n_numbers,), unsigned integer
        Their codes.
    """

    states: AnyArray
    codes: AnyArray

    def numpy_codes(self, block: AnyArray, missing: Any) -> AnyArray:
        """Find the states that are equal to the numbers."""
        if not len(self.states):
            return np.full(len(block), missing)
        position = np.searchsorted(self.states, block)
        np.minimum(position, len(self.states) - 1, out=position)
        same = self.states[position] == block
        return np.where(same, self.codes[position], missing)


def make_step(column: Column, variable: Variable, dtype: np.dtype[Any]) -> Step:
    """Choose how a column becomes the codes of a variable.

    Parameters
    ----------
    column : Column
        What came.
    variable : Variable
        What it is to be.
    dtype : dtype
        Type of the codes.

    Returns
    -------
    Step
        Writes the codes of any range of rows.
    """
    check_kind(column, variable)
    if not column.is_numeric:
        known = (
            variable.code_by_state.get(category, variable.n_states)
            for category in column.categories
        )
        table = np.array([variable.n_states, *known], dtype=dtype)
        return LookUpStep(variable, read_only(column.data), -1, table)
    values = read_only(column.data)
    if variable.cuts is not None:
        return BinStep(variable, values, np.array(variable.cuts, dtype=np.float64))
    if variable.number_table is None:
        states, codes = variable.number_codes
        return MatchStep(variable, values, states, codes.astype(dtype))
    low, table = variable.number_table
    return LookUpStep(variable, values, low, table.astype(dtype))


def infinite(name: str) -> InputError:
    """Word the error for an infinite number."""
    return InputError(
        f"Input X contains infinity or a value too large in column {name!r}; expected "
        "finite numbers. Replace infinite values by finite ones or by NaN."
    )
