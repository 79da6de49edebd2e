"""Distance between a known network and what learners find in rows drawn of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np

import tanager
from lab.studies.networks import peers
from lab.studies.parameters.results import Results
from tanager import ConstraintBased, HillClimbing, Network, Schema, datasets
from tanager.data import ArrayData
from tanager.model.equivalence_class import Pattern, structural_hamming_distance
from tanager.network.sampling import sample_codes
from tanager.structure import StructureLearner

SEED = 0
FOLDER = Path(__file__).parents[2] / "results" / "networks"
KEYS = ("network", "rows", "learner")

NETWORKS = ("asia", "child", "alarm")
ROWS = (10_000, 50_000)

Learner = Callable[[ArrayData], Pattern]


def ours(make: Callable[[], StructureLearner]) -> Learner:
    """A structure learner of this library."""

    def learn(data: ArrayData) -> Pattern:
        random = np.random.default_rng(SEED)
        structure = make().learn(data, random_state=random).structure
        return Pattern.of_arcs(structure.n_variables, structure.arcs)

    return learn


OWN: dict[str, Learner] = {
    "GBN": ours(ConstraintBased),
    "GBN, 0.001 nats": ours(lambda: ConstraintBased(threshold=0.001)),
    "GBN, G2": ours(lambda: ConstraintBased(test="g2")),
    "HGC, BIC": ours(lambda: HillClimbing("bic", max_parents=None, start="empty")),
    "HGC, BIC, restarts": ours(
        lambda: HillClimbing(
            "bic",
            max_parents=None,
            start="empty",
            tabu=100,
            patience=20,
            restarts=20,
            perturbation=20,
        )
    ),
}
"""Learners of this library by the names of the tables."""

LEARNERS = dict(OWN)
"""All learners by the names of the tables."""

if find_spec("pyagrum"):
    LEARNERS["pyAgrum MIIC"] = peers.miic
    LEARNERS["pyAgrum hill climbing, BIC"] = peers.greedy_hill_climbing
if find_spec("pgmpy"):
    LEARNERS["pgmpy PC, G2"] = peers.pc
    LEARNERS["pgmpy hill climbing, BIC"] = peers.hill_climb_search


ONLY = {"pgmpy PC, G2": ("asia",)}
"""Networks of learners that take too long on the others."""


def results() -> Results:
    """The file of numbers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Results("recovery", KEYS, SEED, FOLDER)


def run() -> None:
    """Measure what is not yet in the file."""
    found = results()
    for name in NETWORKS:
        for n_rows in ROWS:
            wanted = [
                learner
                for learner in LEARNERS
                if name in ONLY.get(learner, NETWORKS)
                and (name, n_rows, learner) not in found
            ]
            if not wanted:
                continue
            network = tanager.load(datasets.path(f"networks/{name}"))
            data = drawn(network, n_rows)
            truth = Pattern.of_arcs(len(network.schema), network.structure.arcs)
            for learner in wanted:
                found.add((name, n_rows, learner), compared(learner, data, truth))


def drawn(network: Network, n_rows: int) -> ArrayData:
    """Rows of a network; its last variable stands in the place of the class."""
    random = np.random.default_rng(SEED)
    codes = sample_codes(network.structure, network.parameters, n_rows, random)
    schema = Schema(network.schema.variables, len(network.schema) - 1)
    small = np.asfortranarray(codes.astype(np.uint8))
    return ArrayData(schema, small[:, :-1], small[:, -1])


def compared(learner: str, data: ArrayData, truth: Pattern) -> dict[str, float]:
    """How far what a learner finds is from the truth, and how long it takes."""
    if learner in OWN:
        LEARNERS[learner](data)  # kernels are compiled and loaded
    begin = perf_counter()
    found = LEARNERS[learner](data)
    seconds = perf_counter() - begin
    joined, known = found.skeleton, truth.skeleton
    return {
        "distance": structural_hamming_distance(found, truth),
        "missing": int((known & ~joined).sum()) // 2,
        "extra": int((joined & ~known).sum()) // 2,
        "edges": int(known.sum()) // 2,
        "seconds": seconds,
    }
