"""What the scoreboard measures: tables of a folder, rivals, folds; in which order."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import product
from pathlib import Path

from lab.data_folder import Table, content_sum, describe_table, table_names
from lab.runner.cache import CellCache, Record
from lab.runner.cell import Cell
from lab.runner.limits import TIME_LIMIT, LimitedMeasure
from lab.runner.versions import code_version
from lab.scoreboard.rivals import RIVALS, find_rival

MEASUREMENT = "rival_scores"

LARGE = 5_000
"""Samples from which on a table is a large one."""

PRELOAD = (
    "lab.__main__",
    "lab.measurements",
    "lab.scoreboard.rivals",
    "scipy.stats",
    "sklearn.ensemble",
)
"""Modules that the processes of all cells have in common."""

NOT_YET = "not measured yet"


@dataclass(frozen=True)
class Plan:
    """The cells of a scoreboard in the order in which they are measured.

    Parameters
    ----------
    tables : tuple of Table
        From the cheapest to the most expensive one.
    left_out : mapping from str to str
        Further tables of the folder, and why they are left out.
    cells : tuple of Cell
        Small tables before those of `LARGE` samples and more, slow rivals after the
        others, and, where either is large or slow, the first fold before the others.
    """

    tables: tuple[Table, ...]
    left_out: Mapping[str, str]
    cells: tuple[Cell, ...]

    @property
    def rivals(self) -> list[str]:
        """Names of all rivals."""
        return list(dict.fromkeys(str(cell.parameters["rival"]) for cell in self.cells))

    @classmethod
    def of(
        cls,
        folder: Path,
        *,
        n_folds: int = 3,
        n_slow_folds: int = 1,
        rivals: Sequence[str] = (),
        tables: Sequence[str] = (),
    ) -> Plan:
        """Plan all tables of a folder and all rivals, or those that are named.

        Slow rivals are measured in the first `n_slow_folds` of the `n_folds` folds.
        """
        left_out = {} if tables else reasons_to_leave_out(table_names(folder))
        names = tables or [n for n in table_names(folder) if n not in left_out]
        every = sorted(map(describe_table, names), key=lambda table: table.cost)
        order = sorted(
            product(every, rivals or RIVALS, range(1, n_folds + 1)), key=_turn
        )
        cells = (
            Cell(
                MEASUREMENT,
                {"data": table.name, "rival": rival, "fold": fold, "n_folds": n_folds},
            )
            for table, rival, fold in order
            if fold <= n_slow_folds or not find_rival(rival).slow
        )
        return cls(tuple(every), left_out, tuple(cells))


def _turn(asked: tuple[Table, str, int]) -> tuple[bool, bool, bool, int, str, int]:
    """When a cell has its turn: what is cheap comes first."""
    table, rival, fold = asked
    large, slow = table.n_samples >= LARGE, find_rival(rival).slow
    return (large or slow) and fold > 1, slow, large, table.cost, table.name, fold


def reasons_to_leave_out(names: Sequence[str]) -> dict[str, str]:
    """Tables that are not measured, and why: copies, and those that are listed."""
    text = (resources.files("lab") / "scoreboard" / "left_out.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    listed = {row["data"]: row["reason"] for row in csv.DictReader(lines)}
    reasons, first = {}, dict[str, str]()
    for name in names:
        if name in listed:
            reasons[name] = listed[name]
        elif (other := first.setdefault(content_sum(name), name)) != name:
            reasons[name] = f"a copy of {other}"
    return reasons


@cache
def rival_version(rival: str) -> str:
    """The version of what measures a rival.

    For other libraries that is their version and a digest of the measurement, so that
    their cells stay as this library changes. An adapter that changes needs another
    name, or an empty cache.
    """
    entry = find_rival(rival)
    version = entry.version or "not installed"
    if entry.package == "tanager":
        return code_version()
    source = resources.files("lab") / "measurements" / f"{MEASUREMENT}.py"
    return f"{version}-{sha256(source.read_bytes()).hexdigest()[:8]}"


def cell_version(cell: Cell) -> str:
    """The version of what measures a cell."""
    return rival_version(str(cell.parameters["rival"]))


@dataclass(frozen=True)
class RivalMeasure:
    """What makes a record of a cell: within limits, or without measuring at all.

    A rival that reached the limit of time in the first fold is not measured in the
    others. A cell that another run with the same cache has measured in the meantime is
    not measured again.

    Parameters
    ----------
    limits : LimitedMeasure
        What measures within limits.
    cache : str
        Folder of the cells that are measured.
    """

    limits: LimitedMeasure
    cache: str

    def __call__(self, cell: Cell) -> Record:
        """Make the record of a cell."""
        known = CellCache(self.cache, code=cell_version).get(cell)
        if known is not None and known.numbers is not None:
            return known
        if (record := self._as_in_first_fold(cell)) is None:
            record = self.limits(cell)
        return replace(record, code=cell_version(cell))

    def stands(self, record: Record) -> bool:
        """Whether a failure is kept: not a limit that was lower than that of today."""
        error = record.error or ""
        return not error.startswith(TIME_LIMIT) or seconds_of(error) >= (
            self.limits.seconds
        )

    def _as_in_first_fold(self, cell: Cell) -> Record | None:
        if cell.parameters["fold"] == 1:
            return None
        first = Cell(cell.measurement, {**cell.parameters, "fold": 1})
        record = CellCache(self.cache, code=cell_version).get(first)
        if record is None or not (record.error or "").startswith(TIME_LIMIT):
            return None
        return replace(record, seconds=0.0) if self.stands(record) else None


def seconds_of(reason: str) -> float:
    """The limit that a reason names.

    Examples
    --------
    >>> seconds_of("time limit: more than 150 processor seconds")
    150.0
    """
    return float(reason.split("more than ")[1].split()[0])
