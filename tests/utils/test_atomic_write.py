import os
import stat
import subprocess
import sys
import time

import pytest

from tanager.errors import InputError
from tanager.utils.atomic_write import (
    check_writable,
    replacing,
    write_bytes,
    write_text,
)

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")
not_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere"
)


def test_a_file_is_written_and_no_other_is_left(tmp_path):
    write_text(tmp_path / "a.txt", "größe\n")
    assert (tmp_path / "a.txt").read_bytes() == "größe\n".encode()
    write_bytes(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_the_old_file_stays_whole_on_any_failure(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_full_disk_is_reported_and_the_old_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"No space left on device; choose a folder"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"folder '.*none' does not exist; create it"):
        write_bytes(tmp_path / "none" / "a.txt", b"")


def test_a_file_as_folder(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(InputError, match="does not exist"):
        check_writable(tmp_path / "a.txt" / "b.txt")


def test_a_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(InputError, match="is a folder; give the name of a file"):
        write_bytes(tmp_path, b"")


@not_root
def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(InputError, match="Permission denied; choose a folder"):
        check_writable(folder / "a.txt")


def test_a_folder_that_refuses_files(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="Permission denied; choose a folder"):
        check_writable(tmp_path / "a.txt")


def test_a_read_only_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(
        InputError, match="may not be changed; give it write permission"
    ):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"


def test_check_writable_leaves_no_trace(tmp_path):
    check_writable(tmp_path / "a.txt")
    assert os.listdir(tmp_path) == []


@posix
def test_modes_are_those_of_a_plain_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    path = tmp_path / "a.txt"
    write_bytes(path, b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    write_bytes(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix
def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real.txt")
    write_bytes(tmp_path / "link", b"through")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"through"


@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/null")
def test_a_device_is_written_to_and_not_replaced():
    write_bytes("/dev/null", b"gone")
    assert not os.path.isfile("/dev/null")


def leave_behind(folder, age=0.0):
    """Kill a process while it writes a file; returns its temporary file."""
    script = (
        "import os, sys\n"
        "from tanager.utils.atomic_write import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    path = folder / "killed.txt"
    before = set(folder.iterdir())
    subprocess.run([sys.executable, "-c", script, path], check=False)
    (left,) = set(folder.iterdir()) - before
    os.utime(left, (time.time() - age,) * 2)
    return left


@posix
def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    left = leave_behind(tmp_path)
    assert left.read_bytes() == b"half"
    with replacing(tmp_path / "b.txt") as file:  # another process, which is alive
        file.write(b"b")
        write_text(tmp_path / "a.txt", "a")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]
    assert (tmp_path / "b.txt").read_bytes() == b"b"


@posix
def test_files_of_other_machines_are_removed_after_a_day(tmp_path):
    left = leave_behind(tmp_path)
    _, host, process, token = left.name.split("-")
    other = left.rename(tmp_path / f".tanager-{host[::-1]}-{process}-{token}")
    write_text(tmp_path / "a.txt", "a")
    assert other.exists()
    os.utime(other, (time.time() - 25 * 3600,) * 2)
    write_text(tmp_path / "a.txt", "a")
    assert os.listdir(tmp_path) == ["a.txt"]


def test_files_with_other_names_are_left_alone(tmp_path):
    for name in (".tanager-notes.tmp", "tanager-1.tmp", ".tanager-x-1-y.tmp"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    write_text(tmp_path / "a.txt", "a")
    assert len(os.listdir(tmp_path)) == 4


def test_null_characters_in_names(tmp_path):
    with pytest.raises(InputError, match="no null characters"):
        check_writable(f"{tmp_path}/a\0b")
