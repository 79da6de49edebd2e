"""Dependency analysis by its definition: enumerated tests, sets of edges, plain loops.

Nothing of the library's analysis is used. Variables are numbered, the class last.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from math import log

from scipy.stats import chi2


class CountingTest:
    """Tests on rows given as tuples of codes; a code of the number of states is a gap.

    Called with a pair and a set, returns (independent, strength), or None.
    """

    def __init__(
        self, rows, weights, n_states, kind, limit, rows_per_cell=5, corrected=True
    ):
        self.rows, self.weights, self.n_states = rows, weights, n_states
        self.kind, self.limit, self.rows_per_cell = kind, limit, rows_per_cell
        self.corrected = corrected

    def __call__(self, i, j, given):
        cells = 1
        for v in (i, j, *given):
            cells *= self.n_states[v]
        if given and cells * self.rows_per_cell > max(sum(self.weights), 1):
            return None
        counts = defaultdict(float)
        for row, weight in zip(self.rows, self.weights, strict=True):
            if all(row[v] < self.n_states[v] for v in (i, j, *given)):
                counts[tuple(row[v] for v in given), row[i], row[j]] += weight
        whole, left, right = (defaultdict(float) for _ in range(3))
        for (z, a, b), count in counts.items():
            whole[z] += count
            left[z, a] += count
            right[z, b] += count
        total = sum(whole.values())
        information, degrees = 0.0, 0
        for (z, a, b), count in counts.items():
            if count > 0:
                ratio = count * whole[z] / (left[z, a] * right[z, b])
                information += count / total * log(ratio)
        for z, count in whole.items():
            if count > 0:
                seen = [
                    sum(1 for (y, _), c in side.items() if y == z and c > 0)
                    for side in (left, right)
                ]
                degrees += (seen[0] - 1) * (seen[1] - 1)
        information = round(max(information, 0.0), 12)
        chance = degrees / (2 * total) if total and self.corrected else 0.0
        strength = round(information - chance, 12)
        if self.kind == "mi":
            return strength < self.limit, strength
        p_value = chi2.sf(2 * total * information, degrees) if degrees else 1.0
        return p_value > self.limit, strength


class Separation:
    """d-separation in a known graph, as a test without any error."""

    def __init__(self, parents):
        self.parents = parents

    def __call__(self, i, j, given):
        apart = d_separated(self.parents, i, j, set(given))
        return apart, 0.0 if apart else 1.0


def d_separated(parents, i, j, given):
    """By the definition: every path between the two is blocked."""
    n = len(parents)
    joined = [
        {v for v in range(n) if v in parents[u] or u in parents[v]} for u in range(n)
    ]
    below = [{v} for v in range(n)]
    for _ in range(n):
        for child in range(n):
            for parent in parents[child]:
                below[parent] |= below[child]

    def is_open(path):
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            collides = a in parents[b] and c in parents[b]
            if collides and not below[b] & given:
                return False
            if not collides and b in given:
                return False
        return True

    def paths(path):
        if path[-1] == j:
            yield path
            return
        for v in joined[path[-1]]:
            if v not in path:
                yield from paths([*path, v])

    return not any(is_open(path) for path in paths([i]))


def on_paths(edges, end, other):
    """Neighbours of `end` from which some path leads to `other` not through `end`."""

    def leads(start, seen):
        if start == other:
            return True
        nearby = {v for edge in edges if start in edge for v in edge} - seen - {end}
        return any(leads(v, seen | nearby) for v in nearby)

    around = {v for edge in edges if end in edge for v in edge} - {end, other}
    return sorted(v for v in around if leads(v, {v}))


def greedy(test, edges, i, j, most):
    """The cut set of the second and third phase, or None."""
    edges = edges - {(i, j)}
    sides = sorted((on_paths(edges, i, j), on_paths(edges, j, i)), key=len)
    for side in sides:
        found = shrink(test, i, j, side, most)
        if found is None:
            found = grow(test, i, j, side, most)
        if found is not None:
            return minimal(test, i, j, found)
    return None


def best_of(test, i, j, sets):
    tried = [(*answer, s) for s in sets if (answer := test(i, j, s)) is not None]
    tried = [(not independent, strength, s) for independent, strength, s in tried]
    best = None
    for entry in tried:
        if best is None or entry[:2] < best[:2]:
            best = entry
    return best


def less_one(members):
    return [[v for v in members if v != out] for out in members]


def shrink(test, i, j, side, most):
    if len(side) > most or test(i, j, side) is None:
        return None
    members, (independent, strength) = side, test(i, j, side)
    while not independent:
        best = best_of(test, i, j, less_one(members))
        if best is None or best[1] > strength:
            return None
        independent, strength, members = not best[0], best[1], best[2]
    return members


def grow(test, i, j, side, most):
    members, (independent, strength) = [], test(i, j, [])
    while not independent:
        if len(members) == most:
            return None
        more = [sorted([*members, v]) for v in side if v not in members]
        best = best_of(test, i, j, more)
        if best is None or best[1] >= strength:
            return None
        independent, strength, members = not best[0], best[1], best[2]
    return members


def minimal(test, i, j, members):
    while members:
        best = best_of(test, i, j, less_one(members))
        if best is None or best[0]:
            break
        members = best[2]
    return members


def thorough(test, edges, i, j, most):
    """The first of the smallest cut sets, all subsets of either side tried."""
    edges = edges - {(i, j)}
    sides = sorted((on_paths(edges, i, j), on_paths(edges, j, i)), key=len)
    for size in range(most + 1):
        for side in sides:
            for members in combinations(side, size):
                answer = test(i, j, members)
                if answer is not None and answer[0]:
                    return minimal(test, i, j, list(members))
    return None


def skeleton(n, test, most):
    """Edges and cut sets by draft, thickening and thinning."""
    pairs = list(combinations(range(n), 2))
    strength = {pair: test(*pair, ())[1] for pair in pairs}
    falling = sorted(pairs, key=lambda pair: (-strength[pair], pair))
    cuts = {pair: set() for pair in pairs if test(*pair, ())[0]}
    edges, waiting = set(), []
    for i, j in falling:
        if (i, j) in cuts:
            continue
        around = {v for edge in edges if i in edge for v in edge} - {i}
        if j in around or on_paths(edges | {(i, j)}, j, i) or _joined(edges, i, j):
            waiting.append((i, j))
        else:
            edges.add((i, j))
    for pair in waiting:
        found = greedy(test, edges, *pair, most)
        if found is None:
            edges.add(pair)
        else:
            cuts[pair] = set(found)
    for find in (greedy, thorough):
        for pair in [pair for pair in reversed(falling) if pair in edges]:
            if not any(on_paths(edges, *ends) for ends in (pair, pair[::-1])):
                continue
            found = find(test, edges, *pair, most)
            if found is not None:
                edges.remove(pair)
                cuts[pair] = set(found)
    return edges, cuts


def _joined(edges, i, j):
    reached, grown = {i}, True
    while grown:
        fresh = {v for edge in edges if reached & set(edge) for v in edge} - reached
        reached |= fresh
        grown = bool(fresh)
    return j in reached


def is_collider(parents, x, y, z):
    return x in parents[y] and z in parents[y]


def colliders(parents):
    """All x -> y <- z with x < z not joined."""
    n = len(parents)
    return {
        (x, y, z)
        for y, x, z in product(range(n), repeat=3)
        if x < z
        and is_collider(parents, x, y, z)
        and x not in parents[z]
        and z not in parents[x]
    }
