"""Kernels that score changes of one family at a time by classifying rows.

Sets, `codes`, `widths` and tables of changes are as in `_family_table_kernels`; `rows`
are the codes row by row, shape (n_rows, n_features). What is known of a row fixes all
axes of a table of changes but the last, so that one row compares all sets within a few
kilobytes.
"""

from __future__ import annotations

from math import inf, log

import numpy as np

from tanager.loglinear._kernels import exp_below_one
from tanager.utils.jit import kernel


@kernel
def margins(log_joint, labels, margin, rival):
    """Log joint of the own class less that of the best other one, and which one."""
    n_classes = log_joint.shape[1]
    for m in range(labels.shape[0]):
        label = np.int64(labels[m])
        best = -inf
        at = np.int64(0)
        for c in range(n_classes):
            if c != label and log_joint[m, c] > best:
                best = log_joint[m, c]
                at = c
        margin[m] = log_joint[m, label] - best
        rival[m] = at


@kernel
def rows_in_reach(
    column, labels, folds, weights, margin, rival, top, lifting, wrong, right
):
    """Write the rows whose verdict some table of changes may turn; how many of each.

    `column` holds the codes of the child, of as many rows as are to be looked at. Rows
    of weight zero are left out.
    """
    n_states = top.shape[1]
    n_wrong = 0
    n_right = 0
    for m in range(column.shape[0]):
        state = np.int64(column[m])
        if state >= n_states or weights[m] == 0.0:
            continue
        label = np.int64(labels[m])
        fold = np.int64(folds[m])
        distance = margin[m]
        if distance > 0.0:
            right[n_right] = m
            n_right += top[fold, state, label] > distance
        else:
            wrong[n_wrong] = m
            n_wrong += lifting[fold, state, rival[m], label] > -distance
    return n_wrong, n_right


@kernel
def touched_places(row, sets, widths, starts, chosen, n_chosen, out):
    """Write where the chosen sets are touched by one row of codes."""
    size = sets.shape[1]
    if size == 1:
        for k in range(n_chosen):
            t = chosen[k]
            out[k] = starts[t] + np.int64(row[sets[t, 0]])
        return
    for k in range(n_chosen):
        t = chosen[k]
        code = np.int64(0)
        for place in range(size):
            parent = sets[t, place]
            code = code * widths[parent] + np.int64(row[parent])
        out[k] = starts[t] + code


@kernel
def classes_near(joint, label, lifting, near):
    """Write the classes that some cell can lift above that of the row; how many.

    `lifting` is that of the row's fold, state and class.
    """
    n_near = 0
    for c in range(joint.shape[0]):
        near[n_near] = c
        n_near += c != label and lifting[c] > joint[label] - joint[c]
    return n_near


@kernel
def gains(
    rows, labels, folds, weights, log_joint, margin, rival, wrong, delta, lifting, sets,
    widths, starts, child, chosen, gain,
):  # fmt: skip
    """Weight of the rows that every chosen set turns from wrong to right.

    One of the rows in `wrong` is looked at in full only if the set lifts its class
    above the one that beats it now. Returns the number of rows evaluated in full, and
    of those whose one cell was compared with the margin.
    """
    n_classes = delta.shape[2]
    n_chosen = chosen.shape[0]
    places = np.empty(n_chosen, dtype=np.int64)
    lifted = np.empty(n_chosen, dtype=np.int64)
    near = np.empty(n_classes + 1, dtype=np.int64)
    visited = 0
    looked_up = 0
    for m in wrong:
        state = np.int64(rows[m, child])
        label = np.int64(labels[m])
        need = -margin[m]
        fold = np.int64(folds[m])
        tables = delta[fold, state]
        own = tables[label]
        beating = tables[rival[m]]
        touched_places(rows[m], sets, widths, starts, chosen, n_chosen, places)
        n_lifted = 0
        for k in range(n_chosen):
            # Always written, only sometimes kept: no branch to mispredict.
            lifted[n_lifted] = k
            n_lifted += own[places[k]] - beating[places[k]] > need
        looked_up += n_chosen
        visited += n_lifted
        if n_lifted == 0:
            continue
        joint = log_joint[m]
        n_near = classes_near(joint, label, lifting[fold, state, label], near)
        for i in range(n_lifted):
            k = lifted[i]
            place = places[k]
            value = joint[label] + own[place]
            right = True
            for c in near[:n_near]:
                if joint[c] + tables[c, place] > value:
                    right = False
                    break
            if right:
                gain[k] += weights[m]
    return visited, looked_up


@kernel
def losses(
    rows, labels, folds, weights, log_joint, margin, right, delta, losing, lifting,
    sets, widths, starts, child, chosen, least, gain,
):  # fmt: skip
    """Take the weight of rows turned from right to wrong from `gain`; see `gains`.

    A set whose `gain` has fallen below `least` is given up; its entry is then only
    known to be below; those rows of `right` that turn most easily should come first.
    """
    n_classes = delta.shape[2]
    left = np.empty(chosen.shape[0], dtype=np.int64)
    sets_left = np.empty(chosen.shape[0], dtype=np.int64)
    places = np.empty(chosen.shape[0], dtype=np.int64)
    pushed = np.empty(chosen.shape[0], dtype=np.int64)
    near = np.empty(n_classes + 1, dtype=np.int64)
    visited = 0
    looked_up = 0
    n_left = 0
    for k in range(chosen.shape[0]):
        left[n_left] = k
        sets_left[n_left] = chosen[k]
        n_left += gain[k] >= least
    for m in right:
        if n_left == 0:
            break
        state = np.int64(rows[m, child])
        label = np.int64(labels[m])
        fold = np.int64(folds[m])
        distance = margin[m]
        push = losing[fold, state, label]
        tables = delta[fold, state]
        touched_places(rows[m], sets, widths, starts, sets_left, n_left, places)
        n_pushed = 0
        for k in range(n_left):
            pushed[n_pushed] = k
            n_pushed += push[places[k]] > distance
        looked_up += n_left
        if n_pushed == 0:
            continue
        visited += n_pushed
        joint = log_joint[m]
        n_near = classes_near(joint, label, lifting[fold, state, label], near)
        dropped = False
        for i in range(n_pushed):
            k = pushed[i]
            place = places[k]
            value = joint[label] + tables[label, place]
            for c in near[:n_near]:
                if joint[c] + tables[c, place] > value:
                    gain[left[k]] -= weights[m]
                    dropped = dropped or gain[left[k]] < least
                    break
        if dropped:
            kept = 0
            for k in range(n_left):
                left[kept] = left[k]
                sets_left[kept] = sets_left[k]
                kept += gain[left[k]] >= least
            n_left = kept
    return visited, looked_up


@kernel
def add_changes(codes, folds, parents, widths, child, delta, start, stop, sign, out):
    """Add the touched cells of one table of changes, times `sign`, to `out`.

    `parents` is one set; its configurations stand from `start` to `stop` in `delta`.
    """
    n_folds, n_states, n_classes = delta.shape[:3]
    n_places = stop - start
    # The classes side by side: a row then reads one piece of the table.
    table = np.empty((n_folds, n_states, n_places, n_classes))
    for f in range(n_folds):
        for b in range(n_states):
            for c in range(n_classes):
                for place in range(n_places):
                    table[f, b, place, c] = sign * delta[f, b, c, start + place]
    column = codes[child]
    for m in range(out.shape[0]):
        state = np.int64(column[m])
        if state >= n_states:
            continue
        code = np.int64(0)
        for parent in parents:
            code = code * widths[parent] + np.int64(codes[parent, m])
        cells = table[np.int64(folds[m]), state, code]
        for c in range(n_classes):
            out[m, c] += cells[c]


@kernel
def sum_scores(log_joint, labels, weights, margins, cap):
    """Weighted sum of log margins up to `cap`, or of log P(c | x)."""
    if not margins:
        return sum_log_posteriors(log_joint, labels, weights)
    total = 0.0
    for m in range(labels.shape[0]):
        if weights[m] == 0.0:
            continue
        label = np.int64(labels[m])
        best = -inf
        for c in range(log_joint.shape[1]):
            if c != label:
                best = max(best, log_joint[m, c])
        total += weights[m] * min(log_joint[m, label] - best, cap)
    return total


@kernel
def sum_log_posteriors(log_joint, labels, weights):
    """Weighted sum of log P(c | x), with the exponentials of the log-linear loss.

    Some rows at a time, so that exponentials are taken of many numbers at once.
    """
    n_rows, n_classes = log_joint.shape
    size = max(1, 2048 // n_classes)
    part = np.empty((size, n_classes))
    bits = np.empty(size * n_classes, dtype=np.int64)
    own = np.empty(size)
    total = 0.0
    for begin in range(0, n_rows, size):
        many = min(size, n_rows - begin)
        for m in range(many):
            row = log_joint[begin + m]
            highest = row[0]
            for c in range(1, n_classes):
                highest = max(highest, row[c])
            for c in range(n_classes):
                part[m, c] = row[c] - highest
            own[m] = part[m, np.int64(labels[begin + m])]
        flat = part.reshape(size * n_classes)
        exp_below_one(flat, many * n_classes, bits, bits.view(np.float64))
        for m in range(many):
            mass = 0.0
            for c in range(n_classes):
                mass += part[m, c]
            total += weights[begin + m] * (own[m] - log(mass))
    return total


@kernel
def score_changes(
    codes, labels, folds, weights, log_joint, delta, sets, widths, starts, child,
    chosen, margins, cap, out,
):  # fmt: skip
    """Score the log joint after every chosen change, as `sum_scores` does."""
    moved = np.empty_like(log_joint)
    for k in range(chosen.shape[0]):
        t = chosen[k]
        moved[:] = log_joint
        add_changes(
            codes, folds, sets[t], widths, child, delta, starts[t], starts[t + 1], 1.0,
            moved,
        )  # fmt: skip
        out[k] = sum_scores(moved, labels, weights, margins, cap)
