"""The methods of Table 1 of Roth and Pernkopf (2020), by settings."""

from __future__ import annotations

from lab.measurements.gumbel import METHODS, Run
from lab.studies.differentiable.sets import SETS
from lab.studies.differentiable.settings import Setting

WITHOUT_SETTINGS = ("NB-ML", "Chow-Liu-ML")
WITHOUT_CHANCE = ("NB-HYB", "Chow-Liu-HYB", "TAN Heuristic")
"""Methods whose candidates are not drawn; orders of pixels are taken in turn."""
KINDS = {"NB-HYB": "naive", "TAN Random-HYB": "tree", "Chow-Liu-HYB": "tree"}
"""What stays while tables are learned; of the other methods nothing does."""


def run_of(setting: Setting, batch_size: int, epochs: int, start: str) -> Run:
    """How tables are learned under a setting.

    Parameters
    ----------
    setting : Setting
        Of the loss.
    batch_size, epochs : int
        Rows per step, and how often the rows are gone through.
    start : {"random", "frequency"}
        First tables; the paper's are random.
    """
    return Run(
        batch_size,
        epochs,
        lambda_=setting.lambda_,
        share=setting.share,
        eta=setting.eta,
        rate=setting.rate,
        start=start,
        seed=setting.seed,
        image_order=setting.image_order,
    )


def methods_for(name: str) -> list[str]:
    """TAN All only where features are few, TAN Heuristic only for images."""
    out = "TAN All" if SETS[name].pixels else "TAN Heuristic"
    return [method for method in METHODS if method != out]
