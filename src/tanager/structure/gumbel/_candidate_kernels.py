"""Kernels of `CandidateTables`: mini-batches through tables of which some are chosen.

Tables are numbered feature by feature, the candidates of a feature one after the other,
the first of them without a feature parent; the last table is that of the class. A
batch's codes come as (n_features, n_batch), one feature after the other.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from tanager.losses._kernels import conditional_loss, hybrid_loss
from tanager.structure.gumbel._table_kernels import settle_tables, step_table
from tanager.structure.trees._arborescence_kernels import best_forest
from tanager.utils.jit import kernel

NEGLIGIBLE = 1e-9
"""Derivatives so much smaller than the largest of their row do not move the weights."""

DIED_OUT = 1e-18
"""What is left of a momentum that moves a table by no digit any more."""


@kernel
def take_batch(codes, labels, weights, rows, batch_codes, batch_labels, batch_weights):
    """Bring the rows of a batch together, one feature after the other."""
    n_features = codes.shape[1]
    for m in range(rows.shape[0]):
        row = codes[rows[m]]
        for j in range(n_features):
            batch_codes[j, m] = row[j]
        batch_labels[m] = labels[rows[m]]
        batch_weights[m] = weights[rows[m]] if weights.shape[0] else 1.0


@kernel
def cells_of(t, feature, batch, n_batch, offsets, parents, strides, out):
    """Cell of the first class of every row in table `t`; missing codes do not count."""
    own = batch[feature]
    begin = offsets[t]
    stride = strides[t, 0]
    for m in range(n_batch):
        out[m] = begin + np.int64(own[m]) * stride
    for a in range(parents.shape[1]):
        parent = parents[t, a]
        if parent >= 0:
            stride = strides[t, a + 1]
            above = batch[parent]
            for m in range(n_batch):
                out[m] += np.int64(above[m]) * stride


@kernel
def mend_cells(
    t, feature, batch, n_batch, n_states, offsets, parents, strides, plain, out
):
    """Set right what `cells_of` gave for rows with missing values.

    Where a parent is missing it is the cell in the table `plain`, which has no parent;
    where the feature itself is missing it is -1.
    """
    own = batch[feature]
    for a in range(parents.shape[1]):
        parent = parents[t, a]
        if parent >= 0:
            above = batch[parent]
            for m in range(n_batch):
                if above[m] >= n_states[parent]:
                    out[m] = offsets[plain] + np.int64(own[m]) * strides[plain, 0]
    for m in range(n_batch):
        if own[m] >= n_states[feature]:
            out[m] = -1


@kernel
def forward(
    shares, batch, n_batch, has_gaps, log_theta, n_states, offsets, first, parents,
    strides, cells, out,
):  # fmt: skip
    """Log joint of a batch: the tables of every feature, each times its share.

    Parameters
    ----------
    shares : float64 array, shape (n_tables,)
        Zero for tables that are not chosen.
    batch : unsigned int array, shape (n_features, at least n_batch)
        Codes.
    has_gaps : bool
        Whether codes may be missing.
    log_theta, n_states, offsets, first, parents, strides : arrays
        As in `CandidateTables`.
    cells : int64 array, shape (at least n_batch,)
        Room to work in.
    out : float64 array, shape (at least n_batch, n_classes)
        Filled with the log joint.
    """
    n_features = first.shape[0] - 1
    n_classes = out.shape[1]
    width = np.uint64(n_classes)
    prior = offsets[first[n_features]]
    for m in range(n_batch):
        for c in range(n_classes):
            out[m, c] = log_theta[prior + c]
    for j in range(n_features):
        for t in range(first[j], first[j + 1]):
            share = shares[t]
            if share == 0.0:
                continue
            cells_of(t, j, batch, n_batch, offsets, parents, strides, cells)
            if has_gaps:
                mend_cells(
                    t, j, batch, n_batch, n_states, offsets, parents, strides,
                    first[j], cells,
                )  # fmt: skip
            for m in range(n_batch):
                if cells[m] < 0:
                    continue
                row = out[m]
                # Unsigned: numba then has no negative index to look out for.
                cell = np.uint64(cells[m])
                for c in range(width):
                    row[c] += share * log_theta[cell + c]


@kernel
def list_slopes(by_joint, n_batch, entry_row, entry_class, entry_value):
    """The derivatives by the log joint that are not zero, as a list.

    Most losses leave most classes of most rows alone.

    Returns
    -------
    n_large, n_entries : int
        Length of the first part of the list, those that are not negligible beside the
        largest of their row, and of all.
    """
    n_classes = by_joint.shape[1]
    n_large = 0
    end = entry_row.shape[0]
    for m in range(n_batch):
        largest = 0.0
        for c in range(n_classes):
            largest = max(largest, abs(by_joint[m, c]))
        least = largest * NEGLIGIBLE
        for c in range(n_classes):
            value = by_joint[m, c]
            if abs(value) > least:
                entry_row[n_large] = m
                entry_class[n_large] = c
                entry_value[n_large] = value
                n_large += 1
            elif value != 0.0:
                # The small ones wait at the end; there is room for all.
                end -= 1
                entry_row[end] = m
                entry_class[end] = c
                entry_value[end] = value
    n_entries = n_large
    for e in range(end, entry_row.shape[0]):
        entry_row[n_entries] = entry_row[e]
        entry_class[n_entries] = entry_class[e]
        entry_value[n_entries] = entry_value[e]
        n_entries += 1
    return n_large, n_entries


@kernel
def add_slopes(cells, entry_row, entry_class, entry_value, n_entries, share, base, out):
    """Add derivatives, times a share, to their cells; `out` begins at cell `base`."""
    for e in range(n_entries):
        cell = cells[entry_row[e]]
        if cell >= 0:
            out[np.uint64(cell - base + entry_class[e])] += share * entry_value[e]


@kernel
def along(cells, has_gaps, entry_row, entry_class, entry_value, n_entries, log_theta):
    """Sum of the derivatives times the log probabilities at their cells."""
    if has_gaps:
        total = 0.0
        for e in range(n_entries):
            cell = cells[entry_row[e]]
            if cell >= 0:
                total += entry_value[e] * log_theta[np.uint64(cell + entry_class[e])]
        return total
    # Four sums: one would have to wait for itself at every entry.
    sum0 = sum1 = sum2 = sum3 = 0.0
    whole = n_entries - n_entries % 4
    for e in range(0, whole, 4):
        cell0 = np.uint64(cells[entry_row[e]] + entry_class[e])
        cell1 = np.uint64(cells[entry_row[e + 1]] + entry_class[e + 1])
        cell2 = np.uint64(cells[entry_row[e + 2]] + entry_class[e + 2])
        cell3 = np.uint64(cells[entry_row[e + 3]] + entry_class[e + 3])
        sum0 += entry_value[e] * log_theta[cell0]
        sum1 += entry_value[e + 1] * log_theta[cell1]
        sum2 += entry_value[e + 2] * log_theta[cell2]
        sum3 += entry_value[e + 3] * log_theta[cell3]
    for e in range(whole, n_entries):
        cell0 = np.uint64(cells[entry_row[e]] + entry_class[e])
        sum0 += entry_value[e] * log_theta[cell0]
    return (sum0 + sum1) + (sum2 + sum3)


@kernel
def along_rows(cells, by_joint, n_batch, log_theta, sums):
    """What `along` gives, over all derivatives: wide where few of them are zero."""
    n_classes = by_joint.shape[1]
    width = np.uint64(n_classes)
    for c in range(n_classes):
        sums[c] = 0.0
    for m in range(n_batch):
        if cells[m] >= 0:
            slopes = by_joint[m]
            cell = np.uint64(cells[m])
            for c in range(width):
                sums[c] += slopes[c] * log_theta[cell + c]
    total = 0.0
    for c in range(n_classes):
        total += sums[c]
    return total


@kernel
def backward(
    shares, look_ahead, batch, n_batch, has_gaps, by_joint, theta, log_theta, mean,
    root, kept, kept_root, ahead, moved, scale, n_states, offsets, first, parents,
    strides, rate, beta1, beta2, epsilon, mean_factor, root_factor, cells, entry_row,
    entry_class, entry_value, sums, slopes, total, shift, by_share,
):  # fmt: skip
    """Derivative by the shares, and one step of Adam on all tables.

    Parameters
    ----------
    shares, batch, n_batch, has_gaps, log_theta, n_states, offsets, first, parents, \
    strides, cells
        As in `forward`.
    look_ahead : bool
        Whether tables are moved at once by all that their momentum is going to bring.
    by_joint : float64 array, shape (at least n_batch, n_classes)
        Derivative of the loss by the log joint.
    theta, mean, root : float64 arrays, shape (n_cells,)
        Tables and running means.
    kept, kept_root : float64 arrays, shape (n_tables,)
        What is left of `mean` and `root` since the last gradient of every table.
    ahead, moved, scale : float64 arrays, shape (n_tables,)
        As in `settle`.
    rate, beta1, beta2, epsilon, mean_factor, root_factor : float
        Of `Adam`, and the factors of `Adam.advance`.
    entry_row, entry_class, entry_value, sums, slopes, total, shift : arrays
        Room to work in. `slopes` is zero before and after.
    by_share : float64 array, shape (n_tables,)
        Filled with the derivatives by `shares`.
    """
    n_features = first.shape[0] - 1
    n_classes = by_joint.shape[1]
    n_large, n_entries = list_slopes(
        by_joint, n_batch, entry_row, entry_class, entry_value
    )
    is_dense = n_large * 3 > n_batch * n_classes
    root_beta2 = sqrt(beta2)
    length = rate * mean_factor
    shrink = beta1 / root_beta2
    # The sum of all steps to come, each `shrink` times the one before.
    to_come = length * shrink / (1.0 - shrink) if look_ahead else 0.0
    for j in range(n_features):
        plain = first[j]
        base = offsets[plain]
        touched = False
        # Rows with gaps reach the first table by way of others, so it comes last.
        for back in range(first[j + 1] - plain):
            t = first[j + 1] - 1 - back
            cells_of(t, j, batch, n_batch, offsets, parents, strides, cells)
            if has_gaps:
                mend_cells(
                    t, j, batch, n_batch, n_states, offsets, parents, strides, plain,
                    cells,
                )  # fmt: skip
            if is_dense:
                by_share[t] = along_rows(cells, by_joint, n_batch, log_theta, sums)
            else:
                by_share[t] = along(
                    cells, has_gaps, entry_row, entry_class, entry_value, n_large,
                    log_theta,
                )  # fmt: skip
            share = shares[t]
            if share != 0.0:
                add_slopes(
                    cells, entry_row, entry_class, entry_value, n_entries, share, base,
                    slopes,
                )  # fmt: skip
                touched |= has_gaps
            if share != 0.0 or (t == plain and touched):
                begin, end = offsets[t], offsets[t + 1]
                width = (end - begin) // n_states[j]
                step_table(
                    slopes[begin - base : end - base], theta[begin:end],
                    log_theta[begin:end], mean[begin:end], root[begin:end], n_states[j],
                    kept[t], kept_root[t], length + to_come, root_factor, beta1, beta2,
                    epsilon, total[:width], shift[:width],
                )  # fmt: skip
                kept[t] = 1.0
                kept_root[t] = 1.0
                ahead[t] = to_come
                moved[t] = 0.0
                scale[t] = root_factor
            else:
                # The mean square fades long after the mean has.
                kept_root[t] *= root_beta2
                if kept[t] > DIED_OUT:
                    kept[t] *= beta1
                    moved[t] += (
                        length * kept[t] * scale[t] / (root_factor * kept_root[t])
                    )
                else:
                    kept[t] = 0.0
    prior = first[n_features]
    begin = offsets[prior]
    for m in range(n_batch):
        for c in range(n_classes):
            slopes[c] += by_joint[m, c]
    step_table(
        slopes[:n_classes], theta[begin:], log_theta[begin:], mean[begin:],
        root[begin:], n_classes, 1.0, 1.0, length, root_factor, beta1, beta2, epsilon,
        total[:1], shift[:1],
    )  # fmt: skip


@kernel
def draw(log_phi, noise, tau, relaxed, free, first, open_, forest, soft, shares):
    """Draw a set of parents for every feature.

    Parameters
    ----------
    log_phi : float64 array, shape (n_tables,)
        Log probabilities, up to a constant per feature.
    noise : float64 array, shape (n_tables,)
        Gumbel noise.
    tau : float
        Temperature.
    relaxed : bool
        Whether shares are soft, instead of one for the chosen and zero for the others.
    free : bool
        Whether features have no order, so that the choice must be free of cycles: then
        it is the forest of greatest sum. Soft shares know of no cycles.
    first : int64 array, shape (n_features + 1,)
        First table of every feature.
    open_ : bool array, shape (n_tables,)
        Tables that may be chosen.
    forest : tuple of arrays
        Child and parent of every table, and room to work in: sums, chosen, and what
        `best_forest` needs.
    soft, shares : float64 arrays, shape (n_tables,)
        Filled: softmax of ``(log_phi + noise) / tau``, and the shares of the tables.
    """
    child, parent, sums, chosen, workspace = forest
    n_features = first.shape[0] - 1
    for t in range(sums.shape[0]):
        sums[t] = log_phi[t] + noise[t] if open_[t] else -np.inf
        soft[t] = 0.0
        shares[t] = 0.0
    for j in range(n_features):
        best = first[j]
        for t in range(first[j] + 1, first[j + 1]):
            if sums[t] > sums[best]:
                best = t
        chosen[j] = best
        mass = 0.0
        for t in range(first[j], first[j + 1]):
            soft[t] = exp((sums[t] - sums[best]) / tau)
            mass += soft[t]
        for t in range(first[j], first[j + 1]):
            soft[t] /= mass
            if relaxed:
                shares[t] = soft[t]
    if free and not relaxed:
        # There is one: required arcs have no cycle, and the others may be left out.
        best_forest(sums, child, parent, n_features, workspace, chosen)
    if not relaxed:
        for j in range(n_features):
            shares[chosen[j]] = 1.0


@kernel
def step_weights(
    by_share, soft, tau, first, weights, mean, square, rate, beta1, beta2, epsilon,
    mean_factor, root_factor,
):  # fmt: skip
    """One step of Adam on the structure weights, by way of the softmax."""
    for j in range(first.shape[0] - 1):
        # Relative to the table of the largest share: the difference keeps its digits
        # where that share is all but one.
        best = first[j]
        for t in range(first[j] + 1, first[j + 1]):
            if soft[t] > soft[best]:
                best = t
        expected = 0.0
        for t in range(first[j], first[j + 1]):
            expected += soft[t] * (by_share[t] - by_share[best])
        for t in range(first[j], first[j + 1]):
            slope = soft[t] * (by_share[t] - by_share[best] - expected) / tau
            mean[t] += (1.0 - beta1) * (slope - mean[t])
            square[t] += (1.0 - beta2) * (slope * slope - square[t])
            weights[t] -= (
                rate * mean_factor * mean[t] / (root_factor * sqrt(square[t]) + epsilon)
            )


@kernel
def count_errors(log_joint, labels, weights, n_batch):
    """Weight of the rows whose most probable class, the first of equals, is wrong."""
    wrong = 0.0
    for m in range(n_batch):
        best = 0
        for c in range(1, log_joint.shape[1]):
            if log_joint[m, c] > log_joint[m, best]:
                best = c
        if best != labels[m]:
            wrong += weights[m]
    return wrong


@kernel
def descend(
    codes, labels, weights, order, size, factor, has_gaps, noise, tau, relaxed, free,
    look_ahead, rate, weight_rate, taken, adam, loss, shape, tables, choice, forest,
    room,
):  # fmt: skip
    """Some mini-batches: draw a structure, score the batch, step on tables and weights.

    Parameters
    ----------
    codes : unsigned int array, shape (n_rows, n_features)
        All rows, row-major.
    labels, weights : arrays, shape (n_rows,)
        Classes, and row weights or an empty array.
    order : int array
        Rows in the order they are taken in, `size` at a time.
    factor : float
        Of the gradient of the loss.
    has_gaps, relaxed, free, look_ahead : bool
        Whether codes may be missing, shares are soft, no order of features is fixed,
        tables are moved ahead as in `backward` (or else all are settled in every
        batch).
    noise : float64 array, shape (n_batches, n_tables)
        Gumbel noise.
    tau, rate, weight_rate : float
        Temperature and rates.
    taken : int
        Steps taken before.
    adam, loss, shape, tables, choice, forest, room : tuples
        See `GumbelDescent`.

    Returns
    -------
    objective, error : float
        Sums over the rows.
    """
    beta1, beta2, epsilon = adam
    kind, likelihood, margin, gamma, eta = loss
    n_states, offsets, first, parents, strides, open_ = shape
    theta, log_theta, mean, root, kept, kept_root, ahead, moved, scale = tables
    log_phi, phi_mean, phi_square, soft, shares, by_share = choice
    (
        batch, batch_labels, batch_weights, cells, log_joint, by_joint, entry_row,
        entry_class, entry_value, sums, slopes, total, shift, steps,
    ) = room  # fmt: skip
    objective = 0.0
    error = 0.0
    for b in range(noise.shape[0]):
        rows = order[b * size : (b + 1) * size]
        n_batch = rows.shape[0]
        take_batch(codes, labels, weights, rows, batch, batch_labels, batch_weights)
        draw(log_phi, noise[b], tau, relaxed, free, first, open_, forest, soft, shares)
        settle_tables(
            shares, not look_ahead, has_gaps, theta, log_theta, mean, root, ahead,
            moved, scale, n_states, offsets, first, epsilon, steps, total, shift,
        )  # fmt: skip
        forward(
            shares, batch, n_batch, has_gaps, log_theta, n_states, offsets, first,
            parents, strides, cells, log_joint,
        )  # fmt: skip
        if kind == 0.0:
            objective += hybrid_loss(
                log_joint[:n_batch], batch_labels, batch_weights, factor, likelihood,
                margin, gamma, eta, by_joint,
            )  # fmt: skip
        else:
            objective += conditional_loss(
                log_joint[:n_batch], batch_labels, batch_weights, factor, by_joint
            )
        error += count_errors(log_joint, batch_labels, batch_weights, n_batch)
        n_steps = taken + b + 1
        mean_factor = 1.0 / (1.0 - beta1**n_steps)
        root_factor = 1.0 / sqrt(1.0 - beta2**n_steps)
        backward(
            shares, look_ahead, batch, n_batch, has_gaps, by_joint, theta, log_theta,
            mean, root, kept, kept_root, ahead, moved, scale, n_states, offsets, first,
            parents, strides, rate, beta1, beta2, epsilon, mean_factor, root_factor,
            cells, entry_row, entry_class, entry_value, sums, slopes, total, shift,
            by_share,
        )  # fmt: skip
        step_weights(
            by_share, soft, tau, first, log_phi, phi_mean, phi_square, weight_rate,
            beta1, beta2, epsilon, mean_factor, root_factor,
        )  # fmt: skip
    return objective, error
