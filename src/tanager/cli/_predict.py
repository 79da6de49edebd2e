"""``tanager predict``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import (
    data_options,
    jobs_option,
    quiet_option,
    variable_option,
)


@click.command(short_help="Predict classes with a model file.")
@click.argument("model")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="CSV (also .gz), TSV, Parquet or Arrow file.  [default: standard output]",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column of DATA to copy to the output, such as a key; may be repeated.",
)
@variable_option
@data_options
@jobs_option
@quiet_option
def predict(
    model: str,
    data: str,
    output: str | None,
    keep: tuple[str, ...],
    target: str | None,
    jobs: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Predict classes for DATA with MODEL: a model file, BIF or XMLBIF.

    The output has a row for every row of DATA: the most probable class and the
    probability of every class. Missing values have a state of their own where
    training data had some, and are averaged out or marginalised otherwise, as are
    unknown categories. Features without a column are missing; other columns are
    ignored. A folder of Parquet files, or a pattern in quotes, is read and predicted
    in batches.

    \b
    tanager predict model.json new.csv --keep id -o out.csv
    tanager predict asia.bif new.csv --target lung
    """  # noqa: D301
    from tanager.cli._batches import (
        find_batches,
        prediction_columns,
        prediction_parts,
    )
    from tanager.cli._column_matching import (
        absent_note,
        features_for,
        join_columns,
        kept_columns,
        load_classifier,
        text_columns,
    )
    from tanager.cli._input_data import check_table_output, load_data
    from tanager.cli._terminal import say, terminal_width
    from tanager.io.data_files import write_table_parts
    from tanager.utils.text import pluralise

    if output is not None:
        check_table_output(output, data, model)
    classifier = load_classifier(model, jobs, target)
    to_terminal = output in (None, "-") and terminal_width() is not None
    batches = find_batches(data)
    if batches is not None:
        parts = prediction_parts(
            classifier, batches, quiet=quiet, to_terminal=to_terminal, keep=keep
        )
    else:
        variables = classifier.encoder_.schema_.variables
        features = {variable.name for variable in variables}
        keys = [name for name in keep if name not in features]
        texts = [*text_columns(variables), *keys]
        rows = load_data(data, reading, texts, quiet=quiet)
        kept = kept_columns(rows.table, keep, to_terminal=to_terminal)
        samples, absent = features_for(rows, variables)
        if absent:
            say(absent_note(rows.name, absent), quiet=quiet)
        found = classifier.predict_proba(samples)
        predicted = prediction_columns(classifier, found, to_terminal=to_terminal)
        parts = iter([join_columns(kept, predicted)])
    n_rows = write_table_parts("-" if output is None else output, parts)
    if output is not None and output != "-":
        say(f"Wrote {output}: {pluralise(n_rows, 'row')}.", quiet=quiet)
