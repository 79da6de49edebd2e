"""Random settings of the hybrid loss, the same ones for every method and set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import nan

import numpy as np

from experiments.differentiable.results import SEED

N_SETTINGS = 20
RATES = (3e-3, 3e-2)
ETA = 10.0
IMAGE_ORDERS = ("rows", "diagonal", "centre")
"""The orders A, B and C of the paper, in turn."""


@dataclass(frozen=True)
class Setting:
    """One of the settings; Roth and Pernkopf (2020), section 4.2, (II).

    Parameters
    ----------
    number : int
        Which one; also the seed of orders, candidates and batches.
    lambda_, gamma, eta : float
        See `tanager.losses.HybridLoss`.
    rate : float
        Of the steps of the tables.
    """

    number: int
    lambda_: float
    gamma: float
    eta: float
    rate: float

    @property
    def image_order(self) -> str:
        """The order of the pixels for TAN Heuristic."""
        return IMAGE_ORDERS[self.number % len(IMAGE_ORDERS)]

    @property
    def random(self) -> np.random.Generator:
        """A new source of randomness, always the same."""
        return np.random.default_rng(self.number)

    def numbers(self) -> dict[str, float]:
        """What goes beside the results."""
        told = asdict(self)
        del told["number"]
        return told


NONE = Setting(0, nan, nan, nan, nan)
"""For methods without settings."""


def settings(n_settings: int = N_SETTINGS) -> list[Setting]:
    """The first ones of the list, which is drawn once."""
    random = np.random.default_rng(SEED)
    drawn = zip(
        10 ** random.uniform(1, 3, N_SETTINGS),
        10 ** random.uniform(-1, 2, N_SETTINGS),
        random.choice(RATES, N_SETTINGS),
        strict=True,
    )
    every = [
        Setting(number, float(lambda_), float(gamma), ETA, float(rate))
        for number, (lambda_, gamma, rate) in enumerate(drawn)
    ]
    return every[:n_settings]
