from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import TableSizeError
from tanager.inference.triangulation import CliqueTree
from tests.strategies import generators


def random_scopes(random, n, n_scopes):
    return [
        tuple(
            random.choice(n, size=int(random.integers(1, min(4, n + 1))), replace=False)
        )
        for _ in range(n_scopes)
    ] + [(v,) for v in range(n)]


@given(random=generators(), n=st.integers(1, 9), n_scopes=st.integers(0, 10))
def test_scopes_lie_within_cliques_and_cliques_hang_together(random, n, n_scopes):
    scopes = random_scopes(random, n, n_scopes)
    tree = CliqueTree.of([2] * n, scopes)
    cliques = [set(clique) for clique in tree.cliques]
    for scope in scopes:
        home = cliques[tree.home_of(scope, [2] * n)]
        assert set(scope) <= home
        assert len(home) == min(len(c) for c in cliques if set(scope) <= c)
    assert all(
        parent > child or parent == -1 for child, parent in enumerate(tree.parents)
    )
    assert not any(one <= other for one, other in combinations(cliques, 2))
    assert not any(one >= other for one, other in combinations(cliques, 2))
    # Running intersection: of the cliques with a variable, only one is a root of them.
    for v in range(n):
        tops = [
            i
            for i, clique in enumerate(cliques)
            if v in clique
            and (tree.parents[i] < 0 or v not in cliques[tree.parents[i]])
        ]
        assert len(tops) == 1
    for clique, parent, separator in zip(
        cliques, tree.parents, tree.separators, strict=True
    ):
        assert set(separator) == (clique & cliques[parent] if parent >= 0 else set())


def test_a_chain_needs_no_fill_in():
    tree = CliqueTree.of([2, 3, 4, 5], [(0, 1), (1, 2), (2, 3)])
    assert sorted(tree.cliques) == [(0, 1), (1, 2), (2, 3)]


def test_the_fewest_new_joints_go_first_then_the_fewest_cells():
    # A square: whichever goes first joins its neighbours; 0 and 2 have the fewest
    # cells around them, and 0 comes first.
    tree = CliqueTree.of([2, 2, 2, 9], [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert tree.cliques[0] == (0, 1, 2)


def test_a_large_clique_is_refused_by_name():
    with pytest.raises(TableSizeError, match=r"clique \['x0', 'x1', 'x2'\] with 1,000"):
        CliqueTree.of([10, 10, 10], [(0, 1, 2)], max_clique=999, name=lambda v: f"x{v}")


def test_many_cliques_are_refused_together():
    with pytest.raises(TableSizeError, match=r"cliques with a total of 210 cells.*205"):
        CliqueTree.of([10, 10, 10], [(0, 1), (1, 2)], width=1, max_tree=205)


def test_the_width_counts():
    with pytest.raises(TableSizeError, match="1,000 cells"):
        CliqueTree.of([10, 10], [(0, 1)], width=10, max_clique=999)


def test_grids_are_cut_along_their_rows():
    n = 16
    families = [
        [n * i + j, *([n * (i - 1) + j] if i else []), *([n * i + j - 1] if j else [])]
        for i in range(n)
        for j in range(n)
    ]
    tree = CliqueTree.of([2] * n * n, families, max_tree=50_000_000)
    assert max(map(len, tree.cliques)) == n + 1
