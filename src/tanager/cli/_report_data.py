"""Samples for the metrics of a report or a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tanager.classifiers import BayesNetClassifier, BoostedClassifier
from tanager.cli._column_matching import (
    absent_note,
    features_for,
    read_classes,
    text_columns,
)
from tanager.cli._input_data import load_data
from tanager.cli._terminal import say
from tanager.encoding.frame import Frame


def read_report_data(
    classifier: BayesNetClassifier | BoostedClassifier,
    data: str | None,
    reading: Mapping[str, Any],
    what: str,
    *,
    quiet: bool,
) -> tuple[Frame | None, list[Any] | None, str]:
    """Features, classes if there are any, and the name of the data.

    Columns and classes that are missing are noted; `what` the data are for.
    """
    if data is None:
        return None, None, ""
    variables = classifier.encoder_.schema_.variables
    of_class = classifier.networks_[0].schema.target_variable
    rows = load_data(data, reading, text_columns((*variables, of_class)), quiet=quiet)
    features, absent = features_for(rows, variables)
    if absent:
        say(absent_note(rows.name, absent), quiet=quiet)
    labels = read_classes(rows, of_class)
    if labels is None:
        say(
            f"Note: {rows.name} has no column {of_class.name!r} with classes, so "
            f"the {what} has no metrics.",
            quiet=quiet,
        )
    return features, labels, rows.name
