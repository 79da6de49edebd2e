"""Message passing in the junction tree: up for sums, down for posteriors, one row.

A walk through a clique visits the configurations of its missing variables. It moves the
*followers* of the clique: positions in its potential (the first), in its message (the
second), in the messages of its children, and in the tables that it holds. All strides
count cells.

Helpers take arrays, not the tuples that hold them: passing a tuple in a loop costs more
than the loop. Arrays are filled by loops, not by assignment to slices, which takes
seconds to compile.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from tanager.utils.jit import kernel

TINY = 1e-200
"""Sums below this are checked for underflow."""

SAFE = -600.0
"""Nothing has underflowed if no log product in a sum is below this."""

SMALL = 1e-100
"""Factors are multiplied until they fall below this, then their logarithm is taken."""

HUGE = 1e100
"""The upper limit. Sums above it, possible in log-linear families only, are computed in
log space."""

# Not literals, for which numba would compile a version of their own.
NONE = np.int64(-1)
ZERO = np.int64(0)


@kernel
def _place(codes, m, n_states, variable, begin, border, end, free, size, state):
    """Find and count the missing variables of a clique, and of its separator."""
    n_free = 0
    n_outer = 0
    for e in range(begin, end):
        v = variable[e]
        if codes[v, m] >= n_states[v]:
            free[n_free] = e - begin
            size[n_free] = n_states[v]
            state[n_free] = 0
            n_free += 1
            if e < border:
                n_outer += 1
    return n_free, n_outer


@kernel
def _start(codes, m, n_states, variable, begin, end, stride, first, base):
    """Position of a follower with all missing variables in their first state."""
    for e in range(begin, end):
        v = variable[e]
        code = np.int64(codes[v, m])
        if code < n_states[v]:
            base += code * stride[first + e - begin]
    return base


@kernel
def _step(stride, free, size, state, row, position, first, last, n_followers):
    """Move to the next states of the missing variables `first` to `last`, or reset."""
    d = last - 1
    while d >= first:
        entry = free[d]
        state[d] += 1
        if state[d] < size[d]:
            for f in range(n_followers):
                position[f] += stride[row[f] + entry]
            return True
        for f in range(n_followers):
            position[f] -= stride[row[f] + entry] * (size[d] - 1)
        state[d] = 0
        d -= 1
    return False


@kernel
def send_up(codes, m, former, tree, potential, least, lo, hi, walk, total):
    """Add log P(e, c) to `total`, for classes lo to hi; False if a sum underflowed.

    A clique whose separator is observed sends no message: its sum is a factor of the
    joint probability. Cliques with the same evidence as in row `former` (-1: none) keep
    their messages.

    Notes
    -----
    Kept apart from `send_up_logs`: one pass for both semirings, with their operations
    and `_place`, `_start` and `_step` as calls, takes 1.25 times as long for posteriors
    of alarm and 1.12 times for insurance (30 % missing values).
    """
    n_states, entry_start, stride = tree.n_states, tree.entry_start, tree.stride
    entry_variable, n_separator = tree.entry_variable, tree.n_separator
    follower_start, follower_item = tree.follower_start, tree.follower_item
    follower_base, stride_start = tree.follower_base, tree.stride_start
    n_children = tree.n_children
    free, size, state = walk.free, walk.size, walk.state
    row, position, inner = walk.row, walk.position, walk.inner
    is_open, is_new, bound = walk.is_open, walk.is_new, walk.least
    message, factor, sums = walk.message, walk.factor, walk.sum
    n_cliques = n_separator.shape[0]
    # Unsigned, so that no index is looked at for being negative.
    first_class, last_class = np.uint64(lo), np.uint64(hi)
    for clique in range(n_cliques):
        begin, end = entry_start[clique], entry_start[clique + 1]
        first_child = follower_start[clique] + 2
        last_child = first_child + n_children[clique]
        changed = former < 0
        for e in range(begin, end):
            if changed:
                break
            changed = codes[entry_variable[e], m] != codes[entry_variable[e], former]
        for f in range(first_child, last_child):
            changed = changed or is_new[follower_item[f]]
        is_new[clique] = changed
        if not changed:
            continue
        n_free = 0
        n_outer = 0
        start = stride_start[clique]
        at = follower_base[first_child - 2]
        for e in range(begin, end):
            v = entry_variable[e]
            code = np.int64(codes[v, m])
            if code < n_states[v]:
                at += code * stride[start + e - begin]
            else:
                free[n_free] = e - begin
                size[n_free] = n_states[v]
                state[n_free] = 0
                n_free += 1
                if e - begin < n_separator[clique]:
                    n_outer += 1
        is_open[clique] = n_outer > 0
        bound[clique] = least[clique]
        if n_free == 0:
            for c in range(lo, hi):
                factor[clique, c] = potential[at + c]
            continue
        # The followers: the potential, the own message, those of open children.
        row[0], position[0] = start, at
        n_followers = 1
        for f in range(first_child - 1, last_child):
            if f >= first_child:
                if not is_open[follower_item[f]]:
                    continue
                bound[clique] += bound[follower_item[f]]
            first = start + (f - first_child + 2) * (end - begin)
            where = follower_base[f]
            for e in range(begin, end):
                v = entry_variable[e]
                code = np.int64(codes[v, m])
                if code < n_states[v]:
                    where += code * stride[first + e - begin]
            row[n_followers] = first
            position[n_followers] = where
            n_followers += 1
        # The last missing variable has a loop of its own. If all missing variables are
        # in the separator, nothing is summed: each configuration is a message's cell.
        run = n_free - 1
        sums_up = n_free > n_outer
        for f in range(n_followers):
            inner[f] = stride[row[f] + free[run]]
        for c in range(lo, hi):
            sums[c] = 0.0
        while True:
            for s in range(size[run]):
                at = np.uint64(position[0] + s * inner[0])
                if n_followers == 2:
                    for c in range(first_class, last_class):
                        sums[c] += potential[at + c]
                elif n_followers == 3:
                    one = np.uint64(position[2] + s * inner[2])
                    for c in range(first_class, last_class):
                        sums[c] += potential[at + c] * message[one + c]
                else:
                    for c in range(first_class, last_class):
                        value = potential[at + c]
                        for f in range(2, n_followers):
                            value *= message[np.uint64(position[f] + s * inner[f]) + c]
                        sums[c] += value
                if not sums_up:
                    own = np.uint64(position[1] + s * inner[1])
                    for c in range(first_class, last_class):
                        message[own + c] = sums[c]
                        sums[c] = 0.0
            # Next configuration; after the last one of the variables outside the
            # separator, the sum is the message for the states of the separator.
            d = run - 1
            while True:
                if d == n_outer - 1 and sums_up and n_outer > 0:
                    own = np.uint64(position[1])
                    for c in range(first_class, last_class):
                        message[own + c] = sums[c]
                        sums[c] = 0.0
                if d < 0:
                    break
                state[d] += 1
                if state[d] < size[d]:
                    for f in range(n_followers):
                        position[f] += stride[row[f] + free[d]]
                    break
                for f in range(n_followers):
                    position[f] -= stride[row[f] + free[d]] * (size[d] - 1)
                state[d] = 0
                d -= 1
            if d < 0:
                break
        if n_outer == 0:
            for c in range(lo, hi):
                factor[clique, c] = sums[c]
    for c in range(lo, hi):
        product = 1.0
        for clique in range(n_cliques):
            if not is_open[clique]:
                value = factor[clique, c]
                if not value <= HUGE or (value < TINY and bound[clique] < SAFE):
                    return False
                if value == 0.0:
                    product = 0.0
                    break
                if value < TINY:  # the product so far times this could underflow
                    total[c] += log(value)
                    continue
                product *= value
                if product < SMALL or product > HUGE:
                    total[c] += log(product)
                    product = 1.0
        total[c] += log(product) if product > 0.0 else -inf
    return True


@kernel
def send_up_logs(codes, m, tree, potential, lo, hi, walk, total):
    """The same in log space, without underflow; `potential` are logarithms."""
    n_states, variable, stride = tree.n_states, tree.entry_variable, tree.stride
    entry_start, n_separator = tree.entry_start, tree.n_separator
    follower_start, follower_item = tree.follower_start, tree.follower_item
    follower_base, stride_start = tree.follower_base, tree.stride_start
    n_children, factor = tree.n_children, walk.factor
    free, size, state = walk.free, walk.size, walk.state
    row, position, is_open = walk.row, walk.position, walk.is_open
    message, sums, highest = walk.log_message, walk.sum, walk.highest
    for clique in range(n_separator.shape[0]):
        begin, end = entry_start[clique], entry_start[clique + 1]
        border = begin + n_separator[clique]
        n_free, n_outer = _place(
            codes, m, n_states, variable, begin, border, end, free, size, state
        )
        is_open[clique] = n_outer > 0
        follower = follower_start[clique]
        first = stride_start[clique]
        n_followers = 0
        for f in range(follower, follower + 2 + n_children[clique]):
            if f < follower + 2 or is_open[follower_item[f]]:
                row[n_followers] = first
                position[n_followers] = _start(
                    codes, m, n_states, variable, begin, end, stride, first,
                    follower_base[f],
                )  # fmt: skip
                n_followers += 1
            first += end - begin
        while True:
            for c in range(lo, hi):
                highest[c], sums[c] = -inf, 0.0
            while True:
                for c in range(lo, hi):
                    value = potential[position[0] + c]
                    for f in range(2, n_followers):
                        value += message[position[f] + c]
                    if value > highest[c]:
                        sums[c] = sums[c] * exp(highest[c] - value) + 1.0
                        highest[c] = value
                    elif value > -inf:
                        sums[c] += exp(value - highest[c])
                if not _step(
                    stride, free, size, state, row, position, n_outer, n_free,
                    n_followers,
                ):  # fmt: skip
                    break
            for c in range(lo, hi):
                found = -inf
                if highest[c] > -inf:
                    found = highest[c] + log(sums[c])
                if n_outer == 0:
                    factor[clique, c] = found
                    total[c] += found
                else:
                    message[position[1] + c] = found
            if not _step(
                stride, free, size, state, row, position, ZERO, n_outer, n_followers
            ):
                break


@kernel
def _mark_needed(tree, is_open, is_counted, is_needed):
    """Mark the cliques with counted tables, and their ancestors."""
    follower_start, follower_item = tree.follower_start, tree.follower_item
    n_children = tree.n_children
    for clique in range(is_needed.shape[0]):
        first = follower_start[clique] + 2
        last = first + n_children[clique]
        is_needed[clique] = False
        for f in range(first, follower_start[clique + 1]):
            item = follower_item[f]
            if f < last and is_open[item] and is_needed[item]:
                is_needed[clique] = True
            if f >= last and is_counted[item]:
                is_needed[clique] = True


@kernel
def send_down(codes, m, tree, potential, in_logs, lo, hi, walk, by_class, out):
    """Add by_class[c] P(cell | e, c) to `out` for all tables that are counted.

    `walk.downward` has the layout of messages: P(separator | e, c), added up by the
    parent of a clique before the clique is visited, and zero again thereafter.
    """
    n_states, variable, stride = tree.n_states, tree.entry_variable, tree.stride
    entry_start, n_separator = tree.entry_start, tree.n_separator
    follower_start, follower_item = tree.follower_start, tree.follower_item
    follower_base, stride_start = tree.follower_base, tree.stride_start
    n_children, with_class = tree.n_children, tree.has_class
    free, size, state = walk.free, walk.size, walk.state
    row, position, has_class = walk.row, walk.position, walk.has_class
    is_open, is_counted, is_needed = walk.is_open, walk.is_counted, walk.is_needed
    downward, factor, inner = walk.downward, walk.factor, walk.inner
    given, posterior, is_taken = walk.highest, walk.sum, walk.is_taken
    message = walk.log_message if in_logs else walk.message
    _mark_needed(tree, is_open, is_counted, is_needed)
    for clique in range(is_needed.shape[0] - 1, -1, -1):
        if not is_needed[clique]:
            continue
        begin, end = entry_start[clique], entry_start[clique + 1]
        border = begin + n_separator[clique]
        n_free, n_outer = _place(
            codes, m, n_states, variable, begin, border, end, free, size, state
        )
        # Followers: potential, own message, those of open children, counted tables.
        follower = follower_start[clique]
        last_child = follower + 2 + n_children[clique]
        first = stride_start[clique]
        n_open = 2
        n_followers = 0
        for f in range(follower, follower_start[clique + 1]):
            item = follower_item[f]
            if (
                f < follower + 2
                or (f < last_child and is_open[item])
                or (f >= last_child and is_counted[item])
            ):
                row[n_followers] = first
                position[n_followers] = _start(
                    codes, m, n_states, variable, begin, end, stride, first,
                    follower_base[f],
                )  # fmt: skip
                # Children get a posterior where tables below them are counted.
                is_taken[n_followers] = f >= last_child or (
                    f >= follower + 2 and is_needed[item]
                )
                has_class[n_followers] = f < last_child or with_class[item]
                n_followers += 1
                if f < last_child:
                    n_open = n_followers
            first += end - begin
        run, length = n_free - 1, 1
        for f in range(n_followers):
            inner[f] = 0
        if n_free > 0:
            length = size[run]
            for f in range(n_followers):
                inner[f] = stride[row[f] + free[run]]
        is_new = True
        while True:
            for s in range(length):
                if (s == 0 and is_new) or n_free == n_outer:
                    # New states of the separator: their sum and their posterior.
                    own = position[1] + s * inner[1]
                    for c in range(lo, hi):
                        given[c], posterior[c] = factor[clique, c], 1.0
                        if n_outer > 0:
                            given[c], posterior[c] = message[own + c], downward[own + c]
                            downward[own + c] = 0.0
                        if not in_logs:
                            possible = given[c] > 0.0
                            posterior[c] = posterior[c] / given[c] if possible else 0.0
                for c in range(lo, hi):
                    if posterior[c] == 0.0:
                        continue
                    part = potential[position[0] + s * inner[0] + c]
                    if in_logs:
                        for f in range(2, n_open):
                            part += message[position[f] + s * inner[f] + c]
                        possible = given[c] > -inf
                        part = posterior[c] * exp(part - given[c]) if possible else 0.0
                    else:
                        for f in range(2, n_open):
                            part *= message[position[f] + s * inner[f] + c]
                        part *= posterior[c]
                    if part == 0.0:
                        continue
                    for f in range(2, n_open):
                        if is_taken[f]:
                            downward[position[f] + s * inner[f] + c] += part
                    part *= by_class[c]
                    for f in range(n_open, n_followers):
                        cell = position[f] + s * inner[f]
                        out[cell + c if has_class[f] else cell] += part
            d = run - 1
            while d >= 0:
                state[d] += 1
                if state[d] < size[d]:
                    for f in range(n_followers):
                        position[f] += stride[row[f] + free[d]]
                    break
                for f in range(n_followers):
                    position[f] -= stride[row[f] + free[d]] * (size[d] - 1)
                state[d] = 0
                d -= 1
            if d < 0:
                break
            is_new = d < n_outer
