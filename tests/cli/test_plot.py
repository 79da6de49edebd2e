"""``tanager plot``: files, features, errors."""

from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from tanager import BayesNetClassifier, datasets
from tanager.cli import cli


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    iris = datasets.load("iris")
    BayesNetClassifier(structure="factors").fit(iris.X, iris.y).save(
        folder / "factors.json"
    )
    BayesNetClassifier.from_name("TAN+FE").fit(iris.X, iris.y).save(folder / "tan.json")
    BayesNetClassifier.from_name("NB+Ada").fit(iris.X, iris.y).save(
        folder / "boosted.json"
    )
    return folder


def run(*arguments):
    return CliRunner().invoke(cli, ["plot", *map(str, arguments)])


@pytest.mark.parametrize("name", ["factors", "tan"])
def test_svg(model, tmp_path, name):
    output = tmp_path / "network.svg"
    result = run(model / f"{name}.json", "-o", output, "--effects", 3)
    assert result.exit_code == 0
    assert result.output == f"Wrote {output}: network of 5 variables.\n"
    ET.fromstring(output.read_text("utf-8"))
    feature = datasets.load("iris").X.columns[3]
    result = run(model / f"{name}.json", "-o", output, "--feature", feature, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert "Curve of" in output.read_text("utf-8")


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_images(model, tmp_path, ending, start):
    pytest.importorskip("matplotlib")
    for arguments in ([], ["--feature", datasets.load("iris").X.columns[0]]):
        output = tmp_path / f"picture.{ending}"
        assert run(model / "tan.json", "-o", output, *arguments).exit_code == 0
        assert output.read_bytes().startswith(start)


def test_members_of_a_boosted_model(model, tmp_path):
    output = tmp_path / "network.svg"
    result = run(model / "boosted.json", "-o", output)
    assert result.exit_code == 2
    assert "--member N" in result.output
    assert run(model / "boosted.json", "-o", output, "--member", 2).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "network.jpg"], "the ending must be one of '.svg', '.png', '.pdf'"),
        (["-o", "network.png", "--effects", "3"], "--effects goes with a network"),
        (["-o", "no/network.svg"], "does not exist"),
        (["-o", "a.svg", "--feature", "petal"], "Unknown variable 'petal'"),
        (["--kind", "importance"], "--kind importance needs a file: --output"),
        (["--feature", "petal"], "Unknown variable 'petal'"),
    ],
)
def test_errors(model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = run(model / "factors.json", *arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("tan", ["--kind", "importance"], "Mutual information with the class"),
        ("factors", ["--kind", "importance"], "Root mean square"),
        ("tan", ["--kind", "edges"], "Conditional mutual information (nats)"),
        ("tan", ["--kind", "cpt", "--feature", "class"], "P(class)"),
        ("factors", ["iris", "--kind", "waterfall", "--row", 150], "class = virginica"),
        ("boosted", ["iris", "--kind", "calibration"], "Observed frequency"),
        (
            "tan",
            ["iris", "--kind", "calibration", "--class", "setosa"],
            "Predicted probability of setosa",
        ),
    ],
)
def test_kinds(model, tmp_path, name, arguments, words):
    output = tmp_path / "picture.svg"
    result = run(model / f"{name}.json", *arguments, "-o", output)
    assert result.exit_code == 0, result.output
    root = ET.fromstring(output.read_text("utf-8"))
    shown = [element.text or "" for element in root.iter()]
    assert any(text.startswith(words) for text in shown)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "waterfall"], "needs the file DATA"),
        (["iris"], "takes no DATA"),
        (["--kind", "effect"], "--feature NAME"),
        (["iris", "--kind", "waterfall", "--row", 151], "at most 150"),
        (["iris", "--kind", "waterfall", "--class", "rose"], "no class 'rose'"),
        (["--kind", "cpt", "--feature", "class"], "no 'table'"),
    ],
)
def test_kinds_that_cannot_be_drawn(model, tmp_path, arguments, words):
    output = tmp_path / "picture.svg"
    result = run(model / "factors.json", *arguments, "-o", output)
    assert result.exit_code != 0
    assert words in f"{result.output} {result.exception}"
    assert not output.exists()


def test_pictures_in_the_terminal(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = run(model / "factors.json").output
    assert " petal width (cm) " in network
    curve = run(model / "factors.json", "--feature", "petal width (cm)").output
    assert curve.startswith("petal width (cm): log weight\n")
    assert list(tmp_path.iterdir()) == []
