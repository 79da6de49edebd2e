"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing but results and errors."
)
progress_option = click.option(
    "--progress",
    is_flag=True,
    help="Show progress also where standard error is no terminal.",
)
target_option = click.option(
    "-t",
    "--target",
    metavar="COLUMN",
    help="Column of the classes; data sets of the catalogue know theirs.",
)
weights_option = click.option(
    "--weights", metavar="COLUMN", help="Column of row weights for fitting."
)


def _checked_jobs(_: click.Context, __: click.Parameter, jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise click.BadParameter(
            f"must be at least 1, or -1 for all cores, got {jobs}."
        )
    return jobs


def _checked_delimiter(
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


jobs_option = click.option(
    "--jobs",
    type=int,
    callback=_checked_jobs,
    default=1,
    show_default=True,
    metavar="N",
    help="Threads; -1 means all cores. Results do not depend on it.",
)


def data_options(command: Command) -> Command:
    """Add the options that say how text files are read, under `load_data`'s names."""
    return _with(
        command,
        click.option(
            "--delimiter",
            metavar="CHAR",
            callback=_checked_delimiter,
            help="Separator of fields in text files.  [default: comma; tab for .tsv]",
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="A field that means missing, beside the empty one; may be repeated.",
        ),
    )


def model_options(command: Command) -> Command:
    """Add the options of `make_model`, under the names of its parameters."""
    return _with(
        command,
        click.option(
            "--encoder",
            type=click.Choice(["auto", "mdl", "width", "quantile", "categorical"]),
            default="auto",
            show_default=True,
            help="How numbers become bins; 'categorical' takes each as a state, 'auto' "
            "is what suits the method.",
        ),
        click.option(
            "--bins",
            type=int,
            metavar="N",
            help="Number of bins of 'width' and 'quantile'.",
        ),
        click.option(
            "--categorical",
            multiple=True,
            metavar="COLUMN",
            help="A column whose numbers are categories; may be repeated.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            metavar="N",
            help="Seed of all that is random.",
        ),
        jobs_option,
    )


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
