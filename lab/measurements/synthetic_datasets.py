"""Synthetic data of published experiments, with the distribution they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tanager.datasets import Dataset, remove_values
from tanager.types import FloatArray, LabelArray

RandomState = int | np.random.Generator


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """Samples of which every class has a tree of its own, and the trees.

    Parameters
    ----------
    data : Dataset
        The samples.
    parents : ndarray of shape (n_classes, n_features)
        Parent of every feature in every tree, -1 at the root.
    tables : ndarray of shape (n_classes, n_features, n_states, n_states)
        Probability of a state (last axis) given the parent's (third axis; all alike at
        the root).
    """

    data: Dataset
    parents: LabelArray
    tables: FloatArray


def class_trees(
    *,
    n_features: int = 10,
    n_states: int = 10,
    n_classes: int = 5,
    n_samples: int = 75000,
    random_state: RandomState = 0,
) -> ClassTrees:
    """Sample every class from a random tree of its own, mixed with the first one.

    All samples of class 1 come from its tree; those of every other class half from
    class 1's tree and half from its own.

    Parameters
    ----------
    n_features : int, default=10
        Number of features; the paper takes 5, 10, ..., 30.
    n_states : int, default=10
        Number of states of every feature.
    n_classes : int, default=5
        Number of classes, at least 2.
    n_samples : int, default=75000
        Number of training samples, a multiple of ``3 * (n_classes - 1)``; the same
        number of test samples follows. A third is of class 1, the rest equally of the
        others.
    random_state : int or numpy.random.Generator, default=0
        Seed of trees, tables and samples.

    Notes
    -----
    The paper does not define the random trees; here all labelled trees are equally
    probable. Table rows are uniform random numbers, normalised.

    References
    ----------
    F. Pernkopf, J. Bilmes (2010), "Efficient heuristics for discriminative
    structure learning of Bayesian network classifiers", JMLR 11, section 6.4.

    Examples
    --------
    >>> trees = class_trees(n_features=4, n_states=3, n_samples=120)
    >>> trees.data.n_rows, trees.data.n_train, trees.parents.shape
    (240, 120, (5, 4))
    """
    n_others = n_classes - 1
    # The paper's 25000 + 4 * (6250 + 6250): a third, then two parts per class.
    part, rest = divmod(n_samples, 3 * n_others)
    if rest:
        raise ValueError(
            f"n_samples must be a multiple of {3 * n_others} so that a third is of "
            f"class 1 and the other classes are equally frequent, got {n_samples}."
        )
    rng = np.random.default_rng(random_state)
    trees = [_random_tree(n_features, rng) for _ in range(n_classes)]
    tables = rng.random((n_classes, n_features, n_states, n_states))
    for tree, order in enumerate(order for order, _ in trees):
        tables[tree, order[0]] = tables[tree, order[0], 0]
    tables /= tables.sum(axis=-1, keepdims=True)
    parts = []
    for _ in ("train", "test"):
        rows, labels = [], []
        for c in range(n_classes):
            sources = [(0, n_samples // 3)] if c == 0 else [(0, part), (c, part)]
            for tree, size in sources:
                rows.append(_sample_tree(*trees[tree], tables[tree], size, rng))
                labels.append(np.full(size, c))
        shuffled = rng.permutation(n_samples)
        parts.append((np.concatenate(rows)[shuffled], np.concatenate(labels)[shuffled]))
    codes = np.concatenate([part[0] for part in parts])
    data = _dataset(
        "class-trees",
        {f"X{j + 1}": codes[:, j] for j in range(n_features)},
        np.concatenate([part[1] for part in parts]),
        states=[str(state) for state in range(n_states)],
        labels=[str(c + 1) for c in range(n_classes)],
        n_train=n_samples,
    )
    return ClassTrees(data, np.array([parents for _, parents in trees]), tables)


def random_distribution(
    *,
    n_features: int = 10,
    n_states: int = 2,
    n_classes: int = 2,
    n_samples: int = 100000,
    random_state: RandomState = 0,
) -> tuple[Dataset, FloatArray]:
    """Sample a random joint distribution.

    Parameters
    ----------
    n_features : int, default=10
        Number of features; the paper takes 10 to 14 variables. The joint table has
        ``n_classes * n_states**n_features`` cells.
    n_states, n_classes : int, default=2
        Numbers of states of every feature and of classes.
    n_samples : int, default=100000
        Number of samples.
    random_state : int or numpy.random.Generator, default=0
        Seed of distribution and samples.

    Returns
    -------
    data : Dataset
        The samples.
    joint : ndarray of shape (n_classes, n_states, ..., n_states)
        Probability of class and features.

    Notes
    -----
    The paper defines neither the random distribution nor the number of states. Here
    it is uniform over all distributions (a flat Dirichlet), the variables are binary
    by default, and the class is an additional variable.

    References
    ----------
    F. Pernkopf, J. Bilmes (2010), "Efficient heuristics for discriminative
    structure learning of Bayesian network classifiers", JMLR 11, section 6.3.

    Examples
    --------
    >>> data, joint = random_distribution(n_features=3, n_samples=50)
    >>> data.n_rows, joint.shape
    (50, (2, 2, 2, 2))
    """
    rng = np.random.default_rng(random_state)
    shape = (n_classes, *([n_states] * n_features))
    weights = rng.standard_exponential(n_classes * n_states**n_features)
    joint = weights / weights.sum()
    picked = np.searchsorted(np.cumsum(joint), rng.random(n_samples), side="right")
    # Rounding can leave the last cumulative sum just below one.
    codes = np.unravel_index(np.minimum(picked, len(joint) - 1), shape)
    data = _dataset(
        "random-distribution",
        {f"X{j + 1}": codes[j + 1] for j in range(n_features)},
        codes[0],
        states=[str(state) for state in range(n_states)],
        labels=[str(c) for c in range(n_classes)],
    )
    return data, joint.reshape(shape)


def simple_truth(
    *,
    n_features: int = 6,
    correlation: float = 1.0,
    n_samples: int = 400,
    missing: float = 0.0,
    random_state: RandomState = 0,
) -> Dataset:
    """Sample data whose class is the first feature, all others irrelevant.

    Parameters
    ----------
    n_features : int, default=6
        Number of binary features; the paper takes 6 and 7.
    correlation : float, default=1.0
        Correlation of class and first feature, from -1 to 1; the paper also takes
        0.96 and 0.80.
    n_samples : int, default=400
        Number of samples.
    missing : float, default=0.0
        Probability with which each feature value is removed; the paper takes 0.2.
    random_state : int or numpy.random.Generator, default=0
        Seed; training and test samples need different ones.

    Returns
    -------
    Dataset
        Binary features with states ``-e`` and ``+e``, classes ``-c`` and ``+c``.

    Notes
    -----
    All variables are uniform, which the paper leaves open; then class and E1 agree
    with probability (1 + correlation) / 2.

    References
    ----------
    R. Greiner, X. Su, B. Shen, W. Zhou (2005), "Structural extension to logistic
    regression", Machine Learning 59, section 5.3.

    Examples
    --------
    >>> data = simple_truth(n_features=7)
    >>> data.n_rows, len(data.feature_names)
    (400, 7)
    """
    rng = np.random.default_rng(random_state)
    codes = rng.integers(2, size=(n_samples, n_features))
    differs = rng.random(n_samples) >= (1 + correlation) / 2
    data = _dataset(
        "simple-truth",
        {f"E{j + 1}": codes[:, j] for j in range(n_features)},
        codes[:, 0] ^ differs,
        states=["-e", "+e"],
        labels=["-c", "+c"],
    )
    return remove_values(data, missing, random_state=rng)


def _dataset(
    name: str,
    features: Mapping[str, LabelArray],
    label: LabelArray,
    *,
    states: Sequence[str],
    labels: Sequence[str],
    n_train: int | None = None,
) -> Dataset:
    """A dataset whose features all have the same states."""
    columns = {
        feature: pd.Categorical.from_codes(codes, states)
        for feature, codes in features.items()
    }
    columns["class"] = pd.Categorical.from_codes(label, labels)
    frame = pd.DataFrame(columns)
    return Dataset(name, frame, "class", "", "generator", n_train)


def _random_tree(n: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Sample a rooted labelled tree uniformly: nodes in order, and parents."""
    # A random walk on the complete graph; the steps that reach a new node form a
    # uniform spanning tree (Aldous and Broder).
    here = int(rng.integers(n))
    order, parents = [here], [-1] * n
    while len(order) < n:
        # Uniform over the other nodes: skip the current one.
        there = int(rng.integers(n - 1))
        there += there >= here
        if parents[there] < 0 and there != order[0]:
            order.append(there)
            parents[there] = here
        here = there
    return order, parents


def _sample_tree(
    order: Iterable[int],
    parents: Sequence[int],
    tables: FloatArray,
    size: int,
    rng: np.random.Generator,
) -> LabelArray:
    """Sample rows from a tree, parents before children."""
    codes = np.zeros((size, len(tables)), dtype=np.int64)
    # Without its last entry every cumulative row stays below one, so that no
    # number falls behind the last state.
    edges = np.cumsum(tables, axis=-1)[..., :-1]
    for j in order:
        given = 0 if parents[j] < 0 else codes[:, parents[j]]
        drawn = rng.random(size)[:, None]
        codes[:, j] = (drawn >= edges[j, given]).sum(axis=-1)
    return codes
