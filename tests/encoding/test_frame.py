"""Every kind of input is read alike, and bad input is refused in words."""

import datetime
import decimal
import enum
import fractions
import gc

import numpy as np
import pytest
from scipy import sparse

from tanager.encoding import Column, Frame, read_frame
from tanager.encoding.frame import as_categories

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

AGES = [31, 45, 31, 60]
HEIGHTS = [1.5, None, 1.75, 2.0]
SKIES = ["grey", "blue", None, "grey"]
FLAGS = [True, False, True, None]
MIXED = {"age": AGES, "height": HEIGHTS, "sky": SKIES, "flag": FLAGS}
ROWS = [list(row) for row in zip(*MIXED.values(), strict=True)]


def mixed_sources():
    """The same table from every kind of source."""
    frame = pandas.DataFrame(MIXED)
    arrow = pyarrow.table(MIXED)
    return {
        "mapping": MIXED,
        "mapping of arrays": {k: np.array(v, dtype=object) for k, v in MIXED.items()},
        "list of lists": ROWS,
        "tuple of tuples": tuple(map(tuple, ROWS)),
        "object array": np.array(ROWS, dtype=object),
        "pandas": frame,
        "pandas object": frame.astype(object),
        "pandas nullable": frame.convert_dtypes(),
        "pandas arrow": arrow.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.DataFrame(MIXED),
        "arrow": arrow,
        "arrow chunks": pyarrow.concat_tables([arrow[:1], arrow[1:]]),
        "arrow batch": arrow.combine_chunks().to_batches()[0],
        "arrow dictionary": arrow.set_column(
            2, "sky", arrow["sky"].dictionary_encode()
        ),
        "polars categorical": polars.DataFrame(MIXED).with_columns(
            polars.col("sky").cast(polars.Categorical)
        ),
    }


def cells(column: Column) -> list:
    """The column as plain values, None where missing."""
    if column.is_numeric:
        return [None if v != v else v for v in column.values.tolist()]
    return [column.categories[c] if c >= 0 else None for c in column.codes.tolist()]


@pytest.mark.parametrize("source", mixed_sources())
def test_all_sources_give_the_same_cells(source):
    table = read_frame(mixed_sources()[source])
    assert table.shape == (4, 4)
    assert [table.column(j).is_numeric for j in range(4)] == [True, True, False, False]
    assert [cells(table.column(j)) for j in range(4)] == list(MIXED.values())
    named = "list" not in source and "tuple" not in source and source != "object array"
    assert table.has_names is named
    assert table.names == (tuple(MIXED) if named else ("x0", "x1", "x2", "x3"))
    assert not any(table.column(j).declared for j in range(4))


@pytest.mark.parametrize("source", mixed_sources())
def test_taking_rows(source):
    table = read_frame(mixed_sources()[source])
    for rows in (np.array([3, 0]), slice(1, 3), np.array([True, False, True, True])):
        part = table.take(rows)
        expected = [np.array(v, dtype=object)[rows].tolist() for v in MIXED.values()]
        assert [cells(part.column(j)) for j in range(4)] == expected
        assert part.n_rows == len(expected[0])


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64]
)
def test_numeric_arrays_are_not_copied(dtype):
    for order in "CF":
        X = np.arange(12).reshape(4, 3).astype(dtype, order=order)
        X.flags.writeable = False
        table = read_frame(X)
        assert table.matrix.dtype == dtype
        assert np.shares_memory(table.matrix, X)
        assert np.shares_memory(table.take(slice(1, 3)).matrix, X)
        assert table.column(1).values.tolist() == X[:, 1].tolist()
    assert read_frame(table) is table


def as_text(column):
    """Times of a column as text, None where missing."""
    return cells(as_categories(column))


def test_dtype_decides():
    frame = pandas.DataFrame(
        {
            "decimal": [decimal.Decimal("1.5"), None],
            "fraction": [fractions.Fraction(1, 2), 3],
            "text": ["1.5", "2"],
            "bools": np.array([True, None], dtype=object),
            "bool and number": np.array([True, 3], dtype=object),
            "date": pandas.to_datetime(["2020-01-01", None]),
            "period": pandas.period_range("2020-01-01", periods=2),
            "list": [[1], [2]],
            "delta": pandas.to_timedelta([1, None], unit="s"),
        }
    )
    table = read_frame(frame)
    columns = dict(zip(table.names, table.columns, strict=True))
    assert {name for name, c in columns.items() if c.is_numeric} == {
        "decimal",
        "fraction",
        "date",
        "period",
        "delta",
    }
    assert cells(columns["text"]) == ["1.5", "2"]
    assert cells(columns["bools"]) == [True, None]
    assert cells(columns["bool and number"]) == [True, 3]
    assert as_text(columns["date"]) == ["2020-01-01 00:00:00", None]
    assert as_text(columns["period"]) == ["2020-01-01 00:00:00", "2020-01-02 00:00:00"]
    assert cells(columns["list"]) == ["[1]", "[2]"]
    assert as_text(columns["delta"]) == ["0:00:01", None]


def test_dates_read_alike_everywhere():
    dates = [datetime.datetime(2020, 1, 2, 3), None, datetime.datetime(2020, 1, 1)]
    expected = ["2020-01-02 03:00:00", None, "2020-01-01 00:00:00"]
    stamps = np.array(dates, dtype="M8[ns]")
    for source in (
        {"d": dates},
        {"d": stamps},
        pandas.DataFrame({"d": stamps}),
        polars.DataFrame({"d": dates}),
        pyarrow.table({"d": dates}),
    ):
        column = read_frame(source).column(0)
        assert column.unit == "datetime"
        assert as_text(column) == expected
    days = [datetime.date(2020, 1, 1), None]
    for source in (
        polars.DataFrame({"d": days}),
        pyarrow.table({"d": days}),
        {"d": days},
    ):
        column = read_frame(source).column(0)
        assert column.values.tolist()[0] == 18_262 * 86_400
        assert as_text(column) == ["2020-01-01 00:00:00", None]
    for source in (
        polars.DataFrame({"l": [[1], None]}),
        pyarrow.table({"l": [[1], None]}),
    ):
        assert cells(read_frame(source).column(0)) == ["[1]", None]
    times = polars.DataFrame({"t": [datetime.time(1, 2), None]})
    column = read_frame(times).column(0)
    assert column.unit == "time"
    assert as_text(column) == ["01:02:00", None]


def test_decimals_are_numbers():
    values = [decimal.Decimal("1.50"), None]
    for source in (
        polars.DataFrame({"d": values}),
        pyarrow.table({"d": values}),
        pandas.DataFrame({"d": values}),
        {"d": values},
    ):
        assert cells(read_frame(source).column(0)) == [1.5, None]


def test_other_array_types():
    assert cells(read_frame(np.array([["a"], ["b"]])).column(0)) == ["a", "b"]
    assert cells(read_frame(np.array([[b"a"], [b"b"]])).column(0)) == ["a", "b"]
    assert cells(read_frame(np.array([[True], [False]])).column(0)) == [True, False]
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert cells(read_frame(masked).column(1)) == [None, 4]
    words = np.ma.array([["a"], ["b"]], mask=[[True], [False]])
    assert cells(read_frame(words).column(0)) == [None, "b"]
    huge = read_frame([[2**70], [1]]).column(0)
    assert huge.values.tolist() == [2.0**70, 1.0]
    sparse_column = pandas.DataFrame({"s": pandas.arrays.SparseArray([0.0, 1.0])})
    assert cells(read_frame(sparse_column).column(0)) == [0.0, 1.0]


def test_numpy_rows_in_a_list_keep_their_types():
    table = read_frame([np.array([1, 2]), np.array([3, 4])])
    assert [table.column(j).values.tolist() for j in (0, 1)] == [[1, 3], [2, 4]]


def test_equal_categories_are_one():
    class Level(enum.IntEnum):
        LOW = 1

    column = read_frame({"c": [Level.LOW, 1.0, np.int8(1), "1", b"1"]}).column(0)
    assert cells(column) == [1, 1, 1, "1", "1"]


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.nan, np.float32("nan"), pandas.NA, pandas.NaT]
)
def test_missing_kinds_are_alike(missing):
    for others, kind in ((["a", "b"], False), ([1, 2.5], True), ([True, False], False)):
        values = [others[0], missing, others[1]]
        for source in (
            {"v": values},
            [[v] for v in values],
            pandas.DataFrame({"v": pandas.Series(values, dtype=object)}),
        ):
            column = read_frame(source).column(0)
            assert column.is_numeric is kind
            assert cells(column) == [others[0], None, others[1]]
    nothing = read_frame({"v": [missing, missing]}).column(0)
    assert not nothing.is_numeric
    assert nothing.categories == ()


@pytest.mark.parametrize(
    "source",
    [
        pyarrow.table({"v": pyarrow.nulls(2)}),
        polars.DataFrame({"v": [None, None]}),
        polars.DataFrame({"v": polars.Series([None, None], dtype=polars.String)}),
        pandas.DataFrame({"v": [None, None]}, dtype=object),
    ],
)
def test_columns_without_a_value(source):
    assert cells(read_frame(source).column(0)) == [None, None]


def test_declared_categories():
    values, levels = ["b", None, "a"], ["b", "a", "never"]
    plain = pandas.Categorical(values, categories=levels)
    ordered = pandas.Categorical(values, categories=levels, ordered=True)
    table = read_frame(pandas.DataFrame({"plain": plain, "ordered": ordered}))
    enum_column = polars.Series("enum", values, dtype=polars.Enum(levels))
    as_arrow = pyarrow.table(pandas.DataFrame({"ordered": ordered}))
    for column, is_ordered in (
        (table.column(0), False),
        (table.column(1), True),
        (read_frame(polars.DataFrame([enum_column])).column(0), True),
        (read_frame(as_arrow).column(0), True),
        (read_frame(polars.DataFrame([enum_column])[1:2]).column(0), True),
    ):
        assert column.declared
        assert column.ordered is is_ordered
        assert column.categories == ("b", "a", "never")
    assert cells(table.column(0)) == values
    numbers = pandas.DataFrame({"n": pandas.Categorical([3, 1], categories=[3, 2, 1])})
    assert read_frame(numbers).column(0).categories == (3, 2, 1)
    bins = pandas.DataFrame({"n": pandas.cut([1, 2, 3], 2)})
    assert read_frame(bins).column(0).categories == ("(0.998, 2.0]", "(2.0, 3.0]")


def test_polars_categories_of_other_columns_do_not_leak_in():
    with_others = polars.Series(["z", "y", "x"], dtype=polars.Categorical)
    frame = polars.DataFrame(
        {
            "a": with_others,
            "b": with_others[2:3].extend(with_others[2:3]).extend(with_others[2:3]),
        }
    )
    assert read_frame(frame).column(1).categories == ("x",)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1, 2], "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.arange(3), "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.array(["a"]), "Expected 2D array, got 1D array instead"),
        (pandas.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        (polars.Series([1, 2]), "Expected 2D array, got 1D array instead"),
        ("text", "Expected 2D array"),
        (None, "Expected 2D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (np.zeros((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1"),
        (np.zeros((2, 0)), r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1"),
        (pandas.DataFrame({"a": []}), r"0 sample\(s\)"),
        (polars.DataFrame({"a": []}), r"0 sample\(s\)"),
        (pyarrow.table({"a": pyarrow.array([], "int8")}), r"0 sample\(s\)"),
        (pandas.DataFrame(index=[1, 2]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ({}, r"0 feature\(s\)"),
        ({"a": []}, r"0 sample\(s\)"),
        ({"a": [1, 2], "b": [1]}, "different lengths: {'a': 2, 'b': 1}"),
        ({"a": np.zeros((2, 2))}, "'a' has 2 dimensions"),
        ([[1, 2], [3]], "different lengths"),
        (np.array([[1j]]), "Complex data not supported"),
        (pandas.DataFrame({"a": [1j]}), "Complex data not supported: column 'a'"),
        ([[1j, "a"]], "Complex data not supported"),
        (polars.LazyFrame({"a": [1]}), r"lazy polars frame.*collect"),
        (np.zeros(2, dtype=[("a", int), ("b", int)]), "structured array.*mapping"),
        (
            pandas.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "b"]),
            "more than once: 'a', 'b'",
        ),
        (pyarrow.Table.from_arrays([pyarrow.array([1])] * 2, ["a", "a"]), "once: 'a'"),
    ],
)
def test_bad_tables(X, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        read_frame(X)


def test_sparse_matrices_are_refused():
    with pytest.raises(TypeError, match=r"(?s)Sparse data was passed.*toarray"):
        read_frame(sparse.csr_array(np.eye(2)))


def test_labels_that_are_no_names():
    table = read_frame(pandas.DataFrame([[1, "a"]]))
    assert (table.names, table.has_names) == (("x0", "x1"), False)
    with pytest.raises(
        TypeError, match="only supported if all input features have str"
    ):
        read_frame(pandas.DataFrame([[1, 2]], columns=["a", 1]))


def test_memory_maps_and_read_only_arrays(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6).reshape(3, 2))
    table = read_frame(np.load(path, mmap_mode="r"))
    assert isinstance(table, Frame)
    assert type(table.matrix) is np.ndarray
    assert table.matrix.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_categories_of_pandas_are_read_once():
    kind = pandas.CategoricalDtype(["b", "a"])
    first = read_frame(pandas.DataFrame({"x": ["a", "b"]}).astype(kind)).column(0)
    again = read_frame(pandas.DataFrame({"x": ["b", None]}).astype(kind)).column(0)
    assert again.categories is first.categories
    assert again.categories == ("b", "a")
    assert again.declared
    assert again.codes.tolist() == [0, -1]
    other = pandas.CategoricalDtype(["a", "b"], ordered=True)
    later = read_frame(pandas.DataFrame({"x": ["b"]}).astype(other)).column(0)
    assert later.categories == ("a", "b")
    assert later.ordered
    # Equal states of several categories are merged, whichever frame comes first.
    objects = pandas.Categorical.from_codes([0, 1], [b"a", "a"])
    for _ in range(2):
        merged = read_frame(pandas.DataFrame({"x": objects})).column(0)
        assert merged.categories == ("a",)
        assert merged.codes.tolist() == [0, 0]


def test_forgotten_categories_are_not_kept():
    from tanager.encoding.dataframe_libraries import _CATEGORIES

    frame = pandas.DataFrame({"x": pandas.Categorical(["only", "here"])})
    key = id(frame["x"].cat.categories)
    read_frame(frame)
    assert _CATEGORIES[key][1] == ("here", "only")
    del frame
    gc.collect()
    assert key not in _CATEGORIES
