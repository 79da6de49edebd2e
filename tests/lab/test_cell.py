import pickle

import pytest

from lab.runner.cell import Cell, canonical, digest


def test_the_order_of_parameters_does_not_matter():
    one = Cell("m", {"a": 1, "b": [1, 2]})
    other = Cell("m", {"b": [1, 2], "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Cell("m", {"a": 1, "b": [2, 1]})
    assert one != Cell("n", {"a": 1, "b": [1, 2]})


def test_a_cell_cannot_be_changed_and_can_be_sent():
    given = {"data": "iris"}
    cell = Cell("m", given)
    given["data"] = "glass"
    assert cell.data == ("iris",)
    with pytest.raises(TypeError):
        cell.parameters["data"] = "glass"  # type: ignore[index]
    again = pickle.loads(pickle.dumps(cell))
    assert again == cell
    assert again.data == ("iris",)


def test_several_sets_or_none():
    assert Cell("m", {"data": ["a", "b"]}).data == ("a", "b")
    assert Cell("m", {"n": 3}).data == ()


def test_there_is_one_text_for_a_value():
    assert canonical({"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'
    assert digest([1]) != digest(["1"])
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))
