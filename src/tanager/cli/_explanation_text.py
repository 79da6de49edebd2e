"""An explanation of one sample as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from tanager.cli._factor_text import bar_texts
from tanager.cli._terminal import line_width
from tanager.errors import CapabilityError
from tanager.explain import (
    Explanation,
    explain_samples,
    find_counterfactual,
    measure_typicality,
    rank_questions,
)
from tanager.model.schema import State
from tanager.network import AnyNetwork
from tanager.types import CodeArray
from tanager.utils.text import one_line, pluralise, shorten, table_text

SHOWN_TERMS = 20
"""Terms that have a line; the others are summed."""


def explanation_text(
    network: AnyNetwork,
    codes: CodeArray,
    label: str | None,
    by: str,
    immutable: Sequence[str],
    *,
    everything: bool,
) -> str:
    """Explain one sample, `codes` of shape (1, n_features): prediction, terms, notes.

    `label` is the text of a class, or None for the most probable one. The smallest
    change leads to this class, if it is not the most probable one.
    """
    codes = np.asfortranarray(codes)
    found = explain_samples(network, codes, by=by)
    by_text: dict[str, State] = {str(state): state for state in found.classes}
    p = found.probabilities[0]
    best = found.classes[int(p.argmax())]
    chosen: State = best if label is None else by_text.get(label, label)
    lines = _contributions(found, chosen, everything=everything)
    name = found.schema.target_variable.name
    title = f"{name} = {best}, probability {p.max():.3f}"
    notes = [
        _change(network, codes, immutable, None if chosen == best else chosen),
        _question(network, codes),
        _rarity(network, codes),
    ]
    width = line_width()
    for note in filter(None, notes):
        lines += wrap(one_line(note), width, subsequent_indent="  ")
    return "\n".join([one_line(title), "", *lines])


def _contributions(found: Explanation, label: State, *, everything: bool) -> list[str]:
    """A line for every term with a bar, the strongest first, and the sum."""
    prior, values = found.of_class(label)
    order = found.strongest(0, label)
    shown = order if everything else order[:SHOWN_TERMS]
    names = [found.label(0, int(t)) for t in shown]
    numbers = [prior, *values[0, shown].tolist()]
    others = order[len(shown) :]
    if len(others):
        noun = "feature" if all(len(term) == 1 for term in found.terms) else "term"
        names.append(f"{pluralise(len(others), f'other {noun}')}")
        numbers.append(float(values[0, others].sum()))
    bars = bar_texts(np.array(numbers))
    width = max(line_width() - max(map(len, bars)) - 14, 24)
    rows = [
        [shorten(name, width), _number(number), bar]
        for name, number, bar in zip(["prior", *names], numbers, bars, strict=True)
    ]
    rows.append(["sum", _number(prior + values[0].sum()), ""])
    two = len(found.classes) == 2
    title = f"Log weight of {label}"
    if two:
        other = next(state for state in found.classes if state != label)
        title = f"Log odds of {label} against {other}"
    table = table_text(["", "Log odds" if two else "Log weight", ""], rows, right=[1])
    positive = float(np.maximum(values[0], 0).sum())
    negative = float(np.minimum(values[0], 0).sum())
    evidence = (
        f"Evidence for {label}: {_number(positive)}, against: {_number(negative)}"
    )
    return [one_line(title), "", *table.splitlines(), "", one_line(evidence)]


def _number(value: float) -> str:
    """A number with its sign; zero is never negative."""
    return f"{round(float(value), 2) + 0.0:+.2f}"


def _change(
    network: AnyNetwork,
    codes: CodeArray,
    immutable: Sequence[str],
    target: State | None,
) -> str:
    """The smallest change to the class `target`, or to any other than the predicted."""
    try:
        found = find_counterfactual(
            network, codes[0], target=target, immutable=immutable
        )
    except CapabilityError as error:
        return f"Smallest change: not searched. {error}"
    if found.target is None:
        wanted = "another class" if target is None else target
        return (
            f"No change of up to {found.max_changes} features that are known leads to "
            f"{wanted}"
        )
    return f"Smallest change to {found.target}: {', '.join(map(str, found.changes))}"


def _question(network: AnyNetwork, codes: CodeArray) -> str:
    found = rank_questions(network, codes[0])
    if found.best is None:
        return ""
    gain = f"{found.gains[0]:.3f} of {found.entropy:.3f} nats"
    return f"Ask next for {found.best}: expected information gain {gain}"


def _rarity(network: AnyNetwork, codes: CodeArray) -> str:
    if not network.has_cpts:
        return ""
    found = measure_typicality(network, codes)
    return (
        f"Log likelihood {found.log_likelihood[0]:.2f}: percentile "
        f"{found.percentile[0]:.1f} of samples of the model"
    )
