"""Synthetic data of published experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tanager.datasets._dataset import Dataset
from tanager.datasets._generator_checks import RandomState, check_sizes, nominal_dataset
from tanager.datasets._missing_values import remove_values
from tanager.errors import InputError
from tanager.types import FloatArray, LabelArray
from tanager.utils.validation import check_number, check_whole

MAX_CELLS = 10**7  # of the joint distribution of `random_distribution`


def three_binary(*, n_samples: int = 1000, random_state: RandomState = 0) -> Dataset:
    """Sample the example where only the arc from X1 to X3 discriminates.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows; the paper trains on 20 to 1000 and tests on 1000.
    random_state : int, numpy.random.Generator or None, default=0
        Seed; training and test samples need different ones.

    Returns
    -------
    Dataset
        Three binary features and classes 1 and 2 of equal probability.

    Notes
    -----
    X1 is uniform. X2 is X1 with probability 0.5, else uniform. X3 is, with
    probabilities 0.3, 0.5, 0.1 and 0.1, X1 in class 1 and its negation in class 2;
    X2; 0; 1. So X2 says more about X3 than X1 does, but only X1 discriminates
    the classes.

    References
    ----------
    F. Pernkopf, J. Bilmes (2010), "Efficient heuristics for discriminative
    structure learning of Bayesian network classifiers", JMLR 11, section 3.

    Examples
    --------
    >>> three_binary(n_samples=20).feature_names
    ('X1', 'X2', 'X3')
    """
    check_sizes(n_samples=n_samples)
    rng = np.random.default_rng(random_state)
    label = rng.integers(2, size=n_samples)
    x1 = rng.integers(2, size=n_samples)
    x2 = np.where(rng.random(n_samples) < 0.5, x1, rng.integers(2, size=n_samples))
    case = np.searchsorted([0.3, 0.8, 0.9], rng.random(n_samples), side="right")
    x3 = np.choose(case, [x1 ^ label, x2, 0, 1])
    return nominal_dataset(
        "three-binary",
        {"X1": x1, "X2": x2, "X3": x3},
        label,
        "X1 and X3 agree more often in class 1 and less often in class 2.",
        labels=("1", "2"),
    )


def class_trees(
    *,
    n_features: int = 10,
    n_states: int = 10,
    n_classes: int = 5,
    n_samples: int = 75000,
    random_state: RandomState = 0,
) -> Dataset:
    """Sample every class from a random tree of its own, mixed with the first one.

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
    random_state : int, numpy.random.Generator or None, default=0
        Seed of trees, tables and rows.

    Returns
    -------
    Dataset
        All samples of class 1 come from its tree; those of every other class half
        from class 1's tree and half from its own. `truth` holds ``parents``, shape
        (n_classes, n_features), -1 at the root, and ``tables``, shape (n_classes,
        n_features, n_states, n_states): the probability of a state (last axis) given
        the parent's (third axis; all alike at the root).

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
    >>> data = class_trees(n_features=4, n_states=3, n_samples=120)
    >>> data.n_rows, data.n_train, data.truth["parents"].shape
    (240, 120, (5, 4))
    """
    check_sizes(n_features=n_features, n_states=n_states, n_samples=n_samples)
    check_whole("n_classes", n_classes, 2)
    n_others = n_classes - 1
    # The paper's 25000 + 4 * (6250 + 6250): a third, then two parts per class.
    part, rest = divmod(n_samples, 3 * n_others)
    if rest:
        raise InputError(
            f"`n_samples` must be a multiple of {3 * n_others} so that a third is of "
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
    parents = np.array([parents for _, parents in trees])
    return nominal_dataset(
        "class-trees",
        {f"X{j + 1}": codes[:, j] for j in range(n_features)},
        np.concatenate([part[1] for part in parts]),
        "Each class has a tree of its own; half the rows of classes 2 and up come "
        "from the tree of class 1.",
        n_states=n_states,
        labels=tuple(str(c + 1) for c in range(n_classes)),
        n_train=n_samples,
        truth={"parents": parents, "tables": tables},
    )


def random_distribution(
    *,
    n_features: int = 10,
    n_states: int = 2,
    n_classes: int = 2,
    n_samples: int = 100000,
    random_state: RandomState = 0,
) -> Dataset:
    """Sample a random joint distribution.

    Parameters
    ----------
    n_features : int, default=10
        Number of features; the paper takes 10 to 14 variables.
    n_states, n_classes : int, default=2
        Numbers of states of every feature and of classes.
    n_samples : int, default=100000
        Number of rows.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of distribution and rows.

    Returns
    -------
    Dataset
        `truth` holds ``joint``, shape (n_classes, n_states, ..., n_states): the
        probability of class and features.

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
    >>> data = random_distribution(n_features=3, n_samples=50)
    >>> data.n_rows, data.truth["joint"].shape
    (50, (2, 2, 2, 2))
    """
    check_sizes(n_features=n_features, n_states=n_states)
    check_sizes(n_classes=n_classes, n_samples=n_samples)
    cells = n_classes * n_states**n_features
    if cells > MAX_CELLS:
        raise InputError(
            f"The joint table would have {cells} cells, more than {MAX_CELLS}; "
            "use fewer features or states."
        )
    rng = np.random.default_rng(random_state)
    weights = rng.standard_exponential(cells)
    joint = weights / weights.sum()
    shape = (n_classes, *([n_states] * n_features))
    picked = np.searchsorted(np.cumsum(joint), rng.random(n_samples), side="right")
    # Rounding can leave the last cumulative sum just below one.
    codes = np.unravel_index(np.minimum(picked, cells - 1), shape)
    return nominal_dataset(
        "random-distribution",
        {f"X{j + 1}": codes[j + 1] for j in range(n_features)},
        codes[0],
        "Samples of a joint distribution that is uniform over all distributions.",
        n_states=n_states,
        labels=tuple(str(c) for c in range(n_classes)),
        truth={"joint": joint.reshape(shape)},
    )


def correct_structure(
    *,
    m: int = 0,
    n_features: int = 5,
    n_samples: int = 400,
    missing: float = 0.0,
    random_state: RandomState = 0,
) -> Dataset:
    """Sample the distribution P_m, in which the first `m` features are equal.

    Parameters
    ----------
    m : int, default=0
        Number of equal features E1 = ... = Em. With 0 or 1 naive Bayes is the truth,
        as in the second experiment of section 5.3.
    n_features : int, default=5
        Number of binary features.
    n_samples : int, default=400
        Number of rows.
    missing : float, default=0.0
        Probability with which each feature value is removed; the paper takes 0.5
        (and 0.2 in section 5.3), for training samples.
    random_state : int, numpy.random.Generator or None, default=0
        Seed; training and test samples need different ones.

    Returns
    -------
    Dataset
        Binary features with states ``-e`` and ``+e``, classes ``-c`` and ``+c``.

    Notes
    -----
    P(+c) = 0.9, P(+e | +c) = 0.2, P(+e | -c) = 0.8 for every feature.

    References
    ----------
    R. Greiner, X. Su, B. Shen, W. Zhou (2005), "Structural extension to logistic
    regression", Machine Learning 59, section 5.1.4, equation 14.

    Examples
    --------
    >>> data = correct_structure(m=3)
    >>> bool((data.frame["E1"] == data.frame["E3"]).all())
    True
    """
    check_sizes(n_features=n_features, n_samples=n_samples)
    check_whole("m", m, 0)
    check_number("m", m, most=n_features)
    rng = np.random.default_rng(random_state)
    label = (rng.random(n_samples) < 0.9).astype(np.int64)
    probability = np.where(label == 1, 0.2, 0.8)
    codes = (rng.random((n_samples, n_features)) < probability[:, None]).astype(int)
    codes[:, : max(m, 1)] = codes[:, :1]
    dataset = nominal_dataset(
        "correct-structure",
        {f"E{j + 1}": codes[:, j] for j in range(n_features)},
        label,
        f"The first {m} of {n_features} features are equal, the others independent "
        "given the class."
        if m > 1
        else "All features are independent given the class.",
        states=("-e", "+e"),
        labels=("-c", "+c"),
    )
    return remove_values(dataset, missing, random_state=rng)


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
        Number of rows.
    missing : float, default=0.0
        Probability with which each feature value is removed; the paper takes 0.2.
    random_state : int, numpy.random.Generator or None, default=0
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
    check_sizes(n_features=n_features, n_samples=n_samples)
    check_number("correlation", correlation, least=-1, most=1)
    rng = np.random.default_rng(random_state)
    codes = rng.integers(2, size=(n_samples, n_features))
    differs = rng.random(n_samples) >= (1 + correlation) / 2
    dataset = nominal_dataset(
        "simple-truth",
        {f"E{j + 1}": codes[:, j] for j in range(n_features)},
        codes[:, 0] ^ differs,
        f"The class has correlation {correlation:g} with E1; nothing else matters.",
        states=("-e", "+e"),
        labels=("-c", "+c"),
    )
    return remove_values(dataset, missing, random_state=rng)


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
