"""Orders of pixels and nearest pixels as Roth, Pernkopf (2020) tell them."""

from __future__ import annotations

from math import sqrt


def rows(side):
    """Section 4.4, A: row-wise from top to bottom, left to right."""
    return [(r, c) for r in range(side) for c in range(side)]


def diagonal(side):
    """Section 4.4, B: the lower triangle row-wise, each with its transposed pixel."""
    order = []
    for r in range(side):
        for c in range(r + 1):
            order.append((r, c))
            if r != c:
                order.append((c, r))
    return order


def centre(side):
    """Section 4.4, C: regions of H x H, each with what is added around it."""
    size = side % 2
    first = (side - size) // 2  # row and column where the region begins
    order = [(first, first)] if size else []
    while size < side:
        inside = range(first, first + size)
        low, high = first - 1, first + size
        order += [(low, c) for c in inside]
        order += [(high, c) for c in inside]
        order += [(r, low) for r in inside]
        order += [(r, high) for r in inside]
        order += [(low, low), (low, high), (high, low), (high, high)]
        size, first = size + 2, low
    return order


def nearest_earlier(order, place, n_nearest):
    """The nearest pixels before one, the earliest of those that are equally near."""
    r, c = order[place]
    distances = [
        (sqrt((r - a) ** 2 + (c - b) ** 2), i) for i, (a, b) in enumerate(order[:place])
    ]
    return [order[i] for _, i in sorted(distances)[:n_nearest]]
