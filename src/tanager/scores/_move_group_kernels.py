"""Kernels that score groups of moves by the rows whose verdict they may turn.

Moves are given as in `scores.incremental_scorer.Moved`: move t gives `children[t]` the
first ``sizes[t]`` features of ``sets[t]`` as parents, and its table of changes, with
the axes (configuration, fold, state, class), starts at ``offsets[t]`` in `tables`.
`rows` are the codes row by row, shape (n_rows, n_features).
"""

from __future__ import annotations

from math import inf

import numpy as np

from tanager.utils.jit import kernel

BLOCK = 256
"""Rows that are worked out at a time; their log joint stays in the nearest cache."""

WIDENING = 2.0**-22
"""Fraction by which bounds in single precision are widened: more than rounding.

A fraction, so that a bound above zero stays above it.
"""


@kernel
def first_cell(
    row, fold, t, children, sets, sizes, offsets, widths, n_states, n_folds, n_classes
):
    """Where what the row touches starts in the table of move t; -1 for nothing."""
    child = children[t]
    state = np.int64(row[child])
    if state >= n_states[child]:
        return np.int64(-1)
    code = np.int64(0)
    for place in range(sizes[t]):
        parent = sets[t, place]
        code = code * widths[parent] + np.int64(row[parent])
    return offsets[t] + ((code * n_folds + fold) * n_states[child] + state) * n_classes


@kernel
def add_tables(
    codes, folds, numbers, many, children, sets, sizes, offsets, tables, widths,
    n_states, n_folds, group, sign, index, joint,
):  # fmt: skip
    """Add what the moves of a group do to the log joint of some rows, times `sign`.

    `codes` are those by feature. The rows are the first `many` of `numbers`, and so are
    those of `joint`; `index` is for use in here.
    """
    n_classes = joint.shape[1]
    for t in group:
        states = n_states[children[t]]
        index[:many] = 0
        for place in range(sizes[t]):
            column = codes[sets[t, place]]
            width = widths[sets[t, place]]
            for i in range(many):
                index[i] = index[i] * width + np.int64(column[numbers[i]])
        column = codes[children[t]]
        for i in range(many):
            state = np.int64(column[numbers[i]])
            if state >= states:
                continue
            cell = index[i] * n_folds + np.int64(folds[numbers[i]])
            cell = offsets[t] + (cell * states + state) * n_classes
            for c in range(n_classes):
                joint[i, c] += sign * tables[cell + c]


@kernel
def add_together(
    codes, folds, children, sets, sizes, offsets, tables, widths, n_states, n_folds,
    group, out,
):  # fmt: skip
    """Add what the moves of a group do to the log joint of all rows, `out`."""
    n_rows = out.shape[0]
    numbers = np.empty(BLOCK, dtype=np.int64)
    index = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_rows, BLOCK):
        many = min(BLOCK, n_rows - begin)
        for i in range(many):
            numbers[i] = begin + i
        add_tables(
            codes, folds, numbers, many, children, sets, sizes, offsets, tables, widths,
            n_states, n_folds, group, 1.0, index, out[begin : begin + many],
        )  # fmt: skip


@kernel
def shift_bounds(
    codes, labels, folds, weights, places, change, children, sets, sizes, offsets,
    tables, widths, n_states, n_folds, dropped, gained, low, high,
):  # fmt: skip
    """Move bounds of the rows' margins by as much as the margins may have moved.

    ``places[m]`` is the position of row m in the bounds `low` and `high`, `change` the
    change of the log joint without the group, shape (n_rows, n_classes). `dropped` and
    `gained` are the moves that left and joined the group. Returns the weight of the
    rows that may be classified correctly.
    """
    n_rows, n_classes = change.shape
    numbers = np.empty(BLOCK, dtype=np.int64)
    index = np.empty(BLOCK, dtype=np.int64)
    moved = np.empty((BLOCK, n_classes))
    most = 0.0
    for begin in range(0, n_rows, BLOCK):
        many = min(BLOCK, n_rows - begin)
        for i in range(many):
            numbers[i] = begin + i
            for c in range(n_classes):
                moved[i, c] = change[begin + i, c]
        add_tables(
            codes, folds, numbers, many, children, sets, sizes, offsets, tables, widths,
            n_states, n_folds, dropped, -1.0, index, moved,
        )  # fmt: skip
        add_tables(
            codes, folds, numbers, many, children, sets, sizes, offsets, tables, widths,
            n_states, n_folds, gained, 1.0, index, moved,
        )  # fmt: skip
        for i in range(many):
            label = np.int64(labels[begin + i])
            own = moved[i, label]
            # Another class in its place: the other ones without a branch.
            moved[i, label] = moved[i, np.int64(label == 0)]
            least = inf
            greatest = -inf
            for c in range(n_classes):
                least = min(least, moved[i, c])
                greatest = max(greatest, moved[i, c])
            at = places[begin + i]
            lowest = np.float64(low[at]) + own - greatest
            highest = np.float64(high[at]) + own - least
            low[at] = lowest - abs(lowest) * WIDENING
            high[at] = highest + abs(highest) * WIDENING
            if high[at] > 0.0:
                most += weights[begin + i]
    return most


@kernel
def settle(
    codes, labels, folds, weights, places, log_joint, children, sets, sizes, offsets,
    tables, widths, n_states, n_folds, group, most, least, low, high,
):  # fmt: skip
    """Weight of the rows that are right after a group of moves, and rows worked out.

    Rows whose bounds have one sign keep their verdict; the margins of the others are
    worked out, and become their bounds. `most` is the weight of the rows that may be
    right. When it is less than `least`, the weight is -inf, and what is left is not
    looked at; so those rows that are wrong most easily should come first.
    """
    n_rows, n_classes = log_joint.shape
    numbers = np.empty(BLOCK, dtype=np.int64)
    index = np.empty(BLOCK, dtype=np.int64)
    joint = np.empty((BLOCK, n_classes))
    visited = 0
    begin = 0
    while begin < n_rows and most >= least:
        many = 0
        while begin < n_rows and many < BLOCK:
            at = places[begin]
            numbers[many] = begin
            many += weights[begin] > 0.0 and low[at] <= 0.0 and high[at] > 0.0
            begin += 1
        for i in range(many):
            for c in range(n_classes):
                joint[i, c] = log_joint[numbers[i], c]
        add_tables(
            codes, folds, numbers, many, children, sets, sizes, offsets, tables, widths,
            n_states, n_folds, group, 1.0, index, joint,
        )  # fmt: skip
        for i in range(many):
            m = numbers[i]
            label = np.int64(labels[m])
            best = -inf
            for c in range(n_classes):
                if c != label:
                    best = max(best, joint[i, c])
            margin = joint[i, label] - best
            low[places[m]] = margin - abs(margin) * WIDENING
            high[places[m]] = margin + abs(margin) * WIDENING
            if margin <= 0.0:
                most -= weights[m]
        visited += many
    return (most if most >= least else -inf), visited


@kernel
def gains_together(
    rows, labels, folds, weights, log_joint, margin, rival, first, last, children, sets,
    sizes, offsets, tables, widths, n_states, n_folds, members, borders, gain,
):  # fmt: skip
    """Add the weight of rows that every group of moves turns right, less turned wrong.

    Of the rows from `first` to `last`. The moves of group g are ``members[borders[g] :
    borders[g + 1]]``. A row is looked at in full only if the moves of a group, each
    with its own greatest push, can bring it over its margin. Returns the rows looked at
    in full, and those whose pushes were compared with the margin, over all groups.
    """
    n_classes = log_joint.shape[1]
    n_moves = children.shape[0]
    n_groups = borders.shape[0] - 1
    cells = np.empty(n_moves, dtype=np.int64)
    pushes = np.empty(n_moves)
    joint = np.empty(n_classes)
    longest = 0
    for g in range(n_groups):
        longest = max(longest, borders[g + 1] - borders[g])
    visited = 0
    looked_up = 0
    for m in range(first, last):
        if weights[m] == 0.0:
            continue
        label = np.int64(labels[m])
        fold = np.int64(folds[m])
        right = margin[m] > 0.0
        distance = abs(margin[m])
        greatest = 0.0
        for t in range(n_moves):
            cell = first_cell(
                rows[m], fold, t, children, sets, sizes, offsets, widths, n_states,
                n_folds, n_classes,
            )  # fmt: skip
            cells[t] = cell
            pushes[t] = 0.0
            if cell < 0:
                continue
            if right:
                push = -inf
                for c in range(n_classes):
                    if c != label:
                        push = max(push, tables[cell + c])
                push -= tables[cell + label]
            else:
                push = tables[cell + label] - tables[cell + rival[m]]
            pushes[t] = push
            greatest = max(greatest, push)
        if greatest * longest < distance:
            continue
        looked_up += n_groups
        for g in range(n_groups):
            push = 0.0
            for i in range(borders[g], borders[g + 1]):
                push += pushes[members[i]]
            if push < distance:
                continue
            visited += 1
            for c in range(n_classes):
                joint[c] = log_joint[m, c]
            for i in range(borders[g], borders[g + 1]):
                cell = cells[members[i]]
                if cell >= 0:
                    for c in range(n_classes):
                        joint[c] += tables[cell + c]
            best = -inf
            for c in range(n_classes):
                if c != label:
                    best = max(best, joint[c])
            if (joint[label] > best) != right:
                gain[g] += -weights[m] if right else weights[m]
    return visited, looked_up
