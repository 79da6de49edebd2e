"""Structure learners on whole datasets: accuracy, log loss and time of the search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from sklearn.model_selection import KFold

from lab.measurements.coded_datasets import (
    SEED,
    Part,
    arcs,
    coded,
    digits,
    evaluate_structure,
    halved,
    part_of,
)
from lab.measurements.known_distributions import three_features
from lab.measurements.search_accuracy import on_part, orders_on, timed, work_of
from lab.runner.cell import Numbers
from tanager import ChowLiu, ConstraintBased, Frequency, NaiveBayes
from tanager.datasets import load
from tanager.registry import parameters_from, structure_from
from tanager.structure import StructureLearner

FOLDS = 5
GENERAL: dict[str, StructureLearner] = {
    "NB": NaiveBayes(),
    "TAN": ChowLiu(),
    "GBN": ConstraintBased(),
    "GBN, G2": ConstraintBased(test="g2"),
}
"""Structure learners of `network_scores`."""


def parts_of(data: str) -> Iterator[Part]:
    """The published split of a dataset, or five folds; missing is a third value."""
    folds = [None] if load(data).n_train is not None else range(1, FOLDS + 1)
    for fold in folds:
        yield part_of(data, fold, n_folds=FOLDS, missing_as="unknown")


def structure_scores(*, data: str, structure: str, parameters: str) -> Numbers:
    """Scores over all test samples, and mean seconds of search and parameters.

    Parameters
    ----------
    data : str
        Name of the dataset.
    structure, parameters : str
        Registry names, such as ``TAN-OMI-CR`` and ``ML``.
    """
    found = [on_part(part, structure, [parameters]) for part in parts_of(data)]

    def total(name: str) -> float:
        return float(sum(numbers[name] for numbers in found))

    n_samples, n_parts = total("rows"), len(found)
    return {
        "accuracy": total(f"right_{parameters}") / n_samples,
        "log_loss": total(f"log_loss_{parameters}") / n_samples,
        "rows": n_samples,
        "arcs": total("arcs") / n_parts,
        "search_seconds": total("search_seconds") / n_parts,
        "parameter_seconds": total(f"seconds_{parameters}") / n_parts,
        "warnings": total(f"warnings_{parameters}"),
    }


def network_scores(
    *, data: str, structure: str, missing: str = "", partition: int | None = None
) -> Numbers:
    """Accuracy of a structure of any form with frequency counts.

    Parameters
    ----------
    data : str
        Name of the dataset.
    structure : str
        One of `GENERAL`.
    missing : {"", "none", "missing value", "third category"}, default=""
        What an empty field is; needed with `partition`.
    partition : int or None, default=None
        Seed of other folds than those of the other tables.
    """
    if partition is None:
        parts = list(parts_of(data))
    else:
        found = load(
            data, missing_as="unknown" if missing == "third category" else None
        )
        folds = KFold(FOLDS, shuffle=True, random_state=partition)
        splits = folds.split(np.arange(found.n_rows))
        parts = [coded(found, train, test) for train, test in splits]
    right, n_samples, n_arcs, seconds = 0, 0, 0, 0.0
    for part in parts:
        begin = perf_counter()
        learned = GENERAL[structure].learn(part.train).structure
        seconds += perf_counter() - begin
        n_arcs += len(learned.arcs)
        right += evaluate_structure(Frequency(), learned, part).right
        n_samples += part.test.n_samples
    return {
        "accuracy": right / n_samples,
        "rows": n_samples,
        "arcs": n_arcs / len(parts),
        "seconds": seconds / len(parts),
    }


def search_scores(*, data: str, structure: str, repetitions: int = 3) -> Numbers:
    """Least processor seconds of a search in one thread, and accuracy (ML and RCL).

    Parameters
    ----------
    data : str
        Name of a dataset with published splits; the first one is used.
    structure : str
        Registry name.
    repetitions : int, default=3
        Searches, of which the fastest counts.
    """
    found = load(data, fold=1)
    order = np.arange(found.n_rows)
    # The values are few already, so each is a category.
    part = coded(found, order[: found.n_train], order[found.n_train :], "categorical")
    result, seconds = timed(part, structure, repetitions)
    rates = {
        f"accuracy_{name}": evaluate_structure(
            parameters_from(name), result.structure, part
        ).right
        / part.test.n_samples
        for name in ("ml", "rcl")
    }
    return {"seconds": seconds, "arcs": arcs(result.structure), **rates}


def digit_scores(*, data: str, structure: str, n_jobs: int = 2) -> Numbers:
    """Wall seconds of a search on 60,000 images of 14 x 14 pixels, and accuracy.

    Parameters
    ----------
    data : {"images/mnist"}
        Name of the dataset.
    structure : str
        Registry name.
    n_jobs : int, default=2
        Threads.
    """
    del data  # the file that the images come from is in the key of the cell
    part = digits(halved)
    learner = structure_from(structure)
    learner.learn(part.some)  # compiles and loads the kernels
    train = replace(part.train, n_jobs=n_jobs)
    begin = perf_counter()
    result = learner.learn(train, random_state=np.random.default_rng(SEED))
    seconds = perf_counter() - begin
    right = evaluate_structure(parameters_from("ml"), result.structure, part).right
    candidates, visited = work_of(result, train.n_samples)
    return {
        "seconds": seconds,
        "arcs": arcs(result.structure),
        "accuracy_ml": right / part.test.n_samples,
        "candidates": candidates,
        "fraction_visited": visited,
    }


def order_scores(*, data: str, n_orders: int = 100) -> Numbers:
    """Accuracy of TAN-OMI-CR compared with trees along random orders.

    ``lowest`` and ``highest`` are the orders with the least and the greatest score on
    the training samples of every part, not on the test samples.
    """
    n_samples = omi = 0
    right = np.zeros(n_orders)
    lowest = highest = 0.0
    for part in parts_of(data):
        n_samples += part.test.n_samples
        learned = structure_from("TAN-OMI-CR").learn(part.train)
        omi += evaluate_structure(parameters_from("ml"), learned.structure, part).right
        orders = orders_on(part, n_orders, np.random.default_rng(SEED))
        own, scores = np.array(orders["right"]), np.array(orders["score"])
        right += own
        lowest += own[scores.argmin()]
        highest += own[scores.argmax()]
    return {
        "omi": omi / n_samples,
        "mean": right.mean() / n_samples,
        "sd": right.std() / n_samples,
        "lowest": lowest / n_samples,
        "highest": highest / n_samples,
        "orders": n_orders,
    }


def decisive_arc(
    *, structure: str, parameters: str, n_samples: int, repetitions: int = 100
) -> Numbers:
    """Means of `three_features`: how often the arc is found, and the accuracy."""
    found = three_features(
        structure=structure,
        parameters=[parameters],
        n_samples=n_samples,
        repetitions=repetitions,
    )
    accuracy = np.asarray(found[f"accuracy_{parameters}"])
    return {
        "found": float(np.mean(found["found"])),
        "accuracy": float(accuracy.mean()),
        "accuracy_se": float(accuracy.std()) / repetitions**0.5,
    }
