"""Tables whose rows and columns are chosen by the parameters of the cells."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.cell import Cell, Numbers
from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.line_chart import draw_lines
from lab.views.table import Table, View

Measured = Sequence[tuple[Cell, Numbers]]
AGGREGATES: dict[str, Any] = {"mean": np.mean, "median": np.median, "max": np.max}


class _Number(float):
    """A number whose format ``t`` shows seconds: two digits, 0 below a millisecond."""

    def __format__(self, spec: str) -> str:
        if spec == "t":
            return f"{float(self):.2g}" if self >= 0.001 else "0"
        return super().__format__(spec)


def crosstab(experiment: Experiment, results: Results) -> View:
    """One line for each combination of some parameters, and the columns asked for.

    Options of the experiment:

    - ``rows``: names of parameters; ``labels``: the first columns, as templates of
      them (``"{structure} {parameters}"``), with the titles ``head``.
    - ``columns``: tables with ``title``, ``text`` (a template of numbers, such as
      ``"{accuracy:.1f}"``) and optionally ``where`` (parameters of the cells; a list
      asks for all of its values, else the entry is empty), ``across`` (a parameter and
      values: one column for each), ``of`` (``mean``, ``median``, ``max``, or ``range``
      over a parameter named by ``over``), ``weights`` (a number to weight by),
      ``of_many`` (the template if there are several cells, with ``{error_spread}``),
      ``versus`` (parameters of cells to compare with: ``{better}`` counts the greater
      numbers), ``published`` (a column of the published file and what identifies its
      row) and ``blank_zero``.
    - ``percent``: numbers to multiply by 100. ``where``: cells of this table.
      ``sort``: whether lines are sorted. ``total``: label of a last line over all
      lines, which count alike.
    - ``figure``: see `draw_lines`.
    """
    options = experiment.options
    cells = [one for one in results if _matches(one[0], options.get("where", {}))]
    columns = list(_expand(options["columns"]))
    combinations = list(
        dict.fromkeys(tuple(c.parameters[p] for p in options["rows"]) for c, _ in cells)
    )
    if options.get("sort"):
        combinations.sort()
    lines = []
    for values in combinations:
        of_row = dict(zip(options["rows"], values, strict=True))
        group = [one for one in cells if _matches(one[0], of_row)]
        labels = [_fill(label, of_row) for label in options["labels"]]
        entries = [_entry(c, group, of_row, experiment) for c in columns]
        lines.append((*labels, *entries))
    if "total" in options:
        entries = [
            _entry(c, _row_means(c, cells, options["rows"]), {}, experiment)
            for c in columns
        ]
        lines.append((options["total"], *entries))
    head = (*options["head"], *(column["title"] for column in columns))
    draw = draw_lines(options["figure"], list(results)) if "figure" in options else None
    return View((Table("", head, tuple(lines)),), "", None, draw)


def _row_means(
    column: Mapping[str, Any], cells: Measured, rows: Sequence[str]
) -> Measured:
    """One cell for every line of the table, with the means of its numbers."""
    lines: dict[tuple[Any, ...], list[tuple[Cell, Numbers]]] = {}
    for one in cells:
        if _matches(one[0], column.get("where", {})):
            key = tuple(one[0].parameters[name] for name in rows)
            lines.setdefault(key, []).append(one)
    means = []
    for found in lines.values():
        shared = set.intersection(*(set(numbers) for _, numbers in found))
        mean = {
            name: float(np.mean([numbers[name] for _, numbers in found]))
            for name in shared
        }
        means.append((found[0][0], mean))
    return means


def _expand(columns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Columns, those with ``across`` once for every value."""
    for column in columns:
        one = dict(column)
        across = one.pop("across", None)
        if across is None:
            yield one
            continue
        ((name, values),) = across.items()
        for value in values:
            where = {**one.get("where", {}), name: value}
            yield {**one, "where": where, "title": _fill(one["title"], {name: value})}


def _entry(
    column: Mapping[str, Any],
    group: Measured,
    of_row: Mapping[str, Any],
    experiment: Experiment,
) -> str:
    if "published" in column:
        return _published(column, of_row, experiment)
    where = column.get("where", {})
    found = [one for one in group if _matches(one[0], where)]
    for name, values in where.items():
        if isinstance(values, list):
            there = {cell.parameters[name] for cell, _ in found}
            if not there.issuperset(values):
                return ""
    if not found:
        return ""
    percent = experiment.options.get("percent", ())
    if column.get("of") == "range":
        return _range(column, found, percent)
    numbers = {**_aggregate(column, found, percent), "cells": len(found)}
    if "versus" in column:
        numbers["better"] = _count_better(column, found, group)
    text = column.get("of_many", column["text"]) if len(found) > 1 else column["text"]
    names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    if not names <= numbers.keys():
        return ""
    if column.get("blank_zero") and not any(numbers[name] for name in names):
        return ""
    return str(text.format(**numbers))


def _aggregate(
    column: Mapping[str, Any], found: Measured, percent: Sequence[str]
) -> dict[str, float]:
    """Numbers that all cells have, summarised, and their standard deviations."""
    shared = set.intersection(*(set(numbers) for _, numbers in found))
    weights = None
    if "weights" in column:
        weights = [numbers[column["weights"]] for _, numbers in found]
    summary: dict[str, float] = {}
    for name in shared:
        values = np.array([numbers[name] for _, numbers in found], dtype=np.float64)
        values *= 100 if name in percent else 1
        if weights is None:
            mean = AGGREGATES[column.get("of", "mean")](values)
        else:
            mean = np.average(values, weights=weights)
        summary[name] = _Number(mean)
        summary[f"{name}_spread"] = _Number(values.std())
    return summary


def _range(column: Mapping[str, Any], found: Measured, percent: Sequence[str]) -> str:
    """The least and the greatest mean over the values of a parameter."""
    groups: dict[Any, list[tuple[Cell, Numbers]]] = {}
    for cell, numbers in found:
        groups.setdefault(cell.parameters[column["over"]], []).append((cell, numbers))
    name = column["number"]
    means = [_aggregate({}, group, percent).get(name) for group in groups.values()]
    known = [mean for mean in means if mean is not None]
    if not known:
        return ""
    ends = [column["text"].format(**{name: end}) for end in (min(known), max(known))]
    return " to ".join(dict.fromkeys(ends))


def _count_better(column: Mapping[str, Any], found: Measured, group: Measured) -> int:
    """Cells with a greater number than the cell with other parameters."""
    number, versus = column["number"], column["versus"]
    others: dict[tuple[Any, ...], Any] = {
        _key(cell, versus): numbers[number]
        for cell, numbers in group
        if _matches(cell, versus)
    }
    return sum(numbers[number] > others[_key(cell, versus)] for cell, numbers in found)


def _key(cell: Cell, without: Mapping[str, Any]) -> tuple[Any, ...]:
    """Parameters of a cell apart from some, in alphabetical order."""
    return tuple(v for k, v in sorted(cell.parameters.items()) if k not in without)


def _published(
    column: Mapping[str, Any], of_row: Mapping[str, Any], experiment: Experiment
) -> str:
    names = of_row | column.get("where", {})
    identity = {
        name: [_fill(one, names) for one in np.atleast_1d(templates)]
        for name, templates in column["published"].items()
    }
    (number,) = identity.pop("column")
    found = [
        float(row[number])
        for row in experiment.published
        if all(row[name] in values for name, values in identity.items())
    ]
    return str(column["text"].format(*found)) if found else ""


def _fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template; datasets are shown without the name of their collection."""
    shown = {
        name: value.rpartition("/")[2] if isinstance(value, str) else value
        for name, value in values.items()
    }
    return template.format(**shown)


def _matches(cell: Cell, parameters: Mapping[str, Any]) -> bool:
    for name, wanted in parameters.items():
        allowed = wanted if isinstance(wanted, list) else [wanted]
        if name not in cell.parameters or cell.parameters[name] not in allowed:
            return False
    return True
