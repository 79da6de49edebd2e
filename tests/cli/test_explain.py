"""``tanager explain``."""

import re

import pytest

from tanager import load


@pytest.fixture
def network(done, weather):
    done("fit", weather, "-t", "play", "-m", "TAN+FE", "-o", "m.json", "-q")
    return "m.json"


def contributions(text):
    """Names and numbers of the lines of the table."""
    rows = re.findall(r"(?m)^(\S.*?) +([+-]\d+\.\d\d)(?: |$)", text)
    return {name: float(number) for name, number in rows}


def test_lines_add_up(done, network, weather):
    text = done("explain", network, weather, "--row", 2).stdout
    assert text.startswith("weather.csv, row 2: play = no, probability 0.")
    assert "Log odds of no against yes" in text
    found = contributions(text)
    total = found.pop("sum")
    assert sum(found.values()) == pytest.approx(total, abs=0.02)
    assert "sky = grey" in found
    assert "Smallest change to yes: " in text
    assert "Log likelihood -" in text
    assert "Ask next" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_missing_values_and_factors(done, weather):
    done("fit", weather, "-t", "play", "-o", "f.json", "-q")
    text = done("explain", "f.json", weather, "--row", 3, "--by", "factor").stdout
    assert "wind = missing" in text
    assert "Ask next for wind: expected information gain 0." in text
    assert "Log likelihood" not in text


def test_class_and_immutable(done, network, weather):
    one = done("explain", network, weather, "--class", "yes").stdout
    other = done("explain", network, weather, "--class", "no").stdout
    assert contributions(one)["sum"] == -contributions(other)["sum"]
    every = ["--immutable", "sky", "--immutable", "wind", "--immutable", "code"]
    text = done("explain", network, weather, *every).stdout
    assert "No change of up to 3 features that are known leads to another class" in text


def test_more_than_two_classes_and_many_features(done):
    done("fit", "digits", "-m", "NB+FE", "-o", "d.json", "-q")
    text = done("explain", "d.json", "digits", "--row", 5).stdout
    assert "Log weight of 4" in text
    assert "44 other features" in text
    text = done("explain", "d.json", "digits", "--row", 5, "--all").stdout
    assert "other features" not in text
    for label in ("7", "9"):
        changed = done("explain", "d.json", "digits", "--row", 5, "--class", label)
        assert re.search(
            rf"Smallest change to {label}: |known leads to {label}\b", changed.stdout
        )
    model = load("d.json")
    assert sum(name.startswith("pixel") for name in contributions(text)) == len(
        model.feature_names_in_
    )


def test_errors(tanager, done, network, weather):
    result = tanager("explain", network, weather, "--row", 9)
    assert result.exit_code == 1
    assert "--row must be at most 8, since weather.csv has 8 rows, got 9" in (
        result.stderr
    )
    assert tanager("explain", network, weather, "--row", 0).exit_code == 2
    result = tanager("explain", network, weather, "--class", "maybe")
    assert "Unknown class 'maybe'" in result.stderr
    result = tanager("explain", network, weather, "--immutable", "rain")
    assert "Unknown feature 'rain'" in result.stderr
    done("fit", weather, "-t", "play", "-m", "NB+Ada", "-o", "ada.json", "-q")
    result = tanager("explain", "ada.json", weather)
    assert "only the predictions of a single network are explained" in result.stderr
