"""Accuracy of every structure on the 25 sets of Pernkopf and Bilmes (2010)."""

from __future__ import annotations

import numpy as np

from lab.measurements.structures import on_part
from lab.studies.structure.coded import Part, by_size, parts, results
from lab.studies.structure.methods import STRUCTURES
from tanager import datasets
from tanager.registry import structure_from

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
    structure_from(structure).learn(rows[0].some)
    found = [on_part(part, structure, parameters) for part in rows]

    def total(name: str) -> float:
        return float(sum(np.sum(numbers[name]) for numbers in found))

    n_rows, n_parts = total("rows"), len(found)
    return {
        which: {
            "accuracy": total(f"right_{which}") / n_rows,
            "log_loss": total(f"log_loss_{which}") / n_rows,
            "rows": n_rows,
            "arcs": total("arcs") / n_parts,
            "search_seconds": total("search_seconds") / n_parts,
            "parameter_seconds": total(f"seconds_{which}") / n_parts,
            "warnings": total(f"warnings_{which}"),
        }
        for which in parameters
    }
