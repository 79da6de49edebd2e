"""Journals of rounds: values come back bit by bit, broken files are recognised."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tanager.data import Counts
from tanager.data.journaled_data import JournaledData
from tanager.data.round_journal import MAGIC, RoundJournal
from tanager.data.round_values import pack_value, unpack_value
from tanager.errors import FileFormatError, InputError
from tests.partitions import cut, make_data

FINGERPRINT = {"C": 1.0, "samples": "0" * 32}


def same(one, other):
    """Equal in type and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        layouts = one.flags.f_contiguous == other.flags.f_contiguous
        return layouts and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, (float, np.floating)):
        return np.float64(one).tobytes() == np.float64(other).tobytes()
    return one == other


numbers = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
    st.integers(-99, 99).map(np.int32), st.floats().map(np.float64),
)  # fmt: skip
values = st.recursive(
    st.one_of(
        numbers,
        arrays(np.float64, array_shapes(min_dims=0, min_side=0)),
        arrays(np.uint8, array_shapes(min_dims=2, max_dims=2)).map(np.asfortranarray),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.tuples(st.integers(), st.text(max_size=2)), inner),
    ),
    max_leaves=8,
)


@given(values)
def test_values_come_back_bit_by_bit(value):
    assert same(unpack_value(pack_value(value)), value)


def test_results_of_rounds_come_back():
    counts = make_data(50).count([(6, 0), (6,)])
    found = unpack_value(pack_value(counts))
    assert isinstance(found, Counts)
    assert found.layout == counts.layout
    assert (found.values == counts.values).all()
    random = np.random.default_rng(3)
    random.random(5)
    assert unpack_value(pack_value(random)).random() == random.random()


def test_arrays_that_are_read_can_be_changed():
    found = unpack_value(pack_value(np.zeros(3)))
    found += 1
    assert found.sum() == 3


@pytest.mark.parametrize("value", [object(), np.array([None]), pytest, {1: {object()}}])
def test_other_values_are_refused(value):
    with pytest.raises(TypeError):
        pack_value(value)


def packed(described):
    text = json.dumps(described).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "described",
    [
        ["dataclass", "os", "environ", {}],
        ["dataclass", "tanager.data.round_values", "pack_value", {}],
        ["dataclass", "tanager.model.schema", "Schema", {"names": 1}],
        ["dataclass", "tanager.nothing", "Nothing", {}],
        ["array", "|O", [1], "C", 8],
        ["array", "<f8", [10**9], "C", 8],
        ["generator", {"bit_generator": "Generator"}],
        ["generator", {"bit_generator": "seed"}],
        ["call", "print"],
        [],
        [["list"]],
    ],
)
def test_hostile_values_are_refused(described):
    with pytest.raises((FileFormatError, InputError)):
        unpack_value(packed(described))


@given(st.binary(max_size=40))
def test_other_bytes_are_refused_or_are_a_value(content):
    try:
        unpack_value(content)
    except FileFormatError:
        return
    assert len(content) >= 8


def write(path, results, fingerprint=FINGERPRINT):
    with RoundJournal(path, fingerprint) as journal:
        found = [journal.recall(str(i), lambda r=r: r) for i, r in enumerate(results)]
        return found, journal.n_recalled, journal.n_written, journal.seed


def test_results_are_recalled_and_the_rest_is_computed(tmp_path):
    path = tmp_path / "fit.rounds"
    first = write(path, [1.5, 2.5])
    second = write(path, [None, None, 3.5])
    assert first[:3] == ([1.5, 2.5], 0, 2)
    assert second[:3] == ([1.5, 2.5, 3.5], 2, 1)
    assert first[3] == second[3]  # the seed is kept


@pytest.mark.parametrize("n_parts", [1, 3])
def test_results_of_learners_are_recalled_by_journaled_data_alone(n_parts, tmp_path):
    """Other data compute them; functions need not be importable."""
    whole = make_data(50)
    data = whole if n_parts == 1 else cut(whole, n_parts)
    run = []
    for number in (1, 2):
        assert data.recall("epochs", lambda k=number: run.append(k) or k) == number
    with RoundJournal(tmp_path / "fit.rounds", FINGERPRINT) as journal:
        journaled = JournaledData(data, journal)
        assert journaled.recall("epochs", lambda: run.append(3) or 3) == 3
    with RoundJournal(tmp_path / "fit.rounds", FINGERPRINT) as journal:
        journaled = JournaledData(data, journal)
        assert journaled.recall("epochs", lambda: run.append(4) or 4) == 3
    assert run == [1, 2, 3]


def test_a_file_cut_anywhere_keeps_its_whole_records(tmp_path):
    path = tmp_path / "fit.rounds"
    write(path, [np.arange(5.0), 2.5, "three"])
    whole = path.read_bytes()
    ends = []
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        found, n_recalled, n_written, _ = write(path, [np.arange(5.0), 2.5, "three"])
        assert found[1:] == [2.5, "three"]
        assert n_recalled + n_written == 3
        ends.append(n_recalled)
        assert path.read_bytes().endswith(whole[-100:])
    assert ends == sorted(ends)
    assert set(ends) == {0, 1, 2}


def test_a_changed_byte_ends_the_results_that_are_read(tmp_path):
    path = tmp_path / "fit.rounds"
    write(path, [1.5, 2.5, 3.5])
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    assert write(path, [1.5, 2.5, 3.5])[:3] == ([1.5, 2.5, 3.5], 2, 1)


def test_the_file_of_another_run_is_named_and_kept(tmp_path):
    path = tmp_path / "fit.rounds"
    write(path, [1.5])
    before = path.read_bytes()
    other = {"C": 2.0, "samples": "1" * 32}
    with pytest.raises(InputError, match=r"C was 1.0 and is 2.0 now; samples differ"):
        RoundJournal(path, other)
    assert path.read_bytes() == before


def test_results_of_other_rounds_are_refused(tmp_path):
    path = tmp_path / "fit.rounds"
    write(path, [1.5])
    with (
        RoundJournal(path, FINGERPRINT) as journal,
        pytest.raises(InputError, match="result 1 is that of 0, and sum is needed"),
    ):
        journal.recall("sum", lambda: 1)


@pytest.mark.parametrize("content", [b"PK\3\4", b"tanager model", MAGIC[:-1] + b"x"])
def test_files_of_other_kinds_are_not_touched(tmp_path, content):
    path = tmp_path / "fit.rounds"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no checkpoint of a fit and was not changed"):
        RoundJournal(path, FINGERPRINT)
    assert path.read_bytes() == content


@pytest.mark.parametrize("path", [None, "", 3, "/nowhere/fit.rounds", "."])
def test_impossible_paths_are_refused(path):
    with pytest.raises(InputError):
        RoundJournal(path, FINGERPRINT)


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_a_file_in_use_is_refused(tmp_path):
    path = tmp_path / "fit.rounds"
    with (
        RoundJournal(path, FINGERPRINT),
        pytest.raises(InputError, match="in use by another fit"),
    ):
        RoundJournal(path, FINGERPRINT)
    write(path, [1.5])


def test_the_fit_goes_on_when_the_disk_is_full(tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, content):
            raise OSError(28, "No space left on device")

        def close(self):
            self.file.close()

    with RoundJournal(path, FINGERPRINT) as journal:
        assert journal.recall("0", lambda: 1.5) == 1.5
        monkeypatch.setattr(journal, "_file", Full(journal._file))
        with pytest.warns(RuntimeWarning, match=r"No space left.*from result 1\."):
            assert journal.recall("1", lambda: 2.5) == 2.5
        assert journal.recall("2", lambda: 3.5) == 3.5
    assert write(path, [1.5, 2.5])[:3] == ([1.5, 2.5], 1, 1)


def test_a_killed_process_loses_nothing_that_was_written(tmp_path):
    path = tmp_path / "fit.rounds"
    code = f"""
import os, signal
from tanager.data.journaled_data import JournaledData
from tanager.data.round_journal import RoundJournal
journal = RoundJournal({os.fspath(path)!r}, {FINGERPRINT!r})
for i in range(5):
    journal.recall(str(i), lambda: i + 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert write(path, [None] * 5)[:3] == ([0.5, 1.5, 2.5, 3.5, 4.5], 5, 0)
