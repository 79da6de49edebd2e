"""`GumbelRun`: the epochs of a descent, their schedule, and going on after a break."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.losses.loss_checks import overflow_error
from tanager.model.schema import Schema
from tanager.optim import Monitor, exponential_decay
from tanager.optim.checkpoint import (
    Checkpoint,
    checksum,
    describe,
    generator_state,
    restore_generator,
)
from tanager.parameters.training_samples import LabelledRows
from tanager.structure.gumbel.gradient_descent import GumbelDescent
from tanager.types import IntArray

REACH, STRUCTURE_REACH = 300.0, 30.0
"""How far all steps of tables and of weights may go where no rate is given, in nats."""

LEAST_RATE, LEAST_STRUCTURE_RATE, MOST_RATE = 1e-2, 1e-3, 0.1
"""Bounds of the rates where none is given."""

SAVE_SECONDS, SAVE_SHARE = 30.0, 0.05
"""Seconds after which the state is saved again, at the end of an epoch, and the share
of the time that saving may take: large tables are saved less often."""


@dataclass(frozen=True)
class Schedule:
    """Rates and temperatures of all epochs.

    Parameters
    ----------
    epochs : int
        How many there are.
    rate, decay : float
        Rate of the tables in the first epoch, and its factor until the last.
    structure_rate : float
        Rate of the structure weights.
    hot, cold : float
        Temperature of the first and of the last epoch.

    Examples
    --------
    >>> schedule = Schedule(3, 0.1, 0.01, 0.001, hot=10.0, cold=0.1)
    >>> [round(schedule.temperature(epoch), 6) for epoch in range(3)]
    [10.0, 1.0, 0.1]
    """

    epochs: int
    rate: float
    decay: float
    structure_rate: float
    hot: float
    cold: float

    @classmethod
    def planned(
        cls,
        epochs: int,
        n_batches: int,
        *,
        rate: float | None,
        decay: float,
        structure_rate: float | None,
        temperatures: tuple[float, float],
    ) -> Schedule:
        """The schedule of a run; rates that are left open let all runs get far."""
        steps = epochs * n_batches
        if rate is None:
            rate = min(max(REACH / steps, LEAST_RATE), MOST_RATE)
        if structure_rate is None:
            open_rate = max(STRUCTURE_REACH / steps, LEAST_STRUCTURE_RATE)
            structure_rate = min(open_rate, MOST_RATE)
        hot, cold = temperatures
        return cls(epochs, float(rate), float(decay), float(structure_rate), hot, cold)

    def table_rate(self, epoch: int) -> float:
        """Rate of the tables."""
        return exponential_decay(self.rate, self.decay, epoch, self.epochs)

    def temperature(self, epoch: int) -> float:
        """Temperature of the softened draws."""
        return exponential_decay(self.hot, self.cold / self.hot, epoch, self.epochs)


@dataclass(frozen=True, eq=False)
class GumbelRun:
    """A descent that goes through its epochs.

    Parameters
    ----------
    descent : GumbelDescent
        What takes the steps.
    schedule : Schedule
        Of the epochs.
    watched : ndarray of int
        Rows whose error is reported, if any.
    random : numpy Generator
        Source of randomness.
    monitor : Monitor
        Takes a report of every epoch.
    checkpoint : Checkpoint or None
        Where to go on from, and to save the state to.
    """

    descent: GumbelDescent
    schedule: Schedule
    watched: IntArray
    random: np.random.Generator
    monitor: Monitor
    checkpoint: Checkpoint | None

    @property
    def is_done(self) -> bool:
        """Whether all epochs were gone through."""
        return len(self.monitor.trace) == self.schedule.epochs

    def go(self, began: float, ends: float, *, verbose: bool) -> None:
        """Go through the epochs until all are done or the time is up.

        Parameters
        ----------
        began, ends : float
            By `time.perf_counter`.
        verbose : bool
            Whether to tell every epoch on standard error.
        """
        trace = self.monitor.trace
        due = perf_counter() + SAVE_SECONDS
        earlier = self._restored()
        # One epoch at least: without any, tables are random, and runs that are cut
        # short again and again would never end.
        first = len(trace)
        while not self.is_done and (len(trace) == first or perf_counter() <= ends):
            report = self._epoch(len(trace))
            report["seconds"] = earlier + perf_counter() - began
            self.monitor.record(**report)
            if verbose:
                _tell(trace[-1], self.schedule.epochs)
            now = perf_counter()
            if now > due and not self.is_done:
                self._save()
                saved = perf_counter()
                due = saved + max(SAVE_SECONDS, (saved - now) / SAVE_SHARE)
        if self.is_done and self.checkpoint is not None:
            self.checkpoint.remove()
        elif not self.is_done:
            self._save()

    def _epoch(self, epoch: int) -> dict[str, float]:
        """One epoch, and what there is to say about it."""
        rate = self.schedule.table_rate(epoch)
        tau = self.schedule.temperature(epoch)
        report = self.descent.epoch(
            rate, self.schedule.structure_rate, tau, self.random
        )
        _check_finite(self.descent)
        report["entropy"] = self.descent.entropy()
        report |= {"temperature": tau, "rate": rate}
        if len(self.watched):
            report["held_out_error"] = self.descent.error(self.watched)
        return report

    def _restored(self) -> float:
        """Go to where a checkpoint has left off; the seconds until then."""
        state = None if self.checkpoint is None else self.checkpoint.load()
        if state is None:
            return 0.0
        arrays, story = state
        for name, array in self.descent.state.items():
            array[...] = arrays[name]
        self.descent.steps = story["steps"]
        restore_generator(self.random, story["random"])
        self.monitor.trace.extend(story["trace"])
        return float(story["trace"][-1]["seconds"]) if story["trace"] else 0.0

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        story = {
            "steps": self.descent.steps,
            "random": generator_state(self.random),
            "trace": self.monitor.trace,
        }
        self.checkpoint.save(self.descent.state, story)


def checkpoint_of(
    path: Any,
    settings: Mapping[str, Any],
    schema: Schema,
    rows: LabelledRows,
    random: np.random.Generator,
) -> Checkpoint:
    """The file to go on from, with all that a run depends on.

    Parameters
    ----------
    path : str or path
        Where it is.
    settings : mapping
        Arguments that must be the same.
    schema, rows, random
        Variables, rows and source of randomness at the beginning.
    """
    # The state itself is long, and says nothing to the reader of a message.
    state = json.dumps(generator_state(random), sort_keys=True)
    identity = {
        **{name: describe(value) for name, value in settings.items()},
        "tanager": __version__,
        "n_states": schema.n_states,
        "samples": checksum(rows.codes, rows.labels, rows.weights),
        "random_state": checksum(np.frombuffer(state.encode(), np.uint8)),
    }
    return Checkpoint(path, identity)


def _check_finite(descent: GumbelDescent) -> None:
    """Refuse to go on where a gradient, finite itself, led out of the numbers."""
    state = descent.state
    names = ("log_theta", "root", "log_phi", "phi_square")
    if not all(np.isfinite(state[name]).all() for name in names):
        raise overflow_error(descent.loss)


def _tell(step: Mapping[str, Any], epochs: int) -> None:
    """One line about an epoch."""
    watched = (
        f", held-out error {step['held_out_error']:.4f}"
        if "held_out_error" in step
        else ""
    )
    print(
        f"epoch {step['iteration']}/{epochs}: loss {step['objective']:.4g}, "
        f"error {step['train_error']:.4f}{watched}, "
        f"entropy {step['entropy']:.3f}, {step['seconds']:.0f} s",
        file=sys.stderr,
        flush=True,
    )
