"""Options of several commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def _split_parts(
    _: click.Context, __: click.Parameter, parts: str | None
) -> tuple[str, ...] | None:
    if parts is None:
        return None
    from tanager.encoding.date_parts import DATE_PARTS
    from tanager.errors import unknown_name

    found = tuple(part.strip() for part in parts.split(","))
    for part in found:
        if part not in DATE_PARTS:
            raise unknown_name("part of dates", part, DATE_PARTS)
    return found


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing but results and errors."
)
progress_option = click.option(
    "--progress",
    is_flag=True,
    help="Show progress even if standard error is not a terminal.",
)
target_option = click.option(
    "-t",
    "--target",
    metavar="COLUMN",
    help="Column of the classes; optional for datasets of the catalogue.",
)
paper_option = click.option(
    "--paper",
    metavar="PAPER",
    help="Settings of a paper, whose methods it must be: greiner2005, su2008, "
    "pernkopf2010 or roth2020.",
)
variable_option = click.option(
    "-t",
    "--target",
    metavar="VARIABLE",
    help="Variable to predict.  [default: the target of the model]",
)


def _check_jobs(_: click.Context, __: click.Parameter, jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise click.BadParameter(
            f"must be at least 1, or -1 for all cores, got {jobs}."
        )
    return jobs


def _check_delimiter(
    _: click.Context, __: click.Parameter, delimiter: str | None
) -> str | None:
    if delimiter is None:
        return None
    if delimiter == r"\t":  # what most shells make of a tab in quotes
        return "\t"
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise click.BadParameter(
            f"must be one character and no quote, or \\t for a tab, got {delimiter!r}."
        )
    return delimiter


categorical_option = click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="Numeric column to treat as categorical; may be repeated.",
)
date_parts_option = click.option(
    "--date-parts",
    metavar="PARTS",
    callback=_split_parts,
    help="Parts of dates that are features besides the dates: some of year, month, "
    "day, weekday and hour, with commas.",
)
drop_option = click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    help="Column to leave out; may be repeated.",
)
jobs_option = click.option(
    "--jobs",
    type=int,
    callback=_check_jobs,
    default=1,
    show_default=True,
    metavar="N",
    help="Number of threads; -1 means all cores. Results do not depend on it.",
)


def data_options(command: Command) -> Command:
    """Add the options that say how files are read, which `load_data` takes."""
    return _with(
        command,
        click.option(
            "--delimiter",
            metavar="CHAR",
            callback=_check_delimiter,
            help="Separator of fields in text files.  [default: found in the file]",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            help="Decimal sign in text files.  [default: found in the file]",
        ),
        click.option(
            "--missing",
            "--na",
            multiple=True,
            metavar="TEXT",
            help="Text that means a missing value, in addition to the empty field, and "
            "to '?', 'NA' and the like among numbers; may be repeated.",
        ),
        click.option(
            "--sheet",
            metavar="NAME",
            help="Sheet of an Excel file.  [default: the first]",
        ),
    )


def training_options(command: Command) -> Command:
    """Add the options of `make_model` and of training data, and those of output."""
    return _with(
        command,
        paper_option,
        click.option(
            "--encoder",
            type=click.Choice(["auto", "mdl", "width", "quantile", "categorical"]),
            default="auto",
            show_default=True,
            help="Discretisation of numeric features; 'categorical' makes each value a "
            "state, 'auto' depends on the method, or is that of the paper.",
        ),
        click.option(
            "--bins",
            type=int,
            metavar="N",
            help="Number of bins for 'width' and 'quantile'.",
        ),
        categorical_option,
        date_parts_option,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            metavar="N",
            help="Random seed.",
        ),
        drop_option,
        jobs_option,
        click.option(
            "--weights", metavar="COLUMN", help="Column of sample weights for fitting."
        ),
        data_options,
        progress_option,
        quiet_option,
    )


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
