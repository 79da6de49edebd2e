"""Selection of the penalty C by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.loglinear.objective import PenalisedObjective
from tanager.loglinear.solver import reduce_gradient
from tanager.optim import Monitor, stratified_folds, stratified_subsample
from tanager.types import FloatArray
from tanager.utils.threads import map_threads

if TYPE_CHECKING:
    from tanager.loglinear.model import LogLinearModel

FIRST_C = 0.1
STEP_OF_C = 10.0**0.5
RANGE_OF_C = (1e-4, 1e4)
"""First value of C, the factor between neighbours, and the range."""

FALL = 0.2
"""Fraction to which the gradient falls along the path: enough to compare penalties."""

FIRST_FALL = 0.01
"""The same for the first value, which does not start near its optimum: a higher
held-out loss than at the optimum would make any other penalty look better."""


@dataclass(frozen=True)
class _Point:
    """A value of C, the mean held-out loss and the coordinates of every fold."""

    C: float
    loss: float
    coordinates: Sequence[FloatArray]


def select_penalty(
    model: LogLinearModel,
    data: CodedData,
    *,
    folds: int,
    max_iter: int,
    monitor: Monitor,
    max_samples: int | None = None,
) -> tuple[float, FloatArray | None]:
    """Select the C with the lowest mean held-out ``-log P(c | x)``.

    From one value of C the search goes on to weaker penalties, and from the same value
    to stronger ones, each until the held-out loss no longer falls; the better end is
    taken. Every fold starts from its coordinates at the value before.

    There are at most `folds` folds and `max_iter` steps per fold and value; `monitor`
    records C, mean held-out loss and error of every value tried. Of more than
    `max_samples` samples so many are used, stratified by class.

    Returns the best C, 1 if no class has two samples, and the mean of the folds'
    coordinates at it, shape (n_coordinates,), or None, to start a fit to all samples.
    """
    labels = np.concatenate([block.labels for block in data.blocks()])
    n_jobs = data.n_jobs
    if max_samples is not None and len(labels) > max_samples:
        rows = stratified_subsample(labels, max_samples)
        (_, data), labels = next(iter(data.split([rows]))), labels[rows]
    parts = [
        (model.loss(rest.blocks()), model.loss(held.blocks()))
        for rest, held in data.split(
            stratified_folds(labels, data.schema.n_classes, folds)
        )
    ]
    if not parts:
        return 1.0, None
    coordinates = model.read_coordinates

    def fit_folds(C: float, starts: Sequence[FloatArray], fall: float) -> _Point:
        objectives = [PenalisedObjective(train, coordinates, C) for train, _ in parts]
        ends = map_threads(
            lambda fold: reduce_gradient(
                objectives[fold], starts[fold], fall, max_iter
            ),
            range(len(parts)),
            n_jobs,
        )
        scores = map_threads(
            lambda fold: parts[fold][1].evaluate(coordinates.apply(ends[fold])),
            range(len(parts)),
            n_jobs,
        )
        loss, error = np.mean(scores, axis=0).tolist()
        monitor.record(C=C, held_out_loss=loss, held_out_error=error)
        return _Point(C, loss, ends)

    first = fit_folds(FIRST_C, [np.zeros(coordinates.n_in)] * len(parts), FIRST_FALL)
    ends = []
    for step in (STEP_OF_C, 1.0 / STEP_OF_C):
        best = first
        while RANGE_OF_C[0] <= best.C * step <= RANGE_OF_C[1]:
            found = fit_folds(best.C * step, best.coordinates, FALL)
            if not found.loss < best.loss:
                break
            best = found
        ends.append(best)
    best = min(ends, key=lambda point: point.loss)
    return best.C, np.mean(best.coordinates, axis=0)
