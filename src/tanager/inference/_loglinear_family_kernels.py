"""Kernels in log space: sums over the configurations of several log tables.

`log_sums` and `add_joint` visit the configurations of one log-linear family; table t
starts at ``offsets[t]``; its strides along the outer members of the family are
``strides[t]``, along the owner ``own[t]`` and along the innermost member, the class
where there is one, ``inner[t]``, which is 1; 0 along members that it does not have.
`sizes` are the states of the outer members, the last one fastest.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.utils.jit import kernel

ROWS = 64


@kernel
def log_sums(values, offsets, strides, own, inner, sizes, n_states, out):
    """Write the log of the sum over the owner's states to `out`, (n_rows, n_inner)."""
    n_rows, n_inner = out.shape
    first = offsets.copy()
    place = np.zeros(sizes.shape[0], dtype=np.int64)
    total = np.empty((n_states, n_inner))
    mass = np.empty(n_inner)
    for row in range(n_rows):
        add_up(values, first, own, inner, total)
        log_sum(total, mass, out[row])
        advance(first, strides, sizes, place)


@kernel
def add_joint(values, above, offsets, strides, own, inner, sizes, n_states, out):
    """Add the joint probability of every configuration to the cells it touches.

    `values` are log probabilities, ``above`` of shape (n_rows, n_inner) the joint
    probability of the members without the owner.
    """
    n_rows, n_inner = above.shape
    first = offsets.copy()
    place = np.zeros(sizes.shape[0], dtype=np.int64)
    total = np.empty((n_states, n_inner))
    for row in range(n_rows):
        add_up(values, first, own, inner, total)
        for s in range(n_states):
            for c in range(n_inner):
                total[s, c] = above[row, c] * exp(total[s, c])
        for t in range(offsets.shape[0]):
            for s in range(n_states):
                cell = first[t] + s * own[t]
                for c in range(n_inner):
                    out[cell + c * inner[t]] += total[s, c]
        advance(first, strides, sizes, place)


@kernel
def add_up(values, first, own, inner, total):
    """Write the sums of the tables, each from its cell `first` on, to `total`."""
    total[:] = 0.0
    add_to(values, first, own, inner, 0, first.shape[0], total)


@kernel
def add_to(values, first, own, inner, begin, end, total):
    """Add tables number begin .. end - 1 to `total`, (n_states, n_inner)."""
    for t in range(begin, end):
        for s in range(total.shape[0]):
            cell = first[t] + s * own[t]
            if inner[t]:
                for c in range(total.shape[1]):
                    total[s, c] += values[cell + c]
            else:
                for c in range(total.shape[1]):
                    total[s, c] += values[cell]


@kernel
def log_sum(total, mass, out):
    """Write the log of the sum of ``exp(total)`` over its rows to `out`, (n_inner,).

    It may be minus infinity. `mass` is of the same shape, to work in.
    """
    n_states, n_inner = total.shape
    # By rows, in which neighbours lie side by side.
    out[:] = total[0]
    for s in range(1, n_states):
        for c in range(n_inner):
            out[c] = max(out[c], total[s, c])
    for c in range(n_inner):
        mass[c] = 0.0
        if not -inf < out[c] < inf:
            out[c] = 0.0
    for s in range(n_states):
        for c in range(n_inner):
            mass[c] += exp(total[s, c] - out[c])
    for c in range(n_inner):
        out[c] = out[c] + log(mass[c]) if mass[c] > 0.0 else -inf


@kernel
def advance(first, strides, sizes, place):
    """Move to the next configuration of the outer members."""
    for axis in range(sizes.shape[0] - 1, -1, -1):
        place[axis] += 1
        if place[axis] < sizes[axis]:
            for t in range(first.shape[0]):
                first[t] += strides[t, axis]
            return
        for t in range(first.shape[0]):
            first[t] -= (sizes[axis] - 1) * strides[t, axis]
        place[axis] = 0


@kernel
def add_hidden(
    codes, values, n_states, n_classes, order, rank, parent_start, parent, child_start,
    child, own_start, own_table, with_start, with_table, owner, offsets, start,
    axis_variable, axis_stride, has_class, sent_offset, n_sent, out,
):  # fmt: skip
    """Add the log factors of missing features to `out`, (n_rows, n_classes).

    Missing features are marginalised, children before parents. All tables and messages
    in which a feature is the last that is missing are added up for every configuration
    of its missing parents; the log of the sum is a message over these, to the last of
    them. The message of feature j starts at ``sent_offset[j]``, of `n_sent` cells.

    `values` are log tables, laid out as in `CompiledLayout`; ``owner[t]`` owns table t.
    `order` are the features, each after its children; `rank` the positions of all
    variables with parents first. ``parent[parent_start[j]:parent_start[j + 1]]`` are
    the feature parents of j; likewise its children, its own tables (`own_table`) and
    all tables over it (`with_table`).
    """
    n_rows = codes.shape[1]
    n_variables = n_states.shape[0]
    widest = 1
    most = 1
    deepest = 1
    for j in order:
        widest = max(widest, n_states[j])
        deepest = max(deepest, parent_start[j + 1] - parent_start[j])
        n_factors = with_start[j + 1] - with_start[j]
        most = max(most, n_factors + child_start[j + 1] - child_start[j])
    totals = np.empty((widest, n_classes))
    mass = np.empty(n_classes)
    result = np.empty(n_classes)
    sent = np.empty(n_sent)
    sent_scope = np.empty((n_variables, deepest), dtype=np.int64)
    sent_count = np.zeros(n_variables, dtype=np.int64)
    # Messages to feature j: first_in[j], then next_in[that one] and so on.
    first_in = np.full(n_variables, -1, dtype=np.int64)
    next_in = np.full(n_variables, -1, dtype=np.int64)
    needed = np.zeros(n_variables, dtype=np.bool_)
    outer = np.empty(deepest, dtype=np.int64)
    sizes = np.empty(deepest, dtype=np.int64)
    place = np.empty(deepest, dtype=np.int64)
    cell = np.empty(most, dtype=np.int64)
    step = np.empty((most, deepest), dtype=np.int64)
    own = np.empty(most, dtype=np.int64)
    inner = np.empty(most, dtype=np.int64)
    # Rows of a small block side by side, see `add_missing`.
    rows = np.empty((ROWS, codes.shape[0]), dtype=np.int64)
    for begin in range(0, n_rows, ROWS):
        block = min(ROWS, n_rows - begin)
        for j in range(codes.shape[0]):
            for m in range(block):
                rows[m, j] = codes[j, begin + m]
        for m in range(block):
            row = rows[m]
            for j in order:
                if row[j] < n_states[j]:
                    continue
                needed[j] = False
                for a in range(child_start[j], child_start[j + 1]):
                    i = child[a]
                    needed[j] |= row[i] < n_states[i] or needed[i]
                if not needed[j]:
                    # The family sums to one: none of its tables is to count.
                    for k in range(own_start[j], own_start[j + 1]):
                        t = own_table[k]
                        at = offsets[t]
                        seen = True
                        for a in range(start[t], start[t + 1]):
                            u = axis_variable[a]
                            seen = seen and row[u] < n_states[u]
                            at += row[u] * axis_stride[a]
                        if seen:
                            for c in range(n_classes):
                                out[begin + m, c] -= values[at + c * has_class[t]]
                    continue
                n_outer = 0
                last = -1
                for a in range(parent_start[j], parent_start[j + 1]):
                    u = parent[a]
                    if row[u] == n_states[u]:
                        outer[n_outer] = u
                        sizes[n_outer] = n_states[u]
                        n_outer += 1
                        if last < 0 or rank[u] > rank[last]:
                            last = u
                # The tables with j whose other missing features come later.
                n_tables = 0
                for k in range(with_start[j], with_start[j + 1]):
                    t = with_table[k]
                    i = owner[t]
                    if i != j and row[i] == n_states[i] and not needed[i]:
                        continue
                    cell[n_tables] = offsets[t]
                    step[n_tables, :n_outer] = 0
                    mine = True
                    for a in range(start[t], start[t + 1]):
                        u = axis_variable[a]
                        if u == j:
                            own[n_tables] = axis_stride[a]
                        elif row[u] < n_states[u]:
                            cell[n_tables] += row[u] * axis_stride[a]
                        elif rank[u] > rank[j]:
                            mine = False
                            break
                        else:
                            for b in range(n_outer):
                                if outer[b] == u:
                                    step[n_tables, b] = axis_stride[a]
                    if mine:
                        inner[n_tables] = has_class[t]
                        n_tables += 1
                n_factors = n_tables
                i = first_in[j]
                while i >= 0:
                    cell[n_factors] = sent_offset[i]
                    step[n_factors, :n_outer] = 0
                    inner[n_factors] = 1
                    stride = n_classes
                    for b in range(sent_count[i] - 1, -1, -1):
                        u = sent_scope[i, b]
                        if u == j:
                            own[n_factors] = stride
                        else:
                            for d in range(n_outer):
                                if outer[d] == u:
                                    step[n_factors, d] = stride
                        stride *= n_states[u]
                    n_factors += 1
                    i = next_in[i]
                first_in[j] = -1
                n_sums = 1
                for b in range(n_outer):
                    n_sums *= sizes[b]
                    place[b] = 0
                total = totals[: n_states[j]]
                for number in range(n_sums):
                    total[:] = 0.0
                    add_to(values, cell, own, inner, 0, n_tables, total)
                    add_to(sent, cell, own, inner, n_tables, n_factors, total)
                    if last < 0:
                        log_sum(total, mass, result)
                        for c in range(n_classes):
                            out[begin + m, c] += result[c]
                    else:
                        at = sent_offset[j] + number * n_classes
                        log_sum(total, mass, sent[at : at + n_classes])
                        advance(cell[:n_factors], step, sizes[:n_outer], place)
                if last >= 0:
                    sent_count[j] = n_outer
                    sent_scope[j, :n_outer] = outer[:n_outer]
                    next_in[j] = first_in[last]
                    first_in[last] = j
