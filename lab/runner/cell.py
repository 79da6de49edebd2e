"""A measurement that can be made by itself, in any process, and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any

Value = str | int | float | bool | None | Sequence["Value"]
"""What a parameter of a cell may be: what JSON can say."""

Numbers = Mapping[str, float | Sequence[float]]
"""What a cell gives: numbers, or a series of them (one for every fold) by name."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One measurement: what is measured, and under which parameters.

    Parameters
    ----------
    measurement : str
        Name of a function of `lab.measurements`.
    parameters : mapping from str to Value
        Its arguments. Datasets are named in ``data``, seeds are among them, too.

    Examples
    --------
    >>> cell = Cell("cross_validation_scores", {"method": "NB-ML", "data": "iris"})
    >>> cell.data
    ('iris',)
    >>> cell == Cell("cross_validation_scores", {"data": "iris", "method": "NB-ML"})
    True
    """

    measurement: str
    parameters: Mapping[str, Value]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @cached_property
    def text(self) -> str:
        """The cell in JSON, parameters in alphabetical order."""
        return canonical([self.measurement, dict(self.parameters)])

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the datasets it reads."""
        named = self.parameters.get("data", ())
        if isinstance(named, str):
            return (named,)
        assert isinstance(named, Sequence)
        return tuple(str(name) for name in named)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __getstate__(self) -> tuple[str, dict[str, Value]]:
        return self.measurement, dict(self.parameters)

    def __setstate__(self, state: tuple[str, dict[str, Value]]) -> None:
        object.__setattr__(self, "measurement", state[0])
        object.__setattr__(self, "parameters", MappingProxyType(state[1]))


def canonical(value: Any) -> str:
    """JSON without a choice: sorted names, no blanks, no NaN."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value, in hexadecimal digits."""
    return sha256(canonical(value).encode("utf-8")).hexdigest()
