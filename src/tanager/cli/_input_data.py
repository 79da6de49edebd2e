"""Data for a command: a file or a dataset of the catalogue, and its columns."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from tanager import datasets
from tanager.cli._terminal import say
from tanager.encoding.frame import Column, Frame, read_frame
from tanager.errors import InputError, unknown_name
from tanager.io import check_output, read_table
from tanager.io.csv_text import OddText, number_in
from tanager.io.data_files import ARROW, DELIMITERS, EXCEL, PARQUET
from tanager.io.text_interpretation import ReadNote
from tanager.model.schema import State
from tanager.types import FloatArray
from tanager.utils.atomic_write import check_writable
from tanager.utils.text import pluralise, size_text

_PLAIN = re.compile("0|-?[1-9][0-9]*")  # a whole number as Python writes it


@dataclass(frozen=True, eq=False)
class Data:
    """A table, for the catalogue its target, and columns that are texts of a file."""

    name: str
    table: Frame
    target: str | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Features, classes and weights; the class of a sample may be None."""

    name: str
    target: str
    features: Frame
    labels: npt.NDArray[Any]
    weights: FloatArray | None

    @property
    def size(self) -> str:
        """Samples, features and classes in words; None is no class."""
        labels = self.labels.tolist()
        n_classes = len(set(labels) - {None})
        return size_text(*self.features.shape, n_classes, labels.count(None))


class NamedArray(np.ndarray):
    """Labels with the name of their column, which names the class variable."""

    name: str


def load_data(
    source: str,
    reading: Mapping[str, Any] | None = None,
    text: Sequence[str] = (),
    *,
    quiet: bool = False,
    odd: bool = False,
) -> Data:
    """Read a file, standard input ("-") or a dataset of the catalogue.

    A file takes precedence over a dataset of the same name. `reading` has the values of
    `data_options`; columns in `text` are categorical. Notes say how a file was
    understood and, if `odd`, which columns are categorical because of a few texts.
    """
    if source == "-" or os.path.exists(source) or _looks_like_path(source):
        options = dict.fromkeys(("delimiter", "decimal", "sheet"))
        options |= {name: (reading or {}).get(name) for name in options}

        def notice(found: OddText | ReadNote) -> None:
            if isinstance(found, ReadNote):
                say(f"Note: {found.text}", quiet=quiet)
            elif odd:
                say(odd_text_note(found), quiet=quiet)

        table = read_table(
            source,
            **options,
            missing=("", *(reading or {}).get("missing", ())),
            text=text,
            interpret=True,
            noticed=notice,
        )
        name = "standard input" if source == "-" else source
        texts = () if _ending(source) in (*PARQUET, *ARROW) else tuple(text)
        return Data(name, table, None, texts)
    try:
        found = datasets.info(source)
    except InputError as error:
        raise InputError(f"There is no file {source!r}. {error}") from None
    loaded = datasets.load(found.name)
    return Data(loaded.name, read_frame(loaded.frame), loaded.target)


def check_new_file(output: str, *inputs: str) -> None:
    """Check, before long work, that a file can be written and is no input."""
    check_writable(output)
    for source in inputs:
        both = os.path.isfile(source) and os.path.exists(output)
        if both and os.path.samefile(source, output):
            raise InputError(
                f"Writing {output!r} would overwrite the input; choose another name."
            )


def check_table_output(output: str, *inputs: str) -> None:
    """Check the same for a table, and the ending of its name; "-" is always valid."""
    if output != "-":
        check_output(output)
        check_new_file(output, *inputs)


def _looks_like_path(source: str) -> bool:
    """Whether a name that is no file was meant as a path."""
    ending = _ending(source)
    known = ending != "" and ending in (*DELIMITERS, *PARQUET, *ARROW, *EXCEL)
    return known or os.path.isabs(source) or source.startswith((".", "~"))


def _ending(source: str) -> str:
    return Path(source.lower().removesuffix(".gz")).suffix


def load_training_data(
    source: str,
    target: str | None,
    options: Mapping[str, Any],
    unlabelled: bool = False,
    quiet: bool = False,
) -> TrainingData:
    """Read data with the `training_options`, and note columns that look wrong."""
    texts = [*options["categorical"], *([] if target is None else [target])]
    data = load_data(source, options, texts, quiet=quiet, odd=True)
    chosen = target or data.target
    if chosen in options["drop"]:
        raise InputError(f"{chosen!r} is the target, so it cannot be dropped.")
    data = replace(data, table=drop_columns(data.table, options["drop"]))
    return training_data(data, target, options["weights"], unlabelled=unlabelled)


def drop_columns(table: Frame, names: Sequence[str]) -> Frame:
    """The same table without some columns, which must be there."""
    if not names:
        return table
    for name in names:
        column_named(table, name, "column to drop")
    kept = [name for name in table.names if name not in names]
    if not kept:
        raise InputError("All columns are dropped; leave some.")
    columns = tuple(column_named(table, name, "column") for name in kept)
    return replace(table, names=tuple(kept), columns=columns, matrix=None)


def training_data(
    data: Data,
    target: str | None,
    weights: str | None = None,
    *,
    unlabelled: bool = False,
) -> TrainingData:
    """Split a table into features, target and weights.

    A `target` of None means that of the catalogue. `unlabelled` allows missing classes.
    """
    target = target or data.target
    if target is None:
        shown = ", ".join(map(repr, data.table.names[:10]))
        more = ", ..." if len(data.table.names) > 10 else ""
        raise click.UsageError(
            "Missing option '--target': say which column holds the classes; there are "
            f"{shown}{more}."
        )
    table = data.table
    if table.columns is not None:
        typed = [
            whole_numbers(column) if column.name in data.texts else column
            for column in table.columns
        ]
        table = replace(table, columns=tuple(typed))
    column = column_named(table, target, "target column")
    if target in data.texts:
        _check_no_fractions(column)
    labels = labels_of(column, data.name, unlabelled=unlabelled)
    found = set(labels.tolist()) - {None}
    if len(found) == 1:
        raise InputError(
            f"The target {target!r} has only one class, {found.pop()!r}; a classifier "
            "needs at least two."
        )
    row_weights = None
    left_out = [target]
    if weights is not None:
        if weights == target:
            raise InputError(f"{weights!r} cannot be both the target and the weights.")
        row_weights = _read_weights(column_named(table, weights, "weight column"))
        left_out.append(weights)
    names = [name for name in table.names if name not in left_out]
    if not names:
        raise InputError(
            f"{data.name!r} has no column except {' and '.join(map(repr, left_out))}; "
            "a classifier needs at least one feature."
        )
    columns = tuple(column_named(table, name, "column") for name in names)
    features = replace(table, names=tuple(names), columns=columns, matrix=None)
    return TrainingData(data.name, target, features, labels, row_weights)


def _check_no_fractions(column: Column) -> None:
    """Reject a target whose texts are numbers, not all of them integers."""
    numbers = np.array([number_in(str(text)) for text in column.categories])
    if len(numbers) and np.isfinite(numbers).all():
        fractions = numbers[numbers != np.trunc(numbers)]
        if len(fractions):
            raise _no_classes(column.name, float(fractions[0]))


def _no_classes(name: str, number: float) -> InputError:
    return InputError(
        f"The target {name!r} holds numbers such as {number:g}, which are no classes. "
        "Choose a column of classes as --target, or put the numbers into a few groups."
    )


def column_named(table: Frame, name: str, what: str) -> Column:
    """Find a column by name; the error for an unknown name lists the nearest."""
    if name not in table.names:
        raise unknown_name(what, name, table.names)
    return table.column(table.names.index(name))


def labels_of(column: Column, source: str, *, unlabelled: bool = False) -> NamedArray:
    """The classes, named after the column; None for unlabelled samples, if allowed."""
    absent = np.isnan(column.data) if column.is_numeric else column.data < 0
    if absent.all():
        raise InputError(
            f"No sample of {source!r} has a class in {column.name!r}; expected samples "
            "of at least two classes."
        )
    if absent.any() and not unlabelled:
        raise InputError(
            f"{int(absent.sum())} of {len(absent)} samples of {source!r} have no class "
            f"in {column.name!r}, the first is sample {int(absent.argmax()) + 1}. Fill "
            "them in or remove them. Methods such as NB+EM can use them."
        )
    data = column.data[~absent]
    if not column.is_numeric:
        kinds = {type(category) for category in column.categories}
        dtype = None if len(kinds) == 1 else object
        labels = np.array(column.categories, dtype=dtype)[data]
    else:
        fractions = data[data != np.trunc(data)] if data.dtype.kind == "f" else data[:0]
        if len(fractions):
            raise _no_classes(column.name, float(fractions[0]))
        labels = data
    if absent.any():
        every = np.full(len(absent), None, dtype=object)
        every[~absent] = labels
        labels = every
    named = labels.view(NamedArray)
    named.name = column.name
    return named


def _read_weights(column: Column) -> FloatArray:
    if column.values is None:
        raise InputError(
            f"The weights in {column.name!r} must be numbers, got text such as "
            f"{text_among(column)!r}."
        )
    numbers = column.values.astype(np.float64)
    wrong = ~np.isfinite(numbers) | (numbers < 0)
    if wrong.any():
        row = int(wrong.argmax())
        shown = "none" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
        raise InputError(
            f"The weights in {column.name!r} must be finite and at least 0, but row "
            f"{row + 1} has {shown}. Use 0 for a row that is not to count."
        )
    return numbers


def odd_text_note(odd: OddText) -> str:
    """Note that a text made a numeric column categorical, and what to do."""
    where = f"{odd.text!r} (line {odd.line})"
    if odd.n_others:
        where += f" and {pluralise(odd.n_others, 'other text')}"
    kind = "finite numbers" if odd.infinite else "numbers"
    but = f"but not {where}"
    if odd.infinite:
        but += ", which is infinite" if not odd.n_others else "; the first is infinite"
    marker = shlex.quote(odd.text)
    option = f"--missing{'=' if marker.startswith('-') else ' '}{marker}"
    return (
        f"Note: {odd.column!r} is categorical: {odd.n_numbers:,} of {odd.n_fields:,} "
        f"fields are {kind}, {but}. Use {option} if it means missing."
    )


def whole_numbers(column: Column) -> Column:
    """Convert categories to integers unless ``01``, ``+1`` or ``1.0`` is among them.

    These would become the same as ``1``.
    """
    texts = column.categories
    # 18 characters always fit into 64 bits.
    if all(isinstance(t, str) and _PLAIN.fullmatch(t) and len(t) <= 18 for t in texts):
        return replace(column, categories=tuple(int(text) for text in texts))
    return column


def text_among(column: Column) -> State:
    """A category that is no finite number; the first if all of them are."""
    texts = column.categories
    return next((t for t in texts if not np.isfinite(number_in(str(t)))), texts[0])
