"""``tanager card``."""

from __future__ import annotations

from typing import Any

import click

from tanager.cli._options import (
    data_options,
    jobs_option,
    quiet_option,
    variable_option,
)


@click.command(short_help="Write a model card in Markdown.")
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Markdown file to write.  [default: standard output]",
)
@click.option("--title", default="", metavar="TEXT", help="Heading of the card.")
@variable_option
@data_options
@jobs_option
@quiet_option
def card(
    model: str,
    data: str | None,
    output: str,
    title: str,
    target: str | None,
    jobs: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write a model card of MODEL: Markdown to complete and to publish with it.

    It has the features, the factors or families, settings, versions and known
    limitations, and sections to fill in, such as the intended use. With DATA, a file or
    the name of a dataset, it also has the fingerprint of the data and, where DATA has
    the class, metrics with intervals: use data that the model was not fitted to.

    \b
    tanager card model.json test.csv -o card.md
    """  # noqa: D301
    from tanager.classifiers.reports_and_cards import make_model_card
    from tanager.cli._column_matching import load_classifier
    from tanager.cli._input_data import check_new_file
    from tanager.cli._report_data import read_report_data
    from tanager.cli._terminal import print_text, say
    from tanager.utils.atomic_write import write_text

    if output != "-":
        check_new_file(output, *([model] if data is None else [model, data]))
    classifier = load_classifier(model, jobs, target)
    features, labels, name = read_report_data(
        classifier, data, reading, "card", quiet=quiet
    )
    found = make_model_card(classifier, features, labels, title=title, name=name)
    if output == "-":
        print_text(found.to_markdown().rstrip("\n"))
        return
    write_text(output, found.to_markdown())
    say(f"Wrote {output}: complete the sections to fill in.", quiet=quiet)
