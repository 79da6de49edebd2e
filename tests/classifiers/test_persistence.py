"""Model files of classifiers: kept promises and refused nonsense."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tanager
from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    Constraints,
    FileFormatError,
    GumbelTree,
    HillClimbing,
    KeepTables,
    Network,
    QuantileEncoder,
    RandomTree,
    TableEncoder,
    TANClassifier,
)
from tanager.io import model_file, write_ensemble, write_model
from tanager.losses import (
    ConditionalLikelihoodLoss,
    HybridLoss,
    JointLikelihoodLoss,
    MarginLoss,
)
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


def test_golden_ensemble_of_schema_version_2():
    """Written by hand; must load for ever with these probabilities."""
    model = tanager.load(GOLDEN / "boosted-2.json")
    assert isinstance(model, BoostedClassifier)
    assert model.estimator_weights_.tolist() == [1.5, 1.0, 0.75]
    assert model.estimator.structure.root == "age"
    assert model.classes_.tolist() == ["no", "yes"]
    rows = {
        "age": [25.0, None, 40.0, 25.0],
        "sky": ["blue", "grey", "blue", "unheard of"],
    }
    # What the members say, no : yes, and the sum of the votes for "no" less those
    # against it:
    #   .24 : .01,  .36 : 0,    .018 : .32    1.5 + 1 - .75
    #   .12 : .36,  .12 : .3,   .14 : .16     -1.5 - 1 - .75
    #   .24 : .03,  .02 : .2,   .042 : .32    1.5 - 1 - .75
    #   .3 : .1,    .45 : .1,   .102 : .336   1.5 + 1 - .75
    votes = np.array([1.75, -3.25, -0.25, 1.75]) / 3.25
    no = 1 / (1 + np.exp(-2 * votes))
    assert_close(model.predict_proba(rows), np.column_stack([no, 1 - no]), EXACT)
    assert model.predict(rows).tolist() == ["no", "yes", "yes", "no"]


@pytest.mark.parametrize("inline_cells", [10**6, 0])
@pytest.mark.parametrize("estimator", [None, TANClassifier(QuantileEncoder(n_bins=3))])
def test_an_ensemble_comes_back_bit_by_bit(
    tmp_path, monkeypatch, estimator, inline_cells
):
    monkeypatch.setattr(model_file, "INLINE_CELLS", inline_cells)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.integers(3, 6, 200)
    X[:, 0] += y
    X[random.random(X.shape) < 0.1] = np.nan
    model = BoostedClassifier(estimator, n_estimators=4, learning_rate=0.5).fit(X, y)
    assert len(model.networks_) > 1
    model.save(tmp_path / "m.json")
    assert len(list(tmp_path.iterdir())) == (2 if inline_cells == 0 else 1)
    again = tanager.load(tmp_path / "m.json")
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert repr(again) == repr(model)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    again.save(tmp_path / "again.json")
    assert again.predict_proba(X).tobytes() == (
        tanager.load(tmp_path / "again.json").predict_proba(X).tobytes()
    )
    # One network of the members takes the place of all of them, without leftovers.
    write_model(tmp_path / "m.json", model.networks_[0])
    assert isinstance(tanager.load(tmp_path / "m.json"), Network)
    assert len(list(tmp_path.glob("m.json*.npz"))) == (1 if inline_cells == 0 else 0)


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
        structure=RandomTree(constraints=Constraints(tiers=[["a"], ["b"]])),
        class_weight={0: 1.5},
        random_state=np.random.default_rng(0),
    ).fit({"a": ["x", "y", "x"], "b": ["lo", "hi", "hi"]}, [0, 1, 1])
    model.save(tmp_path / "m.json")
    again = tanager.load(tmp_path / "m.json")
    assert again.encoder.ordinal_features == {"b": ["lo", "hi"]}
    assert again.structure.constraints == model.structure.constraints
    assert again.class_weight == {0: 1.5}
    assert again.feature_names_in_.tolist() == ["a", "b"]


def test_sets_are_saved_in_one_order(tmp_path):
    arcs = [("class", "x0"), ("x0", "x1"), ("x1", "x2")]
    X, y = [[0, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]], [0, 1, 1, 0]
    for name, start in (("list", arcs), ("set", set(arcs))):
        learner = HillClimbing(start=start)
        model = BayesNetClassifier(structure=learner, parameters="fe").fit(X, y)
        tanager.save(model, tmp_path / f"{name}.json")
    assert (tmp_path / "list.json").read_text() == (tmp_path / "set.json").read_text()


def learned_by_gradient(checkpoint=None, **arguments):
    """A classifier whose structure learner has a loss inside, and rows."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    X = (y[:, None] + random.integers(0, 2, (60, 4))).astype(object)
    arguments = {"loss": HybridLoss(lambda_=3.0, gamma=2.0), **arguments}
    learner = GumbelTree(**arguments, epochs=4, checkpoint=checkpoint)
    model = BayesNetClassifier(
        structure=learner, parameters=KeepTables(), random_state=0
    )
    return model.fit(X, y), X, y


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"loss": None},
        {"loss": ConditionalLikelihoodLoss(), "order": ["x2", "x0", "x1", "x3"]},
        {"loss": JointLikelihoodLoss(), "order": None},
        {"loss": MarginLoss(gamma=1.0), "candidates": {"x1": ["x0"], "x3": ["x0"]},
         "order": ["x0", "x1", "x2", "x3"]},
        {"order": "centre", "candidates": "nearest", "image_shape": (2, 2)},
        {"k": 2,
         "constraints": Constraints([("x0", "x1")], tiers=[["x0"], ["x1", "x2"]])},
    ],
)  # fmt: skip
def test_losses_and_kept_tables_come_back(tmp_path, arguments):
    model, X, y = learned_by_gradient(**arguments)
    model.save(tmp_path / "model.json")
    again = tanager.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert isinstance(again.parameters, KeepTables)
    learner, loss = again.structure, model.structure.loss
    assert isinstance(learner, GumbelTree)
    assert type(learner.loss) is type(loss)
    if loss is not None:
        assert learner.loss.get_params() == loss.get_params()
    again.random_state = 0  # not in the file
    refitted = again.fit(X, y)
    assert refitted.network_.edges == model.network_.edges
    assert np.array_equal(refitted.predict_proba(X), model.predict_proba(X))


def test_files_to_go_on_from_are_not_in_model_files(tmp_path):
    """Neither is where a model was learned; a path could not be written, either."""
    model, X, _ = learned_by_gradient(checkpoint=tmp_path / "run.npz")
    model.save(tmp_path / "model.json")
    assert "run.npz" not in (tmp_path / "model.json").read_text("utf-8")
    again = tanager.load(tmp_path / "model.json")
    assert again.structure.checkpoint is None
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_losses_of_ones_own_are_not_saved(tmp_path):
    class Own(HybridLoss):
        pass

    model, *_ = learned_by_gradient(loss=Own())
    with pytest.raises(CapabilityError, match="loss is a Own, which model files do"):
        model.save(tmp_path / "model.json")


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
        (
            ("arguments",),
            {"parameters": {"part": "ELR", "arguments": {"solver": "foo"}}},
        ),
        (("arguments",), 7),
    ],
)
def test_hostile_classifier_entries_are_refused(tmp_path, path, value):
    document = json.loads((GOLDEN / "classifier-1.json").read_text("utf-8"))
    document["classifier"][path[0]] = value
    (tmp_path / "m.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(FileFormatError, match=r"m\.json"):
        tanager.load(tmp_path / "m.json")


@pytest.mark.parametrize("argument", ["encoder", "structure", "parameters"])
def test_deeply_nested_arguments_are_refused(tmp_path, argument):
    document = json.loads((GOLDEN / "classifier-1.json").read_text("utf-8"))
    path = tmp_path / "m.json"
    for depth in range(20, 500, 20):
        nested = '{"list": [' * depth + "]}" * depth
        document["classifier"]["arguments"] = {argument: "NESTED"}
        path.write_text(json.dumps(document).replace('"NESTED"', nested), "utf-8")
        with pytest.raises(FileFormatError, match=r"m\.json"):
            tanager.load(path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("class", "BayesNetClassifier", "unexpected keyword"),
        ("class", "AdaBoostClassifier", "AdaBoostClassifier"),
        ("arguments", {"estimator": {"part": "Popen", "arguments": {}}}, "Popen"),
        ("arguments", {"estimator": 7}, "no attribute"),
        ("arguments", {"estimator": {"part": "ChowLiu", "arguments": {}}}, "attribute"),
        ("arguments", {"n_estimators": -1}, "n_estimators must be"),
        ("arguments", {"learning_rate": "1"}, "learning_rate must be"),
        (
            "arguments",
            {"estimator": {"part": "TANClassifier", "arguments": {"missing": 3}}},
            "missing must be",
        ),
    ],
)
def test_hostile_ensembles_are_refused(tmp_path, field, value, message):
    document = json.loads((GOLDEN / "boosted-2.json").read_text("utf-8"))
    document["classifier"][field] = value
    (tmp_path / "m.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(FileFormatError, match=message):
        tanager.load(tmp_path / "m.json")


def test_what_the_classifier_says_must_fit_the_networks(tmp_path):
    one = json.loads((GOLDEN / "classifier-1.json").read_text("utf-8"))
    several = json.loads((GOLDEN / "boosted-2.json").read_text("utf-8"))
    one["classifier"], several["classifier"] = several["classifier"], one["classifier"]
    path = tmp_path / "m.json"
    for document, message in (
        (one, "it is an ensemble, but the file holds one network"),
        (several, "it has one network, but the file holds an ensemble"),
        ({**several, "classifier": None}, "says nothing of its classifier"),
    ):
        path.write_text(json.dumps(document), "utf-8")
        with pytest.raises(FileFormatError, match=message):
            tanager.load(path)
    certain = Network.build({"x": [0], "c": ["only"]}, {"x": [1.0], "c": [1.0]})
    certain = certain.with_target_last("c")
    about = {"class": "BoostedClassifier", "arguments": {}, "classes": "str"}
    write_ensemble(path, [certain], [1.0], {**about, "named_features": False})
    with pytest.raises(FileFormatError, match="only one class"):
        tanager.load(path)


def test_parts_of_ones_own_are_not_saved(tmp_path):
    class MyClassifier(TANClassifier):
        pass

    model = BoostedClassifier(MyClassifier(), n_estimators=1)
    model.fit([["a"], ["b"]], [0, 1])
    with pytest.raises(CapabilityError, match="estimator is a MyClassifier"):
        model.save(tmp_path / "m.json")
