"""Kernels over rows grouped by the joint configuration of the features so far.

The rows of a group lie side by side: row m of the grouping is row ``rows[m]`` of the
columns, and group g holds m = ``starts[g] .. starts[g + 1] - 1``. `labels` and
`weights` are in the order of `rows`; `weights` is empty where every weight is one.
"""

from __future__ import annotations

from math import log

import numpy as np

from tanager.utils.jit import kernel


@kernel
def impurities(
    columns, widths, n_classes, rows, starts, labels, weights, x_log_x, by_error,
    candidates, out,
):  # fmt: skip
    """What the groups, split by each candidate, leave unknown of the class.

    Writes to `out` the sum over all parts of the groups of weight times class entropy
    in nats or, `by_error`, of the weight outside the most frequent class.
    `x_log_x` holds n log n for whole n, for rows without weights.
    """
    widest = 0
    for j in candidates:
        widest = max(widest, widths[j])
    table = np.zeros(widest * n_classes)
    totals = np.zeros(widest)
    most = np.zeros(widest)
    for k in range(candidates.shape[0]):
        column = columns[candidates[k]]
        width = widths[candidates[k]]
        left = 0.0
        for g in range(starts.shape[0] - 1):
            begin = starts[g]
            end = starts[g + 1]
            _count_group(
                column, n_classes, rows, begin, end, labels, weights, table, totals
            )
            if end - begin >= width * n_classes:
                if by_error:
                    left += _error_of_table(width, n_classes, table, totals)
                else:
                    left += _entropy_of_table(
                        width, n_classes, weights, x_log_x, table, totals
                    )
            elif by_error:
                left += _error_of_rows(
                    column, n_classes, rows, begin, end, labels, table, totals, most
                )
            else:
                left += _entropy_of_rows(
                    column, n_classes, rows, begin, end, labels, weights, x_log_x,
                    table, totals,
                )  # fmt: skip
        out[k] = left


@kernel
def _count_group(
    column, n_classes, rows, begin, end, labels, weights, table, totals
):  # fmt: skip
    """Add the rows of a group to the table (value, class) and its row totals."""
    if weights.shape[0] > 0:
        for m in range(begin, end):
            x = np.int64(column[rows[m]])
            table[x * n_classes + labels[m]] += weights[m]
            totals[x] += weights[m]
    else:
        for m in range(begin, end):
            x = np.int64(column[rows[m]])
            table[x * n_classes + labels[m]] += 1.0
            totals[x] += 1.0


@kernel
def _n_log_n(count, weights, x_log_x):
    if count <= 0.0:
        return 0.0
    if weights.shape[0] > 0:
        return count * log(count)
    return x_log_x[np.int64(count)]


# A table is read and cleared as a whole or, where it has more cells than the group has
# rows, at the cells of these rows only.


@kernel
def _entropy_of_table(width, n_classes, weights, x_log_x, table, totals):
    left = 0.0
    for x in range(width):
        if totals[x] > 0.0:
            left += _n_log_n(totals[x], weights, x_log_x)
            totals[x] = 0.0
            for cell in range(x * n_classes, (x + 1) * n_classes):
                left -= _n_log_n(table[cell], weights, x_log_x)
                table[cell] = 0.0
    return left


@kernel
def _entropy_of_rows(
    column, n_classes, rows, begin, end, labels, weights, x_log_x, table, totals
):  # fmt: skip
    left = 0.0
    for m in range(begin, end):
        x = np.int64(column[rows[m]])
        cell = x * n_classes + labels[m]
        left += _n_log_n(totals[x], weights, x_log_x)
        left -= _n_log_n(table[cell], weights, x_log_x)
        totals[x] = 0.0
        table[cell] = 0.0
    return left


@kernel
def _error_of_table(width, n_classes, table, totals):
    left = 0.0
    for x in range(width):
        if totals[x] > 0.0:
            most = 0.0
            for cell in range(x * n_classes, (x + 1) * n_classes):
                most = max(most, table[cell])
                table[cell] = 0.0
            left += totals[x] - most
            totals[x] = 0.0
    return left


@kernel
def _error_of_rows(
    column, n_classes, rows, begin, end, labels, table, totals, most
):  # fmt: skip
    for m in range(begin, end):
        x = np.int64(column[rows[m]])
        cell = x * n_classes + labels[m]
        most[x] = max(most[x], table[cell])
        table[cell] = 0.0
    left = 0.0
    for m in range(begin, end):
        x = np.int64(column[rows[m]])
        left += totals[x] - most[x]
        totals[x] = 0.0
        most[x] = 0.0
    return left


@kernel
def split_groups(
    column, width, rows, starts, labels, weights, new_rows, new_starts, new_labels,
    new_weights,
):  # fmt: skip
    """Split every group by a feature and leave out the parts of one class only.

    Returns the number of rows and groups written.
    """
    weighted = weights.shape[0] > 0
    size = np.zeros(width, dtype=np.int64)
    place = np.zeros(width, dtype=np.int64)
    first = np.zeros(width, dtype=np.int64)
    mixed = np.zeros(width, dtype=np.bool_)
    n_rows = 0
    n_groups = 0
    new_starts[0] = 0
    for g in range(starts.shape[0] - 1):
        size[:] = 0
        mixed[:] = False
        for m in range(starts[g], starts[g + 1]):
            x = np.int64(column[rows[m]])
            if size[x] == 0:
                first[x] = labels[m]
            elif labels[m] != first[x]:
                mixed[x] = True
            size[x] += 1
        for x in range(width):
            if mixed[x]:
                place[x] = n_rows
                n_rows += size[x]
                n_groups += 1
                new_starts[n_groups] = n_rows
        for m in range(starts[g], starts[g + 1]):
            x = np.int64(column[rows[m]])
            if mixed[x]:
                new_rows[place[x]] = rows[m]
                new_labels[place[x]] = labels[m]
                if weighted:
                    new_weights[place[x]] = weights[m]
                place[x] += 1
    return n_rows, n_groups
