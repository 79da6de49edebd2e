"""Model files of log-linear networks that are damaged or hostile."""

from __future__ import annotations

import json

import pytest

import tanager
from tanager import BayesNetClassifier, FileFormatError


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    X = {"a": [0.5, 1.5, 2.5, None] * 8, "b": ["u", "v"] * 16}
    model = BayesNetClassifier(structure="factors").fit(X, [0, 1, 1, 0] * 8)
    path = tmp_path_factory.mktemp("models") / "model.json"
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
    assert json.loads(text)["schema_version"] == 8


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
