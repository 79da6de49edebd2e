"""Factors of a log-linear network in the JSON document of a model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanager.errors import FileFormatError, InputError
from tanager.io.checked_fields import (
    FACTOR_ERRORS_VERSION,
    FACTOR_VARIANCES_VERSION,
    Fields,
    check_fields,
)
from tanager.loglinear.factor import SMALL_RIDGE, Axis, Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tanager.model.layout import MAX_CELLS
from tanager.model.schema import Schema
from tanager.network.loglinear_network import LogLinearNetwork
from tanager.types import FloatArray

MAX_FEATURES = max(SMALL_RIDGE)
"""Features of a factor."""

_FACTOR: Fields = {
    "features": (list,),
    "bins": (list,),
    "ordered": (list,),
    "strength": (int, float),
}
_FACTOR_WITH_ERRORS: Fields = {**_FACTOR, "effective": (int, float)}
_NUMBERS: Fields = {"weights": (list,), "support": (list,)}
_NUMBERS_WITH_ERRORS: Fields = {**_NUMBERS, "errors": (list,)}


@dataclass(frozen=True)
class FactorEntry:
    """A factor of a document without its arrays.

    Parameters
    ----------
    factor : Factor
        The features and their bins.
    strength : float
        Strength of the penalty.
    effective : float or None
        Effective number of parameters; None in documents without standard errors.
    """

    factor: Factor
    strength: float
    effective: float | None

    def sizes(self, n_classes: int) -> dict[str, int]:
        """Length of every array of the factor, in their order in an npz file."""
        n_cells = self.factor.n_cells
        sizes = {"weights": n_cells * n_classes, "support": n_cells}
        return sizes if self.effective is None else sizes | {"errors": sizes["weights"]}


def factor_entries(network: LogLinearNetwork) -> list[dict[str, Any]]:
    """List the factors as plain data, without their arrays."""
    entries = []
    for table in network.factors.tables:
        entry: dict[str, Any] = {
            "features": list(network.names_of(table)),
            "bins": [axis.bins.tolist() for axis in table.factor.axes],
            "ordered": table.factor.n_ordered.tolist(),
            "strength": table.strength,
        }
        if table.effective is not None:
            entry["effective"] = table.effective
        entries.append(entry)
    return entries


def fill_factors(entries: list[dict[str, Any]], network: LogLinearNetwork) -> None:
    """Put the arrays of the factors into their entries."""
    for entry, table in zip(entries, network.factors.tables, strict=True):
        entry.update((name, a.tolist()) for name, a in _arrays(table).items())


def factor_vector(network: LogLinearNetwork) -> FloatArray:
    """All arrays in one vector, those of one factor after those of another."""
    parts = [a for t in network.factors.tables for a in _arrays(t).values()]
    return np.concatenate([np.empty(0), *parts])


def read_factors(
    document: dict[str, Any], schema: Schema, what: str
) -> tuple[FloatArray, list[FactorEntry]]:
    """Log prior, and the factors without arrays, checked without trusting them.

    Raises `FileFormatError` also if there are too many cells.
    """
    if schema.target != len(schema) - 1:
        raise FileFormatError(f"{what} must have the class as its last variable.")
    prior = _floats(document["log_prior"], schema.n_classes, f"{what}, log_prior,")
    has_errors = _has_errors(document)
    fields = _FACTOR_WITH_ERRORS if has_errors else _FACTOR
    arrays = _NUMBERS_WITH_ERRORS if has_errors else _NUMBERS
    found = []
    n_cells = 0
    for number, entry in enumerate(document["factors"], start=1):
        where = f"{what}, factor number {number},"
        check_fields(entry, fields, where, optional=arrays)
        strength = _float(entry["strength"], f"{where} strength,")
        if not strength > 0:
            raise FileFormatError(f"{where} has the strength {strength:g}.")
        effective = None
        if has_errors:
            effective = _float(entry["effective"], f"{where} effective,")
            if effective < 0:
                raise FileFormatError(f"{where} has effective = {effective:g}.")
        factor = Factor(tuple(_read_axes(entry, schema, where)))
        found.append(FactorEntry(factor, strength, effective))
        n_cells += sum(found[-1].sizes(schema.n_classes).values())
        if n_cells > MAX_CELLS:
            raise FileFormatError(
                f"{what} describes factors of more than {MAX_CELLS:,} cells, which is "
                "not allowed."
            )
    return prior, found


def read_variance_scale(document: dict[str, Any], what: str) -> float:
    """Scale of the variances; 0 before `FACTOR_VARIANCES_VERSION`."""
    scale = _float(document.get("variance_scale", 0.0), f"{what}, variance_scale,")
    if scale < 0:
        raise FileFormatError(f"{what} has variance_scale = {scale:g}.")
    return scale


def split_factors(
    vector: FloatArray, factors: Sequence[FactorEntry], n_classes: int
) -> Iterator[dict[str, FloatArray]]:
    """Cut the vector of `factor_vector` into the arrays of every factor."""
    start = 0
    for entry in factors:
        found = {}
        for name, size in entry.sizes(n_classes).items():
            found[name] = vector[start : start + size]
            start += size
        yield found


def inline_factors(
    document: dict[str, Any],
    factors: Sequence[FactorEntry],
    n_classes: int,
    what: str,
) -> Iterator[dict[str, FloatArray]]:
    """The arrays of every factor from its entry in the document."""
    for number, described in enumerate(factors):
        entry = document["factors"][number]
        where = f"{what}, factor number {number + 1},"
        sizes = described.sizes(n_classes)
        check_fields({n: entry[n] for n in sizes if n in entry}, _lists(sizes), where)
        yield {n: _floats(entry[n], size, f"{where} {n},") for n, size in sizes.items()}


def has_inline_factors(document: dict[str, Any]) -> bool:
    """Whether some factor has its arrays in the document."""
    names = _NUMBERS_WITH_ERRORS
    return any(name in entry for entry in document["factors"] for name in names)


def make_network(
    schema: Schema,
    prior: FloatArray,
    factors: Sequence[FactorEntry],
    arrays: Iterator[dict[str, FloatArray]],
    variance_scale: float,
    what: str,
) -> LogLinearNetwork:
    """Put the parts together."""
    tables = []
    for entry, own in zip(factors, arrays, strict=True):
        if not all(np.isfinite(array).all() for array in own.values()):
            raise FileFormatError(
                f"{what} has factors with numbers that are not finite."
            )
        if not (own["support"] >= 0).all():
            raise FileFormatError(f"{what} has factors with negative support.")
        errors = own.get("errors")
        if errors is not None:
            if not (errors >= 0).all():
                raise FileFormatError(f"{what} has factors with negative errors.")
            errors = errors.reshape(entry.factor.n_cells, schema.n_classes)
        weights = own["weights"].reshape(entry.factor.n_cells, schema.n_classes)
        tables.append(
            FactorTable(
                entry.factor,
                weights,
                own["support"],
                entry.strength,
                entry.effective,
                errors,
            )
        )
    try:
        found = FactorTables(prior, tuple(tables), variance_scale)
        return LogLinearNetwork(schema, found)
    except InputError as error:
        raise FileFormatError(f"{what} is not valid. {error}") from None


def _has_errors(document: dict[str, Any]) -> bool:
    """Whether the factors have standard errors; the last version leaves it open."""
    version = document["schema_version"]
    if version >= FACTOR_VARIANCES_VERSION:
        entries = document["factors"]
        return any(isinstance(one, dict) and "effective" in one for one in entries)
    return bool(version >= FACTOR_ERRORS_VERSION)


def _arrays(table: FactorTable) -> dict[str, FloatArray]:
    """The arrays of a factor, flat, in their order in an npz file."""
    arrays = {"weights": table.weights.ravel(), "support": table.support}
    return arrays if table.errors is None else arrays | {"errors": table.errors.ravel()}


def _lists(names: Iterable[str]) -> Fields:
    """Fields that are lists."""
    return dict.fromkeys(names, (list,))


def _read_axes(entry: dict[str, Any], schema: Schema, where: str) -> list[Axis]:
    """The axes of one factor."""
    names, bins, ordered = entry["features"], entry["bins"], entry["ordered"]
    known = all(isinstance(n, str) and n in schema.position for n in names)
    positions = [schema.position[n] for n in names] if known else []
    if (
        not 1 <= len(names) <= MAX_FEATURES
        or positions != sorted(set(positions))
        or not positions
        or positions[-1] == schema.target
        or not len(names) == len(bins) == len(ordered)
    ):
        raise FileFormatError(
            f"{where} is over {names}; expected one to {MAX_FEATURES} features in the "
            "order of the variables, with bins for each."
        )
    axes = []
    for position, own, n_ordered in zip(positions, bins, ordered, strict=True):
        n_states = schema[position].n_states
        if (
            type(own) is not list
            or len(own) != n_states + 1
            or any(
                type(place) is not int or not 0 <= place <= n_states for place in own
            )
            or sorted(set(own)) != list(range(own[-1] + 1))
            or own.count(own[-1]) != 1
            or type(n_ordered) is not int
            or not 0 <= n_ordered <= own[-1]
        ):
            raise FileFormatError(
                f"{where} has bins of {schema[position].name!r} that do not fit its "
                f"{n_states} states."
            )
        axes.append(Axis(position, np.array(own, dtype=np.int64), n_ordered))
    return axes


def _float(value: float, where: str) -> float:
    """A finite number."""
    return float(_floats([value], 1, where)[0])


def _floats(values: list[Any], size: int, where: str) -> FloatArray:
    """A list of finite numbers as an array."""
    if len(values) != size or any(type(v) not in (int, float) for v in values):
        raise FileFormatError(
            f"{where} has {len(values)} entries; expected {size} numbers."
        )
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        raise FileFormatError(f"{where} has a number that is too large.") from None
    if not np.isfinite(array).all():
        raise FileFormatError(f"{where} has a number that is not finite.")
    return array
