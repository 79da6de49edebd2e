import math

import pytest

from tanager.errors import FileFormatError
from tanager.io.bif_properties import brief
from tanager.io.bif_tokenizer import is_word
from tanager.io.csv_text import number_in, parse_csv
from tanager.io.json_text import decode_json, encode_json
from tanager.io.xmlbif_reader import is_text


def test_what_the_formats_can_hold():
    words = ("Asy/Patch", "<5", "a b", "table", "a//b", "")
    assert [is_word(text) for text in words] == [True, True] + [False] * 4
    texts = ("a b", "<5", " a", "a\x00", "")
    assert [is_text(text) for text in texts] == [True, True] + [False] * 3


def test_a_long_message_is_shortened():
    assert len(brief("n" * 100_000)) == 605
    assert brief("unknown name " + "n" * 100_000).endswith("n" * 20)


def test_numbers_in_fields():
    assert number_in("1e3") == 1000
    assert number_in("1e999") == math.inf
    assert math.isnan(number_in("1_000"))
    assert math.isnan(number_in("x"))
    table = parse_csv("age,sky\n31,blue\n,grey\n", "The text")
    assert str(table.column(0).values) == "[31. nan]"
    assert table.column(1).categories == ("blue", "grey")


def test_json_has_lists_of_scalars_on_one_line():
    text = encode_json({"rows": [[1, 0.5], [True, None]]}).decode()
    lines = ["{", '  "rows": [', "    [1, 0.5],", "    [true, null]", "  ]", "}", ""]
    assert text == "\n".join(lines)
    with pytest.raises(FileFormatError, match="The file has the key 'a' twice"):
        decode_json(b'{"a": 1, "a": 2}', "The file")
