"""XMLBIF: forms that are read, round trips, and what is refused."""

import re
import xml.dom.minidom

import numpy as np
import pytest
from hypothesis import given, settings

from tanager import BayesNetClassifier, FileFormatError, datasets
from tanager.io import read_bif, read_xmlbif, write_xmlbif
from tanager.io.xmlbif_reader import parse_xmlbif
from tanager.io.xmlbif_writer import xmlbif_text
from tests.io.network_texts import REPOSITORY, assert_same, check_refusal
from tests.strategies import odd_networks

GOOD = """\
<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
<VARIABLE TYPE="nature">
  <NAME>A</NAME>
  <OUTCOME>a</OUTCOME>
  <OUTCOME>b</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature">
  <NAME>X</NAME>
  <OUTCOME>x</OUTCOME>
  <OUTCOME>y</OUTCOME>
  <OUTCOME>z</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>A</FOR>
  <TABLE>
    0.25 0.75
  </TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>X</FOR>
  <GIVEN>A</GIVEN>
  <TABLE>
    0.1 0.2 0.7
    0.4 0.5 0.1
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""
DECLARED = """<!DOCTYPE BIF [
<!ELEMENT BIF ( NETWORK )*>
<!ATTLIST BIF VERSION CDATA #REQUIRED>
<!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
<BIF"""
LAUGHS = "".join(f'<!ENTITY a{k + 1} "{f"&a{k};" * 10}">\n' for k in range(1, 20)).join(
    ['<!DOCTYPE BIF [\n<!ENTITY a1 "ha">\n', "]>\n<BIF"]
)


def parsed(text):
    return parse_xmlbif(text.encode("utf-8"), "The file")


def test_the_plain_form():
    network = parsed(GOOD)
    assert network.schema.names == ("A", "X")
    assert network.edges == (("A", "X"),)
    expected = [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1]]
    np.testing.assert_allclose(network.table("X").values, expected, rtol=1e-15)
    assert xmlbif_text(network) == GOOD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<BIF", DECLARED),
        ("<BIF", '<!DOCTYPE BIF SYSTEM "http://localhost/xmlbif.dtd">\n<BIF'),
        ("<NAME>unknown</NAME>", "<NAME></NAME><PROPERTY>by = me</PROPERTY>"),
        ("<NAME>A</NAME>", "<NAME>\n A </NAME><PROPERTY>position = (3, 4)</PROPERTY>"),
        ("0.1 0.2 0.7\n", "0.1 0.2 <!-- a comment: 0.5 --> 0.7\n"),
        ("0.25 0.75", "2.5e-1\t.75"),
        ("<OUTCOME>a</OUTCOME>", "<OUTCOME>&#97;</OUTCOME>"),
        ("<OUTCOME>a</OUTCOME>", "<VALUE><![CDATA[a]]></VALUE>"),
        (' TYPE="nature"', ""),
        ("<FOR>A</FOR>", "<PROPERTY/><FOR>A</FOR>"),
        ('encoding="UTF-8"', 'encoding="ISO-8859-1"'),
    ],
)
def test_other_forms(old, new):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    assert_same(parsed(GOOD), parsed(text))


def test_encodings():
    text = GOOD.replace("<OUTCOME>a<", "<OUTCOME>é<")
    latin = text.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    wide = text.replace("UTF-8", "UTF-16").encode("utf-16")
    for content in (text.encode("utf-8-sig"), latin, wide):
        assert parse_xmlbif(content, "").schema[0].states == ("é", "b")


@settings(deadline=None)
@given(odd_networks())
def test_round_trip(network):
    text = xmlbif_text(network)
    again = parsed(text)
    assert_same(network, again)
    assert xmlbif_text(again) == text
    root = xml.dom.minidom.parseString(text.encode("utf-8")).documentElement
    assert len(root.getElementsByTagName("VARIABLE")) == len(network.schema)


def test_names_stand_as_they_are(tmp_path):
    iris = datasets.load("iris")
    model = BayesNetClassifier(parameters="fe").fit(iris.X, iris.y)
    path = tmp_path / "iris.xmlbif"
    write_xmlbif(path, model.network_)
    assert "<NAME>sepal length (cm)</NAME>" in path.read_text()
    network = read_xmlbif(path)
    assert_same(model.network_, network)
    again = BayesNetClassifier.from_network(network)
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))


@pytest.mark.parametrize("name", REPOSITORY)
def test_networks_of_the_repository(repository, name):
    network = read_bif(repository / f"{name}.bif")
    again = parsed(xmlbif_text(network))
    assert_same(network, again)
    expected = network.parameters.log_theta
    assert again.parameters.log_theta.tobytes() == expected.tobytes()


CASES = [
    # Hostile
    ("<BIF", LAUGHS, (3, 13), "entities are declared or used"),
    (
        "<BIF",
        '<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<BIF',
        (2, 54),
        "entities are declared or used",
    ),
    (
        "<BIF",
        '<!DOCTYPE BIF [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]>\n<BIF',
        (2, 56),
        "entities are declared or used",
    ),
    (">A<", ">&x;<", (6, 9), "it is not XML: undefined entity."),
    # Elements
    ("</NETWORK>", "<UTILITY/></NETWORK>", (30, 1), "<UTILITY> inside <NETWORK>; exp"),
    (">a<", "><b>a</b><", (7, 12), "<b> inside <OUTCOME>; expected text alone."),
    ("<BIF", "<html/><BIF", (2, 1), "<html> as the outermost element; expected <BIF>"),
    ("<NAME>u", "hello<NAME>u", (4, 6), "text between the elements in <NETWORK>."),
    ("</VARIABLE>", "b</VARIABLE>", (9, 2), "text between the elements in <VARIABLE>."),
    ("</BIF>", "", (32, 1), "it is cut short: an element has no end."),
    ("nature", "decision", (5, 1), "a variable of type 'decision'; only 'nature' is"),
    ("  <NAME>A</NAME>\n", "", (8, 1), "the variable that ends here needs one name."),
    (">A</NAME>", "></NAME>", (6, 3), "<NAME> is empty; expected a name."),
    ("<FOR>A</FOR>", "", (16, 1), "this definition needs exactly one <FOR>."),
    (
        "</FOR>",
        "</FOR><FOR>X</FOR>",
        (16, 1),
        "this definition needs exactly one <FOR>",
    ),
    ("</TABLE>", "</TABLE><TABLE/>", (20, 11), "a definition has two tables."),
    # Networks
    ("<FOR>X", "<FOR>Y", (23, 3), "unknown variable 'Y'. Known: 'A', 'X'."),
    ("<FOR>X", "<FOR>A", (23, 3), "the probabilities of 'A' are given twice."),
    ("<GIVEN>A", "<GIVEN>B", (24, 3), "unknown variable 'B'. Known: 'A', 'X'."),
    ("<NAME>X", "<NAME>A", (11, 3), "the variable 'A' is declared twice."),
    (">y<", ">x<", (11, 3), "the variable 'X' lists a state twice: 'x', 'x', 'z'."),
    ("0.2 0.7", "0.7", (25, 3), "expected 6 numbers, found 5."),
    ("0.25", "1/4", (18, 3), "expected a number, got '1/4'."),
    ("0.25", "-0.25", (18, 3), "'A' hold -0.25; expected numbers from 0 to 1."),
    ("0.4 0.5", "0.4 0.4", (25, 3), "sum to 0.9; expected 1, or at most 0.01 away"),
    ("0.4 0.5", "0.4 0.4", (25, 3), "with the state of the variable itself changing"),
]


@pytest.mark.parametrize("case", CASES)
def test_place_and_reason(case):
    check_refusal(parsed, GOOD, case)


def test_a_missing_table():
    text = re.sub(r"<TABLE>.*?</TABLE>", "", GOOD, count=1, flags=re.DOTALL)
    with pytest.raises(FileFormatError, match=r"this definition needs a <TABLE>\."):
        parsed(text)


def test_entities_of_a_document_type_elsewhere():
    text = GOOD.replace("<BIF", '<!DOCTYPE BIF SYSTEM "http://localhost/x">\n<BIF')
    with pytest.raises(FileFormatError, match="entities are declared or used"):
        parsed(text.replace(">A<", ">&x;<"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty."),
        (b"network x { }", "line 1, column 1: it is not XML: syntax error."),
        (b"\x00\x01\x02", "it is not XML"),
        (b'<?xml version="1.0" encoding="x"?><BIF/>', "unknown encoding: x."),
        (b"<BIF/>", "line 1, column 1: there is no variable; is it a network at all?"),
    ],
)
def test_files_that_are_no_xmlbif(tmp_path, content, message):
    path = tmp_path / "x.xml"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=re.escape(message)) as error:
        read_xmlbif(path)
    assert str(error.value).startswith(f"The XMLBIF file '{path}'")
