"""``tanager export`` writes files, and says how large they are."""

import csv

import pytest

from tanager import BayesNetClassifier, BoostedClassifier, datasets


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
    assert "bytes of tables; accuracy 9" in result.stderr
    assert "% of the file, 9" in result.stderr
    assert "% of the model, on 150 samples" in result.stderr


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


def test_factors_that_fit(done, model_file, tmp_path):
    iris = datasets.load("iris")
    model = tmp_path / "factors.json"
    BayesNetClassifier().fit(iris.X, iris.y).save(model)
    output = tmp_path / "model.c"
    result = done(
        "export", model, "--to", "c", "--bits", "8", "--max-bytes", "300",
        "-o", output,
    )  # fmt: skip
    assert result.exit_code == 0
    n_bytes = int(result.stderr.split(" bytes of tables")[0].rsplit(" ", 1)[-1])
    assert n_bytes <= 300
    assert " of tables with " in result.stderr


def test_points_of_a_scale(done, model_file, tmp_path):
    output = tmp_path / "points.csv"
    options = ["--base-points", "0", "--base-odds", "1", "--points-to-double", "10"]
    columns = []
    for label in ("True", "False"):
        result = done(
            "export", model_file, "--to", "points", *options, "--decimals", "0",
            "--label", label, "-o", output,
        )  # fmt: skip
        assert f"0 are odds of 1 for {label}, 10 more double them" in result.stderr
        rows = csv.DictReader(output.read_text().splitlines())
        columns.append([int(row["points"]) for row in rows])
    assert columns[0] == [-points for points in columns[1]]


def test_contributions(done, model_file, tmp_path):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "model.onnx"
    done("export", model_file, "--to", "onnx", "--contributions", "-o", output)
    names = [out.name for out in onnx.load(output).graph.output]
    assert names == ["label", "probabilities", "contributions"]


@pytest.mark.parametrize("language", ["sql", "onnx", "c", "js", "points"])
def test_ensembles_are_refused(tanager, model_file, tmp_path, language):
    iris = datasets.load("iris")
    path = tmp_path / "ensemble.json"
    BoostedClassifier(n_estimators=2).fit(iris.X, iris.y).save(path)
    result = tanager("export", path, "--to", language, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "several networks" in result.stderr


def test_an_unknown_dialect(tanager, model_file, tmp_path):
    result = tanager(
        "export", model_file, "--to", "sql", "--dialect", "mysql", "-o", tmp_path / "q"
    )
    assert result.exit_code == 1
    assert "Unknown dialect 'mysql'" in result.stderr
    assert not (tmp_path / "q").exists()
