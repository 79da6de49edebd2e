"""`SelectionOptions`: what a selection of factors may do."""

from __future__ import annotations

from dataclasses import dataclass

from tanager.types import BoolArray


@dataclass(frozen=True)
class SelectionOptions:
    """What a selection may do.

    Parameters
    ----------
    order : int
        Largest number of features of a factor, 1 to 3.
    max_factors : int or None
        Largest number of factors over several features, required ones included.
    allowed : ndarray of bool, shape (n_features, n_features)
        The pairs that factors may have; symmetric.
    required : tuple of pairs
        Distinct pairs that are in the model, if `order` allows pairs.
    tol : float or None
        Relative distance to the minimum at which the fit to all samples ends; None
        takes a few sweeps.
    """

    order: int
    max_factors: int | None
    allowed: BoolArray
    required: tuple[tuple[int, int], ...] = ()
    tol: float | None = None
