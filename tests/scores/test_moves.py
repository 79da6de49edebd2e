from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanager.scores import Moves

pairs = st.lists(
    st.tuples(
        st.integers(0, 4), st.lists(st.integers(0, 6), max_size=3, unique=True)
    ),
    max_size=12,
)  # fmt: skip


@given(pairs=pairs)
def test_moves_are_given_back_as_they_were_put_in(pairs):
    moves = Moves.of(pairs)
    assert len(moves) == len(pairs)
    assert [moves[t] for t in range(len(moves))] == [
        (child, tuple(parents)) for child, parents in pairs
    ]
    assert moves.sizes.tolist() == [len(parents) for _, parents in pairs]


@given(pairs=pairs)
def test_groups_hold_every_move_once_in_order(pairs):
    moves = Moves.of(pairs)
    groups = list(moves.groups())
    seen = [t for _, numbers in groups for t in numbers.tolist()]
    assert sorted(seen) == list(range(len(pairs)))
    kinds = set()
    for child, numbers in groups:
        assert (np.diff(numbers) > 0).all()
        assert set(moves.children[numbers].tolist()) == {child}
        (size,) = set(moves.sizes[numbers].tolist())
        kinds.add((child, size))
    assert len(kinds) == len(groups)
