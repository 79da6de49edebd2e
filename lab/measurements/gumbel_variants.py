"""GumbelTree without an order, with two parents, and combined with residual trees.

Nothing is tuned: weights of the loss and learning rates are the defaults. Every
structure is measured with parameters of the hybrid loss and with those of penalised
maximum conditional likelihood (RCL).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from lab.measurements.coded_datasets import Part, arcs
from lab.measurements.gradient_structures import error
from lab.measurements.gumbel_methods import (
    Gumbel,
    Learned,
    learned_by,
    named_arcs,
    on_structure,
)
from lab.measurements.image_datasets import image_part
from lab.runner.cell import Numbers
from tanager import (
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    Constraints,
    GumbelTree,
    ResidualTree,
    Structure,
)
from tanager.data import ArrayData, conditional_information
from tanager.inference import engine_for
from tanager.model import Parameters

N_CANDIDATES = 8

Method = Callable[[ArrayData, Gumbel, np.random.Generator], Learned]


def gumbel_variant(
    *, data: str, method: str, batch_size: int, epochs: int, seed: int
) -> Numbers:
    """Error and log loss on the test samples of the first fold, and seconds.

    Parameters
    ----------
    data : str
        Name of the dataset; see `image_part`.
    method : str
        One of `VARIANTS`.
    batch_size, epochs : int
        See `tanager.GumbelTree`.
    seed : int
        Of all that is random.

    Returns
    -------
    dict
        Numbers that end in ``_rcl`` are missing where the parents of a feature are not
        joined, because the penalised likelihood is not convex there.
    """
    learn, part = VARIANTS[method], image_part(data)
    short = partial(GumbelTree, batch_size=batch_size, epochs=1)
    learn(part.some, short, np.random.default_rng(seed))  # compiles the kernels
    gumbel = partial(GumbelTree, batch_size=batch_size, epochs=epochs)
    begin = perf_counter()
    structure, parameters = learn(part.train, gumbel, np.random.default_rng(seed))
    seconds = perf_counter() - begin
    return {
        "error": error(parameters, part.test),
        "log_loss": log_loss(parameters, part.test),
        "arcs": arcs(structure),
        "seconds": seconds,
        **_scores_of_rcl(structure, part, seed),
    }


def _scores_of_rcl(structure: Structure, part: Part, seed: int) -> dict[str, float]:
    """The same numbers with parameters of maximum conditional likelihood."""
    learner = ConditionalLikelihood(C="cv", folds=3, interactions=2)
    random = np.random.default_rng(seed)
    begin = perf_counter()
    try:
        parameters = learner.learn(structure, part.train, random_state=random)
    except CapabilityError:
        return {}
    seconds = perf_counter() - begin
    return {
        "error_rcl": error(parameters, part.test),
        "log_loss_rcl": log_loss(parameters, part.test),
        "seconds_rcl": seconds,
    }


def log_loss(parameters: Parameters, data: ArrayData) -> float:
    """Mean of -log P(c | x) of the true classes."""
    log_joint = engine_for(parameters).log_joint(data.codes)
    own = log_joint[np.arange(len(log_joint)), data.labels]
    return float(np.mean(np.logaddexp.reduce(log_joint, axis=1) - own))


def search(**options: Any) -> Method:
    """Structure and parameters at once."""

    def learn(data: ArrayData, gumbel: Gumbel, random: np.random.Generator) -> Learned:
        return learned_by(gumbel(n_candidates=N_CANDIDATES, **options), data, random)

    return learn


def keep_structure(learner: Any) -> Method:
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


VARIANTS: dict[str, Method] = {
    "Chow-Liu": keep_structure(ChowLiu()),
    "residual tree": keep_structure(ResidualTree()),
    "residual 2-tree": keep_structure(ResidualTree(k=2)),
    "random order": search(),
    "order of Chow-Liu": search(order="chow-liu", candidates="information"),
    "no order": search(order=None),
    "no order, by information": search(order=None, candidates="information"),
    "no order, information preferred": search(
        order=None, candidates="information", prefer="information"
    ),
    "no order, warm start": search(order=None, start="frequency"),
    "no order, relaxed": search(order=None, estimator="relaxed"),
    "random order, warm start": search(start="frequency"),
    "random order, relaxed": search(estimator="relaxed"),
    "two parents, random order": search(k=2),
    "two parents, order of Chow-Liu": search(
        k=2, order="chow-liu", candidates="information"
    ),
    "residual tree, then its order": after_residual_tree(ordered=True),
    "residual tree, then no order": after_residual_tree(ordered=False),
    "no order, then residual tree": residual_tree_after(1),
    "no order, then residual 2-tree": residual_tree_after(2),
}
