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
    `theta`, shape (n_entries, n_classes), its probabilities. Writes a row of `ratios`
    for each such feature of each sample, and both to the same row of `places`.

    A missing feature has the product of the likelihoods of its observed children, and
    messages from its missing children. With Z, the probability of the evidence below
    the first missing ancestor, the value of x is Z with x divided by Z without x.
    """
    order, parents, n_states, starts, owns, incoming = tree
    n_features, n_classes = parents.shape[0], theta.shape[1]
    spare = owns[-1]  # behind the products of all features, room for those of one
    own = np.empty((spare + n_states.max(), n_classes))
    messages = np.empty((incoming[-1], n_classes))
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
                # Loops: assignments to parts of arrays would make views of them.
                for i in range(owns[j], owns[j + 1]):
                    for c in range(n_classes):
                        own[i, c] = 1.0
                for c in range(n_classes):
                    before[j, c] = 1.0
                if below:
                    next_child[j] = first_child[p]
                    first_child[p] = j
                    for i in range(incoming[j], incoming[j + 1]):
                        for c in range(n_classes):
                            messages[i, c] = 1.0
                continue
            if not below:
                continue
            entry = starts[j] + codes[j] * n_states[p]
            for i in range(n_states[p]):
                for c in range(n_classes):
                    own[owns[p] + i, c] *= theta[entry + i, c]
            v = p
            while True:
                size, base = n_states[v], owns[v]
                child = first_child[v]
                while child >= 0:
                    for i in range(size):
                        for c in range(n_classes):
                            message = messages[incoming[child] + i, c]
                            own[spare + i, c] = own[base + i, c] * message
                    base = spare
                    child = next_child[child]
                u = parents[v]
                if u < 0 or codes[u] != n_states[u]:
                    break
                for i in range(incoming[v], incoming[v + 1]):
                    for c in range(n_classes):
                        messages[i, c] = 0.0
                for x in range(size):
                    entry = starts[v] + x * n_states[u]
                    for i in range(n_states[u]):
                        for c in range(n_classes):
                            product = theta[entry + i, c] * own[base + x, c]
                            messages[incoming[v] + i, c] += product
                v = u
            width, state = 1, 0
            if u >= 0:
                width, state = n_states[u], np.int64(codes[u])
            entry = starts[v] + state
            for c in range(n_classes):
                z[c] = theta[entry, c] * own[base, c]
            for x in range(1, n_states[v]):
                entry += width
                for c in range(n_classes):
                    z[c] += theta[entry, c] * own[base + x, c]
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
                    for i in range(owns[p], owns[p + 1]):
                        own[i, c] *= scale
                    u = p
                    while u != v:
                        for i in range(incoming[u], incoming[u + 1]):
                            messages[i, c] *= scale
                        u = parents[u]


@kernel
def count_tree_terms(codes, parents, n_states, counts):
    """Add to `counts`, (n_samples,), the observed features with a missing parent."""
    for j in range(parents.shape[0]):
        p = parents[j]
        if p >= 0:
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
