"""The CPTs of a model file: rows in the JSON file, or a vector in an npz file."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanager.errors import FileFormatError
from tanager.inference.loglinear_family_sums import FamilySum
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.network.construction import SUM_TOLERANCE
from tanager.network.network import Network
from tanager.types import FloatArray

MEMBER = "log_probabilities.npy"  # the one array in the npz file

MAX_FAMILY = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
"""Variables of a family: the axes that an array can have."""

FREE_CELLS = 2**20
"""Cells that any file may describe; a larger one at most as many as it has bytes."""

_DTYPE = np.dtype("<f8")
_MAX_HEADER = 4096
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    re.escape(_MAGIC) + rb"(?P<length>[\s\S]{2})(?P<text>[ -~]{1,4000})\n"
)


def table_variables(
    structure: Structure, layout: FamilyLayout, index: int
) -> tuple[int, ...]:
    """The variables of a table in the order of the file: parents, then the owner."""
    family = structure.families[layout.owners[index]]
    return tuple(v for v in family if v in layout.axes[index])


def is_whole(structure: Structure, layout: FamilyLayout, owner: int) -> bool:
    """Whether a variable has one table over its whole family."""
    tables = layout.tables_of(owner)
    family = structure.families[owner]
    return len(tables) == 1 and len(layout.axes[tables[0]]) == len(family)


def table_rows(network: Network, index: int) -> FloatArray:
    """One table, shape (n_configurations, n_states), the last parent fastest."""
    layout = network.parameters.layout
    variables = table_variables(network.structure, layout, index)
    order = [layout.axes[index].index(v) for v in variables]
    table = network.parameters.log_table(index).transpose(order)
    rows: FloatArray = table.reshape(-1, layout.n_states[variables[-1]])
    return rows


def place_rows(
    layout: FamilyLayout,
    index: int,
    variables: Sequence[int],
    rows: FloatArray,
    out: FloatArray,
) -> None:
    """Write the rows of one table, over `variables`, to its place in `out`."""
    shape = tuple(layout.n_states[v] for v in variables)
    order = [variables.index(v) for v in layout.axes[index]]
    layout.table(out, index)[...] = rows.reshape(shape).transpose(order)


def fill_entries(entries: dict[str, dict[str, Any]], network: Network) -> None:
    """Put the tables of a network into their entries of the document."""
    structure, layout = network.structure, network.parameters.layout
    for owner, name in enumerate(network.schema.names):
        rows = [rows_as_lists(table_rows(network, t)) for t in layout.tables_of(owner)]
        if is_whole(structure, layout, owner):
            entries[name]["log_probabilities"] = rows[0]
        else:
            for part, values in zip(entries[name]["log_tables"], rows, strict=True):
                part["values"] = values


def table_entries(network: Network) -> dict[str, dict[str, Any]]:
    """Entries of the CPTs of a network in the document, without the numbers."""
    structure, layout = network.structure, network.parameters.layout
    names = network.schema.names
    entries: dict[str, dict[str, Any]] = {}
    for owner, name in enumerate(names):
        entries[name] = {"parents": network.parents(name)}
        if not is_whole(structure, layout, owner):
            entries[name]["log_tables"] = [
                {"variables": [names[v] for v in table_variables(structure, layout, t)]}
                for t in layout.tables_of(owner)
            ]
    return entries


def rows_as_lists(rows: FloatArray) -> list[list[float | None]]:
    """Rows for JSON, which has no infinity: the log of zero is null."""
    if np.isfinite(rows).all():
        plain: list[list[float | None]] = rows.tolist()
        return plain
    return [[None if v == -np.inf else v for v in row] for row in rows.tolist()]


def rows_from_lists(
    lists: Any,
    n_rows: int,
    n_states: int,
    name: str,
    what: str,
    field: str = "log_probabilities",
) -> FloatArray:
    """Read the rows of one CPT or factor; anything unexpected is an error."""
    kind = "CPT" if field == "log_probabilities" else "factor"
    if not isinstance(lists, list) or not all(isinstance(row, list) for row in lists):
        raise FileFormatError(
            f"{what} has a {kind} of {name!r} whose {field} are not a list of rows."
        )
    if len(lists) != n_rows or any(len(row) != n_states for row in lists):
        lengths = sorted({len(row) for row in lists})
        shown = lengths[0] if len(lengths) == 1 else lengths
        raise FileFormatError(
            f"{what} has a {kind} of {name!r} with {len(lists)} rows of {shown} "
            f"numbers; expected {n_rows} rows of {n_states}."
        )
    if not {type(value) for row in lists for value in row} <= {float, int, type(None)}:
        raise FileFormatError(
            f"{what} has a {kind} of {name!r} with entries that are neither numbers "
            "nor null."
        )
    try:
        return np.array(
            [[-np.inf if value is None else value for value in row] for row in lists],
            dtype=np.float64,
        )
    except OverflowError:
        raise FileFormatError(
            f"{what} has a {kind} of {name!r} with a number that is too large."
        ) from None


def check_rows(rows: FloatArray, name: str, what: str) -> None:
    """Reject rows that are not logarithms of probabilities that sum to one."""
    # The largest first: exp must not overflow. NaN fails every comparison.
    if not (rows <= SUM_TOLERANCE).all():
        raise FileFormatError(
            f"{what} has a CPT of {name!r} with a number that is not the logarithm "
            "of a probability."
        )
    total = np.exp(rows).sum(axis=1)
    worst = int(np.abs(total - 1.0).argmax())
    if abs(total[worst] - 1.0) > SUM_TOLERANCE:
        raise FileFormatError(
            f"{what} has a CPT of {name!r} whose row {worst + 1} sums to "
            f"{total[worst]:.6g}; every row must sum to 1."
        )


def has_numbers(entry: dict[str, Any]) -> bool:
    """Whether the entry of a table in the document holds its numbers."""
    return "log_probabilities" in entry or any(
        "values" in part for part in entry.get("log_tables", ())
    )


def check_sum(
    layout: FamilyLayout, owner: int, log_theta: FloatArray, name: str, what: str
) -> None:
    """Reject tables whose sum is not the logarithm of a conditional distribution."""
    for t in layout.tables_of(owner):
        if not (layout.table(log_theta, t) < np.inf).all():
            raise FileFormatError(
                f"{what} has a factor of {name!r} with a number that is infinite or no "
                "number."
            )
    log_totals = FamilySum.of(layout, owner).log_sums(log_theta)
    worst = log_totals.ravel()[np.abs(log_totals).argmax()]
    # NaN and what lies too far from 0 for exp fail this, too.
    if not abs(worst) <= SUM_TOLERANCE:
        raise FileFormatError(
            f"{what} has factors of {name!r} whose sum is not the logarithm of "
            f"probabilities: those of one configuration sum to exp({worst:.6g}) and "
            "not to 1."
        )


def inline_rows(
    tables: dict[str, Any],
    schema: Schema,
    structure: Structure,
    layout: FamilyLayout,
    what: str,
) -> list[FloatArray]:
    """Rows of every table of one network, from the document."""
    found = []
    for owner, name in enumerate(schema.names):
        entry = tables[name]
        whole = is_whole(structure, layout, owner) and "log_tables" not in entry
        field = "log_probabilities" if whole else "values"
        parts = [entry] if whole else entry["log_tables"]
        for t, part in zip(layout.tables_of(owner), parts, strict=True):
            if field not in part:
                raise FileFormatError(
                    f"{what}, CPT of {name!r}, lacks the field {field!r}."
                )
            last = table_variables(structure, layout, t)[-1]
            n_states = layout.n_states[last]
            n_rows = layout.sizes[t] // n_states
            found.append(
                rows_from_lists(part[field], n_rows, n_states, name, what, field)
            )
    return found


def place_tables(
    tables: Sequence[FloatArray],
    schema: Schema,
    structure: Structure,
    layout: FamilyLayout,
    what: str,
) -> FloatArray:
    """Check the rows of every table of one network and write them to one vector."""
    log_theta = np.empty(layout.n_cells)
    for t, rows in enumerate(tables):
        owner = layout.owners[t]
        if is_whole(structure, layout, owner):
            check_rows(rows, schema[owner].name, what)
        variables = table_variables(structure, layout, t)
        place_rows(layout, t, variables, rows, log_theta)
    for owner, name in enumerate(schema.names):
        if not is_whole(structure, layout, owner):
            check_sum(layout, owner, log_theta, name, what)
    return log_theta


def pack_arrays(networks: Sequence[Network]) -> bytes:
    """Bytes of the npz file: all tables, one after the other, as one vector."""
    rows = [
        table_rows(network, index).ravel()
        for network in networks
        for index in range(network.parameters.layout.n_tables)
    ]
    return pack_vector(np.concatenate(rows))


def pack_vector(vector: FloatArray) -> bytes:
    """Bytes of the npz file of a vector."""
    buffer = io.BytesIO()
    np.savez(buffer, log_probabilities=vector.astype(_DTYPE, copy=False))
    return buffer.getvalue()


def digest(content: bytes) -> str:
    """SHA-256 of the npz file, which the JSON file states."""
    return hashlib.sha256(content).hexdigest()


def unpack_arrays(content: bytes, what: str, *, n_cells: int) -> FloatArray:
    """Read the vector from the bytes of an npz file, without trusting it.

    Nothing larger than the expected `n_cells` numbers is allocated. `pack_vector` does
    not compress, so that compressed arrays are refused: a small file could hold large
    ones.
    """
    n_bytes = n_cells * _DTYPE.itemsize
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.namelist() != [MEMBER]:
                raise FileFormatError(f"{what} does not hold exactly {MEMBER!r}.")
            if archive.getinfo(MEMBER).compress_type != zipfile.ZIP_STORED:
                raise FileFormatError(
                    f"{what} is compressed; expected an npz file as numpy.savez "
                    "writes it. Save the model again."
                )
            with archive.open(MEMBER) as member:
                data = member.read(_MAX_HEADER + n_bytes + 1)
    except FileFormatError:
        raise
    except (
        zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, struct.error,
    ) as error:  # fmt: skip
        raise FileFormatError(f"{what} is damaged: {error}.") from None
    # The header is compared as text and not evaluated, as NumPy does.
    found = _HEADER.match(data)
    if found is None:
        raise FileFormatError(
            f"{what} is damaged: it does not begin with the header of an array of "
            "version 1."
        )
    start = len(_MAGIC) + 2 + int.from_bytes(found["length"], "little")
    text = found["text"].decode("ascii").strip()
    shape = f"({n_cells},)"
    expected = (
        f"{{'descr': '{_DTYPE.str}', 'fortran_order': False, 'shape': {shape}, }}"
    )
    if text != expected or len(data) - start != n_bytes:
        raise FileFormatError(
            f"{what} holds an array with the header {text[:200]}; expected {n_cells} "
            f"numbers of 64 bits, with the header {expected}."
        )
    return np.frombuffer(data, dtype=_DTYPE, offset=start).astype(np.float64)


def split_vector(
    vector: FloatArray, structure: Structure, layout: FamilyLayout
) -> list[FloatArray]:
    """Cut the vector of an npz file into the rows of every table."""
    ends = np.cumsum(layout.sizes)[:-1]
    return [
        part.reshape(-1, layout.n_states[table_variables(structure, layout, t)[-1]])
        for t, part in enumerate(np.split(vector, ends))
    ]
