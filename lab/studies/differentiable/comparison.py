"""Table 1 of Roth and Pernkopf (2020): errors of methods under random settings.

For every setting tables are learned twice: from all training rows, for the test error;
and from 80 % of them, for the error on the others, by which a setting can be chosen
without a look at the test rows. The states of the features are those of all training
rows in both. The same errors on rows held out say near which of the first settings the
later ones are drawn. Random trees, orders and candidates come from draws that are
screened first; see `lab.studies.differentiable.draws`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from lab.measurements.differentiable import learned_and_tested
from lab.measurements.gumbel import METHODS, Run
from lab.studies.differentiable import draws
from lab.studies.differentiable.methods import (
    KINDS,
    WITHOUT_CHANCE,
    WITHOUT_SETTINGS,
    methods_for,
    run_of,
)
from lab.studies.differentiable.results import FOLDER, SharedResults
from lab.studies.differentiable.sets import SETS, part
from lab.studies.differentiable.settings import (
    N_DRAWN,
    PLAN,
    Setting,
    drawn,
    near_the_best,
)
from lab.studies.structure.coded import Part

KEYS = ("method", "fold", "start", "epochs", "plan", "setting")
OF_SETTING = ("seed", "lambda_", "share", "eta", "rate")

Key = tuple[str, int, str, int, int | str, int]
Row = Mapping[str, str]


def results(name: str, folder: Path = FOLDER) -> SharedResults:
    """The file of a set."""
    return SharedResults(name, KEYS, folder)


def run(
    names: Sequence[str] = tuple(SETS),
    methods: Sequence[str] | None = None,
    *,
    epochs: int | None = None,
    n_settings: int | None = None,
    start: str | None = None,
) -> None:
    """Measure what is not yet in the files.

    Methods of which the file has results of an earlier plan, from the same first
    tables, are left as they are.

    Parameters
    ----------
    names : sequence of str, default=all
        Sets.
    methods : sequence of str or None, default=None
        Only these.
    epochs, n_settings : int or None, default=None
        How long and how often tables are learned; None is as `SETS` says.
    start : {"random", "frequency"} or None, default=None
        First tables; None is as `SETS` says.
    """
    for name in names:
        file = results(name)
        chosen = SETS[name]
        often = chosen.n_settings if n_settings is None else n_settings
        first = start or chosen.start
        done = {
            row["method"]
            for row in file.rows
            if row["plan"] and int(row["plan"]) < PLAN and row["start"] == first
        }
        for key in planned(name, epochs or chosen.epochs, often, first):
            method, fold, first_tables, how_long, _, _ = key
            if method in done or (methods is not None and method not in methods):
                continue
            if key in file:
                continue
            warm_up(method, name)
            if method in WITHOUT_SETTINGS:
                of_setting, work = dict.fromkeys(OF_SETTING, ""), frequencies()
            else:
                setting = setting_of(name, key, file.rows)
                of_setting = {c: str(getattr(setting, c)) for c in OF_SETTING}
                work = run_of(setting, chosen.batch_size, how_long, first_tables)
            numbers = learned_and_tested(METHODS[method], work, _part(name, fold))
            file.add(key, numbers, of_setting)


def planned(name: str, epochs: int, n_settings: int, start: str) -> Iterator[Key]:
    """What to measure on a set: all methods with a setting, then with the next one."""
    methods = methods_for(name)
    folds = range(1, SETS[name].n_folds + 1)
    for method in methods:
        if method in WITHOUT_SETTINGS:
            for fold in folds:
                yield method, fold, "", 0, "", 0
    for number in range(n_settings):
        for method in methods:
            if method not in WITHOUT_SETTINGS:
                for fold in folds:
                    yield method, fold, start, epochs, PLAN, number


def setting_of(name: str, key: Key, rows: Sequence[Row]) -> Setting:
    """The setting of a method by its number, given the rows of the settings before."""
    method, _, start, epochs, _, number = key
    if number >= N_DRAWN:
        former = listed(rows, method, start, epochs)
        return near_the_best(number, *first_settings(former, N_DRAWN))
    kind = KINDS.get(method, "learned")
    if method in WITHOUT_CHANCE:
        return drawn(name, number, start, kind, range(N_DRAWN))
    usual = SETS[name].start
    if method == "TAN Subset 8" and start != usual:
        return drawn(name, number, start, kind, draws.tried(method, usual, rows))
    return drawn(name, number, start, kind, draws.seeds(name, method, start))


def listed(rows: Sequence[Row], method: str, start: str, epochs: int) -> list[Row]:
    """Rows of the list of settings of a method."""
    kind = (method, start, str(epochs), str(PLAN))
    names = ("method", "start", "epochs", "plan")
    return [row for row in rows if tuple(row[name] for name in names) == kind]


def first_settings(
    rows: Sequence[Row], n_settings: int
) -> tuple[list[Setting], list[float]]:
    """The first settings of a method and their errors on rows held out.

    The errors are means over the folds.
    """
    found: dict[int, Setting] = {}
    errors: dict[int, list[float]] = {number: [] for number in range(n_settings)}
    for row in rows:
        number = int(row["setting"])
        if number < n_settings:
            found[number] = Setting.of_row(row)
            errors[number].append(float(row["validation_error"]))
    if not all(errors.values()):
        raise LookupError(f"measure the first {n_settings} settings first")
    means = [float(np.mean(errors[number])) for number in range(n_settings)]
    return [found[number] for number in range(n_settings)], means


def frequencies() -> Run:
    """For methods that count: nothing of it matters."""
    return Run(1, 0, lambda_=0.0, share=0.0, eta=1.0, rate=0.0)


@lru_cache(maxsize=max(chosen.n_folds for chosen in SETS.values()))
def _part(name: str, fold: int) -> Part:
    return part(name, fold)


@cache
def warm_up(method: str, name: str) -> None:
    """Learn from a few rows once: kernels are compiled and loaded in it."""
    work = run_of(
        drawn(name, 0, "random", "tree", (0,)), SETS[name].batch_size, 1, "random"
    )
    METHODS[method](work, _part(name, 1).some)
