"""The best weights of a list of settings, with as many draws as the paper has.

The paper learns with every draw of order and candidates under every setting. Here the
list of a method comes first, with the draws that are kept for it, and then those of its
weights that have the least error on rows held out are learned with under all draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.measurements.differentiable import learned_and_tested
from lab.measurements.gumbel import METHODS
from lab.studies.differentiable import comparison
from lab.studies.differentiable.draws import n_draws
from lab.studies.differentiable.methods import run_of
from lab.studies.differentiable.sets import SETS, part
from lab.studies.differentiable.settings import EVERY_DRAW, Setting

N_WEIGHTS = 3
RATE = 3e-3
"""That of the two rates of a list which is one of the paper's."""
LISTS = (("satimage", "TAN Subset 8", "frequency", 150),)
"""Set, method, first tables and epochs of the lists this is done for."""

Row = Mapping[str, str]


def run(
    names: Sequence[str] | None = None, methods: Sequence[str] | None = None
) -> None:
    """Measure what is not yet in the files, of the lists that are whole.

    Parameters
    ----------
    names, methods : sequence of str or None, default=None
        Only these sets and methods.
    """
    for name, method, start, epochs in LISTS:
        if (names is None or name in names) and (methods is None or method in methods):
            _measure(name, method, start, epochs)


def best_weights(rows: Sequence[Row], n_settings: int, n_folds: int) -> list[Setting]:
    """Settings of one rate with the least error on rows held out, the best one first.

    Parameters
    ----------
    rows : sequence of mappings
        Those of a list of settings; errors are means over the folds.
    n_settings, n_folds : int
        How many there are to be: weights chosen from part of a list would be others.
    """
    errors: dict[Setting, list[float]] = {}
    for row in rows:
        of_setting = errors.setdefault(Setting.of_row(row), [])
        of_setting.append(float(row["validation_error"]))
    if len(errors) < n_settings or any(len(of) < n_folds for of in errors.values()):
        raise LookupError(f"measure all {n_settings} settings of the list first")
    found = [setting for setting in errors if setting.rate == RATE]
    return sorted(found, key=lambda one: float(np.mean(errors[one])))[:N_WEIGHTS]


def planned(method: str, weights: Sequence[Setting]) -> Iterator[Setting]:
    """All weights with a draw, then with the next one."""
    for seed in range(n_draws(method)):
        for setting in weights:
            yield replace(setting, seed=seed)


def _measure(name: str, method: str, start: str, epochs: int) -> None:
    file, chosen = comparison.results(name), SETS[name]
    rows = comparison.listed(file.rows, method, start, epochs)
    try:
        weights = best_weights(rows, chosen.n_settings, chosen.n_folds)
    except LookupError as error:
        print(f"{name}, {method} with every draw is left out: {error}.")
        return
    comparison.warm_up(method, name)
    parts = [part(name, fold) for fold in range(1, chosen.n_folds + 1)]
    for number, setting in enumerate(planned(method, weights)):
        work = run_of(setting, chosen.batch_size, epochs, start)
        of_setting = {c: str(getattr(setting, c)) for c in comparison.OF_SETTING}
        for fold, of_fold in enumerate(parts, start=1):
            key = (method, fold, start, epochs, EVERY_DRAW, number)
            if key not in file:
                numbers = learned_and_tested(METHODS[method], work, of_fold)
                file.add(key, numbers, of_setting)
