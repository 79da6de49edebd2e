"""Table 1 of Roth and Pernkopf (2020): errors of methods under random settings.

For every setting tables are learned twice: from all training rows, for the test error;
and from 80 % of them, for the error on the others, by which a setting can be chosen
without a look at the test rows. The states of the features are those of all training
rows in both. The same errors on rows held out say near which of the first settings the
later ones are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from experiments.differentiable.methods import (
    METHODS,
    TREES,
    WITHOUT_CHANCE,
    WITHOUT_SETTINGS,
    Method,
    Run,
    methods_for,
)
from experiments.differentiable.results import FOLDER, SharedResults
from experiments.differentiable.sets import SETS, SHOWN, part
from experiments.differentiable.settings import (
    N_FIRST,
    N_PARENTS,
    NONE,
    Setting,
    first_settings,
    with_another_seed,
    with_other_weights,
)
from experiments.structure.coded import Part
from tanager.experiments.measurements.differentiable import learned_and_tested

KEYS = ("method", "fold", "start", "epochs", "setting")
START = "random"

Key = tuple[str, int, str, int, int]


def results(name: str, folder: Path = FOLDER) -> SharedResults:
    """The file of a set."""
    return SharedResults(name, KEYS, folder)


def run(
    names: Sequence[str] = SHOWN,
    methods: Sequence[str] | None = None,
    *,
    epochs: int | None = None,
    n_settings: int | None = None,
    start: str = START,
) -> None:
    """Measure what is not yet in the files.

    Parameters
    ----------
    names : sequence of str, default=SHOWN
        Sets.
    methods : sequence of str or None, default=None
        Only these.
    epochs, n_settings : int or None, default=None
        How long and how often tables are learned; None is as `SETS` says.
    start : {"random", "frequency"}
        From where.
    """
    for name in names:
        file = results(name)
        chosen = SETS[name]
        often = chosen.n_settings if n_settings is None else n_settings
        for key in planned(name, epochs or chosen.epochs, often, start):
            method, fold, first_tables, how_long, _ = key
            if (methods is not None and method not in methods) or key in file:
                continue
            setting = setting_of(name, key, file.rows)
            work = Run(setting, chosen.batch_size, how_long, first_tables)
            warm_up(method, name)
            file.add(key, measured(METHODS[method], work, _part(name, fold)))


def planned(name: str, epochs: int, n_settings: int, start: str) -> Iterator[Key]:
    """What to measure on a set: all methods with a setting, then with the next one."""
    methods = methods_for(name)
    folds = range(1, SETS[name].n_folds + 1)
    for method in methods:
        if method in WITHOUT_SETTINGS:
            for fold in folds:
                yield method, fold, "", 0, 0
    for number in range(n_settings):
        for method in methods:
            if method not in WITHOUT_SETTINGS:
                for fold in folds:
                    yield method, fold, start, epochs, number


def setting_of(name: str, key: Key, rows: Sequence[Mapping[str, str]]) -> Setting:
    """The setting of a method by its number, given the rows of the settings before.

    After the first ones come others with new seeds, then others with new weights; where
    nothing but batches depends on the seed, only the weights are new.
    """
    method, fold, start, epochs, number = key
    if method in WITHOUT_SETTINGS:
        return NONE
    first = first_settings(trees=method in TREES)
    if number < N_FIRST:
        return first[number]
    if method in WITHOUT_CHANCE:
        errors = held_out_errors(key, rows, N_FIRST)
        return with_other_weights(number, first, errors, n_parents=N_PARENTS)
    n_seeds = SETS[name].n_seeds
    if number < n_seeds:
        return with_another_seed(number, first, held_out_errors(key, rows, N_FIRST))
    former = [
        setting_of(name, (method, fold, start, epochs, k), rows) for k in range(n_seeds)
    ]
    errors = held_out_errors(key, rows, n_seeds)
    return with_other_weights(number, former, errors, n_parents=1)


def held_out_errors(
    key: Key, rows: Sequence[Mapping[str, str]], n_settings: int
) -> list[float]:
    """Errors on rows held out, of the first settings of a method, means over folds."""
    method, _, start, epochs, _ = key
    errors: list[list[float]] = [[] for _ in range(n_settings)]
    for row in rows:
        kind = row["method"], row["start"], row["epochs"]
        if kind == (method, start, str(epochs)) and int(row["setting"]) < n_settings:
            errors[int(row["setting"])].append(float(row["validation_error"]))
    if not all(errors):
        raise LookupError(f"measure the first {n_settings} settings of {method} first")
    return [float(np.mean(folds)) for folds in errors]


def measured(method: Method, work: Run, rows: Part) -> dict[str, float]:
    """Errors on the test rows and on rows held out, and seconds of both runs."""
    return {
        **work.setting.numbers(),
        **learned_and_tested(lambda _, data: method(work, data), work.flat, rows),
    }


@lru_cache(maxsize=max(chosen.n_folds for chosen in SETS.values()))
def _part(name: str, fold: int) -> Part:
    return part(name, fold)


@cache
def warm_up(method: str, name: str) -> None:
    """Learn from a few rows once: kernels are compiled and loaded in it."""
    work = Run(first_settings(trees=True)[0], SETS[name].batch_size, 1, START)
    METHODS[method](work, _part(name, 1).some)
