"""`Checkpoint`: the state of a long run in a file, to resume it after a break."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.utils.atomic_write import PathLike, check_writable, replacing
from tanager.utils.fingerprint import (
    check_numeric,
    check_same_run,
    shorten,
    to_json,
)

KIND, FORMAT = "tanager checkpoint", 2
DOCUMENT, ARRAY_PREFIX = "document", "array."
"""Name of the JSON text in the archive, and prefix of the names of arrays."""

ADVICE = "choose another file name, or delete the file to start again."

MAX_REASON = 100
"""Characters of a reason that are shown in a message."""

State = tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]


class Checkpoint:
    """The state of a run in one file, replaced atomically.

    Parameters
    ----------
    path : str or path
        Name of the file. Its folder must exist.
    identity : mapping
        Everything the run depends on, as JSON values: settings, seed, a `checksum` of
        the data. A file with a different identity is neither read nor replaced.

    Raises
    ------
    InputError
        If no file can be written there.

    Notes
    -----
    The file is an archive of arrays as `numpy.savez` writes it, one of which holds a
    JSON text. Reading it executes no code. A new state is written to a temporary file,
    flushed to the disk and then renamed, so that a run killed while it saves leaves the
    previous state.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.npz")
    ...     checkpoint = Checkpoint(path, {"rate": 0.1})
    ...     checkpoint.load() is None  # no file yet
    ...     checkpoint.save({"weights": np.array([0.5, 2.0])}, {"epoch": 3})
    ...     Checkpoint(path, {"rate": 0.1}).load()
    True
    ({'weights': array([0.5, 2. ])}, {'epoch': 3})
    """

    def __init__(self, path: PathLike, identity: Mapping[str, Any]) -> None:
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(name, str) or not name:
            raise InputError(
                "The path of a checkpoint must be the name of a file, such as "
                f"'run.npz', got {path!r}."
            )
        check_writable(path)
        self.path = name
        self.identity: dict[str, Any] = json.loads(to_json(dict(identity)))
        self._is_own = False  # whether the file, if there is one, is of this run

    def load(self) -> State | None:
        """Read arrays and progress of the last state; None if there is no file.

        JSON has turned tuples in the progress into lists.

        Raises
        ------
        InputError
            If the file belongs to a different run (the message lists the differences),
            is damaged, or is no checkpoint. The file is not changed.
        """
        try:
            with open(self.path, "rb") as file:
                arrays, document = self._read(file)
        except FileNotFoundError:
            self._is_own = True
            return None
        except OSError as error:
            raise InputError(
                f"Cannot read the checkpoint '{self.path}': "
                f"{error.strerror or error}; {ADVICE}"
            ) from error
        check_same_run(self.path, document["identity"], self.identity, ADVICE)
        self._is_own = True
        return arrays, document["progress"]

    def save(
        self, arrays: Mapping[str, npt.NDArray[Any]], progress: Mapping[str, Any]
    ) -> None:
        """Replace the file by the current state.

        Parameters
        ----------
        arrays : mapping from str to ndarray
            Numeric or Boolean arrays of any shape.
        progress : mapping
            Everything else that is needed to resume, as JSON values or NumPy scalars.

        Raises
        ------
        InputError
            If the file cannot be written, for instance because the disk is full, or if
            it belongs to a different run. An existing file is not changed.
        """
        self._check_own()
        document = {
            "kind": KIND,
            "format": FORMAT,
            "identity": self.identity,
            "progress": dict(progress),
            "arrays": list(arrays),
        }
        text = np.frombuffer(to_json(document).encode(), dtype=np.uint8)
        entries: dict[str, Any] = {DOCUMENT: text}
        for name, array in arrays.items():
            entries[ARRAY_PREFIX + name] = check_numeric(array, name)
        with replacing(self.path) as file:
            np.savez(file, **entries)

    def remove(self) -> None:
        """Delete the file if there is one, unless it belongs to a different run."""
        self._check_own()
        try:
            with suppress(FileNotFoundError):
                os.unlink(self.path)
        except OSError as error:
            raise InputError(
                f"Cannot remove the checkpoint '{self.path}': "
                f"{error.strerror or error}; delete it yourself."
            ) from error

    def _check_own(self) -> None:
        """Raise `InputError` before a file of a different run is changed."""
        if not self._is_own:
            self.load()

    def _read(self, file: BinaryIO) -> State:
        """Read arrays and document, checked to be a complete checkpoint."""
        # Imported here, because only resumed runs need them.
        from zipfile import BadZipFile
        from zlib import error as ZlibError  # noqa: N812 - it is a class

        foreign = InputError(
            f"'{self.path}' is no checkpoint of tanager and was not changed; {ADVICE}"
        )
        if file.read(2) != b"PK":
            raise foreign
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as archive:
                if DOCUMENT not in archive.files:
                    raise foreign
                document = json.loads(bytes(archive[DOCUMENT]).decode())
                if not isinstance(document, dict) or document.get("kind") != KIND:
                    raise foreign
                if document["format"] != FORMAT:
                    raise InputError(
                        f"The checkpoint '{self.path}' has format "
                        f"{shorten(document['format'])} and this version of tanager "
                        f"reads {FORMAT}. Resume with the version that wrote it, or "
                        f"{ADVICE}"
                    )
                parts = (document["identity"], document["progress"])
                if not all(isinstance(part, dict) for part in parts):
                    raise TypeError("a part of its document is no mapping")
                names = document["arrays"]
                return {name: archive[ARRAY_PREFIX + name] for name in names}, document
        except InputError:
            raise
        except (
            BadZipFile, ZlibError, EOFError, KeyError, MemoryError,
            NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError,
        ) as error:  # fmt: skip
            reason = " ".join(str(error).split())[:MAX_REASON] or type(error).__name__
            raise InputError(
                f"The checkpoint '{self.path}' is damaged and cannot be resumed "
                f"({reason}); {ADVICE}"
            ) from error
