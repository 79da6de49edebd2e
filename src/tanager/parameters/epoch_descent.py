"""`EpochDescent`: epochs of stochastic gradient steps, from a state to the next."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from tanager.losses import Loss
from tanager.losses.loss_checks import overflow_error
from tanager.optim import Adam, Monitor
from tanager.parameters.softmax_cpts import SoftmaxCPTs
from tanager.parameters.training_samples import LabelledSamples
from tanager.types import FloatArray, IndexArray, IntArray
from tanager.utils.progress import check_stop

SCORED_SAMPLES = 4096
"""Validation samples that are scored at once."""


@dataclass(frozen=True, eq=False)
class EpochState:
    """All that further epochs depend on, after some of them.

    `arrays` are the CPTs, their logarithms and the running means of Adam, shape
    (4, n_cells), and `best_cpts`, shape (n_cells,), logarithms of the CPTs with the
    lowest scores, `best`, on the validation set. `records` are those of the epochs
    since the state before.
    """

    epoch: int
    arrays: FloatArray
    steps: int
    random: np.random.Generator
    best: tuple[float, float]
    best_epoch: int
    best_cpts: FloatArray
    records: tuple[Mapping[str, float], ...] = ()

    @property
    def n_bytes(self) -> int:
        """Size of the arrays: 32 bytes for every cell, 40 with a validation set."""
        return self.arrays.nbytes + self.best_cpts.nbytes


class EpochDescent:
    """Epochs of stochastic gradient steps on the CPTs of a network.

    Parameters
    ----------
    cpts : SoftmaxCPTs
        The CPTs, which the epochs change.
    loss : Loss
        The loss to minimise, checked.
    named_loss : object
        The loss that errors name.
    rows : LabelledSamples
        The samples.
    training, validation : ndarray of int
        Which of them are learned from, and which are held out.
    batch_size : int or None
        Samples per step; None takes all at once.
    random : numpy Generator
        Source of the order of the samples.
    monitor : Monitor
        Gets a record of every epoch.
    """

    def __init__(
        self,
        cpts: SoftmaxCPTs,
        loss: Loss,
        named_loss: object,
        rows: LabelledSamples,
        training: IntArray,
        validation: IntArray,
        batch_size: int | None,
        random: np.random.Generator,
        monitor: Monitor,
    ) -> None:
        self.cpts = cpts
        self.monitor = monitor
        self._loss, self._named_loss = loss, named_loss
        self._rows, self._random = rows, random
        self._training, self._validation = training, validation
        self._shuffles = batch_size is not None
        self._size = min(len(training), batch_size or len(training))
        self._adam = Adam(cpts.layout.n_cells)
        self._best, self._best_epoch = (np.inf, np.inf), -1
        self._best_cpts = cpts.log_theta
        self.epoch = 0
        self.state = self._make_state(())

    @property
    def log_theta(self) -> FloatArray:
        """Logarithms of the CPTs: the last ones, or the best on the validation set."""
        return self._best_cpts if len(self._validation) else self.cpts.log_theta

    def waited(self, state: EpochState) -> int:
        """Epochs since the lowest error on the validation set; 0 without one."""
        return state.epoch - 1 - state.best_epoch if len(self._validation) else 0

    def restore(self, state: EpochState) -> None:
        """Go to a state, and report its epochs, unless they were run here."""
        if state is self.state:
            return
        self.cpts.theta[:], self.cpts.log_theta[:] = state.arrays[:2]
        self._adam.first[:], self._adam.second[:] = state.arrays[2:]
        self._adam.steps = state.steps
        self._random.bit_generator.state = state.random.bit_generator.state
        self._best, self._best_epoch = state.best, state.best_epoch
        self._best_cpts, self.epoch = state.best_cpts, state.epoch
        self.state = state
        for record in state.records:
            self.monitor.record(**record)

    def run(self, state: EpochState, rates: list[float], patience: int) -> EpochState:
        """Run an epoch for every rate; fewer if `patience` is at an end."""
        self.restore(state)
        records = []
        for rate in rates:
            records.append(self._run_epoch(rate))
            self.epoch += 1
            self.monitor.record(**records[-1])
            if len(self._validation) and self.epoch - 1 - self._best_epoch >= patience:
                break
        self.state = self._make_state(tuple(records))
        return self.state

    def _run_epoch(self, rate: float) -> dict[str, float]:
        """Run an epoch; returns its record."""
        rows, cpts = self._rows, self.cpts
        total = rows.total(self._training)
        # One factor for all batches: in the mean, steps follow the mean loss.
        factor = len(self._training) / (self._size * total)
        # All samples at once need no order, and in their own give equal bits.
        order = self._training
        if self._shuffles:
            order = self._random.permutation(order)
        objective = error = 0.0
        for begin in range(0, len(order), self._size):
            check_stop()
            batch = order[begin : begin + self._size]
            log_joint = cpts.forward(batch)
            value, by_joint = self._loss.value_and_gradient(
                log_joint, rows.labels[batch], rows.weights_of(batch)
            )
            cpts.backward(by_joint * factor)
            cpts.step(self._adam, rate)
            objective += value
            error += rows.error(log_joint, batch)
        cpts.renew()
        if not (
            np.isfinite(cpts.log_theta).all() and np.isfinite(self._adam.second).all()
        ):
            # A gradient, finite itself, led to infinite values.
            raise overflow_error(self._named_loss)
        record = {
            "objective": float(objective / total),
            "train_error": float(error / total),
            "rate": rate,
        }
        if len(self._validation) > 0:
            seen = _scores(cpts, self._loss, rows, self._validation)
            record["held_out_error"], record["held_out_objective"] = seen
            if seen < self._best:
                self._best, self._best_epoch = seen, self.epoch
                self._best_cpts = cpts.log_theta.copy()
        return record

    def _make_state(self, records: tuple[Mapping[str, float], ...]) -> EpochState:
        cpts, adam = self.cpts, self._adam
        has_best = len(self._validation) > 0
        return EpochState(
            self.epoch,
            np.stack([cpts.theta, cpts.log_theta, adam.first, adam.second]),
            adam.steps,
            deepcopy(self._random),
            self._best,
            self._best_epoch,
            self._best_cpts.copy() if has_best else np.empty(0),
            records,
        )


def _scores(
    cpts: SoftmaxCPTs, loss: Loss, rows: LabelledSamples, validation: IndexArray
) -> tuple[float, float]:
    """Error and mean loss on the validation set."""
    parts = [
        cpts.forward(validation[begin : begin + SCORED_SAMPLES])
        for begin in range(0, len(validation), SCORED_SAMPLES)
    ]
    log_joint = np.concatenate(parts)
    value, _ = loss.value_and_gradient(
        log_joint, rows.labels[validation], rows.weights_of(validation)
    )
    total = rows.total(validation)
    return float(rows.error(log_joint, validation) / total), float(value / total)
