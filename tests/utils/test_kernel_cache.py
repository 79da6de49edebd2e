"""Caches of kernels that are damaged, full or open to all."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tanager.utils import kernel_cache

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is no cache without JIT"
)

SOURCE = """
from tanager.utils.jit import kernel


def add(a, b):
    return a + b


add = kernel(add)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that imports a module with one kernel, as a new process does."""
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    monkeypatch.setattr(kernel_cache, "_warned", False)

    def load():
        spec = importlib.util.spec_from_file_location(
            "kernels", tmp_path / "kernels.py"
        )
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found

    return load


def cached_files(folder: Path, suffix: str) -> list[Path]:
    return list((folder / "__pycache__").glob(f"*.{suffix}"))


def test_a_kernel_is_cached(module, tmp_path):
    assert module().add(1, 2) == 3
    assert cached_files(tmp_path, "nbc")
    again = module()
    assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1


TWO_KERNELS = """
import sys
import numpy as np
from tanager.utils.jit import kernel


@kernel
def running_sums(values):
    sums = np.zeros(len(values))
    total = 0.0
    for i in range(len(values)):
        total += np.exp(values[i])
        sums[i] = total
    return sums, total


@kernel
def largest_sum(values):
    sums, total = running_sums(values)
    return max(sums.max(), total)


values = np.log(np.arange(1.0, 5.0))
sums, total = running_sums(values)
assert np.allclose(sums, [1, 3, 6, 10]), sums
assert np.isclose(total, 10), total
print(*running_sums.stats.cache_hits.values(), "numba.np.linalg" in sys.modules)
if sys.argv[1:]:
    assert np.isclose(largest_sum(values), 10)
"""


def test_what_compiles_is_not_loaded_with_a_kernel(tmp_path):
    script = tmp_path / "two_kernels.py"
    script.write_text(TWO_KERNELS)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-W", "error", str(script), *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.strip()

    assert run() == "True"  # compiled, so everything is there
    assert run() == "1 False"
    assert run("compile") == "1 False"  # a kernel that calls the one that was loaded
    assert run("compile") == "1 False"


def test_a_numba_without_its_present_parts_loads_kernels(module, monkeypatch):
    monkeypatch.setattr(kernel_cache, "LOADS_ALONE", False)
    monkeypatch.setattr(kernel_cache, "rtsys", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module().add(1, 2) == 3
        again = module()
        assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("keep", [0, 20, 60])
def test_a_file_that_is_cut_short_is_compiled_again(module, tmp_path, suffix, keep):
    module().add(1, 2)
    (path,) = cached_files(tmp_path, suffix)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.warns(RuntimeWarning, match="cache of compiled kernels cannot be used"):
        assert module().add(1, 2) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = module()
        assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1  # it was replaced


def test_a_full_disk_costs_the_cache_only(module, tmp_path, monkeypatch):
    from numba.core.caching import IndexDataCacheFile

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    found = module()
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert found.add(1, 2) == 3
    with warnings.catch_warnings():  # one warning is enough
        warnings.simplefilter("error")
        assert found.add(1.0, 2.0) == 3.0
    assert not cached_files(tmp_path, "nbc")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")
def test_a_folder_that_all_may_write_to_is_not_used(module, tmp_path):
    folder = tmp_path / "__pycache__"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="every user may write to the folder"):
        assert module().add(1, 2) == 3
    assert not cached_files(tmp_path, "nbc")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")
def test_a_folder_that_became_read_only_is_read(module, tmp_path, monkeypatch):
    module().add(1, 2)
    folder = tmp_path / "__pycache__"
    # Also where the user may write everywhere, as root may.
    monkeypatch.setattr(kernel_cache.os, "access", lambda *_: False)
    before = sorted(path.name for path in folder.iterdir())
    again = module()
    assert again.add(1, 2) == 3
    assert sum(again.add.stats.cache_hits.values()) == 1
    assert again.add(1.0, 2.0) == 3.0  # not in the cache: compiled, and not kept
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_read_only_folder_without_the_kernel_is_left_alone(
    module, tmp_path, monkeypatch
):
    (tmp_path / "__pycache__").mkdir()
    monkeypatch.setattr(kernel_cache.os, "access", lambda *_: False)
    assert module().add(1, 2) == 3
    assert cached_files(tmp_path, "nbc")  # numba found that it can write there


@pytest.mark.slow
def test_a_fit_survives_a_damaged_cache(tmp_path):
    script = (
        "import numpy as np, tanager\n"
        "X = np.random.default_rng(0).normal(size=(4000, 3))\n"  # not a small fit
        "m = tanager.BayesNetClassifier(random_state=0).fit(X, X[:, 0] > 0)\n"
        "print(m.predict_proba(X).sum(axis=0).round(6).tolist())\n"
    )

    def run():
        return subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )

    first = run()
    damaged = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
    assert damaged
    for path in damaged:
        path.write_bytes(b"\x80\x04nothing")
    second = run()
    assert second.stdout == first.stdout
    assert second.stderr.count("cache of compiled kernels cannot be used") == 1
