"""Factors of a log-linear network in the JSON document of a model file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, prod
from typing import Any

import numpy as np

from tanager.errors import FileFormatError, InputError
from tanager.io.model_document import Fields, check_fields
from tanager.loglinear.factor import SMALL_RIDGE, Axis, Factor
from tanager.loglinear.factor_tables import FactorTable, FactorTables
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
_NUMBERS: Fields = {"weights": (list,), "support": (list,)}


def factor_entries(network: LogLinearNetwork) -> list[dict[str, Any]]:
    """List the factors as plain data, without their numbers."""
    return [
        {
            "features": list(network.names_of(table)),
            "bins": [axis.bins.tolist() for axis in table.factor.axes],
            "ordered": table.factor.n_ordered.tolist(),
            "strength": table.strength,
        }
        for table in network.factors.tables
    ]


def fill_factors(entries: list[dict[str, Any]], network: LogLinearNetwork) -> None:
    """Put the numbers of the factors into their entries."""
    for entry, table in zip(entries, network.factors.tables, strict=True):
        entry["weights"] = table.weights.ravel().tolist()
        entry["support"] = table.support.tolist()


def factor_vector(network: LogLinearNetwork) -> FloatArray:
    """All numbers in one vector: weights and support of one factor after another."""
    tables = network.factors.tables
    parts = [part for t in tables for part in (t.weights.ravel(), t.support)]
    return np.concatenate([np.empty(0), *parts])


def read_factors(
    document: dict[str, Any], schema: Schema, what: str
) -> tuple[FloatArray, list[tuple[Factor, float]]]:
    """Log prior, and the factors with their strengths, checked without trusting them.

    Raises `FileFormatError` also if there are too many cells.
    """
    if schema.target != len(schema) - 1:
        raise FileFormatError(f"{what} must have the class as its last variable.")
    prior = _floats(document["log_prior"], schema.n_classes, f"{what}, log_prior,")
    found = []
    n_cells = 0
    for number, entry in enumerate(document["factors"], start=1):
        where = f"{what}, factor number {number},"
        check_fields(entry, _FACTOR, where, optional=_NUMBERS)
        strength = float(entry["strength"])
        if not (isfinite(strength) and strength > 0):
            raise FileFormatError(f"{where} has the strength {strength:g}.")
        factor = Factor(tuple(_read_axes(entry, schema, where)))
        n_cells += prod(factor.shape.tolist()) * (schema.n_classes + 1)
        if n_cells > MAX_CELLS:
            raise FileFormatError(
                f"{what} describes factors of more than {MAX_CELLS:,} cells, which is "
                "not allowed."
            )
        found.append((factor, strength))
    return prior, found


def split_factors(
    vector: FloatArray, factors: Sequence[tuple[Factor, float]], n_classes: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Cut the vector of `factor_vector` into weights and support of every factor."""
    sizes = [n for f, _ in factors for n in (f.n_cells * n_classes, f.n_cells)]
    parts = np.split(vector, np.cumsum(sizes)[:-1]) if sizes else []
    return zip(parts[::2], parts[1::2], strict=True)


def inline_factors(
    document: dict[str, Any],
    factors: Sequence[tuple[Factor, float]],
    n_classes: int,
    what: str,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Weights and support of every factor from its entry."""
    for number, (factor, _) in enumerate(factors):
        entry = document["factors"][number]
        where = f"{what}, factor number {number + 1},"
        check_fields(entry, {**_FACTOR, **_NUMBERS}, where)
        yield (
            _floats(entry["weights"], factor.n_cells * n_classes, f"{where} weights,"),
            _floats(entry["support"], factor.n_cells, f"{where} support,"),
        )


def has_inline_factors(document: dict[str, Any]) -> bool:
    """Whether some factor has its numbers in the document."""
    return any(name in entry for entry in document["factors"] for name in _NUMBERS)


def make_network(
    schema: Schema,
    prior: FloatArray,
    factors: Sequence[tuple[Factor, float]],
    numbers: Iterator[tuple[FloatArray, FloatArray]],
    what: str,
) -> LogLinearNetwork:
    """Put the parts together."""
    tables = []
    for (factor, strength), (weights, support) in zip(factors, numbers, strict=True):
        if not np.isfinite(weights).all() or not (support >= 0).all():
            raise FileFormatError(
                f"{what} has weights that are not finite, or negative support."
            )
        rows = weights.reshape(factor.n_cells, schema.n_classes)
        tables.append(FactorTable(factor, rows, support, strength))
    try:
        return LogLinearNetwork(schema, FactorTables(prior, tuple(tables)))
    except InputError as error:
        raise FileFormatError(f"{what} is not valid. {error}") from None


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
