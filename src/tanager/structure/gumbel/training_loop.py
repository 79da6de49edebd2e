"""`TrainingLoop`: the epochs of a descent, their schedule, and checkpoints."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.losses.loss_checks import overflow_error
from tanager.model.schema import Schema
from tanager.optim import Monitor, exponential_decay
from tanager.optim.checkpoint_file import Checkpoint
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.gumbel.gradient_descent import GumbelDescent
from tanager.types import IntArray
from tanager.utils.fingerprint import checksum, describe
from tanager.utils.generator_state import generator_state, restore_generator
from tanager.utils.progress import StopFitError, keep_best
from tanager.utils.text import pluralise

CPT_STEPS, STRUCTURE_STEPS = (300.0, 1e-2), (30.0, 1e-3)
"""Sum of all default step sizes in nats, and the smallest default rate."""

MAX_DEFAULT_RATE = 0.1
"""Largest default rate."""

SAVE_SECONDS, SAVE_FRACTION = 30.0, 0.05
"""Seconds between two checkpoints, and maximum fraction of the time spent on them."""


FREE_PARAMETERS = ("checkpoint", "max_seconds", "verbose")
"""Arguments of a learner that may change when a run resumes from a checkpoint."""


@dataclass(frozen=True)
class Schedule:
    """Learning rates and temperatures of all epochs.

    Rate and temperature change exponentially, from `rate` to ``rate * decay`` and from
    `hot` to `cold`; `structure_rate` is constant.
    """

    epochs: int
    rate: float
    decay: float
    structure_rate: float
    hot: float
    cold: float


def select_rate(rate: float | None, steps: int, reach: float, least: float) -> float:
    """Return a given rate, or the one with which all steps sum up to `reach`."""
    if rate is None:
        return min(max(reach / steps, least), MAX_DEFAULT_RATE)
    return float(rate)


@dataclass(frozen=True, eq=False)
class TrainingLoop:
    """Run the epochs of a descent.

    The loop reports every epoch to `monitor`, with the error on the samples in
    `validation`, if any, and saves its state to `checkpoint`, if there is one.
    """

    descent: GumbelDescent
    schedule: Schedule
    validation: IntArray
    random: np.random.Generator
    monitor: Monitor
    checkpoint: Checkpoint | None

    @property
    def is_done(self) -> bool:
        """Whether all epochs are finished."""
        return len(self.monitor.trace) == self.schedule.epochs

    def run(self, began: float) -> None:
        """Run epochs until all are done or the work must end.

        At least one is run: without any, CPTs are random, and runs that are resumed
        with too little time would never end. `began` is when the fit did, by
        `time.perf_counter`.
        """
        trace = self.monitor.trace
        due = perf_counter() + SAVE_SECONDS
        earlier = self._restore()
        step = {} if self.is_done else self._epoch(len(trace))
        with keep_best(self.monitor.who, self._done):
            while not self.is_done:
                step["seconds"] = earlier + perf_counter() - began
                self._record(step)
                now = perf_counter()
                if now > due and not self.is_done:
                    self._save()
                    saved = perf_counter()
                    due = saved + max(SAVE_SECONDS, (saved - now) / SAVE_FRACTION)
                if not self.is_done:
                    step = self._epoch(len(trace))
        if self.is_done and self.checkpoint is not None:
            self.checkpoint.remove()

    def _record(self, step: Mapping[str, Any]) -> None:
        """Report a complete epoch; its state is saved if it is the last for now."""
        try:
            self.monitor.record(**step)
        except StopFitError:
            if not self.is_done:
                self._save()
                raise

    def _done(self) -> str:
        """What was done, in words, and how to go on."""
        done = pluralise(len(self.monitor.trace), "epoch")
        if self.checkpoint is None or not os.path.exists(self.checkpoint.path):
            return done
        return f"{done} (fit again to resume from '{self.checkpoint.path}')"

    def _epoch(self, epoch: int) -> dict[str, float]:
        """Run one epoch and return its report."""
        descent, plan = self.descent, self.schedule
        rate = exponential_decay(plan.rate, plan.decay, epoch, plan.epochs)
        tau = exponential_decay(plan.hot, plan.cold / plan.hot, epoch, plan.epochs)
        report = descent.epoch(rate, plan.structure_rate, tau, self.random)
        names = ("log_theta", "root", "log_phi", "phi_square")
        if not all(np.isfinite(descent.state[name]).all() for name in names):
            raise overflow_error(descent.loss)
        report["entropy"] = descent.entropy()
        report |= {"temperature": tau, "rate": rate}
        if len(self.validation):
            report["held_out_error"] = descent.error(self.validation)
        return report

    def _restore(self) -> float:
        """Load the state of the checkpoint, if any; return the seconds spent so far."""
        state = None if self.checkpoint is None else self.checkpoint.load()
        if state is None:
            return 0.0
        arrays, progress = state
        for name, array in self.descent.state.items():
            array[...] = arrays[name]
        self.descent.steps = progress["steps"]
        restore_generator(self.random, progress["random"])
        self.monitor.trace.extend(progress["trace"])
        return float(progress["trace"][-1]["seconds"]) if progress["trace"] else 0.0

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        progress = {
            "steps": self.descent.steps,
            "random": generator_state(self.random),
            "trace": self.monitor.trace,
        }
        self.checkpoint.save(self.descent.state, progress)


def open_checkpoint(
    learner: Any, schema: Schema, rows: LabelledSamples, random: np.random.Generator
) -> Checkpoint:
    """Return the checkpoint of a run that depends on all these arguments."""
    settings = learner.get_params(deep=False)
    # Hashed, because the state is too long for a message.
    state = json.dumps(generator_state(random), sort_keys=True)
    identity = {
        **{n: describe(v) for n, v in settings.items() if n not in FREE_PARAMETERS},
        "tanager": __version__,
        "n_states": schema.n_states,
        "samples": checksum(rows.codes, rows.labels, rows.weights),
        "random_state": checksum(np.frombuffer(state.encode(), np.uint8)),
    }
    return Checkpoint(learner.checkpoint, identity)
