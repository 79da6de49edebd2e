"""Model files of log-linear networks that are damaged or hostile."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import tanager
from tanager import BayesNetClassifier, FileFormatError


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    X = {"a": [0.5, 1.5, 2.5, None] * 8, "b": ["u", "v"] * 16}
    model = BayesNetClassifier(structure="factors").fit(X, [0, 1, 1, 0] * 8)
    path = tmp_path_factory.mktemp("models") / "model.json"
    network = model.network_
    factors = replace(network.factors, variance_scale=0.0)
    model.network_ = replace(network, factors=factors)
    model.save(path)
    return path.read_text()


def first(document):
    return document["factors"][0]


CHANGES = {
    "is over": [
        lambda d: first(d).update(features=["nobody"]),
        lambda d: first(d).update(features=["class"]),
        lambda d: first(d).update(features=[]),
        lambda d: first(d).update(features=["b", "a"]),
        lambda d: first(d).update(bins=[]),
    ],
    "do not fit": [
        lambda d: first(d)["bins"][0].pop(),
        lambda d: first(d)["bins"].__setitem__(0, "text"),
        lambda d: first(d)["bins"][0].__setitem__(0, -1),
        lambda d: first(d)["bins"][0].__setitem__(0, 10**9),
        lambda d: first(d)["bins"][0].__setitem__(0, 0.5),
        lambda d: first(d)["bins"][0].__setitem__(-1, 0),
        lambda d: first(d)["ordered"].__setitem__(0, 99),
    ],
    "expected": [
        lambda d: first(d)["weights"].pop(),
        lambda d: first(d)["support"].append(1.0),
        lambda d: first(d)["weights"].__setitem__(0, "x"),
        lambda d: d["log_prior"].pop(),
        lambda d: first(d).update(strength="strong"),
        lambda d: first(d)["errors"].pop(),
        lambda d: first(d).update(effective=None),
    ],
    "strength": [lambda d: first(d).update(strength=-1.0)],
    "effective = -1": [lambda d: first(d).update(effective=-1.0)],
    "negative errors": [lambda d: first(d)["errors"].__setitem__(0, -1.0)],
    "lacks the field": [
        lambda d: first(d).pop("weights"),
        lambda d: first(d).pop("errors"),
        lambda d: first(d).pop("effective"),
        lambda d: d.pop("log_prior"),
    ],
    "unknown field": [
        lambda d: first(d).update(extra=1),
        lambda d: d.update(schema_version=7),  # which has no errors
        lambda d: d.update(variance_scale=0.1),
    ],
    "negative support": [lambda d: first(d)["support"].__setitem__(0, -1.0)],
    "too large": [
        lambda d: first(d)["weights"].__setitem__(0, 10**400),
        lambda d: first(d).update(strength=10**400),
    ],
}


@pytest.mark.parametrize(
    ("message", "change"), [(m, c) for m, cs in CHANGES.items() for c in cs]
)
def test_damaged_files_are_refused(text, tmp_path, message, change):
    document = json.loads(text)
    change(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=message):
        tanager.load(path)


def test_the_version(text):
    document = json.loads(text)
    assert "variance_scale" not in document
    assert document["schema_version"] == 8


@pytest.fixture
def scaled(text):
    """A document whose factors are averaged over missing features."""
    document = json.loads(text)
    return {**document, "schema_version": 9, "variance_scale": 0.4}


@pytest.mark.parametrize("has_errors", [True, False])
def test_the_scale_of_variances_is_kept(text, scaled, tmp_path, has_errors):
    path = tmp_path / "model.json"
    path.write_text(text)
    bare = tanager.load(path)
    if not has_errors:
        for entry in scaled["factors"]:
            del entry["errors"], entry["effective"]
    path.write_text(json.dumps(scaled))
    model = tanager.load(path)
    assert model.network_.factors.variance_scale == 0.4
    assert model.network_.factors.has_errors == has_errors
    X = {"a": [0.5, 2.5], "b": ["u", None]}
    found, other = model.predict_proba(X), bare.predict_proba(X)
    assert (found[0] == other[0]).all()
    assert (found[1] != other[1]).all()
    tanager.save(model, path)
    again = json.loads(path.read_text())
    assert {**again, "written_by": ""} == {**scaled, "written_by": ""}


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (-0.5, "variance_scale = -0.5"),
        (10**400, "too large"),
        ("wide", "expected a whole number or a number"),
        (None, "lacks the field 'variance_scale'"),
    ],
)
def test_a_wrong_scale_is_refused(scaled, tmp_path, scale, message):
    scaled["variance_scale"] = scale
    if scale is None:
        del scaled["variance_scale"]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(scaled))
    with pytest.raises(FileFormatError, match=message):
        tanager.load(path)


def test_files_without_errors_are_still_read(text, tmp_path):
    document = json.loads(text)
    document["schema_version"] = 7
    for entry in document["factors"]:
        del entry["errors"], entry["effective"]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    network = tanager.load(path).network_
    assert network.n_effective is None
    assert "effective" not in repr(network)
    assert all(table.errors is None for table in network.factors.tables)
    # Without errors it is written as it was.
    tanager.save(network, path)
    again = json.loads(path.read_text())
    assert again["schema_version"] == 7
    assert again["factors"] == document["factors"]


def test_errors_in_files_have_few_digits(text):
    for entry in json.loads(text)["factors"]:
        assert entry["errors"] == [float(f"{e:.4g}") for e in entry["errors"]]
        assert entry["effective"] > 0
