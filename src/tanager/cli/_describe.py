"""``tanager describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tanager.cli._options import (
    categorical_option,
    data_options,
    date_parts_option,
    drop_option,
    quiet_option,
    target_option,
)

if TYPE_CHECKING:
    from tanager.encoding.table_description import (
        ColumnDescription,
        Problem,
        TableDescription,
    )


@click.command(short_help="Show how the columns of data are understood.")
@click.argument("data")
@target_option
@categorical_option
@date_parts_option
@drop_option
@data_options
@quiet_option
def describe(
    data: str,
    target: str | None,
    categorical: tuple[str, ...],
    date_parts: tuple[str, ...] | None,
    drop: tuple[str, ...],
    quiet: bool,
    **reading: Any,
) -> None:
    """Show the columns of DATA as a classifier understands them.

    For every problem there is a suggestion: columns that identify samples, numbers and
    dates that are read as text, codes of categories, columns without information.

    \b
    tanager describe data.csv --target class
    """  # noqa: D301
    from tanager.cli._input_data import drop_columns, load_data
    from tanager.encoding.table_description import describe as describe_table
    from tanager.errors import unknown_name

    texts = [*categorical, *([] if target is None else [target])]
    rows = load_data(data, reading, texts, quiet=quiet, odd=True)
    target = target or rows.target
    table = drop_columns(rows.table, drop)
    if target is not None and target not in table.names:
        raise unknown_name("target column", target, table.names)
    found = describe_table(table, target, date_parts=date_parts)
    click.echo(found.table())
    lines = suggestion_lines(found)
    if lines:
        click.echo("\nSuggestions:")
        for line in lines:
            click.echo(line)


def suggestion_lines(found: TableDescription) -> list[str]:
    """A line for every problem, with the option that mends it."""
    from tanager.utils.text import one_line

    lines = []
    for row in found.descriptions:
        for problem in row.problems:
            remedy = _remedy(row, problem)
            lines.append(f"  {one_line(row.name)}: {one_line(problem.text)}; {remedy}.")
    return lines


def _remedy(row: ColumnDescription, problem: Problem) -> str:
    """The option of the command line, or else what to do in Python."""
    import shlex

    name = shlex.quote(row.name)
    options = {
        "empty": f"--drop {name}",
        "constant": f"--drop {name}",
        "identifier": f"--drop {name}, or --categorical {name} to keep it",
        "serial": f"--drop {name} if they do",
        "codes": f"--categorical {name} if they are codes",
    }
    if problem.kind == "text":
        return (
            "--na TEXT names what means a missing value, --decimal the decimal sign, "
            f"--categorical {name} keeps the texts"
        )
    return options.get(problem.kind, problem.remedy)
