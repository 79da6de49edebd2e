"""Max-product elimination: the most probable states of everything not observed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tanager.inference.elimination import (
    check_clique,
    elimination_order,
    multiply,
    slice_at,
)
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.types import CodeArray


def most_probable_codes(
    parameters: Parameters, codes: CodeArray, schema: Schema | None = None
) -> tuple[CodeArray, float]:
    """Most probable completion of one row.

    Parameters
    ----------
    parameters : Parameters
        The tables of the network.
    codes : ndarray of unsigned int, shape (1, n_variables)
        The row; the number of states of a variable means missing.
    schema : Schema or None, default=None
        The variables' names, for the message of an error; None says their numbers.

    Returns
    -------
    codes : ndarray of unsigned int, shape (1, n_variables)
        The row with every missing code filled in; as it was if it is impossible.
    log_probability : float
        Log probability of that row; minus infinity if there is no possible one.

    Raises
    ------
    TableSizeError
        Before anything is allocated, if a factor would be larger than allowed.

    Notes
    -----
    Missing variables are maximised over one after the other, in the order in which
    `log_marginal` sums over them, but none of them is barren here. Every maximum
    remembers where it was taken; going back through them gives the states. Of equal
    values the lowest state is taken, of the last variable first.

    References
    ----------
    Dechter (1999), Bucket elimination: a unifying framework for reasoning, Artificial
    Intelligence 113.

    Examples
    --------
    >>> from tanager.model import FamilyLayout
    >>> layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    >>> parameters = Parameters(layout, np.log([0.5, 0.1, 0.5, 0.9, 0.6, 0.4]))
    >>> nothing = np.array([[2, 2]], dtype=np.uint8)
    >>> found, log_probability = most_probable_codes(parameters, nothing)
    >>> found.tolist(), round(float(np.exp(log_probability)), 4)
    ([[1, 1]], 0.36)
    """
    layout = parameters.layout
    hidden = {v for v, r in enumerate(layout.n_states) if codes[0, v] == r}
    order, clique = elimination_order(parameters, range(layout.n_tables), hidden, ())
    check_clique(parameters, clique, schema)
    factors = [slice_at(parameters, t, codes, hidden) for t in range(layout.n_tables)]
    best: list[tuple[int, tuple[int, ...], npt.NDArray[np.unsignedinteger]]] = []
    for variable in order:
        touching = [factor for factor in factors if variable in factor[0]]
        factors = [factor for factor in factors if variable not in factor[0]]
        scope, values = multiply(touching, 1)
        axis = 1 + scope.index(variable)
        left = tuple(v for v in scope if v != variable)
        where = values.argmax(axis=axis).astype(codes.dtype)
        best.append((variable, left, where[0]))
        factors.append((left, values.max(axis=axis)))
    _, value = multiply(factors, 1)
    log_probability = float(value[0])
    if log_probability == -np.inf:
        return codes, log_probability
    found = codes.copy()
    for variable, left, where in reversed(best):
        found[0, variable] = where[tuple(found[0, v] for v in left)]
    return found, log_probability
