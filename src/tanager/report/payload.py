"""The data of a page: a JSON header and arrays, compressed, in base64."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tanager.errors import InputError
from tanager.report.binary_text import pack_bytes
from tanager.types import FloatArray, IntArray

STEP = 2.0**-36
"""Precision of logarithms in a page, 1.5e-11.

The rounding errors of F tables add up to log odds that are wrong by more than 4e-9, and
so to a posterior that is wrong by more than 1e-9, with a probability below
``2 exp(-(4e-9)^2 / (2 F STEP^2))`` (Hoeffding): 1e-16 for a thousand tables.
"""

LARGEST = 4096.0
"""Largest logarithm that a page can hold."""

ZERO_PROBABILITY = -(2**51)
"""What stands for the logarithm of zero, in units of `STEP`."""


@dataclass
class Payload:
    """Arrays of a page, to be packed with a header.

    Logarithms are stored in units of `STEP` as differences of neighbours, so that
    smooth curves compress well. `page/payload.js` reads the result.

    Examples
    --------
    >>> payload = Payload()
    >>> payload.add_logs("weights", np.array([0.5, 0.25, -np.inf]))
    >>> text = payload.pack({"title": "coin"})
    """

    entries: list[dict[str, Any]] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)

    def add_logs(self, name: str, values: FloatArray) -> None:
        """Add logarithms of probabilities or log weights; -inf is kept."""
        units = to_units(np.ravel(values), STEP)
        self._add(name, "log", _zigzag(np.diff(units, prepend=0)), 7)

    def add_sparse(self, name: str, values: IntArray) -> None:
        """Add whole numbers below 2^52 of both signs, most of which are zero."""
        flat = np.ravel(values)
        filled = flat != 0
        self.parts.append(np.packbits(filled, bitorder="little").tobytes())
        self._add(name, "sparse", _zigzag(flat[filled]), 7)
        self.parts[-2:] = [b"".join(self.parts[-2:])]
        self.entries[-1] |= {"size": len(flat), "filled": int(filled.sum())}

    def add_floats(self, name: str, values: FloatArray) -> None:
        """Add numbers with the precision of float32."""
        self._add(name, "float", np.ravel(values).astype("<f4"), 4)

    def add_errors(self, name: str, values: FloatArray) -> None:
        """Add standard errors, rounded to steps of 6 % for drawing."""
        flat = np.ravel(values)
        logs = np.log2(flat, out=np.full(len(flat), -np.inf), where=flat > 0)
        steps = np.clip(np.rint(200 + 12 * logs), 0, 255)
        self._add(name, "error", steps.astype("u1"), 1)

    def add_codes(self, name: str, values: npt.NDArray[np.integer]) -> None:
        """Add codes below 65,536."""
        self._add(name, "code", np.ravel(values).astype("<u2"), 2)

    def add_sorted(self, name: str, columns: Sequence[FloatArray]) -> list[int]:
        """Add increasing numbers, exactly; returns how every column was stored.

        Numbers with up to 9 decimals are stored as whole numbers, and the number of
        decimals is returned; others, with -1, by their bits. Differences of neighbours
        are small either way.
        """
        found, wholes = [], [np.empty(0, dtype=np.int64)]
        for column in columns:
            decimals = next((d for d in range(10) if _has_decimals(column, d)), -1)
            found.append(decimals)
            if decimals >= 0:
                wholes.append(np.rint(column * 10.0**decimals).astype(np.int64))
            else:
                bits = column.astype(np.float64).view(np.int64)
                wholes.append(bits ^ ((bits >> 63) & np.int64(2**63 - 1)))
        steps = np.diff(np.concatenate(wholes).view(np.uint64), prepend=np.uint64(0))
        self._add(name, "whole", steps.astype("<u8"), 8)
        return found

    def _add(self, name: str, kind: str, values: npt.NDArray[Any], width: int) -> None:
        """Store the first `width` bytes of every entry, in planes."""
        planes = values.view("u1").reshape(len(values), values.itemsize)[:, :width].T
        self.entries.append({"name": name, "kind": kind, "size": len(values)})
        self.parts.append(planes.tobytes())

    def extend(self, other: Payload) -> None:
        """Add the arrays of another payload."""
        self.entries += other.entries
        self.parts += other.parts

    @property
    def packed_size(self) -> int:
        """Letters that the arrays take in a page."""
        return len(pack_bytes(b"".join(self.parts)))

    def pack(self, header: Mapping[str, Any]) -> str:
        """Compress the header and the arrays to one line of text."""
        document = {**header, "arrays": self.entries}
        try:
            text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        except ValueError as error:
            raise InputError(
                f"The model has a state that a page cannot hold ({error}); rename "
                "infinite states."
            ) from None
        # A lone surrogate is no UTF-8; its Python escape is also its JSON escape.
        encoded = text.encode("utf-8", "backslashreplace")
        content = struct.pack("<I", len(encoded)) + encoded + b"".join(self.parts)
        return pack_bytes(content)


def to_units(values: FloatArray, step: float) -> IntArray:
    """Logarithms as multiples of a step; -inf is `ZERO_PROBABILITY`."""
    finite = np.isfinite(values)
    if (~finite & ~np.isneginf(values)).any() or (
        np.abs(values[finite]) > LARGEST
    ).any():
        raise InputError(
            f"The model has a log weight above {LARGEST:g} or no number, which a "
            "page cannot show; check the data it was fitted to."
        )
    units = np.full(values.shape, ZERO_PROBABILITY, dtype=np.int64)
    units[finite] = np.rint(values[finite] / step).astype(np.int64)
    return units


def _zigzag(values: IntArray) -> npt.NDArray[np.uint64]:
    """Numbers of both signs as those without, the small ones first."""
    return np.where(values >= 0, 2 * values, -2 * values - 1).astype("<u8")


def _has_decimals(values: FloatArray, decimals: int) -> bool:
    """Whether all values are exact multiples of 10^-decimals, none too large."""
    with np.errstate(over="ignore"):  # what is infinite is not exact
        scaled = np.rint(values * 10.0**decimals)
    exact = (np.abs(scaled) < 2.0**52) & (scaled / 10.0**decimals == values)
    return bool(exact.all())
