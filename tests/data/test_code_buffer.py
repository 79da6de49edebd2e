"""`CodeBuffer`: the same arrays in memory and in a file that leaves nothing behind."""

import numpy as np
import pytest

from tanager.data.code_buffer import CodeBuffer
from tanager.errors import InputError

DTYPES = [np.dtype(np.uint16)] * 3 + [np.dtype(np.uint8), np.dtype(np.float64)]


def _fill(buffer, columns, bounds):
    for start, stop in bounds:
        buffer.append([column[start:stop] for column in columns])


@pytest.mark.parametrize("max_memory", [0, 10**6])
@pytest.mark.parametrize("n_rows", [1, 5, 1000])
def test_columns_come_back(max_memory, n_rows, tmp_path):
    random = np.random.default_rng(0)
    columns = [random.integers(0, 200, n_rows).astype(dtype) for dtype in DTYPES]
    with CodeBuffer(n_rows, DTYPES, max_memory=max_memory, folder=tmp_path) as buffer:
        assert buffer.in_memory == bool(max_memory)
        _fill(buffer, columns, [(0, 1), (1, 1), (1, n_rows)])
        codes, labels, weights = buffer.matrix(0, 3), buffer.column(3), buffer.column(4)
        assert not list(tmp_path.iterdir())  # the file has no name
    assert codes.flags.f_contiguous
    assert codes.flags.writeable
    assert [a.dtype for a in (codes, labels, weights)] == [DTYPES[i] for i in (0, 3, 4)]
    np.testing.assert_array_equal(codes, np.column_stack(columns[:3]))
    np.testing.assert_array_equal(labels, columns[3])
    np.testing.assert_array_equal(weights, columns[4])


def test_passes_of_different_length():
    with CodeBuffer(2, DTYPES[3:4], max_memory=100) as buffer:
        buffer.append([np.zeros(1)])
        with pytest.raises(InputError, match="gave 2 rows, the second only 1"):
            buffer.column(0)
        with pytest.raises(InputError, match="gave 2 rows, the second more"):
            buffer.append([np.zeros(2)])


@pytest.mark.parametrize("name", ["no", "full"])
def test_a_folder_that_takes_no_file(name, tmp_path, monkeypatch):
    folder = tmp_path
    if name == "no":
        folder = tmp_path / "no"
    else:

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("tanager.data.code_buffer._reserve", full)
    buffer = CodeBuffer(10, DTYPES, max_memory=0, folder=folder)
    with (
        pytest.raises(InputError, match="cannot be kept in a temporary file") as caught,
        buffer,
    ):
        pass
    assert str(folder) in str(caught.value)
    assert f"{buffer.n_bytes:,} bytes" in str(caught.value)
    assert "max_memory" in str(caught.value)
    if name == "full":
        assert "No space left" in str(caught.value)
        assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_later(tmp_path, monkeypatch):
    with CodeBuffer(10, DTYPES, max_memory=0, folder=tmp_path) as buffer:

        class Full:
            def seek(self, place):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(buffer, "_file", Full())
        with pytest.raises(InputError, match="No space left on device"):
            buffer.append([np.zeros(10)] * 5)
