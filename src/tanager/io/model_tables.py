"""The probability tables of a model file: rows in the JSON, or an npz beside it."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.core.errors import FileFormatError
from tanager.core.layout import FamilyLayout
from tanager.core.schema import Schema
from tanager.core.structure import Structure
from tanager.network.building import SUM_TOLERANCE
from tanager.network.network import Network

FloatArray = npt.NDArray[np.float64]

MEMBER = "log_probabilities.npy"
"""Name of the one array in the npz file."""

_DTYPE = np.dtype("<f8")
_MAX_HEADER = 4096


def family_rows(network: Network, index: int) -> FloatArray:
    """Log probabilities of one variable, a row for every configuration of its parents.

    Returns
    -------
    ndarray of float64, shape (n_configurations, n_states)
        Configurations in the order of the parents, the last parent fastest.
    """
    layout = network.parameters.layout
    family = network.structure.families[index]
    order = [layout.axes[index].index(v) for v in family]
    table = network.parameters.log_table(index).transpose(order)
    rows: FloatArray = table.reshape(-1, layout.n_states[index])
    return rows


def place_rows(
    layout: FamilyLayout, family: Sequence[int], rows: FloatArray, out: FloatArray
) -> None:
    """Put the rows of one variable (the last of `family`) where its table lies."""
    index = family[-1]
    shape = tuple(layout.n_states[v] for v in family)
    order = [family.index(v) for v in layout.axes[index]]
    layout.table(out, index)[...] = rows.reshape(shape).transpose(order)


def rows_as_lists(rows: FloatArray) -> list[list[float | None]]:
    """Rows for JSON, which has no infinity: the log of zero is null."""
    if np.isfinite(rows).all():
        plain: list[list[float | None]] = rows.tolist()
        return plain
    return [[None if v == -np.inf else v for v in row] for row in rows.tolist()]


def rows_from_lists(
    lists: Any, n_rows: int, n_states: int, name: str, what: str
) -> FloatArray:
    """Read the rows of one table, refusing whatever else the file may hold."""
    if not isinstance(lists, list) or not all(isinstance(row, list) for row in lists):
        raise FileFormatError(
            f"{what} has a table of {name!r} whose log_probabilities are not a list of "
            "rows."
        )
    if len(lists) != n_rows or any(len(row) != n_states for row in lists):
        lengths = sorted({len(row) for row in lists})
        shown = lengths[0] if len(lengths) == 1 else lengths
        raise FileFormatError(
            f"{what} has a table of {name!r} with {len(lists)} rows of {shown} "
            f"numbers; expected {n_rows} rows of {n_states}."
        )
    kinds = {type(value) for row in lists for value in row}
    if not kinds <= {float, int, type(None)}:
        raise FileFormatError(
            f"{what} has a table of {name!r} with entries that are neither numbers nor "
            "null."
        )
    try:
        return np.array(
            [[-np.inf if value is None else value for value in row] for row in lists],
            dtype=np.float64,
        )
    except OverflowError:
        raise FileFormatError(
            f"{what} has a table of {name!r} with a number that is too large."
        ) from None


def check_rows(rows: FloatArray, name: str, what: str) -> None:
    """Refuse rows that are not logarithms of probabilities that sum to one."""
    # The largest first: exp must not overflow. NaN fails every comparison.
    if not (rows <= SUM_TOLERANCE).all():
        raise FileFormatError(
            f"{what} has a table of {name!r} with a number that is not the logarithm "
            "of a probability."
        )
    total = np.exp(rows).sum(axis=1)
    worst = int(np.abs(total - 1.0).argmax())
    if abs(total[worst] - 1.0) > SUM_TOLERANCE:
        raise FileFormatError(
            f"{what} has a table of {name!r} whose row {worst + 1} sums to "
            f"{total[worst]:.6g}; every row must sum to 1."
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
    for variable, family in zip(schema, structure.families, strict=True):
        entry = tables[variable.name]
        if "log_probabilities" not in entry:
            raise FileFormatError(
                f"{what}, table of {variable.name!r}, lacks the field "
                "'log_probabilities'."
            )
        n_rows = prod(layout.n_states[v] for v in family[:-1])
        found.append(
            rows_from_lists(
                entry["log_probabilities"],
                n_rows,
                variable.n_states,
                variable.name,
                what,
            )
        )
    return found


def placed_rows(
    tables: Sequence[FloatArray],
    schema: Schema,
    structure: Structure,
    layout: FamilyLayout,
    what: str,
) -> FloatArray:
    """The rows of every table of one network, checked and put where they lie."""
    log_theta = np.empty(layout.n_cells)
    for family, rows in zip(structure.families, tables, strict=True):
        check_rows(rows, schema[family[-1]].name, what)
        place_rows(layout, family, rows, log_theta)
    return log_theta


def pack_arrays(networks: Sequence[Network]) -> bytes:
    """Bytes of the npz file: all tables, one after the other, as one vector."""
    rows = [
        family_rows(network, index).ravel()
        for network in networks
        for index in range(len(network.schema))
    ]
    buffer = io.BytesIO()
    vector = np.concatenate(rows).astype(_DTYPE, copy=False)
    np.savez(buffer, log_probabilities=vector)
    return buffer.getvalue()


def digest(content: bytes) -> str:
    """SHA-256 of the npz file, which the JSON file states."""
    return hashlib.sha256(content).hexdigest()


def unpack_arrays(content: bytes, what: str, *, n_cells: int) -> FloatArray:
    """Read the vector from the bytes of an npz file, without trust.

    Parameters
    ----------
    content : bytes
        The file.
    what : str
        What it is, to begin an error message with.
    n_cells : int
        The number of entries expected; nothing larger is ever allocated.

    Returns
    -------
    ndarray of float64, shape (n_cells,)
    """
    limit = _MAX_HEADER + n_cells * _DTYPE.itemsize
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.namelist() != [MEMBER]:
                raise FileFormatError(f"{what} does not hold exactly {MEMBER!r}.")
            with archive.open(MEMBER) as member:
                data = member.read(limit + 1)
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise FileFormatError(f"{what} holds an array of an unknown version.")
        shape, _, dtype = np.lib.format.read_array_header_1_0(
            stream, max_header_size=_MAX_HEADER
        )
    except FileFormatError:
        raise
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError) as error:
        raise FileFormatError(f"{what} is damaged: {error}.") from None
    start = stream.tell()
    if (
        dtype != _DTYPE
        or shape != (n_cells,)
        or len(data) - start != n_cells * _DTYPE.itemsize
    ):
        raise FileFormatError(
            f"{what} holds an array of shape {shape} and type {dtype}; expected "
            f"{n_cells} numbers of 64 bits."
        )
    return np.frombuffer(data, dtype=_DTYPE, offset=start).astype(np.float64)


def split_vector(
    vector: FloatArray, schema: Schema, layout: FamilyLayout
) -> list[FloatArray]:
    """Cut the vector of an npz file into the rows of every variable."""
    ends = np.cumsum(layout.sizes)[:-1]
    return [
        part.reshape(-1, variable.n_states)
        for part, variable in zip(np.split(vector, ends), schema, strict=True)
    ]
