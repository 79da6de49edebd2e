"""``tanager report``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import (
    data_options,
    jobs_option,
    quiet_option,
    variable_option,
)


@click.command(short_help="Write an interactive report of a model file.")
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="HTML file to write.",
)
@click.option("--title", default="", metavar="TEXT", help="Heading of the report.")
@variable_option
@data_options
@jobs_option
@quiet_option
def report(
    model: str,
    data: str | None,
    output: str,
    title: str,
    target: str | None,
    jobs: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write a report of MODEL: one HTML file that a browser shows without a server.

    It has the network, the effect of every feature, a panel that computes the
    posterior for any evidence, and an editor. With DATA, a file or the name of a
    dataset, it also has samples to load and, where DATA has the class, metrics.
    Features without a column count as missing; other columns are ignored.

    \b
    tanager report model.json data.csv -o report.html
    """  # noqa: D301
    from tanager.classifiers.reports_and_cards import write_model_report
    from tanager.cli._column_matching import load_classifier
    from tanager.cli._input_data import check_new_file
    from tanager.cli._report_data import read_report_data
    from tanager.cli._terminal import say
    from tanager.utils.text import pluralise

    inputs = [model] if data is None else [model, data]
    check_new_file(output, *inputs)
    classifier = load_classifier(model, jobs, target)
    features, labels, name = read_report_data(
        classifier, data, reading, "report", quiet=quiet
    )
    write_model_report(classifier, output, features, labels, title=title, name=name)
    content = "no data"
    if features is not None:
        content = pluralise(features.n_rows, "sample")
    say(f"Wrote {output}: {content}.", quiet=quiet)
