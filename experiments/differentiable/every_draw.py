"""The best weights of a list of settings, with as many draws as the paper has.

The paper learns with every draw of order and candidates under every setting. Here the
list of a method comes first, with the draws that are kept for it, and then those of its
weights that have the least error on rows held out are learned with under all draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.differentiable import comparison
from experiments.differentiable.draws import n_draws
from experiments.differentiable.methods import run_of
from experiments.differentiable.sets import SETS, part
from experiments.differentiable.settings import PLAN, Setting
from tanager.experiments.measurements.differentiable import learned_and_tested
from tanager.experiments.measurements.gumbel import METHODS

EVERY_DRAW = 3
"""The plan by which these results are known."""
N_WEIGHTS = 3
RATE = 3e-3
"""That of the two rates of a list which is one of the paper's."""
LISTS = (("satimage", "TAN Subset 8", "frequency", 150),)
"""Set, method, first tables and epochs of the lists this is done for."""

Row = Mapping[str, str]


def run() -> None:
    """Measure what is not yet in the files."""
    for of_list in LISTS:
        _measure(*of_list)


def best_weights(rows: Sequence[Row]) -> list[Setting]:
    """Settings of one rate with the least error on rows held out, the best one first.

    Parameters
    ----------
    rows : sequence of mappings
        Those of a list of settings; errors are means over the folds.
    """
    errors: dict[Setting, list[float]] = {}
    for row in rows:
        if float(row["rate"]) == RATE:
            of_setting = errors.setdefault(Setting.of_row(row), [])
            of_setting.append(float(row["validation_error"]))
    if not errors:
        raise LookupError(f"measure a list with a rate of {RATE} first")
    return sorted(errors, key=lambda one: float(np.mean(errors[one])))[:N_WEIGHTS]


def planned(method: str, weights: Sequence[Setting]) -> Iterator[Setting]:
    """All weights with a draw, then with the next one."""
    for seed in range(n_draws(method)):
        for setting in weights:
            yield replace(setting, seed=seed)


def _measure(name: str, method: str, start: str, epochs: int) -> None:
    file = comparison.results(name)
    wanted = method, start, str(epochs), str(PLAN)
    listed = [
        row
        for row in file.rows
        if (row["method"], row["start"], row["epochs"], row["plan"]) == wanted
    ]
    comparison.warm_up(method, name)
    parts = [part(name, fold) for fold in range(1, SETS[name].n_folds + 1)]
    for number, setting in enumerate(planned(method, best_weights(listed))):
        work = run_of(setting, SETS[name].batch_size, epochs, start)
        of_setting = {c: str(getattr(setting, c)) for c in comparison.OF_SETTING}
        for fold, rows in enumerate(parts, start=1):
            key = (method, fold, start, epochs, EVERY_DRAW, number)
            if key not in file:
                numbers = learned_and_tested(METHODS[method], work, rows)
                file.add(key, numbers, of_setting)
