"""Which code and which data a number comes from."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import tanager
from lab.data_folder import VARIABLE, data_folder, table_names, table_version
from tanager import InputError, datasets

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn")

UNUSED = ("cli", "compare", "io")
"""Packages of the library that no measurement depends on."""


@cache
def code_version() -> str:
    """The version of the package and a digest of the sources that measure.

    A cell measured by other sources may differ, so it is measured again unless
    other versions are allowed.

    Examples
    --------
    >>> code_version().startswith(tanager.__version__)
    True
    """
    library = Path(tanager.__file__).parent
    lab = Path(__file__).parents[1]
    content = sha256()
    for root in (library, lab / "measurements"):
        for file in sorted(root.rglob("*.py")):
            place = file.relative_to(root.parent).as_posix()
            if root == library and place.split("/")[1] in UNUSED:
                continue
            content.update(place.encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{tanager.__version__}-{content.hexdigest()[:12]}"


@cache
def data_version(name: str) -> str:
    """The SHA-256 sum of a dataset's file; where it comes from if it has none.

    Generated sets are a matter of the code and of the seed.

    Raises
    ------
    InputError
        If the dataset is not known, or its file is not there or damaged.
    """
    if name in _own_tables():
        return table_version(name)
    entry = datasets.info(name)
    if entry.file is None:
        return f"{entry.name} of {entry.sources[0]}"
    try:
        return sha256(datasets.path(entry.name).read_bytes()).hexdigest()
    except InputError:
        if "generator" in entry.sources:
            return f"{entry.name} of generator"
        raise


@cache
def _own_tables() -> frozenset[str]:
    """Tables of the data folder that the catalogue does not list."""
    if not os.environ.get(VARIABLE):
        return frozenset()
    return frozenset(table_names(data_folder())).difference(datasets.names(kind=None))


LISTED = 4
"""Versions of the code that are named one by one."""


def versions(codes: Collection[str] = ()) -> str:
    """The versions of everything that makes numbers, in a line.

    Parameters
    ----------
    codes : collection of str, default=()
        The versions of the code that measured cells; empty means that of today.
        Packages are those of today in any case.

    Examples
    --------
    >>> versions(["1.0-a", "1.0-b", "1.0-a"]).split(", Python")[0]
    'tanager 1.0-a, 1.0-b'
    >>> versions(list("abcdef")).split(", Python")[0]
    'tanager a, b, c, d and 2 other versions'
    """
    every = sorted(set(codes)) or [code_version()]
    more = len(every) - LISTED
    other = f" and {more} other version{'s' if more > 1 else ''}" if more > 0 else ""
    parts = [
        f"tanager {', '.join(every[:LISTED])}{other}",
        f"Python {platform.python_version()}",
    ]
    return ", ".join(parts + [f"{name} {version(name)}" for name in PACKAGES])
