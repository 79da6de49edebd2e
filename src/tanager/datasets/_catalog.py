"""The catalogue of datasets: names, sizes, columns and sources."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from tanager.errors import InputError, unknown_name

SOURCES = (
    "local",
    "sklearn",
    "embedded",
    "generator",
    "keel",
    "openml",
)  # in order of trial
KINDS = ("table", "network", "matrices")  # of which `load` gives tables

# Groups whose datasets need no files take precedence for short names.
_PREFERRED = ("sklearn", "embedded", "synthetic")


@dataclass(frozen=True)
class DatasetInfo:
    """Entry of a dataset in the catalogue; see `info`.

    Parameters
    ----------
    name : str
        Full name, ``group/short``.
    kind : str
        ``"table"``, ``"network"`` (a BIF file) or ``"matrices"``.
    rows, classes : int or None
        Numbers of rows and of classes that occur; None where there are none. For
        generated data as with the default options.
    attributes : int
        Number of features; of a network, its nodes.
    missing : int
        Number of missing cells.
    numeric : int
        Number of numeric features; all others are nominal.
    columns : tuple of str
        Names of the features, where the catalogue lists them.
    kinds : str
        One letter per column: ``n`` numeric, ``c`` nominal.
    n_train : int or None
        Number of training samples, which come first.
    n_folds : int or None
        Number of published folds: ``load(name, fold=...)``.
    labels : tuple of str
        Class names of the integer labels in the file, if it has such.
    layout : str or None
        How the arrays of a file make a table.
    file, sha256 : str or None
        Path in a local data folder and checksum.
    sklearn, generator, keel : str or None
        Name in that source.
    embedded : str or None
        File in this package.
    openml : int or None
        Number at OpenML.
    content_sha256 : str or None
        Checksum of the cells, for downloads: it depends on neither format nor order.
    same_order : tuple of str
        Other sources with the row order of the local file.
    citation, origin, note : str
        Reference, origin of the local file, remarks.
    """

    name: str
    kind: str
    attributes: int
    rows: int | None = None
    classes: int | None = None
    missing: int = 0
    numeric: int = 0
    columns: tuple[str, ...] = ()
    kinds: str = ""
    n_train: int | None = None
    n_folds: int | None = None
    labels: tuple[str, ...] = ()
    layout: str | None = None
    file: str | None = None
    sha256: str | None = None
    sklearn: str | None = None
    embedded: str | None = None
    generator: str | None = None
    keel: str | None = None
    openml: int | None = None
    content_sha256: str | None = None
    same_order: tuple[str, ...] = ()
    citation: str = ""
    origin: str = ""
    note: str = ""

    @property
    def group(self) -> str:
        """The part of the name before the slash."""
        return self.name.split("/")[0]

    @property
    def short(self) -> str:
        """The part of the name after the slash."""
        return self.name.split("/")[1]

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of this dataset, in the order they are tried."""
        fields = (
            self.file, self.sklearn, self.embedded, self.generator, self.keel,
            self.openml,
        )  # fmt: skip
        pairs = zip(SOURCES, fields, strict=True)
        return tuple(source for source, value in pairs if value is not None)

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """Names of the numeric features, where the catalogue lists columns."""
        pairs = zip(self.columns, self.kinds, strict=True)
        return tuple(column for column, kind in pairs if kind == "n")

    @property
    def description(self) -> str:
        """The facts in a few sentences."""
        if self.kind == "network":
            size = f"Bayesian network of {self.attributes} nodes."
        elif self.kind == "matrices":
            size = f"Square matrices over {self.attributes} features."
        else:
            size = (
                f"{self.rows} rows, {self.attributes} attributes "
                f"({self.numeric} numeric), {self.classes} classes, "
                f"{self.missing} missing cells."
            )
        copied = f"Copy of {self.origin}." if self.origin else ""
        parts = (size, self.note, copied, f"Reference: {self.citation}.")
        return " ".join(part for part in parts if part)


@cache
def catalog() -> MappingProxyType[str, DatasetInfo]:
    """Read the catalogue, once: every entry by its full name."""
    text = (files("tanager.datasets") / "catalog.toml").read_text(encoding="utf-8")
    parsed = tomllib.loads(text)
    entries = {}
    for name, facts in parsed["datasets"].items():
        cited = {"citation": parsed["groups"][name.split("/")[0]]["citation"]}
        lists = {k: tuple(v) for k, v in facts.items() if isinstance(v, list)}
        entries[name] = DatasetInfo(name=name, **{**cited, **facts, **lists})
    return MappingProxyType(entries)


def info(name: str) -> DatasetInfo:
    """Describe a dataset without loading it.

    Parameters
    ----------
    name : str
        Full name (``"uci25/chess"``), or its last part where only one dataset has
        it. Embedded and synthetic ones come first: ``"iris"`` is ``"sklearn/iris"``.

    Returns
    -------
    DatasetInfo
        Size, columns, sources, citation.

    Examples
    --------
    >>> chess = info("chess")
    >>> chess.name, chess.rows, chess.attributes, chess.n_train, chess.sources
    ('uci25/chess', 3196, 36, 2130, ('local', 'keel'))
    >>> info("letter")
    Traceback (most recent call last):
    ...
    tanager.errors.InputError: 'letter' names several datasets: ...
    """
    entries = catalog()
    if not isinstance(name, str):
        raise unknown_name("dataset", name, entries)
    if name in entries:
        return entries[name]
    matches = [entry for entry in entries.values() if entry.short == name]
    if len(matches) > 1:
        preferred = [entry for entry in matches if entry.group in _PREFERRED]
        if len(preferred) != 1:
            full = ", ".join(repr(entry.name) for entry in matches)
            raise InputError(
                f"{name!r} names several datasets: {full}. Give the full name."
            )
        matches = preferred
    if not matches:
        # A wrong short name is nearest to short names, a full one to full names.
        known = entries if "/" in name else {e.short: e for e in entries.values()}
        raise unknown_name("dataset", name, known)
    return matches[0]


def names(source: str | None = None, *, kind: str | None = "table") -> list[str]:
    """List the names of the datasets.

    Parameters
    ----------
    source : str or None, default=None
        Only those that this source can give: ``"local"``, ``"sklearn"``,
        ``"embedded"``, ``"generator"``, ``"keel"`` or ``"openml"``.
    kind : str or None, default="table"
        ``"table"`` for what `load` gives, ``"network"`` and ``"matrices"`` for
        files that only `path` gives, None for all.

    Returns
    -------
    list of str
        Full names in the order of the catalogue.

    Examples
    --------
    >>> names("sklearn")
    ['sklearn/breast_cancer', 'sklearn/digits', 'sklearn/iris', 'sklearn/wine']
    >>> names(kind="network")[:2]
    ['networks/alarm', 'networks/andes']
    """
    if source is not None and source not in SOURCES:
        raise unknown_name("source", source, SOURCES)
    if kind is not None and kind not in KINDS:
        raise unknown_name("kind of dataset", kind, KINDS)
    return [
        entry.name
        for entry in catalog().values()
        if (source is None or source in entry.sources)
        and (kind is None or entry.kind == kind)
    ]
