import re
from pathlib import Path

import numpy as np
import pytest

import tanager as library
from tanager.io import read_model, write_model
from tanager.network import Network
from tests.io.network_texts import GOOD, assert_same
from tests.loglinear.factor_makers import make_network, make_variable

pytestmark = pytest.mark.filterwarnings("ignore:.*single state:tanager.DataWarning")


@pytest.fixture
def model(done, weather):
    done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.json", "-q")
    return "m.json"


@pytest.fixture
def bif(tmp_path):
    (tmp_path / "n.bif").write_text(GOOD)
    return "n.bif"


@pytest.mark.parametrize("first", ["a.json", "a.bif", "a.xmlbif"])
@pytest.mark.parametrize("second", ["b.json", "b.bif", "b.xml"])
def test_all_pairs(done, model, first, second):
    done("convert", model, first)
    result = done("convert", first, second)
    wrote = f"Wrote {second}: 4 variables, 2 arcs, "
    assert result.stderr.startswith(wrote)
    assert result.stdout == ""
    found = [library.load(name) for name in (model, first, second)]
    networks = [n if isinstance(n, Network) else n.network_ for n in found]
    assert_same(networks[0], networks[1])
    assert_same(networks[0], networks[2])
    if first == "a.json" and second == "b.json":
        assert type(found[2]) is type(found[0])
        assert repr(found[2]) == repr(found[0])


def test_it_says_what_is_not_kept(done, model):
    lines = done("convert", model, "m.bif").stderr.splitlines()
    assert lines[1:] == [
        "Note: BIF holds the network, without the settings of the BayesNetClassifier.",
        "Note: 3 names are written as plain words, such as 'up_to_5.25' for "
        "'(-inf, 5.25]'; tanager restores the originals when it reads them.",
    ]
    lines = done("convert", model, "m.xmlbif").stderr.splitlines()
    assert len(lines) == 2
    assert "XMLBIF holds the network" in lines[1]
    assert len(done("convert", "m.bif", "again.json").stderr.splitlines()) == 1
    assert done("convert", model, "m.bif", "-q").stderr == ""


def test_sums_are_written_out(done):
    golden = Path(__file__).parents[1] / "io" / "golden" / "log-linear.json"
    write_model("sums.json", read_model(golden).network)
    text = done("convert", "sums.json", "sums.bif").stderr
    assert "Note: 1 family that is a sum of log tables is written as whole" in text


def test_a_target_is_set_and_kept(done, bif):
    done("convert", bif, "n.json", "--target", "X")
    assert library.load("n.json").schema.target_variable.name == "X"
    done("convert", "n.json", "again.bif")
    assert library.load("again.bif").schema.target_variable.name == "X"
    done("convert", "again.bif", "other.xml", "--target", "A")
    assert library.load("other.xml").schema.target_variable.name == "A"
    done("convert", "other.xml", "same.xml", "--target", "A")
    with open("other.xml") as one, open("same.xml") as two:
        assert one.read() == two.read()


def test_what_is_refused(failed, bif):
    assert "got '.net'. Known suffixes are .json" in failed("convert", bif, "x.net")
    assert "would overwrite the input; choose an" in failed("convert", bif, bif)
    assert "Unknown variable 'y'. Known: 'A', 'X'." in failed(
        "convert", bif, "x.json", "-t", "y"
    )
    assert "'none.bif' does not exist" in failed("convert", "none.bif", "x.json")
    assert "the folder " in failed("convert", bif, "none/x.json")
    with open("bad.bif", "w") as file:
        file.write(GOOD.replace("0.4, 0.5", "0.4, 0.7"))
    message = failed("convert", "bad.bif", "x.json")
    assert re.search(r"'bad\.bif', line 14, column 3: .* sum to 1\.2; ", message)


def test_factors_are_converted(done, failed, tmp_path):
    table = "sky,wind,play\n" + "blue,1,yes\nblue,9,no\ngrey,1,no\ngrey,9,no\n" * 20
    (tmp_path / "days.csv").write_text(table)
    done("fit", "days.csv", "-t", "play", "-o", "m.json", "-q")
    lines = done("convert", "m.json", "m.bif").stderr.splitlines()
    assert lines[0].startswith("Wrote m.bif: 3 variables, ")
    assert "without the settings of the BayesNetClassifier" in lines[1]
    assert "Note: the factors are converted to CPTs." in lines[2]
    found = [done("predict", m, "days.csv").stdout for m in ("m.json", "m.bif")]
    first, second = ([row.split(",") for row in text.splitlines()] for text in found)
    assert [row[0] for row in first] == [row[0] for row in second]
    assert float(first[1][1]) == pytest.approx(float(second[1][1]))
    # A model file keeps the factors.
    assert len(done("convert", "m.json", "again.json").stderr.splitlines()) == 1
    assert "factors" in done("show", "again.json").stdout
    message = failed("fit", "days.csv", "-t", "play", "-o", "n.bif", code=2)
    assert "'tanager convert' converts where it can" in message


def test_a_cycle_of_factors_is_refused(failed):
    variables = [make_variable(name, 2, False) for name in "abcd"]
    cycle = [(0, 1), (1, 2), (2, 3), (0, 3)]
    network = make_network(np.random.default_rng(0), variables, cycle)
    write_model("cycle.json", network)
    message = failed("convert", "cycle.json", "cycle.bif")
    assert "'a' - 'b' - 'c' - 'd' - 'a' form a cycle" in message
    assert not Path("cycle.bif").exists()


def test_boosted_models(done, failed):
    done("fit", "iris", "-m", "NB+Ada", "-o", "b.json", "-q")
    assert "lets several vote, here 20." in failed("convert", "b.json", "b.bif")
    message = failed("fit", "iris", "-m", "NB+Ada", "-o", "b.bif", code=2)
    assert "NB+Ada has several networks, but BIF holds one; write a model" in message
    message = failed("convert", "b.json", "c.json", "-t", "petal width (cm)")
    assert "are an ensemble for their own target and cannot predict" in message
    done("convert", "b.json", "c.json", "-t", "class")


def test_show_reads_all_formats(done, bif):
    done("convert", bif, "n.xml")
    for name in (bif, "n.xml"):
        text = done("show", name).stdout
        assert text.startswith(f"{name}: Network\n\n2 variables, 1 arc, 5 parameters\n")
    assert done("show", bif, "--table", "X").stdout.startswith("P(X | A)\n")


def test_predict_with_a_network(done, failed, bif, tmp_path):
    (tmp_path / "rows.csv").write_text("A,X\na,x\nb,\n,z\n")
    message = failed("predict", bif, "rows.csv")
    assert "has no target variable, so it cannot classify; choose the" in message
    text = done("predict", bif, "rows.csv", "--target", "X").stdout
    lines = [line.split(",") for line in text.splitlines()]
    assert lines[0] == ["prediction", "P(x)", "P(y)", "P(z)"]
    assert [line[0] for line in lines[1:]] == ["z", "y", "y"]
    assert float(lines[3][2]) == pytest.approx(0.25 * 0.2 + 0.75 * 0.5)
    # A classifier can be asked for another variable of its network, too.
    done("convert", bif, "n.json", "-t", "X", "-q")
    text = done("predict", "n.json", "rows.csv", "-t", "A").stdout
    assert text.splitlines()[0] == "prediction,P(a),P(b)"
    assert "Did you mean" in failed("predict", "n.json", "rows.csv", "-t", "XX")


def test_fit_writes_a_network(done, weather):
    done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.json", "-q")
    done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.bif", "-q")
    assert_same(library.load("m.json").network_, library.load("m.bif"))
    expected = done("predict", "m.json", weather).stdout
    assert done("predict", "m.bif", weather).stdout == expected
