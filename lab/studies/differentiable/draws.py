"""Draws of random trees, orders and candidates, screened by short runs.

Which tree or order is drawn matters more than the weights of the loss. The paper draws
50 trees, and 25 pairs of orders and candidates, and learns with all of them under all
settings; here each is learned with for a few epochs from 80 % of the training rows, and
those with the least error on the others are kept. On sets of several folds it is the
mean over the folds, so that the rows that test one fold have a small part in what is
kept for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from lab.measurements.differentiable import held_out_error
from lab.measurements.gumbel import METHODS
from lab.studies.differentiable.methods import run_of
from lab.studies.differentiable.results import FOLDER, SharedResults
from lab.studies.differentiable.sets import SETS, part
from lab.studies.differentiable.settings import ETA, Setting

KEYS = ("set", "method", "fold", "start", "epochs", "seed")
EPOCHS = 30
LAMBDA, SHARE, RATE = 100.0, 0.5, 0.01
"""The weights that `GumbelTree` has by default, and a rate between the paper's."""
N_TREES = 50
N_OTHERS = 25
N_KEPT = 4
N_TRIED = 2
"""Draws of TAN Subset that are taken over from whole runs."""


def results(folder: Path = FOLDER) -> SharedResults:
    """Errors on rows held out."""
    return SharedResults("draws", KEYS, folder)


def n_draws(method: str) -> int:
    """How many are screened: as many as the paper has."""
    return N_TREES if method == "TAN Random-HYB" else N_OTHERS


def screen(name: str, method: str, start: str, folder: Path = FOLDER) -> None:
    """Measure what is not yet in the file."""
    file = results(folder)
    for fold in range(1, SETS[name].n_folds + 1):
        rows = part(name, fold)
        for seed in range(n_draws(method)):
            key = (name, method, fold, start, EPOCHS, seed)
            if key not in file:
                setting = Setting(seed, LAMBDA, SHARE, ETA, RATE)
                run = run_of(setting, SETS[name].batch_size, EPOCHS, start)
                error, seconds = held_out_error(METHODS[method], run, rows)
                numbers = {"validation_error": error, "seconds": seconds}
                file.add(key, numbers)


@cache
def seeds(name: str, method: str, start: str) -> list[int]:
    """Seeds of the draws that are kept, screened if need be."""
    screen(name, method, start)
    return kept(name, method, start, results().rows)


def kept(
    name: str, method: str, start: str, rows: Sequence[Mapping[str, str]]
) -> list[int]:
    """Seeds of the draws with the least errors, the best one first.

    Parameters
    ----------
    name, method, start : str
        Of the set, of the method, and of the first tables.
    rows : sequence of mappings
        Those of `results`.
    """
    errors: dict[int, list[float]] = {}
    for row in rows:
        what = row["set"], row["method"], row["start"], row["epochs"]
        if what == (name, method, start, str(EPOCHS)):
            found = errors.setdefault(int(row["seed"]), [])
            found.append(float(row["validation_error"]))
    whole = {s: e for s, e in errors.items() if len(e) == SETS[name].n_folds}
    if len(whole) < n_draws(method):
        raise LookupError(f"screen the draws of {method} on {name} first")
    return sorted(whole, key=lambda seed: (np.mean(whole[seed]), seed))[:N_KEPT]


def tried(method: str, start: str, rows: Sequence[Mapping[str, str]]) -> list[int]:
    """Seeds of the best draws of whole runs, the best one first.

    Of TAN Subset short runs hardly tell draws apart, so these are taken over for runs
    from other tables.

    Parameters
    ----------
    method, start : str
        Of these runs.
    rows : sequence of mappings
        Results of a set. A draw is as good as the least error of a setting with it on
        rows held out, its mean over the folds.
    """
    errors: dict[tuple[int, str, str], list[float]] = {}
    for row in rows:
        if (row["method"], row["start"]) == (method, start):
            key = int(row["seed"]), row["plan"], row["setting"]
            errors.setdefault(key, []).append(float(row["validation_error"]))
    if not errors:
        raise LookupError(f"measure {method} from {start} tables first")
    order = sorted(errors, key=lambda key: (np.mean(errors[key]), key))
    return list(dict.fromkeys(seed for seed, _, _ in order))[:N_TRIED]
