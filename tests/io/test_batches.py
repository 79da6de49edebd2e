"""`Batches`: every kind of source gives the same rows, and errors name the file."""

import subprocess
import sys

import numpy as np
import pytest

from tanager import Batches
from tanager.errors import InputError
from tanager.io.batches import is_batched

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "x": random.normal(size=50),
            "k": random.integers(0, 9, 50),
            "z": random.choice(["a", "b", None], 50),
        }
    )


@pytest.fixture
def folder(frame, tmp_path):
    """Three Parquet files, one of them without rows, and files that are not data."""
    for i, (start, stop) in enumerate([(0, 20), (20, 20), (20, 50)]):
        part = frame.iloc[start:stop].astype({"z": "str"})
        part.to_parquet(tmp_path / f"part-{i}.parquet")
    (tmp_path / "_metadata.parquet").write_bytes(b"no data")
    return tmp_path


class Stream:
    """Any library's object that exports Arrow batches."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def _sources(frame, folder):
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    arrow, stream = folder / "all.arrow", folder / "stream.arrow"
    with pyarrow.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    with pyarrow.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    parts = [frame.iloc[:20], frame.iloc[20:20], frame.iloc[20:]]
    yield from {
        "folder": lambda: folder / "parts",
        "text": lambda: str(folder / "parts"),
        "pattern": lambda: str(folder / "parts" / "part-*.parquet"),
        "paths": lambda: sorted((folder / "parts").glob("part*")),
        "Arrow file": lambda: arrow,
        "Arrow stream file": lambda: stream,
        "dataset": lambda: dataset.dataset(folder / "parts"),
        "dataset in memory": lambda: dataset.dataset(table),
        "lazy": lambda: polars.scan_parquet(folder / "parts" / "part*.parquet"),
        "stream object": lambda: Stream(table),
        "reader": table.to_reader,
        "record batches": lambda: table.to_batches(max_chunksize=7),
        "frames": lambda: parts,
        "iterator": lambda: iter(parts),
        "generator of mappings": lambda: (part.to_dict("list") for part in parts[::2]),
        "function": lambda: lambda: iter(parts),
        "polars frames": lambda: [polars.from_pandas(part) for part in parts],
    }.items()


def test_every_source_gives_the_same_rows(frame, folder):
    parts = folder / "parts"
    parts.mkdir()
    for path in folder.glob("*.parquet"):
        path.rename(parts / path.name)
    for name, make in _sources(frame, folder):
        assert is_batched(make()), name
        for batch_rows in (7, 1000):
            frames = list(Batches(make(), batch_rows=batch_rows))
            assert all(found.names == ("x", "k", "z") for found in frames), name
            assert max(found.n_rows for found in frames) <= batch_rows, name
            found = np.concatenate([part.column(0).data for part in frames])
            np.testing.assert_array_equal(found, frame["x"], err_msg=name)
            texts = [
                None if code < 0 else part.column(2).categories[code]
                for part in frames
                for code in part.column(2).data
            ]
            missing = ~np.asarray(frame["z"].notna())
            assert [t is None for t in texts] == missing.tolist(), name
        n_rows = Batches(make()).n_rows()
        assert n_rows in (None, 50), name
        once = name in ("iterator", "reader", "generator of mappings")
        assert Batches(make()).is_repeatable == (not once), name


def test_a_relation_of_duckdb(frame, folder):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(f"from '{folder}/part-*.parquet'")
    assert is_batched(relation)
    batches = Batches(relation, batch_rows=16)
    for _ in range(2):
        values = np.concatenate([part.column(0).data for part in batches])
        np.testing.assert_array_equal(values, frame["x"])
    assert batches.n_rows() == 50


@pytest.mark.parametrize(
    "given",
    [
        np.zeros((2, 2)),
        [[1, 2], [3, 4]],
        [{"a": 1}],
        {"a": [1, 2]},
        ["a", "b"],
        [],
        None,
        3,
    ],
    ids=repr,
)
def test_what_is_one_table(given):
    assert not is_batched(given)


def test_eager_frames_are_one_table(frame):
    table = pyarrow.Table.from_pandas(frame)
    for given in (frame, polars.from_pandas(frame), table, table.to_batches()[0]):
        assert not is_batched(given)


def test_files_are_named_in_errors(frame, folder):
    bad = folder / "part-2.parquet"
    content = bad.read_bytes()
    pattern = str(folder / "part-*.parquet")
    bad.write_bytes(content[:100] + bytes(200) + content[300:])
    with pytest.raises(InputError, match=r"part-2.parquet' cannot be read: .+ again"):
        list(Batches(pattern))
    bad.write_bytes(content[:-10])
    with pytest.raises(InputError, match=r"part-2.parquet' cannot be read"):
        list(Batches(pattern))
    with pytest.raises(InputError, match=r"part-2.parquet' cannot be read"):
        Batches(pattern).n_rows()
    frame.rename(columns={"k": "q"}).to_parquet(bad)
    with pytest.raises(
        InputError,
        match=r"part-2.parquet': the columns differ from those of '.*part-0.parquet': "
        r"this batch lacks 'k' and has also 'q'",
    ):
        list(Batches(pattern))
    frame[["z", "x", "k"]].to_parquet(bad)  # another order is no error
    assert sum(part.n_rows for part in Batches(pattern)) == 70


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere/*.parquet", r"No file matches 'nowhere/\*.parquet'"),
        ("nowhere.parquet", "'nowhere.parquet' does not exist"),
        ("data.csv", "'data.csv' is no file that can be read in batches"),
        (3, "cannot be read from a int"),
        (lambda: None, "returned None"),
    ],
)
def test_bad_sources(source, message):
    with pytest.raises(InputError, match=message):
        list(Batches(source))


def test_a_folder_without_data(tmp_path):
    with pytest.raises(InputError, match="has no Parquet or Arrow files"):
        list(Batches(tmp_path))


@pytest.mark.parametrize(
    "sizes", [{"batch_rows": 0}, {"batch_rows": 1.5}, {"max_memory": -1}]
)
def test_bad_sizes(sizes):
    with pytest.raises(InputError, match="must be a whole number"):
        list(Batches([], **sizes))


def test_import_of_tanager_alone_loads_nothing():
    script = (
        "import sys, tanager; "
        "print([m for m in ('pyarrow', 'polars', 'duckdb', 'pandas', 'dask', 'numpy') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_classifiers_load_no_library_of_data_frames():
    # scikit-learn itself imports pandas, which imports pyarrow.
    script = (
        "import sys, sklearn.base, sklearn.metrics; before = set(sys.modules); "
        "import tanager; tanager.Batches; tanager.BayesNetClassifier; tanager.evaluate;"
        "names = ('pyarrow', 'polars', 'duckdb', 'pandas', 'dask');"
        "print([m for m in names if m in set(sys.modules) - before])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
