"""Variable elimination: exact marginals and most probable states of any network."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

import numpy as np

from tanager.errors import TableSizeError, listed
from tanager.inference.triangulation import COSTS, elimination_steps
from tanager.model.layout import Parameters, along
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray
from tanager.utils.threads import row_blocks

MAX_FACTOR_CELLS = 20_000_000
"""Cells allowed in one intermediate factor (160 MB)."""

Factor = tuple[tuple[int, ...], FloatArray]
"""Variables, and log values of shape (n_rows, states of each variable...)."""

ROW = -1
"""Stands for the rows among the axes of a factor."""

Bucket = tuple[int, list[Factor]]
"""A variable, and the factors that it is removed from."""


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
        The CPTs of the network.
    codes : ndarray of unsigned int, shape (n_rows, n_variables)
        The number of states of a variable means missing. Columns of `keep` are not
        read, and the last columns may be absent if they belong to it.
    keep : sequence of int
        The variables to keep; the others are observed or marginalised.
    schema : Schema or None, default=None
        The variables' names for error messages; None uses their indices.

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
    missing = np.zeros((codes.shape[0], len(states)), dtype=np.bool_)
    for v in set(range(len(states))).difference(keep):
        missing[:, v] = codes[:, v] == states[v]
    out = np.empty((codes.shape[0], *(states[v] for v in keep)))
    whole = (tuple(keep), np.zeros((1, *out.shape[1:])))
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        hidden, needed = _drop_barren(
            parameters, {int(v) for v in np.flatnonzero(pattern)}
        )
        order, cells = _elimination_order(
            parameters, needed, hidden, tuple(keep), schema
        )
        free = hidden.union(keep)
        for start, stop in row_blocks(len(rows), max(1, MAX_FACTOR_CELLS // cells)):
            part = rows[start:stop]
            factors = [_slice_at(parameters, t, codes[part], free) for t in needed]
            left = _eliminate(factors, order, len(part), np.logaddexp)
            variables, values = _multiply([whole, *left], len(part))
            out[part] = values.transpose([0, *(1 + variables.index(v) for v in keep)])
    return out


def most_probable_codes(
    parameters: Parameters, codes: CodeArray, schema: Schema | None = None
) -> tuple[CodeArray, float]:
    """Most probable completion of one row of `codes`, (1, n_variables), and its log p.

    The row is returned unchanged, with minus infinity, if no completion is possible.
    Bucket elimination [1]_ with maxima instead of the sums of `log_marginal`, with the
    same `TableSizeError`. Going back through the buckets, every variable takes its most
    probable state given those eliminated after it; of equal values the lowest state.

    References
    ----------
    .. [1] Dechter (1999), Bucket elimination: a unifying framework for reasoning,
       Artificial Intelligence 113.
    """
    layout = parameters.layout
    hidden = {v for v, r in enumerate(layout.n_states) if codes[0, v] == r}
    tables = range(layout.n_tables)
    order, _ = _elimination_order(parameters, tables, hidden, (), schema)
    factors = [_slice_at(parameters, t, codes, hidden) for t in tables]
    buckets: list[Bucket] = []
    left = _eliminate(factors, order, 1, np.maximum, buckets)
    log_probability = float(_multiply(left, 1)[1][0])
    if log_probability == -np.inf:
        return codes, log_probability
    found = codes.copy()
    for variable, bucket in reversed(buckets):
        slices = [
            values[0][tuple(slice(None) if v == variable else found[0, v] for v in own)]
            for own, values in bucket
        ]
        _, values = _multiply([((variable,), one[None]) for one in slices], 1)
        found[0, variable] = values[0].argmax()
    return found, log_probability


def _eliminate(
    factors: list[Factor],
    order: Iterable[int],
    n_rows: int,
    add: np.ufunc,
    buckets: list[Bucket] | None = None,
) -> list[Factor]:
    """Remove variables from a product of factors; `buckets` gains those of each.

    `add` is the sum of the semiring on log values: logaddexp or maximum.
    """
    for variable in order:
        bucket = [factor for factor in factors if variable in factor[0]]
        factors = [factor for factor in factors if variable not in factor[0]]
        variables, values = _multiply(bucket, n_rows)
        left = tuple(v for v in variables if v != variable)
        factors.append((left, add.reduce(values, axis=1 + variables.index(variable))))
        if buckets is not None:
            buckets.append((variable, bucket))
    return factors


def _elimination_order(
    parameters: Parameters,
    needed: Iterable[int],
    hidden: Collection[int],
    keep: tuple[int, ...],
    schema: Schema | None,
) -> tuple[list[int], int]:
    """Order in which to eliminate `hidden`, and the cells of the largest factor.

    `needed` are the tables to multiply. Raises `TableSizeError` if every order has a
    factor that is too large.
    """
    states = parameters.layout.n_states
    free = {*hidden, *keep}
    scopes = [free.intersection(parameters.layout.axes[t]) for t in needed]

    def cells_of(clique: Iterable[int]) -> int:
        return prod(states[v] for v in clique)

    orders = []
    for cost in COSTS:
        found = list(elimination_steps(states, scopes, cost, keep))
        cliques = [tuple(sorted(clique)) for _, clique in found]
        orders.append(([v for v, _ in found], max([keep, *cliques], key=cells_of)))
        if cells_of(orders[-1][1]) <= MAX_FACTOR_CELLS:
            break
    order, clique = min(orders, key=lambda one: cells_of(one[1]))
    cells = cells_of(clique)
    if cells > MAX_FACTOR_CELLS:
        names = [v if schema is None else schema[v].name for v in clique]
        raise TableSizeError(
            f"Exact inference would need a factor of {cells:,} cells over the clique "
            f"[{listed(names)}], more than the {MAX_FACTOR_CELLS:,} allowed. Give "
            "more evidence, first of all on these variables, or use a structure with "
            "fewer parents."
        )
    return order, cells


def _drop_barren(
    parameters: Parameters, hidden: set[int]
) -> tuple[set[int], list[int]]:
    """Leave out barren hidden variables (no children, or barren ones only)."""
    layout = parameters.layout
    needed = list(range(layout.n_tables))
    while True:
        used = {v for t in needed for v in layout.axes[t] if v != layout.owners[t]}
        barren = hidden - used
        if not barren:
            return hidden, needed
        hidden = hidden - barren
        needed = [t for t in needed if layout.owners[t] not in barren]


def _slice_at(
    parameters: Parameters, index: int, codes: CodeArray, free: set[int]
) -> Factor:
    """Table `index` at the observed codes of every row; free variables stay axes."""
    axes = parameters.layout.axes[index]
    observed = tuple(v for v in axes if v not in free)
    left = tuple(v for v in axes if v in free)
    order = [axes.index(v) for v in observed + left]
    table = parameters.log_table(index).transpose(order)
    if not observed:
        return left, table[None]
    return left, table[tuple(codes[:, v] for v in observed)]


def _multiply(factors: Sequence[Factor], n_rows: int) -> Factor:
    """Sum of log factors over the union of their variables."""
    variables = tuple(sorted({v for scope, _ in factors for v in scope}))
    total: FloatArray = np.zeros((n_rows, *(1 for _ in variables)))
    for scope, values in factors:
        total = total + along(values, (ROW, *scope), (ROW, *variables))
    return variables, total
