import numpy as np
import pytest

from tanager.cli._classifier_factory import uses_unlabelled
from tanager.cli._column_matching import absent_note
from tanager.cli._cpt_text import probability_text
from tanager.cli._input_data import odd_text_note, whole_numbers
from tanager.encoding.frame import Column
from tanager.io.csv_text import OddText
from tanager.network.named_table import ProbabilityTable


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("2", "-1", "0"), (2, -1, 0)),
        (("2", "02"), ("2", "02")),
        (("-0", "1"), ("-0", "1")),
        (("1.0", "2"), ("1.0", "2")),
        (("1" * 19, "2"), ("1" * 19, "2")),
    ],
)
def test_whole_numbers_are_converted_if_that_is_reversible(texts, expected):
    column = Column("x", codes=np.arange(len(texts)), categories=texts)
    assert whole_numbers(column).categories == expected


def test_notes():
    assert odd_text_note(OddText("z", 500, 499, "NA", 72, 0, False)) == (
        "Note: 'z' is categorical: 499 of 500 fields are numbers, but not 'NA' "
        "(line 72). Use --missing NA if it means missing."
    )
    assert odd_text_note(OddText("z", 5, 4, "-", 2, 0, False)).endswith(
        "Use --missing=- if it means missing."
    )
    assert absent_note("n.csv", ["sky", "wind"]) == (
        "Note: n.csv has no columns 'sky', 'wind'; they count as missing in every row."
    )
    assert absent_note("n.csv", ["sky"]) == (
        "Note: n.csv has no column 'sky'; it counts as missing in every row."
    )


def test_a_wide_cpt_has_a_line_for_every_state():
    states = (("no", "yes"), ("short", "a long name", "another long name"))
    values = np.array([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]])
    table = ProbabilityTable(("play", "sky"), states, values)
    assert probability_text(table, 40).splitlines() == [
        "P(sky | play)",
        "             play      no     yes",
        "            short  0.5000  0.1250",
        "      a long name  0.2500  0.5000",
        "another long name  0.2500  0.3750",
    ]


def test_methods_that_use_unlabelled_samples():
    assert uses_unlabelled("NB+EM")
    assert not uses_unlabelled("NB+FE")
