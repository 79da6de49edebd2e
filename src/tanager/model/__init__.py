"""Values that describe a network: schema, structure, layout, parameters."""

from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.schema import Schema, State, Variable
from tanager.model.structure import Structure

__all__ = ["FamilyLayout", "Parameters", "Schema", "State", "Structure", "Variable"]
