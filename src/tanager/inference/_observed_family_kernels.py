"""Kernels over the families that are observed whole.

`codes` is given transposed, shape (n_variables, n_rows), each row contiguous; a code
equal to the number of states is a missing value. Tables as in `CompiledLayout`, all of
them with the class.
"""

from __future__ import annotations

import numpy as np

from tanager.utils.jit import kernel


@kernel
def add_cells(
    codes, values, n_states, n_classes, offsets, start, axis_variable, axis_stride, out
):  # fmt: skip
    """Add the cells that rows touch to `out`, shape (n_rows, n_classes)."""
    for t in range(offsets.shape[0]):
        for m in range(out.shape[0]):
            cell = _touched(
                codes, m, t, n_states, offsets, start, axis_variable, axis_stride
            )
            if cell >= 0:
                for c in range(n_classes):
                    out[m, c] += values[cell + c]


@kernel
def add_to_cells(
    codes, by_class, n_states, n_classes, offsets, start, axis_variable, axis_stride,
    out,
):  # fmt: skip
    """Add the numbers of every row and class to the cells of `out` they touch."""
    for t in range(offsets.shape[0]):
        for m in range(by_class.shape[0]):
            cell = _touched(
                codes, m, t, n_states, offsets, start, axis_variable, axis_stride
            )
            if cell >= 0:
                for c in range(n_classes):
                    out[cell + c] += by_class[m, c]


@kernel
def _touched(codes, m, t, n_states, offsets, start, axis_variable, axis_stride):
    """The cell of table t that row m touches in the first class, -1 for a gap."""
    cell = offsets[t]
    for a in range(start[t], start[t + 1]):
        variable = axis_variable[a]
        code = np.int64(codes[variable, m])
        if code >= n_states[variable]:
            return np.int64(-1)
        cell += code * axis_stride[a]
    return cell
