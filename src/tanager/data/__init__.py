"""Coded samples and their counts."""

from tanager.data.coded_data import ArrayData, CountedData
from tanager.data.counts import Counts, PairCounts
from tanager.data.folds import hold_out, stratified_folds, stratified_subsample
from tanager.data.information import (
    class_information,
    conditional_information,
    entropy,
    explaining_away,
    pair_class_information,
)

__all__ = [
    "ArrayData",
    "CountedData",
    "Counts",
    "PairCounts",
    "class_information",
    "conditional_information",
    "entropy",
    "explaining_away",
    "hold_out",
    "pair_class_information",
    "stratified_folds",
    "stratified_subsample",
]
