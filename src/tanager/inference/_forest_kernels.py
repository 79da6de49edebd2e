"""Kernels for incomplete rows of forests: scores, and expectations for learners.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
The kernels of learners, whose tables change at every step, describe a forest by arrays
over its variables: the table of feature j starts at
``offset[j]``; the state of j moves by ``stride[j]`` cells, that of its feature parent
``parent[j]`` (-1: none) by ``parent_stride[j]``, the class by one. `order` holds every
feature before its parent; the table of the class starts at `prior`.
"""

from __future__ import annotations

from math import inf, log

import numpy as np

from tanager.inference._kernels import class_posterior
from tanager.inference.forest import TINY
from tanager.utils.jit import kernel

ROWS = 64

SMALL = 1e-100
"""Messages below this are rescaled."""


@kernel
def add_missing(
    codes, theta, by_child, offsets, n_states, n_classes, parent, inner, child_start,
    child, sums, log_sums, sums_offset, sums_rows, out, unsafe,
):  # fmt: skip
    """Add the factors of missing inner features of a forest to `out`.

    Missing features are marginalised from the leaves to the roots. Where the feature
    alone is missing, the sum is precomputed in `sums`, laid out by `sum_features`.
    Otherwise the probabilities of its observed children and the messages of its missing
    ones are multiplied, and one logarithm is taken per row and class at the end. Rows
    in which a product comes near the smallest float are marked in `unsafe`.

    The CPT of feature j starts at ``theta[offsets[j]]``, with axes (parent, j, class);
    in `by_child` they are (j, parent, class): the messages of an observed child are
    contiguous. `inner` are the features with children, each after its descendants;
    ``child[child_start[j]:child_start[j + 1]]`` are the children of j.
    """
    n_rows = codes.shape[1]
    n_features = n_states.shape[0]
    widest = 0
    for j in range(n_features):
        widest = max(widest, n_states[j])
    belief = np.empty(widest * n_classes)
    total = np.empty(n_classes)
    factor = np.empty(n_classes)
    message = np.empty((n_features, widest * n_classes))
    sends = np.zeros(n_features, dtype=np.int8)
    sent = np.empty(n_features, dtype=np.int64)
    # Rows of a small block side by side: in a column-major block all codes of one row
    # would compete for the same few places of the cache.
    rows = np.empty((ROWS, codes.shape[0]), dtype=np.int64)
    absent = np.empty((ROWS, inner.shape[0] + 1), dtype=np.int64)
    n_absent = np.empty(ROWS, dtype=np.int64)
    for begin in range(0, n_rows, ROWS):
        block = min(ROWS, n_rows - begin)
        for j in range(codes.shape[0]):
            column = codes[j]
            for m in range(block):
                rows[m, j] = column[begin + m]
        n_absent[:] = 0
        for j in inner:
            states = n_states[j]
            for m in range(block):
                # Always written, only sometimes kept: no branch to mispredict.
                absent[m, n_absent[m]] = j
                n_absent[m] += rows[m, j] == states
        for m in range(block):
            row = rows[m]
            touched = False
            safe = True
            for place in range(n_absent[m]):
                j = absent[m, place]
                up = parent[j]
                to_parent = up >= 0 and row[up] == n_states[up]
                precomputed = sums_offset[j] >= 0
                index = 0
                for k in range(child_start[j], child_start[j + 1]):
                    i = child[k]
                    precomputed = precomputed and sends[i] == 0
                    index = index * (n_states[i] + 1) + row[i]
                if precomputed:
                    if index == sums_rows[j] - 1:
                        continue  # nothing below is observed: sums to one
                    wide = n_classes if up < 0 else n_states[up] * n_classes
                    cell = sums_offset[j] + index * wide
                    if to_parent:
                        sends[j] = 2
                        sent[j] = cell
                    else:
                        if up >= 0:
                            cell += row[up] * n_classes
                        for c in range(n_classes):
                            out[begin + m, c] += log_sums[cell + c]
                    continue
                size = n_states[j] * n_classes
                if to_parent:
                    for a in range(size):
                        belief[a] = 1.0
                else:
                    cell = offsets[j]
                    if up >= 0:
                        cell += row[up] * size
                    for a in range(size):
                        belief[a] = theta[cell + a]
                seen = False
                for k in range(child_start[j], child_start[j + 1]):
                    i = child[k]
                    if row[i] < n_states[i]:
                        cell = offsets[i] + row[i] * size
                        for a in range(size):
                            belief[a] *= by_child[cell + a]
                        seen = True
                    elif sends[i] == 1:
                        for a in range(size):
                            belief[a] *= message[i, a]
                        seen = True
                    elif sends[i] == 2:
                        cell = sent[i]
                        for a in range(size):
                            belief[a] *= sums[cell + a]
                        seen = True
                if not seen:
                    continue
                if to_parent:
                    sends[j] = 1
                    cell = offsets[j]
                    for b in range(n_states[up]):
                        total[:] = 0.0
                        for a in range(n_states[j]):
                            for c in range(n_classes):
                                total[c] += theta[cell + c] * belief[a * n_classes + c]
                            cell += n_classes
                        for c in range(n_classes):
                            message[j, b * n_classes + c] = total[c]
                    for c in range(n_classes):
                        largest = 0.0
                        for b in range(n_states[up]):
                            largest = max(largest, message[j, b * n_classes + c])
                        safe = safe and largest > TINY
                    continue
                total[:] = 0.0
                for a in range(n_states[j]):
                    for c in range(n_classes):
                        total[c] += belief[a * n_classes + c]
                if not touched:
                    factor[:] = 1.0
                    touched = True
                for c in range(n_classes):
                    safe = safe and total[c] > TINY
                    factor[c] *= total[c]
                    if factor[c] < TINY and total[c] > TINY:
                        out[begin + m, c] += log(factor[c] / total[c])
                        factor[c] = total[c]
            for place in range(n_absent[m]):
                sends[absent[m, place]] = 0
            if not safe:
                unsafe[begin + m] = True
            elif touched:
                for c in range(n_classes):
                    out[begin + m, c] += log(factor[c])


@kernel
def _send_up(
    row, theta, n_states, order, parent, offset, stride, parent_stride,
    belief, message, seen, log_scale, first, last,
):  # fmt: skip
    """Collect the evidence below every missing feature of one row.

    ``belief[j, a, c]`` becomes its probability given state a and class c, up to a
    factor per class, whose logarithms are added to `log_scale`; ``message[j, b, c]``
    the same given state b of a missing parent. For classes `first` to `last` - 1.
    """
    for j in order:
        up = parent[j]
        missing = row[j] >= n_states[j]
        if up < 0 or row[up] < n_states[up]:
            continue
        if missing and not seen[j]:
            continue
        fresh = not seen[up]
        seen[up] = True
        for c in range(first, last):
            highest = 0.0
            for b in range(n_states[up]):
                cell = offset[j] + b * parent_stride[j] + c
                if missing:
                    likelihood = 0.0
                    for a in range(n_states[j]):
                        likelihood += theta[cell + a * stride[j]] * belief[j, a, c]
                    message[j, b, c] = likelihood
                else:
                    likelihood = theta[cell + row[j] * stride[j]]
                if not fresh:
                    likelihood *= belief[up, b, c]
                belief[up, b, c] = likelihood
                highest = max(highest, likelihood)
            if 0.0 < highest < SMALL:
                log_scale[c] += log(highest)
                for b in range(n_states[up]):
                    belief[up, b, c] /= highest


@kernel
def _send_down(
    row, theta, n_states, order, parent, offset, stride, parent_stride, belief, message,
    posterior, seen, by_class, barren, observed, first, last, out,
):  # fmt: skip
    """Add by_class[c] P(family | e, c) of one row to the cells of every family.

    After `_send_up`. `barren` says whether missing features with nothing observed below
    them count, `observed` whether families with nothing missing do.
    """
    for place in range(order.shape[0] - 1, -1, -1):
        j = order[place]
        up = parent[j]
        hidden = up >= 0 and row[up] >= n_states[up]
        missing = row[j] >= n_states[j]
        if not missing and not hidden and not observed:
            continue
        cell = offset[j]
        if up >= 0 and not hidden:
            cell += row[up] * parent_stride[j]
        if not missing:
            cell += row[j] * stride[j]
            if not hidden:
                for c in range(first, last):
                    out[cell + c] += by_class[c]
            else:
                for b in range(n_states[up]):
                    for c in range(first, last):
                        out[cell + c] += by_class[c] * posterior[up, b, c]
                    cell += parent_stride[j]
            continue
        if not seen[j]:
            if not barren:
                continue
            for a in range(n_states[j]):
                for c in range(first, last):
                    belief[j, a, c] = 1.0
        if not hidden:
            for c in range(first, last):
                total = 0.0
                for a in range(n_states[j]):
                    mass = theta[cell + a * stride[j] + c] * belief[j, a, c]
                    posterior[j, a, c] = mass
                    total += mass
                inverse = 1.0 / total if total > 0.0 else 0.0
                for a in range(n_states[j]):
                    posterior[j, a, c] *= inverse
                    mass = by_class[c] * posterior[j, a, c]
                    out[cell + a * stride[j] + c] += mass
            continue
        for a in range(n_states[j]):
            for c in range(first, last):
                posterior[j, a, c] = 0.0
        for b in range(n_states[up]):
            for c in range(first, last):
                mass = posterior[up, b, c]
                if seen[j]:
                    likelihood = message[j, b, c]
                    mass = mass / likelihood if likelihood > 0.0 else 0.0
                for a in range(n_states[j]):
                    k = cell + a * stride[j] + c
                    part = mass * theta[k] * belief[j, a, c]
                    posterior[j, a, c] += part
                    out[k] += by_class[c] * part
            cell += parent_stride[j]


@kernel
def _add_log_joint(
    row, log_theta, theta, n_states, order, parent, offset, stride, parent_stride,
    belief, seen, observed, first, last, joint,
):  # fmt: skip
    """Add the log likelihood of the features of one row to `joint`.

    After `_send_up`. `observed` says whether families with nothing missing count.
    """
    for j in order:
        up = parent[j]
        if up >= 0 and row[up] >= n_states[up]:
            continue
        cell = offset[j]
        if up >= 0:
            cell += row[up] * parent_stride[j]
        if row[j] < n_states[j]:
            if observed:
                cell += row[j] * stride[j]
                for c in range(first, last):
                    joint[c] += log_theta[cell + c]
        elif seen[j]:
            for c in range(first, last):
                total = 0.0
                for a in range(n_states[j]):
                    total += theta[cell + a * stride[j] + c] * belief[j, a, c]
                joint[c] += log(total) if total > 0.0 else -inf


@kernel
def log_joint(
    codes, log_theta, theta, n_states, n_classes, order, parent, offset, stride,
    parent_stride, prior, out,
):  # fmt: skip
    """Write log P(c, e) of every row to `out`, shape (n_rows, n_classes)."""
    n_variables = n_states.shape[0]
    widest = n_states.max()
    belief = np.empty((n_variables, widest, n_classes))
    message = np.empty((n_variables, widest, n_classes))
    seen = np.empty(n_variables, dtype=np.bool_)
    row = np.zeros(n_variables, dtype=np.int64)
    for m in range(codes.shape[1]):
        for j in order:
            row[j] = codes[j, m]
        seen[:] = False
        joint = out[m]
        joint[:] = 0.0
        _send_up(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, seen, joint, 0, n_classes,
        )  # fmt: skip
        for c in range(n_classes):
            joint[c] += log_theta[prior + c]
        _add_log_joint(
            row, log_theta, theta, n_states, order, parent, offset, stride,
            parent_stride, belief, seen, True, 0, n_classes, joint,
        )  # fmt: skip


@kernel
def add_expected(
    codes, theta, n_states, n_classes, order, parent, offset, stride, parent_stride,
    prior, class_weights, barren, out,
):  # fmt: skip
    """Add class_weights[m, c] P(family | e_m, c) to the cells of every family.

    A configuration that the tables make impossible has no posterior and adds nothing.
    """
    n_variables = n_states.shape[0]
    widest = n_states.max()
    belief = np.empty((n_variables, widest, n_classes))
    message = np.empty((n_variables, widest, n_classes))
    posterior = np.empty((n_variables, widest, n_classes))
    seen = np.empty(n_variables, dtype=np.bool_)
    row = np.zeros(n_variables, dtype=np.int64)
    log_scale = np.zeros(n_classes)
    for m in range(codes.shape[1]):
        for j in order:
            row[j] = codes[j, m]
        seen[:] = False
        _send_up(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, seen, log_scale, 0, n_classes,
        )  # fmt: skip
        by_class = class_weights[m]
        for c in range(n_classes):
            out[prior + c] += by_class[c]
        _send_down(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, posterior, seen, by_class, barren, True, 0, n_classes, out,
        )  # fmt: skip


@kernel
def expect(
    codes, labels, weights, log_theta, theta, n_states, n_classes, order, parent,
    offset, stride, parent_stride, prior, out,
):  # fmt: skip
    """Sum of weighted log P(e, c), or log P(e) without a label; expectations to `out`.

    Of rows with a label only what is not plainly observed is added, to the sum and to
    `out`: families with a missing member. Of rows without one everything is. Missing
    features with nothing observed below them are left out. `weights` has shape
    (n_rows,), or (0,) for ones.
    """
    n_variables = n_states.shape[0]
    widest = n_states.max()
    belief = np.empty((n_variables, widest, n_classes))
    message = np.empty((n_variables, widest, n_classes))
    posterior = np.empty((n_variables, widest, n_classes))
    seen = np.empty(n_variables, dtype=np.bool_)
    row = np.zeros(n_variables, dtype=np.int64)
    joint = np.zeros(n_classes)
    by_class = np.zeros(n_classes)
    value = 0.0
    for m in range(codes.shape[1]):
        weight = weights[m] if weights.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        for j in order:
            row[j] = codes[j, m]
        label = np.int64(labels[m])
        labelled = label < n_classes
        first = label if labelled else 0
        last = label + 1 if labelled else n_classes
        seen[:] = False
        joint[first:last] = 0.0
        _send_up(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, seen, joint, first, last,
        )  # fmt: skip
        if not labelled:
            for c in range(n_classes):
                joint[c] += log_theta[prior + c]
        _add_log_joint(
            row, log_theta, theta, n_states, order, parent, offset, stride,
            parent_stride, belief, seen, not labelled, first, last, joint,
        )  # fmt: skip
        if labelled:
            value += weight * joint[label]
            by_class[label] = weight
        else:
            value += weight * class_posterior(joint, weight, by_class)
            for c in range(n_classes):
                out[prior + c] += by_class[c]
        _send_down(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, posterior, seen, by_class, False, not labelled, first, last, out,
        )  # fmt: skip
    return value
