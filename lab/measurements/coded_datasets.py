"""Datasets as codes, with structure search and parameters on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold

from lab.measurements.mdl_encoder_variants import ENCODERS
from tanager import InputError
from tanager.classifiers import BayesNetClassifier
from tanager.data import ArrayData
from tanager.datasets import Dataset, load
from tanager.encoding import TableEncoder
from tanager.inference import engine_for
from tanager.model import FamilyLayout, Parameters, Schema, Structure, Variable
from tanager.parameters import ParameterLearner
from tanager.structure import StructureLearner, StructureResult
from tanager.types import FloatArray, IndexArray

SEED = 0
"""Of folds, and of learners that draw random numbers."""

WARMING_ROWS = 200
"""Samples of a first search that is not timed, in which kernels are compiled."""

DIGITS = "images/mnist"
"""A set whose images are made smaller."""

Smaller = Callable[[npt.NDArray[np.uint8]], FloatArray]


class Part(NamedTuple):
    """Training and test samples over the schema of the training samples."""

    train: ArrayData
    test: ArrayData

    @property
    def some(self) -> ArrayData:
        """A few of the training samples."""
        rows = np.random.default_rng(SEED).permutation(self.train.n_samples)
        return self.train.take(rows[:WARMING_ROWS])


class StructureEvaluation(NamedTuple):
    """Test samples under the tables that a learner made."""

    right: int
    log_loss: float
    seconds: float


@lru_cache(maxsize=2)
def part_of(
    data: str,
    fold: int | None = None,
    *,
    n_folds: int = 5,
    missing_as: str | None = None,
    partition: int | None = None,
    encoder: str = "mdl",
) -> Part:
    """Training and test samples of a dataset, in memory for the next cell.

    Parameters
    ----------
    data : str
        Name of the dataset.
    fold : int or None, default=None
        Which fold is the test set, from 1 on; None for the published split.
    n_folds : int, default=5
        Folds, not stratified.
    missing_as : str or None, default=None
        See `tanager.datasets.load`.
    partition : int or None, default=None
        Seed of the partition into folds; None is that of all tables.
    encoder : str, default="mdl"
        How numbers become states: a name of `ENCODERS`.

    Returns
    -------
    Part
        Discretised on the training samples.

    Examples
    --------
    >>> train, test = part_of("sklearn/iris", 5)
    >>> train.n_samples, test.n_samples
    (120, 30)
    """
    if data == DIGITS:
        return digits()
    found = load(data, missing_as=missing_as)
    if fold is None:
        if found.n_train is None:
            raise InputError(
                f"Dataset {data!r} has no published split; name a fold from 1 to "
                f"{n_folds}."
            )
        return coded(found, *found.folds[0], ENCODERS[encoder] or encoder)
    seed = SEED if partition is None else partition
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    train, test = list(folds.split(np.arange(found.n_rows)))[fold - 1]
    return coded(found, train, test, ENCODERS[encoder] or encoder)


def coded(
    data: Dataset, train: IndexArray, test: IndexArray, encoder: Any = "mdl"
) -> Part:
    """Codes of training and test samples, with bins from the training samples.

    Examples
    --------
    >>> iris = load("sklearn/iris")
    >>> rows = np.random.default_rng(0).permutation(iris.n_rows)
    >>> part = coded(iris, rows[:100], rows[100:])
    >>> part.train.n_samples, part.test.n_samples, len(part.train.schema)
    (100, 50, 5)
    """
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


def halved(images: npt.NDArray[np.uint8]) -> FloatArray:
    """Images of half the size: means of two by two pixels.

    Examples
    --------
    >>> halved(np.array([[[0, 4], [8, 8]]], dtype=np.uint8))
    array([[[5.]]])
    """
    n, height, width = images.shape
    blocks = images.reshape(n, height // 2, 2, width // 2, 2)
    means: FloatArray = blocks.mean(axis=(2, 4))
    return means


def every_second(images: npt.NDArray[np.uint8], first: int = 1) -> FloatArray:
    """Images of half the size: every second pixel of every second row.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Grey values.
    first : {0, 1}, default=1
        Which pixel is the first that stays.

    Examples
    --------
    >>> every_second(np.array([[[0, 4], [8, 9]]], dtype=np.uint8))
    array([[[9.]]])
    """
    return images[:, first::2, first::2].astype(np.float64)


def small_digits(
    smaller: Smaller = every_second,
) -> tuple[FloatArray, npt.NDArray[np.uint8], int]:
    """Images of MNIST at 14 x 14 pixels, their digits, and how many are to train.

    Parameters
    ----------
    smaller : callable, default=every_second
        What makes 14 x 14 pixels of 28 x 28.
    """
    found = load(DIGITS)
    assert found.n_train is not None
    images = np.asarray(found.X).reshape(-1, 28, 28)
    labels = np.asarray(found.y).astype(np.uint8)
    return smaller(images).reshape(-1, 196), labels, found.n_train


def digits(smaller: Smaller = every_second) -> Part:
    """Training and test images of `small_digits`, pixels discretised by MDL.

    Pernkopf and Bilmes (2010) do not say how they make images smaller. Probably they
    took every second pixel from the second on: accuracies and the size of a network
    come out so; see the experiment table1-mnist.
    """
    pixels, labels, border = small_digits(smaller)
    rows = np.arange(len(labels))
    return binned(pixels, labels, rows[:border], rows[border:])


def binned(
    pixels: FloatArray,
    labels: npt.NDArray[np.uint8],
    train: IndexArray,
    test: IndexArray,
) -> Part:
    """Images of digits, pixels discretised by MDL of the training samples."""
    data = in_bins(pixels, labels, train)
    return Part(data.take(train), data.take(test))


def in_bins(
    pixels: FloatArray, labels: npt.NDArray[np.uint8], known: IndexArray
) -> ArrayData:
    """All images of digits, pixels discretised by MDL of some of them."""
    encoder = TableEncoder().fit(pixels[known], labels[known])
    target = Variable("class", tuple(range(10)))
    schema = Schema((*encoder.schema_, target), target=pixels.shape[1])
    return ArrayData(schema, encoder.encode(pixels), labels)


def searched(
    learner: StructureLearner, data: ArrayData
) -> tuple[StructureResult, float]:
    """What a structure learner finds, and the processor seconds it takes."""
    # Pairs are counted once per object; here everyone counts them again.
    data = ArrayData(data.schema, data.codes, data.labels, data.weights)
    begin = process_time()
    found = learner.learn(data, random_state=np.random.default_rng(SEED))
    return found, process_time() - begin


def tables_of(
    learner: ParameterLearner, structure: Structure, train: ArrayData
) -> Parameters:
    """The tables that a learner makes for a structure."""
    return learner.learn(structure, train, random_state=np.random.default_rng(SEED))


def evaluate_structure(
    learner: ParameterLearner, structure: Structure, part: Part
) -> StructureEvaluation:
    """Learn the tables of a structure and classify the test samples."""
    begin = process_time()
    tables = tables_of(learner, structure, part.train)
    seconds = process_time() - begin
    log_joint = engine_for(tables).log_joint(part.test.codes)
    log_total = np.logaddexp.reduce(log_joint, axis=1)
    labels = part.test.labels.astype(np.intp)
    known = np.flatnonzero(labels < log_joint.shape[1])
    right = log_joint.argmax(axis=1) == labels
    own = log_joint[known, labels[known]] - log_total[known]
    return StructureEvaluation(int(right.sum()), -float(own.sum()), seconds)


def arcs(structure: Structure) -> int:
    """Arcs between features."""
    target = structure.target
    return sum(len(set(of) - {target}) for of in structure.parents)


def free_parameters(structure: Structure, schema: Schema) -> int:
    """Free parameters of a network: states less one, per configuration of parents.

    Examples
    --------
    >>> schema = Schema((Variable("x", ("a", "b", "c")), Variable("y", (0, 1))), 1)
    >>> free_parameters(Structure.class_rooted([(), ()], 1), schema)
    5
    """
    layout = FamilyLayout.of_families(
        schema.n_states.tolist(), structure.families, structure.target
    )
    return sum(layout.n_free(variable) for variable in range(len(schema)))
