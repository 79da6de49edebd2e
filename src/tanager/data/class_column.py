"""All rows at once, the class as one more column."""

from __future__ import annotations

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.model.schema import code_dtype
from tanager.types import CodeArray, FloatArray


def columns_of(data: CodedData) -> tuple[CodeArray, FloatArray]:
    """Codes of all variables, every one contiguous, and weights.

    Returns
    -------
    codes : ndarray of unsigned int, shape (n_variables, n_rows)
        The class is the last variable; ``n_states`` of a variable means missing.
    weights : ndarray of float64, shape (n_rows,), or (0,) for ones
        Row weights.

    Examples
    --------
    >>> from tanager.model import Schema, Variable
    >>> from tanager.data import ArrayData
    >>> schema = Schema((Variable("x", (0, 1)), Variable("y", (0, 1))), target=1)
    >>> x = np.array([[0], [1], [2]], dtype=np.uint8, order="F")
    >>> columns_of(ArrayData(schema, x, np.array([1, 0, 1], dtype=np.uint8)))[0]
    array([[0, 1, 2],
           [1, 0, 1]], dtype=uint8)
    """
    blocks = list(data.blocks())
    n_rows = sum(len(block.labels) for block in blocks)
    widest = int(data.schema.n_states.max())
    codes = np.empty((len(data.schema), n_rows), code_dtype(widest))
    start = 0
    for block in blocks:
        stop = start + len(block.labels)
        codes[:-1, start:stop] = block.codes.T
        codes[-1, start:stop] = block.labels
        start = stop
    if all(block.weights is None for block in blocks):
        return codes, np.empty(0)
    return codes, np.concatenate([block_weights(block) for block in blocks])


def block_weights(block: RowBlock) -> FloatArray:
    """Weights of a block, ones where there are none."""
    return np.ones(len(block.labels)) if block.weights is None else block.weights
