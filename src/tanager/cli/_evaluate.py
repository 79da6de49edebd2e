"""``tanager evaluate``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import (
    data_options,
    model_options,
    progress_option,
    quiet_option,
    target_option,
    weights_option,
)


@click.command(short_help="Compare classifiers by cross-validation.")
@click.argument("data")
@target_option
@click.option(
    "-m",
    "--models",
    default="NB-ML,TAN-CMI-ML,auto",
    show_default=True,
    metavar="NAMES",
    help="Methods, separated by commas; the others are compared with the first.",
)
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="K",
    help="Number of folds.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Repetitions of the cross-validation, each shuffled anew.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the result of every fold (CSV, Parquet or Arrow).",
)
@model_options
@weights_option
@data_options
@progress_option
@quiet_option
def evaluate(
    data: str,
    target: str | None,
    models: str,
    cv: int,
    repeats: int,
    seed: int,
    output: str | None,
    weights: str | None,
    progress: bool,
    quiet: bool,
    delimiter: str | None,
    missing: tuple[str, ...],
    **options: Any,
) -> None:
    """Compare classifiers on DATA by stratified cross-validation.

    DATA is a file, "-" for CSV from standard input, or the name of a data set such
    as iris. All classifiers see the same folds; bins are found anew in every fold.
    Rows without a class, for methods such as NB+EM, are only learned from.

    \b
    tanager evaluate data.csv --target class --models NB-ML,TAN-CMI-ML --cv 10
    """  # noqa: D301
    from functools import partial

    from tanager.cli._comparison import (
        compare,
        legend_text,
        make_splits,
        result_columns,
        summary_text,
    )
    from tanager.cli._data import check_table_output, load_training_data
    from tanager.cli._models import make_model, uses_unlabelled
    from tanager.cli._output import Progress, counted, progress_shown, say
    from tanager.io import write_table

    if output is not None:
        check_table_output(output, data)
    names = list(dict.fromkeys(name.strip() for name in models.split(",")))
    if "" in names:
        raise click.UsageError("--models has an empty name; separate names by commas.")
    unlabelled = [uses_unlabelled(name) for name in names]
    rows = load_training_data(
        data,
        target,
        weights,
        delimiter=delimiter,
        missing=missing,
        categorical=options["categorical"],
        unlabelled=all(unlabelled),
        quiet=quiet,
    )
    makers = {
        name: partial(make_model, name, rows.features.names, seed=seed, **options)
        for name in names
    }
    for make in makers.values():
        make()  # wrong options fail now
    splits, rare = make_splits(rows.labels, cv, repeats, seed)
    if rare:
        say(
            f"Note: fewer rows than the {cv} folds: {', '.join(rare)}; some folds have "
            "none of them.",
            quiet=quiet,
        )
    steps = len(splits) * len(makers)
    with Progress(steps, progress_shown(quiet, progress)) as shown:
        results = compare(rows, makers, splits, shown)
    if output is not None:
        write_table(output, result_columns(results, rows.name, seed))
    if output != "-":
        times = f"{cv}-fold cross-validation" + (
            f", {counted(repeats, 'repetition')}" if repeats > 1 else ""
        )
        click.echo(f"{rows.name}: {rows.size}\n{times}, seed {seed}\n")
        click.echo(summary_text(results) + "\n\n" + legend_text(names))
    if output is not None and output != "-":
        say(f"Wrote {output}: {counted(len(results), 'row')}.", quiet=quiet)
