"""Tables of a data folder: names, kinds of columns, copies, and wrong files."""

import gzip

import numpy as np
import pytest

from lab.data_folder import (
    content_sum,
    describe_table,
    file_of,
    read_table,
    table_names,
    table_version,
)
from lab.runner.versions import _own_tables, data_version
from lab.scoreboard.plan import Plan, reasons_to_leave_out
from tanager import InputError

TEXT = "x,code,word,y\n1.5,0,a,yes\n,1,,no\n-2,0,NA,yes\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TANAGER_DATA", str(tmp_path))
    for cached in (read_table, data_version, _own_tables):
        cached.cache_clear()
    yield tmp_path
    for cached in (read_table, data_version, _own_tables):
        cached.cache_clear()


def test_names_are_paths_without_suffixes(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "b.csv").write_text(TEXT)
    (folder / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "MANIFEST.csv").write_text("path\n")
    (folder / "notes.txt").write_text("no table")
    assert table_names(folder) == ["a", "mine/b"]
    assert file_of("a") == folder / "a.csv.gz"


def test_numbers_categories_and_missing_values(folder):
    (folder / "a.csv").write_text(TEXT)
    X, y = read_table("a")
    assert list(X) == ["x", "code", "word"]
    assert [str(dtype) for dtype in X.dtypes] == ["float64", "float64", "category"]
    np.testing.assert_array_equal(X["x"], [1.5, np.nan, -2.0])
    assert X["word"].astype(object).where(X["word"].notna(), None).tolist() == [
        "a",
        None,
        "NA",  # a word; an empty entry is what is missing
    ]
    assert y.tolist() == ["yes", "no", "yes"]
    table = describe_table("a")
    assert (table.n_samples, table.n_features, table.n_classes) == (3, 3, 2)
    assert (table.n_numeric, table.n_missing) == (2, 2)


def test_kinds_of_columns_can_be_named(folder):
    (folder / "a.csv").write_text(TEXT)
    before = table_version("a")
    kinds = "path,column,kind\na.csv,code,nominal\nother.csv,x,nominal\n"
    (folder / "COLUMNS.csv").write_text(kinds)
    X, _ = read_table("a")
    assert str(X["code"].dtype) == "category"
    assert X["code"].tolist() == ["0", "1", "0"]
    assert str(X["x"].dtype) == "float64"
    assert table_version("a") != before
    read_table.cache_clear()
    (folder / "COLUMNS.csv").write_text("path,column,kind\na.csv,word,numeric\n")
    with pytest.raises(InputError, match=r"'word' is numeric .* line 2 has 'a'"):
        read_table("a")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("y\na\n", "is no table"),
        ("x,y\n", "is no table"),
        ("x,y\n1,a\n2,\n", "no class .* in line 3"),
    ],
)
def test_files_that_are_no_tables(folder, text, says):
    (folder / "a.csv").write_text(text)
    with pytest.raises(InputError, match=says):
        read_table("a")


def test_tables_and_folders_that_are_not_there(folder, monkeypatch):
    with pytest.raises(InputError, match=r"no table 'b'.*b\.csv\.gz"):
        file_of("b")
    monkeypatch.setenv("TANAGER_DATA", str(folder / "none"))
    with pytest.raises(InputError, match="no data folder"):
        file_of("b")
    monkeypatch.delenv("TANAGER_DATA")
    with pytest.raises(InputError, match="--data"):
        file_of("b")


def test_copies_are_left_out_with_a_reason(folder):
    for name in ("b", "a", "c"):
        (folder / f"{name}.csv").write_text(
            TEXT if name != "c" else TEXT + "1,1,b,no\n"
        )
    assert content_sum("a") == content_sum("b") != content_sum("c")
    assert reasons_to_leave_out(["a", "b", "c"]) == {"b": "a copy of a"}
    plan = Plan.of(folder, n_folds=2, rivals=["tanager"])
    assert [table.name for table in plan.tables] == ["a", "c"]
    assert plan.left_out == {"b": "a copy of a"}
    assert "pixels" in reasons_to_leave_out(["images/mnist"]).values()


def test_the_version_of_a_cell_is_that_of_its_file(folder):
    (folder / "iris.csv").write_text(TEXT)
    first = data_version("iris")  # not that of scikit-learn
    assert first == table_version("iris")
    (folder / "iris.csv").write_text(TEXT + "1,1,b,no\n")
    data_version.cache_clear()
    assert data_version("iris") != first
