"""Fixtures of the tests of files."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def repository(data_folder):
    """The folder of published networks."""
    return data_folder / "networks"
