"""Data for the benchmarks: made up, or read from the folder of datasets."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lab.benchmarks._harness import Skip
from tanager import TableEncoder
from tanager.data import ArrayData
from tanager.datasets import load
from tanager.encoding import NumericEncoder
from tanager.encoding.labels import encode_labels
from tanager.model import Schema, Variable

N_FEATURES = 50
N_STATES = 5
N_CLASSES = 5

Codes = npt.NDArray[np.uint8]


@lru_cache(maxsize=1)
def synthetic(n_rows: int, seed: int = 0) -> tuple[Codes, Codes]:
    """Codes of 50 features with 5 states and labels of 5 classes.

    Every feature depends on the class and, weakly, on the feature before it, so that
    there is a tree to find and most samples have a clear class.

    Returns
    -------
    codes : ndarray of uint8, shape (n_rows, 50), row-major
    labels : ndarray of uint8, shape (n_rows,)
    """
    random = np.random.default_rng(seed)
    labels = random.integers(N_CLASSES, size=n_rows, dtype=np.uint8)
    tables = random.dirichlet(
        np.full(N_STATES, 8.0), size=(N_FEATURES, N_STATES, N_CLASSES)
    )
    bounds = np.cumsum(tables, axis=-1)[..., :-1].astype(np.float32)
    codes = np.empty((n_rows, N_FEATURES), dtype=np.uint8)
    step = 100_000
    for start in range(0, n_rows, step):
        label = labels[start : start + step]
        before = np.zeros(len(label), dtype=np.uint8)
        for j in range(N_FEATURES):
            drawn = random.random(len(label), dtype=np.float32)
            before = (drawn[:, None] > bounds[j, before, label]).sum(
                axis=1, dtype=np.uint8
            )
            codes[start : start + step, j] = before
    codes.flags.writeable = labels.flags.writeable = False
    return codes, labels


def synthetic_schema() -> Schema:
    """The schema of `synthetic`."""
    features = tuple(Variable(f"x{j}", tuple(range(5))) for j in range(N_FEATURES))
    target = Variable("class", tuple(range(N_CLASSES)))
    return Schema((*features, target), target=N_FEATURES)


def with_missing(codes: Codes, share: float, seed: int = 1) -> Codes:
    """A copy in which a fraction of the cells is missing, as the code 5."""
    random = np.random.default_rng(seed)
    missing = codes.copy()
    step = 100_000
    for start in range(0, len(codes), step):
        block = missing[start : start + step]
        block[random.random(block.shape, dtype=np.float32) < share] = N_STATES
    return missing


def image_set(name: str) -> tuple[Codes, Codes, Codes, Codes]:
    """Training codes and labels, test codes and labels of a dataset in ``images/``."""
    with np.load(data_folder() / "images" / f"{name}.npz") as arrays:
        parts = [arrays[f"{part}_fold1"] for part in ("x_tr", "t_tr", "x_te", "t_te")]
    return parts[0], parts[1], parts[2], parts[3]


@lru_cache(maxsize=1)
def digits_by_14() -> ArrayData:
    """The training images of ``images/mnist`` at 14 x 14 pixels, as MDL codes."""
    with np.load(data_folder() / "images" / "mnist.npz") as arrays:
        images, labels = arrays["x_train"], arrays["y_train"].astype(np.uint8)
    pixels = images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    encoder = TableEncoder()
    codes = encoder.fit_encode(pixels, labels, n_jobs=2)
    target = Variable("class", tuple(range(10)))
    return ArrayData(Schema((*encoder.schema_, target), target=196), codes, labels)


def covtype() -> tuple[npt.NDArray[np.number], npt.NDArray[np.integer]]:
    """The ten numeric columns of ``large/covtype`` and its classes."""
    with np.load(data_folder() / "large" / "covtype.npz") as arrays:
        return arrays["numeric"], arrays["y"]


def data_folder() -> Path:
    """The folder of datasets, named by the environment."""
    folder = os.environ.get("TANAGER_DATA")
    if not folder:
        raise Skip("needs the folder of datasets; set TANAGER_DATA")
    return Path(folder)


@lru_cache(maxsize=2)
def coded_set(name: str, numeric: str | NumericEncoder = "mdl") -> ArrayData:
    """The samples of a dataset by its name, such as "large/adult", as codes."""
    data_folder()
    dataset = load(name)
    encoder = TableEncoder(numeric=numeric)
    codes = encoder.fit_encode(dataset.X, dataset.y)
    classes, labels = encode_labels(dataset.y, len(codes), "benchmarks")
    schema = Schema(
        (*encoder.schema_, Variable("class", tuple(classes.tolist()))),
        target=codes.shape[1],
    )
    return ArrayData(schema, codes, labels)
