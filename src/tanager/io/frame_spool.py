"""`FrameSpool`: batches of an iterator kept in a temporary file for a second pass."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator
from typing import Any, Self

from tanager.encoding.frame import Frame
from tanager.errors import InputError


class FrameSpool:
    """Frames in a temporary file without a name: written once, then read in order.

    Parameters
    ----------
    folder : str or path or None
        Folder of the file; None means that of the system.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._file: Any = None
        self._count = 0

    def __enter__(self) -> Self:
        try:
            self._file = tempfile.TemporaryFile(dir=self._folder, prefix="tanager-")
        except OSError as error:
            raise self._cannot_write(error) from error
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def append(self, frame: Frame) -> None:
        """Write one frame."""
        try:
            pickle.dump(frame, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._count += 1

    def frames(self) -> Iterator[tuple[str, Frame]]:
        """Read all frames, each with its number in words."""
        self._file.seek(0)
        for number in range(1, self._count + 1):
            yield f"Batch {number}", pickle.load(self._file)

    def _cannot_write(self, error: OSError) -> InputError:
        return InputError(
            "The batches of an iterator, which can be read only once, cannot be kept "
            f"in a temporary file in '{self._folder}': {error.strerror or error}. Free "
            "space there, give another folder with Batches(source, folder=...), or "
            "pass a function that returns a new iterator."
        )
