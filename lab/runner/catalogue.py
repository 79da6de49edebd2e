"""The experiments that can be run, read from the folder of their paper.

``papers/su2008/paper.toml`` names the paper, lists that several grids share, and its
tables and figures; the published numbers are CSV files beside it. Parameters that are
no grid are such files, too: ``rows`` of a part names one with a column for every
parameter, in which an empty entry is left to the measurement.
"""

from __future__ import annotations

import csv
import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from lab.runner.cell import Value
from lab.runner.experiment import Experiment, Part
from tanager import InputError

FILE = "paper.toml"


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
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]


@cache
def paper(name: str) -> Paper:
    """Read what is known of a paper.

    Examples
    --------
    >>> paper("su2008").experiments[0].full_name
    'su2008/table1'
    """
    folder = resources.files("lab") / "papers" / name
    content = tomllib.loads((folder / FILE).read_text("utf-8"))
    lists = content.get("lists", {})
    made: dict[str, Experiment] = {}
    for entry in content["experiments"]:
        entry = dict(entry)
        parts = tuple(_part(one, lists, folder) for one in entry.pop("parts", ()))
        if (other := entry.get("cells_of")) is not None:
            parts = made[other].parts
        published = entry.pop("published", None)
        rows = [] if published is None else _rows(folder, published)
        made[entry["name"]] = Experiment(
            paper=name,
            parts=parts,
            published=tuple(rows),
            differs=tuple(entry.pop("differs", ())),
            **entry,
        )
    return Paper(name, content["title"], tuple(made.values()))


@cache
def papers() -> tuple[str, ...]:
    """Names of all papers, by year: those of the folders with a paper in it."""
    folder = resources.files("lab") / "papers"
    found = [one.name for one in folder.iterdir() if (one / FILE).is_file()]
    return tuple(sorted(found, key=lambda name: (name[-4:], name)))


def experiments() -> dict[str, Experiment]:
    """All experiments by full name, in the order of the papers."""
    every = (one for name in papers() for one in paper(name).experiments)
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
        elif name in papers():
            found |= {one.full_name: one for one in paper(name).experiments}
        else:
            raise _unknown(name, list(known))
    return list(found.values())


def _unknown(name: str, known: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(name, [*known, *papers()], n=3, cutoff=0.4)
    of_paper = [one for one in known if one.startswith(name.partition("/")[0] + "/")]
    hint = near or of_paper[:3]
    if not hint:
        return InputError(
            f"There is no paper {name!r}; known are {', '.join(papers())}. "
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
            quick["rows"] = _settings(folder, quick["rows"])
    grid = entry.get("grid", {})
    return Part(
        entry["measurement"],
        {name: _listed(value, lists) for name, value in grid.items()},
        entry.get("fixed", {}),
        quick,
        _settings(folder, entry["rows"]) if "rows" in entry else ({},),
    )


def _rows(folder: Traversable, name: str) -> list[dict[str, str]]:
    """Rows of a CSV file, whose comments begin with #."""
    lines = (folder / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if line[:1] != "#"))


def _settings(folder: Traversable, name: str) -> tuple[dict[str, Value], ...]:
    """Parameters of a file: what JSON can say is that, everything else is text."""
    return tuple(
        {key: _value(text) for key, text in row.items() if text}
        for row in _rows(folder, name)
    )


def _value(text: str) -> Value:
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    return value


def _listed(value: Any, lists: Mapping[str, Any]) -> Any:
    """A list by its name, after an @; everything else as it is."""
    if isinstance(value, str) and value.startswith("@"):
        return lists[value[1:]]
    return value
