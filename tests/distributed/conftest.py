"""One small cluster in threads of this process, shared by the tests of a module."""

import pytest

from tests.clusters import small_cluster


@pytest.fixture(scope="module")
def client():
    with small_cluster() as connected:
        yield connected
