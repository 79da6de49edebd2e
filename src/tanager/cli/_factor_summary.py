"""Log-linear networks as text: their factors by importance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote

from tanager.cli._factor_effects import (
    effect_range,
    make_effects,
    strongest_classes,
)
from tanager.cli._factor_text import WIDTH, bins_text
from tanager.cli._terminal import terminal_width
from tanager.loglinear.fitted_factors import FactorTable
from tanager.network import LogLinearNetwork
from tanager.utils.text import one_line, pluralise, shorten, table_text

SHOWN_FACTORS = 40
"""Factors that are listed; the others are counted."""

SHOWN_CLASSES = 3
"""Classes of a factor with their range of effects, if there are more than two."""

MIN_NAME = 20
"""Characters left to the names of features on a narrow terminal."""

MAX_CLASS = 12
"""Characters of the name of a class."""


def factor_summary(network: LogLinearNetwork, *, everything: bool = False) -> str:
    """Describe a log-linear network: some lines, and a rating table of its factors.

    `everything` lists all factors, the most important ones first.
    """
    schema, width = network.schema, terminal_width() or WIDTH
    target = schema.target_variable
    states = ", ".join(str(state) for state in target.states)
    line = f"Class {target.name!r}: {pluralise(target.n_states, 'state')}: {states}"
    sizes = [pluralise(number, noun) for noun, number in network.sizes.items()]
    effective = ""
    if network.n_effective is not None:
        effective = f" ({network.n_effective:,.0f} effective)"
    tables = network.by_importance()
    listed = tables if everything else tables[:SHOWN_FACTORS]
    n_shown = 1 if target.n_states == 2 else min(SHOWN_CLASSES, target.n_states)
    rating = _rating(network, listed, n_shown)
    while n_shown > 1 and max(map(len, rating)) > width:
        n_shown -= 1
        rating = _rating(network, listed, n_shown)
    if not everything and (over := max(map(len, rating)) - width) > 0:
        rating = _rating(network, listed, n_shown, over)
    if len(listed) < len(tables):
        left = pluralise(len(tables) - len(listed), "factor")
        rating.append(f"and {left} of less importance; --all lists them")
    return "\n".join(
        [
            shorten(line, width),
            f"{pluralise(len(schema), 'variable')}, {', '.join(sizes)}{effective}",
            shorten(_sum_text(network), width),
            "",
            *rating,
            "",
            *_explanation(network, n_shown),
            *_unused(network, everything, width),
        ]
    )


def _rating(
    network: LogLinearNetwork,
    tables: Sequence[FactorTable],
    n_classes: int,
    over: int = 0,
) -> list[str]:
    """Titles, and a line for every factor; the longest name is cut by `over`."""
    names = [one_line(" x ".join(network.names_of(table))) for table in tables]
    length = max([MIN_NAME, *(len(name) - over for name in names)])
    columns = _columns(network, n_classes)
    rows = [
        [shorten(name, length), *(text(table) for _, text in columns)]
        for name, table in zip(names, tables, strict=True)
    ]
    head = ["Factor", *(title for title, _ in columns)]
    return table_text(head, rows, right=range(1, len(head))).splitlines()


def _columns(
    network: LogLinearNetwork, n_classes: int
) -> list[tuple[str, Callable[[FactorTable], str]]]:
    """Title and text of the columns after the name of a factor."""
    target = network.schema.target_variable
    columns: list[tuple[str, Callable[[FactorTable], str]]] = [
        ("Importance", lambda table: f"{table.importance:.3f}"),
        ("Effective", lambda table: _number_text(table.effective)),
        ("Bins", lambda table: bins_text(make_effects(table, network.schema, 1))),
    ]
    if target.n_states == 2:
        return [*columns, ("Log odds", lambda table: _range_text(table, 1))]
    states = [shorten(str(state), MAX_CLASS) for state in target.states]

    def class_column(place: int) -> Callable[[FactorTable], str]:
        def text(table: FactorTable) -> str:
            code = strongest_classes(table)[place]
            return f"{states[code]} {_range_text(table, code)}"

        return text

    titles = ["Log weights", *[""] * (n_classes - 1)]
    return [*columns, *((t, class_column(k)) for k, t in enumerate(titles))]


def _number_text(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _range_text(table: FactorTable, code: int) -> str:
    low, high = effect_range(table, code)
    return f"{low:+.2f} to {high:+.2f}"


def _sum_text(network: LogLinearNetwork) -> str:
    """How the factors give a probability."""
    states, prior = network.schema.target_variable.states, network.factors.log_prior
    if len(states) == 2:
        start = f"{prior[1] - prior[0]:.2f}"
        return f"Log odds of {states[1]} against {states[0]}: {start} + all factors"
    return "Log weight of a class: log prior + all factors; P is their softmax"


def _unused(network: LogLinearNetwork, everything: bool, width: int) -> list[str]:
    """A line with the features that are in no factor, if there are any."""
    names = network.unused_features
    if not names:
        return []
    line = one_line(f"Without a factor, of no effect: {', '.join(names)}")
    return [line if everything else shorten(line, width)]


def _explanation(network: LogLinearNetwork, n_shown: int) -> list[str]:
    """What the columns are."""
    n_classes = network.schema.n_classes
    of = "half the log odds" if n_classes == 2 else "the log weights"
    lines = [f"Importance: root mean square of {of} over the training samples."]
    if 2 < n_classes == n_shown:
        lines.append("Log weights: least and greatest of every class.")
    elif n_classes > 2:
        lines.append(
            f"Log weights: least and greatest, of the {n_shown} of {n_classes} classes "
            f"that vary most ({n_classes - n_shown} left out)."
        )
    if network.interactions:
        several = (t for t in network.by_importance() if len(t.factor.axes) > 1)
        name = quote(",".join(network.names_of(next(several))))
        lines.append(
            one_line(f"--table FEATURE prints a curve, --table {name} a grid.")
        )
    return lines
