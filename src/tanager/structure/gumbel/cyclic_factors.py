"""Factors of a selection of CPTs whose arcs may form cycles (pseudo-TAN)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tanager.model.schema import Schema
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.gumbel.candidate_cpts import CandidateCPTs
from tanager.types import FloatArray, IntArray

NO_PENALTY = 1e-12
"""Strength of factors that were fitted without a penalty; it must be above 0."""


def make_factors(
    schema: Schema,
    tables: CandidateCPTs,
    chosen: Sequence[int],
    rows: LabelledSamples,
    learned: IntArray,
) -> FactorTables:
    """Turn one CPT of every feature, with one feature parent at most, into factors.

    The log joint ``log P(c) + sum_j log theta_j[x_j | x_parent(j), c]`` of Roth and
    Pernkopf (2020), equation 9, is a sum of factors whatever the arcs are. Two features
    that are parents of each other share one factor. As in training, a feature that is
    not observed adds nothing, and one with a missing parent has the CPT without feature
    parents.

    Parameters
    ----------
    schema : Schema
        The variables.
    tables : CandidateCPTs
        All CPTs, normalised.
    chosen : sequence of int
        Number of the CPT of every feature.
    rows : LabelledSamples
        The samples.
    learned : ndarray of int
        Those that were learned from; they are counted as the support of the factors.
    """
    n_classes = int(tables.n_states[-1])
    axes = [
        Axis.of(j, variable, np.ones(variable.n_states), None)
        for j, variable in enumerate(schema.variables[:-1])
    ]
    logs: dict[tuple[int, ...], FloatArray] = {}
    for j, t in enumerate(chosen):
        parents = tables.sets[t]
        key = tuple(sorted((j, *parents)))
        shape = (*(axes[v].n_bins for v in key), n_classes)
        whole = logs.setdefault(key, np.zeros(shape))
        alone = _cpt(tables, int(tables.first[j]), (j,))
        owner_first = np.moveaxis(whole, key.index(j), 0)
        if parents:
            owner_first[:-1, :-1] += _cpt(tables, t, (j, *parents))
            owner_first[:-1, -1] += alone
        else:
            owner_first[:-1] += alone
    codes = rows.codes[learned].T
    weights = rows.weights_of(learned)
    made = []
    for key, log_table in sorted(logs.items()):
        factor = Factor(tuple(axes[v] for v in key))
        flat = log_table.reshape(-1, n_classes)
        support = np.bincount(factor.cells(codes), weights, factor.n_cells)
        made.append(
            FactorTable(
                factor,
                flat - flat.mean(axis=1, keepdims=True),
                support.astype(np.float64),
                NO_PENALTY,
            )
        )
    prior = _cpt(tables, tables.n_tables - 1, ())
    return FactorTables(prior - prior.mean(), tuple(made))


def _cpt(tables: CandidateCPTs, t: int, members: tuple[int, ...]) -> FloatArray:
    """Logarithm of a CPT with the axes (*members, class)."""
    states = tables.n_states
    flat = tables.log_theta[tables.offsets[t] : tables.offsets[t + 1]]
    return flat.reshape(*(int(states[v]) for v in members), int(states[-1]))
