"""Accuracy of general networks with frequencies, on the sets of the 2005 paper."""

from __future__ import annotations

from time import perf_counter

from lab.studies.networks.recovery import FOLDER, SEED
from lab.studies.parameters.results import Results
from lab.studies.structure.coded import Part, parts, tested
from lab.studies.structure.comparison import sets
from tanager import ChowLiu, ConstraintBased, Frequency, NaiveBayes
from tanager.structure import StructureLearner

KEYS = ("set", "structure")

STRUCTURES: dict[str, StructureLearner] = {
    "NB": NaiveBayes(),
    "TAN": ChowLiu(),
    "GBN": ConstraintBased(),
    "GBN, G2": ConstraintBased(test="g2"),
}
"""Structures by the names of the tables."""


def results() -> Results:
    """The file of numbers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Results("accuracy", KEYS, SEED, FOLDER)


def run() -> None:
    """Measure what is not yet in the file."""
    found = results()
    for name in sets():
        wanted = [which for which in STRUCTURES if (name, which) not in found]
        if wanted:
            rows = parts(name)
            for which in wanted:
                found.add((name, which), evaluated(STRUCTURES[which], rows))


def evaluated(learner: StructureLearner, rows: list[Part]) -> dict[str, float]:
    """Share of test rows classified right; arcs and seconds are means of the parts."""
    right, n_rows, arcs, seconds = 0, 0, 0, 0.0
    for part in rows:
        begin = perf_counter()
        structure = learner.learn(part.train).structure
        seconds += perf_counter() - begin
        arcs += len(structure.arcs)
        right += tested(Frequency(), structure, part).right
        n_rows += len(part.test.labels)
    return {
        "accuracy": right / n_rows,
        "rows": n_rows,
        "arcs": arcs / len(rows),
        "seconds": seconds / len(rows),
    }
