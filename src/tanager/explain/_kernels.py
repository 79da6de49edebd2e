"""Kernels of explanations."""

from __future__ import annotations

import numpy as np

from tanager.loglinear._factor_kernels import BLOCK, find_cells
from tanager.utils.jit import kernel

SMALL = 1e-100
"""Probability of evidence from which on products are scaled up."""


@kernel
def write_factor(codes, features, lookup, table, out):
    """Write to `out`, (n_samples, n_columns), the row of each sample's cell.

    `add_factor` would need an `out` of zeros, which costs as much time again: most of
    it is that of the memory.
    """
    n_samples, n_columns = out.shape
    values = table.reshape(table.size)
    into = out.reshape(out.size)
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_samples, BLOCK):
        size = min(BLOCK, n_samples - begin)
        find_cells(codes, features, lookup, begin, size, cells)
        for m in range(size):
            i = (begin + m) * n_columns
            j = cells[m] * n_columns
            for c in range(n_columns):
                into[np.uint64(i + c)] = values[np.uint64(j + c)]


@kernel
def find_tree_terms(rows, samples, tree, theta, ratios, places):
    """Find P(x | evidence before x, c) of features x whose parent is missing.

    `rows`, shape (n_samples, n_features), have the codes of a forest of features below
    the class; `samples` are those to work on. `tree` are the arrays of `TreeMarginals`,
    `theta` its probabilities. Writes a row of `ratios` for each such feature of each
    sample, and both to the same row of `places`.

    A missing feature has the product of the likelihoods of its observed children, and
    messages from its missing children. With Z, the probability of the evidence below
    the first missing ancestor, the value of x is Z with x divided by Z without x.
    Products and messages of one class are side by side: loops over them are long
    enough for the processor to take several at once.
    """
    order, parents, n_states, starts, owns, incoming = tree
    n_features, n_classes = parents.shape[0], ratios.shape[1]
    spare = owns[-1] * n_classes  # behind the products, room for those of one feature
    own = np.empty(spare + n_states.max() * n_classes)
    messages = np.empty(incoming[-1] * n_classes)
    before = np.empty((n_features, n_classes))  # Z of the first missing ancestors
    z = np.empty(n_classes)
    first_child = np.empty(n_features, dtype=np.int64)  # of those that are missing
    next_child = np.empty(n_features, dtype=np.int64)
    n_found = 0
    for m in samples:
        codes = rows[m]
        for j in order:
            p = parents[j]
            below = p >= 0 and codes[p] == n_states[p]
            if codes[j] == n_states[j]:
                first_child[j] = -1
                fill(own, owns[j] * n_classes, n_states[j] * n_classes, 1.0)
                before[j] = 1.0
                if below:
                    next_child[j] = first_child[p]
                    first_child[p] = j
                    start = incoming[j] * n_classes
                    fill(messages, start, n_states[p] * n_classes, 1.0)
                continue
            if not below or n_states[j] == 1:
                continue
            at, size = owns[p] * n_classes, n_states[p] * n_classes
            entry = starts[j] * n_classes + codes[j] * size
            multiply(own, at, own, at, theta, entry, size)
            v = p
            while True:
                size, base = n_states[v], owns[v] * n_classes
                child = first_child[v]
                while child >= 0:
                    at = incoming[child] * n_classes
                    multiply(own, spare, own, base, messages, at, size * n_classes)
                    base = spare
                    child = next_child[child]
                u = parents[v]
                if u < 0 or codes[u] != n_states[u]:
                    break
                width, start = n_states[u], incoming[v] * n_classes
                fill(messages, start, width * n_classes, 0.0)
                entry = starts[v] * n_classes
                for x in range(size):
                    at, place = start, base + x
                    for _ in range(n_classes):
                        add_multiple(messages, at, theta, entry, own[place], width)
                        at += width
                        place += size
                        entry += width
                v = u
            width, state = 1, 0
            if u >= 0:
                width, state = n_states[u], np.int64(codes[u])
            for c in range(n_classes):
                total = 0.0
                entry = starts[v] * n_classes + c * width + state
                for _ in range(size):
                    total += theta[entry] * own[base]
                    entry += width * n_classes
                    base += 1
                z[c] = total
            least = 1.0
            for c in range(n_classes):
                ratios[n_found, c] = z[c] / before[v, c]
                before[v, c] = z[c]
                least = min(least, z[c])
            places[n_found, 0] = j
            places[n_found, 1] = m
            n_found += 1
            if least < SMALL:
                # Everything up to the root is a multiple of the product below p.
                for c in range(n_classes):
                    scale = 1.0 / z[c]
                    before[v, c] = 1.0
                    size = n_states[p]
                    at = owns[p] * n_classes + c * size
                    for i in range(at, at + size):
                        own[i] *= scale
                    u = p
                    while u != v:
                        width = n_states[parents[u]]
                        at = incoming[u] * n_classes + c * width
                        for i in range(at, at + width):
                            messages[i] *= scale
                        u = parents[u]


@kernel
def fill(out, at, size, value):
    """Write `value` to `size` places."""
    for i in range(np.uint64(at), np.uint64(at + size)):
        out[i] = value


@kernel
def multiply(out, to, one, at, other, start, size):
    """Write the products of two parts of arrays."""
    for i in range(size):
        product = one[np.uint64(at + i)] * other[np.uint64(start + i)]
        out[np.uint64(to + i)] = product


@kernel
def add_multiple(out, to, values, start, scale, size):
    """Add `scale` times a part of an array."""
    for i in range(size):
        out[np.uint64(to + i)] += scale * values[np.uint64(start + i)]


@kernel
def count_tree_terms(codes, parents, n_states, counts):
    """Add to `counts`, (n_samples,), the observed features with a missing parent.

    Those of a single state are left out: they say nothing.
    """
    for j in range(parents.shape[0]):
        p = parents[j]
        if p >= 0 and n_states[j] > 1:
            own, above = codes[j], codes[p]
            for m in range(counts.shape[0]):
                counts[m] += (above[m] == n_states[p]) & (own[m] != n_states[j])


@kernel
def write_tree_terms(log_ratios, places, out):
    """Write the log odds of row i to ``out[places[i, 0], places[i, 1]]``.

    As `log_odds_of`: one output for two classes, otherwise one for each, centred.
    """
    n_classes = log_ratios.shape[1]
    for i in range(log_ratios.shape[0]):
        j, m = places[i]
        if out.shape[2] == 1:
            out[j, m, 0] = log_ratios[i, 1] - log_ratios[i, 0]
        else:
            mean = 0.0
            for c in range(n_classes):
                mean += log_ratios[i, c]
            mean /= n_classes
            for c in range(n_classes):
                out[j, m, c] = log_ratios[i, c] - mean
