"""``tanager card`` writes Markdown to a file or to standard output."""

import pytest

from tanager import BayesNetClassifier, datasets


@pytest.fixture
def files(tmp_path):
    iris = datasets.load("iris")
    BayesNetClassifier().fit(iris.X[::2], iris.y[::2]).save(tmp_path / "model.json")
    iris.X[1::2].assign(species=iris.y[1::2]).to_csv(tmp_path / "new.csv", index=False)
    table = iris.X[1::2].assign(**{"class": iris.y[1::2]})
    table.to_csv(tmp_path / "test.csv", index=False)
    return tmp_path


def test_card_with_metrics(done, files):
    result = done("card", "model.json", "test.csv", "-o", "card.md", "--title", "Iris")
    assert result.exit_code == 0
    text = (files / "card.md").read_text("utf-8")
    assert text.startswith("# Iris\n")
    assert "| accuracy | 0.9" in text
    assert "card.md" in result.stderr


def test_card_without_classes(done, files):
    result = done("card", "model.json", "new.csv")
    assert "no column 'class' with classes, so the card has no metrics" in result.stderr
    assert "there are no metrics" in result.stdout


def test_card_on_standard_output(done, files):
    result = done("card", "model.json")
    assert result.stdout.startswith("# Model card: class\n")
    assert result.stdout.endswith("\n")


def test_the_model_is_not_overwritten(tanager, files):
    result = tanager("card", "model.json", "-o", "model.json")
    assert result.exit_code != 0
    assert "model.json" in result.stderr
