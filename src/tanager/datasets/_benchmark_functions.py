"""Benchmark functions: corral, m-of-n and waveform."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.datasets._dataset import TARGET, Column, Dataset, Nominal, make_frame
from tanager.datasets._generator_checks import RandomState, check_sizes, nominal_dataset
from tanager.errors import InputError
from tanager.types import LabelArray
from tanager.utils.validation import check_number, check_whole


def corral(*, random_state: RandomState = 0) -> Dataset:
    """Make the 128 rows of corral: (A0 and A1) or (B0 and B1).

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None, default=0
        Decides in which rows `Correlated` is wrong.

    Returns
    -------
    Dataset
        Six binary features. Each of the 32 settings of A0, A1, B0, B1 and Irrelevant
        occurs four times; Correlated equals the class in three of the four.

    References
    ----------
    G. John, R. Kohavi, K. Pfleger (1994), "Irrelevant features and the subset
    selection problem", ICML, section 4.

    Examples
    --------
    >>> data = corral()
    >>> data.n_rows, data.feature_names
    (128, ('A0', 'A1', 'B0', 'B1', 'Irrelevant', 'Correlated'))
    """
    rng = np.random.default_rng(random_state)
    bits = np.tile(_all_settings(5), (4, 1))
    label = (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3])
    wrong_copy = rng.integers(4, size=32)
    wrong = np.concatenate([wrong_copy == copy for copy in range(4)])
    columns = dict(zip(("A0", "A1", "B0", "B1", "Irrelevant"), bits.T, strict=True))
    columns["Correlated"] = label ^ wrong
    return nominal_dataset(
        "corral",
        columns,
        label,
        "Class 1: (A0 and A1) or (B0 and B1). Correlated is the class in 75 % of the "
        "rows.",
    )


def mofn(
    *,
    m: int = 3,
    relevant: Sequence[int] = (2, 3, 4, 5, 6, 7, 8),
    n_bits: int = 10,
    n_train: int = 300,
    random_state: RandomState = 0,
) -> Dataset:
    """Make m-of-n data: class 1 if at least `m` of the relevant bits are set.

    Parameters
    ----------
    m : int, default=3
        How many relevant bits must be set.
    relevant : sequence of int, default=(2, 3, 4, 5, 6, 7, 8)
        Positions of the relevant bits.
    n_bits : int, default=10
        Number of bits, at most 20.
    n_train : int, default=300
        Number of training samples, sampled without replacement from all settings.
    random_state : int, numpy.random.Generator or None, default=0
        Decides which rows train and the order of the test samples.

    Returns
    -------
    Dataset
        `n_train` training samples, then all ``2 ** n_bits`` settings as test samples.
        The default is mofn-3-7-10.

    References
    ----------
    R. Kohavi, G. John (1997), "Wrappers for feature subset selection",
    Artificial Intelligence 97, section 4; as used in Greiner et al. (2005).

    Examples
    --------
    >>> data = mofn()
    >>> data.n_rows, data.n_train
    (1324, 300)
    """
    check_sizes(n_bits=n_bits, n_train=n_train)
    check_number("n_bits", n_bits, most=20)
    check_number("n_train", n_train, most=2**n_bits)
    positions = sorted(set(relevant))
    if not positions or positions[0] < 0 or positions[-1] >= n_bits:
        raise InputError(
            f"`relevant` must name bits 0 to {n_bits - 1}, got {list(relevant)}."
        )
    check_whole("m", m, 0)
    check_number("m", m, most=len(positions))
    rng = np.random.default_rng(random_state)
    settings = _all_settings(n_bits)
    train = rng.choice(len(settings), size=n_train, replace=False)
    bits = settings[np.concatenate([train, rng.permutation(len(settings))])]
    label = (bits[:, positions].sum(axis=1) >= m).astype(np.int64)
    return nominal_dataset(
        f"mofn-{m}-{len(positions)}-{n_bits}",
        {f"Bit-{j}": bits[:, j] for j in range(n_bits)},
        label,
        f"Class 1: at least {m} of the bits {', '.join(map(str, positions))} are set. "
        "The test samples are all settings.",
        n_train=n_train,
    )


def waveform(
    *,
    n_samples: int = 5000,
    n_train: int | None = 300,
    n_noise: int = 0,
    random_state: RandomState = 0,
) -> Dataset:
    """Make waveform data: mixtures of two of three triangular waves plus noise.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    n_train : int or None, default=300
        Number of training samples; None for no split.
    n_noise : int, default=0
        Number of further columns that are noise only; 19 gives the variant with
        40 features.
    random_state : int, numpy.random.Generator or None, default=0
        Seed.

    Returns
    -------
    Dataset
        21 numeric features, rounded to two digits as the published files are,
        and classes 0, 1, 2 of equal probability.

    Notes
    -----
    With the waves ``h_k(i) = max(6 - |i - c_k|, 0)``, i = 0..20, centred at
    c = 6, 14, 10, and u uniform on [0, 1], a row of class 0 is
    ``u h_1 + (1 - u) h_2 + noise``; class 1 takes waves 1 and 3, class 2 waves 2
    and 3; the noise is standard normal.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and
    Regression Trees", section 2.6.2.

    Examples
    --------
    >>> data = waveform(n_samples=400)
    >>> data.n_rows, len(data.feature_names), data.n_train
    (400, 21, 300)
    """
    check_whole("n_samples", n_samples, 1)
    check_whole("n_noise", n_noise, 0)
    check_whole("n_train", n_train, 1, none=True)
    check_number("n_train", n_train, most=n_samples, none=True)
    rng = np.random.default_rng(random_state)
    centres = np.array([[6], [14], [10]])
    waves = np.maximum(6 - np.abs(np.arange(21) - centres), 0)
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    label = rng.integers(3, size=n_samples)
    u = rng.random((n_samples, 1))
    values = rng.standard_normal((n_samples, 21 + n_noise))
    values[:, :21] += u * first[label] + (1 - u) * second[label]
    values = np.round(values, 2)
    columns: dict[str, Column] = {
        f"X{j:02d}": np.ascontiguousarray(values[:, j]) for j in range(21 + n_noise)
    }
    columns[TARGET] = Nominal(label, ("0", "1", "2"))
    return Dataset(
        f"waveform-{21 + n_noise}",
        make_frame(columns),
        TARGET,
        f"{n_samples} rows. Two of three triangular waves, mixed, plus unit noise.",
        "generator",
        n_train,
    )


def _all_settings(n_bits: int) -> LabelArray:
    """List all settings of some bits in counting order, shape (2**n_bits, n_bits)."""
    return (np.arange(2**n_bits)[:, None] >> np.arange(n_bits)[::-1]) & 1
