"""Coded rows of a set, so that a search is timed without anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold

from experiments.parameters.results import Results
from tanager import BayesNetClassifier
from tanager.core import Structure
from tanager.counts import ArrayData
from tanager.datasets import Dataset, load
from tanager.inference import engine_for
from tanager.parameters import ParameterLearner

SEED = 0
FOLDS = 5
FOLDER = Path(__file__).parents[1] / "results" / "structure"

WARMING_ROWS = 200
"""Rows of a first search that is not timed: kernels are compiled and loaded in it."""

Rows = npt.NDArray[np.intp]


class Part(NamedTuple):
    """Training and test rows over the schema of the training rows."""

    train: ArrayData
    test: ArrayData

    @property
    def some(self) -> ArrayData:
        """A few of the training rows."""
        rows = np.random.default_rng(SEED).permutation(self.train.n_samples)
        return self.train.take(rows[:WARMING_ROWS])


class Tested(NamedTuple):
    """Test rows under the tables that a learner made."""

    right: int
    log_loss: float
    seconds: float


def results(name: str, keys: tuple[str, ...]) -> Results:
    """A file of numbers of this experiment."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Results(name, keys, SEED, FOLDER)


def parts(name: str) -> list[Part]:
    """A set of the 2010 paper, by its published split or in five folds."""
    # The paper reads an empty field of vote as a third value.
    missing_as = "unknown" if name == "uci25/vote" else None
    data = load(name, missing_as=missing_as)
    rows = np.arange(data.n_rows)
    if data.n_train is not None:
        return [coded(data, rows[: data.n_train], rows[data.n_train :])]
    folds = KFold(FOLDS, shuffle=True, random_state=SEED)
    return [coded(data, train, test) for train, test in folds.split(rows)]


def coded(data: Dataset, train: Rows, test: Rows, encoder: Any = "mdl") -> Part:
    """Codes of training and test rows, with bins from the training rows."""
    X, y = data.X, np.asarray(data.y)
    model = BayesNetClassifier(encoder, "nb", "ml").fit(X.iloc[train], y[train])
    schema = model.network_.schema
    known = len(model.classes_)
    place = np.searchsorted(model.classes_, y).clip(max=known - 1)
    labels = np.where(model.classes_[place] == y, place, known)
    labels = labels.astype(np.min_scalar_type(known))
    codes = model.encoder_.encode(X)
    return Part(
        *(
            ArrayData(schema, np.asfortranarray(codes[rows]), labels[rows])
            for rows in (train, test)
        )
    )


def searched(learner: Any, data: ArrayData) -> tuple[Any, float]:
    """What a structure learner finds, and the processor seconds it takes."""
    # Pairs are counted once per object; here everyone counts them anew.
    data = ArrayData(data.schema, data.codes, data.labels)
    begin = process_time()
    found = learner.learn(data, random_state=np.random.default_rng(SEED))
    return found, process_time() - begin


def tested(learner: ParameterLearner, structure: Structure, part: Part) -> Tested:
    """Learn the tables of a structure and classify the test rows."""
    begin = process_time()
    tables = learner.learn(
        structure, part.train, random_state=np.random.default_rng(SEED)
    )
    seconds = process_time() - begin
    log_joint = engine_for(tables).log_joint(part.test.codes)
    log_total = np.logaddexp.reduce(log_joint, axis=1)
    labels = part.test.labels.astype(np.intp)
    known = np.flatnonzero(labels < log_joint.shape[1])
    right = log_joint.argmax(axis=1) == labels
    own = log_joint[known, labels[known]] - log_total[known]
    return Tested(int(right.sum()), -float(own.sum()), seconds)


def arcs(structure: Structure) -> int:
    """Arcs between features."""
    target = structure.target
    return sum(len(set(of) - {target}) for of in structure.parents)


def by_size(names: Sequence[str]) -> list[str]:
    """Sets with few cells first."""
    sizes = {}
    for name in names:
        data = load(name)
        sizes[name] = data.n_rows * len(data.feature_names)
    return sorted(names, key=sizes.__getitem__)
