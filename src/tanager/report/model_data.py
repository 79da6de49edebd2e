"""The model of a page as plain data: variables, tables and factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.io.factor_document import factor_entries
from tanager.model.schema import Schema, Variable
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.report.cpt_packing import (
    CodedTable,
    code_table,
    merge_levels,
    mixed_effects,
)
from tanager.report.family_normalisers import (
    StoredTables,
    is_normalised,
    leave_out_normalisers,
)
from tanager.report.payload import Payload

EXACT_INTEGERS = 2**53
"""Whole numbers below this one are exact in a page."""

CENTRED = 1e-12
"""Largest sum of weights over the classes that counts as zero."""

MAX_MODEL_BYTES, MAX_FEATURE_BYTES = 1_350_000, 4_500
"""Letters that cut points and tables may take, in all or for every feature if that is
more: a page of up to 300 features has at most 1.5 MB."""

MAX_PAGE_CELLS = 8_000_000
"""Entries of all tables that a page holds; the browser needs time for each."""


def describe_model(network: AnyNetwork, payload: Payload) -> dict[str, Any]:
    """Header entries of a model, whose numbers are added to the payload.

    A model with more than `MAX_PAGE_CELLS` entries, or that takes too many letters, is
    described by its structure alone; ``too_large`` then has the reason.
    """
    found = {
        "kind": "cpts" if network.has_cpts else "factors",
        "written_by": f"tanager {__version__}",
        "target": network.schema.target,
        "variables": _variables(network.schema, payload),
        "can_export": not _has_large_integers(network.schema),
    }
    if isinstance(network, Network):
        n_cells = network.parameters.layout.n_cells
    else:
        n_cells = network.factors.n_cells
    tables = f"The tables of this model have {n_cells:,} entries,"
    if n_cells > MAX_PAGE_CELLS:
        reason = f"{tables} more than the {MAX_PAGE_CELLS:,} that a page holds"
    else:
        limit = max(MAX_MODEL_BYTES, MAX_FEATURE_BYTES * (len(network.schema) - 1))
        limit -= payload.packed_size
        part = Payload()
        if isinstance(network, Network):
            content = _describe_cpts(network, part)
        else:
            content = _describe_factors(network, part)
        size = part.packed_size
        if size <= limit:
            payload.extend(part)
            return found | content
        reason = (
            f"{tables} which take {size / 1e6:.2f} MB, more than the "
            f"{limit / 1e6:.2f} MB that are left in a page"
        )
        if isinstance(network, Network):
            part = Payload()
            content = _describe_cpts(network, part, complete_only=True)
            if part.packed_size <= limit:
                payload.extend(part)
                reason += (
                    ". The page has only the contrasts of the classes: it answers "
                    "where every feature is known, and shows no CPTs."
                )
                return found | content | {"complete_only": reason}
    return found | {
        "kind": "none",
        "too_large": f"{reason}, so it cannot answer questions. Use fewer bins, fewer "
        "parents or fewer factors.",
        **_describe_structure(network),
    }


def _variables(schema: Schema, payload: Payload) -> list[dict[str, Any]]:
    """Names, states and cut points.

    The cut points of all variables are one array. Intervals that `Variable.binned`
    would make of them are left out; the page makes them again.
    """
    numeric = [v for v in schema if v.cuts is not None]
    cuts = [np.array(v.cuts, dtype=np.float64) for v in numeric]
    decimals = dict(zip(numeric, payload.add_sorted("cuts", cuts), strict=True))
    found = []
    for variable in schema:
        entry: dict[str, Any] = {
            "name": variable.name,
            "ordered": variable.ordered,
            "missing_state": variable.missing_state,
        }
        if variable.cuts is None:
            entry |= {"states": list(variable.states), "cuts": None}
        else:
            entry |= {"n_cuts": len(variable.cuts), "decimals": decimals[variable]}
            entry["others"] = list(variable.states[variable.n_values :])
            usual = Variable.binned(variable.name, variable.cuts).states
            if variable.unit is not None:
                entry["unit"] = variable.unit
            if usual != variable.value_states:
                entry["states"] = list(variable.value_states)
        found.append(entry)
    return found


def _has_large_integers(schema: Schema) -> bool:
    """Whether a state is a whole number that JavaScript would round."""
    return any(
        isinstance(state, int) and abs(state) > EXACT_INTEGERS
        for variable in schema
        for state in variable.states
    )


def _describe_structure(network: AnyNetwork) -> dict[str, Any]:
    """The parents of every variable, or the features of every factor."""
    if isinstance(network, Network):
        return {"parents": [list(parents) for parents in network.structure.parents]}
    return {"scopes": [list(table.factor.key) for table in network.factors.tables]}


def _describe_cpts(
    network: Network, payload: Payload, *, complete_only: bool = False
) -> dict[str, Any]:
    """Parents and the axes of every table, the class last; see `cpt_packing`.

    The numbers of a table are ordered by class, so that neighbours are neighbouring
    states. The page computes normalisers of sums; see `family_normalisers`. With
    `complete_only` tables of effects have only the contrasts of the classes: the rest
    is the same for every class, so that it does not change the posterior of a complete
    sample. Normalisers do not follow from contrasts and are stored then.
    """
    structure, layout = network.structure, network.parameters.layout
    log_theta = network.parameters.log_theta
    if complete_only:
        stored = StoredTables.of(network)
    else:
        stored = leave_out_normalisers(network)
    entries = []
    values, effects = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    levels: list[CodedTable] = []
    for t, (owner, axes) in enumerate(zip(layout.owners, layout.axes, strict=True)):
        ordered = [v for v in axes if v != layout.target]
        own_axes = [*ordered, layout.target] if layout.target in axes else ordered
        entry: dict[str, Any] = {"owner": owner, "axes": own_axes}
        entries.append(entry)
        if t in stored.normalisers:
            entry |= {"coding": "normaliser", "up": stored.normalisers[t]}
            continue
        table = stored.tables[t]
        if layout.target in axes:
            table = np.moveaxis(table, axes.index(layout.target), 0)
        else:
            table = table[None]
        coded = code_table(
            table,
            ordered.index(owner) + 1 if is_normalised(layout, log_theta, t) else None,
        )
        entry |= {"coding": coded.coding, "normalised": coded.normalised}
        if coded.coding == "values":
            values.append(coded.logs.ravel())
        elif coded.coding == "levels":
            levels.append(coded)
        elif complete_only:
            entry |= {"coding": "contrasts", "normalised": False}
            whole = mixed_effects(table)
            assert whole is not None
            effects.append(whole[1:].ravel())
        else:
            effects.append(coded.effects.ravel())
    payload.add_logs("tables", np.concatenate(values))
    payload.add_sparse("effects", np.concatenate(effects))
    distinct, places = merge_levels(levels)
    payload.add_logs("levels", distinct)
    payload.add_codes("level_codes", places)
    return _describe_structure(network) | {
        "order": list(structure.topological_order),
        "tables": entries,
    }


def _describe_factors(network: LogLinearNetwork, payload: Payload) -> dict[str, Any]:
    """The factors as in a model file, with features by position.

    Weights are ordered by class, so that neighbours are neighbouring bins. They sum to
    zero over the classes, so all but those of the first class are enough. Only bands of
    curves, which are of two classes, need standard errors.
    """
    tables = network.factors.tables
    has_sums = any(
        np.abs(table.weights.sum(axis=1)).max(initial=0.0) > CENTRED for table in tables
    )
    first = 0 if has_sums else 1
    parts = [table.weights[:, first:].T.ravel() for table in tables]
    payload.add_logs("weights", np.concatenate([np.empty(0), *parts]))
    support = [table.support for table in tables]
    payload.add_floats("support", np.concatenate([np.empty(0), *support]))
    if network.factors.has_errors and network.schema.n_classes == 2:
        errors = [
            table.errors[:, 1]
            for table in tables
            if table.errors is not None and len(table.factor.key) == 1
        ]
        payload.add_errors("errors", np.concatenate([np.empty(0), *errors]))
    axes: dict[tuple[int, ...], int] = {}
    entries = factor_entries(network)
    for entry, table in zip(entries, tables, strict=True):
        entry["features"] = list(table.factor.key)
        # Factors share the bins of a feature, so every list of bins is stored once.
        own = [tuple(axis.bins.tolist()) for axis in table.factor.axes]
        entry["bins"] = [axes.setdefault(bins, len(axes)) for bins in own]
    return {
        "log_prior": network.factors.log_prior.tolist(),
        "variance_scale": network.factors.variance_scale,
        "centred": not has_sums,
        "axes": [_runs(bins) for bins in axes],
        "factors": entries,
    }


def _runs(bins: tuple[int, ...]) -> dict[str, Any]:
    """Bins that increase by 0 or 1 as the lengths of their runs, others as they are."""
    steps = np.diff(bins, prepend=0)
    if ((steps == 0) | (steps == 1)).all():
        lengths = np.bincount(bins)
        if (lengths == 1).all():
            return {"identity": len(lengths)}
        return {"runs": lengths.tolist()}
    return {"bins": list(bins)}
