"""Kernels of likelihood, margin and conditional likelihood losses."""

from __future__ import annotations

from math import exp, log, log1p

from tanager.utils.jit import kernel

NEGLIGIBLE = -36.0
"""Smaller exponents add nothing to a sum whose largest term is one."""


@kernel
def hybrid_loss(
    log_joint, labels, weights, scale, likelihood, margin, gamma, eta, gradient
):
    """Compute a weighted sum of likelihood and margin loss; see `HybridLoss`.

    `likelihood` and `margin` are the weights of the two. `gradient`, of the shape of
    `log_joint` (n_samples, n_classes), is set to the derivative times `scale`.
    """
    n_rows, n_classes = log_joint.shape
    slack = log(max(n_classes - 1, 1)) / eta
    value = 0.0
    for m in range(n_rows):
        row = log_joint[m]
        slopes = gradient[m]
        label = labels[m]
        own = row[label]
        highest = -1e300
        for c in range(n_classes):
            slopes[c] = 0.0
            if c != label and row[c] > highest:
                highest = row[c]
        weight = weights[m]
        cost = -likelihood * own
        slopes[label] = -likelihood * weight * scale
        # The soft maximum is at most `slack` above the highest.
        if margin > 0.0 and n_classes > 1 and own - highest - slack < gamma:
            mass = 0.0
            for c in range(n_classes):
                if c != label:
                    power = eta * (row[c] - highest)
                    if power > NEGLIGIBLE:
                        slopes[c] = exp(power)
                        mass += slopes[c]
            short = highest - own + log(mass) / eta + gamma
            if short > 0.0:
                cost += margin * short
                factor = margin * weight * scale
                for c in range(n_classes):
                    if c != label:
                        slopes[c] *= factor / mass
                slopes[label] -= factor
            else:
                for c in range(n_classes):
                    if c != label:
                        slopes[c] = 0.0
        value += weight * cost
    return value


@kernel
def conditional_loss(log_joint, labels, weights, scale, gradient):
    """Compute `ConditionalLikelihoodLoss`; arguments as in `hybrid_loss`."""
    n_rows, n_classes = log_joint.shape
    value = 0.0
    for m in range(n_rows):
        row = log_joint[m]
        slopes = gradient[m]
        label = labels[m]
        highest = -1e300
        for c in range(n_classes):
            if c != label and row[c] > highest:
                highest = row[c]
        slopes[label] = 0.0
        if n_classes == 1:
            continue
        mass = 0.0
        for c in range(n_classes):
            if c != label:
                power = row[c] - highest
                slopes[c] = exp(power) if power > NEGLIGIBLE else 0.0
                mass += slopes[c]
        # The log odds against the true class keep full precision near certainty.
        against = highest - row[label] + log(mass)
        if against > 0.0:
            wrong = 1.0 / (1.0 + exp(-against))
            cost = against + log1p(exp(-against))
        else:
            odds = exp(against)
            wrong = odds / (1.0 + odds)
            cost = log1p(odds)
        weight = weights[m]
        factor = wrong * weight * scale
        for c in range(n_classes):
            if c != label:
                slopes[c] *= factor / mass
        slopes[label] = -factor
        value += weight * cost
    return value
