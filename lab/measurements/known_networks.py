"""Distance between a known network and what learners find in samples of it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

import tanager
from lab.measurements import peer_structure_learners
from lab.runner.cell import Numbers
from tanager import ConstraintBased, HillClimbing, Network, Schema, datasets
from tanager.data import ArrayData
from tanager.model import Pattern, structural_hamming_distance
from tanager.structure import StructureLearner

SEED = 0
OWN: dict[str, Callable[[], StructureLearner]] = {
    "GBN": ConstraintBased,
    "GBN, 0.001 nats": lambda: ConstraintBased(threshold=0.001),
    "GBN, G2": lambda: ConstraintBased(test="g2"),
    "HGC, BIC": lambda: HillClimbing("bic", max_parents=None, start="empty"),
    "HGC, BIC, restarts": lambda: HillClimbing(
        "bic",
        max_parents=None,
        start="empty",
        tabu=100,
        patience=20,
        restarts=20,
        perturbation=20,
    ),
}
"""Learners of this library."""
OTHERS: dict[str, Callable[[ArrayData], Pattern]] = {
    "pyAgrum MIIC": peer_structure_learners.miic,
    "pyAgrum hill climbing, BIC": peer_structure_learners.greedy_hill_climbing,
    "pgmpy PC, G2": peer_structure_learners.pc,
    "pgmpy hill climbing, BIC": peer_structure_learners.hill_climb_search,
}
"""Learners of other libraries, which the extra "bench" installs."""


def network_recovery(*, data: str, n_samples: int, learner: str) -> Numbers:
    """Structural Hamming distance of the pattern that a learner finds, and seconds.

    Parameters
    ----------
    data : str
        A network of the catalogue, such as ``networks/asia``.
    n_samples : int
        Number of samples drawn from it.
    learner : str
        One of `OWN` or `OTHERS`.
    """
    network = tanager.load(datasets.path(data))
    assert isinstance(network, tanager.Network)
    truth = Pattern.of_arcs(len(network.schema), network.structure.arcs)
    return compare_pattern(learner, sample_data(network, n_samples), truth)


def sample_data(network: Network, n_samples: int) -> ArrayData:
    """Samples of a network; its last variable takes the place of the class."""
    columns = network.sample(n_samples, random_state=np.random.default_rng(SEED))
    schema = Schema(network.schema.variables, len(network.schema) - 1)
    codes = np.empty((n_samples, len(schema)), dtype=np.uint8, order="F")
    for place, variable in enumerate(schema):
        code = {state: number for number, state in enumerate(variable.states)}
        codes[:, place] = [code[state] for state in columns[variable.name].tolist()]
    return ArrayData(schema, codes[:, :-1], codes[:, -1])


def compare_pattern(learner: str, data: ArrayData, truth: Pattern) -> Numbers:
    """Distance of a learner's pattern from the truth, and seconds."""
    if learner in OWN:
        _learn(learner, data)  # compiles and loads the kernels
    begin = perf_counter()
    found = _learn(learner, data)
    seconds = perf_counter() - begin
    joined, known = found.skeleton, truth.skeleton
    return {
        "distance": structural_hamming_distance(found, truth),
        "missing": int((known & ~joined).sum()) // 2,
        "extra": int((joined & ~known).sum()) // 2,
        "edges": int(known.sum()) // 2,
        "seconds": seconds,
    }


def _learn(learner: str, data: ArrayData) -> Pattern:
    if learner in OTHERS:
        return OTHERS[learner](data)
    random = np.random.default_rng(SEED)
    structure = OWN[learner]().learn(data, random_state=random).structure
    return Pattern.of_arcs(structure.n_variables, structure.arcs)
