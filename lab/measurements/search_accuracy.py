"""Structures of a dataset: how well they classify, how long they take, orders."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lab.measurements.coded_datasets import (
    SEED,
    Part,
    arcs,
    evaluate_structure,
    free_parameters,
    part_of,
    searched,
)
from lab.measurements.search_interpretations import (
    parameter_learner,
    structure_learner,
)
from lab.runner.cell import Numbers
from tanager.registry import parameters_from, structure_from
from tanager.scores import ConditionalLogLikelihood
from tanager.structure import OrderBased, StructureResult

LONG = 10.0
"""Seconds after which a search is not repeated."""


def structure_accuracy(
    *,
    data: str,
    structure: str,
    parameters: Sequence[str],
    fold: int | None = None,
    n_folds: int = 5,
    missing_as: str | None = None,
    partition: int | None = None,
    encoder: str = "mdl",
) -> Numbers:
    """Test samples that a structure classifies correctly, by several kinds of tables.

    Parameters
    ----------
    data : str
        Name of the dataset.
    structure : str
        Name of a structure, such as ``TAN-OMI-CR``, or one of `VARIANTS`; it is
        learned once.
    parameters : sequence of str
        Names of parameter learners, such as ``ML`` and ``CL``, or of
        `PARAMETER_VARIANTS`; those of each in the result end in its name.
    fold, n_folds, missing_as, partition, encoder
        Which samples; see `part_of`.
    """
    part = part_of(
        data,
        fold,
        n_folds=n_folds,
        missing_as=missing_as,
        partition=partition,
        encoder=encoder,
    )
    return on_part(part, structure, parameters)


def on_part(part: Part, structure: str, parameters: Sequence[str]) -> dict[str, float]:
    """Numbers of `structure_accuracy` for given samples."""
    result, seconds = searched(structure_learner(structure), part.train)
    numbers: dict[str, float] = {
        "rows": part.test.n_samples,
        "arcs": arcs(result.structure),
        "free_parameters": free_parameters(result.structure, part.train.schema),
        "search_seconds": seconds,
    }
    for name in parameters:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            found = evaluate_structure(parameter_learner(name), result.structure, part)
        numbers[f"right_{name}"] = found.right
        numbers[f"log_loss_{name}"] = found.log_loss
        numbers[f"seconds_{name}"] = found.seconds
        numbers[f"warnings_{name}"] = len(caught)
    return numbers


def search_times(
    *,
    data: str,
    structure: str,
    fold: int | None = None,
    n_folds: int = 5,
    missing_as: str | None = None,
    repetitions: int = 3,
) -> Numbers:
    """Processor seconds of a search in one thread, and what it looks at.

    Parameters
    ----------
    data, structure, fold, n_folds, missing_as
        See `structure_accuracy`.
    repetitions : int, default=3
        The least seconds of so many searches are given; a long one is not repeated.

    Returns
    -------
    dict
        ``candidates`` are sets of parents that were scored, ``visited`` the samples
        that had to be classified again for it, as a fraction of all samples for all
        candidates.
    """
    part = part_of(data, fold, n_folds=n_folds, missing_as=missing_as)
    result, seconds = timed(part, structure, repetitions)
    candidates, visited = work_of(result, part.train.n_samples)
    return {
        "seconds": seconds,
        "arcs": arcs(result.structure),
        "rows": part.train.n_samples,
        "candidates": candidates,
        "visited": visited,
    }


def timed(
    part: Part, structure: str, repetitions: int
) -> tuple[StructureResult, float]:
    """What a search finds, and the least seconds of some repetitions."""
    learner = structure_from(structure)
    learner.learn(part.some)
    seconds: list[float] = []
    while len(seconds) < repetitions and sum(seconds) <= LONG:
        result, took = searched(learner, part.train)
        seconds.append(took)
    return result, min(seconds)


def work_of(result: StructureResult, n_samples: int) -> tuple[int, float]:
    """Number of scored candidates, and fraction of samples classified again."""
    steps = [step for step in result.trace if "samples_visited" in step]
    candidates = sum(step["candidates"] for step in steps)
    visited = sum(step["samples_visited"] for step in steps)
    return candidates, visited / max(1, candidates * n_samples)


def random_order_accuracy(
    *,
    data: str,
    n_orders: int,
    block: int,
    fold: int | None = None,
    n_folds: int = 5,
    missing_as: str | None = None,
) -> Numbers:
    """Correct test samples and training scores of trees along random orders.

    Parameters
    ----------
    data, fold, n_folds, missing_as
        See `structure_accuracy`.
    n_orders : int
        How many orders.
    block : int
        The seed of the orders, which are the same in all folds.
    """
    part = part_of(data, fold, n_folds=n_folds, missing_as=missing_as)
    return orders_on(part, n_orders, np.random.default_rng([SEED, block]))


def orders_on(
    part: Part, n_orders: int, random: np.random.Generator
) -> dict[str, Sequence[float]]:
    """Numbers of `random_orders` for given samples."""
    learner = OrderBased("ro", n_orders=n_orders)
    found = learner.learn_all(part.train, random_state=random)
    tables = parameters_from("ml")
    return {
        "rows": [part.test.n_samples],
        "right": [
            evaluate_structure(tables, one.structure, part).right for one in found
        ],
        "score": [one.trace[-1]["score"] for one in found],
    }


def order_likelihood(
    *,
    data: str,
    order: str,
    n_orders: int = 1,
    fold: int | None = None,
    n_folds: int = 5,
    missing_as: str | None = None,
) -> Numbers:
    """Conditional log likelihood that trees along an order reach on training samples.

    Parameters
    ----------
    data, fold, n_folds, missing_as
        See `structure_accuracy`.
    order : str
        Of `OrderBased`: ``omi``, ``min-omi`` or ``ro``.
    n_orders : int, default=1
        How many orders, where they are random.

    Returns
    -------
    dict
        ``likelihood``: mean of log P(class | sample), one for every order; parents are
        chosen by it and tables being frequencies.
    """
    part = part_of(data, fold, n_folds=n_folds, missing_as=missing_as)
    learner = OrderBased(order, score=ConditionalLogLikelihood(), n_orders=n_orders)
    found = learner.learn_all(part.train, random_state=np.random.default_rng(SEED))
    scores = [one.trace[-1]["score"] / part.train.n_samples for one in found]
    return {"rows": part.train.n_samples, "likelihood": scores}
