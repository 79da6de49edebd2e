"""Kernels that score a variable under its parents and each of many further ones.

Throughout, `codes` is given transposed, shape (n_variables, n_rows), each row
contiguous; a missing value is one more state, where it occurs, and counted in `widths`.
`joint` is the joint code of a family in every row, the variable itself fastest; the
table of the family with one more parent has the axes (further parent, present parents,
variable).
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from tanager.utils.jit import kernel

BLOCK = 4096
"""Rows whose indices are held at a time; they stay in the nearest cache."""

LANE_CELLS = 1024
"""Cells up to which a table is counted in four copies, which fit the nearest cache."""

RISES = 64
"""Counts below it have the logarithms of their Dirichlet factors in a table."""


@kernel
def join_family(codes, widths, parents, child, out):
    """Write the joint code of the parents and, fastest, the child to `out`."""
    out[:] = 0
    for parent in parents:
        column = codes[parent]
        width = widths[parent]
        for m in range(out.shape[0]):
            out[m] = out[m] * width + column[m]
    column = codes[child]
    width = widths[child]
    for m in range(out.shape[0]):
        out[m] = out[m] * width + column[m]


@kernel
def count_joint(joint, further, n_joint, weights, cells, table):
    """Count the rows by `further` and, faster, `joint` in the first cells of `table`.

    `weights` has shape (n_rows,), or (0,) when every weight is one. The table has four
    times as many cells as are counted, where these are at most `LANE_CELLS`: neighbours
    often touch the same cell, and an increment need not wait for the one before.
    """
    n_rows = joint.shape[0]
    weighted = weights.shape[0] > 0
    in_lanes = not weighted and cells <= LANE_CELLS
    # Unsigned indices of half the size: no check for negative ones, more at a time.
    index = np.empty(BLOCK, dtype=np.uint32)
    step = np.uint32(n_joint)
    one = table.dtype.type(1)
    second = np.uint32(cells)
    third = np.uint32(2 * cells)
    fourth = np.uint32(3 * cells)
    table[: 4 * cells if in_lanes else cells] = 0
    for begin in range(0, n_rows, BLOCK):
        many = min(BLOCK, n_rows - begin)
        outer = further[begin : begin + many]
        inner = joint[begin : begin + many]
        for m in range(many):
            index[m] = np.uint32(outer[m]) * step + np.uint32(inner[m])
        if weighted:
            for m in range(many):
                table[index[m]] += weights[begin + m]
        elif in_lanes:
            whole = many - many % 4
            for m in range(0, whole, 4):
                table[index[m]] += one
                table[index[m + 1] + second] += one
                table[index[m + 2] + third] += one
                table[index[m + 3] + fourth] += one
            for m in range(whole, many):
                table[index[m]] += one
        else:
            for m in range(many):
                table[index[m]] += one
    if in_lanes:
        for cell in range(cells):
            table[cell] += (
                table[cell + cells] + table[cell + 2 * cells] + table[cell + 3 * cells]
            )


@kernel
def sum_down(table, cells, n_joint, stride, width, out):
    """Sum the table of a group over all its members but one.

    `stride` is that of the member among the joint states of the group, `width` its
    number of states.
    """
    out[: width * n_joint] = 0
    for configuration in range(cells // n_joint):
        source = configuration * n_joint
        place = ((configuration // stride) % width) * n_joint
        for cell in range(n_joint):
            out[place + cell] += table[source + cell]


@kernel
def table_score(
    table, n_rows, width, n_states, penalty, sample_size, cell_weight, rises
):
    """Score the counts of a family, the states of the variable fastest.

    `n_rows` is the number of joint states of the parents; `width` and `n_states` count
    the states of the variable with and without "missing", which does not count. The
    next three are as in `Criterion`; `rises`, shape (2, RISES), is scratch.
    """
    total = 0.0
    bayesian = sample_size > 0.0 or cell_weight > 0.0
    per_row = 0.0
    per_cell = 0.0
    row_constant = 0.0
    cell_constant = 0.0
    if bayesian:
        if sample_size > 0.0:
            per_row = sample_size / n_rows
            per_cell = per_row / n_states
        else:
            per_cell = cell_weight
            per_row = cell_weight * n_states
        row_constant = lgamma(per_row)
        cell_constant = lgamma(per_cell)
        # Small counts are frequent where tables are large, and log-gamma is slow.
        rises[0, 0] = 0.0
        rises[1, 0] = 0.0
        for count in range(1, RISES):
            rises[0, count] = rises[0, count - 1] + log(per_row + (count - 1))
            rises[1, count] = rises[1, count - 1] + log(per_cell + (count - 1))
    for row in range(n_rows):
        first = row * width
        mass = 0.0
        for b in range(n_states):
            mass += table[first + b]
        if mass <= 0.0:
            continue
        if bayesian:
            small = np.int64(mass) if mass < RISES else np.int64(-1)
            if small == mass:
                total -= rises[0, small]
            else:
                total -= lgamma(per_row + mass) - row_constant
            for b in range(n_states):
                count = np.float64(table[first + b])
                if count > 0.0:
                    small = np.int64(count) if count < RISES else np.int64(-1)
                    if small == count:
                        total += rises[1, small]
                    else:
                        total += lgamma(per_cell + count) - cell_constant
        else:
            for b in range(n_states):
                count = np.float64(table[first + b])
                if count > 0.0:
                    total += count * log(count / mass)
    return total - penalty * n_rows * (n_states - 1)


@kernel
def family_score(joint, weights, n_rows, width, n_states, criterion, table):
    """Score of the family whose joint codes are given; `criterion` as `criteria`."""
    cells = n_rows * width
    nothing = np.zeros(joint.shape[0], dtype=np.uint8)
    count_joint(joint, nothing, cells, weights, cells, table)
    rises = np.empty((2, RISES))
    return table_score(
        table, n_rows, width, n_states, criterion[0], criterion[1], criterion[2], rises
    )


@kernel
def further_scores(
    codes, grouped, weights, joint, n_joint, width, n_states, wanted, widths,
    group_start, group_width, groups, most_cells, criterion, table, part, out,
):  # fmt: skip
    """Scores of a family with each of the variables of some groups as further parent.

    `joint` holds the codes of the present family, below `n_joint`; `grouped`, shape
    (n_groups, n_rows), the joint codes of groups of consecutive variables, the last one
    fastest, which start at `group_start` and have `group_width` joint states. A member
    of `groups` is counted at once and marginalised if it has up to `most_cells` cells.
    `width` and `n_states` are as in `table_score`, `criterion` is penalty, sample size
    and cell weight of `Criterion`; `table` and `part`, of type uint32 or, with weights,
    float64, are scratch. Writes ``out[j]`` for every variable j that is `wanted`.
    """
    rises = np.empty((2, RISES))
    for g in groups:
        begin = group_start[g]
        end = group_start[g + 1]
        asked = 0
        for j in range(begin, end):
            asked += wanted[j]
        if asked == 0:
            continue
        cells = group_width[g] * n_joint
        together = asked > 1 and cells <= most_cells
        if together:
            count_joint(joint, grouped[g], n_joint, weights, cells, table)
        stride = 1
        for j in range(end - 1, begin - 1, -1):
            if wanted[j]:
                own = widths[j] * n_joint
                if together:
                    sum_down(table, cells, n_joint, stride, widths[j], part)
                else:
                    count_joint(joint, codes[j], n_joint, weights, own, part)
                out[j] = table_score(
                    part, own // width, width, n_states, criterion[0], criterion[1],
                    criterion[2], rises,
                )  # fmt: skip
            stride *= widths[j]
