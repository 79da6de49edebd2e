"""``tanager evaluate``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import target_option, training_options


@click.command(short_help="Compare classifiers by cross-validation.")
@click.argument("data")
@target_option
@click.option(
    "-m",
    "--models",
    default="NB-ML,TAN-CMI-ML,auto",
    show_default=True,
    metavar="NAMES",
    help="Methods, separated by commas; the first is the baseline of the tests.",
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
    help="Repetitions of the cross-validation, each with other folds.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the result of every fold (CSV, Parquet or Arrow).",
)
@click.option(
    "--report",
    metavar="FILE",
    help="Write an HTML page: intervals, ranks and times of all models.",
)
@training_options
def evaluate(
    data: str,
    target: str | None,
    models: str,
    cv: int,
    repeats: int,
    output: str | None,
    report: str | None,
    progress: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare classifiers on DATA by stratified cross-validation.

    DATA is a file, "-" for CSV from standard input, or the name of a dataset such
    as iris. All classifiers use the same folds; numeric features are discretised on
    the training set of each fold. Unlabelled samples, which methods such as NB+EM can
    use, are in every training set and in no test set. A folder of Parquet files, or a
    pattern in quotes, is read in batches; then row i is in fold i modulo the folds.

    \b
    tanager evaluate data.csv --target class --models NB-ML,TAN-CMI-ML --cv 10
    """  # noqa: D301
    from tanager.classifiers.evaluation import evaluate as evaluate_models
    from tanager.cli._batches import check_batch_columns, find_batches
    from tanager.cli._classifier_factory import make_model, uses_unlabelled
    from tanager.cli._input_data import (
        check_new_file,
        check_table_output,
        load_training_data,
    )
    from tanager.cli._terminal import print_text, say, watch_work
    from tanager.io import write_table
    from tanager.utils.text import pluralise

    if output is not None:
        check_table_output(output, data)
    if report is not None:
        check_new_file(report, data)
    names = list(dict.fromkeys(name.strip() for name in models.split(",")))
    if "" in names:
        raise click.UsageError("--models has an empty name; separate names by commas.")
    # All names are checked.
    unlabelled = [uses_unlabelled(name, options["paper"]) for name in names]
    X: Any = find_batches(data)
    y: Any = None
    if X is not None:
        y, columns = check_batch_columns(X, target, options)
        title, weights = data, options["weights"]
    else:
        rows = load_training_data(data, target, options, all(unlabelled), quiet)
        X, y, weights, title = rows.features, rows.labels, rows.weights, rows.name
        columns = list(X.names)
    classifiers = {name: make_model(name, columns, options) for name in names}
    with watch_work("evaluate", quiet=quiet, progress=progress) as shown:
        result = evaluate_models(
            classifiers,
            X,
            y,
            cv=cv,
            n_repeats=repeats,
            sample_weight=weights,
            random_state=options["seed"],
            name=title,
            progress=shown.announce,
        )
    if result.rare_classes:
        say(
            f"Note: classes with fewer samples than the {cv} folds: "
            f"{', '.join(result.rare_classes)}; some folds have none of them.",
            quiet=quiet,
        )
    if output is not None:
        write_table(output, result.columns())
    if report is not None:
        result.report(report)
    if output != "-":
        print_text(str(result))
    if output is not None and output != "-":
        say(f"Wrote {output}: {pluralise(len(result.folds), 'row')}.", quiet=quiet)
    if report is not None:
        say(f"Wrote {report}.", quiet=quiet)
