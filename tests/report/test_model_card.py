"""Model cards hold what is known of a model, and show hostile names as text."""

import re

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, BoostedClassifier, CapabilityError, InputError
from tanager.report.model_card import TO_FILL_IN, _text

HOSTILE = "<script>alert(1)</script> | [x](http://e.vil) `c` **b** &lt; www.e.vil\n# h"


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    n = 500
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            HOSTILE: rng.choice(["<b>u</b>", "v|w"], n),
            "weight": rng.normal(size=n),
        }
    )
    X.loc[:60, "weight"] = np.nan
    y = np.where(X["size"] + (X[HOSTILE] == "v|w") > 0.5, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def model(samples):
    X, y = samples
    return BayesNetClassifier().fit(X[:400], y[:400])


def table_rows(text, title):
    """Cells of the first table of a section."""
    section = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip() for cell in row] for row in cells]


def test_metrics_are_those_of_the_data(model, samples):
    X, y = samples[0][400:], samples[1][400:]
    card = model.card(X, y, name="test")
    found = card.data.assessment
    proba = model.predict_proba(X)
    assert found.accuracy.value == np.mean(model.predict(X) == y)
    right = proba[np.arange(100), np.searchsorted(model.classes_, y)]
    assert found.log_loss.value == pytest.approx(-np.log(right).mean())
    assert dict(card.data.class_counts) == {
        label: int((y == label).sum()) for label in ("no", "yes")
    }
    rows = dict(row[:2] for row in table_rows(card.to_markdown(), "Metrics"))
    assert rows["samples"] == "100"
    assert rows["accuracy"] == f"{found.accuracy.value:.4f}"
    assert re.fullmatch("[0-9a-f]{64}", card.data.fingerprint)


def test_other_data_have_another_fingerprint(model, samples):
    X, y = samples
    prints = {
        model.card(X[a:b], labels).data.fingerprint
        for a, b, labels in [(0, 99, None), (0, 99, y[:99]), (1, 100, y[1:100])]
    }
    assert len(prints) == 3
    assert model.card(X[:99], y[:99]).data.fingerprint in prints


def test_sections(model, samples):
    card = model.card(title="Loans")
    text = card.to_markdown()
    assert str(card) == text
    assert text.startswith("# Loans\n")
    titles = re.findall(r"(?m)^## (.*)$", text)
    assert titles == [
        *(title for title, _ in TO_FILL_IN),
        *("Metrics", "Limitations", "Classes", "Features", "Factors"),
        *("Training", "Versions"),
    ]
    assert text.count("*To fill in: ") == len(TO_FILL_IN)
    assert "No data were given" in text
    priors = model.network_.posterior({})
    rows = table_rows(text, "Classes")[2:]
    assert rows == [[label, f"{priors[label]:.4f}", ""] for label in ("no", "yes")]
    tables = model.network_.by_importance()
    assert [number for _, number in card.parts] == [t.importance for t in tables]


def test_missing_values_are_told(model, samples):
    card = model.card()
    by_name = {one.name: one.missing for one in card.features}
    assert by_name["weight"] == "a state of its own"
    assert by_name["size"] == "not observed"
    text = " ".join(card.limitations)
    assert "2 features of 3 had no missing value in training" in text
    assert "1 feature had missing values in training" in text
    X = samples[0][400:].copy()
    X.iloc[:7, 0] = np.nan
    X.iloc[:4, 1] = "unknown"
    counts = dict(model.card(X).data.missing)
    assert counts == {"size": 7, HOSTILE: 4}


def test_rare_classes_are_told(model, samples):
    y = np.array(["no"] * 95 + ["yes"] * 5)
    card = model.card(samples[0][400:], y)
    assert any("fewer than 30 samples" in text and "yes" in text
               for text in card.limitations)  # fmt: skip


def test_hostile_names_are_shown_as_text(model, samples):
    text = model.card(*samples, name=HOSTILE, title=HOSTILE).to_markdown()
    assert "<" not in re.sub(r"\\<", "", text)
    assert "](" not in re.sub(r"\\\]", "", text)
    assert "://" not in re.sub(r"\\://", "", text)
    assert not re.search(r"(?m)^# h", text)
    assert {len(row) for row in table_rows(text, "Features")} == {4}
    assert {len(row) for row in table_rows(text, "Factors")} == {2}


@pytest.mark.parametrize("mark", list("\\`*_{}[]<>#|!&~$@"))
def test_marks_are_escaped(mark):
    assert _text(f"a{mark}b") == f"a\\{mark}b"


def test_control_characters_are_shown():
    assert "\x1b" not in _text("a\x1b[2Jb\u202e")
    assert len(_text("x" * 500)) == 80


def test_networks_have_families(samples):
    X, y = samples
    model = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y)
    card = model.card()
    assert card.parts_name == "families"
    assert len(card.parts) == 4
    assert any(name.startswith("size given ") for name, _ in card.parts)
    assert "marginalised" in " ".join(card.limitations)
    assert {len(row) for row in table_rows(str(card), "Families")} == {1}


def test_columns_that_are_left_out():
    X = pd.DataFrame({"a": ["u", "v"] * 50, "key": [f"k{i}" for i in range(100)]})
    with pytest.warns(UserWarning, match="key"):
        model = BayesNetClassifier().fit(X, [0, 1] * 50)
    card = model.card()
    assert card.left_out == ("key",)
    assert [one.name for one in card.features] == ["a"]
    assert "Left out: key." in str(card)


def test_bad_arguments(model, samples):
    with pytest.raises(InputError, match="card got classes y without samples"):
        model.card(y=samples[1])
    with pytest.raises(InputError, match="classes that the model does not know"):
        model.card(samples[0], ["other"] * 500)


def test_ensembles_are_refused(samples, tmp_path):
    from tanager.classifiers.reports_and_cards import make_model_card

    model = BoostedClassifier(n_estimators=2).fit(*samples)
    with pytest.raises(CapabilityError, match=r"A card shows one network"):
        make_model_card(model)
