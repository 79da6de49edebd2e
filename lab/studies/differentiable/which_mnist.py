"""``python -m lab.studies.differentiable.which_mnist``: which images the paper has.

The images behind Table 1 of Roth and Pernkopf (2020) are not public. Their code comes
with a file of information: H(X | C) of every pixel and I(X; X' | C) of every pair, on
the training rows. Here ways to make images smaller and rows to take bins from are
compared with it; the choice uses nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lab.measurements.coded import (
    Smaller,
    every_second,
    halved,
    in_bins,
    small_digits,
)
from lab.measurements.differentiable import error
from lab.measurements.gumbel import METHODS
from lab.measurements.image_sets import (
    by_columns,
    cubic,
    drawn_rows,
    weighed,
)
from lab.studies.differentiable import comparison
from lab.studies.differentiable.methods import WITHOUT_SETTINGS
from lab.studies.differentiable.results import FOLDER, SharedResults
from lab.studies.parameters.tables import markdown
from tanager.data import ArrayData
from tanager.data.information import conditional_information, entropy
from tanager.datasets import path
from tanager.types import FloatArray

KEYS = ("smaller", "bins_of", "seed")
N_DRAWS = 20
"""Draws of training rows of the way that fits."""
FAR = 0.01
"""How far an entropy is from all rows if it is so by other bins, not by a draw."""


def linear(images: npt.NDArray[np.uint8]) -> FloatArray:
    """Images of half the size with weights that fall linearly, to zero at a new pixel.

    Examples
    --------
    >>> image = np.zeros((1, 28, 28), dtype=np.uint8)
    >>> image[0, 10:, :] = 128
    >>> linear(image)[0, 3:7, 6].tolist()
    [0.0, 16.0, 112.0, 128.0]
    """
    size = images.shape[1]
    d = np.abs(np.arange(size) - 2 * np.arange(size // 2)[:, None] - 0.5) / 2
    return weighed(images, np.maximum(1 - d, 0.0) / 2)


SMALLER: dict[str, Smaller] = {
    "means of four pixels": by_columns(halved),
    "every second pixel": by_columns(every_second),
    "linear": by_columns(linear),
    "cubic, rounded, from 0 on": by_columns(lambda x: np.maximum(cubic(x).round(), 0)),
    "cubic, from 0 on": by_columns(lambda x: np.maximum(cubic(x), 0)),
    "cubic, row by row": cubic,
    "cubic": by_columns(cubic),
}
FITS = ("cubic", "first 60,000")
WAYS = (
    *((smaller, "first 60,000") for smaller in SMALLER),
    ("cubic", "training rows"),
    ("cubic", "all rows"),
)
"""How images are made smaller, and rows from which bins come."""


def results(folder: Path = FOLDER) -> SharedResults:
    """The file of these numbers."""
    return SharedResults("which-mnist", KEYS, folder)


def run(folder: Path = FOLDER) -> None:
    """Measure what is not yet in the file."""
    file = results(folder)
    for smaller, bins_of in WAYS:
        n_draws = N_DRAWS if (smaller, bins_of) == FITS else 1
        seeds = [n for n in range(n_draws) if (smaller, bins_of, n) not in file]
        if seeds:
            data = coded(smaller, bins_of)
            for seed in seeds:
                file.add((smaller, bins_of, seed), compared(data, seed))


def coded(smaller: str, bins_of: str) -> ArrayData:
    """All images; the training rows by which bins may be made are of the first draw."""
    pixels, labels, n_first = small_digits(SMALLER[smaller])
    every = np.arange(len(labels))
    known = {
        "training rows": drawn_rows(labels, 0)[0],
        "all rows": every,
        "first 60,000": every[:n_first],
    }
    return in_bins(pixels, labels, known[bins_of])


def compared(data: ArrayData, seed: int) -> dict[str, float]:
    """States, distances from the published information, and errors.

    Distances are means, over pixels and over pairs of them, of absolute differences.
    By ``of_a_draw`` entropies of the training rows differ from those of all rows, by
    ``of_theirs`` the published ones do, apart from those pixels, ``far`` many, where
    the latter is so much that the bins must be others.
    """
    train, test = drawn_rows(data.labels, seed)
    rows = data.take(train)
    ours, theirs = information(rows), published()
    of_all = entropies(data)
    of_theirs = np.abs(np.diag(theirs) - of_all)
    near = of_theirs < FAR
    pairs = np.tril_indices(len(ours), -1)
    return {
        "states": float(data.schema.n_states[:-1].mean()),
        "entropy_apart": float(np.abs(np.diag(ours) - np.diag(theirs)).mean()),
        "information_apart": float(np.abs(ours[pairs] - theirs[pairs]).mean()),
        "far": float(np.sum(~near)),
        "of_a_draw": _mean(np.abs(np.diag(ours) - of_all)[near]),
        "of_theirs": _mean(of_theirs[near]),
        **{
            method: error(
                METHODS[method](comparison.frequencies(), rows)[1], data.take(test)
            )
            for method in WITHOUT_SETTINGS
        },
    }


def information(data: ArrayData) -> FloatArray:
    """I(X; X' | C) of all pairs of pixels, and H(X | C) on the diagonal."""
    return conditional_information(data) + np.diag(entropies(data))


def entropies(data: ArrayData) -> FloatArray:
    """H(X | C) of every pixel."""
    target = len(data.schema) - 1
    counts = data.count([(target, j) for j in range(target)])
    joint = np.array([entropy(counts.table(j)) for j in range(target)])
    return joint - entropy(np.bincount(data.labels).astype(np.float64))


def published() -> FloatArray:
    """What comes with the code of the paper, below the diagonal and on it."""
    with np.load(path("images/mnist_mi")) as found:
        return np.asarray(found["mi_graph_1"])


def table(folder: Path = FOLDER) -> str:
    """A line for every way; of several draws the least and the largest number."""
    percent = dict.fromkeys(WITHOUT_SETTINGS, 100)
    places = {"states": 1, "entropy_apart": 4, "information_apart": 4, "far": 0}
    places |= dict.fromkeys(WITHOUT_SETTINGS, 2)
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row in results(folder).rows:
        numbers = [percent.get(name, 1) * float(row[name]) for name in places]
        found.setdefault((row["smaller"], row["bins_of"]), []).append(numbers)
    lines = [
        [
            *way,
            str(len(draws)),
            *map(_range, np.transpose(draws).tolist(), places.values()),
        ]
        for way, draws in found.items()
    ]
    head = ["draws", "states", "H apart", "I apart", "pixels far", *WITHOUT_SETTINGS]
    return markdown(["made smaller", "bins of", *head], lines)


def _range(numbers: Sequence[float], places: int) -> str:
    ends = [f"{end:.{places}f}" for end in (min(numbers), max(numbers))]
    return " to ".join(dict.fromkeys(ends))


def _mean(numbers: FloatArray) -> float:
    return float(numbers.mean()) if len(numbers) else float("nan")


if __name__ == "__main__":
    run()
    print(table())
