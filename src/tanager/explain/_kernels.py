"""Kernel of explanations."""

from __future__ import annotations

import numpy as np

from tanager.loglinear._factor_kernels import BLOCK, find_cells
from tanager.utils.jit import kernel


@kernel
def write_factor(codes, features, lookup, table, out):
    """Write to `out`, (n_samples, n_columns), the row of each sample's cell.

    `add_factor` would need an `out` of zeros, which costs as much time again: most of
    it is that of the memory.
    """
    n_samples, n_columns = out.shape
    values = table.reshape(table.size)
    into = out.reshape(out.size)
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_samples, BLOCK):
        size = min(BLOCK, n_samples - begin)
        find_cells(codes, features, lookup, begin, size, cells)
        for m in range(size):
            i = (begin + m) * n_columns
            j = cells[m] * n_columns
            for c in range(n_columns):
                into[np.uint64(i + c)] = values[np.uint64(j + c)]
