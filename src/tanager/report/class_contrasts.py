"""CPTs as values of the first class, and contrasts of the other classes with it.

Discriminatively trained CPTs of a feature and its parent are, up to terms that all
classes share, sums of a few smooth effects: the difference of two classes has mixed
differences that are zero nearly everywhere, though no two entries are equal. They
compress to a fraction. The script of the page is `page/class_contrasts.js`.
"""

from __future__ import annotations

import numpy as np

from tanager.report.payload import STEP, to_units
from tanager.types import FloatArray, IntArray

CONTRAST_STEP = 2.0**-40
"""Precision of contrasts: finer than `STEP`, because errors add up in their sums."""

ROUNDING = 3
"""Mixed differences up to this many units may be rounding errors alone."""

MAX_ERROR = 2.0**-36
"""Largest error of a contrast after mixed differences are set to zero."""

MAX_UNITS = 2**51
"""Bound on mixed differences in units, so that their sums are exact in a page."""


def class_contrasts(table: FloatArray) -> IntArray | None:
    """Mixed differences of ``table[..., 1:] - table[..., :1]``, if they are cheaper.

    Parameters
    ----------
    table : ndarray of float64, shape (n_states of every feature..., n_classes)
        Logarithms of a CPT.

    Returns
    -------
    ndarray of int64, shape (n_classes - 1, n_states of every feature...), or None
        In units of `CONTRAST_STEP`; their sums along all axes but the first are the
        contrasts. None if the classes themselves need fewer bits.

    Examples
    --------
    >>> effects = np.log([[0.7, 0.2, 0.1]]), np.log([[0.5], [0.5]])
    >>> shared = np.random.default_rng(0).normal(size=(2, 3))
    >>> table = np.stack([shared, shared + effects[0] + effects[1]], axis=-1)
    >>> class_contrasts(table)[0, 1].tolist()
    [0, 0, 0]
    """
    if not np.isfinite(table).all():
        return None
    contrasts = np.moveaxis(table[..., 1:] - table[..., :1], -1, 0)
    wanted = np.rint(contrasts / CONTRAST_STEP).astype(np.int64)
    axes = range(1, wanted.ndim)
    mixed = wanted
    for axis in axes:
        mixed = np.diff(mixed, axis=axis, prepend=0)
    if len(axes) > 1:
        simple = np.where(np.abs(mixed) <= ROUNDING, 0, mixed)
        sums = simple
        for axis in axes:
            sums = np.cumsum(sums, axis=axis)
        if np.abs(sums - wanted).max(initial=0) * CONTRAST_STEP <= MAX_ERROR:
            mixed = simple
    if np.abs(mixed).max(initial=0) >= MAX_UNITS:
        return None
    plain = np.diff(to_units(np.moveaxis(table[..., 1:], -1, 0).ravel(), STEP))
    return mixed if _n_bits(mixed) < _n_bits(plain) else None


def _n_bits(values: IntArray) -> float:
    """About how many bits whole numbers need."""
    return float(np.log2(1.0 + np.abs(values)).sum())
