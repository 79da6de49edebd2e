"""Values that describe a network: schema, structure, layout, parameters."""

from tanager.model.equivalence_class import Pattern, structural_hamming_distance
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.schema import Schema, State, Variable
from tanager.model.structure import Structure

__all__ = [
    "FamilyLayout",
    "Parameters",
    "Pattern",
    "Schema",
    "State",
    "Structure",
    "Variable",
    "structural_hamming_distance",
]
