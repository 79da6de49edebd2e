"""``tanager report``: one HTML file from a model and data."""

from pathlib import Path

import pytest

from tests.report.test_model_report import read

ROWS = ["blue,3.0,yes", "grey,9.5,no", "grey,,no", "blue,2.0,yes"] * 5


@pytest.fixture
def model(done):
    Path("weather.csv").write_text("\n".join(["sky,wind,play", *ROWS]) + "\n")
    done("fit", "weather.csv", "-t", "play", "-m", "TAN+FE", "-o", "model.json")
    return "model.json"


def test_a_report_with_data(done, model):
    result = done("report", model, "weather.csv", "-o", "report.html", "--title", "W")
    assert result.stderr == "Wrote report.html: 20 samples.\n"
    header, _ = read(Path("report.html"))
    assert header["title"] == "W"
    assert header["data"]["name"] == "weather.csv"
    assert header["data"]["assessment"]["n_samples"] == 20


def test_a_report_without_data(done, model):
    done("report", model, "-o", "report.html", "--quiet")
    assert read(Path("report.html"))[0]["data"] is None


def test_columns_that_differ(done, model):
    Path("other.csv").write_text("sky,rain\nblue,1\ngreen,0\n")
    shown = done("report", model, "other.csv", "-o", "report.html").stderr
    assert "has no column 'wind'" in shown
    assert "has no column 'play' with classes" in shown
    header, arrays = read(Path("report.html"))
    assert header["data"]["assessment"] is None
    # The new category and the column that is absent are not observed.
    assert arrays["samples"].tolist() == [0, 2, 2, 2]


def test_missing_and_unknown_classes(done, failed, model):
    Path("new.csv").write_text("sky,wind,play\nblue,1,yes\ngrey,2,\n")
    done("report", model, "new.csv", "-o", "report.html")
    assert read(Path("report.html"))[0]["data"]["assessment"]["n_samples"] == 1
    Path("new.csv").write_text("sky,wind,play\nblue,1,maybe\n")
    message = failed("report", model, "new.csv", "-o", "report.html")
    assert "classes that the model does not know: 'maybe'" in message


def test_files_that_cannot_be_used(failed, model):
    assert "does not exist" in failed("report", model, "-o", "absent/report.html")
    assert "would overwrite the input" in failed("report", model, "-o", model)


def test_numeric_classes(done):
    rows = "\n".join(["a,c", *["u,1", "v,2", "u,1"] * 4])
    Path("data.csv").write_text(rows + "\n")
    done("fit", "data.csv", "-t", "c", "-m", "NB+FE", "-o", "model.json")
    done("report", "model.json", "data.csv", "-o", "report.html")
    header, _ = read(Path("report.html"))
    assert header["data"]["assessment"]["accuracy"]["value"] == 1.0


def test_the_page_of_a_comparison(done):
    command = ["evaluate", "iris", "-m", "NB+FE,TAN+FE", "--cv", 2]
    result = done(*command, "--report", "comparison.html")
    assert result.stderr == "Wrote comparison.html.\n"
    text = Path("comparison.html").read_text("utf-8")
    assert "Comparison on sklearn/iris" in text
