"""BIF: forms that are read, and round trips."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tanager import BayesNetClassifier, Network, TableSizeError, datasets
from tanager.io import bif_writer, read_bif, read_model, write_bif
from tanager.io.bif_reader import bif_names, bif_words
from tanager.io.bif_writer import bif_text
from tanager.model import Parameters
from tests.io.network_texts import GOOD, REPOSITORY, assert_same, parsed
from tests.strategies import odd_networks


def test_the_plain_form():
    network = parsed(GOOD)
    assert network.schema.names == ("A", "X")
    assert network.schema[1].states == ("x", "y", "z")
    assert network.schema.target is None
    assert network.edges == (("A", "X"),)
    assert network.table("A").values.tolist() == [0.25, 0.75]
    expected = [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1]]
    np.testing.assert_allclose(network.table("X").values, expected, rtol=1e-15)
    assert bif_text(network) == GOOD.replace("network test", "network unknown")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("( X | A )", "(X|A)"),
        ("( X | A )", "( X A )"),
        ("( X | A )", "( X, A )"),
        ("( X | A )", '( "X" "A" )'),
        ("{ x, y, z }", "{ x y z }"),
        ("{ x, y, z }", '{ "x""y" z }'),
        ("discrete [ 3 ]", "discrete[3]"),
        ("(a) 0.1, 0.2, 0.7;", "( a ) 0.1 0.2 0.7;"),
        ("(a) 0.1, 0.2, 0.7;", '("a") .1, 2E-1, 0.7 ;'),
        ("(b) 0.4, 0.5, 0.1;", "default 0.4, 0.5, 0.1;"),
        ("(a) 0.1, 0.2, 0.7;\n", "default 0.1, 0.2, 0.7;\n"),
        ("0.7;\n  (b)", "0.7; (b)"),
        ("(a) 0.1, 0.2, 0.7;\n  (b) 0.4, 0.5, 0.1;", "table .1 .4 .2 .5 .7 .1;"),
        ("table 0.25, 0.75;", "default 0.25 0.75;"),
        ("network test {\n}", ""),
        ("network test {", 'network "Dog Problem" { property author = "me {;";'),
        ("network test {", "network {"),
        ("{ a, b };", '{ a, b };\n  property "position = (3, 4)" ;\n property x y;'),
        ("0.75;", "0.75;\n  property kept: no;"),
        ("variable A {", "// one\nvariable /* two\n\n ; */ A { // three"),
        ("0.1, 0.2", "0.1 /* a */, // b\n 0.2"),
        ("\n", "\r\n"),
        ("\n", "\n\n\t"),
        ("network", "\ufeffnetwork"),
    ],
)
def test_other_forms(old, new):
    text = GOOD.replace(old, new, -1 if old == "\n" else 1)
    assert text != GOOD
    assert_same(parsed(GOOD), parsed(text))


def test_blocks_may_come_in_any_order():
    head, a, x, p_a, p_x = (
        block for block in GOOD.replace("}\n", "}\n\f").split("\f")[:-1]
    )
    again = parsed(head + p_x + p_a + a + x)
    assert_same(parsed(GOOD), again)
    assert parsed(head + x + a + p_x + p_a).schema.names == ("X", "A")


def test_words_with_blanks_and_no_quotes_are_one_name():
    text = GOOD.replace("A", "the A").replace("x, y, z", "x x, y, z")
    network = parsed(text.replace("(a)", "(a a)").replace("a, b", "a a, b"))
    assert network.schema.names == ("the A", "X")
    assert network.schema[0].states == ("a a", "b")
    assert network.schema[1].states == ("x x", "y", "z")
    assert network.edges == (("the A", "X"),)


def test_quoted_names_and_states():
    text = GOOD.replace("A", '"A | (b)"').replace("(a)", '("a, a")')
    network = parsed(text.replace("{ a, b }", '{ "a, a", b }'))
    assert network.schema.names == ("A | (b)", "X")
    assert network.schema[0].states == ("a, a", "b")
    np.testing.assert_allclose(network.table("X").values[0], [0.1, 0.2, 0.7])


def test_a_whole_table_has_the_own_state_slowest():
    # The order of the Interchange Format: P(x1|a), P(x1|b), ..., P(x3|a), P(x3|b).
    text = GOOD.replace("0.4, 0.5, 0.1;\n", "1 0 0;\n").replace("[ 2 ]", "[2]")
    rows = text[text.index("  (a)") : text.rindex("}")]
    network = parsed(text.replace(rows, "table 0.1, 1, 0.2, 0, 0.7, 0;\n"))
    expected = [[0.1, 0.2, 0.7], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(network.table("X").values, expected, rtol=1e-15)


def test_rounded_rows_are_divided_by_their_sum():
    network = parsed(GOOD.replace("0.1, 0.2, 0.7", "0.33, 0.33, 0.33"))
    np.testing.assert_allclose(network.table("X").values[0], [1 / 3] * 3, rtol=1e-15)
    again = parsed(bif_text(network))
    assert_same(network, again)
    assert bif_text(again) == bif_text(network)


@settings(deadline=None)
@given(odd_networks())
def test_round_trip(network):
    text = bif_text(network)
    again = parsed(text)
    assert_same(network, again)
    assert bif_text(again) == text
    # Nothing that other programs do not read: no quotes but those of properties.
    assert not any('"' in line for line in text.split("\n") if "property" not in line)


def test_words():
    texts = ["a", "a b", "a  b", "a_b", "<5", "1", "", "(-inf, 2.5]", "(2.5, 1e+06]"]
    assert bif_words(texts) == [
        *("a", "a_b_2", "a_b_3", "a_b", "_5", "1", "_", "up_to_2.5"),
        "from_2.5_to_1e06",
    ]
    assert bif_words(["(-inf, inf)", "(7, inf)"]) == ["any", "above_7"]
    assert bif_words(["table", "a", "type"]) == ["table_2", "a", "type_2"]
    assert bif_words(["1", "1"]) == ["1", "_1"]
    assert bif_words(["a/b", "5-12", "-3", "ä", "0.5"]) == [
        *("a_b", "_5-12", "-3", "_", "_0.5"),
    ]
    assert bif_names(["1", "_1", "x"]) == ["_1_2", "_1", "x"]


def test_words_of_earlier_versions_are_read():
    text = GOOD.replace(
        "{ a, b };", "{ ä, _ };\n  property tanager_states = \"['ä', 'ö ü']\";"
    )
    text = text.replace("(a)", "(ä)").replace("(b)", "(_)").replace(" A ", " a/é_2 ")
    text = text.replace("[ 2 ]", "[ 2 ]").replace(
        "variable a/é_2 {", "variable a/é_2 {\n  property tanager_name = \"'a/é_2'\";"
    )
    network = parsed(text)
    assert network.schema[0].name == "a/é_2"
    assert network.schema[0].states == ("ä", "ö ü")
    assert_same(network, parsed(bif_text(network)))


def test_a_classifier_stays_what_it_is(tmp_path):
    iris = datasets.load("iris")
    model = BayesNetClassifier(parameters="fe").fit(iris.X, iris.y)
    path = tmp_path / "iris.bif"
    write_bif(path, model.network_)
    network = read_bif(path)
    assert_same(model.network_, network)
    again = BayesNetClassifier.from_network(network)
    assert again.classes_.tolist() == model.classes_.tolist()
    expected = model.predict_proba(iris.X)
    assert np.array_equal(again.predict_proba(iris.X), expected)


def test_sums_of_tables_are_written_out(tmp_path):
    network = read_model(Path(__file__).parent / "golden" / "log-linear.json").network
    again = parsed(bif_text(network))
    assert len(again.log_tables("x")) == 1 < len(network.log_tables("x"))
    assert_same(network, again)


def test_tables_that_are_too_large(monkeypatch):
    monkeypatch.setattr(bif_writer, "MAX_CELLS", 7)
    with pytest.raises(TableSizeError, match=r"has 8 probabilities, more than the 7 "):
        bif_text(parsed(GOOD))


@pytest.mark.parametrize("name", REPOSITORY)
def test_networks_of_the_repository(repository, name):
    path = repository / f"{name}.bif"
    network = read_bif(path)
    sizes = len(network.schema), len(network.edges), network.n_parameters
    assert sizes == REPOSITORY[name]
    again = parsed(bif_text(network))
    assert_same(network, again)
    # Logarithms come from numbers of a file, so that they are the same, too.
    expected = network.parameters.log_theta
    assert again.parameters.log_theta.tobytes() == expected.tobytes()


def test_numbers_and_states_of_the_repository_are_written_as_they_are(repository):
    path = repository / "child.bif"
    written = set(bif_text(read_bif(path)).split("\n"))
    # The file has both 0.50 and 0.5.
    lines = re.sub(r"(\.\d+?)0+\b", r"\1", path.read_text()).split("\n")
    assert "  type discrete [ 3 ] { <5, 5-12, 12+ };" in lines
    # States that some programs cannot read, such as <5, are written as plain words.
    odd = re.compile(r"[<>/]|\d-\d|\d\+")
    assert any(odd.search(line) for line in lines)
    plain = [line.rstrip() for line in lines if not odd.search(line)]
    assert set(plain) <= {*written, ""}


def test_unconnected_variables_are_fine():
    text = GOOD.replace("( X | A )", "( X )").replace("(a) ", "table ")
    network = parsed(text.replace("  (b) 0.4, 0.5, 0.1;\n", ""))
    assert isinstance(network, Network)
    assert network.edges == ()


def test_a_tiny_probability_does_not_become_zero():
    network = parsed(GOOD)
    logs = network.parameters.log_theta.copy()
    logs[:2] = [-800.0, 0.0]
    parameters = Parameters(network.parameters.layout, logs)
    tiny = Network(network.schema, network.structure, parameters)
    again = parsed(bif_text(tiny))
    expected = pytest.approx(tiny.posterior({"A": "a"}, "X"), rel=1e-12)
    assert again.posterior({"A": "a"}, "X") == expected
