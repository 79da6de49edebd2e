"""Tables of general networks in docs/structure-benchmarks.md are the measured ones."""

import pytest

from tests.docs.pages import DOCS

tables = pytest.importorskip(
    "lab.studies.networks.tables", reason="a source distribution has no lab"
)


@pytest.mark.parametrize(
    "make",
    [tables.by_network, tables.by_set, tables.by_partition],
    ids=lambda make: make.__name__,
)
def test_the_page_has_the_table(make):
    assert make() in (DOCS / "structure-benchmarks.md").read_text("utf-8")
