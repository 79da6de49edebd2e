"""The methods of Table 1 of Roth and Pernkopf (2020), by settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from experiments.differentiable.sets import SETS
from experiments.differentiable.settings import Setting
from tanager.counts import ArrayData
from tanager.experiments.measurements import gumbel
from tanager.experiments.measurements.gumbel import (
    Gumbel,
    Learned,
    learned_by,
    named_arcs,
    on_structure,
)

__all__ = [
    "METHODS",
    "TREES",
    "WITHOUT_CHANCE",
    "WITHOUT_SETTINGS",
    "Gumbel",
    "Learned",
    "Method",
    "Run",
    "learned_by",
    "methods_for",
    "named_arcs",
    "on_structure",
]


@dataclass(frozen=True)
class Run:
    """How tables are learned, apart from the method.

    Parameters
    ----------
    setting : Setting
        Of the loss.
    batch_size, epochs : int
        Rows per step, and how often the rows are gone through.
    start : {"random", "frequency"}
        First tables; the paper's are random.
    """

    setting: Setting
    batch_size: int
    epochs: int
    start: str

    @property
    def flat(self) -> gumbel.Run:
        """The same without a setting in it."""
        s = self.setting
        return gumbel.Run(
            self.batch_size,
            self.epochs,
            lambda_=s.lambda_,
            share=s.share,
            eta=s.eta,
            rate=s.rate,
            start=self.start,
            seed=s.seed,
            image_order=s.image_order,
        )


Method = Callable[[Run, ArrayData], Learned]


def by_settings(method: gumbel.Method) -> Method:
    """A method that takes a run with a setting."""

    def learned(run: Run, data: ArrayData) -> Learned:
        return method(run.flat, data)

    return learned


WITHOUT_SETTINGS = ("NB-ML", "Chow-Liu-ML")
WITHOUT_CHANCE = ("NB-HYB", "Chow-Liu-HYB")
"""Methods whose structures do not depend on the seed."""
TREES = ("TAN Random-HYB", "Chow-Liu-HYB")
"""Methods that learn tables for a tree that stays."""

METHODS = {name: by_settings(method) for name, method in gumbel.METHODS.items()}


def methods_for(name: str) -> list[str]:
    """TAN All only where features are few, TAN Heuristic only for images."""
    out = "TAN All" if SETS[name].pixels else "TAN Heuristic"
    return [method for method in METHODS if method != out]
