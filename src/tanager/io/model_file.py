"""Model files: a network and what made it, as versioned JSON."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.core.errors import FileFormatError, InputError
from tanager.core.layout import MAX_CELLS, FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.schema import Schema, Variable
from tanager.core.structure import Structure
from tanager.io.atomic import PathLike, check_writable, replacing, write_bytes
from tanager.io.json_text import decode_json, encode_json
from tanager.io.model_document import (
    DOCUMENT,
    FORMAT,
    OPTIONAL,
    SCHEMA_VERSION,
    TABLES_FILE,
    check_fields,
    check_kind,
    read_schema,
    read_structure,
)
from tanager.io.model_tables import (
    FloatArray,
    check_rows,
    digest,
    family_rows,
    pack_arrays,
    place_rows,
    rows_as_lists,
    rows_from_lists,
    split_vector,
    unpack_arrays,
)
from tanager.network.network import Network

INLINE_CELLS = 200_000
"""Cells up to which the tables stand in the JSON file itself."""

MAX_JSON_BYTES = 2**28
"""Largest JSON file that is read."""

MAX_NPZ_BYTES = 2**30
"""Largest npz file that is read."""

_DIGITS = 12


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds.

    Parameters
    ----------
    network : Network
        The network; its probabilities are those that were written, bit by bit.
    classifier : dict or None
        What the classifier needs beside the network, as plain data.
    version : int
        Layout of the document, its ``schema_version``.
    written_by : str
        The program that wrote it.
    """

    network: Network
    classifier: dict[str, Any] | None = field(default=None)
    version: int = SCHEMA_VERSION
    written_by: str = ""


def write_model(
    path: PathLike, network: Network, classifier: dict[str, Any] | None = None
) -> None:
    """Write a network, and what a classifier needs beside it, as a JSON file.

    Large tables go to an npz file beside it, named after the JSON file and the
    SHA-256 of the tables: ``model.json-0123456789ab.npz``. It is complete before the
    JSON file that names it takes its place, and the npz file of the model that was
    there before is removed after that. So at any moment `path` is either the old
    model or the new one, whole.

    Parameters
    ----------
    path : str or path
        Where to write, usually ``something.json``.
    network : Network
        The variables, arcs and tables.
    classifier : dict or None, default=None
        Plain data: strings, finite numbers, bools, None, lists and dicts.

    Raises
    ------
    InputError
        If the file cannot be written, or something in it has no JSON form.

    Warns
    -----
    UserWarning
        If the model is written, but the npz file of the one that was there before
        cannot be removed.

    See Also
    --------
    read_model : The way back.
    """
    path = Path(path)
    if np.isnan(network.parameters.log_theta).any():
        raise InputError("The network has tables with NaN, so it is not written.")
    document: dict[str, Any] = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"tanager {__version__}",
        "target": None,
        "variables": [_variable_entry(variable) for variable in network.schema],
        "tables": {
            name: {"parents": network.parents(name)} for name in _names(network)
        },
    }
    if network.schema.target is not None:
        document["target"] = network.schema.target_variable.name
    check_writable(path)
    # Through a symbolic link the JSON file is written where the link leads; the tables
    # belong there too.
    place = Path(os.path.realpath(path))
    former = _own_tables(place)
    if network.parameters.layout.n_cells <= INLINE_CELLS:
        for index, name in enumerate(_names(network)):
            rows = rows_as_lists(family_rows(network, index))
            document["tables"][name]["log_probabilities"] = rows
        document["classifier"] = classifier
        write_bytes(path, encode_json(document))
        _remove_former(former, None, path)
        return
    arrays = pack_arrays(network)
    sha256 = digest(arrays)
    beside = place.with_name(f"{_stem(place)}-{sha256[:_DIGITS]}.npz")
    document["tables_file"] = {"name": beside.name, "sha256": sha256}
    document["classifier"] = classifier
    content = encode_json(document)
    is_new = not beside.exists()
    try:
        with replacing(path) as json_file:
            json_file.write(content)
            write_bytes(beside, arrays)
            if former is not None and former.is_file():
                shutil.copymode(former, beside)
    except InputError:
        # The failure itself is what has to be told, not that a file is left over.
        if is_new and _own_tables(place) != beside:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        raise
    _remove_former(former, beside, path)


def read_model(path: PathLike) -> ModelFile:
    """Read a model file, trusting nothing in it and executing nothing.

    Parameters
    ----------
    path : str or path
        A file that `write_model` of this or an earlier version wrote.

    Returns
    -------
    ModelFile
        The network, and the classifier's data.

    Raises
    ------
    FileFormatError
        If the file is not a model file, damaged, inconsistent, too large, or of a
        newer version; the message says which.
    InputError
        If there is no such file or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> coin = Network.build({"coin": ["heads", "tails"]}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(Path(folder) / "coin.json", coin)
    ...     read_model(Path(folder) / "coin.json").network
    <Network: 1 variables, 0 arcs, 1 parameters>
    """
    path = Path(path)
    what = f"The model file '{path}'"
    document = decode_json(_content(path, MAX_JSON_BYTES, what), what)
    check_kind(document, what)
    check_fields(document, DOCUMENT, what, optional=OPTIONAL)
    schema = read_schema(document, what)
    structure = read_structure(document["tables"], schema, what)
    try:
        layout = FamilyLayout.of_structure(schema, structure)
    except ValueError:  # also for sizes with too many digits to be printed
        raise FileFormatError(
            f"{what} describes tables of more than {MAX_CELLS:,} cells, which is not "
            "allowed."
        ) from None
    log_theta = np.empty(layout.n_cells)
    tables = _tables(document, path, schema, structure, layout, what)
    for family, rows in zip(structure.families, tables, strict=True):
        check_rows(rows, schema[family[-1]].name, what)
        place_rows(layout, family, rows, log_theta)
    return ModelFile(
        Network(schema, structure, Parameters(layout, log_theta)),
        document["classifier"],
        document["schema_version"],
        document["written_by"],
    )


def _names(network: Network) -> tuple[str, ...]:
    return network.schema.names


def _variable_entry(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "states": variable.states,
        "ordered": variable.ordered,
        "cuts": variable.cuts,
    }


def _stem(path: Path) -> str:
    """Beginning of the names of npz files that belong to a JSON file.

    Marks that `_packed` takes for a folder are escaped, and "%" with them, so that two
    JSON files never have the same beginning.
    """
    return re.sub(r"[%\\:]", lambda mark: f"%{ord(mark[0]):02X}", path.name)


def _own_tables(path: Path) -> Path | None:
    """The npz file of the model at `path`, if `write_model` named it for this path.

    A name of another kind may belong to someone else: a JSON file that was copied or
    renamed still names the npz file of the one it came from.
    """
    if not path.is_file():
        return None
    what = f"The file '{path}'"
    try:
        content = _content(path, MAX_JSON_BYTES, what)
        if b'"tables_file"' not in content:  # saves decoding large tables
            return None
        document = decode_json(content, what)
        check_kind(document, what)
        packed = document.get("tables_file")
        check_fields(packed, TABLES_FILE, what)
    except (FileFormatError, InputError):
        return None  # no model that could be loaded, so nothing is known to be its own
    name = packed["name"]
    ours = rf"{re.escape(_stem(path))}-[0-9a-f]{{{_DIGITS}}}\.npz"
    return path.with_name(name) if re.fullmatch(ours, name) else None


def _remove_former(former: Path | None, beside: Path | None, path: Path) -> None:
    """Remove the npz file of the model that has been replaced."""
    if former is None or former == beside:
        return
    try:
        former.unlink(missing_ok=True)
    except OSError as error:
        warnings.warn(
            f"The model is saved as '{path}', but the tables of the one before it, "
            f"'{former}', cannot be removed: {error.strerror or error}; nothing needs "
            "them, so delete the file when you can.",
            UserWarning,
            stacklevel=3,
        )


def _content(path: Path, limit: int, what: str) -> bytes:
    """Bytes of a file of bounded size."""
    if path.is_dir():
        raise FileFormatError(f"{what} is a folder; give the name of a file.")
    try:
        with open(path, "rb") as file:
            too_large = os.fstat(file.fileno()).st_size > limit
            # A device has no size, so the length is bounded here too.
            content = b"" if too_large else file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{what} does not exist; check the name.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{what} cannot be read: {error}.") from None
    if too_large or len(content) > limit:
        raise FileFormatError(
            f"{what} is larger than {limit:,} bytes, so it is not read."
        )
    return content


def _tables(
    document: dict[str, Any],
    path: Path,
    schema: Schema,
    structure: Structure,
    layout: FamilyLayout,
    what: str,
) -> list[FloatArray]:
    """Rows of every table, from the document or from the file beside it."""
    packed = document.get("tables_file")
    inside = ["log_probabilities" in entry for entry in document["tables"].values()]
    if packed is not None:
        if any(inside):
            raise FileFormatError(
                f"{what} has tables both inside and in a file beside it."
            )
        return split_vector(_packed(packed, path, layout, what), schema, layout)
    tables = []
    for variable, family in zip(schema, structure.families, strict=True):
        entry = document["tables"][variable.name]
        if "log_probabilities" not in entry:
            raise FileFormatError(
                f"{what}, table of {variable.name!r}, lacks the field "
                "'log_probabilities'."
            )
        n_rows = prod(layout.n_states[v] for v in family[:-1])
        tables.append(
            rows_from_lists(
                entry["log_probabilities"],
                n_rows,
                variable.n_states,
                variable.name,
                what,
            )
        )
    return tables


def _packed(packed: Any, path: Path, layout: FamilyLayout, what: str) -> FloatArray:
    check_fields(packed, TABLES_FILE, f"{what}, field 'tables_file',")
    name = packed["name"]
    # Only a file in the same folder: a path could lead anywhere.
    if name in ("", ".", "..") or any(mark in name for mark in "/\\:\0"):
        raise FileFormatError(
            f"{what} names the tables file {name!r}; expected a name without a folder."
        )
    beside = path.with_name(name)
    if not beside.is_file():  # perhaps `path` is a symbolic link
        beside = Path(os.path.realpath(path)).with_name(name)
    if not beside.is_file():
        raise FileFormatError(
            f"{what} has its tables in the file '{name}', which is not beside it; the "
            "two belong together, so put it back or save the model again."
        )
    content = _content(beside, MAX_NPZ_BYTES, f"The tables file '{beside}'")
    if digest(content) != packed["sha256"].lower():
        raise FileFormatError(
            f"{what} has its tables in the file '{name}', which is not the one it was "
            "saved with (another SHA-256); put the right one back or save the model "
            "again."
        )
    return unpack_arrays(content, layout.n_cells, f"The tables file '{beside}'")
