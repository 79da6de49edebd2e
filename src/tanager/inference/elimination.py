"""Variable elimination: any network, any evidence, exact."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

import numpy as np

from tanager.errors import TableSizeError, listed
from tanager.inference.clique_tree import COSTS, eliminated
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import row_blocks

MAX_FACTOR_CELLS = 20_000_000
"""Cells allowed in one intermediate factor (160 MB)."""

Factor = tuple[tuple[int, ...], FloatArray]
"""Variables, and log values of shape (n_rows, states of each variable...)."""


def log_marginal(
    parameters: Parameters,
    codes: CodeArray,
    keep: Sequence[int],
    schema: Schema | None = None,
) -> FloatArray:
    """Log probability of every row's evidence jointly with the variables `keep`.

    Parameters
    ----------
    parameters : Parameters
        The tables of the network.
    codes : ndarray of unsigned int, shape (n_rows, n_variables)
        The number of states of a variable means missing. Columns of `keep` are not
        read, and the last columns may be absent if they belong to it.
    keep : sequence of int
        The variables to keep; the others are observed or summed over.
    schema : Schema or None, default=None
        The variables' names, for the message of an error; None says their numbers.

    Returns
    -------
    ndarray of float64, shape (n_rows, states of keep[0], states of keep[1], ...)

    Raises
    ------
    TableSizeError
        Before anything is allocated, if a factor would be larger than allowed.

    Notes
    -----
    Rows with the same missing features share the work, which is done in NumPy: fast for
    few patterns, slow where every row has a pattern of its own.
    """
    states = parameters.layout.n_states
    rest = [v for v in range(len(states)) if v not in keep]
    missing = np.zeros((codes.shape[0], len(states)), dtype=np.bool_)
    for v in rest:
        missing[:, v] = codes[:, v] == states[v]
    out = np.empty((codes.shape[0], *(states[v] for v in keep)))
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        hidden, needed = _without_barren(
            parameters, {int(v) for v in np.flatnonzero(pattern)}
        )
        order, clique = elimination_order(parameters, needed, hidden, tuple(keep))
        cells = check_clique(parameters, clique, schema)
        for start, stop in row_blocks(len(rows), max(1, MAX_FACTOR_CELLS // cells)):
            part = rows[start:stop]
            out[part] = _marginal_of_pattern(
                parameters, codes[part], tuple(keep), needed, order
            )
    return out


def elimination_order(
    parameters: Parameters,
    needed: Iterable[int],
    hidden: Collection[int],
    keep: tuple[int, ...],
) -> tuple[list[int], tuple[int, ...]]:
    """Order in which to eliminate `hidden`, and the variables of the largest factor.

    Parameters
    ----------
    parameters : Parameters
        The tables of the network.
    needed : iterable of int
        Numbers of the tables that are multiplied.
    hidden : collection of int
        The variables to eliminate.
    keep : tuple of int
        Variables that are neither eliminated nor observed.

    Returns
    -------
    order : list of int
        As in `CliqueTree`.
    clique : tuple of int
        Variables of the factor with most cells that is met on the way.
    """
    states = parameters.layout.n_states
    free = {*hidden, *keep}
    scopes = [free.intersection(parameters.layout.axes[t]) for t in needed]

    def cells(clique: Iterable[int]) -> int:
        return prod(states[v] for v in clique)

    ways = []
    for cost in COSTS:
        found = list(eliminated(states, scopes, cost, keep))
        cliques = [tuple(sorted(clique)) for _, clique in found]
        ways.append(([v for v, _ in found], max([keep, *cliques], key=cells)))
        if cells(ways[-1][1]) <= MAX_FACTOR_CELLS:
            break
    return min(ways, key=lambda way: cells(way[1]))


def check_clique(
    parameters: Parameters, clique: Sequence[int], schema: Schema | None
) -> int:
    """Cells of a factor over the variables `clique`; refuse too many of them."""
    cells = prod(parameters.layout.n_states[v] for v in clique)
    if cells > MAX_FACTOR_CELLS:
        names = [v if schema is None else schema[v].name for v in clique]
        raise TableSizeError(
            f"Exact inference would need a factor of {cells:,} cells over the clique "
            f"[{listed(names)}], more than the {MAX_FACTOR_CELLS:,} allowed. Give "
            "more evidence, of these variables above all, or use a structure with "
            "fewer parents."
        )
    return cells


def _marginal_of_pattern(
    parameters: Parameters,
    codes: CodeArray,
    keep: tuple[int, ...],
    needed: list[int],
    order: list[int],
) -> FloatArray:
    """`log_marginal` for rows in which exactly the variables in `order` are hidden."""
    states = parameters.layout.n_states
    free = set(order).union(keep)
    factors = [slice_at(parameters, t, codes, free) for t in needed]
    for summed in order:
        touching = [factor for factor in factors if summed in factor[0]]
        factors = [factor for factor in factors if summed not in factor[0]]
        variables, values = multiply(touching, codes.shape[0])
        axis = 1 + variables.index(summed)
        left = tuple(v for v in variables if v != summed)
        factors.append((left, np.logaddexp.reduce(values, axis=axis)))
    whole = (keep, np.zeros((codes.shape[0], *(states[v] for v in keep))))
    variables, values = multiply([whole, *factors], codes.shape[0])
    return values.transpose([0, *(1 + variables.index(v) for v in keep)])


def _without_barren(
    parameters: Parameters, hidden: set[int]
) -> tuple[set[int], list[int]]:
    """Drop hidden variables without children again and again: they sum to one.

    Returns the hidden variables left and the numbers of the tables needed.
    """
    layout = parameters.layout
    hidden = set(hidden)
    needed = list(range(layout.n_tables))
    while True:
        used = {v for t in needed for v in layout.axes[t] if v != layout.owners[t]}
        barren = hidden - used
        if not barren:
            return hidden, needed
        hidden -= barren
        needed = [t for t in needed if layout.owners[t] not in barren]


def slice_at(
    parameters: Parameters, index: int, codes: CodeArray, free: set[int]
) -> Factor:
    """Table `index` at the observed codes of every row; free variables stay axes."""
    axes = parameters.layout.axes[index]
    observed = [v for v in axes if v not in free]
    left = tuple(v for v in axes if v in free)
    table = parameters.log_table(index)
    order = [axes.index(v) for v in (*observed, *left)]
    table = table.transpose(order)
    if not observed:
        return left, table[None]
    return left, table[tuple(codes[:, v] for v in observed)]


def multiply(factors: Sequence[Factor], n_rows: int) -> Factor:
    """Sum of log factors over the union of their variables."""
    variables = tuple(sorted({v for scope, _ in factors for v in scope}))
    total: FloatArray = np.zeros((n_rows, *(1 for _ in variables)))
    for scope, values in factors:
        ordered = [v for v in variables if v in scope]
        moved = values.transpose([0, *(1 + scope.index(v) for v in ordered)])
        sizes = iter(moved.shape[1:])
        shape = [next(sizes) if v in scope else 1 for v in variables]
        total = total + moved.reshape(moved.shape[0], *shape)
    return variables, total
