"""Coded samples and their counts."""

from tanager.data.array_data import ArrayData
from tanager.data.counts import CountedData, Counts
from tanager.data.information import (
    class_information,
    conditional_information,
    entropy,
    pair_class_information,
)
from tanager.data.pair_counts import PairCounts

__all__ = [
    "ArrayData",
    "CountedData",
    "Counts",
    "PairCounts",
    "class_information",
    "conditional_information",
    "entropy",
    "pair_class_information",
]
