"""``tanager show``."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tanager.classifiers import BayesNetClassifier, BoostedClassifier
    from tanager.io import ModelFile
    from tanager.model.schema import Schema, Variable
    from tanager.network import AnyNetwork, Network


@click.command(short_help="Show a model file: variables, arcs, CPTs, factors.")
@click.argument("model")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="VARIABLE",
    help="Print the CPT of a variable, or the factor over a feature or over several, "
    "separated by commas; may be repeated.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print long CPTs in full, all factors, and all of their bins and classes.",
)
@click.option("--dot", is_flag=True, help="Print the graph for Graphviz only.")
@click.option(
    "--member",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show one network of a boosted model, counted from 1.",
)
def show(
    model: str, tables: tuple[str, ...], everything: bool, dot: bool, member: int | None
) -> None:
    """Show MODEL, a model file, BIF or XMLBIF: variables, arcs and CPTs, or factors.

    \b
    tanager show model.json
    tanager show model.json --table age --table age,education
    tanager show model.json --dot | dot -Tsvg > model.svg
    tanager show boosted.json --member 1
    """  # noqa: D301
    from tanager.cli._terminal import print_text
    from tanager.io import read_any

    found = read_any(model)
    if dot and tables:
        raise click.UsageError("--dot and --table do not go together; choose one.")
    if dot:
        print_text(select_network(found, model, member, "--dot").to_dot())
        return
    if tables:
        network = select_network(found, model, member, "--table")
        texts = [_table(network, name, everything) for name in tables]
        print_text("\n\n".join(texts))
        return
    about = found.classifier or {}
    kind = about.get("class", "Network")
    if member is not None:
        kind = f"network {member} of {kind}"
    if member is None and found.weights is not None:
        text = ensemble_summary(found.networks, found.weights)
    else:
        text = summary([select_network(found, model, member)], everything=everything)
    by = f", written by {found.written_by}" if found.written_by else ""
    print_text(f"{model}: {kind}{by}\n\n{text}")


def select_network(
    found: ModelFile, model: str, member: int | None, option: str = ""
) -> AnyNetwork:
    """The network to show; --member must choose one of several."""
    count = len(found.networks)
    if found.weights is None:
        if member is not None:
            raise click.UsageError(
                f"--member goes with boosted models; {model} holds one network."
            )
        return found.network
    if member is None and count > 1:
        raise click.UsageError(
            f"{model} holds {count} networks; choose the one for {option} with "
            f"--member N (1 to {count})."
        )
    member = member or 1
    if member > count:
        raise click.UsageError(
            f"--member must be at most {count}, the number of networks in {model}, got "
            f"{member}."
        )
    return found.networks[member - 1]


def _table(network: AnyNetwork, name: str, everything: bool) -> str:
    """A CPT as text, the tables of a family too large to write out, or a factor."""
    from tanager.cli._cpt_text import probability_text, sum_text
    from tanager.cli._factor_text import factor_text
    from tanager.errors import TableSizeError

    if not network.has_cpts:
        return factor_text(network, name, everything=everything)
    try:
        table = network.table(name)
    except TableSizeError:
        return sum_text(network, name, everything=everything)
    return str(table) if everything else probability_text(table)


def ensemble_summary(networks: Sequence[AnyNetwork], weights: Sequence[float]) -> str:
    """Describe an ensemble: its variables, and a line for each network."""
    from tanager.utils.text import table_text

    total = sum(weights)
    rows: list[list[str]] = []
    for network, weight in zip(networks, weights, strict=True):
        sizes = [f"{len(network.edges):,}", f"{network.n_parameters:,}"]
        vote = f"{100 * weight / total:.1f}"
        rows.append([str(len(rows) + 1), f"{weight:.4f}", vote, *sizes])
    head = ["Network", "Weight", "Vote %", "Arcs", "Parameters"]
    return summary(networks) + "\n\n" + table_text(head, rows, right=range(5))


def sizes_text(networks: Sequence[AnyNetwork]) -> str:
    """How many arcs or factors, and parameters, networks have together."""
    from collections import Counter

    from tanager.utils.text import pluralise

    totals: Counter[str] = Counter()
    for network in networks:
        totals.update(network.sizes)
    return ", ".join(pluralise(number, noun) for noun, number in totals.items())


def wrote_text(
    model: BayesNetClassifier | BoostedClassifier, output: str, seconds: float
) -> str:
    """Report that a fitted model was written, its size and the fit time."""
    from tanager.utils.text import pluralise

    size = sizes_text(model.networks_)
    if hasattr(model, "estimator_weights_"):
        size = f"{pluralise(len(model.networks_), 'network')}, {size}"
    return f"Wrote {output}: {size}, fitted in {seconds:.2f} s."


def summary(given: Sequence[AnyNetwork], *, everything: bool = False) -> str:
    """Describe networks over the same variables: some lines, a table of variables.

    A sum of factors has a table of these instead, of all if `everything`.
    """
    from tanager.cli._factor_summary import factor_summary
    from tanager.cli._terminal import terminal_width
    from tanager.utils.text import TEXT_WIDTH, one_line, pluralise, shorten, table_text

    if not given[0].has_cpts:
        return factor_summary(given[0], everything=everything)
    networks = [network for network in given if network.has_cpts]
    schema = networks[0].schema
    width = terminal_width()
    lines = []
    if schema.target is not None:
        target = schema.target_variable
        states = ", ".join(str(state) for state in target.states)
        line = f"Class {target.name!r}: {pluralise(target.n_states, 'state')}: {states}"
        lines.append(shorten(line, width or 100))
        matter = _matter_text(networks)
        if matter:
            # All names are shown: they are what one looks for here.
            lines += wrap(
                one_line(matter),
                max(width or 100, 40),
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    sizes = sizes_text(networks)
    if len(networks) > 1:
        sizes = f"{pluralise(len(networks), 'network')} with {sizes} in all"
    lines.append(f"{pluralise(len(schema), 'variable')}, {sizes}")
    layouts = [network.parameters.layout for network in networks]
    sums = sum(len(one.tables_of(v)) > 1 for one in layouts for v in range(len(schema)))
    if sums:
        are = "family is a sum" if sums == 1 else "families are sums"
        lines.append(f"{sums:,} {are} of smaller log tables")
    lines.append("")
    head = ["Variable", "States", "", "Parents"]
    rows = [
        [
            one_line(variable.name),
            str(variable.n_states),
            shorten(_states(variable), 60),
            one_line(parents),
        ]
        for variable, parents in zip(schema, _parents(schema, networks), strict=True)
    ]
    if width is None:
        # Nothing but the states is cut, to 80 columns if that leaves enough of them.
        lengths = [max(len(row[k]) for row in [head, *rows]) for k in range(4)]
        used = lengths[0] + lengths[1] + lengths[3] + 6
        for row in rows:
            row[2] = shorten(row[2], max(TEXT_WIDTH - used, 24))
    else:
        # The columns share the terminal: three parts for each but the numbers.
        part = (width - 12) // 3
        for row in rows:
            row[0], row[2] = shorten(row[0], part), shorten(row[2], part)
        used = sum(max(len(row[k]) for row in rows) for k in (0, 2)) + 12
        for row in rows:
            row[3] = shorten(row[3], max(part, width - used))
    return "\n".join([*lines, table_text(head, rows, right=[1])])


def _matter_text(networks: Sequence[Network]) -> str:
    """The features that the class depends on; empty if all of them."""
    from tanager.network.markov_blanket import features_that_matter

    names, n_features = features_that_matter(networks), len(networks[0].schema) - 1
    if len(names) == n_features:
        return ""
    if not names:
        return "Class depends on none of the features"
    count = f"{len(names):,} of {n_features:,} features"
    return f"Class depends on {count}: {', '.join(names)}"


def _parents(schema: Schema, networks: Sequence[Network]) -> list[str]:
    """Parents of every variable, where all networks agree on them."""
    texts = []
    for name in schema.names:
        found = {network.parents(name) for network in networks}
        texts.append((", ".join(found.pop()) or "-") if len(found) == 1 else "(differ)")
    return texts


def _states(variable: Variable) -> str:
    from tanager.model.schema import cut_texts

    missing = "missing or " if variable.missing_state else ""
    if variable.cuts:
        texts = [f"{cut:.4g}" for cut in variable.cuts]
        if variable.unit is not None:
            texts = cut_texts(variable.cuts, variable.unit)
        return f"{missing}cut at {', '.join(texts)}"
    if variable.is_left_out:
        return "left out"
    if variable.cuts is not None:
        return f"{missing}any number"
    return ", ".join(str(state) for state in variable.states)
