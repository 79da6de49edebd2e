"""The layered layout: no overlaps, all arcs point down, the same every time."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.errors import InputError
from tanager.plots.layer_order import count_crossings, reduce_crossings
from tanager.plots.layer_places import fit_places
from tanager.plots.layered_layout import HEIGHT, lay_out_graph

CLOSE = 1e-6


@st.composite
def graphs(draw, max_nodes=25):
    """Widths and heights of nodes, and arcs without cycles in any order."""
    n_nodes = draw(st.integers(0, max_nodes))
    sizes = st.floats(10, 200)
    widths = draw(st.lists(sizes, min_size=n_nodes, max_size=n_nodes))
    heights = draw(
        st.lists(st.sampled_from([HEIGHT, 90.0]), min_size=n_nodes, max_size=n_nodes)
    )
    order = draw(st.permutations(range(n_nodes)))
    pairs = list(combinations(order, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return widths, heights, arcs


def overlaps(layout, widths, heights):
    found = []
    for a, b in combinations(range(len(widths)), 2):
        across = (widths[a] + widths[b]) / 2 - abs(layout.x[a] - layout.x[b])
        down = (heights[a] + heights[b]) / 2 - abs(layout.y[a] - layout.y[b])
        if across > CLOSE and down > CLOSE:
            found.append((a, b))
    return found


@given(graphs())
@settings(deadline=None)
def test_properties(graph):
    widths, heights, arcs = graph
    layout = lay_out_graph(widths, arcs, heights=heights)
    assert overlaps(layout, widths, heights) == []
    tops, bottoms = layout.y - np.array(heights) / 2, layout.y + np.array(heights) / 2
    for (parent, child), route in zip(arcs, layout.routes, strict=True):
        assert bottoms[parent] < tops[child]
        assert route[0] == pytest.approx((layout.x[parent], bottoms[parent]))
        assert route[-1] == pytest.approx((layout.x[child], tops[child]))
        downs = [y for _, y in route]
        assert downs == sorted(downs)
    if widths:
        halves = np.array(widths) / 2
        assert (layout.x - halves >= -CLOSE).all()
        assert (layout.x + halves <= layout.width + CLOSE).all()
        assert (tops >= -CLOSE).all()
        assert (bottoms <= layout.height + CLOSE).all()
    again = lay_out_graph(widths, arcs, heights=heights)
    np.testing.assert_array_equal(layout.x, again.x)
    assert layout.routes == again.routes


@given(graphs(max_nodes=12))
@settings(deadline=None)
def test_bends_are_beside_the_nodes_that_arcs_pass(graph):
    widths, heights, arcs = graph
    layout = lay_out_graph(widths, arcs, heights=heights)
    for arc, route in zip(arcs, layout.routes, strict=True):
        for (x, y), (other_x, other_y) in pairwise(route):
            if x != other_x:
                continue  # between two layers
            for node in set(range(len(widths))) - set(arc):
                half = widths[node] / 2
                down = heights[node] / 2
                inside = abs(layout.x[node] - x) < half - CLOSE
                passed = y < layout.y[node] + down and other_y > layout.y[node] - down
                assert not (inside and passed)


@pytest.mark.parametrize("n_nodes", [3, 12, 60, 300])
def test_trees_have_no_crossings_and_a_usable_shape(n_nodes):
    random = np.random.default_rng(n_nodes)
    arcs = [(int(random.integers(max(0, k - 20), k)), k) for k in range(1, n_nodes)]
    widths = random.uniform(40, 120, n_nodes).tolist()
    layout = lay_out_graph(widths, arcs)
    assert overlaps(layout, widths, [HEIGHT] * n_nodes) == []
    assert layout.width < 1000 + 12 * n_nodes


def test_a_star_is_not_one_long_row():
    layout = lay_out_graph([80.0] * 200, [(0, k) for k in range(1, 200)])
    assert layout.width < 4000
    assert len(set(layout.y.tolist())) > 5


def test_parts_without_arcs_are_a_grid():
    layout = lay_out_graph([50.0] * 100, [])
    assert 5 <= len(set(layout.y.tolist())) <= 12
    assert layout.routes == ()


def test_nothing():
    layout = lay_out_graph([], [])
    assert (layout.width, layout.height, layout.routes) == (0.0, 0.0, ())


def test_a_cycle_is_refused():
    with pytest.raises(InputError, match="form a cycle"):
        lay_out_graph([10.0] * 3, [(0, 1), (1, 2), (2, 0)])


def slow_crossings(layers, below):
    total = 0
    for upper, lower in pairwise(layers):
        arcs = [
            (upper.index(u), lower.index(v)) for u in upper for v in below.get(u, [])
        ]
        total += sum(
            (a < c and b > d) or (a > c and b < d)
            for (a, b), (c, d) in combinations(arcs, 2)
        )
    return total


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), unique=True))
def test_crossings_by_definition(arcs):
    above, below = {}, {}
    for parent, child in arcs:
        below.setdefault(parent, []).append(child)
        above.setdefault(child, []).append(parent)
    layers = [list(range(5)), list(range(5, 10))]
    before = slow_crossings(layers, below)
    assert count_crossings(layers, below) == before
    found = reduce_crossings(layers, above, below)
    assert [sorted(layer) for layer in found] == layers
    after = slow_crossings(found, below)
    assert after <= before
    fewest = min(
        slow_crossings([layers[0], list(order)], below)
        for order in permutations(layers[1])
    )
    # Barycentres are not always best, but far from the worst.
    assert after <= fewest + max(4, before // 2)


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=6),
    st.floats(1, 30),
    st.integers(0, 1000),
)
def test_places_are_apart_and_near(wanted, distance, seed):
    random = np.random.default_rng(seed)
    weights = random.uniform(0.5, 4, len(wanted))
    apart = [distance] * (len(wanted) - 1)
    places = np.array(fit_places(wanted, weights, apart))
    assert (np.diff(places) >= distance - 1e-9).all()

    def cost(x):
        return float(np.dot(weights, np.square(x - np.array(wanted))))

    # No small feasible move is better: the problem is convex.
    for _ in range(30):
        other = places + random.normal(size=len(wanted))
        other = np.maximum.accumulate(other - distance * np.arange(len(other)))
        other = other + distance * np.arange(len(other))
        assert cost(places) <= cost(other) + 1e-6
