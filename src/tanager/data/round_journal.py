"""`RoundJournal`: the results of the rounds of a fit in a file, to resume it."""

from __future__ import annotations

import json
import os
import struct
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar
from zlib import crc32

import numpy as np

from tanager.data.round_values import pack_value, unpack_value
from tanager.errors import FileFormatError, InputError
from tanager.utils.atomic_write import PathLike, check_writable
from tanager.utils.fingerprint import check_same_run, to_json
from tanager.utils.progress import has_ended_early

Result = TypeVar("Result")

MAGIC = b"tanager rounds 1\n"
"""First bytes of the file."""

ADVICE = "choose another file name, or delete the file to start again."

_HEAD = struct.Struct("<QI")  # length and checksum of a record


class RoundJournal:
    """Results of the rounds of a fit, in their order, in a file that grows.

    A round is a function of the samples, such as the sum of a gradient over all of
    them. Learners are deterministic but for these results, so a fit that is begun again
    and gets the results so far from the file instead of from the samples is where it
    was, with the same bits.

    Parameters
    ----------
    path : str or path
        Name of the file. Its folder must exist.
    fingerprint : mapping
        Everything that the fit depends on, as JSON values. A file with a different
        fingerprint is neither read nor changed.

    Attributes
    ----------
    seed : int
        Seed of the random numbers of a fit that has none of its own; drawn when the
        file is made.
    n_recalled, n_written : int
        Number of results read from the file, and written to it.

    Raises
    ------
    InputError
        If the file cannot be written, is in use by another process, belongs to another
        run (the message lists the differences), or is no checkpoint.

    Notes
    -----
    After the first line come records: length, CRC-32 and content, the first of them the
    fingerprint. They are handed to the operating system one by one, so a process that
    is killed loses one round at most. A record that was not written to its end is
    removed when the fit is resumed. Reading executes no code.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "fit.rounds")
    ...     with RoundJournal(path, {"C": 1.0}) as journal:
    ...         first = journal.recall("sum", lambda: 2.5)
    ...     with RoundJournal(path, {"C": 1.0}) as journal:
    ...         again = journal.recall("sum", lambda: 1 / 0)
    >>> first, again
    (2.5, 2.5)
    """

    def __init__(self, path: PathLike, fingerprint: Mapping[str, Any]) -> None:
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(name, str) or not name:
            raise InputError(
                "checkpoint must be the name of a file, such as 'fit.rounds', got "
                f"{path!r}."
            )
        check_writable(name)
        self.path = name
        self.n_recalled = self.n_written = 0
        self._is_writing = self._is_new = False
        try:
            self._file: BinaryIO | None = open(name, "a+b")  # noqa: SIM115 - see close
        except OSError as error:
            raise InputError(
                f"Cannot open the checkpoint '{name}': {error.strerror or error}; "
                f"{ADVICE}"
            ) from error
        try:
            self._lock()
            self.seed = self._begin(json.loads(to_json(dict(fingerprint))))
        except BaseException:
            self.close()
            raise

    def recall(self, name: str, compute: Callable[[], Result]) -> Result:
        """The next result: from the file as far as it goes, then computed and written.

        `name` says what is computed; `InputError` is raised if the file has the result
        of something else. What follows an early end of the fit is computed only.
        """
        if has_ended_early():
            return compute()
        if not self._is_writing:
            content = self._read_record()
            if content is not None:
                found, value = self._unpack(content)
                if found != name:
                    raise InputError(
                        f"The checkpoint '{self.path}' is of another run: result "
                        f"{self.n_recalled + 1} is that of {found}, and {name} is "
                        f"needed now; {ADVICE}"
                    )
                self.n_recalled += 1
                return value  # type: ignore[no-any-return]
            self._is_writing = True
        result = compute()
        if self._file is not None:
            self._write_record(pack_value((name, result)))
        return result

    def close(self) -> None:
        """Close the file, which stays, to resume from."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # a full disk was told of when it was met
                file.close()

    def remove(self) -> None:
        """Delete the file when the fit is done."""
        self.close()
        with suppress(OSError):  # a folder that has become read-only keeps it
            os.unlink(self.path)

    def __enter__(self) -> RoundJournal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_new and self.n_written == 0:
            self.remove()  # nothing to resume from
        self.close()

    def _lock(self) -> None:
        """Keep other processes out; the system unlocks when the process ends."""
        try:
            import fcntl
        except ImportError:  # Windows
            return
        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"The checkpoint '{self.path}' is in use by another fit. Give every "
                "fit a file of its own; in a cross-validation use none."
            ) from error
        except OSError:  # a file system without locks
            return

    def _begin(self, fingerprint: dict[str, Any]) -> int:
        """Read the head of the file, or write that of a new one; return the seed."""
        file = self._file
        assert file is not None
        file.seek(0)
        start = file.read(len(MAGIC))
        if start == MAGIC:
            head = self._read_record()
            if head is not None:
                return self._check_head(head, fingerprint)
        elif not MAGIC.startswith(start):
            raise InputError(
                f"'{self.path}' is no checkpoint of a fit and was not changed; {ADVICE}"
            )
        # New, or killed while it was begun.
        self._is_writing = self._is_new = True
        seed = int(np.random.SeedSequence().generate_state(1)[0])
        document = {"fingerprint": fingerprint, "seed": seed}
        try:
            file.truncate(0)
            file.write(MAGIC + _record(json.dumps(document).encode()))
            file.flush()
        except OSError as error:
            raise InputError(
                f"Cannot write the checkpoint '{self.path}': "
                f"{error.strerror or error}; free some space, or choose another folder."
            ) from error
        return seed

    def _check_head(self, content: bytes, fingerprint: dict[str, Any]) -> int:
        try:
            document = json.loads(content)
            saved, seed = document["fingerprint"], int(document["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"The checkpoint '{self.path}' is damaged and cannot be resumed; "
                f"{ADVICE}"
            ) from error
        check_same_run(self.path, saved, fingerprint, ADVICE)
        return seed

    def _unpack(self, content: bytes) -> tuple[str, Any]:
        try:
            name, value = unpack_value(content)
        except FileFormatError as error:
            raise InputError(
                f"The checkpoint '{self.path}' is damaged and cannot be resumed: "
                f"{error} Delete the file to start again."
            ) from error
        return name, value

    def _read_record(self) -> bytes | None:
        """The next record; None at the end, where an incomplete one is removed."""
        file = self._file
        assert file is not None
        place = file.tell()
        head = file.read(_HEAD.size)
        if len(head) == _HEAD.size:
            length, check = _HEAD.unpack(head)
            left = os.fstat(file.fileno()).st_size - file.tell()
            content = file.read(length) if length <= left else b""
            if len(content) == length and crc32(content) == check:
                return content
            if place + _HEAD.size + length < os.fstat(file.fileno()).st_size:
                raise InputError(
                    f"The checkpoint '{self.path}' is damaged: result "
                    f"{self.n_recalled + 1} was changed. Delete the file to start "
                    "again."
                )
        if len(head):
            file.truncate(place)
        return None

    def _write_record(self, content: bytes) -> None:
        """Append a record; without space on the disk the fit goes on without."""
        assert self._file is not None
        try:
            self._file.write(_record(content))
            self._file.flush()
        except OSError as error:
            self.close()
            warnings.warn(
                f"The checkpoint '{self.path}' cannot be written any more: "
                f"{error.strerror or error}. The fit goes on; if it is interrupted, it "
                f"can be resumed from result {self.n_recalled + self.n_written}.",
                RuntimeWarning,
                stacklevel=3,
            )
            return
        self.n_written += 1


def _record(content: bytes) -> bytes:
    return _HEAD.pack(len(content), crc32(content)) + content
