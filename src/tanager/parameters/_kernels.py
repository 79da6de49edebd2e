"""Kernels of parameter learners.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from tanager.inference._kernels import (
    add_to_touched,
    add_touched,
    class_posterior,
    touched_cells,
)
from tanager.utils.jit import kernel

BLOCK = 256
ROWS = 64


@kernel
def observed_families(
    codes, n_states, n_classes, offsets, start, axis_variable, axis_stride, families,
    n_observed, own,
):  # fmt: skip
    """Write the entries that rows touch in the tables of features to `families`.

    Every table has the class, and the last one is that of the class itself. An entry is
    a configuration of a family without the class: entry e of all tables is made of the
    cells e K .. e K + K - 1, K the number of classes. Those of families with a missing
    member are left out: row m has ``families[m, :n_observed[m]]``, in the order of the
    tables. To ``own[m]`` goes the entry of the class's own table, -1 for a missing
    parent.
    """
    n_rows = codes.shape[1]
    n_features = offsets.shape[0] - 1
    unseen = -(np.int64(1) << np.int64(48))  # added once per missing axis
    entries = np.empty((n_features + 1, ROWS), dtype=np.int64)
    for begin in range(0, n_rows, ROWS):
        size = min(ROWS, n_rows - begin)
        for j in range(n_features + 1):
            entry = entries[j]
            entry[:size] = offsets[j] // n_classes
            for a in range(start[j], start[j + 1]):
                column = codes[axis_variable[a]]
                states = n_states[axis_variable[a]]
                stride = axis_stride[a] // n_classes
                for m in range(size):
                    code = np.int64(column[begin + m])
                    entry[m] += code * stride if code < states else unseen
        for m in range(size):
            observed = 0
            for j in range(n_features):
                if entries[j, m] >= 0:
                    families[begin + m, observed] = entries[j, m]
                    observed += 1
            n_observed[begin + m] = observed
            own[begin + m] = max(entries[n_features, m], -1)


@kernel
def count_by_loss(
    families, n_observed, own, rows_of, labels, weights, order, n_classes, alpha,
    chunk, counts, masses, inverses, losses,
):  # fmt: skip
    """One pass of the discriminative frequency estimate over the rows in `order`.

    The joint of a row with a class is a product of ``(count + alpha) / mass``, one
    factor for every observed family that has the class. Inverse masses are kept, so
    that no logarithm is taken, and only cells of a row's own class cost a division.
    After every `chunk` factors, if there are more, the product is brought to [0.5, 1)
    and its power of two put aside: nothing underflows. The product of `chunk` factors,
    even if begun at 0.5, cannot underflow; `alpha` is above 0.

    `families`, `n_observed` and `own` are those of `observed_families`. `rows_of`
    (n_entries,) says where an entry's distribution (the same parents, all states of the
    owner) starts in `masses`: one mass per class, or one only where the owner is the
    class. `counts` (n_cells,) are added to; `masses`, the sums of ``count + alpha``
    over the states of the owner, and `inverses` are kept up to date. What a row adds is
    also added to `losses` (n_rows,), unless that is empty.
    """
    if n_classes < 2:
        return  # its probability is one: nothing is lost
    weighted = weights.shape[0] > 0
    kept = losses.shape[0] > 0
    split = chunk <= families.shape[1]  # one factor more: the class
    lowest = -(np.int64(1) << np.int64(48))
    # Unsigned cells throughout: numba then has no negative index to look out for.
    width = np.uint64(n_classes)
    one = np.uint64(1)
    joint = np.empty(n_classes)
    power = np.zeros(n_classes, dtype=np.int64)
    for place in range(order.shape[0]):
        m = order[place]
        if labels[m] >= n_classes:
            continue
        label = np.uint64(labels[m])
        family = families[m]
        observed = np.int64(n_observed[m])
        known = own[m] >= 0
        entry = np.uint64(max(own[m], 0))
        prior = entry * width
        all_rows = np.uint64(rows_of[entry])
        for pair in range(0, n_classes, 2):
            # Two neighbours at a time, in registers; of an odd number one twice.
            c = min(pair, n_classes - 2)
            d = c + 1
            product_c = 1.0
            product_d = 1.0
            if known:
                scale = inverses[all_rows]
                product_c = (counts[prior + np.uint64(c)] + alpha) * scale
                product_d = (counts[prior + np.uint64(d)] + alpha) * scale
            power_c = np.int64(0)
            power_d = np.int64(0)
            for first in range(0, observed, chunk):
                if split:
                    product_c, more = frexp(product_c)
                    power_c += more
                    product_d, more = frexp(product_d)
                    power_d += more
                for j in range(first, min(first + chunk, observed)):
                    entry = np.uint64(family[j])
                    k = entry * width + np.uint64(c)
                    r = np.uint64(rows_of[entry]) + np.uint64(c)
                    product_c *= (counts[k] + alpha) * inverses[r]
                    product_d *= (counts[k + one] + alpha) * inverses[r + one]
            joint[c] = product_c
            joint[d] = product_d
            power[c] = power_c
            power[d] = power_d
        if split:
            highest = lowest
            for c in range(n_classes):
                joint[c], more = frexp(joint[c])
                power[c] += more
                highest = max(highest, power[c])
            for c in range(n_classes):
                joint[c] = ldexp(joint[c], int(max(power[c] - highest, -2000)))
        mass = 0.0
        for c in range(n_classes):
            mass += joint[c]
        loss = 1.0 - joint[label] / mass
        if weighted:
            loss *= weights[m]
        if not loss > 0.0:
            continue
        if kept:
            losses[m] += loss
        if known:
            counts[prior + label] += loss
            masses[all_rows] += loss
            inverses[all_rows] = 1.0 / masses[all_rows]
        for j in range(observed):
            entry = np.uint64(family[j])
            r = np.uint64(rows_of[entry]) + label
            counts[entry * width + label] += loss
            heavier = masses[r] + loss
            masses[r] = heavier
            inverses[r] = 1.0 / heavier


@kernel
def expected_classes(
    codes, weights, values, offsets, start, axis_variable, axis_stride, n_classes, out
):
    """Sum of log P(x) over complete unlabelled rows, its gradient added to `out`.

    The log joint is made up as in `conditional_loss`; a row adds P(c | x) to the cells
    it touches. `weights` has shape (n_rows,), or (0,) for ones.
    """
    n_rows = codes.shape[1]
    n_tables = offsets.shape[0]
    cells = np.empty((n_tables, BLOCK), dtype=np.int64)
    joint = np.empty(n_classes)
    by_class = np.empty(n_classes)
    value = 0.0
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        touched_cells(
            codes, begin, size, offsets, start, axis_variable, axis_stride, cells
        )
        for m in range(size):
            weight = weights[begin + m] if weights.shape[0] > 0 else 1.0
            if weight == 0.0:
                continue
            add_touched(values, cells, n_tables, m, n_classes, joint)
            value += weight * class_posterior(joint, weight, by_class)
            add_to_touched(by_class, cells, n_tables, m, n_classes, out)
    return value
