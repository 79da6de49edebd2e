"""Random settings of the hybrid loss: within ranges, then near the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import qmc

from lab.studies.differentiable.results import SEED

Shares = Mapping[float, tuple[float, float]]

PLAN = 2
"""Results of the first plan are kept for some methods; see docs/gradient.md."""
EVERY_DRAW = 3
"""The plan of `lab.studies.differentiable.every_draw`."""

N_DRAWN = 12
"""Settings that are drawn; those after them are near the best of these."""
N_PARENTS = 2
FACTOR = 2.0
"""How many times as large or small weights near others may be."""
LAMBDAS = {"random": (10.0, 1000.0), "frequency": (30.0, 300.0)}
"""Ranges by the first tables."""
SHARES: Mapping[tuple[str, str], Shares] = {
    ("random", "naive"): {3e-3: (0.03, 0.2), 3e-2: (0.1, 0.6)},
    ("random", "tree"): {3e-3: (0.15, 0.9), 3e-2: (1.2, 4.5)},
    ("random", "learned"): {3e-3: (0.05, 0.3), 3e-2: (0.3, 2.0)},
    ("frequency", "naive"): {3e-3: (0.03, 0.2), 3e-2: (0.1, 0.6)},
    ("frequency", "tree"): {1e-2: (1.0, 3.0), 3e-2: (1.5, 4.5)},
    ("frequency", "learned"): {3e-3: (0.25, 1.0), 1e-2: (0.2, 0.8)},
}
"""Ranges by the first tables, by what stays, and by the rate, which are taken in turn:
from random tables those of the paper. Faster steps reach larger margins, trees larger
ones than naive Bayes, and tables that are drawn now and then smaller ones. The ranges
come from trials on letter, satimage and usps."""
OWN_RANGES: Mapping[
    tuple[str, str], tuple[tuple[float, float], Mapping[str, Shares]]
] = {
    ("mnist", "frequency"): (
        (50.0, 1000.0),
        {
            "naive": {1e-2: (0.4, 2.0), 3e-2: (0.4, 2.0)},
            "tree": {1e-2: (1.0, 4.0), 3e-2: (1.0, 4.0)},
            "learned": {1e-2: (0.6, 2.4), 3e-2: (0.6, 2.4)},
        },
    )
}
"""Ranges of lambda, and of shares by what stays and by the rate, for a set and its
first tables; see docs/gradient.md for the trials that they come from."""
ETA = 10.0
DIGITS = 4
"""Significant digits of weights, so that files hold them exactly."""
IMAGE_ORDERS = ("rows", "diagonal", "centre")
"""The orders A, B and C of the paper, in turn."""


@dataclass(frozen=True)
class Setting:
    """One of the settings, after Roth and Pernkopf (2020), section 4.2.

    Not as there: each setting has one of the two rates; the margin asked for is drawn
    as a share of a typical one, so that ranges serve sets of few and of many
    features; its range is narrower, and later weights are drawn near better ones.

    Parameters
    ----------
    seed : int
        Of orders, candidates and batches.
    lambda_, eta : float
        See `tanager.losses.HybridLoss`.
    share : float
        Its gamma, divided by `tanager.parameters.class_margins.typical_margin`.
    rate : float
        Of the steps of the tables.
    """

    seed: int
    lambda_: float
    share: float
    eta: float
    rate: float

    @classmethod
    def of_row(cls, row: Mapping[str, str]) -> Setting:
        """The setting of a row of results."""
        numbers = (float(row[name]) for name in ("lambda_", "share", "eta", "rate"))
        return cls(int(row["seed"]), *numbers)

    @property
    def image_order(self) -> str:
        """The order of the pixels for TAN Heuristic."""
        return IMAGE_ORDERS[self.seed % len(IMAGE_ORDERS)]


def ranges(name: str, start: str, kind: str) -> tuple[tuple[float, float], Shares]:
    """Those of lambda, and of shares by rate; see `drawn`."""
    if (name, start) in OWN_RANGES:
        lambdas, shares = OWN_RANGES[name, start]
        return lambdas, shares[kind]
    return LAMBDAS[start], SHARES[start, kind]


def drawn(
    name: str, number: int, start: str, kind: str, seeds: Sequence[int]
) -> Setting:
    """A setting of the list of a set: a scrambled Halton sequence within its ranges.

    Parameters
    ----------
    name : str
        The set.
    number : int
        Which one.
    start : {"random", "frequency"}
        First tables.
    kind : {"naive", "tree", "learned"}
        What stays while tables are learned.
    seeds : sequence of int
        Those of the draws that are kept, in turn.
    """
    x, y = qmc.Halton(2, seed=SEED).random(number + 1)[number].tolist()
    lambdas, shares = ranges(name, start, kind)
    rate = list(shares)[number % len(shares)]
    return Setting(
        seeds[number // len(shares) % len(seeds)],
        _between(lambdas, x),
        _between(shares[rate], y),
        ETA,
        rate,
    )


def near_the_best(
    number: int, former: Sequence[Setting], errors: Sequence[float]
) -> Setting:
    """Weights near those of the best two of the former settings, in turn.

    Seed and rate stay: the one rate wants margins of another size than the other.

    Parameters
    ----------
    number : int
        Which one.
    former : sequence of Setting
        Settings before it.
    errors : sequence of float
        Their errors on rows held out from the training rows.
    """
    best = np.argsort(errors, kind="stable")[number % N_PARENTS]
    x, y = np.random.default_rng((SEED, number)).random(2)
    parent = former[best]
    return replace(
        parent,
        lambda_=_between((parent.lambda_ / FACTOR, parent.lambda_ * FACTOR), x),
        share=_between((parent.share / FACTOR, parent.share * FACTOR), y),
    )


def _between(ends: tuple[float, float], part: float) -> float:
    """A number between two, evenly by its logarithm."""
    low, high = ends
    return float(f"{low * (high / low) ** part:.{DIGITS}g}")
