"""Files that fuzzing found (``python -m lab fuzz``), each as small as can be."""

import gzip
import sys

import numpy as np
import pytest

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    ChowLiu,
    ConditionalLikelihood,
    EqualWidthEncoder,
    HillClimbing,
)
from tanager.errors import InputError
from tanager.io import data_files, read_table, write_table
from tanager.io.model_npz import file_content
from tanager.structure import Fixed

pyarrow = pytest.importorskip("pyarrow")


def test_arrow_files_with_offsets_out_of_range(tmp_path):
    """Read without a check, they ended the process by a segmentation fault."""
    path = tmp_path / "t.arrow"
    write_table(path, {"a": np.array(["one", "two", "three"], dtype=object)})
    content = bytearray(path.read_bytes())
    offsets = np.array([0, 3, 6, 11], dtype="<i4").tobytes()
    place = content.find(offsets)
    assert place >= 0
    for wrong in ([0, 3, 6, 2**31 - 1], [0, 3, -5, 11], [5, 3, 6, 11]):
        content[place : place + 16] = np.array(wrong, dtype="<i4").tobytes()
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a readable Arrow file"):
            read_table(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_texts_that_are_not_utf_8(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write_table(path, {"a": np.array(["one", "two", "three"], dtype=object)})
    content = path.read_bytes()
    changed = content.replace(b"three", b"thr\xff\xc0")
    assert changed != content
    path.write_bytes(changed)
    with pytest.raises(InputError, match=r"is not a readable .*UTF"):
        read_table(path)


def test_gzip_files_that_unpack_without_end(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 300_000))
    assert read_table(path).n_rows == 300_000
    monkeypatch.setattr(data_files, "FREE_BYTES", 1000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_table(path)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_reading_a_small_file_does_not_allocate_the_limit(tmp_path):
    import resource

    path = tmp_path / "small"
    path.write_bytes(b"small")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**28, limits[1]))
    try:
        assert file_content(path, 2**30, "The file") == b"small"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": np.arange(3)}, "missing must be 'marginalize' or 'error'"),
        ({"warm_start": np.arange(3)}, "warm_start must be True or False"),
        ({"structure__root": (0, 1)}, "root must be a feature's name"),
        ({"structure__root": 0.5}, "root must be a feature's name"),
        ({"encoder": EqualWidthEncoder(n_bins=10**30)}, "n_bins must be at most"),
    ],
)
def test_settings_of_other_types(settings, message):
    from tanager import ChowLiu

    model = BayesNetClassifier(structure=ChowLiu(), parameters="fe")
    model.set_params(**settings)
    with pytest.raises(InputError, match=message):
        model.fit({"a": [0.5, 1.5, 2.0], "b": [1, 0, 1]}, [0, 1, 0])


@pytest.mark.parametrize("X", [{}, np.empty((0, 2)), np.empty((3, 0)), np.zeros(3)])
def test_empty_tables_are_errors_of_the_library(X):
    with pytest.raises(InputError):
        BayesNetClassifier().fit(X, [0, 1, 0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": HillClimbing(tabu=10**30)}, "tabu must be a whole number"),
        ({"structure": ChowLiu(criterion=np.arange(3))}, "Unknown criterion"),
        ({"structure": Fixed(edges=0)}, "edges must be a list"),
        ({"structure": Fixed(edges=[0, 1])}, "edges expects"),
        ({"parameters": ConditionalLikelihood(C=np.arange(3))}, "C must be a finite"),
        ({"parameters": ConditionalLikelihood(smooth=np.arange(3))}, "smooth must be"),
    ],
)
def test_settings_that_cannot_be_compared(settings, message):
    with pytest.raises(InputError, match=message):
        BayesNetClassifier(**settings).fit({"a": [0.5, 1.5, 2.0, 1.0]}, [0, 1, 0, 1])


def test_numpy_integers_are_whole_numbers():
    model = BayesNetClassifier(structure=HillClimbing(tabu=np.int64(3)))
    model.fit({"a": ["u", "v", "u"], "b": ["p", "p", "q"]}, [0, 1, 0])
    assert model.predict_proba({"a": ["u"], "b": ["p"]}).shape == (1, 2)


def test_boosting_takes_every_seed():
    member = BayesNetClassifier("categorical", "nb", "fe")
    for seed in (10**30, (), np.arange(3)):
        model = BoostedClassifier(member, n_estimators=2, random_state=seed)
        model.fit({"a": ["u", "v", "u", "v"]}, [0, 1, 1, 0])
