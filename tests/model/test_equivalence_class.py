from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import InputError
from tanager.model import Pattern, structural_hamming_distance
from tanager.model.structure import find_cycle
from tests.reference.constraint_based import colliders


def equivalent(parents):
    """All graphs with the same edges and colliders, by trying all directions."""
    edges = [(p, c) for c, of in enumerate(parents) for p in of]
    for turned in product((False, True), repeat=len(edges)):
        other = [set() for _ in parents]
        for (p, c), turn in zip(edges, turned, strict=True):
            other[p if turn else c].add(c if turn else p)
        if not find_cycle(other) and colliders(other) == colliders(parents):
            yield other


def arcs_of(parents):
    return [(p, c) for c, of in enumerate(parents) for p in of]


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5))
def test_a_pattern_is_what_all_equivalent_graphs_share(seed, n):
    random = np.random.default_rng(seed)
    order = random.permutation(n).tolist()
    parents = [
        {u for u in order[: order.index(v)] if random.random() < 0.6} for v in range(n)
    ]
    shared = np.ones((n, n), dtype=bool)
    ever = np.zeros((n, n), dtype=bool)
    for other in equivalent(parents):
        matrix = np.zeros((n, n), dtype=bool)
        for p, c in arcs_of(other):
            matrix[p, c] = True
        shared &= matrix
        ever |= matrix
        same = Pattern.of_arcs(n, arcs_of(other))
        assert (
            structural_hamming_distance(same, Pattern.of_arcs(n, arcs_of(parents))) == 0
        )
    pattern = Pattern.of_arcs(n, arcs_of(parents))
    assert np.array_equal(pattern.arcs, shared)
    assert np.array_equal(pattern.open, ever & ever.T)
    assert np.array_equal(pattern.skeleton, ever | ever.T)


def test_every_kind_of_difference_counts_one():
    truth = Pattern.of_arcs(4, [(0, 1), (2, 1), (1, 3)])
    none = Pattern.of_arcs(4, [])
    chain = Pattern.of_arcs(4, [(0, 1), (1, 2), (1, 3)])
    more = Pattern.of_arcs(4, [(0, 1), (2, 1), (1, 3), (0, 3)])
    assert structural_hamming_distance(truth, none) == 3
    assert structural_hamming_distance(truth, chain) == 3  # all three lose direction
    assert structural_hamming_distance(truth, more) == 1
    assert structural_hamming_distance(more, truth) == structural_hamming_distance(
        truth, more
    )


def test_patterns_of_other_nodes_are_refused():
    with pytest.raises(InputError, match="got one of 3 and one of 2 nodes"):
        structural_hamming_distance(Pattern.of_arcs(3, []), Pattern.of_arcs(2, []))
