"""A BIF text, published networks, and comparisons that the tests of formats share."""

from __future__ import annotations

import pytest

from tanager import FileFormatError
from tanager.io.bif_reader import parse_bif

GOOD = """\
network test {
}
variable A {
  type discrete [ 2 ] { a, b };
}
variable X {
  type discrete [ 3 ] { x, y, z };
}
probability ( A ) {
  table 0.25, 0.75;
}
probability ( X | A ) {
  (a) 0.1, 0.2, 0.7;
  (b) 0.4, 0.5, 0.1;
}
"""

REPOSITORY = {
    "alarm": (37, 46, 509), "andes": (223, 338, 1157), "asia": (8, 8, 18),
    "cancer": (5, 4, 10), "child": (20, 25, 230), "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656), "insurance": (27, 52, 1008), "sachs": (11, 17, 178),
    "survey": (6, 6, 21), "win95pts": (76, 112, 574),
}  # fmt: skip
"""Nodes, arcs and parameters, as bnlearn's network repository lists them."""


def parsed(text):
    """The network of a BIF text."""
    return parse_bif(text.encode("utf-8"), "The file")


def assert_same(network, again):
    """The same network, its probabilities to the last bit."""
    assert again.schema == network.schema
    for one, two in zip(network.schema, again.schema, strict=True):
        assert [type(s) for s in one.states] == [type(s) for s in two.states]
    assert again.structure == network.structure
    for name in network.schema.names:
        expected = network.table(name).values
        assert again.table(name).values.tobytes() == expected.tobytes()


def check_refusal(parse, good, case):
    """Change a good text and compare place and reason of the error with the case.

    A case has the text to replace, its replacement, (line, column) and a part of the
    message.
    """
    old, new, (line, column), message = case
    text = good.replace(old, new, 1)
    assert text != good
    with pytest.raises(FileFormatError) as error:
        parse(text)
    assert str(error.value).startswith(f"The file, line {line}, column {column}: ")
    assert message in str(error.value)
