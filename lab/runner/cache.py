"""Measured cells on the disk: a small file each, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.files import make_folder, write_text
from lab.runner.cell import Cell, Numbers, canonical, digest
from lab.runner.versions import code_version, data_version

VARIABLE = "TANAGER_CACHE"
"""Environment variable that names the folder of the cache."""


@dataclass(frozen=True)
class Record:
    """What became of a cell.

    Parameters
    ----------
    numbers : mapping or None
        What was measured; None if it failed.
    error : str or None
        Why it failed; None if it did not.
    seconds : float
        How long it took.
    code : str
        The version that measured it, see `lab.runner.versions.code_version`.
    """

    numbers: Numbers | None
    error: str | None
    seconds: float
    code: str


class CellCache:
    """Cells by what is measured, under which parameters, on which data, by which code.

    Several processes may use the same folder.

    Parameters
    ----------
    folder : path or None, default=None
        Where the files are. None means the environment variable TANAGER_CACHE, else
        the user's folder for such files.
    any_code : bool, default=False
        Also take cells that other versions of the code have measured, the newest one.
    code : callable or None, default=None
        The version of the code that measures a cell; None means that of the library
        and the lab, `code_version`, for all of them.

    Examples
    --------
    >>> import tempfile
    >>> cell = Cell("answer", {"question": 6 * 9})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = CellCache(folder)
    ...     cache.get(cell)
    ...     cache.put(cell, Record({"accuracy": 0.42}, None, 1.5, code_version()))
    ...     cache.get(cell).numbers
    {'accuracy': 0.42}
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        any_code: bool = False,
        code: Callable[[Cell], str] | None = None,
    ) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self.any_code = any_code
        self.code_of = code or _version_of_today

    def get(self, cell: Cell) -> Record | None:
        """What is known of a cell; None if nothing is, or its file cannot be read."""
        folder = self._folder(cell)
        record = _read(folder / f"{self.code_of(cell)}.json")
        if record is None and self.any_code and folder.is_dir():
            files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
            known = [_read(file) for file in reversed(files)]
            record = next((one for one in known if one and one.error is None), None)
        return record

    def codes(self, cells: Iterable[Cell]) -> list[str]:
        """The versions of the code that measured these cells, each once."""
        records = map(self.get, cells)
        return sorted({record.code for record in records if record is not None})

    def put(self, cell: Cell, record: Record) -> None:
        """Keep what became of a cell."""
        folder = self._folder(cell)
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "measurement": cell.measurement,
            "parameters": dict(cell.parameters),
            "data": {name: data_version(name) for name in cell.data},
            "code": record.code,
            "seconds": round(record.seconds, 3),
        }
        if record.error is None:
            content["numbers"] = dict(record.numbers or {})
        else:
            content["error"] = record.error
        write_text(folder / f"{record.code}.json", canonical(content) + "\n")

    def check(self) -> None:
        """Check that cells can be kept, before anything is measured.

        Raises
        ------
        InputError
            If the folder cannot be made or written to.
        """
        make_folder(self.folder, option=f"--cache or {VARIABLE}")

    def _folder(self, cell: Cell) -> Path:
        data = {name: data_version(name) for name in cell.data}
        key = digest([cell.text, data])
        return self.folder / key[:2] / key[2:34]


def _version_of_today(cell: Cell) -> str:  # noqa: ARG001
    """The version of the library and the lab, whatever is measured."""
    return code_version()


def default_folder() -> Path:
    """The folder of the cache where none is named."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tanager" / "cells"


def _read(file: Path) -> Record | None:
    """A record, None if there is none: a damaged file is measured again."""
    try:
        content: Any = json.loads(file.read_text("utf-8"))
        known: Mapping[str, Any] = {"numbers": None, "error": None, **content}
        return Record(
            known["numbers"],
            known["error"],
            float(known["seconds"]),
            str(known["code"]),
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):
        return None
