"""``tanager export``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tanager.cli._options import data_options, quiet_option, variable_option

if TYPE_CHECKING:
    from tanager.classifiers import BayesNetClassifier
    from tanager.export import CSource
    from tanager.model.schema import State

LANGUAGES = ("sql", "onnx", "c", "js", "points")
"""What a model can be written as."""


@click.command(short_help="Write a model as SQL, ONNX, C, JavaScript or points.")
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "--to",
    "language",
    type=click.Choice(LANGUAGES),
    required=True,
    help="sql: a query; onnx: a graph; c: a C99 file; js: a module; points: a CSV "
    "file with points for every state.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="File to write.")
@click.option(
    "--dialect",
    default="duckdb",
    show_default=True,
    help="Database of a query: duckdb, postgres, sqlite or bigquery.",
)
@click.option("--table", default="data", show_default=True, help="Table of a query.")
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="Column that a query repeats."
)
@click.option(
    "--bits",
    type=click.Choice(["8", "16", "32", "64"]),
    default="32",
    show_default=True,
    help="Bits of a number in the tables of C.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Size of the tables of C: of a sum of factors the most important are kept.",
)
@click.option(
    "--base-points",
    type=float,
    default=600.0,
    show_default=True,
    help="Points of a sample with the odds --base-odds.",
)
@click.option(
    "--base-odds",
    type=float,
    default=50.0,
    show_default=True,
    help="Odds of the class for which points speak.",
)
@click.option(
    "--points-to-double",
    type=float,
    default=20.0,
    show_default=True,
    help="Points that double the odds.",
)
@click.option(
    "--decimals",
    type=click.IntRange(min=0),
    help="Decimals of points; 0 gives whole numbers.  [default: not rounded]",
)
@click.option(
    "--label",
    metavar="CLASS",
    help="Class for which points speak.  [default: the second one]",
)
@click.option(
    "--contributions",
    is_flag=True,
    help="Give an ONNX graph an output with what every feature contributes.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="Accept no prediction where a feature is missing that a network would "
    "marginalise.",
)
@variable_option
@data_options
@quiet_option
def export(
    model: str,
    data: str | None,
    language: str,
    output: str,
    dialect: str,
    table: str,
    keep: tuple[str, ...],
    bits: str,
    max_bytes: int | None,
    base_points: float,
    base_odds: float,
    points_to_double: float,
    decimals: int | None,
    label: str | None,
    contributions: bool,
    complete: bool,
    target: str | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write MODEL in another language, to run it without Python.

    Missing values and unknown categories are treated as by `tanager predict`. With
    DATA, a file or the name of a dataset, the accuracy of a C file with few bits is
    measured and printed.

    \b
    tanager export model.json --to sql --dialect postgres --keep id -o score.sql
    tanager export model.json test.csv --to c --bits 8 -o model.c
    """  # noqa: D301
    from tanager.classifiers import BoostedClassifier
    from tanager.cli._column_matching import load_classifier
    from tanager.cli._input_data import check_new_file
    from tanager.cli._terminal import say
    from tanager.errors import CapabilityError, InputError
    from tanager.export import to_c
    from tanager.io.csv_text import csv_bytes
    from tanager.utils.atomic_write import write_bytes

    if data is not None and language != "c":
        raise InputError("DATA is only used with --to c; leave it out.")
    check_new_file(output, *([model] if data is None else [model, data]))
    classifier = load_classifier(model, 1, target)
    if isinstance(classifier, BoostedClassifier):
        raise CapabilityError(
            f"{model} lets several networks vote, here {len(classifier.networks_)}, "
            "and an export has one. Fit another model, such as the default one, or "
            "save a member: tanager.save(model.networks_[0], path)."
        )
    note = ""
    if language == "sql":
        text: Any = classifier.to_sql(
            table=table, dialect=dialect, keep=keep, complete=complete
        )
    elif language == "onnx":
        graph = classifier.to_onnx(contributions=contributions, complete=complete)
        text = graph.SerializeToString()
    elif language == "c":
        network = classifier.network_
        source = to_c(network, bits=int(bits), complete=complete, max_bytes=max_bytes)
        text, note = source.text, f", {source.n_bytes:,} bytes of tables"
        if source.network is not network:
            n_kept = source.network.sizes["factor"]
            note += f" with {n_kept} of {network.sizes['factor']} factors"
        if data is not None:
            note += f"; {_accuracy_loss(classifier, source, data, reading)}"
    elif language == "js":
        text = classifier.to_js()
    else:
        table_of_points = classifier.to_rating_table(
            label=_state(classifier, label),
            base_points=base_points,
            base_odds=base_odds,
            points_to_double=points_to_double,
            decimals=decimals,
        )
        text = csv_bytes(table_of_points.columns())
        note = (
            f"; {table_of_points.base:g} points and those of every row; {base_points:g}"
            f" are odds of {base_odds:g} for {table_of_points.label}, "
            f"{points_to_double:g} more double them"
        )
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    write_bytes(output, content)
    say(f"Wrote {output}: {len(content):,} bytes{note}.", quiet=quiet)


def _state(classifier: BayesNetClassifier, label: str | None) -> State | None:
    """The class of a text, which may be a number in the model."""
    if label is None:
        return None
    states = classifier.network_.schema.target_variable.states
    return {str(state): state for state in states}.get(label, label)


def _accuracy_loss(
    classifier: BayesNetClassifier,
    source: CSource,
    data: str,
    reading: Mapping[str, Any],
) -> str:
    """Compare the accuracy of the file with that of the model on labelled data."""
    import numpy as np

    from tanager.cli._column_matching import features_for, read_classes, text_columns
    from tanager.cli._input_data import load_data
    from tanager.errors import InputError
    from tanager.export import measure_rounding
    from tanager.utils.text import pluralise

    variables = classifier.encoder_.schema_.variables
    of_class = classifier.network_.schema.target_variable
    texts = text_columns((*variables, of_class))
    rows = load_data(data, reading, texts)
    features, _ = features_for(rows, variables)
    labels = read_classes(rows, of_class)
    if labels is None:
        raise InputError(
            f"{data} has no column {of_class.name!r} with classes, so that no accuracy "
            "can be measured; leave DATA out."
        )
    place: dict[Any, int] = {state: c for c, state in enumerate(of_class.states)}
    place[None] = -1
    # A class that the model does not know is never predicted.
    positions = np.array([place.get(label, len(place)) for label in labels])
    codes = classifier.encode(features)
    loss = measure_rounding(classifier.network_, source, codes, positions)
    return (
        f"accuracy {100 * loss.rounded:.2f} % of the file, {100 * loss.exact:.2f} % of "
        f"the model, on {pluralise(loss.n_samples, 'sample')}"
    )
