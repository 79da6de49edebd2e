"""`GumbelDescent`: stochastic gradient steps on CPTs and structure weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tanager.losses import Loss, check_loss
from tanager.losses.base import closed_form
from tanager.optim import Adam
from tanager.parameters.epoch_descent import SCORED_SAMPLES
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.gumbel.candidate_cpts import CandidateCPTs
from tanager.structure.gumbel.forest_distribution import (
    forest_entropy,
    forest_marginals,
)
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import one_blas_thread

NOISE = 1_000_000
"""Number of random values generated at once."""


TABLE_STATE = (
    "theta", "log_theta", "mean", "root", "kept", "kept_root", "ahead", "moved",
    "scale",
)  # fmt: skip
"""Arrays of `CandidateCPTs` that steps change, in the order of the kernels."""


class Buffers(NamedTuple):
    """Work arrays of a step, in the order in which the kernels unpack them."""

    codes: CodeArray
    labels: IntArray
    weights: FloatArray
    cells: IntArray
    log_joint: FloatArray
    by_joint: FloatArray
    entry_row: IntArray
    entry_class: IntArray
    entry_value: FloatArray
    sums: FloatArray
    slopes: FloatArray
    total: FloatArray
    shift: FloatArray
    steps: FloatArray


class GumbelDescent:
    """Steps on the CPTs of candidate families and on their structure weights.

    The CPTs in `tables` are changed in place; `learned` are the indices of the training
    samples in `rows`. If `relaxed`, all CPTs are mixed by their probabilities, instead
    of one selected. If `unordered`, features have no order and cycles must be avoided.
    `log_phi`, (n_tables,), are the structure weights: log probabilities of the CPTs, up
    to a constant per feature.

    Roth and Pernkopf (2020), section 3.2: a step samples Gumbel noise e and selects for
    every feature the CPT with the largest ``log_phi + e``. The gradient by the log
    joint is passed to the selected CPTs and, through ``softmax((log_phi + e) / tau)``,
    to `log_phi`, for which the log probabilities of all CPTs count (straight-through
    estimator). Both are updated by Adam. Without an order, the forest with the largest
    sum of ``log_phi + e`` is selected, which has no cycle; the gradient is the same. It
    neglects derivatives by the log joint below 1e-9 of the largest of their sample.

    Adam moves CPTs that were not selected by their momentum, which vanishes within some
    tens of steps. Doing so in every step would be most of the work. With `look_ahead`,
    a selected CPT is moved at once by all that its momentum is going to bring, and when
    it is selected again, the part it has not had yet is taken back first. Selected
    CPTs, and those of the result, are therefore where Adam has them, except that
    epsilon decays with the mean square while a CPT is not selected. Only the gradient
    by `log_phi` sees the other CPTs some steps ahead.
    """

    def __init__(
        self,
        tables: CandidateCPTs,
        rows: LabelledSamples,
        learned: IntArray,
        loss: Any,
        *,
        batch_size: int,
        relaxed: bool,
        unordered: bool,
        look_ahead: bool = True,
    ) -> None:
        from tanager.structure.gumbel import _descent_kernels

        self._kernels = _descent_kernels
        self.tables = tables
        self.rows = rows
        self.learned = learned
        self.size = min(batch_size, len(learned))
        self.relaxed = relaxed
        self.unordered = unordered
        self.look_ahead = look_ahead and not relaxed
        self.steps = 0
        self.loss = loss
        self._loss: Loss = check_loss(loss)
        self._closed = closed_form(loss)
        self._adam = Adam(0)
        self._constants = (self._adam.beta1, self._adam.beta2, self._adam.epsilon)
        self.has_missing = bool((rows.codes >= tables.n_states[:-1]).any())
        self._weights = np.empty(0) if rows.weights is None else rows.weights
        self._shape = (
            tables.n_states, tables.offsets, tables.first, tables.parents,
            tables.strides, tables.is_open,
        )  # fmt: skip
        self._tables = tuple(getattr(tables, name) for name in TABLE_STATE)
        # Structure weights, their mean and mean square, softmax, selection, and the
        # derivative by the selection.
        self._choice = tuple(np.zeros((6, tables.n_tables)))
        self.log_phi = self._choice[0]
        self._soft, self._selection, self._by_selection = self._choice[3:]
        self._forest = self._make_forest()
        self._buffers = self._make_buffers()

    @property
    def n_batches(self) -> int:
        """Number of steps in an epoch."""
        return -(-len(self.learned) // self.size)

    @property
    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays that change, by name; assign to them to resume."""
        names = (*TABLE_STATE, "log_phi", "phi_mean", "phi_square")
        return dict(zip(names, (*self._tables, *self._choice[:3]), strict=True))

    def epoch(
        self, rate: float, weight_rate: float, tau: float, random: np.random.Generator
    ) -> dict[str, float]:
        """Take one step per batch; return the mean loss and error of the batches."""
        total = self.rows.total(self.learned)
        # One factor for all batches: on average, steps follow the mean loss.
        factor = len(self.learned) / (self.size * total)
        order = random.permutation(self.learned)
        n_batches, n_tables = self.n_batches, self.tables.n_tables
        at_once = max(1, NOISE // n_tables)
        objective = error = 0.0
        for begin in range(0, n_batches, at_once):
            noise = random.gumbel(size=(min(at_once, n_batches - begin), n_tables))
            part = order[begin * self.size : (begin + len(noise)) * self.size]
            more, wrong = self._descend(part, noise, factor, (tau, rate, weight_rate))
            objective += more
            error += wrong
            self.steps += len(noise)
        self.tables.normalise()
        return {"objective": objective / total, "train_error": error / total}

    def most_probable(self) -> list[int]:
        """Return the number of the most probable CPT of every feature, acyclic."""
        self._select_best()
        chosen: list[int] = self._forest[3].tolist()
        return chosen

    def retract(self, *, everything: bool = True) -> None:
        """Move CPTs, the selected ones or all, to where Adam has them at this step."""
        from tanager.structure.gumbel._adam_kernels import retract_tables

        retract_tables(
            self._selection, everything, self.has_missing, self._adam.epsilon,
            self._shape, self._tables, self._buffers,
        )  # fmt: skip

    def entropy(self) -> float:
        """Return the mean entropy of the structure distribution per feature, in nats.

        Without an order it is the entropy of the distribution in which the probability
        of a forest is proportional to the product of its weights.
        """
        n_features = len(self.tables.first) - 1
        if n_features == 0:
            return 0.0
        if self.unordered:
            child, parent, *_ = self._forest
            weights = np.where(self.tables.is_open, self.log_phi[:-1], -np.inf)
            with one_blas_thread():
                found = forest_marginals(weights, child, parent, n_features)
            return forest_entropy(weights, *found) / n_features
        self._select_best()
        soft = self._soft[self._soft > 0.0]
        return float(max(0.0, -(soft * np.log(soft)).sum() / n_features))

    def error(self, samples: IntArray) -> float:
        """Return the error rate of the most probable structure on some samples."""
        self._select_best()
        self.retract(everything=False)
        wrong = 0.0
        for begin in range(0, len(samples), SCORED_SAMPLES):
            part = samples[begin : begin + SCORED_SAMPLES]
            codes = np.ascontiguousarray(self.rows.codes[part].T)
            out = np.empty((len(part), int(self.tables.n_states[-1])))
            self._forward(codes, len(part), np.empty(len(part), dtype=np.int64), out)
            wrong += self.rows.error(out, part)
        return wrong / self.rows.total(samples)

    def _forward(
        self, codes: CodeArray, n_batch: int, cells: IntArray, out: FloatArray
    ) -> None:
        self._kernels.forward(
            self._selection, codes, n_batch, self.has_missing, self.tables.log_theta,
            self._shape, cells, out,
        )  # fmt: skip

    def _sample(self, noise: FloatArray, tau: float, *, relaxed: bool) -> None:
        self._kernels.sample_parents(
            self.log_phi, noise, tau, relaxed, self.unordered, self._shape,
            self._forest, self._soft, self._selection,
        )  # fmt: skip

    def _select_best(self) -> None:
        """Select the most probable structure."""
        self._sample(np.zeros(self.tables.n_tables), 1.0, relaxed=False)

    def _descend(
        self,
        order: IntArray,
        noise: FloatArray,
        factor: float,
        rates: tuple[float, float, float],
    ) -> tuple[float, float]:
        """Process batches: in one kernel if it knows the loss, else step by step."""
        rows, buffers, kernels = self.rows, self._buffers, self._kernels
        if self._closed is not None:
            flags = self.has_missing, self.relaxed, self.unordered, self.look_ahead
            objective, error = kernels.descend(
                rows.codes, rows.labels, self._weights, order, self.size, factor, noise,
                flags, rates, self.steps, self._constants, self._closed, self._shape,
                self._tables, self._choice, self._forest, buffers,
            )  # fmt: skip
            return float(objective), float(error)
        tau, rate, weight_rate = rates
        objective = error = 0.0
        for number, batch_noise in enumerate(noise):
            part = order[number * self.size : (number + 1) * self.size]
            kernels.gather_batch(
                rows.codes, rows.labels, self._weights, part, buffers.codes,
                buffers.labels, buffers.weights,
            )  # fmt: skip
            self._sample(batch_noise, tau, relaxed=self.relaxed)
            self.retract(everything=not self.look_ahead)
            self._forward(buffers.codes, len(part), buffers.cells, buffers.log_joint)
            scores = buffers.log_joint[: len(part)]
            value, by_joint = self._loss.value_and_gradient(
                scores, rows.labels[part], rows.weights_of(part)
            )
            objective += value
            error += rows.error(scores, part)
            self._adam.steps = self.steps + number
            factors = self._adam.advance()
            kernels.backward(
                self._selection, self._by_selection, self.look_ahead, len(part),
                self.has_missing, by_joint * factor, rate, factors, self._constants,
                self._shape, self._tables, buffers,
            )  # fmt: skip
            kernels.step_weights(
                self._choice, tau, weight_rate, factors, self._constants,
                self.tables.first,
            )  # fmt: skip
        return objective, error

    def _make_forest(self) -> tuple[Any, ...]:
        """Return child and parent of every CPT, and buffers of `best_forest`."""
        from tanager.structure.trees._arborescence_kernels import forest_workspace

        n_sets, n_features = len(self.tables.sets), len(self.tables.first) - 1
        single = [parents[0] if parents else -1 for parents in self.tables.sets]
        return (
            self.tables.owner, np.array(single, dtype=np.int64), np.empty(n_sets),
            np.zeros(n_features, dtype=np.int64), forest_workspace(n_features, n_sets),
        )  # fmt: skip

    def _make_buffers(self) -> Buffers:
        tables, size = self.tables, self.size
        n_classes = int(tables.n_states[-1])
        sizes = np.diff(tables.offsets)
        # The CPTs of one feature together, and a CPT without the axis of its owner.
        most = int(np.diff(tables.offsets[tables.first]).max(initial=n_classes))
        width = int((sizes[:-1] // tables.n_states[tables.owner]).max(initial=1))
        return Buffers(
            codes=np.zeros((len(tables.first) - 1, size), dtype=self.rows.codes.dtype),
            labels=np.zeros(size, dtype=np.int64),
            weights=np.zeros(size),
            cells=np.zeros(size, dtype=np.int64),
            log_joint=np.zeros((size, n_classes)),
            by_joint=np.zeros((size, n_classes)),
            entry_row=np.zeros(size * n_classes, dtype=np.int64),
            entry_class=np.zeros(size * n_classes, dtype=np.int64),
            entry_value=np.zeros(size * n_classes),
            sums=np.zeros(n_classes),
            slopes=np.zeros(most),
            total=np.zeros(width),
            shift=np.zeros(width),
            steps=np.zeros(int(sizes.max())),
        )
