"""Beyond the paper: no order, two parents, other starts; beside residual trees.

Nothing is tuned here: weights of the loss and rates are those the learner sets itself.
Every structure has tables by the hybrid loss, learned with it or on it, and tables of
penalised conditional likelihood (CL), as residual trees have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import nan
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from lab.measurements.differentiable import error
from lab.measurements.gumbel import (
    Gumbel,
    Learned,
    learned_by,
    named_arcs,
    on_structure,
)
from lab.studies.differentiable.results import FOLDER, SharedResults
from lab.studies.differentiable.sets import SETS, part
from lab.studies.structure.coded import Part, arcs
from tanager import (
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    Constraints,
    GumbelTree,
    ResidualTree,
    Structure,
)
from tanager.data import ArrayData
from tanager.data.information import conditional_information
from tanager.inference import engine_for
from tanager.model.layout import Parameters

EPOCHS = 300
KEYS = ("set", "method", "epochs", "seed")
NAMES = ("letter", "satimage", "usps")
N_CANDIDATES = 8

Method = Callable[[ArrayData, Gumbel, np.random.Generator], Learned]


def results(folder: Path = FOLDER) -> SharedResults:
    """The file of these results."""
    return SharedResults("beyond", KEYS, folder)


def run(
    names: Sequence[str] = NAMES,
    methods: Sequence[str] | None = None,
    *,
    epochs: int,
    seeds: Sequence[int],
) -> None:
    """Measure what is not yet in the file, on the first fold of the sets."""
    file = results()
    for name in names:
        for seed in seeds:
            for method, learn in METHODS.items():
                if methods is not None and method not in methods:
                    continue
                key = (name, method, epochs, seed)
                if key not in file:
                    size = SETS[name].batch_size
                    numbers = measured(learn, part(name, 1), size, epochs, seed)
                    file.add(key, numbers)


def measured(
    learn: Method, rows: Part, batch_size: int, epochs: int, seed: int
) -> dict[str, float]:
    """Errors and log loss on the test rows, and seconds, under both kinds of tables."""
    short = partial(GumbelTree, batch_size=batch_size, epochs=1)
    learn(rows.some, short, np.random.default_rng(seed))  # compiled and loaded in it
    gumbel = partial(GumbelTree, batch_size=batch_size, epochs=epochs)
    begin = perf_counter()
    structure, tables = learn(rows.train, gumbel, np.random.default_rng(seed))
    seconds = perf_counter() - begin
    return {
        "error": error(tables, rows.test),
        "log_loss": log_loss(tables, rows.test),
        "arcs": arcs(structure),
        "seconds": seconds,
        **refitted(structure, rows, seed),
    }


def refitted(structure: Structure, rows: Part, seed: int) -> dict[str, float]:
    """The same under tables of CL, nan where they cannot be had.

    The penalised likelihood is convex in weights, and weights turn into tables only
    where the parents of every feature are joined.
    """
    learner = ConditionalLikelihood(C="cv", interactions=2)
    random = np.random.default_rng(seed)
    begin = perf_counter()
    try:
        tables = learner.learn(structure, rows.train, random_state=random)
    except CapabilityError:
        return dict.fromkeys(("error_cl", "log_loss_cl", "seconds_cl"), nan)
    seconds = perf_counter() - begin
    return {
        "error_cl": error(tables, rows.test),
        "log_loss_cl": log_loss(tables, rows.test),
        "seconds_cl": seconds,
    }


def log_loss(tables: Parameters, data: ArrayData) -> float:
    """Mean of -log P(c | x) of the true classes."""
    log_joint = engine_for(tables).log_joint(data.codes)
    own = log_joint[np.arange(len(log_joint)), data.labels]
    return float(np.mean(np.logaddexp.reduce(log_joint, axis=1) - own))


def searched(**options: Any) -> Method:
    """Structure and tables at once."""

    def learn(data: ArrayData, gumbel: Gumbel, random: np.random.Generator) -> Learned:
        return learned_by(gumbel(n_candidates=N_CANDIDATES, **options), data, random)

    return learn


def given(learner: Any) -> Method:
    """The hybrid loss on the structure of another learner."""

    def learn(data: ArrayData, gumbel: Gumbel, random: np.random.Generator) -> Learned:
        structure = learner.learn(data, random_state=random).structure
        return on_structure(structure, data, gumbel, random)

    return learn


def after_residual_tree(*, ordered: bool) -> Method:
    """The residual tree first: its arcs are candidates, and preferred.

    Parameters
    ----------
    ordered : bool
        Whether its order is kept. If not, the tree's edges may turn round.
    """

    def learn(data: ArrayData, gumbel: Gumbel, random: np.random.Generator) -> Learned:
        tree = ResidualTree().learn(data).structure
        names = [variable.name for variable in data.schema]
        order = [v for v in tree.topological_order if v != tree.target]
        information = conditional_information(data)
        candidates = {}
        for place, child in enumerate(order):
            others = order[:place] if ordered else [v for v in order if v != child]
            near = [v for v in others if _joined(tree, v, child)]
            rank = np.argsort(-information[others, child], kind="stable")
            chosen = dict.fromkeys([*near, *(others[i] for i in rank)])
            candidates[names[child]] = [names[v] for v in chosen][:N_CANDIDATES]
        learner = gumbel(
            order=[names[v] for v in order] if ordered else None,
            candidates=candidates,
            prefer=named_arcs(tree, data),
        )
        return learned_by(learner, data, random)

    return learn


def residual_tree_after(k: int) -> Method:
    """Residual edges are added to the forest that was found without an order."""

    def learn(data: ArrayData, gumbel: Gumbel, random: np.random.Generator) -> Learned:
        first = gumbel(order=None, n_candidates=N_CANDIDATES)
        found = first.learn(data, random_state=random).structure
        grown = ResidualTree(
            k=k, constraints=Constraints(required=named_arcs(found, data))
        ).learn(data)
        return on_structure(grown.structure, data, gumbel, random)

    return learn


def _joined(structure: Structure, one: int, other: int) -> bool:
    return one in structure.parents[other] or other in structure.parents[one]


METHODS: dict[str, Method] = {
    "Chow-Liu": given(ChowLiu()),
    "residual tree": given(ResidualTree()),
    "residual 2-tree": given(ResidualTree(k=2)),
    "random order": searched(),
    "order of Chow-Liu": searched(order="chow-liu", candidates="information"),
    "no order": searched(order=None),
    "no order, by information": searched(order=None, candidates="information"),
    "no order, information preferred": searched(
        order=None, candidates="information", prefer="information"
    ),
    "no order, warm start": searched(order=None, start="frequency"),
    "no order, relaxed": searched(order=None, estimator="relaxed"),
    "random order, warm start": searched(start="frequency"),
    "random order, relaxed": searched(estimator="relaxed"),
    "two parents, random order": searched(k=2),
    "two parents, order of Chow-Liu": searched(
        k=2, order="chow-liu", candidates="information"
    ),
    "residual tree, then its order": after_residual_tree(ordered=True),
    "residual tree, then no order": after_residual_tree(ordered=False),
    "no order, then residual tree": residual_tree_after(1),
    "no order, then residual 2-tree": residual_tree_after(2),
}
