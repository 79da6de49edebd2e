"""Names: short strings for parts, published names for whole methods."""

from tanager.registry.components import (
    encoder_from,
    is_auto,
    parameters_from,
    part_classes,
    parts_from,
    structure_from,
)
from tanager.registry.method_names import Recipe, describe, names, parse
from tanager.registry.paper_presets import PAPERS, Paper

__all__ = [
    "PAPERS",
    "Paper",
    "Recipe",
    "describe",
    "encoder_from",
    "is_auto",
    "names",
    "parameters_from",
    "parse",
    "part_classes",
    "parts_from",
    "structure_from",
]
