"""Synthetic data of published experiments."""

from __future__ import annotations

import numpy as np

from tanager.datasets._dataset import Dataset
from tanager.datasets._generator_checks import RandomState, check_sizes, nominal_dataset
from tanager.datasets._missing_values import remove_values
from tanager.utils.validation import check_number, check_whole


def three_binary(*, n_samples: int = 1000, random_state: RandomState = 0) -> Dataset:
    """Sample the example where only the arc from X1 to X3 discriminates.

    It shows whether a structure learner looks for dependence or for discrimination:
    trees of conditional information join X2 and X3, a search by classification rate
    X1 and X3.

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


def correct_structure(
    *,
    m: int = 0,
    n_features: int = 5,
    n_samples: int = 400,
    missing: float = 0.0,
    random_state: RandomState = 0,
) -> Dataset:
    """Sample the distribution P_m, in which the first `m` features are equal.

    It shows what repeated features cost a classifier: naive Bayes counts them `m`
    times, discriminative parameters do not.

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
