"""Penalised negative conditional log likelihood of log-linear weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.special import expit, softmax

from tanager.data.coded_data import RowBlock
from tanager.errors import InputError
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.linear_maps import MergedTables
from tanager.losses.likelihood import negative_log_posterior
from tanager.model.layout import FamilyLayout
from tanager.optim.newton_cg import HessianProduct
from tanager.types import CodeArray, FloatArray, IntArray, LabelArray
from tanager.utils.threads import map_threads

if TYPE_CHECKING:
    from tanager.loglinear.summed_loss import SummedLoss

LANES = 16
"""Partial gradients that are added up in order, whatever the number of threads."""

LANE_CELLS = 8_000_000
"""Cells of all partial gradients together; large factors have fewer of them."""

SCALES = (1e-12, 1e15)
"""Range of C times the weight of the samples; outside of it rounding dominates."""

TINY = np.finfo(float).tiny

Item = TypeVar("Item")
Samples = tuple[CodeArray, LabelArray, FloatArray]


class ConditionalLogLoss:
    """Negative conditional log likelihood of samples, a function of factor weights.

    `layout` are the factors, all with the class for curvatures. Unlabelled samples of
    `blocks` have no effect. The value does not depend on `n_jobs`, threads over blocks.
    `total` is the weight of all labelled samples.

    Notes
    -----
    With weights w, shape (layout.n_cells,), the log joint of a sample x is the sum of
    the cells ``w_t[x_t, c]`` of all factors t without a missing feature; factors
    without the class have no effect. ``P(c | x)`` is its softmax over the classes, and
    with the weights v_m of the samples

    - value: ``L(w) = sum_m -v_m log P(c_m | x_m)``;
    - gradient by ``w_t[a, c]``: ``sum_{m: x_mt = a} v_m (P(c | x_m) - [c = c_m])``,
      shape (layout.n_cells,);
    - Hessian by ``w_t[a, c]`` and ``w_s[b, d]``: the sum of
      ``v_m P(c | x_m) ([c = d] - P(d | x_m))`` over the samples in both cells:
      `multiply_hessian` gives its products, `curvature` the mean over the classes.

    The kernels fuse the log joint, the posterior and the gradient. The log joint and
    `ConditionalLikelihoodLoss` one after the other, without the sums over cells, take
    1.6 to 3.1 times as long (20,000 samples, tree of 15 features, 2 to 10 classes).
    """

    def __init__(
        self,
        layout: FamilyLayout,
        blocks: Iterable[RowBlock],
        n_jobs: int | None = None,
        merged: MergedTables | None = None,
    ) -> None:
        self.layout = layout
        self.blocks = tuple(blocks)
        self.n_jobs = n_jobs
        self.merged = MergedTables(layout) if merged is None else merged
        self.n_classes = layout.compiled.n_classes
        self._posteriors: tuple[FloatArray, list[FloatArray]] | None = None
        # As kernels read samples: no weights if all are one.
        self._samples = [
            (b.codes.T, b.labels, np.empty(0) if b.weights is None else b.weights)
            for b in self.blocks
        ]
        self.total = float(
            sum(labels_and_weights(b, self.n_classes)[1].sum() for b in self.blocks)
        )

    @property
    def n_samples(self) -> int:
        """Number of samples, labelled or not."""
        return sum(len(block.labels) for block in self.blocks)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Compute L(w) and its gradient, shapes () and (layout.n_cells,)."""
        from tanager.loglinear import _kernels

        values, tables = self._tables(weights)
        kernel, n_classes = _kernels.conditional_loss, [self.n_classes]
        if self.n_classes == 2:
            kernel, n_classes = _kernels.two_class_loss, []
        loss, gradient = sum_blocks(
            self._samples,
            len(values),
            lambda samples, out: kernel(*samples, values, *tables, *n_classes, out),
            self.n_jobs,
        )
        return loss, self._to_weights(gradient)

    def posteriors(self, weights: FloatArray) -> list[FloatArray]:
        """Compute P(c | x) of every block, shape (n_block_samples, n_classes).

        Of two classes it is that of the second one, shape (n_block_samples, 1).
        """
        values = self.merged.apply(weights)
        log_joints = map_threads(
            lambda block: self._log_joint(block, values), self.blocks, self.n_jobs
        )
        if self.n_classes == 2:
            return [expit(np.diff(joint, axis=1)) for joint in log_joints]
        return [softmax(joint, axis=1) for joint in log_joints]

    def hessian_at(self, weights: FloatArray) -> HessianProduct:
        """Products with the Hessian at some weights."""
        return partial(self.multiply_hessian_at, weights)

    def multiply_hessian_at(
        self, weights: FloatArray, direction: FloatArray
    ) -> FloatArray:
        """Multiply the Hessian at some weights with a direction.

        The posteriors at the weights are kept for the next direction.
        """
        kept = self._posteriors
        if kept is None or not np.array_equal(kept[0], weights):
            kept = self._posteriors = weights, self.posteriors(weights)
        return self.multiply_hessian(kept[1], direction)

    def multiply_hessian(
        self, posteriors: Sequence[FloatArray], direction: FloatArray
    ) -> FloatArray:
        """Multiply the Hessian, given the posteriors at its point, with a direction.

        `direction` and the result have shape (layout.n_cells,).
        """
        from tanager.loglinear import _kernels

        values, tables = self._tables(direction)
        _, product = sum_blocks(
            list(zip(self._samples, posteriors, strict=True)),
            len(values),
            lambda block, out: _kernels.curvature_product(
                *block[0], block[1], values, *tables, self.n_classes, out
            ),
            self.n_jobs,
        )
        return self._to_weights(product)

    def _tables(
        self, weights: FloatArray
    ) -> tuple[FloatArray, tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Values of the merged tables, and where they are, as kernels read them.

        Of two classes only the differences matter: half the cells.
        """
        merged = self.merged
        values = merged.apply(weights)
        offsets, stride = merged.offsets, merged.axis_stride
        if self.n_classes == 2:
            values = values[1::2] - values[::2]
            offsets, stride = offsets // 2, stride // 2
        return values, (offsets, merged.start, merged.axis_variable, stride)

    def _to_weights(self, gradient: FloatArray) -> FloatArray:
        """Convert a gradient by the values of `_tables` to one by the weights."""
        if self.n_classes == 2:
            gradient = np.stack([-gradient, gradient], 1).ravel()
        return self.merged.adjoint(gradient)

    def _log_joint(self, block: RowBlock, values: FloatArray) -> FloatArray:
        """Add the cells of the merged tables, shape (n_block_samples, n_classes)."""
        from tanager.inference import _kernels

        merged = self.merged
        log_joint = np.empty((len(block.labels), self.n_classes))
        _kernels.add_tables(
            block.codes.T, values, merged.offsets, merged.start, merged.axis_variable,
            merged.axis_stride, len(merged.offsets), self.n_classes, log_joint,
        )  # fmt: skip
        return log_joint

    def sum_losses(self, weights: FloatArray) -> tuple[float, float]:
        """Compute the loss and the weight of misclassified samples."""
        values = self.merged.apply(weights)

        def evaluate_block(block: RowBlock) -> tuple[float, float]:
            log_joint = self._log_joint(block, values)
            labels, weights = labels_and_weights(block, self.n_classes)
            loss = weights @ negative_log_posterior(log_joint, labels)
            wrong = weights @ (log_joint.argmax(axis=1) != labels)
            return float(loss), float(wrong)

        parts = map_threads(evaluate_block, self.blocks, self.n_jobs)
        loss, wrong = np.sum([(0.0, 0.0), *parts], axis=0).tolist()
        return loss, wrong

    def class_moments(
        self, weights: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Compute L(w) and its derivatives with respect to the weights of the class.

        Returns L(w), the sums of ``[c = c_m]`` and of P(c | x), shape (n_classes,), and
        those of P(c | x) P(d | x), shape (n_classes, n_classes).
        """
        from tanager.loglinear import _kernels

        merged = self.merged
        tables = (
            merged.apply(weights), merged.offsets, merged.start, merged.axis_variable,
            merged.axis_stride,
        )  # fmt: skip
        shape = self.n_classes + 2, self.n_classes
        loss, sums = sum_blocks(
            self._samples,
            shape[0] * shape[1],
            lambda samples, out: _kernels.class_moments(
                *samples, *tables, out.reshape(shape)
            ),
            self.n_jobs,
        )
        observed, expected, *lower = sums.reshape(shape)
        products = np.array(lower)
        return loss, observed, expected, products + np.tril(products, -1).T

    def curvature(self, weights: FloatArray | None = None) -> FloatArray:
        """Compute K times the mean over the classes of the Hessian's blocks.

        `weights`, shape (layout.n_cells,), are the point; None is zero. The result has
        shape (n_cells / K, n_cells / K): for two cells, those of any one class, the sum
        of ``v (1 - sum_c P(c | x)^2) K / (K - 1)`` over the samples in both, v where
        all K classes are equally probable and 0 where one is certain. It is K times the
        mean of the blocks for weights that sum to zero over the classes.
        """
        from tanager.loglinear import _kernels

        merged, compiled = self.merged, self.layout.compiled
        size = self.layout.n_cells // self.n_classes
        n_states = np.array(self.layout.n_states, dtype=np.int64)
        values = None if weights is None else merged.apply(weights)

        def add_block(samples: Samples, sums: FloatArray) -> float:
            codes, labels, given = samples
            if values is not None:
                given = np.empty(len(labels))
                _kernels.class_uncertainties(
                    *samples, values, merged.offsets, merged.start,
                    merged.axis_variable, merged.axis_stride, self.n_classes, given,
                )  # fmt: skip
            _kernels.add_cell_pairs(
                codes, labels, given, n_states, compiled.offsets, compiled.start,
                compiled.axis_variable, compiled.axis_stride, self.n_classes,
                sums.reshape(size, size),
            )  # fmt: skip
            return 0.0

        _, flat = sum_blocks(self._samples, size * size, add_block, self.n_jobs)
        upper = flat.reshape(size, size)
        curvature: FloatArray = upper + np.triu(upper, 1).T
        return curvature


class PenalisedObjective:
    """Penalised negative conditional log likelihood, a convex function.

    Notes
    -----
    ``f(u) = C L(A u) + sum_i p_i u_i^2 / 2``, u of shape (n_coordinates,), with the
    `loss` L, the `coordinates` A and their penalty p. With the weight V of the samples
    and ``scale = C V``, values and gradients here are those of ``f / scale``, a mean
    loss plus a small penalty:

    - value: ``L(A u) / V + sum_i p_i u_i^2 / (2 scale)``;
    - gradient: ``A' grad L(A u) / V + p u / scale``, shape (n_coordinates,);
    - Hessian: ``A' hess L(A u) A / V + diag(p) / scale``.
    """

    def __init__(
        self,
        loss: ConditionalLogLoss | SummedLoss,
        coordinates: Coordinates,
        C: float,
    ) -> None:
        self.loss = loss
        self.coordinates = coordinates
        self.scale = C * loss.total
        if not SCALES[0] <= self.scale <= SCALES[1]:
            raise InputError(
                f"C={C:g} times the weight of the samples, {loss.total:g}, must be "
                f"between {SCALES[0]:g} and {SCALES[1]:g}, so that neither the data "
                "nor the penalty is lost to rounding. Choose another C, or other "
                "sample weights."
            )
        # That of the class has none: it is treated as the others are.
        penalty = np.where(coordinates.penalty > 0.0, coordinates.penalty, 1.0)
        self._inverse_penalty = self.scale / penalty

    def value_and_gradient(self, u: FloatArray) -> tuple[float, FloatArray]:
        """Compute f / scale and its gradient, shapes () and (n_coordinates,)."""
        loss, by_weights = self.loss.value_and_gradient(self.coordinates.apply(u))
        penalised = u * self.coordinates.penalty
        total = self.loss.total
        value = loss / total + 0.5 * float(u @ penalised) / self.scale
        gradient = self.coordinates.adjoint(by_weights) / total
        gradient += penalised / self.scale
        return value, gradient

    def evaluate(self, u: FloatArray) -> tuple[float, FloatArray, HessianProduct]:
        """Compute f / scale, its gradient, and products with its Hessian."""
        coordinates, loss = self.coordinates, self.loss
        hessian = loss.hessian_at(coordinates.apply(u))

        def multiply(d: FloatArray) -> FloatArray:
            product = hessian(coordinates.apply(d))
            by_coordinates: FloatArray = coordinates.adjoint(product) / loss.total
            return by_coordinates + d * coordinates.penalty / self.scale

        return *self.value_and_gradient(u), multiply

    def precondition(self, residual: FloatArray) -> FloatArray:
        """Divide by the Hessian of the penalty, for Newton's method."""
        return residual * self._inverse_penalty


def labels_and_weights(block: RowBlock, n_classes: int) -> tuple[IntArray, FloatArray]:
    """Labels and weights of a block; unlabelled samples have label and weight zero."""
    labels = block.labels.astype(np.int64)
    weights = np.ones(len(labels)) if block.weights is None else block.weights
    known = labels < n_classes
    return np.where(known, labels, 0), np.where(known, weights, 0.0)


def sum_blocks(
    blocks: Sequence[Item],
    n_cells: int,
    work: Callable[[Item, FloatArray], float],
    n_jobs: int | None,
) -> tuple[float, FloatArray]:
    """Sum values and vectors over blocks in an order that does not depend on threads.

    `work` adds a block's part to the vector, shape (n_cells,), and returns its value.
    """
    lanes = min(len(blocks), max(1, min(LANES, LANE_CELLS // n_cells)))
    vectors = np.zeros((lanes, n_cells))
    values = map_threads(
        lambda lane: sum(work(block, vectors[lane]) for block in blocks[lane::lanes]),
        range(lanes),
        n_jobs,
    )
    value, vector = 0.0, np.zeros(n_cells)
    for part, partial_vector in zip(values, vectors, strict=True):
        value += part
        vector += partial_vector
    return value, vector
