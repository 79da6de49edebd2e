"""Structures and moves for tests of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tanager.scores import Moves


def grown(random, n_features, k):
    """An order of the features, and parents of each from those before it."""
    order = random.permutation(n_features).tolist()
    parents = [()] * n_features
    for place, child in enumerate(order):
        size = int(random.integers(0, min(place, k) + 1))
        parents[child] = tuple(random.permutation(order[:place])[:size].tolist())
    return order, parents


def growing_moves(random, order, parents, k, n_moves=12):
    """Moves that give a feature more parents from before it; some may be equal."""
    found = []
    for _ in range(n_moves):
        place = int(random.integers(len(order)))
        child = order[place]
        free = [p for p in order[:place] if p not in parents[child]]
        room = min(k - len(parents[child]), len(free))
        if room > 0:
            new = random.permutation(free)[: random.integers(1, room + 1)]
            found.append((child, (*new.tolist(), *parents[child])))
    return Moves.of(found)


def made(parents, moves):
    """The parents after moves."""
    after = list(parents)
    for child, of in moves:
        after[child] = of
    return after


def with_jobs(data, n_jobs):
    return replace(data, n_jobs=n_jobs)


def groups_of(random, moves, n_groups=6):
    """Groups of moves, each of another child."""
    groups = []
    for _ in range(n_groups):
        seen, group = set(), []
        for t in random.permutation(len(moves)).tolist():
            if moves[t][0] not in seen and (not group or random.random() < 0.6):
                seen.add(moves[t][0])
                group.append(t)
        groups.append(group)
    return groups


def balanced(log_joint, labels, weights):
    """Mean over the classes of the weight of rows right."""
    right = weights * (np.argmax(log_joint, axis=1) == labels)
    return np.mean([right[labels == c].sum() for c in np.unique(labels)])
