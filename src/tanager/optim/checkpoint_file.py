"""`Checkpoint`: the state of a long run in a file, to resume it after a break."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from types import FunctionType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.utils.atomic_write import PathLike, check_writable, replacing

KIND, FORMAT = "tanager checkpoint", 2
DOCUMENT, ARRAY_PREFIX = "document", "array."
"""Name of the JSON text in the archive, and prefix of the names of arrays."""

ADVICE = "choose another file name, or delete the file to start again."

SHOWN, MAX_REASON = 40, 100
"""Characters of a value, and of a reason, that are shown in a message."""

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
        self.identity: dict[str, Any] = json.loads(_to_json(dict(identity)))
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
        differences = list(_differences(document["identity"], self.identity))
        if differences:
            shown = "; ".join(differences[:3])
            more = f"; and {len(differences) - 3} more" if differences[3:] else ""
            raise InputError(
                f"The checkpoint '{self.path}' is of another run: {shown}{more}. "
                f"Resume with the data and settings it was made with, or {ADVICE}"
            )
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
        text = np.frombuffer(_to_json(document).encode(), dtype=np.uint8)
        entries: dict[str, Any] = {DOCUMENT: text}
        for name, array in arrays.items():
            entries[ARRAY_PREFIX + name] = _check_numeric(array, name)
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
                        f"{_shorten(document['format'])} and this version of tanager "
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


def generator_state(random: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator as JSON values.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> state = generator_state(random)
    >>> first = random.random(3)
    >>> restore_generator(random, state)
    >>> bool((random.random(3) == first).all())
    True
    """
    state: dict[str, Any] = json.loads(_to_json(random.bit_generator.state))
    return state


def restore_generator(random: np.random.Generator, state: Mapping[str, Any]) -> None:
    """Set a random generator, in place, to a state from `generator_state`.

    Raises
    ------
    InputError
        If the state is damaged, or that of a different kind of generator.
    """
    kind = type(random.bit_generator).__name__
    found = state.get("bit_generator") if isinstance(state, Mapping) else None
    if found != kind:
        raise InputError(
            f"The state of the random numbers is that of {found!r}, but random_state "
            f"is a generator of kind {kind!r}; give one of the same kind."
        )
    try:
        random.bit_generator.state = dict(state)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(
            f"The state of the random numbers is damaged ({error}); start again."
        ) from error


def checksum(*arrays: npt.NDArray[Any] | None) -> str:
    """Return a hash of the values, types and shapes of numeric arrays.

    The memory layout does not matter; arrays in Fortran order are not copied.

    Examples
    --------
    >>> codes = np.array([[0, 1], [2, 3]], dtype=np.uint8)
    >>> checksum(codes, None) == checksum(np.asfortranarray(codes), None)
    True
    >>> checksum(codes) == checksum(codes.T), len(checksum(codes))
    (False, 32)
    """
    total = blake2b(digest_size=16)
    for array in arrays:
        if array is None:
            total.update(b"none;")
            continue
        plain = _check_numeric(array, "checksum")
        little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        total.update(f"{little.dtype.str}{little.shape};".encode())
        total.update(np.ascontiguousarray(little.T).data)
    return total.hexdigest()


def describe(value: Any) -> Any:
    """Convert a setting to JSON values that are the same in every process.

    Objects become their class and attributes, sets sorted lists, functions their names,
    and objects without attributes their `repr`.
    """
    if value is None or isinstance(value, (str, bool, int, float, np.generic)):
        return value
    if isinstance(value, np.ndarray):
        return checksum(value) if value.dtype.kind in "biufc" else value.tolist()
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(describe, value), key=repr)
    if isinstance(value, Iterable) and not isinstance(value, Iterator):
        return [describe(item) for item in value]
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    attributes = getattr(value, "__dict__", {})
    if not attributes and getattr(type(value), "__repr__", None) is not object.__repr__:
        return repr(value)
    return {"class": type(value).__qualname__, **describe(attributes)}


def _to_json(value: Any) -> str:
    def convert(item: Any) -> Any:
        if isinstance(item, (np.generic, np.ndarray)):
            return item.tolist()
        raise InputError(
            f"A checkpoint holds plain values only: text, numbers, Booleans, None, "
            f"lists and mappings; got a {type(item).__name__}, {_shorten(item)}."
        )

    return json.dumps(value, default=convert)


def _check_numeric(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    found = np.asarray(array)
    if found.dtype.kind not in "biufc":
        raise InputError(
            f"Array {name!r} is of type {found.dtype}; expected numbers or Booleans, "
            "which can be read back without executing code."
        )
    return found


def _differences(saved: Any, current: Any, at: str = "") -> Iterator[str]:
    """Describe how two identities, as JSON values, differ."""
    if isinstance(saved, dict) and isinstance(current, dict):
        for key in {**saved, **current}:
            inner = f"{at}.{key}" if at else key
            if key not in current:
                yield f"{inner} was {_shorten(saved[key])} and is not given now"
            elif key not in saved:
                yield f"{inner} was not given and is {_shorten(current[key])} now"
            else:
                yield from _differences(saved[key], current[key], inner)
    # Compared as text, too, because NaN differs from NaN.
    elif saved != current and json.dumps(saved) != json.dumps(current):
        if _is_checksum(saved) and _is_checksum(current):
            yield f"{at} differ" if at[-1:] == "s" else f"{at} differs"
        else:
            yield f"{at} was {_shorten(saved)} and is {_shorten(current)} now"


def _is_checksum(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{32,}", value))


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
