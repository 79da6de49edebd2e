"""Information measures on counts."""

from tanager.measures.information import (
    class_information,
    conditional_information,
    entropy,
    pair_class_information,
)

__all__ = [
    "class_information",
    "conditional_information",
    "entropy",
    "pair_class_information",
]
