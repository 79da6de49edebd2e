"""Kernels of residual trees: statistics of pairs, and graphs that stay chordal."""

from __future__ import annotations

import numpy as np

from tanager.utils.jit import kernel


@kernel
def single_sums(codes, rows, bounds, residuals, variances, offsets, out):
    """Add residuals and variances of every class to the states of every feature.

    `codes` have shape (n_rows, n_features), in C order; `offsets` (n_features,) are
    where the states of every feature start, that for "missing" included; `out`
    (n_classes, 2 * n_all_states) has sums of residuals and of variances in turn.
    """
    n_features = codes.shape[1]
    for c in range(bounds.shape[0] - 1):
        sums = out[c]
        for e in range(bounds[c], bounds[c + 1]):
            row = codes[rows[e]]
            for j in range(n_features):
                cell = 2 * (offsets[j] + np.int64(row[j]))
                sums[cell] += residuals[e]
                sums[cell + 1] += variances[e]


@kernel
def score_statistics(
    codes, rows, bounds, residuals, variances, n_states, offsets, singles, first,
    others, ridge, out,
):  # fmt: skip
    """Write S of the pairs (first, j), j in `others`, to ``out[j]``.

    A row adds to all these pairs in turn, so that no sum waits for the one before. Rows
    in the commonest state of `first` are left out: what they add is what the sums of
    the other feature alone have more.

    `codes`, `offsets` and `singles` are those of `single_sums`. The number of states
    means missing; such cells are added up and left behind. `rows`, `residuals` and
    `variances` (n_entries,) are listed by class: those from ``bounds[c]`` to
    ``bounds[c + 1]`` for class c.
    """
    n_others = others.shape[0]
    states = n_states[first]
    counts = np.zeros(states + 1, dtype=np.int64)
    for e in range(rows.shape[0]):
        counts[codes[rows[e], first]] += 1
    commonest = np.int64(np.argmax(counts))
    starts = np.empty(n_others + 1, dtype=np.int64)
    starts[0] = 0
    for place in range(n_others):
        starts[place + 1] = starts[place] + n_states[others[place]] + 1
        out[others[place]] = 0.0
    width = 2 * starts[n_others]
    sums = np.empty((states + 1, width))
    for c in range(bounds.shape[0] - 1):
        if bounds[c] == bounds[c + 1]:
            continue
        sums[:] = 0.0
        for e in range(bounds[c], bounds[c + 1]):
            row = codes[rows[e]]
            a = np.int64(row[first])
            if a == commonest:
                continue
            of_a = sums[a]
            residual = residuals[e]
            variance = variances[e]
            for place in range(n_others):
                cell = 2 * (starts[place] + np.int64(row[others[place]]))
                of_a[cell] += residual
                of_a[cell + 1] += variance
        rest = sums[commonest]
        for place in range(n_others):
            j = others[place]
            before = 2 * (offsets[j] - starts[place])
            for cell in range(2 * starts[place], 2 * starts[place + 1]):
                rest[cell] = singles[c, before + cell]
        for a in range(states + 1):
            if a != commonest:
                for cell in range(width):
                    rest[cell] -= sums[a, cell]
        for place in range(n_others):
            statistic = 0.0
            for a in range(states):
                for b in range(n_states[others[place]]):
                    cell = 2 * (starts[place] + b)
                    total = sums[a, cell]
                    # Differences may come out below zero by rounding.
                    statistic += total * total / (max(sums[a, cell + 1], 0.0) + ridge)
            out[others[place]] += statistic


@kernel
def eliminate(adjacent, allowed, size, root, order):
    """Order the nodes so that each one's later neighbours may be its parents.

    They may if they are joined to each other, are no more than `size`, and every arc
    from them is allowed. What may go stays so when other nodes go, so nodes are taken
    as they come, the highest first and `root` only where nothing else is left.

    `adjacent` (n, n) is a symmetric graph, ``allowed[i, j]`` says that i may be a
    parent of j, and `order` (n,) takes the nodes. Returns how many could be ordered.
    """
    n_nodes = adjacent.shape[0]
    left = np.ones(n_nodes, dtype=np.bool_)
    waiting = np.ones(n_nodes, dtype=np.bool_)
    waiting[root] = False
    stack = np.empty(n_nodes + 1, dtype=np.int64)
    height = 0
    for v in range(n_nodes):
        if v != root:
            stack[height] = v
            height += 1
    parents = np.empty(size, dtype=np.int64)
    found = 0
    root_tried = False
    while True:
        if height > 0:
            height -= 1
            v = stack[height]
            waiting[v] = False
        elif left[root] and not root_tried:
            v = root
            root_tried = True
        else:
            return found
        if not left[v]:
            continue
        n_parents = 0
        fits = True
        for u in range(n_nodes):
            if adjacent[u, v] and left[u]:
                if n_parents == size or not allowed[u, v]:
                    fits = False
                    break
                for p in range(n_parents):
                    if not adjacent[parents[p], u]:
                        fits = False
                        break
                if not fits:
                    break
                parents[n_parents] = u
                n_parents += 1
        if not fits:
            continue
        left[v] = False
        order[found] = v
        found += 1
        root_tried = False
        for p in range(n_parents):
            u = parents[p]
            if u != root and not waiting[u]:
                waiting[u] = True
                stack[height] = u
                height += 1


@kernel
def join(adjacent, shared, component, u, v):
    """Add the edge between u and v to a graph and to what is kept of it."""
    former = component[v]
    new = component[u]
    for w in range(adjacent.shape[0]):
        if adjacent[v, w]:
            shared[u, w] += 1
            shared[w, u] += 1
        if adjacent[u, w]:
            shared[v, w] += 1
            shared[w, v] += 1
        if component[w] == former:
            component[w] = new
    adjacent[u, v] = adjacent[v, u] = True


@kernel
def is_separated(adjacent, u, v, common, seen, stack):
    """Whether every path from u to v goes through the nodes of `common`."""
    n_nodes = adjacent.shape[0]
    seen[:] = common
    seen[u] = True
    stack[0] = u
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        for other in range(n_nodes):
            if adjacent[node, other] and not seen[other]:
                if other == v:
                    return False
                seen[other] = True
                stack[height] = other
                height += 1
    return True


@kernel
def add_edges(
    adjacent, shared, component, heads, tails, size, wanted, allowed, free, root, added
):
    """Add the first edges of a list under which a graph stays chordal.

    An edge may be added where the common neighbours of its ends separate them and are
    fewer than `size`, so that no clique has more than ``size + 1`` nodes, and where the
    arcs can still be directed as `eliminate` asks. After every edge the list is looked
    through from its beginning: what could not be added before may be now, if its ends
    have more neighbours in common.

    The graph `adjacent`, the numbers of common neighbours `shared`, both (n, n), and a
    number for every connected part, `component` (n,), change in place. `heads` and
    `tails` (n_edges,) are edges that are not there yet, best first; at most `wanted`
    are added. `free` says that `allowed` is true everywhere. `added` (wanted,) takes
    the places of the added edges in the list. Returns their number.
    """
    n_nodes = adjacent.shape[0]
    common = np.empty(n_nodes, dtype=np.bool_)
    seen = np.empty(n_nodes, dtype=np.bool_)
    scratch = np.empty(n_nodes, dtype=np.int64)
    # How many common neighbours an edge had when it was last refused.
    refused = np.full(heads.shape[0], -1, dtype=np.int64)
    n_added = 0
    while n_added < wanted:
        chosen = -1
        for e in range(heads.shape[0]):
            u = heads[e]
            v = tails[e]
            between = shared[u, v]
            if adjacent[u, v] or between >= size or refused[e] == between:
                continue
            fits = True
            if component[u] == component[v]:
                fits = between > 0
                if fits:
                    for w in range(n_nodes):
                        common[w] = adjacent[u, w] and adjacent[v, w]
                    fits = is_separated(adjacent, u, v, common, seen, scratch)
            if fits and not free:
                adjacent[u, v] = adjacent[v, u] = True
                fits = eliminate(adjacent, allowed, size, root, scratch) == n_nodes
                adjacent[u, v] = adjacent[v, u] = False
            if fits:
                chosen = e
                break
            refused[e] = between
        if chosen < 0:
            break
        join(adjacent, shared, component, heads[chosen], tails[chosen])
        added[n_added] = chosen
        n_added += 1
    return n_added
