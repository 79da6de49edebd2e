import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import tanager as package
from tanager.cli._column_matching import absent_note, as_variable
from tanager.cli._input_data import load_data, odd_text_note, training_data
from tanager.encoding.frame import Column
from tanager.io import read_table, write_model
from tanager.io.csv_text import OddText
from tanager.model import Variable
from tanager.network import Network


@pytest.fixture
def model(done, weather):
    done("fit", weather, "--target", "play", "-o", "m.json", "--categorical", "code")
    return "m.json"


def test_fit_says_what_it_did(done, weather):
    result = done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.json")
    first, second, third = result.stderr.splitlines()
    assert first == "Fitting NB+FE to weather.csv: 8 samples, 3 features, 2 classes."
    assert second.startswith("Wrote m.json: 2 arcs, ")
    assert third == (
        "Note: no cut point found in 1 of 2 numeric columns; it has no effect on the "
        "class."
    )
    assert result.stdout == ""
    assert done("fit", weather, "-t", "play", "-o", "m.json", "-q").output == ""


def test_the_class_has_the_name_of_the_target(model):
    fitted = package.load(model)
    assert fitted.network_.schema.names == ("sky", "wind", "code", "play")
    assert fitted.network_.schema[2].states == (1, 2, 3)
    assert fitted.classes_.tolist() == ["no", "yes"]


def test_the_fit_is_that_of_the_library(model, weather):
    rows = training_data(load_data(weather), "play")
    encoder = package.TableEncoder(
        numeric=package.QuantileEncoder(n_bins=254),
        categorical_features=["code"],
        missing="state",
    )
    expected = package.BayesNetClassifier(encoder=encoder)
    expected.fit(rows.features, np.asarray(rows.labels))
    np.testing.assert_array_equal(
        package.load(model).predict_proba(rows.features),
        expected.predict_proba(rows.features),
    )


@pytest.mark.parametrize(
    ("options", "n_bins"),
    [
        (["--encoder", "width", "--bins", "3"], 3),
        (["--encoder", "quantile", "--bins", "2"], 2),
        (["--encoder", "categorical"], 7),
    ],
)
def test_encoders(done, weather, options, n_bins):
    done("fit", weather, "-t", "play", "-o", "m.json", *options)
    network = package.load("m.json").network_
    assert network.schema[network.schema.index("wind")].n_states == n_bins


def test_weights_count_rows(done, tmp_path):
    (tmp_path / "w.csv").write_text("a,w,y\nx,3,p\nz,1,q\n")
    done("fit", "w.csv", "-t", "y", "-m", "NB+FE", "--weights", "w", "-o", "m.json")
    prior = package.load("m.json").network_.table("y").values
    assert prior.tolist() == pytest.approx([4 / 6, 2 / 6])
    assert package.load("m.json").feature_names_in_.tolist() == ["a"]


def test_a_data_set_of_the_catalogue(done):
    done("fit", "iris", "-o", "m.json")
    assert package.load("m.json").classes_.tolist() == [
        "setosa",
        "versicolor",
        "virginica",
    ]


def test_standard_input_and_markers(done):
    text = "a;y\n1;p\n?;q\n3;p\n4;q\n"
    options = ["--delimiter", ";", "--missing", "?"]
    done("fit", "-", "-t", "y", "-o", "m.json", *options, input=text)
    assert package.load("m.json").network_.schema[0].cuts is not None


@pytest.mark.parametrize("method", ["NB+EM", "TAN+APN"])
@pytest.mark.parametrize("states", [("p", "q"), ("0", "1")])
def test_rows_without_a_class_teach_some_methods(done, method, states):
    one, other = states
    text = "a,y\n" + f"u,{one}\nv,{other}\nu,{one}\nv,{other}\n" + "u,\nv,\nu,\n" * 2
    said = done("fit", "-", "-t", "y", "-m", method, "-o", "m.json", input=text).stderr
    assert "10 samples (6 unlabelled), 1 feature, 2 classes" in said
    model = package.load("m.json")
    assert list(map(str, model.classes_)) == [one, other]
    assert model.network_.schema.names[-1] == "y"
    prior = model.network_.table("y").values
    assert prior[0] > 0.5  # four of the six are like those of the first class


def test_a_target_without_any_class(failed):
    line = failed(
        "fit", "-", "-t", "y", "-m", "NB+EM", "-o", "m.json", input="a,y\nu,\nv,\n"
    )
    assert "No sample of 'standard input' has a class in 'y'" in line


def test_one_class_and_rows_without(failed):
    line = failed(
        "fit", "-", "-t", "y", "-m", "NB+EM", "-o", "m.json", input="a,y\nu,p\nv,\n"
    )
    assert "only one class, 'p'" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "pla"], "Unknown target column 'pla'. Did you mean 'play'?"),
        (["-t", "sky"], "1 of 8 samples of 'weather.csv' have no class in 'sky', the "
         "first is sample 5. Fill them in or remove them. Methods such as NB+EM can "
         "use them."),
        (["-t", "sky", "-m", "NB-EMM"], "Unknown method 'NB-EMM'. Did you mean"),
        (["-t", "sky", "-m", "NB+Ada"], "have no class in 'sky'"),
        (["-t", "play", "-m", "TAN-CM-ML"], "Unknown method 'TAN-CM-ML'. Did you mean"),
        (["-t", "play", "--categorical", "cod"], "column in --categorical 'cod'"),
        (["-t", "play", "--weights", "sky"], "numbers, got text such as 'blue'"),
        (["-t", "play", "--weights", "play"], "both the target and the weights"),
        (["-t", "play", "--weights", "wnd"], "Unknown weight column 'wnd'. Did you"),
        (["-t", "play", "--weights", "wind"], "at least 0, but row 3 has none"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(failed, weather, arguments, message):
    assert message in failed("fit", weather, "-o", "m.json", *arguments)


def test_options_that_do_not_fit(failed, weather):
    start = ["fit", weather, "-t", "play", "-o", "m.json"]
    assert "--bins goes with" in failed(*start, "--bins", 3, code=2)
    wrong = failed(*start, "--encoder", "width", "--bins", 0, code=2)
    assert "--bins must be at least 1" in wrong
    assert "'--jobs': must be at least 1, or -1" in failed(*start, "--jobs", 0, code=2)
    assert "'--jobs': must be" in failed("predict", "m", "n", "--jobs", -2, code=2)
    for mark in (";;", "", '"'):
        message = failed(*start, "--delimiter", mark, code=2)
        assert "'--delimiter': must be one character and no quote, or \\t" in message
    message = failed("fit", weather, "-o", "m.json", code=2)
    assert "there are 'sky', 'wind', 'code', 'play'" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected column names and rows"),
        ("a,y\n", "has a header but no rows"),
        ("y\np\nq\n", "has no column except 'y'; a classifier needs at least one"),
        ("a,y\n1,p\n2,p\n", "'y' has only one class, 'p'"),
        ("a,y\n1,0.5\n2,1.5\n", "holds numbers such as 0.5, which are no classes"),
        ("a,y\n1,p\n2\n", "line 3, has 1 fields; expected 2"),
        ("a,a,y\n1,1,p\n", "column names more than once: 'a'"),
    ],
    ids=[
        "empty", "no rows", "no feature", "one class", "fractions", "short row",
        "name twice",
    ],
)  # fmt: skip
def test_bad_data(failed, tmp_path, content, message):
    raw = content.encode() if isinstance(content, str) else content
    (tmp_path / "d.csv").write_bytes(raw)
    assert message in failed("fit", "d.csv", "-t", "y", "-o", "m.json")
    assert not (tmp_path / "m.json").exists()


def test_no_such_data(failed):
    assert "'none.csv' does not exist" in failed("fit", "none.csv", "-o", "m.json")
    message = failed("fit", "iriss", "-o", "m.json")
    assert "There is no file 'iriss'" in message
    assert "Did you mean 'iris'?" in message


def test_an_output_that_cannot_be_written_fails_before_the_data_are_read(failed):
    message = failed("fit", "none.csv", "-t", "y", "-o", "no/m.json")
    assert "Cannot write 'no/m.json'" in message
    assert "create it or choose another" in message


def test_data_are_not_overwritten(failed, weather, tmp_path):
    before = (tmp_path / weather).read_text()
    message = failed("fit", weather, "-t", "play", "-o", f"./{weather}")
    assert "would overwrite the input" in message
    assert (tmp_path / weather).read_text() == before


def test_an_existing_model_survives_a_failed_fit(model, failed, weather):
    before = Path(model).read_bytes()
    failed("fit", weather, "-t", "nope", "-o", model)
    assert Path(model).read_bytes() == before


def test_a_model_does_not_go_to_standard_output(failed, weather, tmp_path):
    message = failed("fit", weather, "-t", "play", "-o", "-", code=2)
    assert "give a name such as --output model.json" in message
    assert not (tmp_path / "-").exists()


def test_no_arc_and_one_parameter(done, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,p\n1,q\n")
    result = done("fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json")
    # The feature has one value, and so no arc.
    assert "Wrote m.json: 0 arcs, 1 parameter, fitted in " in result.stderr


def test_columns_without_a_cut(done, tmp_path):
    rows = [f"{k % 2},{k % 2},{k},{'pqqp'[k % 4]}" for k in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,c,y", *rows]))
    fit = ["fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json"]
    assert done(*fit).stderr.splitlines()[-1] == (
        "Note: no cut point found in 3 of 3 numeric columns; they have no effect on "
        "the class."
    )
    assert done(*fit, "-q").stderr == ""
    assert "Note" not in done(*fit, "--encoder", "quantile").stderr


def test_a_tab_as_the_shell_passes_it(done, tmp_path):
    (tmp_path / "d.csv").write_text("x\ty\na\tp\nb\tq\n")
    done("fit", "d.csv", "-t", "y", "-o", "m.json", "--delimiter", r"\t")
    assert package.load("m.json").feature_names_in_.tolist() == ["x"]


def test_another_delimiter_is_found(done, tmp_path):
    (tmp_path / "d.csv").write_text("x;y\na;p\nb;q\n")
    fit = ["fit", "d.csv", "-t", "y", "-o", "m.json"]
    assert done(*fit).stderr.splitlines()[0] == (
        "Note: 'd.csv' is read with these settings: fields separated by semicolons."
    )
    assert "settings" not in done(*fit, "--delimiter", ";").stderr
    assert done(*fit, "-q").stderr == ""


def test_texts_of_the_target_are_kept(done, tmp_path):
    labels = ["01", "01", "02", "02", "1", "1"]
    rows = [f"{x},{y}" for x, y in zip("ppqqrr", labels, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["x,y", *rows]))
    done("fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json")
    assert package.load("m.json").classes_.tolist() == ["01", "02", "1"]
    lines = done("predict", "m.json", "d.csv").stdout.splitlines()
    assert lines[0] == "prediction,P(01),P(02),P(1)"
    assert [line.split(",")[0] for line in lines[1:]] == labels
    text = done("evaluate", "d.csv", "-t", "y", "-m", "NB+FE", "--cv", 2).stdout
    assert "6 samples, 1 feature, 3 classes" in text


@pytest.mark.parametrize(
    ("texts", "classes"),
    [
        (["10", "9", "-1"], [-1, 9, 10]),
        (["1.0", "2.0"], ["1.0", "2.0"]),
        (["1", "2", "x"], ["1", "2", "x"]),
        (["1" * 30, "2"], ["1" * 30, "2"]),
    ],
)
def test_classes_are_numbers_if_nothing_is_lost(done, tmp_path, texts, classes):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"a,{t}\n" for t in texts * 2))
    done("fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json")
    assert package.load("m.json").classes_.tolist() == classes


def test_categories_that_differ_only_as_texts(done, tmp_path):
    rows = ["01,p", "01,p", "1,q", "1,q", "1.0,r", "1.0,r", ",r"]
    (tmp_path / "d.csv").write_text("\n".join(["s,y", *rows]))
    fit = ["fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json"]
    done(*fit, "--categorical", "s")
    assert package.load("m.json").network_.schema[0].states == ("01", "1", "1.0")
    (tmp_path / "n.csv").write_text("s\n1\n01\n1.0\n")
    lines = done("predict", "m.json", "n.csv").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["q", "p", "r"]


def test_categories_that_are_whole_numbers(done, tmp_path):
    rows = ["10,p", "10,p", "9,q", "9,q", ",q"]
    (tmp_path / "d.csv").write_text("\n".join(["s,y", *rows]))
    fit = ["fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json"]
    done(*fit, "--categorical", "s")
    network = package.load("m.json").network_
    assert network.schema[0].states == (9, 10)
    (tmp_path / "n.csv").write_text("s\n10\n9\n010\n10.0\n")
    lines = done("predict", "m.json", "n.csv").stdout.splitlines()[1:]
    found = [float(line.split(",")[1]) for line in lines]
    given = [network.posterior(e)["p"] for e in ({"s": 10}, {"s": 9}, {}, {"s": 10})]
    assert found == pytest.approx(given)


@pytest.mark.filterwarnings("default::tanager.DataWarning")
def test_text_in_a_numeric_column_is_reported(done, tmp_path):
    rows = [f"{k},{'pq'[k % 2]}" for k in range(1500)]
    rows[700] = "low,p"
    (tmp_path / "d.csv").write_text("\n".join(["z,y", *rows]))
    fit = ["fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json"]
    note = (
        "Note: 'z' is categorical: 1,499 of 1,500 fields are numbers, but not 'low' "
        "(line 702). Use --missing low if it means missing."
    )
    assert done(*fit).stderr.splitlines()[0] == note
    warning = (
        "Warning: Column 'z' holds numbers as text, so it is left out, since almost "
        "every value is different. Convert it, for instance with "
        "pandas.to_numeric(column, errors='coerce')."
    )
    assert done(*fit, "-q").stderr.splitlines() == [warning]
    assert "Note: 'z' is" not in done(*fit, "--na", "low").stderr
    assert "Note: 'z' is" not in done(*fit, "--categorical", "z").stderr
    found = done("evaluate", "d.csv", "-t", "y", "-m", "NB+FE", "--cv", 2).stderr
    assert found.splitlines()[0] == note


@pytest.mark.parametrize(
    ("odd", "end"),
    [
        (OddText("z", 50, 49, "?", 7, 0, False),
         "49 of 50 fields are numbers, but not '?' (line 7). Use --missing '?' if it "
         "means missing."),
        (OddText("z", 50, 48, "-", 7, 1, False),
         "48 of 50 fields are numbers, but not '-' (line 7) and 1 other text. Use "
         "--missing=- if it means missing."),
        (OddText("z", 50, 49, "inf", 7, 0, True),
         "49 of 50 fields are finite numbers, but not 'inf' (line 7), which is "
         "infinite. Use --missing inf if it means missing."),
        (OddText("z", 50, 47, "1e400", 7, 2, True),
         "47 of 50 fields are finite numbers, but not '1e400' (line 7) and 2 other "
         "texts; the first is infinite. Use --missing 1e400 if it means missing."),
    ],
    ids=["one", "two", "infinite", "infinite and others"],
)  # fmt: skip
def test_words_for_odd_texts(odd, end):
    assert odd_text_note(odd) == f"Note: 'z' is categorical: {end}"


# Predicting


def test_predictions_and_probabilities(done, model, weather):
    result = done("predict", model, weather)
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "prediction,P(no),P(yes)"
    assert len(lines) == 9
    expected = package.load(model)
    features = training_data(load_data(weather), "play").features
    found = np.loadtxt(io.StringIO(result.stdout), str, delimiter=",", skiprows=1)
    assert found[:, 0].tolist() == expected.predict(features).tolist()
    np.testing.assert_array_equal(
        found[:, 1:].astype(float), expected.predict_proba(features)
    )


def test_absent_extra_and_unknown(done, model, tmp_path):
    (tmp_path / "n.csv").write_text("extra,code,wind\na,1,3\nb,x,\n,,9\n")
    result = done("predict", model, "n.csv")
    assert result.stderr == (
        "Note: n.csv has no column 'sky'; it counts as missing in every row.\n"
    )
    rows = [line.split(",") for line in result.stdout.splitlines()[1:]]
    network = package.load(model).network_
    # Sky and wind have a state for missing values, code has none.
    known = [{"code": 1, "wind": 3}, {"wind": "missing"}, {"wind": 9}]
    for row, evidence in zip(rows, known, strict=True):
        expected = network.posterior({"sky": "missing", **evidence})
        assert float(row[1]) == pytest.approx(expected["no"], rel=1e-12)
    assert done("predict", model, "n.csv", "-q").stderr == ""


def test_absent_columns_are_reported_once(done, model, tmp_path):
    (tmp_path / "n.csv").write_text("wind\n3\n")
    assert done("predict", model, "n.csv").stderr == (
        "Note: n.csv has no columns 'sky', 'code'; they count as missing in every "
        "row.\n"
    )
    many = absent_note("n.csv", [f"x{k}" for k in range(1205)])
    assert "no columns 'x0', 'x1', 'x2', 'x3', 'x4' and 1,200 more; they" in many


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.tsv", "o.parquet", "o.arrow"])
def test_outputs(done, model, weather, name):
    if not name.startswith(("o.csv", "o.tsv")):
        pytest.importorskip("pyarrow")
    result = done("predict", model, weather, "-o", name)
    assert result.stderr == f"Wrote {name}: 8 rows.\n"
    assert result.stdout == ""
    table = read_table(name)
    assert table.names == ("prediction", "P(no)", "P(yes)")
    assert table.n_rows == 8


def test_what_cannot_be_predicted(failed, model, weather, tmp_path):
    (tmp_path / "bad.csv").write_text("sky,wind\nblue,strong\nblue,3\n")
    message = failed("predict", model, "bad.csv")
    assert "'wind' holds text such as 'strong', but the model has a numeric" in message
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    message = failed("predict", model, "other.csv")
    assert "None of the model's features ('sky', 'wind', 'code') is a column" in message
    assert "is not JSON" in failed("predict", weather, weather)
    assert "unknown kind (.json)" in failed("predict", model, model)
    assert "(.xlsx) are not known" in failed("predict", model, weather, "-o", "o.xlsx")
    assert "does not exist" in failed("predict", model, weather, "-o", "no/o.csv")
    assert "overwrite the input" in failed("predict", model, weather, "-o", weather)


def test_a_plain_network_predicts_its_target(done, failed, weather):
    tables = {"play": [0.5, 0.5], "sky": (["play"], [[0.2, 0.8], [0.9, 0.1]])}
    states = {"sky": ["blue", "grey"], "play": ["no", "yes"]}
    write_model("n.json", Network.build(states, tables, target="play"))
    lines = done("predict", "n.json", weather).stdout.splitlines()
    assert lines[1].startswith("yes,0.1818")  # 0.1 / (0.1 + 0.45)
    write_model("n.json", Network.build(states, tables))
    assert "has no target variable" in failed("predict", "n.json", weather)


@pytest.mark.parametrize("large", [False, True])
def test_a_damaged_model(failed, model, weather, large):
    document = json.loads(Path(model).read_text(encoding="utf-8"))
    if large:
        document["schema_version"] = 99
    else:
        del document["factors"][0]["weights"]
    Path(model).write_text(json.dumps(document), encoding="utf-8")
    message = "upgrade tanager" if large else "lacks the field 'weights'"
    assert message in failed("predict", model, weather)


# Columns of other types than at fit


def text(*values):
    return Column("x", codes=np.arange(len(values)), categories=values)


@pytest.mark.parametrize(
    ("column", "states", "expected"),
    [
        (text("1", "2.0", "new"), (1, 2), (1, 2, "new")),
        (text("0.5", "1e0"), (0.5, 1.0), (0.5, 1.0)),
        (text("True", "false", "?"), (False, True), (True, False, "?")),
        (text("1", "0", "2"), (False, True), (True, False, "2")),
        (text("true", "True"), ("true",), ("true", "True")),
        (text("007", "7"), ("007", "7"), ("007", "7")),
        (text("007", "7", "7.0"), (7, 8), ("007", 7)),
        (text("7", "x"), ("x", 7), (7, "x")),
        (text("nan", "inf"), (1, 2), ("nan", "inf")),
        (Column("x", values=np.array([2, 1])), ("1", "2"), ("1", "2")),
        (Column("x", values=np.array([1.0, np.nan])), ("1", "2"), ("1",)),
        (Column("x", values=np.array([1, 0])), (False, True), None),
        (text(True, False), ("True", "False"), ("True", "False")),
        (text(True, False), ("true", "false"), ("true", "false")),
    ],
)
def test_values_in_the_types_of_the_states(column, states, expected):
    found = as_variable(column, Variable("x", states))
    if expected is None:
        assert found is column
    else:
        assert found.categories == expected
        assert [type(c) for c in found.categories] == [type(c) for c in expected]


def test_missing_numbers_stay_missing():
    column = Column("x", values=np.array([np.nan, 1.0]))
    found = as_variable(column, Variable("x", ("1", "2")))
    assert found.codes.tolist() == [-1, 0]


def test_categories_that_look_like_numbers_at_predict_time(done, tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,p\n2,q\nx,p\n1,p\n")
    done("fit", "d.csv", "-t", "y", "-o", "m.json")
    (tmp_path / "n.csv").write_text("a\n1\n2\n")
    rows = done("predict", "m.json", "n.csv").stdout.splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["p", "q"]


@pytest.mark.parametrize("name", ["NB+Ada", "TAN+Ada"])
def test_boosted_models(done, weather, name):
    fitted = done("fit", "iris", "-m", name, "-o", "m.json", "--encoder", "width")
    assert re.search(r"Wrote m\.json: \d+ networks, \d+ arcs, ", fitted.stderr)
    alone = done("predict", "m.json", "iris", "--jobs", 1).stdout
    assert done("predict", "m.json", "iris", "--jobs", 2).stdout == alone
    rows = alone.splitlines()
    assert rows[0] == "prediction,P(setosa),P(versicolor),P(virginica)"
    assert len(rows) == 151
    (Path.cwd() / "new.csv").write_text("petal width (cm),x\n0.2,1\n,1\n")
    result = done("predict", "m.json", "new.csv")
    assert "has no columns 'sepal length (cm)'" in result.stderr
    assert len(result.stdout.splitlines()) == 3


@pytest.mark.parametrize(
    "name", ["TAN-CR-ML", "2-tree-OMI-CR-ML", "TAN-SuperParent-RCL"]
)
def test_structures_that_are_searched_for(done, tmp_path, name):
    rows = ["a,b,c,same"]
    rows += [f"{i % 2},{i // 2 % 2},,{i % 2 == i // 2 % 2}" for i in range(40)]
    rows += ["x,,1,True", ",y,2,False"]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    output = done("fit", "rows.csv", "-t", "same", "-m", name, "-o", "model.json")
    assert (
        f"Fitting {name} to rows.csv: 42 samples, 3 features, 2 classes"
        in output.stderr
    )
    shown = done("show", "model.json").stdout
    assert "same, a" in shown or "same, b" in shown
    rates = done("evaluate", "rows.csv", "-t", "same", "--models", name).stdout
    (line,) = [line for line in rates.splitlines() if line.startswith(name)]
    assert float(line.split()[1]) > 80


def test_structures_learned_with_their_tables(done, weather, monkeypatch):
    monkeypatch.setattr("tanager.utils.progress_line.LONG", 0.0)
    fit = ["fit", weather, "-t", "play", "-m", "TAN-Subset2-HYB", "-o", "m.json"]
    output = done(*fit, "--progress").stderr
    assert "Fitting TAN-Subset2-HYB to weather.csv" in output
    assert re.search(r"(?m)^structure, GumbelTree: epoch 1 of ", output)
    model = package.load("m.json")
    assert model.structure.n_candidates == 2
    assert isinstance(model.parameters, package.KeepTables)
    predicted = done("predict", "m.json", weather).stdout
    assert len(predicted.splitlines()) == 9
    done(*fit)
    assert done("predict", "m.json", weather).stdout == predicted


@pytest.mark.parametrize("options", [[], ["-m", "Factors"]])
def test_the_default_is_not_written_as_bif(failed, weather, options):
    message = failed("fit", weather, "-t", "play", "-o", "m.bif", *options, code=2)
    assert "has factors, but BIF holds CPTs" in message
    assert "TAN-RES-RCL" in message


def test_settings_of_a_paper(done, failed, weather):
    fit = ["fit", weather, "-t", "play", "-m", "HGC+FE", "-o", "m.json", "-q"]
    done(*fit, "--paper", "su2008")
    made = package.load("m.json")
    expected = package.BayesNetClassifier.from_name("HGC+FE", paper="su2008")
    assert repr(made.structure) == repr(expected.structure)
    assert repr(made.encoder) == repr(expected.encoder)
    done(*fit, "--paper", "su2008", "--categorical", "code")
    assert package.load("m.json").encoder.categorical_features == ["code"]
    message = failed(*fit, "--paper", "greiner2005")
    assert "greiner2005 has no method 'HGC+FE'; it has 'NB+OFE'" in message


@pytest.mark.parametrize("name", ["auto", "factors", "NB-RCL"])
def test_the_encoder_is_that_of_the_classifier(done, weather, name):
    done("fit", weather, "-t", "play", "-m", name, "-o", "m.json", "-q")
    made = package.load("m.json")
    # A state for missing values included: sky and wind have some.
    assert [v.name for v in made.network_.schema if v.missing_state] == ["sky", "wind"]
    expected = package.BayesNetClassifier.from_name(name)
    expected.fit({"a": [1.0, 2.0, None, 4.0]}, [0, 1, 1, 0])
    assert repr(made.encoder_) == repr(expected.encoder_)
