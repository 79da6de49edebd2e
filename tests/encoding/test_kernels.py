"""Compiled kernels, their plain Python form and NumPy give the same codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.encoding import EncodingPlan, TableEncoder, _kernels, read_frame
from tanager.errors import InputError
from tanager.model import Variable

DTYPES = [np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64]


def plain(function):
    """The function as written, also where the JIT is off."""
    return getattr(function, "py_func", function)


def both(function, *arguments):
    """Run the compiled and the plain form on copies; return their arguments."""
    results = []
    for form in (function, plain(function)):
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        results.append((form(*copies), copies))
    for (got, left), (expected, right) in [results]:
        assert got == expected
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b)
    return results[0]


@given(
    st.lists(st.floats(-9, 9, width=16) | st.just(np.nan), min_size=1, max_size=30),
    st.lists(st.floats(-8, 8, width=16), max_size=40, unique=True),
)
def test_find_bins(values, cuts):
    values, cuts = np.array(values), np.sort(np.array(cuts, dtype=float))
    missing = np.uint8(len(cuts) + 1)
    infinite, arguments = both(
        _kernels.find_bins, values, cuts, missing, np.empty(len(values), np.uint8)
    )
    assert not infinite
    expected = np.where(np.isnan(values), missing, np.searchsorted(cuts, values))
    np.testing.assert_array_equal(arguments[-1], expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_look_up(dtype):
    values = np.array([3, 5, 4, 0, 100, 7], dtype=dtype)
    table = np.array([0, 9, 1, 2], dtype=np.uint8)
    codes = np.uint8(8), np.uint8(9)
    infinite, arguments = both(
        _kernels.look_up, values, 3, table, *codes, np.empty(6, np.uint8)
    )
    assert not infinite
    assert arguments[-1].tolist() == [0, 1, 9, 9, 9, 9]
    if values.dtype.kind == "f":
        values[1:3] = np.nan, 3.5
        out = np.empty(6, np.uint8)
        arguments = both(_kernels.look_up, values, 3, table, *codes, out)[1]
        assert arguments[-1].tolist() == [0, 8, 9, 9, 9, 9]


def test_infinite_numbers_are_reported():
    out, cuts, table = np.empty(2, np.uint8), np.array([0.0]), np.zeros(1, np.uint8)
    for bad in (np.inf, -np.inf):
        values = np.array([np.nan, bad])
        codes = np.uint8(1), np.uint8(2)
        assert both(_kernels.look_up, values, 0, table, *codes, out)[0]
        assert both(_kernels.find_bins, values, cuts, np.uint8(2), out)[0]


@pytest.mark.parametrize(
    ("values", "valid"),
    [
        ([0.0, 254.0, np.nan], True),
        ([0, 254], True),
        ([255], False),
        ([-1], False),
        ([0.5], False),
        ([np.inf], False),
    ],
)
def test_scan(values, valid):
    values, present = np.array(values), np.zeros(256, dtype=bool)
    found, arguments = both(
        _kernels.scan, values, np.empty(len(values), np.uint8), present
    )
    assert found == valid
    if valid:
        codes = np.nan_to_num(values, nan=255).astype(int)
        np.testing.assert_array_equal(arguments[1], codes)
        np.testing.assert_array_equal(np.flatnonzero(arguments[2]), np.unique(codes))


def matrices():
    """Matrices that take every way through fit and encode."""
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 5, (1300, 7))
    incomplete = whole.astype(float)
    incomplete[rng.random(incomplete.shape) < 0.1] = np.nan
    wide = whole.copy()
    wide[:, 2] = rng.integers(0, 300, 1300)
    shifted = whole * 3 + 1
    shifted[:, 0] -= 50
    mixed = incomplete.copy()
    mixed[:, 1] += 0.5
    mixed[:, 3] *= 1e9
    mixed[:, 4] = np.nan
    return {
        "whole": whole,
        "incomplete": incomplete,
        "wide": wide,
        "shifted": shifted,
        "mixed": mixed,
        "float32": incomplete.astype(np.float32),
        "uint8": whole.astype(np.uint8),
        "swapped": whole.astype(">i4"),
        "float16": incomplete.astype(np.float16),
    }


@pytest.mark.parametrize("categorical", ["all", [0, 2, 4], None])
@pytest.mark.parametrize(
    ("name", "layout"),
    [
        *((name, "rows") for name in matrices()),
        *((name, "frame") for name in matrices()),
        *(("whole", layout) for layout in ("columns", "strided", "writeable")),
        *(("mixed", layout) for layout in ("columns", "strided", "writeable")),
    ],
)
def test_compiled_equals_numpy(name, categorical, layout, monkeypatch):
    X = matrices()[name]
    if layout == "columns":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    elif layout == "frame":
        X = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    elif layout == "rows":
        X.flags.writeable = False
    monkeypatch.setattr("tanager.utils.jit.SMALL_WORK", 10**9)
    encoder = TableEncoder(numeric="quantile", categorical_features=categorical)
    expected = encoder.fit_encode(X)
    schema = encoder.schema_
    np.testing.assert_array_equal(encoder.encode(X), expected)
    monkeypatch.setattr("tanager.utils.jit.SMALL_WORK", -1)
    monkeypatch.setattr("tanager.encoding.encoding_plan.TASK_ROWS", 600)
    monkeypatch.setattr("tanager.encoding.frame_schema.TASK_ROWS", 600)
    for n_jobs in (1, 2):
        codes = encoder.fit_encode(X, n_jobs=n_jobs)
        assert encoder.schema_ == schema
        assert codes.dtype == expected.dtype
        assert codes.flags.f_contiguous
        np.testing.assert_array_equal(codes, expected)
        np.testing.assert_array_equal(encoder.encode(X, n_jobs=n_jobs), expected)
        assert encoder.fit(X, n_jobs=n_jobs).schema_ == schema
    block = EncodingPlan(read_frame(X), schema.variables).encode(37, 1207)
    np.testing.assert_array_equal(block, expected[37:1207])


def test_compiled_infinite_numbers_name_their_column(kernels_always):
    X = np.array([[1.0, 2.0], [3.0, np.inf], [5.0, 6.0]])
    for variable in (Variable.binned("b", [1.0]), Variable("b", (2, 6))):
        variables = [Variable.binned("a", [1.0]), variable]
        for table in (read_frame(X), read_frame({"a": X[:, 0], "b": X[:, 1]})):
            with pytest.raises(InputError, match="column 'b'"):
                EncodingPlan(table, variables).encode()


def test_ordinal_lists_in_compiled_fits(kernels_always):
    X = np.array([[2], [0], [1], [2]])
    encoder = TableEncoder(ordinal_features={0: [2, 1, 0, 7]})
    assert encoder.fit_encode(X).tolist() == [[0], [2], [1], [0]]
    with pytest.raises(InputError, match="'x0' holds 0"):
        TableEncoder(ordinal_features={0: [2, 1]}).fit(X)


def test_memory_maps(tmp_path, kernels_always):
    path = tmp_path / "x.npy"
    X = np.random.default_rng(0).integers(0, 4, (50, 3))
    np.save(path, X)
    encoder = TableEncoder(categorical_features="all")
    np.testing.assert_array_equal(encoder.fit_encode(np.load(path, mmap_mode="r")), X)


@pytest.mark.parametrize("n_cuts", [_kernels.FEW_CUTS, _kernels.FEW_CUTS + 1, 100])
def test_find_bins_of_several_tiles(n_cuts):
    random = np.random.default_rng(n_cuts)
    values = random.normal(size=_kernels.TILE + 700)
    values[::9] = np.nan
    cuts = np.sort(random.choice(values[1:8], n_cuts))
    cuts += np.arange(n_cuts) * 0.01
    out = np.empty(len(values), dtype=np.uint8)
    missing = np.uint8(n_cuts + 1)
    assert not _kernels.find_bins(values, cuts, missing, out)
    expected = np.where(np.isnan(values), missing, np.searchsorted(cuts, values))
    np.testing.assert_array_equal(out, expected)
    values[-1] = -np.inf
    assert _kernels.find_bins(values, cuts, missing, out)
