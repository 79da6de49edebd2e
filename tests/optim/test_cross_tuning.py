from __future__ import annotations

import pytest

from tanager.optim import select_iterations


def fold(best, length=10):
    """Errors that are least at the iteration `best`."""
    return [abs(k - best) / length for k in range(length)]


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        ([4], 4),
        ([0, 9, 5], 5),
        ([2, 6], 4),
        ([2, 5], 3),  # 3.5, rounded down
        ([0, 1], 0),
        ([1, 3, 4, 9], 3),
    ],
)
def test_the_median_of_the_best_iterations(best, expected):
    found = select_iterations([fold(k) for k in best])
    assert type(found) is int
    assert found == expected


def test_of_equal_errors_the_first_counts():
    assert select_iterations([[0.2, 0.1, 0.1], [0.3, 0.3, 0.3], [0.5, 0.4, 0.4]]) == 1


def test_folds_may_end_at_different_iterations():
    assert select_iterations([[0.3], [0.3, 0.2, 0.1], [0.3, 0.2]]) == 1
