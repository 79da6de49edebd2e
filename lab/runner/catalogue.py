"""The experiments that can be run, read from the folder of their paper.

``papers/su2008/paper.toml`` names the paper, lists that several grids share, and its
tables and figures; the published numbers are CSV files in the same folder. Parameters
that do not form a grid are ``rows`` of a part: a list, or a CSV file with a column for
every parameter, in which an empty entry is left to the measurement. ``@saved`` stands
for the cells that a command of its own has planned and saved. Studies of our own
are ``studies/NAME/study.toml``, in the same form. The table ``absent`` lists what
cannot be reproduced, with the reason.
"""

from __future__ import annotations

import csv
import difflib
import functools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from lab.runner.cell import Value
from lab.runner.experiment import Experiment, Part
from lab.runner.results import read
from tanager import InputError

FILES = {"papers": "paper.toml", "studies": "study.toml"}
"""Kinds of collections: the folder, and the file that describes one of them."""


@dataclass(frozen=True)
class Paper:
    """A paper and those of its tables and figures that can be reproduced.

    Parameters
    ----------
    name : str
        Such as ``su2008``.
    title : str
        Authors, title and year.
    experiments : tuple of Experiment
        In the order of the paper.
    absent : mapping from str to str
        Tables and figures that cannot be reproduced, and why.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    absent: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def paper(name: str) -> Paper:
    """Read what is known of a paper.

    Examples
    --------
    >>> paper("su2008").experiments[0].full_name
    'su2008/table1'
    """
    kind = "studies" if name in studies() else "papers"
    folder = resources.files("lab") / kind / name
    content = tomllib.loads((folder / FILES[kind]).read_text("utf-8"))
    lists = content.get("lists", {})
    made: dict[str, Experiment] = {}
    for entry in content["experiments"]:
        entry = dict(entry)
        saved = f"{name}/{entry['name']}.cells.csv"
        named = {**lists, "saved": functools.partial(_saved_parameters, saved)}
        parts = tuple(_part(one, named, folder) for one in entry.pop("parts", ()))
        if (other := entry.get("cells_of")) is not None:
            parts = made[other].parts
        published = entry.pop("published", None)
        rows = [] if published is None else _rows(folder, published)
        options = _resolve(entry.pop("options", {}), lists)
        made[entry["name"]] = Experiment(
            paper=name,
            parts=parts,
            published=tuple(rows),
            differs=tuple(entry.pop("differs", ())),
            options=options,
            **entry,
        )
    absent = content.get("absent", {})
    return Paper(name, content["title"], tuple(made.values()), absent)


def papers() -> tuple[str, ...]:
    """Names of all papers, by year."""
    return tuple(sorted(_collections("papers"), key=lambda name: (name[-4:], name)))


def studies() -> tuple[str, ...]:
    """Names of all studies of our own."""
    return tuple(sorted(_collections("studies")))


@functools.cache
def _collections(kind: str) -> list[str]:
    """Folders of a kind that have the file which describes them."""
    folder = resources.files("lab") / kind
    return [one.name for one in folder.iterdir() if (one / FILES[kind]).is_file()]


def experiments() -> dict[str, Experiment]:
    """All experiments by full name: those of papers by year, then those of studies."""
    names = (*papers(), *studies())
    every = (one for name in names for one in paper(name).experiments)
    return {one.full_name: one for one in every}


def find(names: Sequence[str]) -> list[Experiment]:
    """Experiments by name, each once: ``su2008/table1``, or ``su2008`` for all of it.

    Raises
    ------
    InputError
        If there is no such paper, table or figure; the nearest ones are named.

    Examples
    --------
    >>> [one.name for one in find(["su2008/table1"])]
    ['table1']
    """
    known = experiments()
    found: dict[str, Experiment] = {}
    for name in names:
        if name in known:
            found[name] = known[name]
        elif name in (*papers(), *studies()):
            found |= {one.full_name: one for one in paper(name).experiments}
        else:
            raise _unknown(name, list(known))
    return list(found.values())


def _unknown(name: str, known: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(
        name, [*known, *papers(), *studies()], n=3, cutoff=0.4
    )
    of_paper = [one for one in known if one.startswith(name.partition("/")[0] + "/")]
    hint = near or of_paper[:3]
    if not hint:
        return InputError(
            f"There is no paper {name!r}; known are {', '.join(papers())}, and the "
            f"studies {', '.join(studies())}. "
            "`python -m lab reproduce --list` names all tables and figures."
        )
    return InputError(
        f"There is no experiment {name!r}; did you mean {_either(hint)}? "
        "`python -m lab reproduce --list` names all tables and figures."
    )


def _either(names: Sequence[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


def _part(
    entry: Mapping[str, Any], lists: Mapping[str, Any], folder: Traversable
) -> Part:
    quick = entry.get("quick")
    if quick is not None:
        quick = {name: _listed(value, lists) for name, value in quick.items()}
        if "rows" in quick:
            quick["rows"] = _settings(folder, quick["rows"], lists)
    grid = entry.get("grid", {})
    return Part(
        entry["measurement"],
        {name: _listed(value, lists) for name, value in grid.items()},
        entry.get("fixed", {}),
        quick,
        _settings(folder, entry["rows"], lists) if "rows" in entry else ({},),
    )


def _saved_parameters(file: str) -> list[dict[str, Value]]:
    """Parameters of all cells of a file of results, also of those without numbers."""
    path = Path(str(resources.files("lab") / "results")) / file
    if not path.is_file():
        return []  # before the first run
    saved = read(path)
    return [dict(cell.parameters) for cell in (*saved.cells, *saved.missing)]


def _rows(folder: Traversable, name: str) -> list[dict[str, str]]:
    """Rows of a CSV file, whose comments begin with #."""
    lines = (folder / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if line[:1] != "#"))


def _settings(
    folder: Traversable, rows: Any, lists: Mapping[str, Any]
) -> tuple[dict[str, Value], ...]:
    """Parameters that go together: given in place, or by the name of a CSV file.

    Entries of a file are JSON where they can be read as such, else text.
    """
    rows = _listed(rows, lists)
    if not isinstance(rows, str):
        return tuple(rows)
    return tuple(
        {key: _value(text) for key, text in row.items() if text}
        for row in _rows(folder, rows)
    )


def _value(text: str) -> Value:
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    return value


def _resolve(value: Any, lists: Mapping[str, Any]) -> Any:
    """Options with lists in the place of their names, at any depth."""
    if isinstance(value, dict):
        return {key: _resolve(one, lists) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolve(one, lists) for one in value]
    return _listed(value, lists)


def _listed(value: Any, lists: Mapping[str, Any]) -> Any:
    """A list by its name, after an @; everything else as it is."""
    if isinstance(value, str) and value.startswith("@"):
        named = lists[value[1:]]
        return named() if callable(named) else named
    return value
