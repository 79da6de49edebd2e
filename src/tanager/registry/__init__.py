"""Names: short strings for parts, published names for whole methods."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

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

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".components": (
                "encoder_from", "is_auto", "parameters_from", "part_classes",
                "parts_from", "structure_from",
            ),
            ".method_names": ("Recipe", "describe", "names", "parse"),
            ".paper_presets": ("PAPERS", "Paper"),
        },
    )  # fmt: skip
