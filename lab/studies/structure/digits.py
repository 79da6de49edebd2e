"""Searches on the 60,000 training images of MNIST at 14 x 14 pixels."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from lab.measurements.coded import digits, halved
from lab.measurements.structures import work_of
from lab.studies.structure.coded import SEED, Part, arcs, results, tested
from tanager.registry import parameters_from, structure_from

KEYS = ("structure",)
STRUCTURES = ("NB", "TAN-CMI", "KDB2", "TAN-OMI-CR", "TAN-CR", "2-tree-OMI-CR")
THREADS = 2


def run() -> None:
    """Wall seconds of every search with two threads, and errors on the test images."""
    found = results("digits", KEYS)
    wanted = [name for name in STRUCTURES if (name,) not in found]
    if not wanted:
        return
    part = digits(halved)
    for name in wanted:
        found.add((name,), measured(name, part))


def measured(name: str, part: Part) -> dict[str, float]:
    """Seconds of the search, rows visited, and accuracy on the test images."""
    learner = structure_from(name)
    learner.learn(part.some)
    data = replace(part.train, n_jobs=THREADS)
    began = perf_counter()
    result = learner.learn(data, random_state=np.random.default_rng(SEED))
    seconds = perf_counter() - began
    right = tested(parameters_from("ml"), result.structure, part).right
    candidates, share_visited = work_of(result, data.n_samples)
    return {
        "seconds": seconds,
        "arcs": arcs(result.structure),
        "accuracy_ml": right / part.test.n_samples,
        "candidates": candidates,
        "share_visited": share_visited,
    }
