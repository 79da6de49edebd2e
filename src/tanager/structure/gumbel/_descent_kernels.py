"""Kernels of `GumbelDescent`: mini-batches through a selection of candidate CPTs.

CPTs are numbered feature by feature, the candidates of a feature one after the other,
the first of them without a feature parent; the last CPT is that of the class. The codes
of a batch have shape (n_features, n_batch). Tuples of arrays are those of `descend`.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from tanager.losses._kernels import conditional_loss, hybrid_loss
from tanager.structure.gumbel._adam_kernels import retract_tables, step_table
from tanager.structure.trees._arborescence_kernels import best_forest
from tanager.utils.jit import kernel

NEGLIGIBLE = 1e-9
"""Derivatives this much smaller than the largest of their sample are neglected in the
gradient by the structure weights."""

VANISHED = 1e-18
"""Fraction of a momentum below which it no longer changes a CPT."""


@kernel
def gather_batch(
    codes, labels, weights, rows, batch_codes, batch_labels, batch_weights
):
    """Copy the samples of a batch, one feature after the other."""
    n_features = codes.shape[1]
    for m in range(rows.shape[0]):
        row = codes[rows[m]]
        for j in range(n_features):
            batch_codes[j, m] = row[j]
        batch_labels[m] = labels[rows[m]]
        batch_weights[m] = weights[rows[m]] if weights.shape[0] else 1.0


@kernel
def find_cells(t, feature, batch, n_batch, offsets, parents, strides, out):
    """Find the cell of the first class in CPT `t` for every sample of a batch."""
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
def fix_missing_cells(t, feature, batch, n_batch, shape, out):
    """Correct the result of `find_cells` for missing values.

    Where a parent is missing it is the cell in the first CPT of the feature, which has
    no feature parent; where the feature itself is missing it is -1.
    """
    n_states, offsets, first, parents, strides, _ = shape
    own = batch[feature]
    plain = first[feature]
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
def forward(selection, batch, n_batch, has_missing, log_theta, shape, cells, out):
    """Compute the log joint of a batch into `out`: all CPTs, times `selection`.

    `selection` has one coefficient per CPT, zero for those that are not selected. `out`
    has shape (at least n_batch, n_classes); `cells` is a buffer.
    """
    _, offsets, first, parents, strides, _ = shape
    n_features = first.shape[0] - 1
    n_classes = out.shape[1]
    width = np.uint64(n_classes)
    prior = offsets[first[n_features]]
    for m in range(n_batch):
        for c in range(n_classes):
            out[m, c] = log_theta[prior + c]
    for j in range(n_features):
        for t in range(first[j], first[j + 1]):
            coefficient = selection[t]
            if coefficient == 0.0:
                continue
            find_cells(t, j, batch, n_batch, offsets, parents, strides, cells)
            if has_missing:
                fix_missing_cells(t, j, batch, n_batch, shape, cells)
            for m in range(n_batch):
                if cells[m] < 0:
                    continue
                row = out[m]
                # Unsigned, so that numba does not test for negative indices.
                cell = np.uint64(cells[m])
                for c in range(width):
                    row[c] += coefficient * log_theta[cell + c]


@kernel
def list_entries(by_joint, n_batch, entry_row, entry_class, entry_value):
    """List the derivatives by the log joint that are not zero; mostly few are.

    Entries that are not negligible come first. Returns their number and that of all.
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
                # Small entries are kept at the end; the arrays hold all entries.
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
def scatter_entries(
    cells, entry_row, entry_class, entry_value, n_entries, coefficient, base, out
):
    """Add entries, times a coefficient, to their cells; `out` begins at cell `base`."""
    for e in range(n_entries):
        cell = cells[entry_row[e]]
        if cell >= 0:
            out[np.uint64(cell - base + entry_class[e])] += coefficient * entry_value[e]


@kernel
def dot_entries(
    cells, has_missing, entry_row, entry_class, entry_value, n_entries, log_theta
):
    """Sum the entries times the log probabilities of their cells."""
    if has_missing:
        total = 0.0
        for e in range(n_entries):
            cell = cells[entry_row[e]]
            if cell >= 0:
                total += entry_value[e] * log_theta[np.uint64(cell + entry_class[e])]
        return total
    # Four independent sums, so that additions need not wait for each other.
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
def dot_rows(cells, by_joint, n_batch, log_theta, sums):
    """Compute the sum of `dot_entries` over all derivatives; faster if few are zero."""
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
    selection, by_selection, look_ahead, n_batch, has_missing, by_joint, rate, factors,
    adam, shape, tables, buffers,
):  # fmt: skip
    """Compute the derivative by the selection, and take a step of Adam on all CPTs.

    `by_joint` is the derivative of the loss by the log joint, `factors` are the bias
    corrections of `Adam.advance`. With `look_ahead`, CPTs are moved at once by all that
    their momentum is going to bring.
    """
    beta1, beta2, _ = adam
    n_states, offsets, first, parents, strides, _ = shape
    theta, log_theta, mean, root, kept, kept_root, ahead, moved, scale = tables
    batch, cells = buffers[0], buffers[3]
    entry_row, entry_class, entry_value, sums, slopes, total, shift = buffers[6:13]
    mean_factor, root_factor = factors
    n_features = first.shape[0] - 1
    n_classes = by_joint.shape[1]
    n_large, n_entries = list_entries(
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
        # Missing values reach the first CPT by way of the others, so it comes last.
        for back in range(first[j + 1] - plain):
            t = first[j + 1] - 1 - back
            find_cells(t, j, batch, n_batch, offsets, parents, strides, cells)
            if has_missing:
                fix_missing_cells(t, j, batch, n_batch, shape, cells)
            if is_dense:
                by_selection[t] = dot_rows(cells, by_joint, n_batch, log_theta, sums)
            else:
                by_selection[t] = dot_entries(
                    cells, has_missing, entry_row, entry_class, entry_value, n_large,
                    log_theta,
                )  # fmt: skip
            coefficient = selection[t]
            if coefficient != 0.0:
                scatter_entries(
                    cells, entry_row, entry_class, entry_value, n_entries, coefficient,
                    base, slopes,
                )  # fmt: skip
                touched |= has_missing
            if coefficient != 0.0 or (t == plain and touched):
                begin, end = offsets[t], offsets[t + 1]
                width = (end - begin) // n_states[j]
                step_table(
                    slopes[begin - base : end - base], theta[begin:end],
                    log_theta[begin:end], mean[begin:end], root[begin:end], n_states[j],
                    kept[t], kept_root[t], length + to_come, root_factor, adam,
                    total[:width], shift[:width],
                )  # fmt: skip
                kept[t] = 1.0
                kept_root[t] = 1.0
                ahead[t] = to_come
                moved[t] = 0.0
                scale[t] = root_factor
            else:
                # The mean square decays more slowly than the mean.
                kept_root[t] *= root_beta2
                if kept[t] > VANISHED:
                    kept[t] *= beta1
                    moved[t] += (
                        length * kept[t] * scale[t] / (root_factor * kept_root[t])
                    )
                else:
                    kept[t] = 0.0
    begin = offsets[first[n_features]]
    for m in range(n_batch):
        for c in range(n_classes):
            slopes[c] += by_joint[m, c]
    step_table(
        slopes[:n_classes], theta[begin:], log_theta[begin:], mean[begin:],
        root[begin:], n_classes, 1.0, 1.0, length, root_factor, adam, total[:1],
        shift[:1],
    )  # fmt: skip


@kernel
def sample_parents(
    log_phi, noise, tau, relaxed, unordered, shape, forest, soft, selection
):
    """Sample a parent set for every feature.

    `soft` is set to the softmax of ``(log_phi + noise) / tau``, with Gumbel noise. The
    selection is `soft` if `relaxed`, else one for the sampled set and zero for the
    others. If features are `unordered`, the maximum-weight forest is selected, which
    has no cycle; a relaxed selection ignores cycles.
    """
    first, is_open = shape[2], shape[5]
    child, parent, sums, chosen, workspace = forest
    n_features = first.shape[0] - 1
    for t in range(sums.shape[0]):
        sums[t] = log_phi[t] + noise[t] if is_open[t] else -np.inf
        soft[t] = 0.0
        selection[t] = 0.0
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
                selection[t] = soft[t]
    if unordered and not relaxed:
        # A forest exists: required arcs have no cycle, and the others are optional.
        best_forest(sums, child, parent, n_features, workspace, chosen)
    if not relaxed:
        for j in range(n_features):
            selection[chosen[j]] = 1.0


@kernel
def step_weights(choice, tau, rate, factors, adam, first):
    """Take a step of Adam on the structure weights, through the softmax."""
    log_phi, mean, square, soft, _, by_selection = choice
    beta1, beta2, epsilon = adam
    mean_factor, root_factor = factors
    for j in range(first.shape[0] - 1):
        # Relative to the most probable CPT, to keep precision near probability one.
        best = first[j]
        for t in range(first[j] + 1, first[j + 1]):
            if soft[t] > soft[best]:
                best = t
        expected = 0.0
        for t in range(first[j], first[j + 1]):
            expected += soft[t] * (by_selection[t] - by_selection[best])
        for t in range(first[j], first[j + 1]):
            slope = soft[t] * (by_selection[t] - by_selection[best] - expected) / tau
            mean[t] += (1.0 - beta1) * (slope - mean[t])
            square[t] += (1.0 - beta2) * (slope * slope - square[t])
            log_phi[t] -= (
                rate * mean_factor * mean[t] / (root_factor * sqrt(square[t]) + epsilon)
            )


@kernel
def count_errors(log_joint, labels, weights, n_batch):
    """Sum the weights of misclassified samples; ties go to the lowest class."""
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
    codes, labels, weights, order, size, factor, noise, flags, rates, taken, adam, loss,
    shape, tables, choice, forest, buffers,
):  # fmt: skip
    """Process mini-batches: sample a structure, compute the loss, update all weights.

    `codes` (n_samples, n_features) are row-major; `weights` may be empty. `order` has
    the samples of the batches, `size` at a time, and `noise` (n_batches, n_tables)
    Gumbel noise. `factor` multiplies the gradient of the loss. `rates` are temperature
    and learning rates of CPTs and structure weights; `taken` steps were taken before.
    `GumbelDescent` makes the other tuples. Returns sums of loss and errors.
    """
    has_missing, relaxed, unordered, look_ahead = flags
    tau, rate, weight_rate = rates
    beta1, beta2, epsilon = adam
    kind, likelihood, margin, gamma, eta = loss
    first, log_theta = shape[2], tables[1]
    log_phi, _, _, soft, selection, by_selection = choice
    batch, batch_labels, batch_weights, cells, log_joint, by_joint = buffers[:6]
    objective = 0.0
    error = 0.0
    for b in range(noise.shape[0]):
        rows = order[b * size : (b + 1) * size]
        n_batch = rows.shape[0]
        gather_batch(codes, labels, weights, rows, batch, batch_labels, batch_weights)
        sample_parents(
            log_phi, noise[b], tau, relaxed, unordered, shape, forest, soft, selection
        )
        retract_tables(
            selection, not look_ahead, has_missing, epsilon, shape, tables, buffers
        )
        forward(
            selection, batch, n_batch, has_missing, log_theta, shape, cells, log_joint
        )
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
        factors = 1.0 / (1.0 - beta1**n_steps), 1.0 / sqrt(1.0 - beta2**n_steps)
        backward(
            selection, by_selection, look_ahead, n_batch, has_missing, by_joint, rate,
            factors, adam, shape, tables, buffers,
        )  # fmt: skip
        step_weights(choice, tau, weight_rate, factors, adam, first)
    return objective, error
