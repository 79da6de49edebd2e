"""Fits to batches and partitions that fail name the culprit and leave nothing."""

import base64
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tanager import Batches, BayesNetClassifier, ChowLiu
from tanager.errors import InputError, PartitionError
from tanager.io.batch_readers import make_reader
from tests.clusters import small_cluster

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
pyarrow = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402


@pytest.fixture
def client():
    with small_cluster() as connected:
        yield connected


def make_frame(seed, n=400):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    return pd.DataFrame(
        {"a": y + random.normal(size=n), "b": random.choice(["u", "v"], n), "y": y}
    )


def write_folder(folder, n_files=4):
    for number in range(n_files):
        make_frame(number).to_parquet(folder / f"{number}.parquet")
    return [folder / f"{number}.parquet" for number in range(n_files)]


def counting():
    return BayesNetClassifier(structure="tan", parameters="fe")


def damage_pages(path):
    """Overwrite the data of a Parquet file; its metadata, at the end, stay."""
    content = bytearray(path.read_bytes())
    content[8:400] = bytes(392)
    path.write_bytes(content)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize("damage", [damage_pages, cut_off])
def test_a_damaged_file_is_named(damage, tmp_path):
    files = write_folder(tmp_path)
    damage(files[2])
    with pytest.raises(InputError, match=r"2\.parquet' cannot be read"):
        counting().fit(str(tmp_path / "*.parquet"), "y")


def read_as(kind, path):
    """The rows of a file as the reader of files, or that of datasets, has them."""
    source = path if kind == "batches" else dataset.dataset(path)
    found = [batch for _, batch in make_reader(source).read(25)]
    return pyarrow.Table.from_batches(found)


@pytest.mark.parametrize("compression", ["snappy", "none"])
@pytest.mark.parametrize("kind", ["batches", "dataset"])
def test_bits_that_flip_in_pages_are_found(kind, compression, tmp_path):
    """Pages with checksums give the rows that were written, or an error."""
    whole = pyarrow.Table.from_pandas(make_frame(0, 50), preserve_index=False)
    path = tmp_path / "visits.parquet"
    parquet.write_table(whole, path, compression=compression, write_page_checksum=True)
    content = path.read_bytes()
    n_pages = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    random = np.random.default_rng(0)
    messages = []
    for place in range(4, n_pages, 3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            assert read_as(kind, path).equals(whole)  # a bit without a meaning
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 0.8 * n_pages / 3
    assert all("visits.parquet' cannot be read" in message for message in messages)


def write_encrypted(frame, folder):
    """Write a dataset of encrypted Parquet files; returns what decrypts it."""
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

        def unwrap_key(self, wrapped, _):
            return base64.b64decode(wrapped)

    keys = encryption.CryptoFactory(Keys), encryption.KmsConnectionConfig()
    chosen = encryption.EncryptionConfiguration(
        footer_key="footer", column_keys={"all": list(frame)}
    )
    form = dataset.ParquetFileFormat()
    options = form.make_write_options(
        encryption_config=dataset.ParquetEncryptionConfig(*keys, chosen)
    )
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    dataset.write_dataset(table, folder, format=form, file_options=options)
    return dataset.ParquetDecryptionConfig(*keys, encryption.DecryptionConfiguration())


@pytest.mark.skipif(
    int(pyarrow.__version__.split(".")[0]) < 17,
    reason="pyarrow 16 itself reads an encrypted dataset only once",
)
def test_an_encrypted_dataset_is_read_with_its_options(tmp_path):
    frame = make_frame(0, 200)
    options = dataset.ParquetFragmentScanOptions(
        decryption_config=write_encrypted(frame, tmp_path), use_buffered_stream=True
    )
    form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
    source = dataset.dataset(tmp_path, format=form)
    found = counting().fit(source, "y").predict_proba(source)
    columns = frame.drop(columns="y")
    whole = counting().fit(columns, frame["y"]).predict_proba(columns)
    np.testing.assert_array_equal(found, whole)
    assert not options.page_checksum_verification  # as before


def test_limits_of_a_dataset_are_kept(tmp_path):
    (path,) = write_folder(tmp_path, 1)
    options = dataset.ParquetFragmentScanOptions(thrift_string_size_limit=10)
    form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
    schema = parquet.read_schema(path)
    source = dataset.dataset(tmp_path, schema=schema, format=form)
    with pytest.raises(InputError, match=r"0\.parquet' cannot be read.*size limit"):
        list(make_reader(source).read(100))


def test_a_dataset_of_texts_is_parsed_once(tmp_path):
    """Files that do not state their number of rows are not counted."""
    frame = make_frame(0, 60)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    source = dataset.dataset(tmp_path, format="csv")
    counted = []

    class Counting:
        def __init__(self, fragment):
            self.fragment = fragment

        def __getattr__(self, name):
            counted.append(name)
            return getattr(self.fragment, name)

    class Dataset:
        schema = source.schema

        def get_fragments(self):
            return map(Counting, source.get_fragments())

    found = [batch for _, batch in make_reader(Dataset()).read(25)]
    assert sum(batch.num_rows for batch in found) == 60
    assert "to_batches" in counted
    assert "count_rows" not in counted


@pytest.mark.parametrize("length", [0, 3, 20, 400, -9, -1])
def test_truncated_files_are_named(length, tmp_path):
    files = write_folder(tmp_path)
    files[1].write_bytes(files[1].read_bytes()[:length])
    with pytest.raises(InputError, match=r"1\.parquet' cannot be read"):
        counting().fit(str(tmp_path), "y")


def test_a_file_that_lacks_rows_is_named(tmp_path):
    """The number of rows in the metadata differs from that of its row groups."""
    path = tmp_path / "visits.parquet"
    make_frame(0, 60).to_parquet(path, index=False)
    content = bytearray(path.read_bytes())
    # Both are stored as the varint 120; the first is that of the file.
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[content.index(b"\x16\x78", footer) + 1] = 122
    path.write_bytes(content)
    assert parquet.read_metadata(path).num_rows == 61
    with pytest.raises(InputError, match="states 61 rows, but 60 can be read"):
        counting().fit(str(path), "y")


@pytest.mark.usefixtures("client")
def test_a_damaged_file_is_named_on_a_cluster(tmp_path):
    files = write_folder(tmp_path)
    there = dd.from_map(pd.read_parquet, files)
    damage_pages(files[2])
    with pytest.raises(PartitionError, match=r"Partition 2 of 4"):
        counting().fit(there, "y")


DRIFTS = {
    "an absent column": (lambda frame: frame.drop(columns="b"), r"'b'"),
    "another column": (lambda frame: frame.assign(c=1), r"'c'"),
    "texts for numbers": (lambda frame: frame.assign(a="x"), r"'a'"),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_file_with_other_columns_is_named(drift, tmp_path):
    files = write_folder(tmp_path)
    change, says = DRIFTS[drift]
    change(make_frame(2)).to_parquet(files[2])
    with pytest.raises(InputError, match=rf"2\.parquet.*{says}"):
        counting().fit(str(tmp_path / "*.parquet"), "y")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("drift", DRIFTS)
def test_a_partition_with_other_columns_is_named(drift):
    change, says = DRIFTS[drift]
    frames = [make_frame(number) for number in range(4)]
    frames[2] = change(frames[2])
    bag = db.from_delayed([dask.delayed([frame]) for frame in frames])
    with pytest.raises(InputError, match=says) as found:
        counting().fit(bag, "y")
    assert "found in partition 2, compared with partitions 0 to 1" in str(found.value)
    if drift == "another column":
        return  # Dask reads the columns of the first partition only
    parts = [dask.delayed(frame) for frame in frames]
    there = dd.from_delayed(parts, meta=frames[0], verify_meta=False)
    with pytest.raises((InputError, PartitionError), match=says) as found:
        counting().fit(there, "y")
    assert "artition 2" in str(found.value)


class ClosesTheClient(ChowLiu):
    """Loses its client in the middle of a fit."""

    def learn(self, data, *, random_state=None):
        data.client.close()
        return super().learn(data, random_state=random_state)

    @property
    def needs(self):
        return "data"


def test_a_client_that_is_closed_during_a_fit(client):
    there = dd.from_pandas(make_frame(0), npartitions=2)
    model = BayesNetClassifier(structure=ClosesTheClient(), parameters="fe")
    with pytest.raises(PartitionError, match=r"client is .*Make a new one"):
        model.fit(there, "y")
    assert client.status == "closed"


FULL = """
import resource, signal, sys
import numpy as np, pandas as pd
from tanager import Batches, BayesNetClassifier
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
frames = [pd.DataFrame({"a": range(5000), "y": [0, 1] * 2500})] * 4
model = BayesNetClassifier(structure="nb", parameters="fe")
source = iter(frames) if sys.argv[2] == "once" else frames
model.fit(Batches(source, max_memory=0, folder=sys.argv[1]), "y")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of files")
@pytest.mark.parametrize("read", ["once", "twice"])
def test_a_full_disk_names_the_folder_and_leaves_nothing(read, tmp_path):
    """The system refuses to let the codes, or the batches, grow beyond a limit."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), read],
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert "InputError" in last
    assert str(tmp_path) in last
    assert "Free space there" in last
    assert not list(tmp_path.iterdir())


FITS = """
import os, sys, warnings
import dask.dataframe as dd, numpy as np, pandas as pd
from distributed import Client, LocalCluster
from sklearn.exceptions import ConvergenceWarning
from tanager import Batches, BayesNetClassifier

if __name__ == "__main__":
    # Of a fit that keeps the best model so far.
    warnings.simplefilter("error", ConvergenceWarning)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 4000)
    frame = pd.DataFrame({f"x{j}": y + random.integers(0, 3, 4000) for j in range(6)})
    frame["y"] = y
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1",
        dashboard_address="127.0.0.1:0", local_directory=sys.argv[1], silence_logs=50,
    )
    with cluster, Client(cluster) as client:
        there = dd.from_pandas(frame, npartitions=3)
        pids = [nanny.process.pid for nanny in cluster.workers.values()]
        batches = Batches([frame] * 5, max_memory=0, folder=sys.argv[1])
        print(*pids, flush=True)
        try:
            while True:
                BayesNetClassifier(structure="tan", parameters="rcl").fit(there, "y")
                BayesNetClassifier(structure="nb", parameters="fe").fit(batches, "y")
        except (KeyboardInterrupt, ConvergenceWarning):
            print("interrupted", flush=True)
        import gc, time
        for _ in range(100):
            gc.collect()
            if not client.futures:
                break
            time.sleep(0.1)
        print("left", len(client.futures), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_ctrl_c_leaves_no_files_futures_or_processes(seconds, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FITS)
    folder = tmp_path / "work"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    assert len(workers) == 2
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGINT)
    lines = process.communicate(timeout=120)[0].split("\n")
    assert lines[:2] == ["interrupted", "left 0"]
    assert process.returncode == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert not [path for path in folder.rglob("*") if "tanager" in path.name]


def test_batches_are_released_when_a_fit_fails(tmp_path):
    """The file of the batches that are kept for the second pass goes, too."""
    frames = [make_frame(0), make_frame(1).drop(columns="b")]
    with pytest.raises(InputError, match="Batch 2"):
        counting().fit(Batches(iter(frames), folder=tmp_path), "y")
    assert not list(tmp_path.iterdir())
