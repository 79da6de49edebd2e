"""Hill climbing by the definition: every network scored anew, by the formulas."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, lgamma, log

from tests.reference.search import makes_cycle


class PlainFamilies:
    """Scores of networks over all variables, the class last, from rows.

    A missing parent is a state of its own where it occurs; rows in which the child is
    missing are left out of its family. Sums are rounded to 2^-40 of the weight.
    """

    def __init__(self, data, name, sample_size=1.0):
        columns = [*data.codes.T.tolist(), data.labels.tolist()]
        self.rows = list(zip(*columns, strict=True))
        n_rows = len(self.rows)
        self.weights = [1.0] * n_rows if data.weights is None else list(data.weights)
        self.rows = [r for r, w in zip(self.rows, self.weights, strict=True) if w > 0]
        self.weights = [w for w in self.weights if w > 0]
        self.n_states = data.schema.n_states.tolist()
        self.states = [
            range(r + any(row[v] == r for row in self.rows))
            for v, r in enumerate(self.n_states)
        ]
        self.name, self.sample_size = name, sample_size
        self.known = {}

    @property
    def n_variables(self):
        return len(self.n_states)

    def family(self, child, parents):
        key = child, tuple(sorted(parents))
        if key not in self.known:
            self.known[key] = self._family(*key)
        return self.known[key]

    def _family(self, child, parents):
        r = self.n_states[child]
        counts = Counter()
        for row, weight in zip(self.rows, self.weights, strict=True):
            if row[child] < r:
                counts[tuple(row[p] for p in parents), row[child]] += weight
        configurations = list(product(*(self.states[p] for p in parents)))
        q, total = len(configurations), sum(self.weights)
        value = 0.0
        for given in configurations:
            cells = [counts[given, b] for b in range(r)]
            mass = sum(cells)
            if self.name in ("bde", "bdeu", "k2"):
                a = 1.0 if self.name == "k2" else self.sample_size / (q * r)
                value += lgamma(a * r) - lgamma(a * r + mass)
                value += sum(lgamma(a + cell) - lgamma(a) for cell in cells)
            else:
                value += sum(cell * log(cell / mass) for cell in cells if cell > 0)
        if self.name in ("bic", "mdl"):
            value -= 0.5 * log(max(total, 1.0)) * q * (r - 1)
        if self.name == "mdl":
            n = self.n_variables
            value -= log(n) + log(comb(n, len(parents)))
        unit = 1.0
        while unit <= total:
            unit *= 2
        while unit / 2 > total:
            unit /= 2
        unit /= 2**40
        return round(value / unit) * unit

    def value(self, parents):
        return sum(self.family(child, of) for child, of in enumerate(parents))


def changes(parents, most, allowed, required):
    """All networks one change away, in the order in which equal ones are preferred."""
    n = len(parents)
    class_first = [n - 1, *range(n - 1)]
    n_children = [sum(i in of for of in parents) for i in range(n)]
    by_children = sorted(class_first, key=lambda i: -n_children[i])
    for kind, i, j in product(("add", "delete", "reverse"), by_children, class_first):
        after = [set(of) for of in parents]
        if kind == "add":
            if i == j or i in parents[j] or not allowed(i, j):
                continue
            if len(parents[j]) >= most or makes_cycle(parents, i, j):
                continue
            after[j].add(i)
        else:
            if i not in parents[j] or required(i, j):
                continue
            after[j].remove(i)
            if kind == "reverse":
                if not allowed(j, i) or len(parents[i]) >= most:
                    continue
                if makes_cycle(after, j, i):
                    continue
                after[i].add(j)
        yield (kind, i, j), after


def hill_climbing(
    score, start, most=2, allowed=lambda i, j: True, required=lambda i, j: False
):
    """The network and the steps (change, score) of climbing from a start."""
    parents, steps = [set(of) for of in start], []
    value = score.value(parents)
    while True:
        found = None
        for change, after in changes(parents, most, allowed, required):
            new = score.value(after)
            if new > value and (found is None or new > found[0]):
                found = new, change, after
        if found is None:
            return parents, steps
        value, change, parents = found
        steps.append((change, value))
