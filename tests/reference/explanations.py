"""Explanations by enumeration, sample by sample."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from tests.reference.enumeration import marginal


def outputs(log_joint):
    """Log odds of the second of two classes, or log weights less their mean."""
    if len(log_joint) == 2:
        return np.array([log_joint[1] - log_joint[0]])
    return log_joint - log_joint.mean()


def class_outputs(network, row):
    """Outputs of one row of codes of the features, missing ones enumerated."""
    target = len(network.schema) - 1
    return outputs(np.log(marginal(network, [*row, 0], (target,))))


def family_terms(network, row):
    """Term of every feature, then that of the class: differences of the outputs.

    Features become known one after the other: ancestors of the class first, then the
    others, parents before children.
    """
    target = len(network.schema) - 1
    parents = network.structure.parents
    ancestors = set(parents[target])
    while any(p not in ancestors for v in ancestors for p in parents[v]):
        ancestors |= {p for v in ancestors for p in parents[v]}
    order = [v for v in network.structure.topological_order if v != target]
    order = sorted(order, key=lambda v: v not in ancestors)
    known = network.schema.n_states[:-1].tolist()
    prior = class_outputs(network, known)
    terms = np.zeros((target + 1, len(prior)))
    last = prior
    for v in order:
        known[v] = row[v]
        now = class_outputs(network, known)
        terms[target if v in ancestors else v] += now - last
        last = now
    return prior, terms


def factor_terms(network, row):
    """Weights of every factor in the cell of a row."""
    found = []
    for table in network.factors.tables:
        shape = [axis.n_bins for axis in table.factor.axes]
        cell = tuple(int(axis.bins[row[axis.feature]]) for axis in table.factor.axes)
        weights = table.weights.reshape(*shape, -1)
        found.append(outputs(weights[cell]))
    return outputs(network.factors.log_prior), np.array(found)


def counterfactuals(score, row, candidates, max_changes, target=None):
    """All flips with the fewest changes: lists of ((feature, code), ...).

    `score` gives the log weights of rows; `candidates` are codes by feature.
    """
    row = np.array(row)
    current = int(score(row[None])[0].argmax())
    for size in range(1, max_changes + 1):
        found = []
        for features in combinations(sorted(candidates), size):
            every = list(product(*(candidates[j] for j in features)))
            if not every:
                continue
            changed = np.repeat(row[None], len(every), axis=0)
            changed[:, list(features)] = every
            for codes, log_weights in zip(every, score(changed), strict=True):
                label = int(log_weights.argmax())
                if label != current and target in (None, label):
                    found.append(tuple(zip(features, codes, strict=True)))
        if found:
            return found
    return []


def information_gain(network, row, feature, values=None):
    """Mutual information of the class and a feature, given the rest of a row."""
    target = len(network.schema) - 1
    hidden = list(row)
    hidden[feature] = network.schema[feature].n_states
    joint = marginal(network, [*hidden, 0], (feature, target))[:values]
    joint = joint / joint.sum()
    return mutual_information(joint)


def mutual_information(joint):
    """Mutual information of the two axes of a table of probabilities, in nats."""
    total = 0.0
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    for i, j in np.ndindex(joint.shape):
        if joint[i, j] > 0:
            total += joint[i, j] * np.log(joint[i, j] / rows[i] / columns[j])
    return total
