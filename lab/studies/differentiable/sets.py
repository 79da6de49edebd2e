"""The sets of Roth and Pernkopf (2020), section 4.1, as codes."""

from __future__ import annotations

from dataclasses import dataclass

from lab.measurements.coded import Part
from lab.measurements.image_sets import image_part


@dataclass(frozen=True)
class ImageSet:
    """A set and how the paper learns from it.

    Parameters
    ----------
    n_folds : int
        Pairs of training and test rows.
    batch_size : int
        Rows per step (section 4.2).
    epochs, n_settings : int
        How long tables are learned, and under how many settings. The paper has 500
        epochs and up to 500 settings.
    pixels : bool, default=False
        Whether the features are the pixels of a square image.
    start : {"random", "frequency"}, default="random"
        First tables, unless others are asked for; the paper's are random.
    """

    n_folds: int
    batch_size: int
    epochs: int
    n_settings: int
    pixels: bool = False
    start: str = "random"


SETS = {
    "letter": ImageSet(1, 100, 150, 20),
    "satimage": ImageSet(5, 50, 60, 20),
    "usps": ImageSet(1, 100, 100, 20, pixels=True),
    "mnist": ImageSet(1, 250, 40, 20, pixels=True, start="frequency"),
}


def part(name: str, fold: int) -> Part:
    """Training and test rows of a fold, the first of which is 1."""
    return image_part(f"images/{name}", fold)
