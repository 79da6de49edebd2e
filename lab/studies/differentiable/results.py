"""Files of numbers that several processes may add to, where files have Unix locks."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lab.studies.parameters.results import Results

FOLDER = Path(__file__).parents[2] / "results" / "differentiable"
SEED = 0


class SharedResults(Results):
    """Results that are read again before anything is looked up or added.

    Parameters
    ----------
    name : str
        Name of the file, without ".csv".
    keys : tuple of str
        Columns that say what was measured.
    folder : Path, default=FOLDER
        Where the file lies; made if it is not there.
    """

    def __init__(self, name: str, keys: tuple[str, ...], folder: Path = FOLDER) -> None:
        super().__init__(name, keys, SEED, folder)

    def __contains__(self, key: tuple[object, ...]) -> bool:
        """Whether this process or another has measured it."""
        self._renew()
        return super().__contains__(key)

    def add(
        self,
        key: tuple[object, ...],
        numbers: Mapping[str, float],
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Add a row to what the file holds now, unless another process has done so."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path.parent):
            if key not in self:
                super().add(key, numbers, texts)

    def _renew(self) -> None:
        self.rows = Results(self.path.stem, self.keys, self.seed, self.path.parent).rows


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from the files of a folder."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
