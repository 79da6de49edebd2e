"""The tables of a data folder: their names, files, columns and samples.

A table is a file ``NAME.csv`` or ``NAME.csv.gz`` at any depth of the folder: a header,
a line for every sample, the class in the last column, and an empty entry for a missing
value. A column is numeric if all of its values are numbers. A file ``COLUMNS.csv`` at
the top, with the columns ``path``, ``column`` and ``kind`` (``numeric`` or
``nominal``), decides otherwise, for integers that are codes. Files whose names are
written in capitals describe the folder and are no tables.

Files of the library's catalogue are read by `tanager.datasets.load`, which checks them.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager import InputError, datasets

VARIABLE = "TANAGER_DATA"
"""Environment variable that names the folder."""

SUFFIXES = (".csv.gz", ".csv")
KINDS = "COLUMNS.csv"


@dataclass(frozen=True)
class Table:
    """A table and its size.

    Parameters
    ----------
    name : str
        Path of its file in the folder, without the suffix.
    n_samples, n_features, n_classes : int
        Its size.
    n_numeric : int
        How many of the features are numeric.
    n_missing : int
        Entries without a value.
    """

    name: str
    n_samples: int
    n_features: int
    n_classes: int
    n_numeric: int
    n_missing: int

    @property
    def cost(self) -> int:
        """What most times to fit grow with."""
        return self.n_samples * self.n_features * self.n_classes


def data_folder() -> Path:
    """The folder that the environment variable names.

    Raises
    ------
    InputError
        If none is named, or it is not there.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        raise InputError(
            f"No data folder is named; set the environment variable {VARIABLE}, or "
            "name the folder with --data."
        )
    if not Path(named).is_dir():
        raise InputError(
            f"There is no data folder '{named}'; name another one with --data or "
            f"{VARIABLE}."
        )
    return Path(named)


def table_names(folder: Path) -> list[str]:
    """Names of the tables of a folder, in alphabetical order.

    Arrays are tables only if the library's catalogue says so.
    """
    found = {name for file in folder.rglob("*") if (name := _name_of(folder, file))}
    for name in datasets.names("local"):
        if (folder / str(datasets.info(name).file)).is_file():
            found.add(name)
    return sorted(found)


def _name_of(folder: Path, file: Path) -> str | None:
    """The name of a table, None for other files."""
    for suffix in SUFFIXES:
        if file.name.endswith(suffix) and file.is_file():
            own = file.name.removesuffix(suffix)
            if own.isupper():
                return None
            return (file.relative_to(folder).parent / own).as_posix()
    return None


def file_of(name: str) -> Path:
    """The file of a table.

    Raises
    ------
    InputError
        If the folder has no such file.
    """
    folder = data_folder()
    if (entry := _catalogued(name)) is not None:
        return folder / str(entry.file)
    for suffix in SUFFIXES:
        if (file := folder / f"{name}{suffix}").is_file():
            return file
    raise InputError(
        f"The data folder '{folder}' has no table '{name}': expected a file "
        f"'{name}.csv' or '{name}.csv.gz'."
    )


def content_sum(name: str) -> str:
    """The SHA-256 sum of the file of a table: copies have the same one."""
    return sha256(file_of(name).read_bytes()).hexdigest()


def table_version(name: str) -> str:
    """The SHA-256 sum of all that a table is read from."""
    kinds = "" if _catalogued(name) else repr(sorted(_kinds(file_of(name)).items()))
    return sha256((content_sum(name) + kinds).encode()).hexdigest()


@lru_cache(maxsize=2)
def read_table(name: str) -> tuple[Any, npt.NDArray[Any]]:
    """Features as a data frame and classes as text.

    Nominal features are categories of pandas.

    Raises
    ------
    InputError
        If there is no such table, or its file is not one.
    """
    if _catalogued(name):
        found = datasets.load(name, folder=data_folder(), source="local")
        return found.X, np.asarray(found.y).astype(str)
    return _read_csv(file_of(name))


def describe_table(name: str) -> Table:
    """The size of a table; catalogued ones are not read."""
    if (entry := _catalogued(name)) is not None and entry.rows and entry.classes:
        return Table(
            name,
            entry.rows,
            entry.attributes,
            entry.classes,
            entry.numeric,
            entry.missing,
        )
    X, y = read_table(name)
    return Table(
        name,
        len(y),
        X.shape[1],
        len(np.unique(y)),
        sum(dtype.kind in "biuf" for dtype in X.dtypes),
        int(X.isna().to_numpy().sum()),
    )


def _catalogued(name: str) -> datasets.DatasetInfo | None:
    """What the catalogue says of a table of the folder, if it is listed there."""
    try:
        entry = datasets.info(name)
    except InputError:
        return None
    exact = entry.name == name and entry.file is not None
    return entry if exact and (data_folder() / str(entry.file)).is_file() else None


def _read_csv(file: Path) -> tuple[Any, npt.NDArray[Any]]:
    import pandas as pd

    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    if frame.shape[1] < 2 or not len(frame):
        raise InputError(
            f"'{file}' is no table: expected a header with at least one feature and "
            f"the class, and samples below it; got {frame.shape[1]} columns and "
            f"{len(frame)} lines."
        )
    classes = frame.iloc[:, -1]
    if (classes == "").any():
        raise InputError(
            f"'{file}' has no class (last column, {frame.columns[-1]!r}) in line "
            f"{int((classes == '').argmax()) + 2}; remove such samples, or move the "
            "class to the last column."
        )
    kinds = _kinds(file)
    columns = {
        column: _typed(frame[column], kinds.get(column), file)
        for column in frame.columns[:-1]
    }
    return pd.DataFrame(columns), classes.to_numpy(dtype=str)


def _typed(texts: Any, kind: str | None, file: Path) -> Any:
    """A column as numbers or categories; its kind None means by its values."""
    import pandas as pd

    values = texts.where(texts != "", None)
    if kind != "nominal":
        numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
        if (numbers.isna() == values.isna()).all():
            return numbers
        if kind == "numeric":
            line = int((numbers.isna() != values.isna()).argmax())
            raise InputError(
                f"'{file}': the column {texts.name!r} is numeric by {KINDS}, but line "
                f"{line + 2} has {texts.iloc[line]!r}; call it nominal, or mend the "
                "value."
            )
    return values.astype("category")


def _kinds(file: Path) -> dict[str, str]:
    """Kinds of the columns of a file, as far as the folder says."""
    described = data_folder() / KINDS
    if not described.is_file():
        return {}
    path = file.relative_to(data_folder()).as_posix()
    with open(described, newline="", encoding="utf-8") as lines:
        return {
            row["column"]: row["kind"]
            for row in csv.DictReader(lines)
            if row["path"] == path
        }
