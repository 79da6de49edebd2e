"""The experiments that can be run, read from the folder of their paper.

``papers/su2008/paper.toml`` names the paper, lists that several grids share, and its
tables and figures; the published numbers are CSV files beside it.
"""

from __future__ import annotations

import csv
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from tanager.core.errors import InputError
from tanager.experiments.experiment import Experiment, Part

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
    folder = resources.files("tanager.experiments") / "papers" / name
    content = tomllib.loads((folder / FILE).read_text("utf-8"))
    lists = content.get("lists", {})
    made: dict[str, Experiment] = {}
    for entry in content["experiments"]:
        entry = dict(entry)
        parts = tuple(_part(one, lists) for one in entry.pop("parts", ()))
        if (other := entry.get("cells_of")) is not None:
            parts = made[other].parts
        published = entry.pop("published", None)
        rows: list[dict[str, str]] = []
        if published is not None:
            lines = (folder / published).read_text("utf-8").splitlines()
            rows = list(csv.DictReader(line for line in lines if line[:1] != "#"))
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
    folder = resources.files("tanager.experiments") / "papers"
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
            "`tanager reproduce --list` names all tables and figures."
        )
    return InputError(
        f"There is no experiment {name!r}; did you mean {_either(hint)}? "
        "`tanager reproduce --list` names all tables and figures."
    )


def _either(names: Sequence[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


def _part(entry: Mapping[str, Any], lists: Mapping[str, Any]) -> Part:
    quick = entry.get("quick")
    return Part(
        entry["measurement"],
        {name: _listed(value, lists) for name, value in entry["grid"].items()},
        entry.get("fixed", {}),
        None
        if quick is None
        else {name: _listed(value, lists) for name, value in quick.items()},
    )


def _listed(value: Any, lists: Mapping[str, Any]) -> Any:
    """A list by its name, after an @; everything else as it is."""
    if isinstance(value, str) and value.startswith("@"):
        return lists[value[1:]]
    return value
