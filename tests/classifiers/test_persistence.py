"""Model files of classifiers: kept promises and refused nonsense."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tanager
from tanager import (
    BayesNetClassifier,
    FileFormatError,
    Network,
    QuantileEncoder,
    RandomTree,
    TableEncoder,
    TANClassifier,
)
from tanager.io import write_model
from tests.tolerance import EXACT, assert_close

GOLDEN = Path(__file__).parent / "golden"


def test_golden_classifier_of_schema_version_1():
    """Written by hand; must load for ever with these probabilities."""
    model = tanager.load(GOLDEN / "classifier-1.json")
    assert isinstance(model, BayesNetClassifier)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.warm_start is False  # came later than the file
    rows = {"age": [25.0, None, 40.0], "sky": ["blue", "grey", "unheard of"]}
    expected = [
        [0.6 * 0.5 * 0.8, 0.4 * 0.25 * 0.1],
        [0.6 * (0.5 * 0.2 + 0.5 * 0.6), 0.4 * (0.25 * 0.9 + 0.75 * 0.5)],
        [0.6 * 0.5, 0.4 * 0.75],
    ]
    joint = model.predict_joint_log_proba(rows)
    assert_close(np.exp(joint), expected, EXACT)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 5], dtype=np.int16),
        np.array([False, True]),
        np.array([1.0, 2.0]),
        np.array(["e", "é"]),
        np.array(["e", "é"], dtype=object),
    ],
    ids=["int16", "bool", "float", "str", "object"],
)
def test_classes_keep_their_type(tmp_path, labels):
    y = labels[np.arange(12) % 2]
    model = TANClassifier(encoder=QuantileEncoder(n_bins=3)).fit(
        np.arange(24.0).reshape(12, 2), y
    )
    model.save(tmp_path / "m.json")
    again = tanager.load(tmp_path / "m.json")
    assert type(again) is TANClassifier
    assert again.classes_.dtype.kind == labels.dtype.kind
    assert np.array_equal(again.predict([[0.0, 1.0]]), model.predict([[0.0, 1.0]]))
    assert again.encoder.n_bins == 3
    assert not hasattr(again, "feature_names_in_")


def test_nested_arguments_come_back(tmp_path):
    model = BayesNetClassifier(
        encoder=TableEncoder(ordinal_features={"b": ["lo", "hi"]}),
        structure=RandomTree(tiers=[["a"], ["b"]]),
        class_weight={0: 1.5},
        random_state=np.random.default_rng(0),
    ).fit({"a": ["x", "y", "x"], "b": ["lo", "hi", "hi"]}, [0, 1, 1])
    model.save(tmp_path / "m.json")
    again = tanager.load(tmp_path / "m.json")
    assert again.encoder.ordinal_features == {"b": ["lo", "hi"]}
    assert again.structure.tiers == [["a"], ["b"]]
    assert again.class_weight == {0: 1.5}
    assert again.feature_names_in_.tolist() == ["a", "b"]


def test_a_network_comes_back_as_a_network(tmp_path):
    network = Network.build({"x": [0, 1]}, {"x": [0.25, 0.75]})
    write_model(tmp_path / "n.json", network)
    again = tanager.load(tmp_path / "n.json")
    assert isinstance(again, Network)
    assert np.array_equal(again.table("x").values, network.table("x").values)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("class",), "Popen"),
        (("classes",), "<U500000000"),
        (("classes",), "int8; import os"),
        (("arguments",), {"encoder": {"part": "os.system", "arguments": {}}}),
        (("arguments",), {"encoder": {"part": "TableEncoder", "arguments": {"x": 1}}}),
        (("arguments",), {"encoder": "no such encoder"}),
        (("arguments",), {"encoder": {"what": 1}}),
        (("arguments",), {"nonsense": 1}),
        (("arguments",), 7),
    ],
)
def test_hostile_classifier_entries_are_refused(tmp_path, path, value):
    document = json.loads((GOLDEN / "classifier-1.json").read_text("utf-8"))
    document["classifier"][path[0]] = value
    (tmp_path / "m.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(FileFormatError, match=r"m\.json"):
        tanager.load(tmp_path / "m.json")
