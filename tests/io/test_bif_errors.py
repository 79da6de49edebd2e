"""What is refused in a BIF file, and where it says that it is."""

import re

import numpy as np
import pytest

from tanager import FileFormatError, InputError
from tanager.io import bif_reader, read_bif
from tests.io.network_texts import GOOD, check_refusal, parsed

BLOCK_OF_A = "probability ( A ) {\n  table 0.25, 0.75;\n}\n"

CASES = [
    # Names
    ("| A", "| B", (12, 19), "unknown variable 'B'. Known: 'A', 'X'."),
    ("( X |", "( Y |", (12, 15), "unknown variable 'Y'."),
    ("variable X", "variable A", (6, 10), "the variable 'A' is declared twice."),
    ("( A )", "( X )", (12, 15), "the probabilities of 'X' are given twice."),
    (BLOCK_OF_A, "", (3, 10), "the variable 'A' has no probabilities."),
    ("| A )", "| A, A )", (12, 22), "'X' has the same parent twice: 'A'."),
    ("| A )", "| X )", (12, 19), "'X' has itself as parent: 'X'."),
    ("( X |", "( |", (12, 1), "expected the name of a variable."),
    ("variable A", "variable", (3, 10), "expected the name of a variable, got '{'."),
    # Arcs
    (
        "( A ) {\n  table",
        "( A | X ) {\n  default",
        (9, 1),
        "the arcs form a cycle: 'A' -> 'X' -> 'A'. Remove one of them.",
    ),
    # States
    ("[ 3 ]", "[ 1000000000 ]", (7, 19), "expected 1000000000 states of the variable"),
    ("[ 3 ]", "[ many ]", (7, 19), "expected the number of states, got 'many'."),
    ("[ 3 ]", f"[ {10**30} ]", (7, 19), "expected the number of states, got '1000"),
    ("[ 3 ]", "[ -3 ]", (7, 19), "expected the number of states, got '-3'."),
    ("x, y, z", "x, x, z", (6, 10), "'X' lists a state twice: 'x', 'x', 'z'."),
    ("{ x, y, z }", "{ }", (7, 23), "there are no states of the variable 'X'."),
    ("discrete [ 3", "real [ 3", (7, 8), "is 'real'; only 'discrete' is known."),
    ("  type discrete [ 3 ] { x, y, z };\n", "", (6, 10), "'X' lists no states."),
    # Rows
    ("0.1, 0.2, 0.7", "0.3, 0.7", (13, 3), "expected 3 numbers, found 2."),
    ("0.25, 0.75", "1", (10, 3), "expected 2 numbers, found 1."),
    ("(b) 0.4", "(c) 0.4", (14, 3), "unknown state of 'A': 'c'. Known: 'a', 'b'."),
    ("(b) 0.4", "(a) 0.4", (14, 3), "the row (a) is given twice."),
    ("  (b) 0.4, 0.5, 0.1;\n", "", (12, 1), "there is no row (b) and no default."),
    ("(b) 0.4", "(b, b) 0.4", (14, 3), "one state of each of 'A', got 2 states."),
    ("(b) 0.4", "() 0.4", (14, 3), "one state of each of 'A', got 0 states."),
    ("table 0.25", "(a) 0.25", (10, 3), "'A' has no parents, but here are numbers"),
    ("  table 0.25, 0.75;\n", "", (9, 1), "no 'table' with the probabilities of 'A'."),
    ("0.4, 0.5", "0.4, 0.6", (14, 3), "'X' sum to 1.1; expected 1, or at most 0.01"),
    ("0.4, 0.5", "0.4, 0.48", (14, 3), "'X' sum to 0.98; expected 1, or at most"),
    ("0.4, 0.5", "-0.4, 1.3", (14, 3), "'X' hold -0.4; expected numbers from 0 to"),
    ("0.4, 0.5", "nan, 0.5", (14, 3), "'X' hold nan; expected numbers from 0 to 1."),
    ("0.4, 0.5", "1e999, 0.5", (14, 3), "'X' hold inf; expected numbers from 0 to"),
    ("0.4, 0.5", "0.4%, 0.5", (14, 3), "expected a number, got '0.4%'."),
    (
        "(a) 0.1, 0.2, 0.7;\n  (b) 0.4, 0.5, 0.1;",
        "table 0.1 0.2 0.7 0.4 0.5 0.1;",
        (13, 3),
        "The numbers after 'table' are read with the state of the variable itself "
        "changing slowest.",
    ),
    (
        "(a) 0.1",
        "table 1 0 0 1 0 0; (a) 0.1",
        (13, 3),
        "'table' gives all numbers; it does not go with rows or 'default'.",
    ),
    ("0.75;", "0.75; table 1 0;", (10, 21), "there is a second 'table' in this block."),
    ("(a) 0.1", "default 1 0 0; default 1 0 0; (a) 0.1", (13, 18), "second 'default'"),
    (
        "z };",
        "z }; type discrete [ 1 ] { x };",
        (7, 36),
        "there is a second type of the",
    ),
    # Punctuation
    ("{ x, y, z }", '{ x, "y, z }', (7, 28), "the quoted name that begins here does"),
    ("network", "/* network", (1, 1), "the comment that begins here does not end."),
    ("0.1;\n}", "0.1;\n", (12, 23), "the block that begins here does not end."),
    ("{ x, y, z };", "{ x, y, z }", (8, 1), "expected ';' after the states of the"),
    ("{ x, y, z };", "{ x, y, z ;", (7, 33), "expected '}' after the states of the"),
    ("0.2, 0.7;", "0.2, 0.7", (13, 3), "expected a row: states in round brackets,"),
    ("0.25, 0.75;", "0.25, 0.75", (10, 3), "expected numbers and ';' after 'table'."),
    ("variable A {", "variable A", (4, 17), "expected '{' after the name of the"),
    ("type discrete [ 3", "property p\n [", (7, 11), "expected ';' at the end of a"),
    ("variable X", "node X", (6, 1), "expected 'network', 'variable' or 'probab"),
    ("test {", "test {\n  x", (2, 3), "expected a property or '}' in the network's"),
    # Our own properties
    (
        "type discrete [ 3 ]",
        'property tanager_cuts = "[1, 2";\n type discrete [ 3 ]',
        (7, 11),
        "the property tanager_cuts is '[1, 2'; expected a list.",
    ),
    (
        "type discrete [ 3 ]",
        "property tanager_cuts = \"[1, '2']\";\n type discrete [ 3 ]",
        (7, 11),
        "expected a list of numbers.",
    ),
    (
        "type discrete [ 3 ]",
        'property tanager_cuts = "[2, 1]";\n type discrete [ 3 ]',
        (6, 10),
        "The cuts of 'X' must be finite and increasing, got [2.0, 1.0].",
    ),
    (
        "type discrete [ 3 ]",
        'property tanager_states = "[1, 2, 3]";\n type discrete [ 3 ]',
        (7, 11),
        "tanager_states does not belong to the states 'x', 'y', 'z'; remove it if",
    ),
    (
        "type discrete [ 3 ]",
        "property tanager_name = \"'Y'\";\n type discrete [ 3 ]",
        (7, 11),
        "tanager_name does not belong to the name 'X'; remove it if",
    ),
    (
        "type discrete [ 3 ]",
        f'property tanager_states = "{"[" * 9000}";\n type discrete [ 3 ]',
        (7, 11),
        "expected a list.",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_place_and_reason(case):
    check_refusal(parsed, GOOD, case)


def test_two_targets():
    mark = '  property tanager_target = "true";\n  type'
    with pytest.raises(FileFormatError, match=r"line 8, column 11: both 'A' and 'X'"):
        parsed(GOOD.replace("  type", mark))


def test_places_are_those_before_comments_were_taken_out():
    text = GOOD.replace("(b)", "/* one\n two */ (c)")
    with pytest.raises(FileFormatError, match="line 15, column 9: unknown state"):
        parsed(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty."),
        (b" \n\t\n", "is empty."),
        (b"// nothing\n", "line 1, column 1: there is no variable; is it a network"),
        (b"network x { }\n", "line 1, column 1: there is no variable; is it a network"),
        (b"network\0", "line 1, column 8: there is a byte of zero, so it is no text."),
        (b"\xff\xfe", "is not UTF-8 text: byte 0xff at offset 0; save"),
        (b"PK\x03\x04", "line 1, column 1: expected 'network', 'variable' or"),
        (b"{}", "line 1, column 1: expected 'network', 'variable' or 'probability', "),
        (b"variable", "line 1, column 9: expected the name of a variable, got the end"),
        (b"variable x {", "line 1, column 13: expected a type, a property or '}' in "),
    ],
)
def test_files_that_are_no_bif(tmp_path, content, message):
    path = tmp_path / "x.bif"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=re.escape(message)) as error:
        read_bif(path)
    assert str(error.value).startswith(f"The BIF file '{path}'")


def test_a_file_that_is_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="does not exist; check the name"):
        read_bif(tmp_path / "x.bif")
    (tmp_path / "x.bif").write_text(GOOD)
    monkeypatch.setattr(bif_reader, "MAX_BYTES", 100)
    with pytest.raises(FileFormatError, match="is larger than 100 bytes"):
        read_bif(tmp_path / "x.bif")


def test_hostile_sizes_take_no_memory(monkeypatch):
    coins = "".join(
        f"variable v{k} {{ type discrete [ 2 ] {{ a, b }}; }}\n"
        f"probability ( v{k} ) {{ table 0.5 0.5; }}\n"
        for k in range(40)
    )
    given = ", ".join(f"v{k}" for k in range(40))
    text = f"{coins}variable X {{ type discrete [ 2 ] {{ a, b }}; }}\n"
    text += f"probability ( X | {given} ) {{ default 0.5 0.5; }}\n"

    def refuse(*_, **__):
        raise AssertionError("memory was taken")

    monkeypatch.setattr(np, "empty", refuse)
    with pytest.raises(FileFormatError, match="line 82, column 1: with the CPT of"):
        parsed(text)


def test_more_parents_than_an_array_has_axes():
    names = [f"x{k}" for k in range(80)]
    blocks = [f"variable {name} {{ type discrete [ 1 ] {{ s }}; }}" for name in names]
    blocks += [f"probability ( {name} ) {{ table 1; }}" for name in names[1:]]
    blocks += [f"probability ( x0 | {', '.join(names[1:])} ) {{"]
    for rows in ("table 1; }", f"({', '.join('s' * 79)}) 1; }}"):
        with pytest.raises(FileFormatError, match=r"'x0' has 79 parents; at most"):
            parsed("\n".join([*blocks, rows]))


def test_long_names_do_not_make_long_messages():
    with pytest.raises(FileFormatError, match=r"nnn \.\.\. nnn.*lists no st") as raised:
        parsed(f"variable {'n' * 100_000} {{ }}")
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    "text",
    [
        f"property tanager_note = y{' ' * 200_000}y;",
        f'property tanager_note = "y{" " * 200_000}y";',
        f"property {'( ' * 200_000};",
        f"/*{'*' * 200_000}*/",
    ],
)
def test_long_texts_are_read_in_one_pass(text):
    """Patterns that go back and forth would take minutes here."""
    parsed(GOOD.replace("type discrete [ 3", f"{text} type discrete [ 3"))


def test_thousands_of_odd_states_that_are_one_as_words():
    brackets = np.array(["(", "["])
    bits = np.arange(2**13)[:, None] >> np.arange(13) & 1
    words = bif_reader.bif_words(["".join(row) for row in brackets[bits]])
    assert words[:3] == ["_", "__2", "__3"]
    assert len(set(words)) == 2**13


def test_ends_of_lines():
    text = "// a comment\n" + GOOD
    network = parsed(text)
    for end in ("\r\n", "\r"):
        assert parsed(text.replace("\n", end)).schema == network.schema
        with pytest.raises(FileFormatError, match="line 13, column 15: unknown var"):
            parsed(text.replace("( X |", "( Y |").replace("\n", end))
