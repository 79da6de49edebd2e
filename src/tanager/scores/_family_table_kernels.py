"""Kernels that count sets of parents and make tables of them.

Throughout, `codes` is given transposed, shape (n_features, n_rows), each row
contiguous. A *set* is the parents a feature would have; all sets of a batch have the
same size. Counts of a set have the axes (slice, configuration of the set, state of the
child, class). Tables of changes have the axes (fold, state, class, configuration),
where the configurations of all sets of a batch stand side by side, those of set t from
``starts[t]`` on. `widths` are the states of every feature, with one more for "missing"
where that occurs.
"""

from __future__ import annotations

from math import inf, lgamma, log

import numpy as np

from tanager.scores.scoring_data import LOWEST
from tanager.utils.jit import kernel

BLOCK = 4096
"""Rows whose indices are held at a time; they stay in the first-level cache."""

LANE_CELLS = 1024
"""Cells up to which a table is counted in four copies; they fit the same cache."""


@kernel
def count_sets(
    codes, labels, folds, weights, sets, widths, child, n_states, n_classes, n_slices,
    offsets, out,
):  # fmt: skip
    """Count the rows by fold, configuration, state of the child and class.

    Rows in which the child is missing, or without a label, are left out. A missing
    parent is one more state. `folds` holds the slice of every row; `weights` is empty
    for ones; `n_states` is that of the child. The counts of set t are added to `out`
    from ``offsets[t]`` on.
    """
    n_rows = labels.shape[0]
    size = sets.shape[1]
    weighted = weights.shape[0] > 0
    own = np.int64(n_states * n_classes)  # codes times it must not wrap
    far = np.int64(1) << np.int64(40)
    base = np.empty(BLOCK, dtype=np.int64)
    index = np.empty(BLOCK, dtype=np.int64)
    lanes = np.empty((4, LANE_CELLS), dtype=np.int32)
    for begin in range(0, n_rows, BLOCK):
        many = min(BLOCK, n_rows - begin)
        column = codes[child]
        complete = True
        for m in range(many):
            code = np.int64(column[begin + m])
            label = np.int64(labels[begin + m])
            seen = code < n_states and label < n_classes
            base[m] = code * n_classes + label if seen else far
            complete = complete and seen
        for t in range(sets.shape[0]):
            offset = offsets[t]
            cells = offsets[t + 1] - offset
            if (
                size == 1 and n_slices == 1 and complete and not weighted
                and cells <= LANE_CELLS
            ):  # fmt: skip
                # Neighbours often touch the same cell: four counters, so that one
                # increment need not wait for the one before.
                column = codes[sets[t, 0], begin : begin + many]
                lanes[:, :cells] = 0
                whole = many - many % 4
                for m in range(0, whole, 4):
                    lanes[0, base[m] + column[m] * own] += 1
                    lanes[1, base[m + 1] + column[m + 1] * own] += 1
                    lanes[2, base[m + 2] + column[m + 2] * own] += 1
                    lanes[3, base[m + 3] + column[m + 3] * own] += 1
                for m in range(whole, many):
                    lanes[0, base[m] + column[m] * own] += 1
                for cell in range(cells):
                    out[offset + cell] += (
                        lanes[0, cell] + lanes[1, cell] + lanes[2, cell]
                        + lanes[3, cell]
                    )  # fmt: skip
                continue
            stride = own
            for m in range(many):
                index[m] = base[m]
            for place in range(size - 1, -1, -1):
                parent = sets[t, place]
                column = codes[parent]
                for m in range(many):
                    index[m] += np.int64(column[begin + m]) * stride
                stride *= widths[parent]
            if n_slices > 1:
                for m in range(many):
                    index[m] += np.int64(folds[begin + m]) * stride
            if weighted:
                for m in range(many):
                    if index[m] < cells:
                        out[offset + index[m]] += weights[begin + m]
            elif complete:
                for m in range(many):
                    out[offset + index[m]] += 1.0
            else:
                for m in range(many):
                    if index[m] < cells:
                        out[offset + index[m]] += 1.0


@kernel
def add_to_missing(table, sets, widths, n_states, t, own):
    """Give a configuration with missing members the rows of all it may stand for.

    `table` is one slice of the counts of set `t`, flat; `own` is the number of cells of
    a configuration. Where the last state of a parent means missing, its cells become
    the sums over all states of that parent.
    """
    stride = own
    for place in range(sets.shape[1] - 1, -1, -1):
        parent = sets[t, place]
        width = widths[parent]
        if width > n_states[parent]:
            for high in range(table.shape[0] // (stride * width)):
                first = high * stride * width
                last = first + (width - 1) * stride
                for state in range(width - 1):
                    for cell in range(stride):
                        table[last + cell] += table[first + state * stride + cell]
        stride *= width


@kernel
def log_tables(
    counts, offsets, sets, widths, n_states, child, n_classes, n_slices, n_folds,
    alpha, zero, steps, base, starts, out,
):  # fmt: skip
    """Log frequencies of every set less those of the present family, on a grid.

    With several folds the table of a fold is made from the counts of all others. The
    present parents stand last in every set, so that their configuration is the new one
    modulo their number of configurations.

    `counts` and `offsets` are those of `count_sets`; the counts are overwritten. The
    first `n_folds` slices are held out in turn; one fold means that nothing is. `alpha`
    and `zero` are as in `Smoothing`, `steps` are the steps of the grid in a unit, and
    `base` is the log table of the present family, axes as those of `out`.
    """
    states = n_states[child]
    own = states * n_classes
    n_present = base.shape[3]
    row = np.empty(states)
    for t in range(sets.shape[0]):
        width = starts[t + 1] - starts[t]
        cells = width * own
        first = offsets[t]
        for s in range(n_slices):
            part = counts[first + s * cells : first + (s + 1) * cells]
            add_to_missing(part, sets, widths, n_states, t, own)
        if n_folds > 1:
            for cell in range(cells):
                total = 0.0
                for s in range(n_slices):
                    total += counts[first + s * cells + cell]
                for s in range(n_folds):
                    place = first + s * cells + cell
                    counts[place] = total - counts[place]
        for f in range(n_folds):
            for configuration in range(width):
                present = configuration % n_present
                source = first + f * cells + configuration * own
                place = starts[t] + configuration
                for c in range(n_classes):
                    for b in range(states):
                        row[b] = counts[source + b * n_classes + c]
                    log_row(row, alpha, zero, steps)
                    for b in range(states):
                        out[f, b, c, place] = row[b] - base[f, b, c, present]


@kernel
def log_row(row, alpha, zero, steps):
    """Replace counts of the states by log frequencies, rounded to the grid."""
    states = row.shape[0]
    total = 0.0
    for b in range(states):
        total += row[b]
    mass = 0.0
    for b in range(states):
        if zero <= 0.0:
            row[b] += alpha
        elif row[b] > 0.0:
            row[b] /= total
        else:
            row[b] = zero
        mass += row[b]
    for b in range(states):
        frequency = row[b] / mass if mass > 0.0 else 1.0 / states
        value = max(log(frequency), LOWEST) if frequency > 0.0 else LOWEST
        row[b] = np.rint(value * steps) / steps


@kernel
def pushes(delta, losing, top, lifting):
    """How far every cell can push a row of each class down against another class.

    `delta`, axes (fold, state, class, configuration), are tables of changes. `losing`,
    of the same shape, is the greatest change of another class less that of the own one,
    `top` (fold, state, class) its maximum, and `lifting` (fold, state, class, other)
    how far any cell can lift the other class against the class; all rounded up.
    """
    n_folds, states, n_classes, n_places = delta.shape
    first = np.empty(n_places)
    second = np.empty(n_places)
    for f in range(n_folds):
        for b in range(states):
            first[:] = -inf
            second[:] = -inf
            for c in range(n_classes):
                for place in range(n_places):
                    value = delta[f, b, c, place]
                    second[place] = max(second[place], min(first[place], value))
                    first[place] = max(first[place], value)
            for c in range(n_classes):
                highest = np.float32(-inf)
                for place in range(n_places):
                    value = delta[f, b, c, place]
                    rival = second[place] if value == first[place] else first[place]
                    # A few steps of single precision above: never too small.
                    push = rival - value
                    if push > -inf:  # there is another class
                        push += abs(push) * 3e-7
                    rounded = np.float32(push)
                    losing[f, b, c, place] = rounded
                    highest = max(highest, rounded)
                top[f, b, c] = highest
                for d in range(n_classes):
                    most = -inf
                    for place in range(n_places):
                        most = max(most, delta[f, b, d, place] - delta[f, b, c, place])
                    lifting[f, b, c, d] = np.float32(most + abs(most) * 3e-7)


@kernel
def family_scores(
    counts, offsets, starts, n_states, n_classes, penalty, sample_size, cell_weight, out
):
    """Score the child given every set and the class.

    `penalty`, `sample_size` and `cell_weight` are as in `Criterion`.
    """
    bayesian = sample_size > 0.0 or cell_weight > 0.0
    for t in range(out.shape[0]):
        width = starts[t + 1] - starts[t]
        total = 0.0
        cell = offsets[t]
        n_table_rows = width * n_classes
        if bayesian:
            if sample_size > 0.0:
                per_row = sample_size / n_table_rows
                per_cell = per_row / n_states
            else:
                per_cell = cell_weight
                per_row = cell_weight * n_states
            constant = lgamma(per_row)
            each = lgamma(per_cell)
        for _ in range(width):
            for c in range(n_classes):
                mass = 0.0
                for b in range(n_states):
                    mass += counts[cell + b * n_classes + c]
                if mass <= 0.0:
                    continue
                if bayesian:
                    total += constant - lgamma(per_row + mass)
                    for b in range(n_states):
                        count = counts[cell + b * n_classes + c]
                        if count > 0.0:
                            total += lgamma(per_cell + count) - each
                else:
                    for b in range(n_states):
                        count = counts[cell + b * n_classes + c]
                        if count > 0.0:
                            total += count * log(count / mass)
            cell += n_states * n_classes
        out[t] = total - penalty * n_table_rows * (n_states - 1)
