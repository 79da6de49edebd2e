"""Whether the Chow-Liu tree is found by gradients of the likelihood alone.

Roth and Pernkopf (2020), section 4.6: lambda is 0, and the order is one that contains
the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from experiments.differentiable.results import FOLDER, SharedResults
from experiments.differentiable.sets import SETS, part
from tanager import ChowLiu, GumbelTree
from tanager.counts import ArrayData
from tanager.losses import HybridLoss
from tanager.measures.information import conditional_information

EPOCHS = 300
KEYS = ("set", "start", "epochs", "seed")
NAMES = ("letter", "satimage")
RATE = 0.03

UNINFORMATIVE = 1e-9
"""Arcs with less information than this are of features with a single state."""


def results(folder: Path = FOLDER) -> SharedResults:
    """The file of these results."""
    return SharedResults("recovery", KEYS, folder)


def run(
    names: Sequence[str] = NAMES, *, epochs: int, start: str, seeds: Sequence[int]
) -> None:
    """Measure what is not yet in the file, on the first fold of the sets."""
    file = results()
    for name in names:
        for seed in seeds:
            key = (name, start, epochs, seed)
            if key not in file:
                data = part(name, 1).train
                size = SETS[name].batch_size
                file.add(key, measured(data, size, epochs, start, seed))


def measured(
    data: ArrayData, batch_size: int, epochs: int, start: str, seed: int
) -> dict[str, float]:
    """How much of the tree is found, by arcs and by I(X_i; X_j | C)."""
    learner = GumbelTree(
        HybridLoss(lambda_=0.0),
        order="chow-liu",
        n_candidates=None,
        epochs=epochs,
        batch_size=batch_size,
        rate=RATE,
        start=start,
    )
    begin = perf_counter()
    found = learner.learn(data, random_state=np.random.default_rng(seed)).structure
    seconds = perf_counter() - begin
    information = conditional_information(data)
    tree = ChowLiu().learn(data).structure
    wanted, got = (
        {
            (parent, child)
            for child, parents in enumerate(structure.feature_parents)
            for parent in parents
            if information[parent, child] > UNINFORMATIVE
        }
        for structure in (tree, found)
    )
    in_tree, in_found = (
        sum(float(information[arc]) for arc in arcs) for arcs in (wanted, got)
    )
    return {
        "arcs": len(wanted),
        "arcs_found": len(wanted & got),
        "other_arcs": len(got - wanted),
        "share_of_information": in_found / in_tree,
        "seconds": seconds,
    }
