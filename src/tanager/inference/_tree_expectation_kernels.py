"""Kernels that sum over the missing features of a forest while its tables change.

`codes` is always given transposed, shape (n_variables, n_rows), each row contiguous.
A forest is given by arrays over its variables: the table of feature j starts at
``offset[j]``; the state of j moves by ``stride[j]`` cells, that of its feature parent
``parent[j]`` (-1: none) by ``parent_stride[j]``, the class by one. `order` holds every
feature before its parent; the table of the class starts at `prior`.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.utils.jit import kernel

SMALL = 1e-100


@kernel
def _send_up(
    row, theta, n_states, order, parent, offset, stride, parent_stride,
    belief, message, seen, log_scale, first, last,
):  # fmt: skip
    """Gather, for every missing feature, what is observed below it in one row.

    ``belief[j, a, c]`` becomes the probability of that given state a and class c, up to
    a factor per class, whose logarithms are added to `log_scale`. ``message[j, b, c]``
    is the same as seen from the state b of a parent that is missing, too. All of this
    for the classes from `first` to before `last`.
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
                    says = 0.0
                    for a in range(n_states[j]):
                        says += theta[cell + a * stride[j]] * belief[j, a, c]
                    message[j, b, c] = says
                else:
                    says = theta[cell + row[j] * stride[j]]
                if not fresh:
                    says *= belief[up, b, c]
                belief[up, b, c] = says
                highest = max(highest, says)
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
                    share = theta[cell + a * stride[j] + c] * belief[j, a, c]
                    posterior[j, a, c] = share
                    total += share
                inverse = 1.0 / total if total > 0.0 else 0.0
                for a in range(n_states[j]):
                    posterior[j, a, c] *= inverse
                    share = by_class[c] * posterior[j, a, c]
                    out[cell + a * stride[j] + c] += share
            continue
        for a in range(n_states[j]):
            for c in range(first, last):
                posterior[j, a, c] = 0.0
        for b in range(n_states[up]):
            for c in range(first, last):
                share = posterior[up, b, c]
                if seen[j]:
                    says = message[j, b, c]
                    share = share / says if says > 0.0 else 0.0
                for a in range(n_states[j]):
                    k = cell + a * stride[j] + c
                    part = share * theta[k] * belief[j, a, c]
                    posterior[j, a, c] += part
                    out[k] += by_class[c] * part
            cell += parent_stride[j]


@kernel
def _add_log_joint(
    row, log_theta, theta, n_states, order, parent, offset, stride, parent_stride,
    belief, seen, observed, first, last, joint,
):  # fmt: skip
    """Add the logarithms of what the features of one row say to `joint`.

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
def forest_log_joint(
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
def forest_add_expected(
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
def share_of_classes(joint, weight, by_class):
    """Write weight P(c | e) to `by_class` and return log P(e), from log P(c, e).

    Where every class is impossible the shares are zero.
    """
    highest = joint.max()
    if highest == -inf:
        by_class[:] = 0.0
        return highest
    mass = 0.0
    for c in range(joint.shape[0]):
        by_class[c] = exp(joint[c] - highest)
        mass += by_class[c]
    for c in range(joint.shape[0]):
        by_class[c] *= weight / mass
    return highest + log(mass)


@kernel
def forest_expect(
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
            value += weight * share_of_classes(joint, weight, by_class)
            for c in range(n_classes):
                out[prior + c] += by_class[c]
        _send_down(
            row, theta, n_states, order, parent, offset, stride, parent_stride, belief,
            message, posterior, seen, by_class, False, not labelled, first, last, out,
        )  # fmt: skip
    return value
