"""Value types every other package speaks in, and the few helpers they share."""

from tanager.core.errors import (
    CapabilityError,
    FileFormatError,
    InputError,
    TableSizeError,
    TanagerError,
)
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.schema import Schema, State, Variable
from tanager.core.structure import Structure

__all__ = [
    "CapabilityError",
    "FamilyLayout",
    "FileFormatError",
    "InputError",
    "Parameters",
    "Schema",
    "State",
    "Structure",
    "TableSizeError",
    "TanagerError",
    "Variable",
]
