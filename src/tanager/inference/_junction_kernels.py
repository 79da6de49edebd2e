"""Kernels of the junction tree: log joints and expectations of rows.

`codes` is given transposed, shape (n_variables, n_rows); `order` are the rows in the
order in which they are visited; `tree` is a `TreeArrays`, `walk` a `Walk`; `potential`,
`log_potential`, `least` and `log_prior` are the parts of `Potentials`. Arrays are
filled by loops, not by assignment to slices, which takes seconds to compile. `send_up`
and its repetition in log space stand in each kernel: a helper for both would pass the
two tuples once more per row, and EM on alarm takes 1.2 times as long with it.
"""

from __future__ import annotations

from math import inf

import numpy as np

from tanager.inference._junction_pass_kernels import (
    NONE,
    ZERO,
    send_down,
    send_up,
    send_up_logs,
)
from tanager.inference._kernels import class_posterior
from tanager.utils.jit import kernel


@kernel
def log_joint(codes, order, tree, potential, least, log_prior, walk, out, is_low):
    """Write log P(e, c) of every row and class to `out`, (n_rows, n_classes).

    Rows whose probability underflows are marked in `is_low` for `log_joint_in_logs`.
    """
    n_classes = out.shape[1]
    former = NONE
    for m in order:
        joint = out[m]
        for c in range(n_classes):
            joint[c] = log_prior[c]
        is_low[m] = not send_up(
            codes, m, former, tree, potential, least, ZERO, n_classes, walk, joint
        )
        former = NONE if is_low[m] else m


@kernel
def log_joint_in_logs(codes, rows, tree, log_potential, log_prior, walk, out):
    """The same for some rows in log space: a kernel that is seldom needed."""
    n_classes = out.shape[1]
    for m in rows:
        joint = out[m]
        for c in range(n_classes):
            joint[c] = log_prior[c]
        send_up_logs(codes, m, tree, log_potential, ZERO, n_classes, walk, joint)


@kernel
def _mark_barren(codes, m, tree, is_barren):
    """Mark missing variables with nothing observed below; the class never is one."""
    target, n_states = tree.target, tree.n_states
    downward, below_start, below = tree.downward, tree.below_start, tree.below
    for v in downward:
        is_barren[v] = v != target and codes[v, m] >= n_states[v]
        if is_barren[v]:
            for k in range(below_start[v], below_start[v + 1]):
                if not is_barren[below[k]]:
                    is_barren[v] = False
                    break


@kernel
def add_expected(
    codes, order, tree, potential, log_potential, least, log_prior, walk,
    class_weights, barren, out,
):  # fmt: skip
    """Add class_weights[m, c] P(cell | e_m, c) to `out`, the cells of all tables.

    `barren` says whether tables of missing variables with nothing observed below count.
    """
    n_classes = class_weights.shape[1]
    total = np.empty(n_classes)
    by_class = np.zeros(n_classes)
    former = NONE
    for t in range(tree.owner.shape[0]):
        walk.is_counted[t] = True
    for m in order:
        if not barren:
            _mark_barren(codes, m, tree, walk.is_barren)
            for t in range(tree.owner.shape[0]):
                walk.is_counted[t] = not walk.is_barren[tree.owner[t]]
        for c in range(n_classes):
            total[c] = log_prior[c]
        in_logs = not send_up(
            codes, m, former, tree, potential, least, ZERO, n_classes, walk, total
        )
        if in_logs:
            for c in range(n_classes):
                total[c] = log_prior[c]
            send_up_logs(codes, m, tree, log_potential, ZERO, n_classes, walk, total)
        former = NONE if in_logs else m
        for c in range(n_classes):
            by_class[c] = class_weights[m, c] if total[c] > -inf else 0.0
        for cell in tree.prior_start:
            for c in range(n_classes):
                out[cell + c] += by_class[c]
        send_down(
            codes, m, tree, log_potential if in_logs else potential, in_logs, ZERO,
            n_classes, walk, by_class, out,
        )  # fmt: skip


@kernel
def _mark_incomplete(codes, m, label, n_classes, log_theta, tree, walk):
    """Mark tables with a missing member; return the sum of the others' logarithms."""
    n_states, has_class, owner = tree.n_states, tree.has_class, tree.owner
    table_start, axis_start = tree.table_start, tree.axis_start
    axis_variable, axis_stride = tree.axis_variable, tree.axis_stride
    is_counted, is_barren = walk.is_counted, walk.is_barren
    known = 0.0
    for t in range(owner.shape[0]):
        observed = label < n_classes or not has_class[t]
        cell = table_start[t]
        for k in range(axis_start[t], axis_start[t + 1]):
            v = axis_variable[k]
            code = np.int64(codes[v, m])
            if code >= n_states[v]:
                observed = False
                break
            cell += code * axis_stride[k]
        is_counted[t] = not (observed or is_barren[owner[t]])
        if observed:
            known += log_theta[cell + (label if has_class[t] else 0)]
    return known


@kernel
def expect(
    codes, labels, weights, log_theta, order, tree, potential, log_potential, least,
    log_prior, walk, out,
):  # fmt: skip
    """Sum of weighted log P(e, c), or log P(e) without a label; expectations to `out`.

    Tables all of whose variables are observed, the label included, are left out of
    both, and so are missing variables with nothing observed below. A label equal to the
    number of classes is missing; `weights` has shape (n_rows,), or (0,) for ones.
    """
    n_classes = log_prior.shape[0]
    total = np.empty(n_classes)
    by_class = np.zeros(n_classes)
    value = 0.0
    former = NONE
    for m in order:
        weight = weights[m] if weights.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        label = np.int64(labels[m])
        lo = label if label < n_classes else 0
        hi = label + 1 if label < n_classes else n_classes
        if former >= 0 and labels[m] != labels[former]:
            former = NONE
        _mark_barren(codes, m, tree, walk.is_barren)
        known = _mark_incomplete(codes, m, label, n_classes, log_theta, tree, walk)
        for c in range(lo, hi):
            total[c] = log_prior[c]
        in_logs = not send_up(
            codes, m, former, tree, potential, least, lo, hi, walk, total
        )
        if in_logs:
            for c in range(lo, hi):
                total[c] = log_prior[c]
            send_up_logs(codes, m, tree, log_potential, lo, hi, walk, total)
        former = NONE if in_logs else m
        for c in range(n_classes):
            by_class[c] = 0.0
        if label < n_classes:
            by_class[label] = weight
            log_p = total[label]
        else:
            log_p = class_posterior(total, weight, by_class)
            for cell in tree.prior_start:
                for c in range(n_classes):
                    out[cell + c] += by_class[c]
        value += weight * (log_p - known) if log_p > -inf else -inf
        send_down(
            codes, m, tree, log_potential if in_logs else potential, in_logs, lo, hi,
            walk, by_class, out,
        )  # fmt: skip
    return value
