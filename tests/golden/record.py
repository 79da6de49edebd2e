"""Records what every registered method learns from five small datasets.

``python -m tests.golden.record OUT_DIR`` writes to ``OUT_DIR/<version of tanager>``

- ``<dataset>.json``: the classes and, for every method, the edges of its networks and
  the probabilities of the samples, or the type of the error that `fit` raises;
- ``models-<dataset>.zip``: the model file of every method.

Floats are written with as many digits as give back the same double.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import tanager
from tanager import BayesNetClassifier

N_SAMPLES = 12


class Dataset(NamedTuple):
    """Training rows, samples to classify, and further arguments."""

    X: Any
    y: np.ndarray
    samples: Any
    weights: np.ndarray | None = None
    arguments: dict[str, Any] = {}  # noqa: RUF012


def noisy(random, y, n_states, noise):
    """States that follow the class, except for a random fraction."""
    other = random.integers(0, n_states, len(y))
    return np.where(random.random(len(y)) < noise, other, y % n_states)


def named(codes, *names):
    """Strings for codes, in an array that can hold None."""
    return np.array(names, dtype=object)[codes]


def with_missing(random, columns, fraction):
    """Columns with missing values: None in object columns, NaN in float columns."""
    incomplete = {}
    for name, values in columns.items():
        incomplete[name] = values.copy()
        missing = None if values.dtype == object else np.nan
        incomplete[name][random.random(len(values)) < fraction] = missing
    return incomplete


def split(columns, y, n_rows):
    """The first rows to learn from, and the columns of the others."""
    X = {name: values[:n_rows] for name, values in columns.items()}
    return X, y[:n_rows], {name: values[n_rows:] for name, values in columns.items()}


def categorical():
    """Complete categories, two classes; a new category in the samples."""
    random = np.random.default_rng(1)
    n_rows = 80
    y = random.integers(0, 2, n_rows + N_SAMPLES)
    a = noisy(random, y, 2, 0.5)
    b = noisy(random, a + y, 3, 0.4)
    columns = {
        "a": named(a, "no", "yes"),
        "b": named(b, "low", "mid", "top"),
        "c": named(noisy(random, b, 3, 0.5), "p", "q", "r"),
        "d": named(noisy(random, a ^ y, 2, 0.3), "u", "v"),
        "e": named(random.integers(0, 4, len(y)), "w", "x", "y", "z"),
    }
    X, y, samples = split(columns, y, n_rows)
    samples = with_missing(random, samples, 0.15)
    samples["b"][0] = "never seen"
    return Dataset(X, y, samples)


def mixed():
    """Mixed features with missing values, three classes; an all-missing sample."""
    random = np.random.default_rng(2)
    n_rows = 90
    y = random.integers(0, 3, n_rows + N_SAMPLES)
    a = np.round(y + random.normal(size=len(y)), 2)
    c = noisy(random, y, 4, 0.5)
    columns = {
        "a": a,
        "b": np.round(a - 2 * y + random.normal(size=len(y)), 2),
        "c": named(c, "p", "q", "r", "s"),
        "d": named(noisy(random, c + y, 3, 0.4), "u", "v", "w"),
    }
    X, y, samples = split(with_missing(random, columns, 0.1), y, n_rows)
    samples["c"][0] = "never seen"
    for values in samples.values():
        values[1] = None  # nothing is observed
    return Dataset(X, np.array(["one", "three", "two"])[y], samples)


def weighted():
    """Row weights, some of them zero, three classes, a column that is constant."""
    random = np.random.default_rng(3)
    n_rows = 90
    y = random.integers(0, 3, n_rows + N_SAMPLES)
    a = noisy(random, y, 3, 0.4)
    columns = {
        "a": named(a, "p", "q", "r"),
        "b": named(noisy(random, a + y, 2, 0.3), "u", "v"),
        "same": named(np.zeros_like(y), "only"),
        "d": np.round(a + y + random.normal(size=len(y)), 1),
        "e": named(noisy(random, y // 2, 2, 0.5), "no", "yes"),
    }
    X, y, samples = split(columns, y, n_rows)
    samples = with_missing(random, samples, 0.1)
    samples["a"][0] = samples["same"][1] = "never seen"
    weights = np.round(random.random(n_rows) * 3, 2)
    weights[random.random(n_rows) < 0.15] = 0.0
    return Dataset(X, y + 1, samples, weights)


def numeric():
    """A numeric array, five classes; samples beyond the training range."""
    random = np.random.default_rng(4)
    n_rows = 120
    y = random.integers(0, 5, n_rows + N_SAMPLES)
    X = random.normal(size=(len(y), 4))
    X[:, 0] += 2 * y
    X[:, 1] += X[:, 0] - 3 * (y % 3)
    X[:, 2] += 2 * (y == 4)
    X = np.round(X, 2)
    samples = X[n_rows:].copy()
    samples[random.random(samples.shape) < 0.15] = np.nan
    samples[0] = 99.0
    return Dataset(X[:n_rows], y[:n_rows], samples)


def ordered():
    """Ordered and binary features with missing values, string labels, class weights."""
    random = np.random.default_rng(5)
    n_rows = 100
    y = np.minimum(random.integers(0, 4, n_rows + N_SAMPLES), 2)
    size = noisy(random, y, 4, 0.5)
    columns = {
        "size": named(size, "tiny", "small", "large", "huge"),
        "rank": named(noisy(random, size + y, 3, 0.4), "third", "second", "first"),
        "left": named(noisy(random, size, 2, 0.3), "no", "yes"),
        "flag": noisy(random, y // 2, 2, 0.3).astype(float),
        "free": named(random.integers(0, 2, len(y)), False, True),
    }
    X, y, samples = split(with_missing(random, columns, 0.1), y, n_rows)
    samples["left"][0] = "never seen"
    for table in X, samples:
        sizes, ranks = ["tiny", "small", "large", "huge"], ["third", "second", "first"]
        table["size"] = pd.Categorical(table["size"], sizes, ordered=True)
        table["rank"] = pd.Categorical(table["rank"], ranks, ordered=True)
    labels = np.array(["common", "rare", "usual"])[y]
    balanced = {"class_weight": "balanced"}
    return Dataset(pd.DataFrame(X), labels, pd.DataFrame(samples), arguments=balanced)


DATASETS = {
    make.__name__: make for make in (categorical, mixed, weighted, numeric, ordered)
}


def fitted(name, data):
    """The classifier of that name, learned from the rows of a dataset."""
    model = BayesNetClassifier.from_name(name, random_state=0, **data.arguments)
    return model.fit(data.X, data.y, sample_weight=data.weights)


def edges_of(model):
    """A text for every network: its arcs, parent > child."""
    return [
        ", ".join(f"{parent} > {child}" for parent, child in network.edges)
        for network in model.networks_
    ]


def record(folder, title, data):
    """Write the two files of a dataset."""
    classes, lines = np.unique(data.y).tolist(), []
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(folder / f"models-{title}.zip", "w") as models,
    ):
        for name in tanager.names():
            try:
                model = fitted(name, data)
            except Exception as error:
                entry = {"error": type(error).__name__}
            else:
                probabilities = model.predict_proba(data.samples).tolist()
                entry = {"edges": edges_of(model), "probabilities": probabilities}
                path = Path(scratch) / f"{name}.json"
                model.save(path)
                member = zipfile.ZipInfo(path.name)  # without the time
                models.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
            lines.append(f"{json.dumps(name)}: {json.dumps(entry)}")
    text = ",\n".join(lines).replace("], [", "],\n  [")  # a line for every sample
    text = text.replace(', "probabilities": [', ',\n "probabilities": [\n  ')
    (folder / f"{title}.json").write_text(
        f'{{"classes": {json.dumps(classes)},\n"methods": {{\n{text}\n}}}}\n',
        encoding="utf-8",
    )


def main(out):
    """Record all datasets."""
    folder = Path(out) / tanager.__version__
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for title, make in DATASETS.items():
        record(folder, title, make())


if __name__ == "__main__":
    main(sys.argv[1])
