"""``tanager fit``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import target_option, training_options


@click.command(short_help="Fit a classifier and write it to a model file.")
@click.argument("data")
@target_option
@click.option(
    "-m",
    "--model",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="Method; 'tanager names' lists all.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="File to write: .json, or .bif or .xmlbif for the network alone.",
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="File to resume an interrupted fit from; removed when the fit is done.",
)
@training_options
def fit(
    data: str,
    target: str | None,
    model: str,
    output: str,
    checkpoint: str | None,
    progress: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit a classifier to DATA and write it to a model file.

    DATA is a file, "-" for CSV from standard input, or the name of a dataset such
    as iris. Numeric columns are discretised, all others are categorical. A folder of
    Parquet files, or a pattern in quotes, is read in batches and may exceed the memory.

    \b
    tanager fit data.csv --target class -o model.json
    tanager fit 'folder/*.parquet' --target class -o model.json
    """  # noqa: D301
    from time import perf_counter

    from tanager.classifiers import BayesNetClassifier
    from tanager.cli._batches import check_batch_columns, find_batches
    from tanager.cli._classifier_factory import (
        check_model_output,
        make_model,
        uses_unlabelled,
    )
    from tanager.cli._input_data import load_training_data
    from tanager.cli._show import wrote_text
    from tanager.cli._terminal import progress_shown, say
    from tanager.utils.text import pluralise

    check_model_output(output, model, data)
    unlabelled = uses_unlabelled(model, options["paper"])
    X: Any = find_batches(data)
    y: Any = None
    if X is not None:
        y, names = check_batch_columns(X, target, options)
        classifier = make_model(model, names, options)
        weights = options["weights"]
        what = f"{data}, in batches"
        if isinstance(classifier, BayesNetClassifier):
            say(str(classifier.plan(X, y, weights)), quiet=quiet)
    else:
        rows = load_training_data(data, target, options, unlabelled, quiet)
        X, y, weights = rows.features, rows.labels, rows.weights
        classifier = make_model(model, X.names, options)
        what = f"{rows.name}: {rows.size}"
    if checkpoint is not None:
        if not isinstance(classifier, BayesNetClassifier):
            raise click.UsageError(
                f"{model} is an ensemble, whose fit keeps no checkpoint; leave "
                "--checkpoint out."
            )
        classifier.set_params(checkpoint=checkpoint)
    classifier.set_params(verbose=progress_shown(quiet, progress))
    say(f"Fitting {model} to {what}.", quiet=quiet)
    started = perf_counter()
    classifier.fit(X, y, sample_weight=weights)
    seconds = perf_counter() - started
    classifier.save(output)
    say(wrote_text(classifier, output, seconds), quiet=quiet)
    schema = classifier.encoder_.schema_
    cuts = [v.cuts for v in schema if v.cuts is not None and not v.is_left_out]
    if without := cuts.count(()):
        which = "it has" if without == 1 else "they have"
        columns = pluralise(len(cuts), "numeric column")
        say(
            f"Note: no cut point found in {without:,} of {columns}; {which} no effect "
            "on the class.",
            quiet=quiet,
        )
