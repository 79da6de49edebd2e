"""`SummedLoss`: the conditional log loss of samples in one or several parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tanager.data.coded_data import CodedData
from tanager.loglinear.objective import TINY, ConditionalLogLoss
from tanager.model.layout import FamilyLayout
from tanager.optim.newton_cg import HessianProduct
from tanager.types import FloatArray


class SummedLoss:
    """Sum of the `ConditionalLogLoss` of all parts of a dataset.

    ``make(part, *arguments)`` is the loss of a part, and stays where the part is: only
    weights, values and gradients travel. `layout` are the factors.
    """

    def __init__(
        self,
        layout: FamilyLayout,
        data: CodedData,
        make: Callable[..., ConditionalLogLoss],
        *arguments: Any,
    ) -> None:
        self.layout = layout
        self.n_classes = layout.compiled.n_classes
        self._parts = data.place(make, *arguments)
        self.total, self.n_samples = self._parts.sum(_sizes)
        self._at_zero: FloatArray | None = None

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Compute L(w) and its gradient, shapes () and (layout.n_cells,)."""
        return self._parts.sum(ConditionalLogLoss.value_and_gradient, weights)

    def hessian_at(self, weights: FloatArray) -> HessianProduct:
        """Products with the Hessian at some weights."""
        return lambda direction: self._parts.sum(
            ConditionalLogLoss.multiply_hessian_at, weights, direction
        )

    def evaluate(self, weights: FloatArray) -> tuple[float, float]:
        """Compute the mean loss and the error rate of the samples."""
        loss, wrong = self._parts.sum(ConditionalLogLoss.sum_losses, weights)
        return loss / max(self.total, TINY), wrong / max(self.total, TINY)

    def class_moments(
        self, weights: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Compute L(w) and its derivatives; see `ConditionalLogLoss.class_moments`."""
        return self._parts.sum(ConditionalLogLoss.class_moments, weights)

    def curvature(self, weights: FloatArray | None = None) -> FloatArray:
        """Compute mean blocks of the Hessian; see `ConditionalLogLoss.curvature`."""
        if weights is not None:
            return self._parts.sum(ConditionalLogLoss.curvature, weights)
        if self._at_zero is None:
            self._at_zero = self._parts.sum(ConditionalLogLoss.curvature)
        return self._at_zero


def _sizes(loss: ConditionalLogLoss) -> tuple[float, int]:
    return loss.total, loss.n_samples
