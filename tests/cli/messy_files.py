"""Twenty messy CSV files, each with what a reader should make of it."""

from __future__ import annotations

import datetime
from typing import NamedTuple

import numpy as np

N_ROWS = 60
DAY = datetime.date(2024, 1, 1)


class MessyFile(NamedTuple):
    """Bytes of a file, roles of its columns, and parts of the notes of reading it."""

    content: bytes
    roles: dict[str, str]
    notes: tuple[str, ...] = ()


def rows_of(make, header, *, separator=",", encoding="utf-8", end="\n"):
    """A file with a column of signal, others that `make` gives, and the class."""
    random = np.random.default_rng(0)
    lines = [separator.join(("signal", *header, "y"))]
    for i in range(N_ROWS):
        label = "pq"[i % 2]
        signal = f"{10 * (i % 2) + random.integers(0, 8)}"
        fields = make(i, random)
        lines.append(separator.join((signal, *fields, label)))
    return end.join([*lines, ""]).encode(encoding)


def one(make, name="x", **options):
    return rows_of(lambda i, random: [make(i, random)], [name], **options)


def german(value):
    text = f"{value:,.2f}"
    return text.translate(str.maketrans({",": ".", ".": ","}))


def day(i):
    return DAY + datetime.timedelta(days=5 * i)


BASE = {"signal": "numeric", "y": "class"}


def messy(content, role, *notes, name="x"):
    return MessyFile(content, {**BASE, name: role}, notes)


FILES = {
    "semicolons and decimal commas": messy(
        one(lambda i, r: german(r.random() * 5000), separator=";"), "numeric",
        "fields separated by semicolons, decimal commas",
        "'x' holds numbers with decimal commas",
    ),
    "tabs in a csv file": messy(
        one(lambda i, r: "ab"[i % 2], separator="\t"), "categorical",
        "fields separated by tabs",
    ),
    "bars and a byte order mark": messy(
        one(lambda i, r: "ab"[i % 2], separator="|", encoding="utf-8-sig"),
        "categorical", "fields separated by bars",
    ),
    "windows-1252": messy(
        one(lambda i, r: ("Zürich", "Genève")[i % 2], encoding="cp1252"),
        "categorical", "encoded in Windows-1252",
    ),
    "utf-16": messy(
        one(lambda i, r: ("Łódź", "東京")[i % 2], encoding="utf-16"), "categorical",
        "encoded in UTF-16",
    ),
    "quoted thousands": messy(
        one(lambda i, r: f'"{r.integers(1000, 9_000_000):,}"'), "numeric",
        "'x' holds numbers with thousands separators",
    ),
    "thousands by blanks": messy(
        one(lambda i, r: f"{r.integers(1000, 99_000):,}".replace(",", " ")),
        "numeric", "'x' holds numbers with thousands separators",
    ),
    "question marks in most fields": messy(
        one(lambda i, r: f"{r.random():.3f}" if i % 4 == 0 else "?"), "numeric",
        "'?' is a missing value in 'x'",
    ),
    "several markers": messy(
        one(lambda i, r: ("NA", "null", "")[i] if i < 3 else f"{r.random():.3f}"),
        "numeric", "'NA' is a missing value in 'x'", "'null' is a missing value in",
    ),
    "dashes among many numbers": messy(
        one(lambda i, r: "-" if i % 7 == 0 else str(i * i)), "numeric",
        "'-' is a missing value in 'x'",
    ),
    "iso dates": messy(
        one(lambda i, r: day(i).isoformat()), "numeric", "'x' holds dates."
    ),
    "iso moments with zones": messy(
        one(lambda i, r: f"{day(i)}T{i % 24:02d}:30:00+02:00"), "numeric",
        "'x' holds dates.",
    ),
    "dotted dates": messy(
        one(lambda i, r: f"{day(i):%d.%m.%Y}"), "numeric", "dates (day first)"
    ),
    "american dates": messy(
        one(lambda i, r: f"{day(i):%m/%d/%Y}"), "numeric", "dates (month first)"
    ),
    "times of day": messy(
        one(lambda i, r: f"{i % 24}:{7 * i % 60:02d}"), "numeric", "times of day"
    ),
    "names of customers": messy(one(lambda i, r: f"customer {i}"), "identifier"),
    "an unnamed index": MessyFile(
        b"\n".join(
            b",".join((b"" if k == 0 else str(k - 1).encode(), line))
            for k, line in enumerate(
                one(lambda i, r: "ab"[i % 2]).splitlines()
            )
        ),
        {**BASE, "Unnamed: 0": "identifier", "x": "categorical"},
    ),
    "leading zeros": messy(
        one(lambda i, r: ("01067", "8001", "00150")[i % 3]), "categorical",
        "'x' holds codes with leading zeros",
    ),
    "constant, empty and windows line ends": MessyFile(
        rows_of(lambda i, r: ["same", ""], ["c", "e"], end="\r\n"),
        {**BASE, "c": "constant", "e": "empty"},
    ),
    "quotes, line breaks and unicode": messy(
        one(lambda i, r: ('"a ""b"", c"', '"two\nlines"', "naïve ☂")[i % 3]),
        "categorical",
    ),
    "integers beyond 2^53": messy(
        one(lambda i, r: str(2**60 + i % 3)), "categorical"
    ),
    "two spellings of a category": messy(
        one(lambda i, r: ("yes", "Yes ", "no")[i % 3]), "categorical"
    ),
}  # fmt: skip
"""Files by what is messy about them."""

UNCLEAR = {
    "dates that may be either": one(lambda i, r: f"0{i % 9 + 1}/0{i % 7 + 1}/2024"),
    "three digits after a comma": one(
        lambda i, r: f"{i % 9 + 1},{100 + i}", separator=";"
    ),
}
"""Files of which a column stays text, since it can be read in two ways."""
