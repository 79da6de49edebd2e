"""Fixtures and settings for all tests."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tanager", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("tanager")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real datasets; tests that need it skip where there is none."""
    folder = os.environ.get("TANAGER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set TANAGER_DATA to the folder of datasets to run this test")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def no_compile_notice():
    """Keep the line about compiling kernels out of the output that tests compare."""
    from tanager.utils.compile_notice import NOTICE

    NOTICE.quiet = True


@pytest.fixture(autouse=True)
def every_interrupt_is_the_first(monkeypatch):
    """Let Ctrl-C end one fit of a test only, whatever came before."""
    monkeypatch.setattr("tanager.utils.progress.AGAIN", 0.0)
    monkeypatch.setattr("tanager.utils.progress._latest_interrupt", -math.inf)


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures of a test; pyplot warns when many are open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def kernels_always(monkeypatch):
    """Send work of any size to the compiled kernels."""
    monkeypatch.setattr("tanager.utils.jit.SMALL_WORK", -1)
