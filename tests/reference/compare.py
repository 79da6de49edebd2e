"""Comparisons of methods by their formulas, in plain loops."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from scipy.integrate import quad


def mean(values):
    return math.fsum(values) / len(values)


def variance(values):
    centre = mean(values)
    return math.fsum((v - centre) ** 2 for v in values) / (len(values) - 1)


def student_tail(t, degrees):
    """Probability beyond t, by integrating the density."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    within, _ = quad(
        lambda x: scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2),
        0,
        abs(t),
        epsabs=1e-13,
        epsrel=1e-12,
    )
    return 0.5 - within


def corrected_t(differences, test_share):
    n = len(differences)
    return mean(differences) / math.sqrt((1 / n + test_share) * variance(differences))


def ranks(values, higher_is_better=True):
    """One more than the number of better ones, and half for every other equal one."""
    sign = 1 if higher_is_better else -1
    return [
        1
        + sum(sign * other > sign * own for other in values)
        + (sum(other == own for other in values) - 1) / 2
        for own in values
    ]


def friedman(table, higher_is_better=True):
    """Average ranks, chi-squared and F as printed, in fractions; F may be infinite."""
    n, k = len(table), len(table[0])
    rows = [ranks(row, higher_is_better) for row in table]
    average = [sum(Fraction(row[j]) for row in rows) / n for j in range(k)]
    squares = sum(rank**2 for rank in average)
    chi2 = Fraction(12 * n, k * (k + 1)) * (squares - Fraction(k * (k + 1) ** 2, 4))
    rest = n * (k - 1) - chi2
    f = float((n - 1) * chi2 / rest) if rest else math.inf
    return [float(rank) for rank in average], float(chi2), f


def signed_ranks(differences):
    """Sums of ranks above and below zero; zeros give half to both."""
    kept = list(differences)
    if kept.count(0) % 2:
        kept.remove(0)
    sizes = ranks([abs(d) for d in kept], higher_is_better=False)
    above = below = 0.0
    for d, rank in zip(kept, sizes, strict=True):
        above += rank if d > 0 else rank / 2 if d == 0 else 0.0
        below += rank if d < 0 else rank / 2 if d == 0 else 0.0
    return above, below


def wilcoxon_p(differences):
    """Two-sided p over all ways to choose signs."""
    kept = list(differences)
    if kept.count(0) % 2:
        kept.remove(0)
    own = abs(signed_ranks(kept)[0] - signed_ranks(kept)[1])
    places = [k for k, d in enumerate(kept) if d != 0]
    hits = total = 0
    for signs in product((-1, 1), repeat=len(places)):
        other = list(kept)
        for k, sign in zip(places, signs, strict=True):
            other[k] = sign * abs(kept[k])
        above, below = signed_ranks(other)
        hits += abs(above - below) >= own - 1e-9
        total += 1
    return hits / total


def holm(p_values):
    """Step down through the sorted tests."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for step, k in enumerate(order):
        largest = max(largest, (len(p_values) - step) * p_values[k])
        adjusted[k] = min(1.0, largest)
    return adjusted


def groups(order, differ):
    """All runs in an order without a pair that differs, less those within another."""
    runs = [
        tuple(order[a:b])
        for a in range(len(order))
        for b in range(a + 2, len(order) + 1)
        if not any(differ(x, y) for x in order[a:b] for y in order[a:b])
    ]
    return tuple(
        run for run in runs if not any(set(run) < set(other) for other in runs)
    )


def bayesian_draw(differences, rope, weights):
    """The three probabilities for given weights, the first that of the prior."""
    points = [0.0, *differences]
    total = sum(weights)
    first = same = second = 0.0
    for z, w in zip(points, weights, strict=True):
        for other, v in zip(points, weights, strict=True):
            share = w * v / total**2
            if z + other > 2 * rope + 1e-12:
                first += share
            elif z + other < -2 * rope - 1e-12:
                second += share
            else:
                same += share
    return first, same, second
