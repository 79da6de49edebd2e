"""``tanager tune``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import target_option, training_options


def _check_fraction(_: click.Context, __: click.Parameter, fraction: float) -> float:
    if not 0 < fraction < 1:
        raise click.BadParameter(f"must be between 0 and 1, got {fraction:g}.")
    return fraction


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
    help="Settings to try; the first is the method's own.",
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
    callback=_check_fraction,
    default=0.25,
    show_default=True,
    metavar="FRACTION",
    help="Fraction of the samples of every class in the validation set.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Model file for the best setting, fitted to all samples: .json, .bif or "
    ".xmlbif.",
)
@click.option(
    "--results",
    metavar="FILE",
    help="Write the result of every fit (CSV, Parquet or Arrow).",
)
@training_options
def tune(
    data: str,
    target: str | None,
    model: str,
    settings: int,
    epochs: int | None,
    held_out: float,
    output: str | None,
    results: str | None,
    progress: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Find the best settings of a classifier on DATA, and fit it with them.

    DATA is a file, "-" for CSV from standard input, or the name of a dataset such
    as iris. The search is a random search with successive halving: random settings of
    the loss (lambda, gamma, eta) and of the learning rate are trained for a few
    epochs, the best third of them for three times as many, and so on. They are
    compared by their error on a validation set.

    \b
    tanager tune data.csv --target class --model TAN-CMI-HYB -o model.json
    """  # noqa: D301
    from dataclasses import replace
    from time import perf_counter

    from tanager.classifiers import BayesNetClassifier, tuning_space
    from tanager.classifiers.tuning import tune as tune_model
    from tanager.cli._classifier_factory import check_model_output, make_model
    from tanager.cli._input_data import check_table_output, load_training_data
    from tanager.cli._show import wrote_text
    from tanager.cli._terminal import print_text, say, watch_work
    from tanager.io import write_table
    from tanager.utils.text import pluralise

    tuning_space(BayesNetClassifier.from_name(model))  # nothing to tune fails now
    if output is not None:
        check_model_output(output, model, data)
    if results is not None:
        check_table_output(results, data)
        if results == output:
            raise click.UsageError(
                f"--output and --results are both {output}; give two names."
            )
    rows = load_training_data(data, target, options, quiet=quiet)
    with watch_work("tune", quiet=quiet, progress=progress) as shown:
        result = tune_model(
            make_model(model, rows.features.names, options),
            rows.features,
            rows.labels,
            n_settings=settings,
            epochs=epochs,
            validation_fraction=held_out,
            sample_weight=rows.weights,
            refit=False,
            n_jobs=options["jobs"],
            random_state=options["seed"],
            name=rows.name,
            progress=shown.announce,
        )
    result = replace(result, model=model)
    if results is not None:
        write_table(results, result.columns())
    if results != "-":
        print_text(f"{rows.name}: {rows.size}\n{result.heading()}\n")
        print_text(result.table("--results writes all") + "\n\n" + result.legend())
    n_fits = result.schedule.n_fits
    say(f"Trained {pluralise(n_fits, 'time')} in {result.seconds:.2f} s.", quiet=quiet)
    if results is not None and results != "-":
        say(f"Wrote {results}: {pluralise(n_fits, 'row')}.", quiet=quiet)
    if output is not None:
        number = result.best.number
        say(f"Fitting {model} with setting {number} to all samples.", quiet=quiet)
        started = perf_counter()
        final = result.estimator
        final.fit(rows.features, rows.labels, sample_weight=rows.weights)
        seconds = perf_counter() - started
        final.save(output)
        say(wrote_text(final, output, seconds), quiet=quiet)
