"""`Checkpoint`: a file from which a long run goes on after it was interrupted."""

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

FORMAT = 1
"""Number of the format; a file of another one is refused."""

KIND = "tanager checkpoint"
DOCUMENT = "document"
ARRAY = "array."
"""What precedes the names of arrays in the file."""

ADVICE = "give another name for the file, or remove it to begin anew."

SHOWN, MOST = 40, 100
"""Characters up to which a value, and a reason, are shown in a message."""


class Checkpoint:
    """The state of a run in one file, written whole or not at all.

    Parameters
    ----------
    path : str or path
        Where the file is to be. Its folder must be there.
    identity : mapping
        All that makes the run what it is: settings, seed, a `checksum` of the rows.
        Values as JSON has them. A file with another identity is of another run, and is
        neither read nor replaced.

    Raises
    ------
    InputError
        If no file can be written there.

    Notes
    -----
    The file is an archive of arrays as `numpy.savez` writes it, with a JSON text as one
    of them. Reading it executes nothing. It is written beside the former one, forced to
    the disk and then renamed, so that a run that is killed while it saves leaves the
    former state.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.npz")
    ...     checkpoint = Checkpoint(path, {"rate": 0.1})
    ...     checkpoint.load() is None  # nothing yet: begin
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
        self.identity: dict[str, Any] = json.loads(_json_text(dict(identity)))
        self._checked = False  # whether the file there, if any, is of this run

    def load(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]] | None:
        """Read what was saved last.

        Returns
        -------
        (dict of ndarray, dict) or None
            Arrays by name, and the story as JSON has it: tuples have become lists. None
            if there is no file.

        Raises
        ------
        InputError
            If the file is of another run, the message saying what differs, or is
            damaged or no checkpoint. It stays as it is.
        """
        try:
            with open(self.path, "rb") as file:
                arrays, document = self._content(file)
        except FileNotFoundError:
            self._checked = True
            return None
        except OSError as error:
            raise InputError(
                f"Cannot read the checkpoint {self._name}: "
                f"{error.strerror or error}; {ADVICE}"
            ) from error
        differences = list(_differences(document["identity"], self.identity))
        if differences:
            shown = "; ".join(differences[:3])
            more = f"; and {len(differences) - 3} more" if differences[3:] else ""
            raise InputError(
                f"The checkpoint {self._name} is of another run: {shown}{more}. Go on "
                f"with the data and settings it was made with, or {ADVICE}"
            )
        self._checked = True
        return arrays, document["story"]

    def save(
        self, arrays: Mapping[str, npt.NDArray[Any]], story: Mapping[str, Any]
    ) -> None:
        """Write the present state in the place of the former one.

        Parameters
        ----------
        arrays : mapping from str to ndarray
            Numbers and truth values, of any shape.
        story : mapping
            Whatever else is needed to go on, as JSON has it; NumPy's numbers will do.

        Raises
        ------
        InputError
            If the file cannot be written, for instance because the disk is full, or if
            there is one of another run. The file that is there stays as it is.
        """
        self._check_mine()
        document = {
            "kind": KIND,
            "format": FORMAT,
            "identity": self.identity,
            "story": dict(story),
            "arrays": list(arrays),
        }
        text = np.frombuffer(_json_text(document).encode(), dtype=np.uint8)
        entries: dict[str, Any] = {DOCUMENT: text}
        for name, array in arrays.items():
            entries[ARRAY + name] = _plain_array(array, name)
        with replacing(self.path) as file:
            np.savez(file, **entries)

    def remove(self) -> None:
        """Remove the file, if there is one; that of another run is refused."""
        self._check_mine()
        try:
            with suppress(FileNotFoundError):
                os.unlink(self.path)
        except OSError as error:
            raise InputError(
                f"Cannot remove the checkpoint {self._name}: "
                f"{error.strerror or error}; remove it by hand."
            ) from error

    @property
    def _name(self) -> str:
        return f"'{self.path}'"

    def _check_mine(self) -> None:
        """Never replace or remove a file before it is known to be of this run."""
        if not self._checked:
            self.load()

    def _content(
        self, file: BinaryIO
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Arrays and document of an open file, checked to be a whole checkpoint."""
        # Here, because only those who go on from a file need it.
        from zipfile import BadZipFile
        from zlib import error as ZlibError  # noqa: N812 - it is a class

        archive_begins = file.read(2) == b"PK"
        file.seek(0)
        try:
            if not archive_begins:
                raise self._foreign()
            with np.load(file, allow_pickle=False) as archive:
                if DOCUMENT not in archive.files:
                    raise self._foreign()
                document = json.loads(bytes(archive[DOCUMENT]).decode())
                self._check_document(document)
                arrays = {name: archive[ARRAY + name] for name in document["arrays"]}
        except InputError:
            raise
        except (
            BadZipFile, ZlibError, EOFError, KeyError, MemoryError,
            NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError,
        ) as error:  # fmt: skip
            reason = " ".join(str(error).split())[:MOST] or type(error).__name__
            raise InputError(
                f"The checkpoint {self._name} is damaged, so there is nothing to go on "
                f"from ({reason}); {ADVICE}"
            ) from error
        return arrays, document

    def _check_document(self, document: Any) -> None:
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise self._foreign()
        if document["format"] != FORMAT:
            raise InputError(
                f"The checkpoint {self._name} has format {_short(document['format'])} "
                f"and this version of tanager reads {FORMAT}. Go on with the version "
                f"that wrote it, or {ADVICE}"
            )
        parts = [document["identity"], document["story"]]
        if not all(isinstance(part, dict) for part in parts):
            raise TypeError("a part of its document is no mapping")

    def _foreign(self) -> InputError:
        return InputError(
            f"{self._name} is no checkpoint of tanager and stays as it is; {ADVICE}"
        )


def generator_state(random: np.random.Generator) -> dict[str, Any]:
    """Where a source of randomness stands, as JSON has it.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> state = generator_state(random)
    >>> first = random.random(3)
    >>> restore_generator(random, state)
    >>> bool((random.random(3) == first).all())
    True
    """
    state: dict[str, Any] = json.loads(_json_text(random.bit_generator.state))
    return state


def restore_generator(random: np.random.Generator, state: Mapping[str, Any]) -> None:
    """Set a source of randomness, in place, to where `generator_state` found it.

    Parameters
    ----------
    random : numpy Generator
        Of the same kind as the one whose state it is.
    state : mapping
        What `generator_state` gave, also by way of a file.

    Raises
    ------
    InputError
        If it is the state of another kind, or none.
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
            f"The state of the random numbers is damaged ({error}); begin anew."
        ) from error


def checksum(*arrays: npt.NDArray[Any] | None) -> str:
    """Short text that is another one if any value, type or shape is another.

    Parameters
    ----------
    *arrays : ndarray or None
        Numbers of any kind, in any order in memory; those in Fortran order are not
        copied.

    Examples
    --------
    >>> rows = np.array([[0, 1], [2, 3]], dtype=np.uint8)
    >>> checksum(rows, None) == checksum(np.asfortranarray(rows), None)
    True
    >>> checksum(rows) == checksum(rows.T), len(checksum(rows))
    (False, 32)
    """
    total = blake2b(digest_size=16)
    for array in arrays:
        if array is None:
            total.update(b"none;")
            continue
        plain = _plain_array(array, "checksum")
        little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        total.update(f"{little.dtype.str}{little.shape};".encode())
        total.update(np.ascontiguousarray(little.T).data)
    return total.hexdigest()


def told(value: Any) -> Any:
    """A setting as JSON has it, for an identity: objects by class and attributes.

    Sets are told as sorted lists, functions by their names, and what has no attributes
    as Python prints it.

    Examples
    --------
    >>> from tanager.losses import MarginLoss
    >>> told({"loss": MarginLoss(gamma=2.0), "sizes": (1, 2)})
    {'loss': {'class': 'MarginLoss', 'gamma': 2.0, 'eta': 10.0}, 'sizes': [1, 2]}
    """
    if value is None or isinstance(value, (str, bool, int, float, np.generic)):
        return value
    if isinstance(value, np.ndarray):
        return checksum(value) if value.dtype.kind in "biufc" else value.tolist()
    if isinstance(value, Mapping):
        return {str(key): told(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(told, value), key=repr)
    if isinstance(value, Iterable) and not isinstance(value, Iterator):
        return [told(item) for item in value]
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    attributes = getattr(value, "__dict__", {})
    prints_itself = getattr(type(value), "__repr__", None) is not object.__repr__
    if prints_itself and not attributes:
        return repr(value)
    return {"class": type(value).__qualname__, **told(attributes)}


def _json_text(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """What JSON does not know but can hold: numbers and arrays of NumPy."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise InputError(
        f"A checkpoint holds plain values only: text, numbers, truth values, None, "
        f"lists and mappings; got a {type(value).__name__}, {_short(value)}."
    )


def _plain_array(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    found = np.asarray(array)
    if found.dtype.kind not in "biufc":
        raise InputError(
            f"Array {name!r} is of type {found.dtype}; expected numbers or truth "
            "values, which can be read back without executing anything."
        )
    return found


def _differences(saved: Any, present: Any, at: str = "") -> Iterator[str]:
    """What two identities, as JSON has them, differ in."""
    if isinstance(saved, dict) and isinstance(present, dict):
        for key in {**saved, **present}:
            inner = f"{at}.{key}" if at else key
            if key not in present:
                yield f"{inner} was {_short(saved[key])} and is not given now"
            elif key not in saved:
                yield f"{inner} was not given and is {_short(present[key])} now"
            else:
                yield from _differences(saved[key], present[key], inner)
    # As texts too: NaN is the same as NaN there.
    elif saved != present and json.dumps(saved) != json.dumps(present):
        if _is_checksum(saved) and _is_checksum(present):
            yield f"{at} are not the same" if at[-1:] == "s" else f"{at} is another"
        else:
            yield f"{at} was {_short(saved)} and is {_short(present)} now"


def _is_checksum(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{32,}", value))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
