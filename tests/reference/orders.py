"""Orders of features by dictionaries of joint values."""

from __future__ import annotations

from collections import defaultdict
from math import log, prod

TIE = 1e-12


def class_counts(codes, labels, weights, features):
    """Weight of every class, for every joint value of some features."""
    counts = defaultdict(lambda: defaultdict(float))
    for m, label in enumerate(labels):
        value = tuple(int(codes[m, j]) for j in features)
        counts[value][int(label)] += 1.0 if weights is None else float(weights[m])
    return counts


def class_entropy(codes, labels, weights, features):
    """H(C | features) in nats."""
    counts = class_counts(codes, labels, weights, features)
    total = sum(n for by_class in counts.values() for n in by_class.values())
    value = 0.0
    for by_class in counts.values():
        here = sum(by_class.values())
        value -= sum(n / total * log(n / here) for n in by_class.values())
    return value


def class_rate(codes, labels, weights, features):
    """Fraction of samples of the most frequent class of their joint value."""
    counts = class_counts(codes, labels, weights, features)
    total = sum(n for by_class in counts.values() for n in by_class.values())
    return sum(max(by_class.values()) for by_class in counts.values()) / total


def smoothed_entropy(columns, n_states, weights, epsilon):
    """H(Y) of a joint variable, values that do not occur filled in with epsilon."""
    counts = defaultdict(float)
    for m, value in enumerate(zip(*columns, strict=True)):
        counts[value] += 1.0 if weights is None else float(weights[m])
    total = sum(counts.values())
    value = -sum(n / total * log(n / total) for n in counts.values())
    return value - (prod(n_states) - len(counts)) * epsilon * log(epsilon)


def feature_order(
    codes, labels, weights, n_classes, order, before=None, epsilon=0.0, n_states=None
):
    """The order by its definition, every candidate from scratch."""
    n_features = codes.shape[1]
    kept = [
        m
        for m, label in enumerate(labels)
        if label < n_classes and (weights is None or weights[m] > 0)
    ]
    codes, labels = codes[kept], labels[kept]
    weights = None if weights is None else weights[kept]

    def unknown(*features):
        if not len(labels):
            return 0.0
        if epsilon:
            columns = [codes[:, j].tolist() for j in features]
            states = [n_states[j] for j in features]
            classes = [*columns, labels.tolist()], [*states, n_classes]
            joint = smoothed_entropy(*classes, weights, epsilon)
            if not features:
                return joint
            return joint - smoothed_entropy(columns, states, weights, epsilon)
        return class_entropy(codes, labels, weights, features)

    def rate(features):
        return class_rate(codes, labels, weights, features) if len(labels) else 0.0

    def waits(j, placed):
        return before is not None and any(
            before[i, j] and i not in placed for i in range(n_features)
        )

    def ready(placed):
        return [
            j for j in range(n_features) if j not in placed and not waits(j, placed)
        ]

    placed = []
    if order in ("omi", "omisp") and n_features > 1:
        placed = first_pair(unknown, ready)
    while len(placed) < n_features:
        candidates = ready(placed)
        if order == "omi":
            values = [-unknown(*placed, j) for j in candidates]
        elif order == "min-omi":
            values = [unknown(*placed, j) for j in candidates]
        elif order == "ocr":
            values = [rate([*placed, j]) for j in candidates]
        else:
            values = [
                max((unknown(z) - unknown(z, j) for z in placed), default=0.0)
                for j in candidates
            ]
        placed.append(candidates[first_best(values)])
    return placed


def first_pair(unknown, ready):
    """The pair that tells most; of the two the one that tells more by itself first."""
    pairs = [(i, j) for i in ready([]) for j in ready([i])]
    unordered = sorted({tuple(sorted(pair)) for pair in pairs})
    i, j = unordered[first_best([-unknown(*pair) for pair in unordered])]
    if (i, j) not in pairs or ((j, i) in pairs and unknown(j) < unknown(i) - TIE):
        return [j, i]
    return [i, j]


def first_best(values):
    """Position of the first value that is as good as the best."""
    return next(k for k, value in enumerate(values) if value >= max(values) - TIE)
