from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tanager.utils.jit import kernel


def test_without_a_place_for_the_cache_kernels_still_compile(monkeypatch):
    import numba.core.caching as caching

    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(caching.FunctionCache, "__init__", nowhere)

    def add(a, b):
        return a + b

    assert kernel(add)(1, 2) == 3


SCRIPT = """
import numpy as np
from tests.strategies import random_codes, random_network
from tanager.data import ArrayData
from tanager.data import conditional_information
import tanager.utils.jit
tanager.utils.jit.SMALL_WORK = -1
random = np.random.default_rng(0)
network = random_network(random, 6, n_classes=3)
codes = random_codes(random, network.schema, 40, 0.2)
labels = random.integers(0, 3, 40).astype(np.uint8)
data = ArrayData(network.schema, codes, labels)
families = [(6, j) for j in range(6)] + [(6, 0, 1)]
print(data.count(families).values.tolist())
print(data.count_pairs().values.tolist())
print(conditional_information(data).round(12).tolist())
print(network.engine.log_joint(codes).round(12).tolist())
"""


@pytest.mark.slow
def test_jit_off_gives_the_same():
    def run(**extra):
        environment = {**os.environ, **extra}
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return result.stdout

    assert run(NUMBA_DISABLE_JIT="1") == run(NUMBA_DISABLE_JIT="0")
