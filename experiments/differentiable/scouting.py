"""Which settings are worth a whole run: short runs on rows of the training part.

Of every method and setting tables are learned for few epochs from 80 % of the first
fold's training rows. The settings of least error on the others are then run in full;
the test rows play no role in it.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from experiments.differentiable.methods import METHODS, Run
from experiments.differentiable.results import FOLDER, SEED, SharedResults
from experiments.differentiable.settings import Setting, settings
from experiments.structure.coded import Part
from tanager.parameters.training_rows import hold_out

KEYS = ("method", "start", "epochs", "setting")
HELD_OUT = 0.2
SHARE = 10
"""A short run is of one in so many epochs."""


def results(name: str, folder: Path = FOLDER) -> SharedResults:
    """The file of a set."""
    return SharedResults(f"{name}-scouting", KEYS, folder)


def scouted(
    name: str, method: str, rows: Part, run: Run, n_settings: int, n_kept: int
) -> list[Setting]:
    """The settings of least error after short runs; those not yet made are made.

    Parameters
    ----------
    name, method : str
        Set and method.
    rows : Part
        The first fold.
    run : Run
        How a whole run is made, but for the setting.
    n_settings, n_kept : int
        Settings to compare, and to keep.
    """
    from experiments.differentiable.comparison import error

    file = results(name)
    epochs = max(1, run.epochs // SHARE)
    learned, watched = hold_out(
        rows.train.labels.astype(np.intp), HELD_OUT, np.random.default_rng(SEED)
    )
    for setting in settings(n_settings):
        key = (method, run.start, epochs, setting.number)
        if key not in file:
            begin = perf_counter()
            short = Run(setting, run.batch_size, epochs, run.start)
            _, tables = METHODS[method](short, rows.train.take(learned))
            numbers = {
                "validation_error": error(tables, rows.train.take(watched)),
                "validation_seconds": perf_counter() - begin,
            }
            file.add(key, setting.numbers() | numbers)
    errors = {
        int(row["setting"]): float(row["validation_error"])
        for row in file.rows
        if (row["method"], row["start"], int(row["epochs"]))
        == (method, run.start, epochs)
    }
    ranked = sorted(settings(n_settings), key=lambda s: (errors[s.number], s.number))
    return ranked[:n_kept]
