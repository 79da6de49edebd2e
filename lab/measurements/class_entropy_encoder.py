"""Another reading of Fayyad and Irani's rule, in question for published tables."""

from __future__ import annotations

from math import log2

from tanager.encoding import MDLEncoder


class ClassUnitsEncoder(MDLEncoder):
    """Cut by description length with entropies between 0 and 1, whatever the classes.

    Notes
    -----
    Entropies are logarithms to the base of the number of classes, while the price of a
    cut stays in bits. With two classes this is the rule itself; the more there are, the
    fewer cuts pay.

    Examples
    --------
    Six samples of three classes, well apart:

    >>> import numpy as np
    >>> X, y = np.arange(6.0)[:, None], np.array(["a", "a", "b", "b", "c", "c"])
    >>> MDLEncoder().fit(X, y).cuts_
    [array([1.5, 3.5])]
    >>> ClassUnitsEncoder().fit(X, y).cuts_
    [array([], dtype=float64)]
    """

    def _unit(self, n_classes: int) -> float:
        return log2(max(n_classes, 2))
