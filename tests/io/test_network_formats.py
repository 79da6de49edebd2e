"""Networks and classifiers in files of all kinds, by suffix."""

import numpy as np
import pytest

import tanager
from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    FileFormatError,
    InputError,
    Network,
    datasets,
)
from tanager.io import check_suffix, read_any, write_model
from tests.io.network_texts import GOOD, assert_same, parsed

SUFFIXES = [".bif", ".BIF", ".xmlbif", ".xml", ".bifxml", ".json", ".model", ""]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_networks_by_suffix(tmp_path, suffix):
    path = tmp_path / f"network{suffix}"
    network = parsed(GOOD)
    tanager.save(network, path)
    again = tanager.load(path)
    assert isinstance(again, Network)
    assert_same(network, again)
    starts = {"b": b"network", "x": b"<?xml"}
    start = starts.get(suffix[1:2].lower(), b"{")
    start = b"<?xml" if suffix == ".bifxml" else start
    assert path.read_bytes().startswith(start)
    assert bool(read_any(path).written_by) == (start == b"{")


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif"])
def test_the_network_of_a_classifier(tmp_path, iris, suffix):
    path = str(tmp_path / f"model{suffix}")
    model = BayesNetClassifier(parameters="fe").fit(iris.X, iris.y)
    model.save(path)
    network = tanager.load(path)
    assert_same(model.network_, network)
    again = BayesNetClassifier.from_network(network)
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))
    tanager.save(again, tmp_path / "again.json")
    third = tanager.load(tmp_path / "again.json")
    assert isinstance(third, BayesNetClassifier)
    assert np.array_equal(third.predict_proba(iris.X), model.predict_proba(iris.X))


def test_several_networks_are_refused(tmp_path, iris):
    path = tmp_path / "model.bif"
    for n_estimators in (1, 3):
        model = BoostedClassifier(n_estimators=n_estimators).fit(iris.X, iris.y)
        with pytest.raises(CapabilityError, match="lets several vote, here "):
            model.save(path)
        assert not path.exists()
    tanager.save(model.networks_[0], path)
    assert_same(model.networks_[0], tanager.load(path))


def test_not_fitted(tmp_path):
    for name in ("model.bif", "model.json"):
        with pytest.raises(ValueError, match="not fitted"):
            tanager.save(BayesNetClassifier(), tmp_path / name)


def test_other_suffixes_are_named(tmp_path):
    (tmp_path / "x.net").write_text("net { }")
    with pytest.raises(FileFormatError, match=r"is not JSON: .* Known suffixes are "):
        tanager.load(tmp_path / "x.net")
    (tmp_path / "x.json").write_text("net { }")
    with pytest.raises(FileFormatError, match=r"column 1\.$"):
        tanager.load(tmp_path / "x.json")
    with pytest.raises(InputError, match="does not exist; check the name"):
        tanager.load(tmp_path / "y.xml")
    write_model(tmp_path / "odd.name", parsed(GOOD))
    assert_same(parsed(GOOD), tanager.load(tmp_path / "odd.name"))
    with pytest.raises(InputError, match=r"of a known format, got '\.net'\."):
        check_suffix("x.net")
    with pytest.raises(InputError, match="must be that of a known format, got none"):
        check_suffix("x")


def test_a_file_under_the_wrong_name(tmp_path):
    tanager.save(parsed(GOOD), tmp_path / "x.bif")
    (tmp_path / "x.bif").rename(tmp_path / "x.xml")
    with pytest.raises(FileFormatError, match="line 1, column 1: it is not XML") as xml:
        tanager.load(tmp_path / "x.xml")
    assert str(xml.value).endswith("It looks like a BIF file, whose suffix is .bif.")
    tanager.save(parsed(GOOD), tmp_path / "x.xml")
    (tmp_path / "x.xml").rename(tmp_path / "x.bif")
    with pytest.raises(FileFormatError, match="line 1, column 1: expected 'net") as bif:
        tanager.load(tmp_path / "x.bif")
    assert str(bif.value).endswith("an XMLBIF file, whose suffix is .xmlbif.")
    (tmp_path / "x.bif").rename(tmp_path / "x.json")
    with pytest.raises(FileFormatError, match=r"JSON: .* whose suffix is \.xmlbif\.$"):
        tanager.load(tmp_path / "x.json")
    tanager.save(parsed(GOOD), tmp_path / "y.json")
    (tmp_path / "y.json").rename(tmp_path / "y.bif")
    with pytest.raises(
        FileFormatError, match=r"a model file, whose suffix is \.json\."
    ):
        tanager.load(tmp_path / "y.bif")


def test_networks_in_which_the_class_has_parents():
    network = parsed(GOOD)
    model = BayesNetClassifier.from_network(network, target="X")
    rows = {"A": ["a", "b", None]}
    expected = [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1], [0.325, 0.425, 0.25]]
    np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-12)
    assert model.predict(rows).tolist() == ["z", "y", "y"]


def test_a_target_that_is_not_there():
    with pytest.raises(InputError, match=r"Unknown variable 'Z'\. Known: 'A', 'X'\."):
        BayesNetClassifier.from_network(parsed(GOOD), target="Z")
    with pytest.raises(InputError, match="has no target variable; give `target=`"):
        BayesNetClassifier.from_network(parsed(GOOD))
