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
@variable_option
@data_options
@jobs_option
@quiet_option
def predict(
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    jobs: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Predict classes for DATA with MODEL: a model file, BIF or XMLBIF.

    The output has a row for every row of DATA: the most probable class and the
    probability of every class. Missing values are marginalised; unknown categories
    and features without a column count as missing. Other columns are ignored.

    \b
    tanager predict model.json new.csv -o out.csv
    tanager predict asia.bif new.csv --target lung
    """  # noqa: D301
    from tanager.cli._column_matching import (
        absent_note,
        features_for,
        load_classifier,
        text_columns,
    )
    from tanager.cli._data import check_table_output, load_data
    from tanager.cli._terminal import say, terminal_width
    from tanager.io import write_table
    from tanager.utils.text import escape_controls, pluralise

    if output is not None:
        check_table_output(output, data, model)
    classifier = load_classifier(model, jobs, target)
    variables = classifier.encoder_.schema_.variables
    rows = load_data(data, reading, text_columns(variables), quiet=quiet)
    features, absent = features_for(rows, variables)
    if absent:
        say(absent_note(rows.name, absent), quiet=quiet)
    probabilities = classifier.predict_proba(features)
    labels = classifier.classes_
    to_terminal = output in (None, "-") and terminal_width() is not None
    if to_terminal and labels.dtype.kind in "OU":
        labels = labels.astype(object)
        labels[:] = [escape_controls(str(label)) for label in labels]
    columns = {"prediction": labels[probabilities.argmax(axis=1)]}
    for k, label in enumerate(labels.tolist()):
        columns[f"P({label})"] = probabilities[:, k]
    write_table("-" if output is None else output, columns)
    if output is not None and output != "-":
        say(f"Wrote {output}: {pluralise(len(probabilities), 'row')}.", quiet=quiet)
