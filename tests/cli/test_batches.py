"""Commands on folders and patterns of Parquet files."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tanager import BayesNetClassifier, load
from tanager.io import read_table

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def parts(tmp_path):
    random = np.random.default_rng(0)
    folder = tmp_path / "parts"
    folder.mkdir()
    frames = []
    for i in range(3):
        x = random.normal(size=200)
        z = random.choice(["a", "b"], 200)
        y = np.where(x + (z == "a") + random.normal(size=200) > 0.5, "yes", "no")
        w = random.integers(0, 3, 200)
        frames.append(pandas.DataFrame({"x": x, "z": z, "y": y, "w": w}))
        frames[-1].to_parquet(folder / f"{i}.parquet")
    return pandas.concat(frames, ignore_index=True)


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_fit_and_predict_in_batches(source, parts, done):
    result = done(
        "fit", source, "-t", "y", "--weights", "w", "-m", "TAN+FE", "-o", "m.json"
    )
    assert result.stderr.startswith("600 samples, 2 features, 2 classes\nReading   2 ")
    assert f"Fitting TAN+FE to {source}, in batches.\nWrote m.json" in result.stderr
    X = parts[["x", "z"]]
    expected = BayesNetClassifier.from_name("TAN+FE").fit(X, parts["y"], parts["w"])
    probabilities = load("m.json").predict_proba(X)
    np.testing.assert_allclose(probabilities, expected.predict_proba(X), atol=1e-9)
    for output in ("p.csv", "p.csv.gz", "p.tsv", "p.parquet", "p.arrow"):
        result = done("predict", "m.json", source, "-o", output)
        assert result.stderr == f"Wrote {output}: 600 rows.\n"
        table = read_table(output)
        assert table.names == ("prediction", "P(no)", "P(yes)")
        np.testing.assert_array_equal(table.column(1).values, probabilities[:, 0])
    assert gzip.decompress(Path("p.csv.gz").read_bytes()) == Path("p.csv").read_bytes()
    shown = done("predict", "m.json", source).stdout
    assert shown == Path("p.csv").read_text()


def test_a_feature_without_a_column_is_noted_once(parts, done):
    done("fit", "parts", "-t", "y", "-m", "NB+FE", "-o", "m.json", "-q")
    for i in range(3):
        path = f"parts/{i}.parquet"
        pandas.read_parquet(path).drop(columns="z").to_parquet(path)
    result = done("predict", "m.json", "parts", "-o", "p.csv")
    assert result.stderr.count("has no column 'z'") == 1


def test_evaluate_in_batches(parts, done):
    result = done(
        "evaluate", "parts", "-t", "y", "--models", "NB-ML,TAN+FE", "--cv", "3"
    )
    assert "parts: 600 samples, 3 features, 2 classes" in result.stdout
    assert "3-fold cross-validation by position of the samples" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parts"], "Missing option '--target'"),
        (["parts", "-t", "q"], "Unknown target column 'q'"),
        (["parts", "-t", "y", "--weights", "q"], "Unknown weight column 'q'"),
        (["none/*.parquet", "-t", "y"], "No file matches 'none/*.parquet'"),
        (["bad", "-t", "y"], "bad/0.parquet' cannot be read"),
        (["empty", "-t", "y"], "'empty' have no rows"),
    ],
)
def test_errors(arguments, message, parts, tanager, tmp_path):
    for name, content in (("bad", None), ("empty", parts.iloc[:0])):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "0.parquet"
        if content is None:
            path.write_bytes(b"PAR1 and nothing more")
        else:
            content.to_parquet(path)
    result = tanager("fit", *arguments, "-o", "m.json")
    assert result.exit_code != 0
    assert message in result.stderr
