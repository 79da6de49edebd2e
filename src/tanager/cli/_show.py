"""``tanager show``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tanager.core.schema import Variable
    from tanager.network import Network


@click.command(short_help="Look into a model file: variables, states, arcs, tables.")
@click.argument("model")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="VARIABLE",
    help="Print the probability table of a variable; may be repeated.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Print the whole of long tables."
)
@click.option("--dot", is_flag=True, help="Print the graph for Graphviz and no more.")
def show(model: str, tables: tuple[str, ...], everything: bool, dot: bool) -> None:
    """Look into the model file MODEL: variables, states, arcs, tables.

    \b
    tanager show model.json
    tanager show model.json --table class
    tanager show model.json --dot | dot -Tsvg > model.svg
    """  # noqa: D301
    from tanager.io import read_model

    found = read_model(model)
    if dot and tables:
        raise click.UsageError("--dot and --table do not go together; choose one.")
    if dot:
        click.echo(found.network.to_dot())
        return
    if tables:
        from tanager.cli._tables import probability_text

        shown = str if everything else probability_text
        texts = [shown(found.network.table(name)) for name in tables]
        click.echo("\n\n".join(texts))
        return
    about = found.classifier or {}
    kind = about.get("class", "Network")
    click.echo(f"{model}: {kind}, written by {found.written_by}\n")
    click.echo(summary(found.network))


def summary(network: Network) -> str:
    """Describe a network in a few lines and a table of its variables."""
    from tanager.cli._output import (
        PLAIN_WIDTH,
        counted,
        one_line,
        shortened,
        table_text,
        terminal_width,
    )

    schema = network.schema
    width = terminal_width()
    lines = []
    if schema.target is not None:
        target = schema.target_variable
        states = ", ".join(str(state) for state in target.states)
        line = f"Class {target.name!r}: {counted(target.n_states, 'state')}: {states}"
        lines.append(shortened(line, width or 100))
    sizes = {
        "variable": len(schema),
        "arc": len(network.edges),
        "parameter": network.n_parameters,
    }
    lines += [", ".join(counted(size, noun) for noun, size in sizes.items()), ""]
    head = ["Variable", "States", "", "Parents"]
    rows = [
        [
            one_line(variable.name),
            str(variable.n_states),
            shortened(_states(variable), 60),
            one_line(", ".join(network.parents(variable.name))) or "-",
        ]
        for variable in schema
    ]
    if width is None:
        # Nothing but the states is cut, to 80 columns if that leaves enough of them.
        lengths = [max(len(row[k]) for row in [head, *rows]) for k in range(4)]
        used = lengths[0] + lengths[1] + lengths[3] + 6
        for row in rows:
            row[2] = shortened(row[2], max(PLAIN_WIDTH - used, 24))
    else:
        # The columns share the terminal: three parts for each but the numbers.
        part = (width - 12) // 3
        for row in rows:
            row[0], row[2] = shortened(row[0], part), shortened(row[2], part)
        used = sum(max(len(row[k]) for row in rows) for k in (0, 2)) + 12
        for row in rows:
            row[3] = shortened(row[3], max(part, width - used))
    return "\n".join([*lines, table_text(head, rows, right=[1])])


def _states(variable: Variable) -> str:
    if variable.cuts:
        return "cut at " + ", ".join(f"{cut:.4g}" for cut in variable.cuts)
    if variable.cuts is not None:
        return "any number"
    return ", ".join(str(state) for state in variable.states)
