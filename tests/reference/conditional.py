"""Conditional likelihood of additive tables by its formula, row by row."""

from __future__ import annotations

import numpy as np


def touched(layout, row):
    """Cells that a row touches, shape (n_tables observed, n_classes)."""
    features = [v for v in range(len(layout.n_states)) if v != layout.target]
    state = dict(zip(features, row.tolist(), strict=True))
    cells = []
    for t, axes in enumerate(layout.axes):
        members = [v for v in axes if v != layout.target]
        if all(state[v] < layout.n_states[v] for v in members):
            table = np.arange(layout.sizes[t]).reshape(layout.shapes[t])
            cells.append(
                layout.offsets[t] + table[tuple(int(state[v]) for v in members)]
            )
    return np.array(cells)


def sums(layout, values, data):
    """Loss, gradient, Hessian, and the sums over rows that class tables need."""
    n_classes = data.schema.n_classes
    n_entries = layout.n_cells // n_classes
    loss = 0.0
    gradient = np.zeros(layout.n_cells)
    hessian = np.zeros((layout.n_cells, layout.n_cells))
    observed, expected = np.zeros(n_classes), np.zeros(n_classes)
    products = np.zeros((n_classes, n_classes))
    curvature = np.zeros((n_entries, n_entries))
    for m, row in enumerate(data.codes):
        label = int(data.labels[m])
        if label >= n_classes:
            continue
        weight = 1.0 if data.weights is None else data.weights[m]
        cells = touched(layout, row)
        joint = values[cells].sum(axis=0)
        joint = joint - joint.max()
        share = np.exp(joint) / np.exp(joint).sum()
        own = np.eye(n_classes)[label]
        loss += weight * (np.log(np.exp(joint).sum()) - joint[label])
        design = np.zeros((layout.n_cells, n_classes))
        for table in cells:
            design[table, np.arange(n_classes)] += 1.0
        gradient += weight * design @ (share - own)
        hessian += (
            weight * design @ (np.diag(share) - np.outer(share, share)) @ design.T
        )
        observed += weight * own
        expected += weight * share
        products += weight * np.outer(share, share)
        entries = np.zeros(n_entries)
        entries[cells[:, 0] // n_classes] += 1.0
        if n_classes > 1:
            doubt = (1.0 - share @ share) * n_classes / (n_classes - 1)
            curvature += weight * doubt * np.outer(entries, entries)
    return {
        "loss": loss,
        "gradient": gradient,
        "hessian": hessian,
        "observed": observed,
        "expected": expected,
        "products": products,
        "curvature": curvature,
    }
