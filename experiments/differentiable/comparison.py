"""Table 1 of Roth and Pernkopf (2020): errors of methods under random settings.

For every setting tables are learned twice: from all training rows, for the test error;
and from 80 % of them, for the error on the others, by which a setting can be chosen
without a look at the test rows. The states of the features are those of all training
rows in both.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from experiments.differentiable.methods import (
    METHODS,
    TREES,
    WITHOUT_SETTINGS,
    Method,
    Run,
    methods_for,
)
from experiments.differentiable.results import FOLDER, SEED, SharedResults
from experiments.differentiable.sets import SETS, SHOWN, part
from experiments.differentiable.settings import NONE, settings
from experiments.structure.coded import Part, arcs
from tanager.core.parameters import Parameters
from tanager.counts import ArrayData
from tanager.inference import engine_for
from tanager.parameters.training_rows import hold_out

KEYS = ("method", "fold", "start", "epochs", "setting")
START = "random"
HELD_OUT = 0.2

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
        for key, work in planned(name, epochs or chosen.epochs, often, start):
            method = key[0]
            if methods is not None and method not in methods:
                continue
            if key not in file:
                rows = _part(name, key[1])
                warm_up(key[0], name)
                file.add(key, measured(METHODS[key[0]], work, rows))


def planned(
    name: str, epochs: int, n_settings: int, start: str
) -> Iterator[tuple[Key, Run]]:
    """What to measure on a set: all methods with a setting, then with the next one."""
    chosen = SETS[name]
    methods = methods_for(name)
    folds = range(1, chosen.n_folds + 1)
    for method in methods:
        if method in WITHOUT_SETTINGS:
            for fold in folds:
                yield (method, fold, "", 0, 0), Run(NONE, chosen.batch_size, 0, "")
    for number in range(n_settings):
        for method in methods:
            if method not in WITHOUT_SETTINGS:
                setting = settings(trees=method in TREES)[number]
                work = Run(setting, chosen.batch_size, epochs, start)
                for fold in folds:
                    yield (method, fold, start, epochs, number), work


def measured(method: Method, work: Run, rows: Part) -> dict[str, float]:
    """Errors on the test rows and on rows held out, and seconds of both runs."""
    learned, watched = hold_out(
        rows.train.labels.astype(np.intp), HELD_OUT, np.random.default_rng(SEED)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        begin = perf_counter()
        structure, tables = method(work, rows.train)
        seconds = perf_counter() - begin
        _, validated = method(work, rows.train.take(learned))
        both = perf_counter() - begin
    return {
        **work.setting.numbers(),
        "error": error(tables, rows.test),
        "validation_error": error(validated, rows.train.take(watched)),
        "arcs": arcs(structure),
        "seconds": seconds,
        "validation_seconds": both - seconds,
        "warnings": len(caught),
    }


def error(tables: Parameters, data: ArrayData) -> float:
    """Share of the rows that are put into a wrong class."""
    guessed = engine_for(tables).log_joint(data.codes).argmax(axis=1)
    return float(np.mean(guessed != data.labels))


@lru_cache(maxsize=max(chosen.n_folds for chosen in SETS.values()))
def _part(name: str, fold: int) -> Part:
    return part(name, fold)


@cache
def warm_up(method: str, name: str) -> None:
    """Learn from a few rows once: kernels are compiled and loaded in it."""
    work = Run(settings(1, trees=True)[0], SETS[name].batch_size, 1, START)
    METHODS[method](work, _part(name, 1).some)
