"""Structures on data whose distribution is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from lab.measurements.coded_datasets import (
    SEED,
    Part,
    coded,
    evaluate_structure,
    searched,
    tables_of,
)
from lab.measurements.synthetic_datasets import (
    ClassTrees,
    class_trees,
    random_distribution,
)
from lab.runner.cell import Numbers
from tanager.data import ArrayData
from tanager.datasets.generators import three_binary
from tanager.inference import engine_for
from tanager.model import Structure
from tanager.registry import parameters_from, structure_from

TEST_ROWS = 1000

PAIR = (0, 2)
"""X1 and X3 of `three_binary`."""


def three_features(
    *, structure: str, parameters: Sequence[str], n_samples: int, repetitions: int
) -> Numbers:
    """Accuracy where one arc separates the classes, and whether it is found.

    Parameters
    ----------
    structure, parameters
        See `structure_accuracy`.
    n_samples : int
        Training samples.
    repetitions : int
        Samples, each with test samples of its own.
    """
    found: dict[str, list[float]] = {"found": []}
    for repetition in range(repetitions):
        part = three_binary_part(n_samples, repetition)
        result, _ = searched(structure_from(structure), part.train)
        found["found"].append(float(is_joined(result.structure)))
        for name in parameters:
            right = evaluate_structure(
                parameters_from(name), result.structure, part
            ).right
            found.setdefault(f"accuracy_{name}", []).append(right / TEST_ROWS)
    return found


def three_binary_part(n_samples: int, repetition: int) -> Part:
    """Training and test samples of `three_binary`."""
    random = np.random.default_rng([n_samples, repetition])
    data = three_binary(n_samples=n_samples + TEST_ROWS, random_state=random)
    rows = np.arange(data.n_rows)
    return coded(data, rows[:n_samples], rows[n_samples:], "categorical")


def is_joined(structure: Structure) -> bool:
    """Whether there is an arc between X1 and X3."""
    first, last = PAIR
    return first in structure.parents[last] or last in structure.parents[first]


def best_accuracy() -> float:
    """Accuracy of the true distribution of `three_binary`, the most there can be.

    Examples
    --------
    >>> round(best_accuracy(), 12)
    0.65
    """
    total = 0.0
    for x1, x2, x3 in product((0, 1), repeat=3):
        before = 0.5 * (0.75 if x2 == x1 else 0.25)
        in_class = [
            0.3 * (x3 == likely) + 0.5 * (x3 == x2) + 0.1 for likely in (x1, 1 - x1)
        ]
        total += before * 0.5 * max(in_class)
    return total


def distribution_likelihood(
    *,
    structures: Sequence[str],
    n_features: int,
    n_samples: int,
    n_distributions: int,
    block: int,
) -> Numbers:
    """Conditional log likelihood of structures on samples of random distributions.

    Parameters
    ----------
    structures : sequence of str
        See `structure_accuracy`.
    n_features, n_samples : int
        See `random_distribution`.
    n_distributions : int
        How many distributions.
    block : int
        Which ones: a seed.

    Returns
    -------
    dict
        ``likelihood_`` and the name of a structure: mean of log P(class | sample) over
        the training samples with tables of frequencies, one for every distribution.
    """
    means: dict[str, list[float]] = {f"likelihood_{name}": [] for name in structures}
    for number in range(n_distributions):
        data, _ = random_distribution(
            n_features=n_features,
            n_samples=n_samples,
            random_state=np.random.default_rng([SEED, n_features, block, number]),
        )
        rows = np.arange(data.n_rows)
        train = merged(coded(data, rows, rows[:1], "categorical").train)
        for name in structures:
            found, _ = searched(structure_from(name), train)
            means[f"likelihood_{name}"].append(_likelihood(found.structure, train))
    return means


def _likelihood(structure: Structure, train: ArrayData) -> float:
    """Mean of log P(class | sample) with tables of frequencies."""
    tables = tables_of(parameters_from("ml"), structure, train)
    log_joint = engine_for(tables).log_joint(train.codes)
    own = log_joint[np.arange(train.n_samples), train.labels]
    log_proba = own - np.logaddexp.reduce(log_joint, axis=1)
    return float(np.average(log_proba, weights=train.weights))


def merged(data: ArrayData) -> ArrayData:
    """Every different row once, weighted by how often it occurs.

    Examples
    --------
    >>> train = merged(three_binary_part(500, 0).train)
    >>> train.n_samples, train.weights.sum()
    (15, np.float64(500.0))
    """
    shape = tuple(data.schema.n_states.tolist())
    places = np.ravel_multi_index((*data.codes.T, data.labels), shape)
    kept, counts = np.unique(places, return_counts=True)
    *columns, labels = np.unravel_index(kept, shape)
    codes = np.asfortranarray(np.column_stack(columns).astype(data.codes.dtype))
    labels = labels.astype(data.labels.dtype)
    return ArrayData(data.schema, codes, labels, counts.astype(np.float64))


def learned_tree_accuracy(
    *,
    structure: str,
    parameters: Sequence[str],
    n_features: int,
    n_samples: int,
    run: int,
) -> Numbers:
    """Accuracy of structures where every class has a tree of its own.

    Parameters
    ----------
    structure : str
        See `structure_accuracy`.
    parameters : sequence of str
        See `structure_accuracy`.
    n_features, n_samples : int
        See `class_trees`.
    run : int
        Seed of trees and samples.
    """
    data = _trees(n_features, n_samples, run).data
    part = coded(data, *data.folds[0], "categorical")
    found, _ = searched(structure_from(structure), part.train)
    return {
        f"accuracy_{name}": evaluate_structure(
            parameters_from(name), found.structure, part
        ).right
        / n_samples
        for name in parameters
    }


def known_tree_accuracy(*, n_features: int, n_samples: int, run: int) -> Numbers:
    """Accuracy of the true distribution on the same test samples."""
    trees = _trees(n_features, n_samples, run)
    data, parents = trees.data, trees.parents
    codes = np.asarray(data.X)[n_samples:].astype(np.intp)
    labels = np.asarray(data.y)[n_samples:].astype(np.intp) - 1
    log_trees = np.log(trees.tables)
    of_trees = np.zeros((len(parents), n_samples))
    for tree, j in product(range(len(parents)), range(n_features)):
        given = codes[:, parents[tree, j]] if parents[tree, j] >= 0 else 0
        of_trees[tree] += log_trees[tree, j, given, codes[:, j]]
    # Half of every class but the first comes from the tree of the first one.
    log_joint = np.logaddexp(of_trees, of_trees[0]) - np.log(2)
    log_joint += np.log(np.bincount(labels) / n_samples)[:, None]
    return {"accuracy_truth": float(np.mean(log_joint.argmax(axis=0) == labels))}


def _trees(n_features: int, n_samples: int, run: int) -> ClassTrees:
    return class_trees(
        n_features=n_features,
        n_samples=n_samples,
        random_state=np.random.default_rng([SEED, n_features, run]),
    )
