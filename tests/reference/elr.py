"""Conditional likelihood of a network and ELR by conjugate gradient, by the formula."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from tanager import Network
from tanager.model import Parameters
from tests.reference.enumeration import expected_counts, marginal


def tables_of(layout, beta):
    """Log tables: softmax of beta over the owner of every table."""
    out = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        table = layout.table(beta, t)
        layout.table(out, t)[...] = log_softmax(table, axis=layout.owner_axis(t))
    return out


def network_at(structure, data, layout, beta):
    return Network(data.schema, structure, Parameters(layout, tables_of(layout, beta)))


def log_conditional(network, data):
    """log P(c | e) of every row, by enumeration."""
    target = network.schema.target
    out = []
    for row, label in zip(data.codes, data.labels, strict=True):
        joint = marginal(network, [*row.tolist(), 0], (target,))
        out.append(np.log(joint[label] / joint.sum()))
    return np.array(out)


def mean_loss(structure, data, layout, beta):
    """-LCL: weighted mean of -log P(c | e)."""
    network = network_at(structure, data, layout, beta)
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    return -np.average(log_conditional(network, data), weights=weights)


def theta_gradient(structure, data, layout, beta):
    """Derivative by theta, ``[P(d, f | e, c) - P(d, f | e)] / theta[d | f]``.

    Greiner et al. (2005), proof of Theorem 1; projected onto sums of zero.
    """
    posterior, network, total = class_posteriors(structure, data, layout, beta)
    out = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        theta = np.exp(layout.table(network.parameters.log_theta, t))
        slope = layout.table(posterior, t) / theta
        mean = slope.mean(axis=layout.owner_axis(t), keepdims=True)
        layout.table(out, t)[...] = slope - mean
    return -out / total


def class_posteriors(structure, data, layout, beta):
    """Sum of P(d, f | e, c) - P(d, f | e), the network, and the weight of all rows."""
    network = network_at(structure, data, layout, beta)
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    target = network.schema.target
    by_class = np.zeros((data.n_samples, data.schema.n_classes))
    for m, (row, label) in enumerate(zip(data.codes, data.labels, strict=True)):
        joint = marginal(network, [*row.tolist(), 0], (target,))
        by_class[m] = -joint / joint.sum()
        by_class[m, label] += 1.0
        by_class[m] *= weights[m]
    posterior = expected_counts(network, layout, data.codes, by_class)
    return posterior, network, weights.sum()


def gradient(structure, data, layout, beta):
    """Greiner et al. (2005), Proposition 3, family posteriors by enumeration."""
    posterior, network, total_weight = class_posteriors(structure, data, layout, beta)
    out = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        axis = layout.owner_axis(t)
        table = layout.table(posterior, t)
        theta = np.exp(layout.table(network.parameters.log_theta, t))
        total = table.sum(axis=axis, keepdims=True)
        layout.table(out, t)[...] = table - theta * total
    return -out / total_weight


def conjugate_gradient(loss, slope, start, steps):
    """Polak-Ribiere with line searches to high precision; the vectors on the way."""
    vector, direction, old = np.array(start), None, None
    visited = [vector]
    for _ in range(steps):
        g = slope(vector)
        if direction is None:
            direction = -g
        else:
            direction = -g + max(0.0, g @ (g - old) / (old @ old)) * direction
        old = g

        def along(step, vector=vector, direction=direction):
            return loss(vector + step * direction)

        best = minimize_scalar(along, bracket=(0.0, 1.0), method="brent")
        vector = vector + best.x * direction
        visited.append(vector)
    return visited
