"""Cross tuning: the number of optimiser steps, selected by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def select_iterations(errors: Sequence[Sequence[float]]) -> int:
    """Return the median over folds of the iteration with the lowest held-out error.

    Parameters
    ----------
    errors : sequence of sequences of float
        Held-out error of every fold, at the start and after every iteration. The first
        of equal errors counts.

    Returns
    -------
    int
        Number of iterations; 0 is the start itself. With an even number of folds, the
        mean of the two middle values, rounded down.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
    section 4.

    Examples
    --------
    >>> select_iterations([[0.3, 0.2, 0.25], [0.3, 0.1, 0.1], [0.3, 0.3, 0.2]])
    1
    """
    return int(np.median([int(np.argmin(fold)) for fold in errors]))
