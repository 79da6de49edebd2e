"""``tanager export`` writes files, and says how large they are."""

import csv

import pytest

from tanager import BayesNetClassifier, datasets


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    iris = datasets.load("iris")
    binary = iris.y == "virginica"
    BayesNetClassifier(structure="nb").fit(iris.X, binary).save(folder / "model.json")
    iris.X.assign(**{"class": binary}).to_csv(folder / "test.csv", index=False)
    return folder / "model.json"


@pytest.mark.parametrize(
    ("language", "start"),
    [
        ("sql", b"WITH "),
        ("c", b"/* A classifier, written by tanager"),
        ("js", b"// A classifier, written by tanager"),
        ("points", b"features,states,points"),
    ],
)
def test_every_language(done, model_file, tmp_path, language, start):
    output = tmp_path / "out"
    result = done("export", str(model_file), "--to", language, "-o", str(output))
    assert result.exit_code == 0
    content = output.read_bytes()
    assert content.startswith(start)
    assert f"{len(content):,} bytes" in result.stderr


def test_onnx(done, model_file, tmp_path):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "model.onnx"
    done("export", str(model_file), "--to", "onnx", "-o", str(output))
    onnx.checker.check_model(onnx.load(output))


def test_the_loss_of_accuracy_is_printed(done, model_file, tmp_path):
    data = model_file.parent / "test.csv"
    output = tmp_path / "model.c"
    result = done(
        "export", model_file, data, "--to", "c", "--bits", "8", "-o", output
    )  # fmt: skip
    assert result.exit_code == 0
    assert "% with 8 bits" in result.stderr
    assert "% without rounding" in result.stderr


def test_points_are_numbers(done, model_file, tmp_path):
    output = tmp_path / "points.csv"
    done("export", str(model_file), "--to", "points", "-o", str(output))
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert rows[0]["states"] == "base"
    assert all(float(row["points"]) == float(row["points"]) for row in rows)


def test_bad_input(tanager, model_file, tmp_path):
    output = str(tmp_path / "out")
    result = tanager("export", str(model_file), "--to", "cobol", "-o", output)
    assert result.exit_code == 2
    assert "'cobol' is not one of" in result.stderr
    result = tanager(
        "export", str(model_file), "--to", "sql", "--dialect", "oracle", "-o", output
    )
    assert result.exit_code != 0
    assert "Unknown dialect 'oracle'" in result.stderr
    result = tanager("export", str(model_file), "x.csv", "--to", "js", "-o", output)
    assert "only used with --to c" in result.stderr
