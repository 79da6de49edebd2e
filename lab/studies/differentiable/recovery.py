"""Whether the Chow-Liu tree is found by gradients of the likelihood alone.

Roth and Pernkopf (2020), section 4.6: lambda is 0, and the order is one that contains
the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.measurements.differentiable import recovered_from
from lab.studies.differentiable.results import FOLDER, SharedResults
from lab.studies.differentiable.sets import SETS, part

EPOCHS = 300
START = "random"
KEYS = ("set", "start", "epochs", "seed")
NAMES = ("letter", "satimage")


def results(folder: Path = FOLDER) -> SharedResults:
    """The file of these results."""
    return SharedResults("recovery", KEYS, folder)


def run(
    names: Sequence[str] = NAMES, *, epochs: int, start: str, seeds: Sequence[int]
) -> None:
    """Measure what is not yet in the file, on the first fold of the sets."""
    file = results()
    for name in names:
        for seed in seeds:
            key = (name, start, epochs, seed)
            if key not in file:
                data = part(name, 1).train
                size = SETS[name].batch_size
                file.add(key, recovered_from(data, size, epochs, start, seed))
