"""Descriptions of tables print as tables."""

from tanager import describe


def test_a_description_prints_as_a_table():
    found = describe({"sky": ["blue"] * 20, "wind": [1.5, None] * 10}, [0, 1] * 10)
    lines = repr(found).splitlines()
    assert lines[0] == "20 rows, 3 columns"
    assert lines[2].split() == [
        "column", "kind", "role", "missing", "distinct", "values",
    ]  # fmt: skip
    assert lines[3].split()[:5] == ["sky", "category", "constant", "0", "1"]
    assert "Problems:" in lines
    assert any(line.startswith("  sky: it has one value") for line in lines)
