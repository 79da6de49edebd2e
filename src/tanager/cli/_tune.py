"""``tanager tune``."""

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


def _checked_share(_: click.Context, __: click.Parameter, share: float) -> float:
    if not 0 < share < 1:
        raise click.BadParameter(f"must be between 0 and 1, got {share:g}.")
    return share


@click.command(short_help="Find the best settings of a classifier and fit it.")
@click.argument("data")
@target_option
@click.option(
    "-m",
    "--model",
    default="TAN-CMI-HYB",
    show_default=True,
    metavar="NAME",
    help="Method that is trained in epochs, such as those that end in -HYB or -MM.",
)
@click.option(
    "-n",
    "--settings",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Settings to try; the first is that of the method itself.",
)
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Epochs of the last round and of the final fit.  [default: the method's own]",
)
@click.option(
    "--held-out",
    type=float,
    callback=_checked_share,
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="Share of the rows of every class to validate on.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File for the best setting, fitted to all rows: .json, .bif or .xmlbif.",
)
@click.option(
    "--results",
    metavar="FILE",
    help="Write the result of every training (CSV, Parquet or Arrow).",
)
@model_options
@weights_option
@data_options
@progress_option
@quiet_option
def tune(
    data: str,
    target: str | None,
    model: str,
    settings: int,
    epochs: int | None,
    held_out: float,
    output: str | None,
    results: str | None,
    weights: str | None,
    seed: int,
    jobs: int,
    progress: bool,
    quiet: bool,
    delimiter: str | None,
    missing: tuple[str, ...],
    **options: Any,
) -> None:
    """Find the best settings of a classifier on DATA, and fit it with them.

    DATA is a file, "-" for CSV from standard input, or the name of a data set such
    as iris. Settings of the loss (lambda, gamma, eta) and the rate of the steps are
    drawn at random and trained on a part of the rows for a few epochs; the better
    third of them goes on with three times as many, and so on. Errors are those on the
    other rows.

    \b
    tanager tune data.csv --target class --model TAN-CMI-HYB -o model.json
    """  # noqa: D301
    from time import perf_counter

    from tanager.classifiers import BayesNetClassifier, tuning_space
    from tanager.cli._data import load_training_data
    from tanager.cli._models import make_model
    from tanager.cli._output import Progress, counted, progress_shown, say
    from tanager.cli._show import wrote_text
    from tanager.cli._tuning import Search, validation_split
    from tanager.cli._tuning_results import legend_text, result_columns, summary_text
    from tanager.io import write_table

    tuning_space(BayesNetClassifier.from_name(model))  # nothing to tune fails now
    _check_outputs(output, results, model, data)
    rows = load_training_data(
        data,
        target,
        weights,
        delimiter=delimiter,
        missing=missing,
        categorical=options["categorical"],
        quiet=quiet,
    )
    classifier = make_model(model, rows.features.names, seed=seed, jobs=jobs, **options)
    search = Search(classifier, settings, seed, epochs)
    split = validation_split(rows.labels, held_out, seed)
    if results != "-":
        held = counted(len(split[1]), "row")
        click.echo(f"{rows.name}: {rows.size}\n{model}: {search.plan}")
        click.echo(f"validated on {held}, seed {seed}\n")
    n_runs = search.plan.n_runs
    started = perf_counter()
    with Progress(n_runs, progress_shown(quiet, progress)) as shown:
        ranked = search.run(rows, split, jobs, shown)
    seconds = perf_counter() - started
    best = ranked[0]
    if results is not None:
        origin = {"data": rows.name, "model": model, "seed": seed}
        columns = {name: [value] * n_runs for name, value in origin.items()}
        columns |= result_columns(search.titles, ranked, *map(len, split))
        write_table(results, columns)
    if results != "-":
        click.echo(summary_text(search.titles, ranked))
        click.echo("\n" + legend_text(search.titles, ranked))
    say(f"Trained {counted(n_runs, 'time')} in {seconds:.2f} s.", quiet=quiet)
    if results is not None and results != "-":
        say(f"Wrote {results}: {counted(n_runs, 'row')}.", quiet=quiet)
    if output is not None:
        final = search.classifier(best)
        say(f"Fitting {model} with setting {best.number} to all rows.", quiet=quiet)
        started = perf_counter()
        final.fit(rows.features, rows.labels, sample_weight=rows.weights)
        seconds = perf_counter() - started
        final.save(output)
        say(wrote_text(final, output, seconds), quiet=quiet)


def _check_outputs(
    output: str | None, results: str | None, model: str, data: str
) -> None:
    """Make sure, before long work, that all files can be written."""
    from tanager.cli._data import check_table_output
    from tanager.cli._models import check_model_output

    if output is not None:
        check_model_output(output, model, data)
    if results is not None:
        check_table_output(results, data)
        if results == output:
            raise click.UsageError(
                f"--output and --results are both {output}; give two names."
            )
