"""`Variable` and `Schema`: the names and states behind the integer codes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError, unknown_name
from tanager.model.value_coding import ValueRules
from tanager.types import FloatArray, IntArray
from tanager.utils.stored_fields import StoredFields
from tanager.utils.time_values import UNITS, seconds_of, time_texts, time_unit
from tanager.utils.validation import is_whole

State = str | int | float | bool
"""A state is a plain scalar: a category as it came in, or the label of a bin."""


MAX_SECONDS = 2.0**53 / 1e6
"""Times up to this size are written as such; larger ones, of damaged files, as numbers.
"""

MAX_LOOKUP = 65_536
"""Entries of a lookup array from numbers to codes; wider ranges are searched."""


def is_missing(value: object) -> bool:
    """Whether a scalar is a missing value: None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return isnan(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    # pandas is optional: its NA and NaT are recognised without importing it.
    return type(value).__name__ in ("NAType", "NaTType")


LEFT_OUT = "(left out)"
"""The one state of a column that takes no part in a model, such as an identifier."""

MISSING_LABEL = "missing"
"""The state of a missing value, with underscores where a category has this name."""


@dataclass(frozen=True)
class Variable(StoredFields):
    """A feature or the class: its name, its states and the rule from values to codes.

    Parameters
    ----------
    name : str
        Name of the column.
    states : tuple of str, int, float or bool
        The states; a value's *code* is its position here. The code
        ``n_states`` is reserved and means "not observed".
    ordered : bool, default=False
        Whether the states of values are ordered, as bins and ordinal categories are. A
        first-difference penalty relies on it.
    cuts : tuple of float or None, default=None
        For a discretised numeric feature the increasing cut points, one fewer than
        bins: the index of a value's bin is the number of cuts below it.
    missing_state : bool, default=False
        Whether the last state is the state of a missing value. It is not a neighbour of
        the other states, even if these are ordered.
    unit : {"datetime", "time", "timedelta"} or None, default=None
        What the cuts are if values are no plain numbers: seconds since 1970 (UTC),
        since midnight, or of a duration.

    Attributes
    ----------
    n_states : int
        Number of states; also the code of a variable that is not observed.
    n_values : int
        Number of states of values: all but the state of a missing value. They are the
        first states; if the variable is ordered, they are.
    missing_code : int
        Code of a missing value in a sample: its state, or not observed.
    is_left_out : bool
        Whether the column takes no part: every value, also a missing one, has code 0.

    Examples
    --------
    >>> age = Variable.binned("age", [30.0, 50.0])
    >>> age.states
    ('(-inf, 30]', '(30, 50]', '(50, inf)')
    >>> age.code_of(41), age.code_of("(50, inf)"), age.code_of(None)
    (1, 2, 3)

    With a state for missing values, samples without a value have this state, and a
    query without a value still has none:

    >>> age = age.with_missing_state()
    >>> age.states[-1], age.missing_code, age.code_of("missing"), age.code_of(None)
    ('missing', 3, 3, 4)
    """

    name: str
    states: tuple[State, ...]
    ordered: bool = False
    cuts: tuple[float, ...] | None = None
    missing_state: bool = False
    unit: str | None = None
    n_states: int = field(init=False, repr=False, compare=False)
    n_values: int = field(init=False, repr=False, compare=False)
    missing_code: int = field(init=False, repr=False, compare=False)
    is_left_out: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that states are distinct and cuts increase."""
        # Plain attributes: single samples are encoded with them.
        n_states = len(self.states)
        n_values = n_states - self.missing_state
        object.__setattr__(self, "n_states", n_states)
        object.__setattr__(self, "n_values", n_values)
        left_out = self.states == (LEFT_OUT,) and self.cuts == ()
        object.__setattr__(self, "is_left_out", left_out)
        code = n_values if self.missing_state else n_states
        object.__setattr__(self, "missing_code", 0 if left_out else code)
        if not isinstance(self.name, str) or not self.name:
            raise InputError(
                f"A variable's name must be a non-empty string, got {self.name!r}."
            )
        if not self.states:
            raise InputError(f"Variable {self.name!r} has no states; give at least 1.")
        for state in self.states:
            if not isinstance(state, (str, int, float)) or state != state:
                raise InputError(
                    f"State {state!r} of {self.name!r} is not a string, number or bool."
                )
        if self.missing_state and len(self.states) < 2:
            raise InputError(
                f"Variable {self.name!r} has no state but that of a missing value; "
                "give at least 1 more."
            )
        if len(set(self.states)) != len(self.states):
            raise InputError(
                f"Variable {self.name!r} lists a state twice: {list(self.states)}."
            )
        if self.unit is not None and (self.unit not in UNITS or self.cuts is None):
            raise InputError(
                f"The unit of {self.name!r} is {self.unit!r}; expected one of "
                f"{', '.join(UNITS)} for a discretised variable, otherwise None."
            )
        if self.cuts is not None:
            if len(self.cuts) != self.n_values - 1:
                raise InputError(
                    f"Variable {self.name!r} has {self.n_values} bins and "
                    f"{len(self.cuts)} cuts; expected {self.n_values - 1} cuts."
                )
            if not all(isfinite(cut) for cut in self.cuts) or any(
                low >= high for low, high in pairwise(self.cuts)
            ):
                raise InputError(
                    f"The cuts of {self.name!r} must be finite and increasing, "
                    f"got {list(self.cuts)}."
                )

    @classmethod
    def binned(
        cls, name: str, cuts: Sequence[float], unit: str | None = None
    ) -> Variable:
        """Make the discretised variable whose bins are separated by `cuts`.

        The states are the intervals, with few digits but distinct; dates and times of
        a `unit` are written as such.
        """
        plain = tuple(float(cut) for cut in cuts)
        texts = cut_texts(plain, unit)
        inner = [f"({low}, {high}]" for low, high in pairwise(("-inf", *texts))]
        last = f"({texts[-1] if texts else '-inf'}, inf)"
        return cls(name, (*inner, last), ordered=True, cuts=plain, unit=unit)

    @classmethod
    def left_out(cls, name: str) -> Variable:
        """Make the variable of a column that takes no part in a model.

        It has one state and no arcs or weights, so that the columns of data and the
        variables of a model stay the same.

        Examples
        --------
        >>> Variable.left_out("customer_id").states
        ('(left out)',)
        """
        return cls(name, (LEFT_OUT,), ordered=True, cuts=())

    def with_missing_state(self) -> Variable:
        """Make the same variable with a state for missing values, if it has none."""
        if self.missing_state:
            return self
        label = MISSING_LABEL
        while label in self.code_by_state:
            label += "_"
        return replace(self, states=(*self.states, label), missing_state=True)

    @property
    def value_states(self) -> tuple[State, ...]:
        """The states of values: all but the state of a missing value."""
        return self.states[: self.n_values]

    @cached_property
    def has_text(self) -> bool:
        """Whether a state of a value is text."""
        return any(isinstance(state, str) for state in self.value_states)

    @cached_property
    def has_numbers(self) -> bool:
        """Whether a state of a value is a number or a bool."""
        return not all(isinstance(state, str) for state in self.value_states)

    @cached_property
    def cut_array(self) -> FloatArray:
        """The cuts as an array, shape (n_values - 1,); empty if there are none."""
        return np.array(self.cuts or (), dtype=np.float64)

    @cached_property
    def code_by_state(self) -> dict[State, int]:
        """Code of every state."""
        return {state: code for code, state in enumerate(self.states)}

    @cached_property
    def number_codes(self) -> tuple[npt.NDArray[Any], IntArray]:
        """The states that are numbers, in order, and their codes."""
        numbers = sorted(
            (state, code)
            for code, state in enumerate(self.states)
            if not isinstance(state, str)
        )
        states = np.array([state for state, _ in numbers])
        if states.dtype == np.bool_:
            states = states.astype(np.int64)
        return states, np.array([code for _, code in numbers], dtype=np.int64)

    @cached_property
    def number_table(self) -> tuple[int, IntArray] | None:
        """The least number among the states and the code of every number from it up.

        None if there are no numbers, some are not integers, or the range is wide.
        """
        states, codes = self.number_codes
        if not len(states) or not (np.abs(states) < 2**53).all():
            return None
        span = states[-1] - states[0]
        if span >= MAX_LOOKUP or not (states == np.trunc(states)).all():
            return None
        table = np.full(int(span) + 1, self.n_states, dtype=np.int64)
        table[(states - states[0]).astype(np.int64)] = codes
        return int(states[0]), table

    @cached_property
    def _truths(self) -> dict[State, int]:
        """Codes of True and False in the other type: as text, or for the texts."""
        found: dict[State, int] = {}
        for code, state in enumerate(self.value_states):
            if isinstance(state, bool):
                texts = (str(state), str(state).lower(), str(state).upper())
                found.update(dict.fromkeys(texts, code))
            elif isinstance(state, str) and state.lower() in ("true", "false"):
                truth = state.lower() == "true"
                if truth in found:  # "True" and "TRUE" are two categories
                    return {}
                found[truth] = code
        return found

    def category_code(self, category: State) -> int:
        """Code of a category in a sample; `n_states` if it is no state.

        True and False match the texts ``"True"`` and ``"false"``, as files have them,
        and the other way round.

        Examples
        --------
        >>> Variable("smoker", (False, True)).category_code("TRUE")
        1
        """
        code = self.code_by_state.get(category)
        if code is None and isinstance(category, (str, bool)):
            code = self._truths.get(category)
        return self.n_states if code is None else code

    def code_of(self, value: object) -> int:
        """Code of a raw value or a state; `n_states` (not observed) if it is neither.

        Numeric values of a discretised variable get the code of their bin. A missing
        value is not observed, also if there is a state for missing values: queries
        marginalise it. An infinite value raises `InputError`.
        """
        # The two common cases first: a query may look up dozens of codes.
        if type(value) is str:
            return self.code_by_state.get(value, self.n_states)
        if type(value) is float and self.cuts is not None and isfinite(value):
            return bisect_left(self.cuts, value)
        if is_missing(value):
            return self.n_states
        if (
            self.cuts is not None
            and isinstance(value, (int, float, np.integer, np.floating))
            and not isinstance(value, bool)
        ):
            if isinstance(value, (float, np.floating)) and not isfinite(value):
                raise InputError(
                    f"The value of {self.name!r} is infinite; expected a finite number "
                    "or a missing value."
                )
            return bisect_left(self.cuts, value)
        if self.unit is not None and time_unit(type(value)) == self.unit:
            return bisect_left(self.cuts or (), seconds_of(value))
        plain: Any = value.item() if isinstance(value, np.generic) else value
        try:
            return self.code_by_state.get(plain, self.n_states)
        except TypeError:  # unhashable, so no state
            return self.n_states


@dataclass(frozen=True)
class Schema(StoredFields):
    """The variables of a dataset or network, in column order.

    Parameters
    ----------
    variables : tuple of Variable
        Features and class. Learners put the class last.
    target : int or None, default=None
        Position of the class variable, if there is one.

    Attributes
    ----------
    names : tuple of str
        Names of all variables.
    position : dict from str to int
        Position of every name.
    n_states : ndarray of int64, shape (n_variables,)
        Number of states of every variable.

    Examples
    --------
    >>> schema = Schema(
    ...     (Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))),
    ...     target=1,
    ... )
    >>> schema.features, schema.n_states.tolist()
    ((0,), [2, 2])
    """

    variables: tuple[Variable, ...]
    target: int | None = None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    position: dict[str, int] = field(init=False, repr=False, compare=False)
    n_states: IntArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that names are unique and the target exists."""
        names = tuple(variable.name for variable in self.variables)
        position = {name: index for index, name in enumerate(names)}
        for index, name in enumerate(names):
            if position[name] != index:
                raise InputError(
                    f"Two variables are called {name!r}; "
                    "names must be unique, rename one."
                )
        states = np.array([v.n_states for v in self.variables], dtype=np.int64)
        states.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "n_states", states)
        if self.target is not None and not 0 <= self.target < len(self.variables):
            raise InputError(
                f"The target is variable number {self.target}, but there are "
                f"{len(self.variables)}."
            )

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, index: int) -> Variable:
        return self.variables[index]

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Positions of all variables but the target."""
        return tuple(i for i in range(len(self.variables)) if i != self.target)

    @cached_property
    def value_rules(self) -> ValueRules:
        """The rules from values to codes of all variables, for many samples."""
        return ValueRules.of(self.variables)

    @property
    def target_variable(self) -> Variable:
        """The class variable; raises `InputError` if there is none."""
        if self.target is None:
            raise InputError(
                "This network has no target variable; give `target=` or a query."
            )
        return self.variables[self.target]

    @property
    def n_classes(self) -> int:
        """Number of states of the class."""
        return self.target_variable.n_states

    def index(self, name: str) -> int:
        """Position of a variable by name; an unknown name raises `InputError`."""
        try:
            return self.position[name]
        except (KeyError, TypeError):
            raise unknown_name("variable", name, self.names) from None

    def feature_index(self, feature: str | int, argument: str) -> int:
        """Position of a feature given by name or position, with the class last.

        For anything else `InputError` names the `argument`.
        """
        n_features = len(self.variables) - 1
        position = self.index(feature) if isinstance(feature, str) else feature
        if not is_whole(position) or not 0 <= position < n_features:
            raise InputError(
                f"{argument} must be a feature's name or a position from 0 to "
                f"{n_features - 1}, got {feature!r}."
            )
        return int(position)


def cut_texts(cuts: Sequence[float], unit: str | None = None) -> list[str]:
    """Cut points as texts with few digits but distinct, or as dates and times.

    Examples
    --------
    >>> cut_texts([2.5, 1e6 / 3]), cut_texts([86400.0], "datetime")
    (['2.5', '333333'], ['1970-01-02'])
    """
    texts: list[str] = []
    if unit is not None and all(abs(cut) < MAX_SECONDS for cut in cuts):
        texts = time_texts(cuts, unit)
        if len(set(texts)) == len(texts):
            return texts
    for digits in (6, 9, 12, 17):
        texts = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(texts)) == len(texts):
            break
    return texts


def states_array(states: Sequence[State]) -> npt.NDArray[Any]:
    """States as an array of their type, or of objects where types are mixed."""
    mixed = len({type(state) for state in states}) > 1
    return np.array(states, dtype=object) if mixed else np.array(states)
