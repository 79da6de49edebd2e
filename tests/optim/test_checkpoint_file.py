from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from tanager.errors import InputError
from tanager.losses import HybridLoss
from tanager.optim import Checkpoint
from tanager.utils.fingerprint import checksum, describe
from tanager.utils.generator_state import generator_state, restore_generator

IDENTITY = {"settings": {"rate": 0.1, "losses": ["hybrid", None]}, "rows": "a1b2"}
ARRAYS = {
    "log_theta": np.array([[0.1, -np.inf], [np.nan, 1e-308]]),
    "steps": np.array(7),
    "chosen": np.arange(3, dtype=np.int32),
    "file": np.array([True, False]),
    "none": np.empty((0, 2)),
}
PROGRESS = {
    "epoch": 3,
    "trace": [{"error": 0.1 + 0.2, "held_out": float("nan")}, {"error": 1e-17}],
    "größe": "ß",
}


def saved(path, identity=IDENTITY):
    checkpoint = Checkpoint(path, identity)
    checkpoint.save(ARRAYS, PROGRESS)
    return checkpoint


def assert_is_kept(found):
    arrays, progress = found
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable
    assert repr(progress) == repr(PROGRESS)  # NaN is not equal to itself


def with_document(path, **changes):
    """Write the file anew with another document."""
    with np.load(path) as archive:
        entries = dict(archive)
    document = {**json.loads(bytes(entries["document"])), **changes}
    text = json.dumps(document).encode()
    entries["document"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(path, **entries)


def test_what_is_saved_comes_back_to_the_last_bit(tmp_path):
    path = tmp_path / "run"
    assert Checkpoint(path, IDENTITY).load() is None
    assert os.listdir(tmp_path) == []
    checkpoint = saved(path)
    assert_is_kept(checkpoint.load())
    assert_is_kept(Checkpoint(str(path), IDENTITY).load())
    assert os.listdir(tmp_path) == ["run"]


def test_the_last_save_counts(tmp_path):
    checkpoint = saved(tmp_path / "run.npz")
    checkpoint.save({"steps": np.array(8)}, {"epoch": 4})
    arrays, progress = Checkpoint(tmp_path / "run.npz", IDENTITY).load()
    assert arrays == {"steps": np.array(8)}
    assert progress == {"epoch": 4}


def test_numbers_of_numpy_and_tuples_are_plain_values(tmp_path):
    identity = {"rate": np.float64(0.1), "shape": (2, np.int8(3)), "ok": np.True_}
    path = tmp_path / "run.npz"
    Checkpoint(path, identity).save({}, {"error": np.float32(0.5), "at": (1, 2)})
    plain = Checkpoint(path, {"rate": 0.1, "shape": [2, 3], "ok": True})
    assert plain.load() == ({}, {"error": 0.5, "at": [1, 2]})


def test_remove(tmp_path):
    checkpoint = saved(tmp_path / "run.npz")
    checkpoint.remove()
    assert os.listdir(tmp_path) == []
    checkpoint.remove()
    assert checkpoint.load() is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": "ffff"}, "rows was 'a1b2' and is 'ffff' now"),
        ({"settings": {"rate": 0.2, "losses": ["hybrid", None]}},
         r"settings\.rate was 0\.1 and is 0\.2 now"),
        ({"settings": {"rate": 0.1, "losses": ["margin", None]}},
         r"settings\.losses was \['hybrid', None\] and is \['margin', None\] now"),
        ({"settings": {"rate": 0.1}}, r"settings\.losses was .* is not given now"),
        ({"seed": 1}, "seed was not given and is 1 now"),
        ({"rows": None, "settings": 3}, "settings was .*; rows was 'a1b2' and is None"),
        ({"rows": "x" * 500}, r"is 'x{36}\.\.\. now"),
        (dict.fromkeys("abcdef", 1), "c was not given .*; and 3 more"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("action", ["load", "save", "remove"])
def test_a_file_of_another_run_is_refused_and_stays(tmp_path, changes, message, action):
    path = tmp_path / "run.npz"
    saved(path)
    before = path.read_bytes()
    other = Checkpoint(path, {**IDENTITY, **changes})
    arguments = (ARRAYS, PROGRESS) if action == "save" else ()
    with pytest.raises(InputError, match=f"of another run: .*{message}") as error:
        getattr(other, action)(*arguments)
    assert "or delete the file to start again." in str(error.value)
    assert path.read_bytes() == before


def test_nan_agrees_with_nan_and_one_with_one(tmp_path):
    path = tmp_path / "run.npz"
    saved(path, {"gamma": float("nan"), "rate": 1})
    assert Checkpoint(path, {"rate": 1.0, "gamma": float("nan")}).load() is not None


def text_file(path):
    path.write_text("a,b\n1,2\n")


def empty_file(path):
    path.write_bytes(b"")


def array_file(path):
    with open(path, "wb") as file:
        np.save(file, np.arange(3))


def foreign_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "dear")


def other_document(path):
    np.savez(path, document=np.frombuffer(b"[1]", dtype=np.uint8))


@pytest.mark.parametrize(
    "write", [text_file, empty_file, array_file, foreign_archive, other_document]
)
@pytest.mark.parametrize("action", ["load", "save", "remove"])
def test_a_foreign_file_is_refused_and_stays(tmp_path, write, action):
    path = tmp_path / "run.npz"
    write(path)
    before = path.read_bytes()
    arguments = (ARRAYS, PROGRESS) if action == "save" else ()
    with pytest.raises(InputError, match=r"is no checkpoint of tanager .* not changed"):
        getattr(Checkpoint(path, IDENTITY), action)(*arguments)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [0, 1, None])
def test_a_file_of_another_format_is_refused(tmp_path, number):
    path = tmp_path / "run.npz"
    saved(path)
    with_document(path, format=number)
    with pytest.raises(InputError, match=f"has format {number} and this version"):
        Checkpoint(path, IDENTITY).load()


@pytest.mark.parametrize("part", ["identity", "progress"])
def test_a_document_without_its_parts_is_damaged(tmp_path, part):
    path = tmp_path / "run.npz"
    saved(path)
    with_document(path, **{part: [1]})
    with pytest.raises(InputError, match=r"is damaged.*no mapping"):
        Checkpoint(path, IDENTITY).load()


def test_a_truncated_file_is_refused_at_any_length(tmp_path):
    path = tmp_path / "run.npz"
    saved(path)
    whole = path.read_bytes()
    checkpoint = Checkpoint(path, IDENTITY)
    for length in {2, 30, len(whole) // 2, *range(len(whole) - 60, len(whole))}:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"is damaged.*start again\.$"):
            checkpoint.load()


def test_changed_bytes_are_refused_or_change_nothing(tmp_path):
    """Every entry has a check sum; bytes between the entries say nothing."""
    path = tmp_path / "run.npz"
    saved(path)
    whole = path.read_bytes()
    refused = 0
    random = np.random.default_rng(0)
    for place in random.integers(0, len(whole), 400):
        changed = bytearray(whole)
        changed[place] ^= int(random.integers(1, 256))
        path.write_bytes(changed)
        try:
            found = Checkpoint(path, IDENTITY).load()
        except InputError:
            refused += 1
        else:
            assert_is_kept(found)
    assert refused > 200


class Bomb:
    """Does something if it is unpickled."""

    def __reduce__(self):
        return (os._exit, (3,))


def test_nothing_in_a_file_is_executed(tmp_path):
    path = tmp_path / "run.npz"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match="is no checkpoint"):
        Checkpoint(path, IDENTITY).load()
    path.unlink()
    saved(path)
    with np.load(path) as archive:
        entries = dict(archive)
    array = np.empty(1, dtype=object)
    array[0] = Bomb()
    np.savez(path, **{**entries, "array.steps": array})
    with pytest.raises(InputError, match="is damaged"):
        Checkpoint(path, IDENTITY).load()


def test_arrays_of_objects_are_not_saved(tmp_path):
    path = tmp_path / "run.npz"
    saved(path)
    for odd in (np.array([None]), np.array(["a"])):
        with pytest.raises(InputError, match=r"Array 'odd' is of type .* numbers"):
            Checkpoint(path, IDENTITY).save({"odd": odd}, {})
    assert_is_kept(Checkpoint(path, IDENTITY).load())


def test_values_that_are_not_plain_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(InputError, match=r"plain values only: .* got a set"):
        Checkpoint(path, {"names": {"a"}})
    saved(path)
    with pytest.raises(InputError, match="got a Checkpoint"):
        Checkpoint(path, IDENTITY).save({}, {"self": Checkpoint(path, IDENTITY)})
    assert_is_kept(Checkpoint(path, IDENTITY).load())


@pytest.mark.parametrize("path", ["", None, 3, b"run.npz"])
def test_a_path_must_name_a_file(path):
    with pytest.raises(InputError, match="must be the name of a file"):
        Checkpoint(path, IDENTITY)


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="does not exist; create it"):
        Checkpoint(tmp_path / "none" / "run.npz", IDENTITY)
    with pytest.raises(InputError, match="is a folder"):
        Checkpoint(tmp_path, IDENTITY)


def test_a_full_disk_raises_and_keeps_the_former_state(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    checkpoint = saved(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left on device"):
            checkpoint.save({}, {})
    assert os.listdir(tmp_path) == ["run.npz"]
    assert_is_kept(checkpoint.load())
    checkpoint.save({}, {"epoch": 9})  # there is space again
    assert checkpoint.load() == ({}, {"epoch": 9})


def test_a_file_that_cannot_be_read_or_removed(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    checkpoint = saved(path)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("builtins.open", refuse)
        with pytest.raises(InputError, match=r"Cannot read .*: Permission denied"):
            checkpoint.load()
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        with pytest.raises(InputError, match=r"Cannot remove .*: Permission denied"):
            checkpoint.remove()
    assert_is_kept(checkpoint.load())


KILLED = """
import os, signal, sys
import numpy as np
from tanager.optim import Checkpoint

path, at = sys.argv[1], sys.argv[2]
checkpoint = Checkpoint(path, {"run": 1})
checkpoint.save({"vector": np.zeros(50_000)}, {"epoch": 1})

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os, at, die)
checkpoint.save({"vector": np.ones(50_000)}, {"epoch": 2})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_a_run_killed_while_it_saves_leaves_the_former_state(tmp_path, at):
    path = tmp_path / "run.npz"
    run = subprocess.run([sys.executable, "-c", KILLED, str(path), at], check=False)
    assert run.returncode == -signal.SIGKILL
    arrays, progress = Checkpoint(path, {"run": 1}).load()
    assert progress == {"epoch": 1}
    assert not arrays["vector"].any()


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_random_numbers_go_on_where_they_stood(tmp_path, kind):
    random = np.random.Generator(getattr(np.random, kind)(5))
    random.integers(0, 10, 3, dtype=np.uint8)  # leaves half a word behind
    checkpoint = Checkpoint(tmp_path / "run.npz", {})
    checkpoint.save({}, {"random": generator_state(random)})
    expected = random.random(5), random.permutation(9), random.gumbel(size=3)
    other = np.random.Generator(getattr(np.random, kind)(6))
    same = other.bit_generator
    restore_generator(other, checkpoint.load()[1]["random"])
    assert other.bit_generator is same
    found = other.random(5), other.permutation(9), other.gumbel(size=3)
    for one, two in zip(found, expected, strict=True):
        assert np.array_equal(one, two)


def test_states_of_other_generators_are_refused():
    state = generator_state(np.random.default_rng(0))
    other = np.random.Generator(np.random.MT19937(0))
    with pytest.raises(InputError, match=r"that of 'PCG64', .* of kind 'MT19937'"):
        restore_generator(other, state)
    for odd in ({}, None, {"bit_generator": "PCG64"},
                {**state, "state": {"state": "a", "inc": 1}}):  # fmt: skip
        random = np.random.default_rng(1)
        with pytest.raises(InputError, match="state of the random numbers"):
            restore_generator(random, odd)


def test_a_checksum_depends_on_values_types_and_shapes():
    random = np.random.default_rng(0)
    rows = random.integers(0, 9, (50, 7)).astype(np.uint8)
    changed = rows.copy()
    changed[49, 6] ^= 1
    others = [
        (rows,),
        (changed,),
        (rows.astype(np.uint16),),
        (rows.reshape(7, 50),),
        (rows.T,),
        (rows, None),
        (None, rows),
        (rows, rows),
        (rows[:25], rows[25:]),
        (),
        (np.array(1.0),),
        (np.array([1.0]),),
    ]
    assert len({checksum(*arrays) for arrays in others}) == len(others)


def test_a_checksum_does_not_depend_on_the_memory():
    rows = np.random.default_rng(0).normal(size=(40, 6))
    wide = np.zeros((40, 12))
    wide[:, ::2] = rows
    read_only = rows.copy()
    read_only.flags.writeable = False
    for same in (np.asfortranarray(rows), wide[:, ::2], rows.astype(">f8"), read_only):
        assert checksum(same) == checksum(rows)
    assert len(checksum(np.empty((0, 3)))) == 32


def test_a_checksum_of_objects_is_refused():
    with pytest.raises(InputError, match="expected numbers"):
        checksum(np.array(["a", None], dtype=object))


def test_an_archive_can_be_read_with_numpy_alone(tmp_path):
    saved(tmp_path / "run.npz")
    content = io.BytesIO((tmp_path / "run.npz").read_bytes())
    with np.load(content, allow_pickle=False) as archive:
        assert archive["array.chosen"].tolist() == [0, 1, 2]
        assert json.loads(bytes(archive["document"]))["progress"]["epoch"] == 3


class Plain:
    """An object that shows where it is in memory."""

    def __init__(self, number):
        self.number, self.inner = number, [np.arange(3), None]


def test_settings_are_described_alike_in_any_process():
    assert repr(Plain(1)) != repr(Plain(1))
    one, two = describe(Plain(1)), describe(Plain(2))
    assert one == describe(Plain(1)) != two
    assert one["class"] == "Plain"
    assert one["inner"] == [checksum(np.arange(3)), None]
    assert describe(np.array(["a", "b"])) == describe(("a", "b")) == ["a", "b"]
    assert describe({"a": ("b",)}) == {"a": ["b"]}
    arcs = [("a", "b"), ("c", "d"), ("a", "e")]
    assert (
        describe(set(arcs))
        == describe(frozenset(arcs[::-1]))
        == sorted(map(list, arcs))
    )
    assert describe(range(2)) == [0, 1]


def different_one():
    """A function to be described."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({("a", "b")}, {("a", "c")}),
        (range(3), range(4)),
        (test_settings_are_described_alike_in_any_process, different_one),
        (1 + 2j, 1 + 3j),
    ],
)
def test_different_settings_are_described_differently(one, other):
    assert describe(one) != describe(other)
    json.dumps(describe(one))
    assert describe(HybridLoss(gamma=2.0)) != describe(HybridLoss())
