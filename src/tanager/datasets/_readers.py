"""Reading the files of a local data folder: CSV tables and arrays."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from typing import Any

import numpy as np

from tanager.datasets._catalog import DatasetInfo
from tanager.datasets._dataset import (
    TARGET,
    Column,
    Nominal,
    find_pandas,
    make_frame,
    nominal_column,
    numeric_column,
    sort_values,
)
from tanager.errors import InputError
from tanager.types import AnyArray

GZIP = b"\x1f\x8b"
"""The first bytes of a gzipped file."""


def read_table(entry: DatasetInfo, content: bytes, fold: int) -> tuple[Any, int | None]:
    """Read a file's content into a frame and the number of training samples."""
    if entry.layout is None:
        return read_csv(entry, content), entry.n_train
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if entry.layout == "folds":
                return _read_fold(entry, arrays, fold)
            if entry.layout == "images":
                return _read_images(arrays), entry.n_train
            return _read_covtype(arrays), entry.n_train
    except (KeyError, OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"The arrays of dataset {entry.name!r} cannot be read: {error}."
        ) from error


def read_csv(entry: DatasetInfo, content: bytes) -> Any:
    """Read a CSV file, often gzipped, types as the catalogue says; empty is missing."""
    if content.startswith(GZIP):
        content = gzip.decompress(content)
    header = next(csv.reader([content.split(b"\n", 1)[0].decode("utf-8")]))
    if header != [*entry.columns, TARGET]:
        raise InputError(
            f"Dataset {entry.name!r} has other columns than the catalogue says: "
            f"expected {[*entry.columns, TARGET]}, got {header}."
        )
    pandas = find_pandas()
    if pandas is None:
        reader = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
        next(reader)
        return make_text_frame(entry, list(reader))
    numeric = set(entry.numeric_columns)
    frame = pandas.read_csv(
        io.BytesIO(content),
        dtype={name: str for name in header if name not in numeric},
        keep_default_na=False,
        na_values=[""],
        low_memory=False,
        **_exact_floats(pandas.__version__),
    )
    for name in header:
        if name in numeric:
            if frame[name].dtype.kind not in "if":
                raise InputError(
                    f"Column {name!r} of dataset {entry.name!r} should hold numbers."
                )
        else:
            # Reading as "category" would turn codes into numbers in pandas 3.
            categories = sort_values(set(frame[name].dropna().unique()))
            frame[name] = pandas.Categorical(frame[name], categories=categories)
    return frame


def _exact_floats(version: str) -> dict[str, str]:
    """Ask pandas for the nearest float; newer versions do, and deprecate asking."""
    release = tuple(int(part) for part in version.split(".")[:2])
    return {"float_precision": "round_trip"} if release < (3, 1) else {}


def make_text_frame(entry: DatasetInfo, rows: list[list[str]]) -> Any:
    """Make a frame of rows of text, class last, types as the catalogue says."""
    columns: dict[str, Column] = {}
    for name, kind, texts in zip(
        (*entry.columns, TARGET),
        (*entry.kinds, "c"),
        zip(*rows, strict=True),
        strict=True,
    ):
        values = [text if text else None for text in texts]
        columns[name] = (
            numeric_column(name, values) if kind == "n" else nominal_column(values)
        )
    return make_frame(columns)


def _read_fold(entry: DatasetInfo, arrays: Any, fold: int) -> tuple[Any, int]:
    # The bins are ordered; those of the test samples all occur in the training samples.
    train: AnyArray = arrays[f"x_tr_fold{fold}"]
    x = np.concatenate([train, arrays[f"x_te_fold{fold}"]])
    labels = np.concatenate([arrays[f"t_tr_fold{fold}"], arrays[f"t_te_fold{fold}"]])
    columns: dict[str, Column] = {
        f"x{j + 1}": Nominal(
            x[:, j].astype(np.int64) - 1,
            [str(value + 1) for value in range(int(x[:, j].max()))],
            ordered=True,
        )
        for j in range(x.shape[1])
    }
    columns[TARGET] = nominal_column([entry.labels[label] for label in labels])
    return make_frame(columns), len(train)


def _read_images(arrays: Any) -> Any:
    x: AnyArray = np.concatenate([arrays["x_train"], arrays["x_test"]])
    labels: AnyArray = np.concatenate([arrays["y_train"], arrays["y_test"]])
    if x.dtype.kind == "f":
        x = x.astype(np.float64)
    _, height, width = x.shape
    # One copy makes every pixel's column contiguous.
    pixels = np.ascontiguousarray(x.reshape(len(x), -1).T)
    columns: dict[str, Column] = {
        f"pixel_{i // width}_{i % width}": pixels[i] for i in range(height * width)
    }
    columns[TARGET] = _nominal(labels)
    return make_frame(columns)


def _read_covtype(arrays: Any) -> Any:
    names = [str(name) for name in arrays["names"]]
    numeric: AnyArray = arrays["numeric"].astype(np.int64)
    columns: dict[str, Column] = {
        name: np.ascontiguousarray(numeric[:, j])
        for j, name in enumerate(names[: numeric.shape[1]])
    }
    columns[names[-3]] = _nominal(arrays["wilderness_area"])
    columns[names[-2]] = _nominal(arrays["soil_type"])
    columns[TARGET] = _nominal(arrays["y"])
    return make_frame(columns)


def _nominal(labels: AnyArray) -> Nominal:
    present, codes = np.unique(labels, return_inverse=True)
    return Nominal(codes, [str(value) for value in present])
