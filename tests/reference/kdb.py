"""KDB by its definition, and leave-one-out by leaving out one row after the other."""

from __future__ import annotations

import numpy as np

from tests.reference.counting import (
    conditional_information,
    count_family,
    frequencies,
)

TIE = 1e-9


def class_information(table):
    """I(X; C) of a table with axes (x, c): nothing is given."""
    return conditional_information(table[:, :, None]) if table.sum() else 0.0


def order_and_parents(data, k):
    """Features by falling I(C; X), and the k best earlier ones of each."""
    target = len(data.schema) - 1
    information = [
        class_information(count_family(data, (j, target))) for j in range(target)
    ]

    def weight(i, j):
        table = count_family(data, (i, j, target))
        return conditional_information(table) if table.sum() else 0.0

    order = sorted(range(target), key=lambda j: (-round(information[j], 11), j))
    parents = {}
    for place, child in enumerate(order):
        ranked = sorted(order[:place], key=lambda i: (-round(weight(i, child), 11), i))
        parents[child] = tuple(ranked[:k])
    return order, parents


def rates_by_prefix(data, parents, order, alpha):
    """Leave-one-out accuracy with the first 0, 1, ... features of the order.

    `data` has no weights. Every row is classified from counts over the others.
    """
    target = len(data.schema) - 1
    n_classes = data.schema.n_classes
    families = {j: (target, *parents[j], j) for j in order}
    correct = np.zeros(len(order) + 1)
    labelled = [m for m in range(data.n_samples) if data.labels[m] < n_classes]
    for m in labelled:
        rest = data.take(np.delete(np.arange(data.n_samples), m))
        joint = np.log(frequencies(count_family(rest, (target,)), alpha))
        label = int(data.labels[m])
        correct[0] += first_best(joint) == label
        for place, j in enumerate(order):
            codes = [int(data.codes[m, v]) for v in families[j][1:]]
            if all(
                code < data.schema.n_states[v]
                for code, v in zip(codes, families[j][1:], strict=True)
            ):
                theta = frequencies(count_family(rest, families[j]), alpha)
                joint = joint + np.log(theta[(slice(None), *codes)])
            correct[place + 1] += first_best(joint) == label
    return correct / max(len(labelled), 1)


def first_best(values):
    return next(c for c, value in enumerate(values) if value >= max(values) - TIE)
