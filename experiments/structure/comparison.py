"""Accuracy of every structure on the 25 sets of Pernkopf and Bilmes (2010)."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from experiments.structure.coded import (
    Part,
    Tested,
    arcs,
    by_size,
    parts,
    results,
    searched,
    tested,
)
from experiments.structure.methods import STRUCTURES
from tanager import datasets
from tanager.registry import parameters_from, structure_from

KEYS = ("set", "structure", "parameters")


def sets() -> list[str]:
    """The sets, small ones first."""
    return by_size([name for name in datasets.names() if name.startswith("uci25/")])


def run() -> None:
    """Measure what is not yet in the file."""
    found = results("comparison", KEYS)
    for name in sets():
        wanted = {
            structure: missing
            for structure, parameters in STRUCTURES.items()
            if (missing := [p for p in parameters if (name, structure, p) not in found])
        }
        if not wanted:
            continue
        rows = parts(name)
        for structure, parameters in wanted.items():
            for which, numbers in evaluated(structure, parameters, rows).items():
                found.add((name, structure, which), numbers)


def evaluated(
    structure: str, parameters: list[str], rows: list[Part]
) -> dict[str, dict[str, float]]:
    """Numbers over all test rows; the structure is the same for all parameters."""
    kept: dict[str, list[Tested]] = {which: [] for which in parameters}
    warned = dict.fromkeys(parameters, 0)
    seconds, n_arcs = [], []
    structure_from(structure).learn(rows[0].some)
    for part in rows:
        result, took = searched(structure_from(structure), part.train)
        seconds.append(took)
        n_arcs.append(arcs(result.structure))
        for which in parameters:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                learner = parameters_from(which)
                kept[which].append(tested(learner, result.structure, part))
            warned[which] += len(caught)
    n_rows = sum(len(part.test.labels) for part in rows)
    return {
        which: {
            "accuracy": sum(t.right for t in all_parts) / n_rows,
            "log_loss": sum(t.log_loss for t in all_parts) / n_rows,
            "rows": n_rows,
            "arcs": sum(n_arcs) / len(rows),
            "search_seconds": sum(seconds) / len(rows),
            "parameter_seconds": sum(t.seconds for t in all_parts) / len(rows),
            "warnings": warned[which],
        }
        for which, all_parts in kept.items()
    }
