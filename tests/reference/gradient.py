"""Adam and losses of softmax tables by their formulas, in plain NumPy."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import logsumexp


def adam_path(gradient_of, vector, rates, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Vectors after every step of Kingma and Ba's Algorithm 1."""
    first = second = np.zeros_like(vector)
    path = []
    for step, rate in enumerate(rates, start=1):
        gradient = gradient_of(vector)
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        mean = first / (1 - beta1**step)
        square = second / (1 - beta2**step)
        vector = vector - rate * mean / (np.sqrt(square) + epsilon)
        path.append(vector)
    return path


def log_tables(layout, beta):
    """Log softmax of every table over the states of its owner."""
    log_theta = beta.copy()
    for t in range(layout.n_tables):
        table = layout.table(log_theta, t)
        table -= logsumexp(table, axis=layout.owner_axis(t), keepdims=True)
    return log_theta


def log_joint(layout, log_theta, codes):
    """Log joint of every row and class; missing values are marginalised."""
    target = layout.target
    n_classes = layout.n_states[target]
    out = np.empty((len(codes), n_classes))
    features = [v for v in range(len(layout.n_states)) if v != target]
    for m, row in enumerate(codes):
        states = [
            range(layout.n_states[v]) if row[v] >= layout.n_states[v] else [row[v]]
            for v in features
        ]
        for c in range(n_classes):
            terms = []
            for values in itertools.product(*states):
                full = dict(zip(features, values, strict=True)) | {target: c}
                terms.append(
                    sum(
                        layout.table(log_theta, t)[tuple(full[v] for v in axes)]
                        for t, axes in enumerate(layout.axes)
                    )
                )
            out[m, c] = logsumexp(terms)
    return out


def whole_families(layout, log_theta, codes):
    """Sum of the cells of families without a gap, for every row and class."""
    target = layout.target
    n_classes = layout.n_states[target]
    out = np.zeros((len(codes), n_classes))
    for m, row in enumerate(codes):
        for t, axes in enumerate(layout.axes):
            if any(v != target and row[v] >= layout.n_states[v] for v in axes):
                continue
            for c in range(n_classes):
                cell = tuple(c if v == target else int(row[v]) for v in axes)
                out[m, c] += layout.table(log_theta, t)[cell]
    return out


def numerical_gradient(function, vector, step=1e-6):
    """Central differences of a function of a vector."""
    gradient = np.empty_like(vector)
    for k in range(len(vector)):
        ends = []
        for sign in (1, -1):
            moved = vector.copy()
            moved[k] += sign * step
            ends.append(function(moved))
        gradient[k] = (ends[0] - ends[1]) / (2 * step)
    return gradient
