"""`SoftmaxCPTs`: CPTs that follow the gradient of a loss."""

from __future__ import annotations

import numpy as np

from tanager.inference.expectations import Expectations, expectations_of
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.optim import Adam
from tanager.parameters.softmax_objective import SoftmaxLayout
from tanager.types import BoolArray, CodeArray, FloatArray, IndexArray


class SoftmaxCPTs:
    """CPTs of a network, moved by gradients of their softmax parameters.

    `log_theta`, `theta` and `gradient`, the derivative by `log_theta` that `backward`
    has added since the last `step`, have shape (layout.n_cells,); batches are rows of
    `codes`, shape (n_samples, n_features), in C order.

    With ``theta = softmax(beta)`` over the owner's states and g the derivative by
    ``log theta``, that by beta is ``g - theta * sum(g)``. Adding a constant to the
    parameters of a distribution changes neither theta nor the gradient, so the
    normalised logarithms serve as parameters themselves.
    """

    def __init__(
        self,
        layout: FamilyLayout,
        log_theta: FloatArray,
        codes: CodeArray,
        schema: Schema | None = None,
    ) -> None:
        self.layout = layout
        self.codes = codes
        self.log_theta: FloatArray = log_theta.copy()
        self.theta: FloatArray = np.empty(layout.n_cells)
        self.gradient: FloatArray = np.zeros(layout.n_cells)
        self._compiled = SoftmaxLayout(layout).compiled
        features = np.array(layout.n_states[: codes.shape[1]])
        self._incomplete = np.any(codes >= features, axis=1)
        self._expectations: Expectations | None = None
        if self._incomplete.any():
            self._expectations = expectations_of(layout, schema)
        self._cells = np.empty((layout.n_tables, 0), dtype=np.int32)
        self._missing: BoolArray | None = None
        self.renew()

    def forward(self, rows: IndexArray) -> FloatArray:
        """Log joint of the rows numbered `rows`, shape (n_batch, n_classes)."""
        from tanager.parameters import _softmax_kernels as kernels

        layout, compiled = self.layout, self.layout.compiled
        missing = self._incomplete[rows]
        self._complete = rows[~missing] if self._expectations else rows
        if len(self._complete) > self._cells.shape[1]:
            self._cells = np.empty((layout.n_tables, len(rows)), dtype=np.int32)
        out = np.empty((len(self._complete), compiled.n_classes))
        kernels.batch_log_joint(
            self.codes, self._complete, self.log_theta, compiled.offsets,
            compiled.start, compiled.axis_variable, compiled.axis_stride,
            compiled.has_class, self._cells, out,
        )  # fmt: skip
        self._missing = None
        if self._expectations is None or not missing.any():
            return out
        self._missing = missing
        self._codes = np.asfortranarray(self.codes[rows[missing]])
        whole = np.empty((len(rows), compiled.n_classes))
        whole[~missing] = out
        whole[missing] = self._expectations.log_joint(self.log_theta, self._codes)
        return whole

    def backward(self, by_joint: FloatArray) -> None:
        """Add to `gradient`, given the derivative by the last result of `forward`."""
        from tanager.parameters import _softmax_kernels as kernels

        if self._missing is not None and self._expectations is not None:
            self._expectations.add_expected(
                self.log_theta, self._codes, by_joint[self._missing], self.gradient,
                barren=False,
            )  # fmt: skip
            by_joint = by_joint[~self._missing]
        kernels.add_to_cells(
            self._cells, by_joint, self.layout.compiled.has_class, self.gradient
        )

    def step(self, adam: Adam, rate: float) -> None:
        """Move the tables by one step of `adam`; `gradient` is zero again."""
        from tanager.parameters import _softmax_kernels as kernels

        mean, root = adam.advance()
        kernels.adam_on_softmax(
            self.gradient, self.theta, self.log_theta, adam.first, adam.second,
            *self._compiled, adam.beta1, adam.beta2,
            adam.epsilon, rate, mean, root,
        )  # fmt: skip

    def renew(self) -> None:
        """Normalise both again: over thousands of steps rounding errors add up."""
        from tanager.parameters import _softmax_kernels as kernels

        kernels.normalise(self.theta, self.log_theta, *self._compiled)
