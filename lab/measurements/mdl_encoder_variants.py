"""Other interpretations of Fayyad and Irani's rule, tried on published tables."""

from __future__ import annotations

from math import e, log2
from typing import Any

from tanager.encoding import MDLEncoder, TableEncoder


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


class EntropyUnitEncoder(MDLEncoder):
    """Cut by description length with entropies in another unit than their price.

    Parameters
    ----------
    bits : float, default=1.0
        Bits in the unit of entropy: 1 is the rule itself, log2(e) has natural
        logarithms on one side of the comparison only.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(6.0)[:, None], np.array(["a", "a", "b", "b", "c", "c"])
    >>> EntropyUnitEncoder().fit(X, y).cuts_
    [array([1.5, 3.5])]
    >>> EntropyUnitEncoder(bits=9.3).fit(X, y).cuts_
    [array([], dtype=float64)]
    """

    def __init__(self, *, bits: float = 1.0) -> None:
        self.bits = bits

    def _unit(self, n_classes: int) -> float:  # noqa: ARG002
        return self.bits


ENCODERS: dict[str, Any] = {
    "mdl": None,
    "mdl in class units": ClassUnitsEncoder(),
    "mdl in nats": EntropyUnitEncoder(bits=round(log2(e), 6)),
    "mdl, 9.3 bits": EntropyUnitEncoder(bits=9.3),
    "categories": TableEncoder(categorical_features="all"),
}
"""How numbers become states, by name; None is the rule of the papers."""
