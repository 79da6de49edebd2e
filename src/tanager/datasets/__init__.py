"""Datasets by name: local files, embedded, generated or downloaded."""

from tanager.datasets import generators
from tanager.datasets._catalog import DatasetInfo, info, names
from tanager.datasets._dataset import Dataset
from tanager.datasets._loaders import load, path
from tanager.datasets.generators import remove_values

__all__ = [
    "Dataset",
    "DatasetInfo",
    "generators",
    "info",
    "load",
    "names",
    "path",
    "remove_values",
]
