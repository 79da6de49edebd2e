import codecs
import gzip
import io
import subprocess
import sys

import numpy as np
import pytest

from tanager.errors import InputError
from tanager.io import csv_text, read_table, write_csv, write_table
from tanager.io.csv_text import OddText, parse_csv


def cells(table):
    """The table as lists of plain values, None where missing."""
    columns = {}
    for j, name in enumerate(table.names):
        column = table.column(j)
        if column.is_numeric:
            values = [None if v != v else v for v in column.data.tolist()]
        else:
            values = [column.categories[c] if c >= 0 else None for c in column.data]
        columns[name] = values
    return columns


def parsed(text, **options):
    return cells(parse_csv(text, "The text", **options))


def written(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(text):
    # Without the time, which would make the parameters of every worker others.
    return gzip.compress(text.encode(), mtime=0)


MIXED = "n,f,s,mixed,empty\n1,0.5,blue,1,\n2,,grey,x,\n-3,1e3,,2,\n"
EXPECTED = {
    "n": [1, 2, -3],
    "f": [0.5, None, 1000.0],
    "s": ["blue", "grey", None],
    "mixed": ["1", "x", "2"],
    "empty": [None, None, None],
}


def test_types_of_columns():
    table = parse_csv(MIXED, "The text")
    assert cells(table) == EXPECTED
    kinds = [column.data.dtype.kind for column in table.columns]
    assert kinds == ["i", "f", "i", "i", "f"]
    assert table.has_names


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_a_column_that_turns_out_to_be_text_late(monkeypatch, chunk):
    monkeypatch.setattr(csv_text, "CHUNK_ROWS", chunk)
    assert parsed(MIXED) == EXPECTED
    late = parsed("a,b\n1,1\n2,1.5\n3,2\nx,3\n")
    assert late == {"a": ["1", "2", "3", "x"], "b": [1, 1.5, 2, 3]}


@pytest.mark.parametrize(
    "field", ["nan", "NaN", "NA", "?", "inf", "-Infinity", "1_000", "1e999", "0x10"]
)
def test_what_is_no_number(field):
    assert parsed(f"a\n1\n{field}\n") == {"a": ["1", field]}


def test_numbers_beyond_64_bits_and_exact_integers():
    assert parsed("a\n9007199254740993\n1\n") == {"a": [9007199254740993, 1]}
    assert parsed(f"a\n{10**20}\n1\n") == {"a": [1e20, 1.0]}


def test_markers_of_missing_fields():
    text = "a,b\n1,?\n-999,x\n,NA\n"
    found = parsed(text, missing=("", "?", "NA", "-999"))
    assert found == {"a": [1.0, None, None], "b": [None, "x", None]}


def test_columns_that_stay_text():
    assert parsed("zip\n007\n010\n", categorical=["zip"]) == {"zip": ["007", "010"]}


def odd_texts(text, **options):
    found = []
    parse_csv(text, "The text", noticed=found.append, **options)
    return found


NUMBERS = [f"{k},{k % 3}" for k in range(40)]


def test_a_text_among_numbers_is_noticed(monkeypatch):
    # The header is line 1; a quoted field has two lines and one line is empty.
    lines = ["z,w", *NUMBERS[:5], '5,"x\ny"', "", "NA,1", *NUMBERS, "NA,2", "?,2", ",1"]
    expected = [OddText("z", 49, 46, "NA", 10, 1, False)]
    for chunk in (3, 2048):
        monkeypatch.setattr(csv_text, "CHUNK_ROWS", chunk)
        assert odd_texts("\n".join(lines)) == expected
    missing = ("", "NA")
    alone = OddText("z", 47, 46, "?", 52, 0, False)
    assert odd_texts("\n".join(lines), missing=missing) == [alone]
    assert odd_texts("\n".join(lines), categorical=["z"]) == []


@pytest.mark.parametrize("field", ["inf", "-Infinity", "1e400"])
def test_an_infinite_number_is_noticed(field):
    text = "\n".join(["z,w", *NUMBERS, f"{field},1"])
    assert odd_texts(text) == [OddText("z", 41, 40, field, 42, 0, True)]
    (found,) = odd_texts(text + "\nNA,1")
    assert (found.text, found.infinite, found.n_others) == (field, True, 1)


def test_what_is_not_noticed():
    few = "\n".join(["z", *"1234512345123451234512345", "?"])
    assert odd_texts(few) == []
    words = "\n".join(["z", *map(str, range(40)), *["word"] * 5])
    assert odd_texts(words) == []
    assert odd_texts("\n".join(["z,w", *NUMBERS])) == []


def test_quotes_newlines_and_empty_lines():
    text = 'a,"b ""q"", c"\n\n"x\ny",1\r\n\r\nz,2\n\n'
    assert parsed(text) == {"a": ["x\ny", "z"], 'b "q", c': [1, 2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The text is empty; expected column names and rows"),
        ("\n\n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b\n\n", "has a header but no rows"),
        ("a,b,a\n1,2,3\n", "column names more than once: 'a'"),
        ("a,,c\n1,2,3\n", "no name for column 2"),
        ("a,b\n1,2\n3\n", "line 3, has 1 fields; expected 2, as in the header"),
        ('a,b\n"1\n",2\n3,4,5\n', "line 4, has 3 fields; expected 2"),
        ('a,b\n1,"2\n3,4\n', "is not CSV: unexpected end of data"),
        ('a,b\n1,"2"x\n', "line 2, is not CSV"),
        ('"a,b\n1,2\n', "is not CSV: unexpected end of data. Is a quote not closed"),
        ("a\n" + "x" * 200_000 + "\n", "field larger than field limit"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(InputError) as caught:
        parse_csv(text, "The text")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", MIXED),
        ("t.CSV", MIXED),
        ("t.csv", "\ufeff" + MIXED),
        ("t", MIXED),
        ("t.tsv", MIXED.replace(",", "\t")),
        ("t.csv.gz", zipped(MIXED)),
        ("t.csv", zipped(MIXED)),
        ("t.tsv.gz", zipped(MIXED.replace(",", "\t"))),
        ("t.csv", MIXED.replace("\n", "\r\n")),
    ],
    ids=[
        "csv", "CSV", "mark", "no ending", "tsv", "csv.gz", "gzip in csv", "tsv.gz",
        "carriage returns",
    ],
)  # fmt: skip
def test_text_files(tmp_path, name, content):
    assert cells(read_table(written(tmp_path, content, name))) == EXPECTED


def test_another_delimiter(tmp_path):
    path = written(tmp_path, MIXED.replace(",", ";"))
    assert cells(read_table(path, delimiter=";")) == EXPECTED
    notes = []
    assert cells(read_table(path, noticed=notes.append)) == EXPECTED
    assert [note.text.partition(": ")[2] for note in notes] == [
        "fields separated by semicolons."
    ]
    ragged = written(tmp_path, "a;b\n1;2\n3\n", "ragged.csv")
    with pytest.raises(InputError, match="single column, 'a;b'") as caught:
        read_table(ragged)
    assert str(caught.value).endswith("separated by ';', use --delimiter ';'.")
    assert read_table(path, delimiter=",").n_columns == 1
    with pytest.raises(InputError, match="must be one character"):
        read_table(path, delimiter=";;")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty; expected column names and rows"),
        (
            "t.csv",
            codecs.BOM_UTF16_BE + "a,b".encode("utf-16-be"),
            "has a header but no rows",
        ),
        ("t.csv", b"a,b\n1,\0\n", "holds a NUL byte, line 2, as no text does"),
        ("t.csv", b"PAR1\x15\x04PAR1", "Parquet file; rename it to end in .parquet"),
        ("t.csv", b"ARROW1\0\0ARROW1", "is an Arrow file; rename it to end in .arrow"),
        ("t.csv.gz", zipped("a\n1\n")[:-6], "damaged gzip data"),
        ("t.csv.gz", b"\x1f\x8bnonsense and more", "damaged gzip data"),
        ("t.xlsx", b"PK", "is not a readable Excel file"),
        ("t.csv", b"PK\x03\x04", "an Excel or zip file; rename it to end in .xlsx"),
        ("t.dta", b"", "unknown kind (.dta); expected .csv"),
        ("t.parquet", b"", "is empty"),
        ("t.parquet", b"nonsense", "is not a readable Parquet file"),
        ("t.arrow", b"nonsense", "is not a readable Arrow file"),
        ("t.arrow", b"ARROW1nonsense", "is not a readable Arrow file"),
    ],
    ids=[
        "empty", "utf-16-be", "nul", "parquet as csv",
        "arrow as csv", "cut gzip", "gzip nonsense", "xlsx", "xlsx as csv", "dta",
        "empty parquet", "parquet nonsense", "arrow stream nonsense",
        "arrow file nonsense",
    ],
)  # fmt: skip
def test_bad_files(tmp_path, name, content, message):
    if name.endswith(("parquet", "arrow")):
        pytest.importorskip("pyarrow")
    path = written(tmp_path, content, name)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file_and_a_folder(tmp_path):
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(InputError, match="does not exist; check the name"):
            read_table(tmp_path / name)
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(MIXED.encode())

    monkeypatch.setattr(sys, "stdin", Input)
    assert cells(read_table("-")) == EXPECTED


# Writing

COLUMNS = {
    "label": np.array(["a", "b,c", 'd"e']),
    "P": np.array([0.1, np.nan, 1 / 3]),
    "n": np.array([1, 2, 3]),
    "mixed": ["x", None, "größe"],
}
PLAIN = {
    "label": ["a", "b,c", 'd"e'],
    "P": [0.1, None, 1 / 3],
    "n": [1, 2, 3],
    "mixed": ["x", None, "größe"],
}


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.feather"]
)
def test_a_table_round_trip(tmp_path, name):
    if not name.startswith(("t.csv", "t.tsv")):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    write_table(path, COLUMNS)
    assert cells(read_table(path)) == PLAIN
    again = path.read_bytes()
    write_table(path, COLUMNS)
    assert path.read_bytes() == again


def test_csv_text_is_what_one_expects(tmp_path):
    stream = io.StringIO()
    write_csv(stream, COLUMNS)
    assert stream.getvalue() == (
        'label,P,n,mixed\na,0.1,1,x\n"b,c",,2,\n"d""e",0.3333333333333333,3,größe\n'
    )


def test_standard_output(capsys):
    write_table("-", {"a": [1]})
    assert capsys.readouterr().out == "a\n1\n"


def test_writing_in_chunks(monkeypatch, tmp_path):
    monkeypatch.setattr(csv_text, "CHUNK_ROWS", 2)
    write_table(tmp_path / "t.csv", COLUMNS)
    assert cells(read_table(tmp_path / "t.csv")) == PLAIN


def test_an_unknown_ending_and_a_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"\(.xlsx\) are not known; use .csv"):
        write_table(tmp_path / "t.xlsx", COLUMNS)
    with pytest.raises(InputError, match="does not exist; create it"):
        write_table(tmp_path / "none" / "t.csv", COLUMNS)


# Arrow


def test_arrow_files_keep_types_and_drop_the_index(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame = pyarrow.table(
        {
            "n": [1, 2, None],
            "b": [True, None, False],
            "s": ["x", "y", None],
            "__index_level_0__": [0, 1, 2],
        }
    )
    expected = {"n": [1, 2, None], "b": [True, None, False], "s": ["x", "y", None]}
    parquet.write_table(frame, tmp_path / "t.parquet")
    with pyarrow.ipc.new_file(tmp_path / "t.feather", frame.schema) as writer:
        writer.write_table(frame)
    with pyarrow.ipc.new_stream(tmp_path / "t.arrow", frame.schema) as writer:
        writer.write_table(frame)
    for name in ("t.parquet", "t.feather", "t.arrow"):
        assert cells(read_table(tmp_path / name)) == expected


def test_an_arrow_file_without_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": pyarrow.array([], "int64")}),
                        tmp_path / "t.parquet")  # fmt: skip
    with pytest.raises(InputError, match="has 0 rows and 1 columns"):
        read_table(tmp_path / "t.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from tanager.io import read_table, write_table\n"
        "for call in (lambda: read_table('t.parquet'),\n"
        "             lambda: write_table('t.arrow', {'a': [1]})):\n"
        "    try: call()\n"
        "    except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.count("pip install tanager[arrow]") == 2, done.stderr
