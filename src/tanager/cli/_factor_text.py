"""One factor as text: a curve of one feature, grids of two or three."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from textwrap import wrap

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from tanager.cli._factor_effects import Effects, make_effects
from tanager.cli._terminal import terminal_width
from tanager.loglinear.fitted_factors import FactorTable
from tanager.model.schema import Schema, Variable
from tanager.network import LogLinearNetwork
from tanager.types import FloatArray
from tanager.utils.text import one_line, pluralise, shorten, table_text

TextArray = npt.NDArray[np.object_]

WIDTH = 100
"""Columns to fill where the width of the terminal is not known."""

MAX_ROWS = {1: 20, 2: 20, 3: 12}
"""Lines of a curve or a grid, by the number of features."""

MAX_GRIDS = 6
"""Bins of the first of three features, each of which has a grid."""

MAX_CLASSES = {2: 2, 3: 1}
"""Classes of which grids of two and three features are shown."""

MAX_LABEL = 32
"""Characters of the name of a bin or feature at the left."""

MAX_COLUMN, MAX_TITLE = 10, 4
"""Characters and lines of the name of a bin above a column."""

BAR = 18
"""Characters of the longest bar to one side of zero."""

EXAMPLES = 3
"""Other factors of a feature that are named."""


def factor_text(
    network: LogLinearNetwork, text: str, *, everything: bool = False
) -> str:
    """Lay out the factor over the features in `text`, which are separated by commas.

    The name of the class stands for the weights without any feature. `everything`
    prints all classes and bins, on lines of any length.
    """
    schema = network.schema
    names = split_names(text, schema)
    if names == [schema.target_variable.name]:
        return _prior_text(network)
    table = network.factor(*names)
    n_axes = len(table.factor.axes)
    width = terminal_width() or WIDTH
    effects = make_effects(table, schema)
    if not everything:
        n_classes = MAX_CLASSES.get(n_axes) or _classes_that_fit(
            effects, schema.target_variable, width
        )
        effects = make_effects(table, schema, n_classes)
    effects = _arrange(effects)
    shown = effects if everything else _merge(effects, width)
    lay_out = _curve_lines if n_axes == 1 else _grid_lines
    head = [_title(network, table), _meaning(schema.target_variable, shown)]
    notes = _notes(network, table, effects, shown, width)
    return "\n".join([*head, "", *lay_out(shown, schema.target_variable), *notes])


def split_names(text: str, schema: Schema) -> list[str]:
    """Names separated by commas; a name that has commas itself is kept whole."""
    names, parts = [], text.split(",")
    while parts:
        for count in range(len(parts), 0, -1):
            name = ",".join(parts[:count]).strip()
            if name in schema.position:
                break
        names.append(name)
        del parts[:count]
    return names


def bins_text(effects: Effects) -> str:
    """Number of bins along every axis."""
    return " x ".join(str(len(states)) for states in effects.states)


def bin_label(variable: Variable, codes: Sequence[int], width: int) -> str:
    """Name a bin by the codes of its states: an interval, or categories."""
    if codes[0] == variable.n_states:
        return "not observed" if variable.missing_state else "missing"
    states = [one_line(str(variable.states[code])) for code in codes]
    if len(states) > 1 and variable.cuts is not None:
        return f"{states[0].partition(', ')[0]}, {states[-1].partition(', ')[2]}"
    if len(states) > 1 and variable.ordered:
        return shorten(f"{states[0]} to {states[-1]}", width)
    for count in range(len(states), 1, -1):
        more = f" and {len(states) - count} more" if count < len(states) else ""
        text = ", ".join(states[:count]) + more
        if len(text) <= width:
            return text
    more = f" and {len(states) - 1} more" if states[1:] else ""
    return shorten(states[0], width - len(more)) + more


def _arrange(effects: Effects) -> Effects:
    """Order the features for a curve or grids, and categories by similarity.

    Of three features the one with the fewest bins is the first: it has a grid for
    every bin. Of the others the longer one goes down, the shorter one across.
    """
    sizes = effects.support.shape
    order = sorted(range(len(sizes)), key=lambda place: (sizes[place], place))
    if len(order) > 1:
        order[-2:] = reversed(order[-2:])
    effects = effects.transpose(order)
    for place in range(len(order)):
        effects = effects.sort_categories(place)
    return effects


def _classes_that_fit(effects: Effects, target: Variable, width: int) -> int:
    """Number of classes whose columns fit in a curve of one feature."""
    names = [shorten(effects.variables[0].name, MAX_LABEL), *_labels(effects, 0)]
    longest = max(len(shorten(str(state), MAX_COLUMN)) for state in target.states)
    left = width - max(map(len, names)) - len("  Samples")
    return max(left // (max(longest, len("+0.00")) + 2), 1)


def _merge(effects: Effects, width: int) -> Effects:
    """Merge bins until the effects fit on a page."""
    n_axes = len(effects.variables)
    if n_axes == 1:
        return effects.merge(0, MAX_ROWS[1])
    if n_axes == 3:
        effects = effects.merge(0, MAX_GRIDS)
    effects = effects.merge(n_axes - 2, MAX_ROWS[n_axes])
    narrow, n_columns = effects, effects.support.shape[-1]
    while n_columns > 2 and max(map(len, _grids(narrow)[0])) > width:
        n_columns -= 1
        narrow = effects.merge(n_axes - 1, n_columns)
    return narrow


def _title(network: LogLinearNetwork, table: FactorTable) -> str:
    names = one_line(" x ".join(network.names_of(table)))
    bins = bins_text(make_effects(table, network.schema))
    return f"{names}: importance {table.importance:.3f}, {bins} bins"


def _meaning(target: Variable, shown: Effects) -> str:
    """What the numbers are."""
    if target.n_states == 2:
        return one_line(f"Log odds of {target.states[1]} against {target.states[0]}")
    n_shown = len(shown.classes)
    text = f"Log weights of {pluralise(n_shown, 'class')}, the strongest first"
    n_left = target.n_states - n_shown
    return f"{text}; {n_left} others are left out" if n_left else text


def _notes(
    network: LogLinearNetwork,
    table: FactorTable,
    effects: Effects,
    shown: Effects,
    width: int,
) -> list[str]:
    """What was merged or left out, and where else the features have an effect."""
    notes = []
    if shown.support.size < effects.support.size:
        sizes = zip(
            effects.variables, effects.support.shape, shown.support.shape, strict=True
        )
        merged = ", ".join(f"{v.name} {n} to {m}" for v, n, m in sizes if m < n)
        notes.append(
            f"Similar neighbouring bins are merged ({merged}): values within one "
            f"differ by at most {shown.spread:.2g}. --all prints every bin."
        )
    elif len(shown.classes) < network.schema.n_classes > 2:
        notes.append("--all prints every class.")
    if len(shown.variables) > 1 and not shown.support.all():
        notes.append("A dot marks cells without training samples.")
    names = set(network.names_of(table))
    others = [
        one_line(" x ".join(network.names_of(other)))
        for other in network.by_importance()
        if other is not table and names & set(network.names_of(other))
    ]
    if others:
        more = f" and {len(others) - EXAMPLES} more" if others[EXAMPLES:] else ""
        notes.append(f"Also see {', '.join(others[:EXAMPLES])}{more}.")
    if not notes:
        return []
    return ["", *(line for note in notes for line in wrap(note, width))]


def _prior_text(network: LogLinearNetwork) -> str:
    """The weights of the classes without any feature."""
    target, prior = network.schema.target_variable, network.factors.log_prior
    rows = [
        [shorten(str(state), MAX_LABEL), f"{p:.4f}", f"{weight:+.3f}"]
        for state, p, weight in zip(target.states, softmax(prior), prior, strict=True)
    ]
    title = one_line(f"{target.name}: the classes without any feature")
    head = [shorten(target.name, MAX_LABEL), "P", "Log weight"]
    return "\n".join([title, "", table_text(head, rows, right=[1, 2])])


def _curve_lines(shown: Effects, target: Variable) -> list[str]:
    """A line for every bin of one feature, with a bar if there are two classes."""
    (variable,) = shown.variables
    two = target.n_states == 2
    titles = ["Log odds"] if two else [str(target.states[k]) for k in shown.classes]
    head = [variable.name, "Samples", *titles]
    texts = _number_texts(shown.values)
    rows = [
        [label, f"{samples:,.0f}", *numbers]
        for label, samples, numbers in zip(
            _labels(shown, 0), shown.support, texts, strict=True
        )
    ]
    head = [shorten(head[0], MAX_LABEL), *(shorten(t, MAX_COLUMN) for t in head[1:])]
    right = range(1, len(head))
    if two:
        head.append("")
        for row, bar in zip(rows, bar_texts(shown.values[:, 0]), strict=True):
            row.append(bar)
    return table_text(head, rows, right=right).splitlines()


def bar_texts(values: FloatArray) -> list[str]:
    """Values as bars to the left or right of zero."""
    longest = float(np.abs(values).max(initial=0.0)) or 1.0
    lengths = [round(BAR * value / longest) for value in values.tolist()]
    return [f"{'-' * -length:>{BAR}}|{'+' * length}" for length in lengths]


def _grid_lines(shown: Effects, target: Variable) -> list[str]:
    """A grid for every class, and for every bin of the first of three features."""
    classes = [f"{target.name}: {target.states[code]}" for code in shown.classes]
    bins = [""]
    if len(shown.variables) == 3:
        bins = [f"{shown.variables[0].name}: {label}" for label in _labels(shown, 0)]
    titles = [
        one_line(f"{own}{', ' if one else ''}{one}" if target.n_states > 2 else one)
        for own in classes
        for one in bins
    ]
    lines = []
    for title, grid in zip(titles, _grids(shown), strict=True):
        lines += [*([title] if title else ()), *grid, ""]
    return lines[:-1]


def _grids(shown: Effects) -> list[list[str]]:
    """Rows of numbers below the names of the columns, for every grid.

    The columns of all grids have the same width.
    """
    down, across = shown.variables[-2:]
    texts = _number_texts(shown.values)
    texts[shown.support == 0] = "."
    # One grid after the other, the classes first.
    blocks = np.moveaxis(texts, -1, 0).reshape(-1, *shown.support.shape[-2:])
    labels = _labels(shown, -2)
    titles = [_title_lines(label) for label in _labels(shown, -1)]
    head = [["", *row] for row in zip(*titles, strict=True)]
    head[-1][0] = shorten(down.name, MAX_LABEL)
    cells = [
        [label, *row]
        for block in blocks.tolist()
        for label, row in zip(labels, block, strict=True)
    ]
    table = table_text(head[0], [*head[1:], *cells], right=range(1, len(head[0])))
    lines = table.splitlines()
    above = [line for line in lines[: len(head)] if line]
    indent = max(map(len, [head[-1][0], *labels])) + 2
    above.insert(0, " " * indent + one_line(across.name))
    rows = lines[len(head) :]
    size = len(labels)
    return [[*above, *rows[k : k + size]] for k in range(0, len(rows), max(size, 1))]


def _title_lines(label: str) -> list[str]:
    """The name of a bin on several short lines, the first ones empty if possible."""
    lines = wrap(label, MAX_COLUMN)
    if len(lines) > MAX_TITLE:
        lines = [*lines[: MAX_TITLE - 1], "..."]
    return [""] * (MAX_TITLE - len(lines)) + lines


def _labels(shown: Effects, place: int) -> list[str]:
    variable = shown.variables[place]
    return [bin_label(variable, codes, MAX_LABEL) for codes in shown.states[place]]


def _number_texts(values: FloatArray) -> TextArray:
    """Numbers with two digits of the largest one, and at least two decimals."""
    largest = float(np.abs(values).max(initial=0.0))
    digits = min(max(1 - floor(log10(largest)), 2), 4) if largest > 0 else 2
    texts = [f"{value:+.{digits}f}" for value in values.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(values.shape)
