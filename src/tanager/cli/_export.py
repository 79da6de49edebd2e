"""``tanager export``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tanager.cli._options import data_options, quiet_option, variable_option

if TYPE_CHECKING:
    from tanager.classifiers import BayesNetClassifier

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
    from tanager.cli._column_matching import load_classifier
    from tanager.cli._data import check_new_file
    from tanager.cli._terminal import say
    from tanager.errors import InputError
    from tanager.export import to_c
    from tanager.io.csv_text import csv_bytes
    from tanager.utils.atomic_write import write_bytes

    if data is not None and language != "c":
        raise InputError("DATA is only used with --to c; leave it out.")
    check_new_file(output, *([model] if data is None else [model, data]))
    classifier = load_classifier(model, 1, target)
    note = ""
    if language == "sql":
        text: Any = classifier.to_sql(
            table=table, dialect=dialect, keep=keep, complete=complete
        )
    elif language == "onnx":
        text = classifier.to_onnx(complete=complete).SerializeToString()
    elif language == "c":
        source = to_c(classifier.network_, bits=int(bits), complete=complete)
        text, note = source.text, f", {source.n_bytes:,} bytes of tables"
        if data is not None:
            loss = _accuracy_loss(classifier, data, int(bits), reading)
            note += f"; {loss}"
    elif language == "js":
        text = classifier.to_js()
    else:
        text = csv_bytes(classifier.to_rating_table().columns())
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    write_bytes(output, content)
    say(f"Wrote {output}: {len(content):,} bytes{note}.", quiet=quiet)


def _accuracy_loss(
    classifier: BayesNetClassifier,
    data: str,
    bits: int,
    reading: Mapping[str, Any],
) -> str:
    """Compare the accuracy with and without rounded tables on labelled data."""
    import numpy as np

    from tanager.cli._column_matching import features_for, read_classes, text_columns
    from tanager.cli._data import load_data
    from tanager.errors import InputError
    from tanager.export.quantization import quantize_terms
    from tanager.export.score_terms import ScoreTerms

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
    terms = ScoreTerms.of_network(classifier.network_)
    names = classifier.network_.schema.names
    places = [names.index(variable.name) for variable in terms.features]
    codes = classifier.encode(features)[:, places]
    states = np.array([str(state) for state in of_class.states])
    found = []
    for used in (terms, quantize_terms(terms, bits)):
        scores = used.scores(codes)
        known = ~np.isnan(scores).any(axis=1)
        best = states[scores[known].argmax(axis=1)]
        found.append(float(np.mean(best == np.asarray(labels).astype(str)[known])))
    exact, rounded = (f"{100 * accuracy:.2f} %" for accuracy in found)
    return f"accuracy {rounded} with {bits} bits, {exact} without rounding"
