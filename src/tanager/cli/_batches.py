"""Folders and patterns of files for a command: tables that are read in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from glob import has_magic
from typing import Any

import click

from tanager.classifiers import BayesNetClassifier, BoostedClassifier
from tanager.cli._column_matching import (
    absent_note,
    features_for,
    join_columns,
    kept_columns,
)
from tanager.cli._input_data import Data, column_named
from tanager.cli._terminal import say
from tanager.errors import InputError
from tanager.io.batches import Batches, naming
from tanager.io.csv_text import Columns
from tanager.types import FloatArray
from tanager.utils.text import escape_controls


def find_batches(source: str) -> Batches | None:
    """The batches that a folder or a pattern means; None for any other data."""
    if os.path.isdir(source) or (has_magic(source) and not os.path.exists(source)):
        return Batches(source)
    return None


def check_batch_columns(
    batches: Batches, target: str | None, options: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """The target, and the names of the features in the first batch."""
    first = next(iter(batches), None)
    if first is None:
        raise InputError(
            f"The files of {str(batches.source)!r} have no rows; expected samples of "
            "at least two classes."
        )
    names = first.names
    if target is None:
        raise click.UsageError(
            "Missing option '--target': say which column holds the classes; there are "
            f"{', '.join(map(repr, names[:10]))}{', ...' if names[10:] else ''}."
        )
    weights = options["weights"]
    for name, what in ((target, "target column"), (weights, "weight column")):
        if name is not None:
            column_named(first, name, what)
    return target, [name for name in names if name not in (target, weights)]


def prediction_parts(
    model: BayesNetClassifier | BoostedClassifier,
    batches: Batches,
    *,
    quiet: bool,
    to_terminal: bool = False,
    keep: Sequence[str] = (),
) -> Iterator[Columns]:
    """Predictions of one batch after the other, as columns of the output.

    Columns of the batch in `keep` come before them.
    """
    variables = model.encoder_.schema_.variables
    noted = False
    for where, frame in batches.named_frames():
        with naming(where):
            features, absent = features_for(Data(where, frame), variables)
            if absent and not noted:
                say(absent_note(where, absent), quiet=quiet)
                noted = True
            probabilities = model.predict_proba(features)
            kept = kept_columns(frame, keep, to_terminal=to_terminal)
            predicted = prediction_columns(
                model, probabilities, to_terminal=to_terminal
            )
            yield join_columns(kept, predicted)


def prediction_columns(
    model: BayesNetClassifier | BoostedClassifier,
    probabilities: FloatArray,
    *,
    to_terminal: bool = False,
) -> dict[str, Any]:
    """The most probable class and the probability of every class.

    Control characters in names of classes are escaped for a terminal.
    """
    labels = model.classes_
    if to_terminal and labels.dtype.kind in "OU":
        labels = labels.astype(object)
        labels[:] = [escape_controls(str(label)) for label in labels]
    columns: dict[str, Any] = {"prediction": labels[probabilities.argmax(axis=1)]}
    for k, label in enumerate(labels.tolist()):
        columns[f"P({label})"] = probabilities[:, k]
    return columns
