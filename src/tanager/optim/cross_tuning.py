"""Cross tuning: how many steps an optimiser should take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def tuned_iterations(errors: Sequence[Sequence[float]]) -> int:
    """Median over folds of the iteration with the least held-out error.

    Parameters
    ----------
    errors : sequence of sequences of float
        For every fold the held-out error at the start and after every iteration. Of
        equal errors the first counts.

    Returns
    -------
    int
        Number of iterations; 0 is the start itself. With an even number of folds it is
        the mean of the two in the middle, rounded down.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
    section 4.

    Examples
    --------
    >>> tuned_iterations([[0.3, 0.2, 0.25], [0.3, 0.1, 0.1], [0.3, 0.3, 0.2]])
    1
    """
    return int(np.median([int(np.argmin(fold)) for fold in errors]))
