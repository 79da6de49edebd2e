"""Orders and candidates from the random seeds of Roth and Pernkopf (2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lab.measurements.gradient_structures import HELD_OUT, network_error
from lab.measurements.gumbel_methods import Run
from lab.measurements.image_datasets import image_part
from lab.runner.cell import Numbers
from tanager.data import hold_out

ORDER_SEED, SUBSET_SEED = 265304870, 361273804
"""Seeds in the published code: of the orders, and of the subsets of candidates."""

N_ORDERS, N_SUBSETS = 5, 5

DEFAULTS: dict[str, Any] = {"eta": 10.0}
"""Settings of a run where a cell does not give them."""


def published_orders(n_features: int) -> list[list[int]]:
    """Make the five orders: the natural one, and four random permutations.

    That the seed is that of numpy's `RandomState`, and that the orders are its
    permutations one after the other, is assumed.

    Examples
    --------
    >>> orders = published_orders(4)
    >>> orders[0], len(orders), sorted(orders[4])
    ([0, 1, 2, 3], 5, [0, 1, 2, 3])
    """
    random = np.random.RandomState(ORDER_SEED)
    natural = list(range(n_features))
    return [
        natural,
        *(random.permutation(n_features).tolist() for _ in range(N_ORDERS - 1)),
    ]


def published_subset(
    order: Sequence[int], subset: int, n_candidates: int
) -> dict[int, list[int]]:
    """Make one of the five subsets of candidates of every feature, from 1.

    The earlier features are permuted and the first are taken, so that a subset is in
    the one of the same number with more candidates, as in the paper (section 4.2). How
    the published code uses its seed is assumed here, too.

    Examples
    --------
    >>> two, three = (published_subset([2, 0, 1, 3], 1, k) for k in (2, 3))
    >>> two[2], set(two[3]) < set(three[3])
    ([], True)
    """
    random = np.random.RandomState(SUBSET_SEED)
    made: dict[int, list[int]] = {}
    for _ in range(subset):
        made = {
            child: [order[p] for p in random.permutation(place)[:n_candidates]]
            for place, child in enumerate(order)
        }
    return made


def published_order_errors(
    *,
    data: str,
    order: int,
    subset: int,
    n_candidates: int,
    fold: int = 1,
    **settings: Any,
) -> Numbers:
    """Error of TAN Subset with one of the published orders and subsets.

    Parameters
    ----------
    data, fold
        Which samples; see `image_part`.
    order, subset : int
        Which of the five orders and subsets, from 1.
    n_candidates : int
        Candidates of a feature.
    **settings
        Of `lab.measurements.gumbel_methods.Run`, those of `DEFAULTS` if they are not
        given; the seed is that of the batches.

    Returns
    -------
    mapping
        "error" on the test samples and "seconds".
    """
    part = image_part(data, fold)
    names = part.train.schema.names[:-1]
    positions = published_orders(len(names))[order - 1]
    candidates = published_subset(positions, subset, n_candidates)
    run = Run(**(DEFAULTS | settings))
    learner = run.gumbel(part.train)(
        order=[names[j] for j in positions],
        candidates={
            names[child]: [names[j] for j in of] for child, of in candidates.items()
        },
    )
    return network_error(learner, part, run.random)


def pseudo_tree_errors(
    *, data: str, n_candidates: int, fold: int = 1, **settings: Any
) -> Numbers:
    """Error of pseudo-TAN, whose arcs may form cycles, under a setting.

    Candidates are among all other features; for the arguments see
    `published_order_errors`.

    Returns
    -------
    mapping
        "error" on the test samples and "seconds"; "validation_error" on a fifth of the
        training samples, after learning from the others.
    """
    part = image_part(data, fold)
    run = Run(**(DEFAULTS | settings))
    options = {"order": "cyclic", "n_candidates": n_candidates}
    whole = network_error(run.gumbel(part.train)(**options), part, run.random)
    labels = part.train.labels.astype(np.intp)
    learned, watched = hold_out(labels, HELD_OUT, np.random.default_rng(0))
    inner = type(part)(part.train.take(learned), part.train.take(watched))
    held_out = network_error(run.gumbel(inner.train)(**options), inner, run.random)
    return whole | {"validation_error": held_out["error"]}
