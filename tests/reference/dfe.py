"""The discriminative frequency estimate by its text, row by row."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-300


def dfe_tables(
    codes, labels, weights, n_states, families, target, passes, alpha, counts=None
):
    """Tables with axes in the order of `families` (parents first, the owner last).

    They start at zero, or go on from `counts`.
    """
    if counts is None:
        counts = [np.zeros([n_states[v] for v in family]) for family in families]

    def read(table):
        states = table.shape[-1]
        mass = table.sum(axis=-1, keepdims=True) + alpha * states
        known = np.maximum(table + alpha, FLOOR) / np.where(mass > 0, mass, 1)
        return np.where(mass > 0, known, 1 / states)

    for _ in range(passes):
        for m in range(len(labels)):
            row = [*codes[m], None]
            used = [
                k
                for k, family in enumerate(families)
                if all(v == target or row[v] < n_states[v] for v in family)
            ]
            log_joint = np.zeros(n_states[target])
            for k in used:
                theta = read(counts[k])
                for c in range(n_states[target]):
                    cell = tuple(c if v == target else row[v] for v in families[k])
                    log_joint[c] += np.log(theta[cell])
            joint = np.exp(log_joint - log_joint.max())
            loss = 1 - joint[labels[m]] / joint.sum()
            for k in used:
                cell = tuple(labels[m] if v == target else row[v] for v in families[k])
                counts[k][cell] += loss * (1 if weights is None else weights[m])
    return counts
