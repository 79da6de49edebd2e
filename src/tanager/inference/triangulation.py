"""`CliqueTree`: a triangulated graph as a tree of its cliques."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import prod

from tanager.errors import TableSizeError, listed
from tanager.inference.k_tree import invert

MAX_CLIQUE_CELLS = 20_000_000
"""Cells allowed over one clique (320 MB with their logarithms)."""

MAX_TREE_CELLS = 20_000_000
"""Cells allowed over all cliques together, likewise."""


@dataclass(frozen=True)
class CliqueTree:
    """Trees of cliques in which the cliques with a given variable are connected.

    `cliques` are variables in rising order, children before their parent; `parents` the
    index of every clique's parent, -1 for a root.

    Variables are eliminated one by one, always the one that adds the fewest edges
    (min-fill) [1]_; ties go to the smallest clique, then to the lowest index. Where a
    clique becomes too large, two other orders are tried: by the fewest cells, and by
    index, which is better on grids. A clique within another is merged into it.

    References
    ----------
    .. [1] Koller, Friedman (2009), Probabilistic graphical models.

    Examples
    --------
    A square is cut into two triangles:

    >>> CliqueTree.of((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (3, 0)])
    CliqueTree(cliques=((0, 1, 3), (1, 2, 3)), parents=(1, -1))
    """

    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    @classmethod
    def of(
        cls,
        n_states: Sequence[int],
        scopes: Iterable[Iterable[int]],
        *,
        width: int = 1,
        name: Callable[[int], object] = lambda v: v,
        max_clique: int = MAX_CLIQUE_CELLS,
        max_tree: int = MAX_TREE_CELLS,
    ) -> CliqueTree:
        """Triangulate the graph in which the members of every scope are joined.

        Raises `TableSizeError`, before anything is allocated, if a clique would have
        more than `max_clique` cells or all of them more than `max_tree`, with `width`
        cells per configuration; `name` names a variable in the message.
        """
        members = [set(scope) for scope in scopes]

        def find_cliques(cost: Cost) -> tuple[int, list[tuple[int, frozenset[int]]]]:
            """Cells of all cliques, and the variables with their cliques."""
            steps = []
            total = 0
            for v, clique in elimination_steps(n_states, members, cost):
                cells = width * prod(n_states[u] for u in clique)
                total += cells
                if cells > max_clique:
                    names = listed([name(u) for u in sorted(clique)])
                    raise _size_error(f"the clique [{names}] with", cells, max_clique)
                if total > max_tree:
                    raise _size_error("cliques with a total of", total, max_tree)
                steps.append((v, clique))
            return total, steps

        try:
            return cls(*_join(find_cliques(COSTS[0])[1]))
        except TableSizeError:
            found = []
            for cost in COSTS[1:]:
                with suppress(TableSizeError):
                    found.append(find_cliques(cost))
            if not found:
                raise
            return cls(*_join(min(found, key=lambda one: one[0])[1]))

    @cached_property
    def separators(self) -> tuple[tuple[int, ...], ...]:
        """Variables that every clique shares with its parent, in rising order."""
        return tuple(
            tuple(v for v in clique if parent >= 0 and v in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of every clique, in rising order."""
        above = [() if parent < 0 else (parent,) for parent in self.parents]
        return tuple(map(tuple, invert(above, len(above))))

    def home_of(self, scope: Iterable[int], n_states: Sequence[int]) -> int:
        """The smallest clique with all of `scope`; of equal ones the first."""
        members = set(scope)
        return min(
            (i for i, clique in enumerate(self.cliques) if members <= set(clique)),
            key=lambda i: prod(n_states[v] for v in self.cliques[i]),
        )


Graph = dict[int, set[int]]
"""Neighbours of every variable."""

Cost = Callable[[int, Graph, Sequence[int]], tuple[int, ...]]


def _cells(v: int, graph: Graph, n_states: Sequence[int]) -> tuple[int, int]:
    return prod(n_states[u] for u in graph[v]) * n_states[v], v


def _fill_in(v: int, graph: Graph, n_states: Sequence[int]) -> tuple[int, int, int]:
    around = graph[v]
    joined = sum(len(around & graph[u]) for u in around) // 2
    missing = len(around) * (len(around) - 1) // 2 - joined
    return missing, *_cells(v, graph, n_states)


COSTS: tuple[Cost, ...] = (_fill_in, _cells, lambda v, *_: (v,))
"""Criteria for the next variable to eliminate; the first is usually best."""


def elimination_steps(
    n_states: Sequence[int],
    scopes: Iterable[Iterable[int]],
    cost: Cost,
    keep: Collection[int] = (),
) -> Iterator[tuple[int, frozenset[int]]]:
    """Variables in the order of their elimination, each with the clique it forms.

    The variables of every one of `scopes` are connected; the variable of least `cost`,
    one of `COSTS`, is next; the variables `keep` are never eliminated.
    """
    neighbours: Graph = {}
    for scope in scopes:
        members = set(scope)
        for v in members:
            neighbours.setdefault(v, set()).update(members - {v})
    costs = {v: cost(v, neighbours, n_states) for v in neighbours if v not in keep}
    while costs:
        v = min(costs, key=costs.__getitem__)
        around = neighbours.pop(v)
        del costs[v]
        yield v, frozenset({v, *around})
        changed = set(around)
        for u in around:
            neighbours[u].discard(v)
            new = around - neighbours[u] - {u}
            if new:
                neighbours[u] |= new
                # A new edge changes the cost of all neighbours of both ends.
                changed |= neighbours[u]
        for u in changed.difference(keep):
            costs[u] = cost(u, neighbours, n_states)


def _size_error(what: str, cells: int, limit: int) -> TableSizeError:
    return TableSizeError(
        f"Exact inference would need {what} {cells:,} cells, more than the {limit:,} "
        "allowed. Use a structure with fewer parents, or variables with fewer states "
        "(a coarser encoder)."
    )


def _join(
    found: list[tuple[int, frozenset[int]]],
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Maximal cliques, children before parents, and their parents."""
    rank = {v: place for place, (v, _) in enumerate(found)}
    size = [len(clique) for _, clique in found]
    # The clique of v lies within that of w, its next neighbour, once v is gone.
    following = [
        min((rank[u] for u in clique if u != v), default=-1) for v, clique in found
    ]
    home = list(range(len(found)))
    for place, after in enumerate(following):
        if after >= 0 and home[after] == after and size[place] == size[after] + 1:
            home[after] = home[place]
    # A merged clique stands where its last variable is eliminated: after its children.
    last = {home[place]: place for place in range(len(found))}
    order = sorted(last, key=last.__getitem__)
    number = {h: new for new, h in enumerate(order)}
    parents = tuple(
        number[home[following[last[h]]]] if following[last[h]] >= 0 else -1
        for h in order
    )
    return tuple(tuple(sorted(found[h][1])) for h in order), parents
