"""Ways to downsample MNIST, compared with published information of its pixels.

The images behind Table 1 of Roth and Pernkopf (2020) are not public. Their code comes
with a file that has H(X | C) of every pixel and I(X; X' | C) of every pair on the
training samples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lab.measurements.coded_datasets import (
    Smaller,
    every_second,
    halved,
    in_bins,
    small_digits,
)
from lab.measurements.gradient_structures import error
from lab.measurements.gumbel_methods import METHODS, Run
from lab.measurements.image_datasets import (
    by_columns,
    cubic,
    drawn_rows,
    weighed,
)
from lab.runner.cell import Numbers
from tanager.data import ArrayData, conditional_information, entropy
from tanager.datasets import path
from tanager.types import FloatArray

NO_SETTING = Run(1, 0, lambda_=0.0, share=0.0, eta=1.0, rate=0.0)
"""For methods that count; none of it matters."""
FAR = 0.01
"""Difference of entropies above which the bins must differ, not the samples."""
COUNTED = ("NB-ML", "Chow-Liu-ML")
"""Methods without settings, whose errors are shown."""


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


def downsampling_distance(
    *, data: str, smaller: str, bins_of: str, seed: int
) -> Numbers:
    """States, distances from the published information, and errors.

    Parameters
    ----------
    data : {"images/mnist"}
        Name of the dataset.
    smaller : str
        One of `SMALLER`.
    bins_of : {"training samples", "all samples", "first 60,000"}
        Samples that the MDL cut points come from.
    seed : int
        Of the training samples.

    Returns
    -------
    dict
        Distances are means of absolute differences over pixels or pairs of pixels.
        ``far`` counts pixels whose published entropy differs by more than `FAR` from
        that of all samples; over the others, ``of_a_draw`` and ``of_theirs`` are the
        mean differences of our training samples and of the published ones.
    """
    del data  # the file that the images come from is in the key of the cell
    return compare_information(code_images(smaller, bins_of), seed)


def code_images(smaller: str, bins_of: str) -> ArrayData:
    """Code all images; the training samples are those of the first seed."""
    pixels, labels, n_first = small_digits(SMALLER[smaller])
    every = np.arange(len(labels))
    known = {
        "training samples": drawn_rows(labels, 0)[0],
        "all samples": every,
        "first 60,000": every[:n_first],
    }
    return in_bins(pixels, labels, known[bins_of])


def compare_information(data: ArrayData, seed: int) -> dict[str, float]:
    """States, distances from the published information, and errors.

    Distances are means, over pixels and over pairs of them, of absolute differences.
    By ``of_a_draw`` entropies of the training samples differ from those of all rows, by
    ``of_theirs`` the published ones do, apart from those pixels, ``far`` many, where
    the latter is so much that the bins must be others.
    """
    train, test = drawn_rows(data.labels.astype(np.uint8), seed)
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
        **(
            {
                "of_a_draw": float(np.abs(np.diag(ours) - of_all)[near].mean()),
                "of_theirs": float(of_theirs[near].mean()),
            }
            if near.any()
            else {}
        ),
        **{
            method: error(METHODS[method](NO_SETTING, rows)[1], data.take(test))
            for method in COUNTED
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
