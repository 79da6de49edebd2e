"""`Constraints` as a value, its compiled form and the arguments of learners."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone

import tanager
from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    ChowLiu,
    Constraints,
    InputError,
    Schema,
    Variable,
    structure,
)
from tanager.registry import part_classes

SCHEMA = Schema(tuple(Variable(n, (0, 1)) for n in ("a", "b", "c", "class")), target=3)
KNOWN = Constraints(
    required=[["a", "b"]], forbidden=(("b", "c"), ("c", "b")), tiers=[["a"], ["b"]]
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"required": [("a", "x")]}, "Unknown variable 'x'"),
        ({"required": ["ab"]}, "pairs of names"),
        ({"required": [("a", "a")]}, "to itself"),
        ({"required": [("a", "b"), ("b", "a")]}, "cycle: "),
        ({"required": [("a", "class")]}, "class has no parents"),
        ({"forbidden": [("class", "a")]}, "leave the feature out"),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "also forbidden",
        ),
        (
            {"required": [("b", "a")], "tiers": [["a"], ["b"]]},
            "tiers rule it out",
        ),
        (
            {"required": [("a", "c"), ("b", "c")]},
            "allows 1 feature parent",
        ),
        ({"tiers": [["a"], ["a"]]}, "two tiers"),
        ({"tiers": ["abc"]}, "lists of names"),
        ({"tiers": {("a",), ("b",)}}, "tiers has an order"),
        ({"required": [{"a", "b"}]}, "pairs of names"),
        ({"required": np.zeros((1, 2))}, "pairs of names"),
        ({"required": "ab"}, "must be a sequence of"),
        ({"forbidden": 3}, "must be a sequence of"),
    ],
)
def test_impossible_constraints_fail_at_once(arguments, message):
    with pytest.raises(InputError, match=message):
        Constraints(**arguments).compile(SCHEMA, max_parents=1)


def test_harmless_mentions_of_the_class_are_granted():
    known = Constraints(
        required=[("class", "a")],
        forbidden=[("a", "class")],
        tiers=[["class"], ["a", "b", "c"]],
    ).compile(SCHEMA)
    assert known.is_free


def test_lists_and_tuples_make_equal_values():
    same = Constraints((("a", "b"),), [("b", "c"), ["c", "b"]], (("a",), ("b",)))
    assert same == KNOWN
    assert hash(same) == hash(KNOWN)


def test_any_iterables_of_names_make_equal_values():
    forbidden = [("b", "c"), ("c", "b")]
    same = Constraints(
        (pair for pair in np.array([["a", "b"]])),
        set(map(tuple, reversed(forbidden))),
        iter([frozenset("a"), {"b": 1}.keys()]),
    )
    assert same == KNOWN
    assert repr(same) == repr(KNOWN)  # plain strings, not those of NumPy
    assert Constraints(forbidden=np.array(forbidden)).forbidden == tuple(forbidden)
    assert Constraints(tiers=[{"c", "a", "b"}]).tiers == (("a", "b", "c"),)
    assert same != Constraints(required=[("a", "b")])
    assert KNOWN.required == (("a", "b"),)
    assert repr(Constraints(tiers=[["a"]])) == (
        "Constraints(required=(), forbidden=(), tiers=(('a',),))"
    )
    with pytest.raises(FrozenInstanceError):
        same.required = ()


def test_copies_are_equal():
    learner = ChowLiu(constraints=KNOWN)
    assert clone(learner).constraints == KNOWN
    assert copy.deepcopy(KNOWN) == pickle.loads(pickle.dumps(KNOWN)) == KNOWN
    assert learner.get_params()["constraints"] is KNOWN
    model = BayesNetClassifier(structure=learner).set_params(
        structure__constraints=Constraints()
    )
    assert model.structure.constraints == Constraints()


LEARNERS = [
    item
    for name, item in part_classes().items()
    if name in structure.__all__ and "constraints" in signature(item).parameters
]


def test_all_learners_that_choose_arcs_are_tested():
    assert len(LEARNERS) == 11


@pytest.mark.parametrize("kind", LEARNERS)
def test_learners_refuse_other_values(kind):
    learner = kind(constraints={"required": [("a", "b")]})
    with pytest.raises(InputError, match="must be a tanager"):
        learner.check(SCHEMA)


X = {"a": [0, 1, 0, 1, 1, 0], "b": [0, 1, 1, 1, 0, 0], "c": [0, 0, 1, 1, 0, 1]}
y = [0, 0, 1, 1, 0, 1]


def fitted():
    tree = ChowLiu(constraints=KNOWN)
    return BayesNetClassifier(structure=tree, encoder="categorical").fit(X, y)


def test_model_files_keep_constraints(tmp_path):
    model = fitted()
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert again.structure.constraints == KNOWN
    assert repr(again) == repr(model)
    boosted = BoostedClassifier(fitted(), n_estimators=2).fit(X, y)
    boosted.save(tmp_path / "boosted.json")
    again = tanager.load(tmp_path / "boosted.json")
    assert again.estimator.structure.constraints == KNOWN


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (
            {
                "required_arcs": {"list": [{"list": ["a", "b"]}]},
                "forbidden_arcs": {
                    "list": [{"list": ["b", "c"]}, {"list": ["c", "b"]}]
                },
                "tiers": {"list": [{"list": ["a"]}, {"list": ["b"]}]},
            },
            KNOWN,
        ),
        ({"required_arcs": None, "forbidden_arcs": None, "tiers": None}, None),
    ],
    ids=["all three", "none"],
)
def test_model_files_with_the_three_former_arguments(tmp_path, old, expected):
    model, path = fitted(), tmp_path / "model.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    arguments = document["classifier"]["arguments"]["structure"]["arguments"]
    del arguments["constraints"]
    arguments.update(old)
    path.write_text(json.dumps(document), encoding="utf-8")
    again = tanager.load(path)
    assert again.structure.constraints == expected
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
