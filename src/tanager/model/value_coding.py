"""`ValueRules`: from values to codes, for all variables of a schema at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager.types import AnyArray, BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tanager.model.schema import State, Variable

MAX_WIDTH = 1024
"""Cuts of one variable up to which `ValueRules.find_bins` can be used."""


@dataclass(frozen=True, eq=False)
class ValueRules:
    """The rules of variables in flat arrays, made once for many samples.

    Parameters
    ----------
    variables : tuple of Variable
        The variables.
    missing, unknown : ndarray of shape (n_variables,), unsigned
        Codes of missing and of unknown values, in the smallest type for all codes.
    is_bin : ndarray of shape (n_variables,), bool
        Whether values are discretised.
    low : ndarray of shape (n_variables,), int64
        First number of the lookup array of a variable that has one.
    bounds : ndarray of shape (n_variables, 2), int64
        Its part of `tables`, or the part of `cuts` of a discretised variable.
    tables : ndarray of shape (n_entries,), unsigned
        The lookup arrays from numbers to codes, one after the other.
    cuts : ndarray of shape (n_cuts,), float64
        The cuts of the discretised variables, one after the other.
    searched : tuple of int
        Variables with neither cuts nor a lookup array: their numbers are searched.
    texts : tuple of int
        Categorical variables without a number among their states.
    dtype : numpy.dtype
        Type of the codes: the smallest that holds all.
    finds_bins : bool
        Whether `find_bins` can be used: all variables are discretised.

    Examples
    --------
    >>> from tanager.model.schema import Schema, Variable
    >>> ages = Variable.binned("age", [30.0, 50.0]), Variable.binned("size", [1.5])
    >>> rules = Schema(ages).value_rules
    >>> rules.find_bins(np.array([[41.0, 1.5], [80.0, np.nan]]))
    array([[1, 0],
           [2, 2]], dtype=uint8)
    """

    variables: tuple[Variable, ...]
    missing: CodeArray
    unknown: CodeArray
    is_bin: BoolArray
    low: IntArray
    bounds: IntArray
    tables: CodeArray
    cuts: FloatArray
    searched: tuple[int, ...]
    texts: tuple[int, ...]
    dtype: np.dtype[Any]
    finds_bins: bool
    _category_tables: dict[int, tuple[tuple[State, ...], AnyArray]] = field(
        default_factory=dict, init=False
    )
    _parts: dict[bytes, ValueRules] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, variables: Sequence[Variable]) -> ValueRules:
        """Join the rules of at least one variable."""
        n_states = [variable.n_states for variable in variables]
        dtype = np.min_scalar_type(max(n_states))
        low = np.zeros(len(n_states), dtype=np.int64)
        bounds = np.zeros((len(n_states), 2), dtype=np.int64)
        tables: list[AnyArray] = [np.empty(0, dtype=dtype)]
        cuts: list[AnyArray] = [np.empty(0)]
        searched = []
        n_codes = n_cuts = 0
        for j, variable in enumerate(variables):
            if variable.cuts is not None:
                bounds[j] = n_cuts, n_cuts + len(variable.cuts)
                n_cuts += len(variable.cuts)
                cuts.append(variable.cut_array)
            elif variable.number_table is not None:
                low[j], table = variable.number_table
                bounds[j] = n_codes, n_codes + len(table)
                n_codes += len(table)
                tables.append(table.astype(dtype))
            else:
                searched.append(j)
        is_bin = np.array([v.cuts is not None for v in variables], dtype=np.bool_)
        widths = bounds[:, 1] - bounds[:, 0]
        return cls(
            tuple(variables),
            np.array([variable.missing_code for variable in variables], dtype=dtype),
            np.array(
                [0 if v.is_left_out else v.n_states for v in variables], dtype=dtype
            ),
            is_bin,
            low,
            bounds,
            np.concatenate(tables),
            np.concatenate(cuts),
            tuple(searched),
            tuple(
                j
                for j, variable in enumerate(variables)
                if variable.cuts is None and not variable.has_numbers
            ),
            dtype,
            bool(is_bin.all()) and int(widths.max()) <= MAX_WIDTH,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave what earlier data frames have left behind out of pickles."""
        return {**self.__dict__, "_category_tables": {}, "_parts": {}}

    @cached_property
    def direct_columns(self) -> frozenset[int]:
        """Variables with cuts or a lookup array."""
        return frozenset(range(len(self.variables))).difference(self.searched)

    def part(self, columns: IntArray) -> ValueRules:
        """The rules of some variables, at least one; the latest are kept."""
        key = columns.tobytes()
        found = self._parts.get(key)
        if found is None:
            found = ValueRules.of([self.variables[j] for j in columns.tolist()])
            self._parts.clear()
            self._parts[key] = found
        return found

    def find_bins(self, values: AnyArray) -> CodeArray:
        """Discretise numbers without infinite ones, NaN where missing.

        `values` and the result, in Fortran order, have shape (n_rows, n_variables).

        Notes
        -----
        All columns take the same steps of a binary search: with 2^k entries for each,
        padded by infinite cuts, step s adds 2^(k - s) to the positions of the values
        above the cut before that place. Calls for every column would take longer.
        """
        first, steps = self._padded
        place = np.repeat(first[np.newaxis], len(values), axis=0)
        for step, cuts in steps:
            place += step * (cuts.take(place) < values)
        place -= first
        codes = np.asfortranarray(place.astype(self.dtype))
        if values.dtype.kind == "f":
            absent = np.isnan(values)
            if absent.any():
                np.copyto(codes, self.missing, where=absent)
        return codes

    @cached_property
    def frame_kinds(self) -> list[str]:
        """Kinds of NumPy types whose single values are codes by the states alone.

        Of a numeric variable these are numbers; times are converted first.
        """
        every = "biufcmMOSUV"
        return [
            every
            if variable.cuts is None or variable.is_left_out
            else ("iuf" if variable.unit is None else "")
            for variable in self.variables
        ]

    @cached_property
    def _padded(self) -> tuple[IntArray, list[tuple[int, FloatArray]]]:
        """Where the search begins for every variable, and its steps.

        A step has its length and the padded cuts, of which entry i is compared at
        place i.
        """
        widths = self.bounds[:, 1] - self.bounds[:, 0]
        n_steps = int(widths.max()).bit_length()
        padded = np.full((len(widths), 2**n_steps), np.inf)
        padded[np.arange(2**n_steps) < widths[:, np.newaxis]] = self.cuts
        lengths = [2**k for k in reversed(range(n_steps))]
        flat = padded.ravel()
        first = 2**n_steps * np.arange(len(widths))
        return first, [(length, flat[length - 1 :]) for length in lengths]

    def category_table(self, j: int, categories: tuple[State, ...]) -> AnyArray:
        """Codes of the categories of a column, after that of a missing value.

        The latest result of every variable is kept: data frames with the same
        categories share the tuple.
        """
        known = self._category_tables.get(j)
        if known is not None and known[0] is categories:
            return known[1]
        variable = self.variables[j]
        if variable.is_left_out:
            table = np.zeros(len(categories) + 1, dtype=self.dtype)
        else:
            codes = (variable.category_code(category) for category in categories)
            table = np.array([variable.missing_code, *codes], dtype=self.dtype)
        self._category_tables[j] = categories, table
        return table
