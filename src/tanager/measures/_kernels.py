"""Kernels for information measures on flat pair tables."""

from __future__ import annotations

from math import log

import numpy as np

from tanager.core.jit import kernel


@kernel
def pair_information(values, offsets, n_states, n_classes, first, out):
    """I(X_i; X_j | C) of every pair held in `values`, in nats, into both triangles.

    `offsets` holds the start of the table (i, i + 1) for i = first, first + 1, ...
    """
    n_features = n_states.shape[0]
    widest = 0
    for j in range(n_features):
        widest = max(widest, n_states[j])
    row = np.empty(widest * n_classes)
    column = np.empty(widest * n_classes)
    whole = np.empty(n_classes)
    for k in range(offsets.shape[0]):
        i = first + k
        cell = offsets[k]
        for j in range(i + 1, n_features):
            row[:] = 0.0
            column[:] = 0.0
            whole[:] = 0.0
            joint = 0.0
            for a in range(n_states[i]):
                for b in range(n_states[j]):
                    for c in range(n_classes):
                        count = float(values[cell])
                        cell += 1
                        if count > 0.0:
                            joint += count * log(count)
                            row[a * n_classes + c] += count
                            column[b * n_classes + c] += count
                            whole[c] += count
            total = 0.0
            apart = 0.0
            for index in range(n_states[i] * n_classes):
                if row[index] > 0.0:
                    apart += row[index] * log(row[index])
            for index in range(n_states[j] * n_classes):
                if column[index] > 0.0:
                    apart += column[index] * log(column[index])
            for c in range(n_classes):
                if whole[c] > 0.0:
                    apart -= whole[c] * log(whole[c])
                    total += whole[c]
            value = (joint - apart) / total if total > 0.0 else 0.0
            # Rounding may leave a tiny negative number where nothing is shared.
            out[i, j] = max(value, 0.0)
            out[j, i] = out[i, j]


@kernel
def pair_class_information(values, offsets, n_states, n_classes, first, out):
    """I(C; X_i, X_j) of every pair held in `values`, in nats, into both triangles.

    `offsets` as in `pair_information`.
    """
    n_features = n_states.shape[0]
    whole = np.empty(n_classes)
    for k in range(offsets.shape[0]):
        i = first + k
        cell = offsets[k]
        for j in range(i + 1, n_features):
            whole[:] = 0.0
            shared = 0.0
            for _ in range(n_states[i] * n_states[j]):
                both = 0.0
                for c in range(n_classes):
                    count = float(values[cell])
                    cell += 1
                    if count > 0.0:
                        shared += count * log(count)
                        both += count
                        whole[c] += count
                if both > 0.0:
                    shared -= both * log(both)
            total = 0.0
            for c in range(n_classes):
                if whole[c] > 0.0:
                    shared -= whole[c] * log(whole[c])
                    total += whole[c]
            value = shared / total + log(total) if total > 0.0 else 0.0
            out[i, j] = max(value, 0.0)
            out[j, i] = out[i, j]
