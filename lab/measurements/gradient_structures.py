"""Structures learned by gradients: errors under a setting, orders, recovered trees."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lab.measurements.coded_datasets import SEED, Part, arcs
from lab.measurements.gumbel_methods import METHODS, Method, Run
from lab.measurements.image_datasets import image_part
from lab.runner.cell import Numbers
from tanager import LogLinearNetwork
from tanager.data import ArrayData, conditional_information, hold_out
from tanager.inference import engine_for
from tanager.losses import HybridLoss
from tanager.model import Parameters
from tanager.structure import ChowLiu, GumbelTree

HELD_OUT = 0.2
"""Fraction of the training samples by which settings are chosen."""

UNINFORMATIVE = 1e-9
"""Arcs with less information than this are of features with a single state."""


def setting_errors(
    *,
    data: str,
    method: str,
    fold: int = 1,
    batch_size: int = 100,
    epochs: int = 0,
    start: str = "random",
    seed: int = 0,
    lambda_: float = 1.0,
    share: float = 1.0,
    eta: float = 10.0,
    rate: float = 0.01,
    image_order: str | None = None,
) -> Numbers:
    """Error of a method under a setting, on test samples and on held-out samples.

    Tables are learned twice: from all training samples, for the test error; and from 80
    % of them, for the error on the others, by which a setting can be chosen without a
    look at the test samples. The states of the features are those of all training
    samples in both.

    Parameters
    ----------
    data, fold
        Which samples; see `image_part`.
    method : str
        One of `lab.measurements.gumbel_methods.METHODS`.
    batch_size, epochs, start, seed, lambda_, share, eta, rate, image_order
        See `lab.measurements.gumbel_methods.Run`. Methods with relative
        frequencies (``NB-ML`` and ``Chow-Liu-ML``) need none of them.
    """
    run = Run(
        batch_size=batch_size,
        epochs=epochs,
        lambda_=lambda_,
        share=share,
        eta=eta,
        rate=rate,
        start=start,
        seed=seed,
        image_order=image_order,
    )
    part = image_part(data, fold)
    short = replace(run, epochs=1)
    METHODS[method](short, part.some)  # kernels are compiled and loaded in it
    return learned_and_tested(METHODS[method], run, part)


def learned_and_tested(method: Method, run: Run, part: Part) -> dict[str, float]:
    """Numbers of `setting_errors` for given samples."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        begin = perf_counter()
        structure, tables = method(run, part.train)
        seconds = perf_counter() - begin
        held_out, watched_seconds = held_out_error(method, run, part)
    return {
        "error": error(tables, part.test),
        "validation_error": held_out,
        "arcs": arcs(structure),
        "seconds": seconds,
        "validation_seconds": watched_seconds,
        "warnings": len(caught),
    }


def structure_screening(
    *,
    data: str,
    method: str,
    start: str,
    seed: int,
    batch_size: int,
    epochs: int = 30,
    fold: int = 1,
) -> Numbers:
    """Validation error of a random structure after a short run under default weights.

    Parameters
    ----------
    data, fold
        See `image_part`.
    method : str
        One of `lab.measurements.gumbel_methods.METHODS`.
    start, seed, batch_size, epochs
        See `lab.measurements.gumbel_methods.Run`; the seed decides tree, order and
        candidates.
    """
    run = Run(
        batch_size,
        epochs,
        lambda_=100.0,
        share=0.5,
        eta=10.0,
        rate=0.01,
        start=start,
        seed=seed,
        image_order=("rows", "diagonal", "centre")[seed % 3],
    )
    found, seconds = held_out_error(METHODS[method], run, image_part(data, fold))
    return {"validation_error": found, "seconds": seconds}


def held_out_error(method: Method, run: Run, part: Part) -> tuple[float, float]:
    """Error on held-out samples from the training samples, and seconds of learning."""
    learned, watched = hold_out(
        part.train.labels.astype(np.intp), HELD_OUT, np.random.default_rng(SEED)
    )
    begin = perf_counter()
    _, tables = method(run, part.train.take(learned))
    seconds = perf_counter() - begin
    return error(tables, part.train.take(watched)), seconds


def error(tables: Parameters, data: ArrayData) -> float:
    """Fraction of the samples that are put into a wrong class."""
    guessed = engine_for(tables).log_joint(data.codes).argmax(axis=1)
    return float(np.mean(guessed != data.labels))


def order_errors(
    *,
    data: str,
    order: str | None,
    candidates: str,
    batch_size: int,
    epochs: int,
    seed: int,
    fold: int = 1,
    n_candidates: int = 8,
) -> Numbers:
    """Error of a structure learned along an order or without one, nothing tuned.

    Parameters
    ----------
    data, fold
        Which samples; see `image_part`.
    order : {"random", "chow-liu", "cyclic"} or None
        Of the features; without an order any forest can be found. "cyclic" is
        pseudo-TAN, in which parents are selected regardless of cycles.
    candidates : {"random", "information"}
        By what the candidates are chosen.
    batch_size, epochs, n_candidates
        See `tanager.structure.GumbelTree`, which datasets the weights of the loss
        itself.
    seed : int
        Of order, candidates and batches.
    """
    part = image_part(data, fold)
    learner = GumbelTree(
        order=order,
        candidates=candidates,
        n_candidates=n_candidates,
        batch_size=batch_size,
        epochs=epochs,
    )
    return network_error(learner, part, np.random.default_rng(seed))


def network_error(
    learner: GumbelTree, part: Part, random: np.random.Generator
) -> dict[str, float]:
    """Test error of what a learner finds, its arcs, and seconds of learning."""
    begin = perf_counter()
    found = learner.learn(part.train, random_state=random)
    seconds = perf_counter() - begin
    if found.factors is None:
        assert found.start is not None
        wrong, n_arcs = error(found.start, part.test), arcs(found.structure)
    else:
        network = LogLinearNetwork(part.train.schema, found.factors)
        codes = np.asfortranarray(part.test.codes)
        guessed = network.engine.log_joint_block(codes).argmax(axis=1)
        wrong = float(np.mean(guessed != part.test.labels))
        n_arcs = len(network.interactions)
    return {"error": wrong, "arcs": n_arcs, "seconds": seconds}


def tree_recovery(
    *,
    data: str,
    batch_size: int,
    epochs: int,
    seed: int,
    start: str = "random",
    fold: int = 1,
    rate: float = 0.03,
) -> Numbers:
    """How much of the Chow-Liu tree is found by gradients of the likelihood alone.

    After Roth and Pernkopf (2020), section 4.6: lambda is 0, and the order is one that
    contains the tree.

    Parameters
    ----------
    data, fold
        Which training samples; see `image_part`.
    batch_size, epochs, start, rate
        See `tanager.structure.GumbelTree`.
    seed : int
        Of batches and first tables.
    """
    train = image_part(data, fold).train
    return recovered_from(train, batch_size, epochs, start, seed, rate)


def recovered_from(
    data: ArrayData,
    batch_size: int,
    epochs: int,
    start: str,
    seed: int,
    rate: float = 0.03,
) -> dict[str, float]:
    """Numbers of `tree_recovery` for given rows, by arcs and by I(X_i; X_j | C)."""
    learner = GumbelTree(
        HybridLoss(lambda_=0.0),
        order="chow-liu",
        n_candidates=None,
        epochs=epochs,
        batch_size=batch_size,
        rate=rate,
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
        sum(float(information[arc]) for arc in of) for of in (wanted, got)
    )
    return {
        "arcs": len(wanted),
        "arcs_found": len(wanted & got),
        "other_arcs": len(got - wanted),
        "share_of_information": in_found / in_tree,
        "seconds": seconds,
    }
