"""Messy files: described, fitted and predicted without touching them."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import tanager
from tanager.errors import InputError
from tanager.io import read_table
from tests.cli.messy_files import FILES, N_ROWS, UNCLEAR


def roles_in(text):
    """The roles of columns in the output of ``describe``."""
    lines = text.split("\n\n")[1].splitlines()
    start, stop = lines[0].index("role"), lines[0].index("missing")
    kind = lines[0].index("kind")
    return {line[:kind].strip(): line[start:stop].split()[0] for line in lines[1:]}


def test_there_are_twenty_kinds():
    assert len(FILES) >= 20


@pytest.mark.parametrize("title", FILES)
def test_described_as_expected(done, tmp_path, title):
    file = FILES[title]
    (tmp_path / "d.csv").write_bytes(file.content)
    found = done("describe", "d.csv", "--target", "y")
    assert roles_in(found.stdout) == file.roles
    for note in file.notes:
        assert note in found.stderr
    if not file.notes:
        assert found.stderr == ""
    assert done("describe", "d.csv", "--target", "y", "-q").stderr == ""


@pytest.mark.filterwarnings("default::tanager.DataWarning")
@pytest.mark.parametrize("title", FILES)
@pytest.mark.parametrize("method", ["auto", "TAN-CMI-ML"])
def test_fitted_and_predicted(done, tmp_path, title, method):
    file = FILES[title]
    (tmp_path / "d.csv").write_bytes(file.content)
    fit = done("fit", "d.csv", "-t", "y", "-m", method, "-o", "m.json")
    left_out = [name for name, role in file.roles.items() if role == "identifier"]
    assert ("left out" in fit.stderr) == bool(left_out)
    assert all(repr(name) in fit.stderr for name in left_out)
    network = tanager.load("m.json").network_
    for name, role in file.roles.items():
        if role in ("identifier", "constant", "empty"):
            assert all(name not in edge for edge in network.edges)
    lines = done("predict", "m.json", "d.csv").stdout.splitlines()[1:]
    assert len(lines) == N_ROWS
    labels = [line.split(",")[0] for line in lines]
    assert np.mean([a == b for a, b in zip(labels, "pq" * 30, strict=True)]) > 0.95


@pytest.mark.parametrize("title", UNCLEAR)
def test_what_is_unclear_stays_text(done, tmp_path, title):
    (tmp_path / "d.csv").write_bytes(UNCLEAR[title])
    found = done("describe", "d.csv", "--target", "y")
    assert roles_in(found.stdout)["x"] in ("categorical", "identifier")
    assert "x: it holds" in found.stdout
    assert "as text" in found.stdout


def test_the_decimal_sign_can_be_given(done, tmp_path):
    (tmp_path / "d.csv").write_bytes(UNCLEAR["three digits after a comma"])
    given = done("describe", "d.csv", "--target", "y", "--decimal", ",")
    assert "1.1 to 9.153" in given.stdout
    given = done("describe", "d.csv", "--target", "y", "--decimal", ".")
    assert "1100 to 9153" in given.stdout


def test_columns_can_be_dropped(done, failed, tmp_path):
    (tmp_path / "d.csv").write_bytes(FILES["names of customers"].content)
    fit = ["fit", "d.csv", "-t", "y", "-o", "m.json", "-q"]
    assert done(*fit, "--drop", "x").stderr == ""
    assert tanager.load("m.json").feature_names_in_.tolist() == ["signal"]
    assert "Unknown column to drop 'z'" in failed(*fit, "--drop", "z")
    assert "'y' is the target" in failed(*fit, "--drop", "y")
    evaluate = ("evaluate", "d.csv", "-t", "y", "-m", "NB+FE", "--cv", 2, "-q")
    assert done(*evaluate, "--drop", "x").stderr == ""


def test_columns_can_be_copied_to_the_output(done, failed, tmp_path):
    days = [f"2024-{i % 12 + 1:02d}-05" for i in range(60)]
    rows = [f"{i:04d},{days[i]},{i % 7 or ''},{'pq'[i % 2]}" for i in range(60)]
    text = "\n".join(["key,when,x,y", *rows])
    (tmp_path / "d.csv").write_text(text + "\n")
    done("fit", "d.csv", "-t", "y", "--drop", "key", "-m", "NB+FE", "-o", "m.json")
    keep = [part for name in ("key", "x", "when", "y") for part in ("--keep", name)]
    lines = done("predict", "m.json", "d.csv", *keep).stdout.splitlines()
    assert lines[0] == "key,x,when,y,prediction,P(p),P(q)"
    assert lines[1].startswith("0000,,2024-01-05,p,")
    assert lines[60].startswith("0059,3,2024-12-05,q,")
    assert "Unknown column to keep 'keys'" in failed(
        "predict", "m.json", "d.csv", "--keep", "keys", "-q"
    )


def test_parts_of_dates(done, failed, tmp_path):
    (tmp_path / "d.csv").write_bytes(FILES["iso dates"].content)
    parts = ["--date-parts", "weekday,month"]
    found = done("describe", "d.csv", "--target", "y", *parts).stdout
    assert roles_in(found)["x (weekday)"] == "categorical"
    for name in ("auto", "TAN-CMI-ML"):
        done("fit", "d.csv", "-t", "y", "-m", name, *parts, "-o", "m.json")
        network = tanager.load("m.json").network_
        assert network.schema.names == ("signal", "x", "x (weekday)", "x (month)", "y")
        lines = done("predict", "m.json", "d.csv").stdout.splitlines()
        assert [line[0] for line in lines[1:]] == list("pq" * 30)
    assert "Unknown part of dates 'week'" in failed(
        "fit", "d.csv", "-t", "y", "--date-parts", "week", "-o", "m.json"
    )
    (tmp_path / "t.csv").write_bytes(FILES["names of customers"].content)
    assert "needs a column of dates" in failed(
        "fit", "t.csv", "-t", "y", "--date-parts", "hour", "-o", "m.json", "-q"
    )


def test_an_identifier_can_be_kept(done, tmp_path):
    (tmp_path / "d.csv").write_bytes(FILES["names of customers"].content)
    fit = ["fit", "d.csv", "-t", "y", "-m", "NB+FE", "-o", "m.json"]
    assert "left out" not in done(*fit, "--categorical", "x").stderr
    assert tanager.load("m.json").network_.schema[1].n_states == N_ROWS


def test_suggestions_name_the_option(done, tmp_path):
    (tmp_path / "d.csv").write_bytes(
        FILES["constant, empty and windows line ends"].content
    )
    text = done("describe", "d.csv", "--target", "y").stdout
    assert "  c: it has one value, 'same', and so no effect; --drop c.\n" in text
    assert "  e: it has no value; --drop e.\n" in text
    done("describe", "d.csv", "--target", "y", "--drop", "c", "--drop", "e")
    text = done("describe", "d.csv").stdout
    assert roles_in(text)["y"] == "categorical"
    (tmp_path / "d.csv").write_bytes(FILES["two spellings of a category"].content)
    text = done("describe", "d.csv", "--target", "y").stdout
    assert "'yes' and 'Yes ' are two categories" in text


def test_describe_a_dataset_and_an_unknown_target(done, failed):
    assert roles_in(done("describe", "iris").stdout)["class"] == "class"
    assert "Unknown target column" in failed("describe", "iris", "--target", "clas")


def test_excel_sheets(done, failed, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["note"])
    sheet = book.create_sheet("data")
    sheet.append(["when", "size", "code", "y", None])
    for i in range(N_ROWS):
        when = datetime.datetime(2024, 1, 1) + datetime.timedelta(days=i % 2 * 99 + i)
        sheet.append([when, i / 4 if i % 5 else None, i % 3, "pq"[i % 2]])
        sheet.append([None] * 4)
    book.save(tmp_path / "d.xlsx")
    text = done("describe", "d.xlsx", "--sheet", "data", "--target", "y").stdout
    assert text.startswith(f"{N_ROWS} rows, 4 columns")
    assert "2024-01-01 to 2024-06-07" in text
    fit = ["fit", "d.xlsx", "--sheet", "data", "-t", "y", "-o", "m.json"]
    done(*fit, "--categorical", "code", "-m", "NB+FE")
    model = tanager.load("m.json")
    assert model.network_.schema[0].unit == "datetime"
    assert model.network_.schema[2].states == (0, 1, 2)
    done("predict", "m.json", "d.xlsx", "--sheet", "data")
    assert "Unknown sheet" in failed(*fit[:3], "Data1", *fit[4:])
    assert "has no rows below" in failed("describe", "d.xlsx", "--target", "y")
    (tmp_path / "bad.xlsx").write_bytes(b"nonsense")
    assert "not a readable Excel file" in failed("describe", "bad.xlsx")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "d.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"pip install tanager\[excel\]"):
        read_table(tmp_path / "d.xlsx")
