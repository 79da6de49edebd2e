"""Counting: family tables and pair tables, as values that add."""

from tanager.counts.counted import CountedData
from tanager.counts.counts import Counts
from tanager.counts.data import ArrayData
from tanager.counts.pairs import PairCounts

__all__ = ["ArrayData", "CountedData", "Counts", "PairCounts"]
