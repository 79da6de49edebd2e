"""Curves as text: heights, names, axis and characters."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import BayesNetClassifier, InputError, datasets
from tanager.plots.text_curve import BRAILLE, curve_text


def rows_of(text, bar):
    return [line.partition(bar)[2] for line in text.split("\n") if bar in line]


def test_steps_have_the_right_heights():
    """Each bin of a fine curve is in the row that its height rounds to."""
    cuts = np.arange(1.0, 20.0) ** 1.1
    values = np.sin(np.arange(20) / 3)[:, None]
    text = curve_text(cuts, values, ["a"], width=120, height=9, ascii=True)
    rows = rows_of(text, "|")
    n_columns = max(len(row.removesuffix(" a")) for row in rows)
    low, high = values.min(), values.max()
    span = cuts[-1] - cuts[0]
    for column in range(n_columns):
        x = cuts[0] - 0.06 * span + (column + 0.5) / n_columns * 1.12 * span
        y = values[np.searchsorted(cuts, x), 0]
        row = round((high - y) / (high - low) * 8)
        assert rows[row][column] == "a"


def test_names_are_at_the_ends_without_sharing_a_row():
    values = np.array([[0, 0, 0, 1], [5, 5, 5, -5]])
    text = curve_text([1.0], values, ["one", "two", "three", "four"], height=6)
    ends = [row.split()[-1] for row in rows_of(text, "│") if row.split()]
    assert [end for end in ends if end.isalpha()] == ["one", "two", "three", "four"]


def test_braille_and_paint():
    painted = []
    text = curve_text(
        [1, 2], [[0], [1], [0]], ["a"], paint=lambda t, k: painted.append(k) or f"<{t}>"
    )
    assert set(painted) == {0}
    assert all(
        c in "<>" or ord(c) < 128 or ord(c) > BRAILLE or c in "│└─┄"
        for c in text
        if c != "\n"
    )
    assert "<a>" in text


def test_equal_first_letters_become_numbers():
    text = curve_text([1.0], [[0, 2], [1, 1]], ["ab", "ac"], ascii=True)
    assert "aa" not in text
    assert "11" in text
    assert "22" in text


@pytest.mark.parametrize("values", [[[0.0], [0.0]], [[3.0], [3.0]], [[-1.0], [-1.0]]])
def test_flat_lines(values):
    assert curve_text([5.0], values, ["a"], ascii=True).count("a") > 10


def test_shapes_are_checked():
    with pytest.raises(InputError, match="shape"):
        curve_text([1.0], [[0.0]], ["a"])
    with pytest.raises(InputError, match="cut points"):
        curve_text([], [[0.0]], ["a"])


def test_effects_as_text():
    iris = datasets.load("iris")
    model = BayesNetClassifier(random_state=0).fit(iris.X, iris.y)
    name = model.feature_names_in_[2]
    text = model.effect(name).to_text(width=70)
    assert text.startswith(f"{name}: log weight\n")
    assert max(map(len, text.split("\n"))) <= 70
    sky = BayesNetClassifier.from_name("NB+FE").fit({"sky": ["a", "b"] * 9}, [0, 1] * 9)
    assert sky.effect("sky").to_text() == repr(sky.effect("sky"))
