from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tanager.datasets._loaders import VARIABLE


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"needs the benchmark files: {VARIABLE} is not set")
    return Path(folder)


@pytest.fixture
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)


@pytest.fixture(params=["pandas", "arrays"])
def either_frame(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run a test with pandas and without it."""
    if request.param == "pandas":
        pytest.importorskip("pandas")
    else:
        monkeypatch.setitem(sys.modules, "pandas", None)
