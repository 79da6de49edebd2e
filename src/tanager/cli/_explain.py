"""``tanager explain``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import data_options, quiet_option, variable_option


@click.command(short_help="Explain the prediction for one row.")
@click.argument("model")
@click.argument("data")
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Row of DATA, counted from 1 without the names of the columns.",
)
@click.option(
    "--class",
    "label",
    metavar="CLASS",
    help="Class to explain, and to reach by the smallest change if it is not the most "
    "probable one.  [default: the most probable one]",
)
@click.option(
    "--by",
    type=click.Choice(["feature", "factor"]),
    default="feature",
    show_default=True,
    help="A line for every feature, or for every factor (family of a network).",
)
@click.option(
    "--immutable",
    multiple=True,
    metavar="FEATURE",
    help="Feature that must not change for another class; may be repeated.",
)
@click.option("--all", "everything", is_flag=True, help="Print all lines.")
@variable_option
@data_options
@quiet_option
def explain(
    model: str,
    data: str,
    row: int,
    label: str | None,
    by: str,
    immutable: tuple[str, ...],
    everything: bool,
    target: str | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Explain what MODEL predicts for one row of DATA.

    Prints what every feature adds to the log odds, the smallest change that leads to
    another class, which missing feature to ask for next, and how usual the row is.

    \b
    tanager explain model.json data.csv --row 17
    tanager explain model.json data.csv --row 17 --by factor --immutable age
    """  # noqa: D301
    from tanager.classifiers import BayesNetClassifier
    from tanager.cli._column_matching import (
        absent_note,
        features_for,
        load_classifier,
        text_columns,
    )
    from tanager.cli._explanation_text import explanation_text
    from tanager.cli._input_data import load_data
    from tanager.cli._terminal import print_text, say
    from tanager.errors import InputError
    from tanager.utils.text import pluralise

    classifier = load_classifier(model, target=target)
    if not isinstance(classifier, BayesNetClassifier):
        raise InputError(
            f"{model} holds {len(classifier.networks_)} networks that vote; only the "
            "predictions of a single network are explained."
        )
    variables = classifier.encoder_.schema_.variables
    rows = load_data(data, reading, text_columns(variables), quiet=quiet)
    features, absent = features_for(rows, variables)
    if row > features.n_rows:
        raise InputError(
            f"--row must be at most {features.n_rows}, since {rows.name} has "
            f"{pluralise(features.n_rows, 'row')}, got {row}."
        )
    if absent:
        say(absent_note(rows.name, absent), quiet=quiet)
    codes = classifier.encode(features)[row - 1 : row]
    text = explanation_text(
        classifier.network_, codes, label, by, immutable, everything=everything
    )
    print_text(f"{rows.name}, row {row}: {text}")
