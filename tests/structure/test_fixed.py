from __future__ import annotations

import numpy as np
import pytest

from tanager import Fixed, InputError
from tests.strategies import random_data


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("f0", "f1"), ("f1", "f0")], "cycle: "),
        ([("f0", "class")], "into the class"),
        ([("f0", "f1"), ("f0", "f1")], "twice"),
        (["f0"], "pairs of names"),
        ([("f0", "f7")], "Unknown variable 'f7'"),
    ],
)
def test_impossible_edges_are_refused(edges, message):
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match=message):
        Fixed(edges=edges).learn(data)


def test_only_the_given_edges_are_there_without_a_root_class():
    data = random_data(np.random.default_rng(0), 20, 3)
    edges = [("f1", "class"), ("f0", "class"), ("class", "f2")]
    learner = Fixed(edges=edges, class_rooted=False)
    structure = learner.learn(data).structure
    assert structure.parents == ((), (), (3,), (1, 0))
    assert structure.target == 3
    assert learner.statistics(data.schema) == (structure.families, False)


@pytest.mark.parametrize(
    ("edges", "class_rooted", "message"),
    [
        ([("f0", "class"), ("class", "f0")], False, "cycle: "),
        ([("class", "f0"), ("class", "f0")], False, "twice"),
        ([], "no", "True or False"),
    ],
)
def test_impossible_edges_of_any_structure_are_refused(edges, class_rooted, message):
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(InputError, match=message):
        Fixed(edges=edges, class_rooted=class_rooted).learn(data)
