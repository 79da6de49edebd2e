"""`LinearMap`: a linear map between flat vectors, with its adjoint."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

from tanager.types import FloatArray


class LinearMap(metaclass=ABCMeta):
    """A linear map A from vectors of length `n_in` to vectors of length `n_out`.

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
