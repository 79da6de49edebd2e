"""`StoredFields`: values whose copies and files hold what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, eq=False)
class StoredFields:
    """A dataclass whose pickles hold its fields only; cached properties are made again.

    Otherwise a file would depend on what had been asked before it was written, and
    formats such as that of skops cannot hold every dictionary: they write keys as text
    and read ``"False"`` as True.

    Examples
    --------
    >>> from functools import cached_property
    >>> @dataclass(frozen=True)
    ... class Square(StoredFields):
    ...     side: float
    ...
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> square = Square(2.0)
    >>> square.area, square.__getstate__()
    (4.0, {'side': 2.0})
    """

    def __getstate__(self) -> dict[str, Any]:
        """The fields by name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}
