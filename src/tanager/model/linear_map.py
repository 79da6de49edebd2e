"""`LinearMap`: a linear map between flat vectors, with its adjoint."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from itertools import pairwise

from tanager.types import FloatArray


class LinearMap(metaclass=ABCMeta):
    """A linear map A from vectors of length `n_in` to vectors of length `n_out`.

    ``outer @ inner`` is the map that applies `inner` first.

    Attributes
    ----------
    n_in, n_out : int
        Lengths of the vectors.

    Notes
    -----
    A function f of ``y = A x`` has the gradient ``A' grad f(y)`` with respect to x, so
    that values go through `apply` and gradients back through `adjoint`.
    """

    n_in: int
    n_out: int

    @abstractmethod
    def apply(self, x: FloatArray) -> FloatArray:
        """Compute ``A x``, shape (n_out,); `x` stays as it is."""

    @abstractmethod
    def adjoint(self, y: FloatArray) -> FloatArray:
        """Compute ``A' y``, shape (n_in,); `y` stays as it is."""

    def __matmul__(self, inner: LinearMap) -> LinearMap:
        """Compose two maps."""
        return Composition(inner, self)


class Composition(LinearMap):
    """Maps one after the other, the first of `maps` applied first."""

    def __init__(self, *maps: LinearMap) -> None:
        lengths = [(a.n_out, b.n_in) for a, b in pairwise(maps)]
        if any(given != taken for given, taken in lengths):
            raise ValueError(f"Maps cannot be composed: lengths {lengths} differ.")
        self.maps = maps
        self.n_in, self.n_out = maps[0].n_in, maps[-1].n_out

    def apply(self, x: FloatArray) -> FloatArray:
        """Apply the maps in order; see `LinearMap.apply`."""
        for one in self.maps:
            x = one.apply(x)
        return x

    def adjoint(self, y: FloatArray) -> FloatArray:
        """Apply the adjoints in reverse order; see `LinearMap.adjoint`."""
        for one in reversed(self.maps):
            y = one.adjoint(y)
        return y
