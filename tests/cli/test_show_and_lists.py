import sys

import pytest

from tanager.cli._output import Progress, list_text
from tanager.cli._show import summary
from tanager.io import write_model
from tanager.network import Network


@pytest.fixture
def model(done, weather):
    done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.json", "-q")
    return "m.json"


def test_show_sums_up(done, model):
    text = done("show", model).stdout
    assert text.startswith("m.json: BayesNetClassifier, written by tanager ")
    assert "Class 'play': 2 states: no, yes\n" in text
    assert "4 variables, 3 arcs, " in text
    lines = text.splitlines()
    assert lines[-1].split() == ["play", "2", "no,", "yes", "-"]
    assert "cut at" in text
    assert max(map(len, lines)) <= 80


def test_show_tables(done, model):
    text = done("show", model, "--table", "play", "--table", "sky").stdout
    assert text == (
        "P(play)\n    no     yes\n0.5000  0.5000\n\n"
        "P(sky | play)\nplay    blue    grey\n"
        # grey 3 and blue 0 of the 3 rows of "no" with a known sky, Laplace 1
        "  no  0.2000  0.8000\n yes  0.8333  0.1667\n"
    )


def test_show_dot(done, model, failed):
    text = done("show", model, "--dot").stdout
    assert text.startswith("digraph network {\n")
    assert '  "play" -> "sky";\n' in text
    both = failed("show", model, "--dot", "--table", "sky", code=2)
    assert "do not go together" in both


def test_show_fits_the_terminal(monkeypatch):
    names = [f"a rather long name of variable number {i}" for i in range(3)]
    network = Network.build(
        {name: ["one state", "another state", "yet another"] for name in names},
        {name: [0.5, 0.25, 0.25] for name in names},
        target=names[0],
    )
    assert names[1] in summary(network)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for width in (60, 80, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = summary(network).splitlines()
        assert width - 30 < max(map(len, lines)) <= width


def test_show_a_network_without_target(done):
    write_model("n.json", Network.build({"a": [0, 1]}, {"a": [0.5, 0.5]}))
    text = done("show", "n.json").stdout
    assert text.startswith("n.json: Network, written by ")
    assert "1 variable, 0 arcs, 1 parameter\n" in text


def test_show_what_is_not_there(failed, model, weather):
    message = failed("show", model, "--table", "skyy")
    assert message == "Error: Unknown variable 'skyy'. Did you mean 'sky'?"
    assert "does not exist" in failed("show", "none.json")
    assert "is a folder" in failed("show", ".")
    assert "is not JSON" in failed("show", weather)


def test_names(done, failed):
    text = done("names").stdout
    assert "\nTAN-CMI-ML  " in text
    assert text.startswith("NB-ML ")
    found = [line.split()[0] for line in done("names", "nb").stdout.splitlines()]
    assert found
    assert all("NB" in name for name in found)
    found = [line.split()[0] for line in done("names", "*-ML").stdout.splitlines()]
    assert "TAN-CMI-ML" in found
    assert all(name.endswith("-ML") for name in found)
    assert "Did you mean 'TAN-CMI-ML'" in failed("names", "TAN-CMI-MX")


def test_datasets(done, failed):
    lines = done("datasets").stdout.splitlines()
    assert lines[0].split() == [
        "Name", "Rows", "Features", "Numeric", "Classes", "Missing", "Sources"
    ]  # fmt: skip
    iris = next(line for line in lines if line.startswith("sklearn/iris "))
    assert iris.split() == ["sklearn/iris", "150", "4", "4", "3", "0", "sklearn"]
    some = done("datasets", "sklearn/*").stdout.splitlines()
    assert len(some) == 5
    assert done("datasets", "--source", "sklearn").stdout.splitlines() == some
    about = done("datasets", "iris").stdout
    assert about.startswith("Name     sklearn/iris\n")
    assert "150 rows, 4 attributes" in about
    assert "Did you mean 'iris'" in failed("datasets", "irs")
    assert "No data set matches 'x*y'" in failed("datasets", "x*y")
    assert "Unknown source 'web'" in failed("datasets", "--source", "web")


def test_a_set_with_columns_and_a_split(done):
    about = done("datasets", "uci25/chess").stdout
    assert "Published split  the first 2,130 rows train" in about
    assert "Features " in about


def test_progress_on_a_terminal_cleans_up(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress(2) as progress:
        progress.step("a long name")
        progress.step("short")
    text = capsys.readouterr().err
    assert text.split("\r")[1].startswith("[1/2] a long name (0 s)")
    assert text.split("\r")[2].startswith("[2/2] short (0 s)      ")
    assert text.endswith(" \r")


def test_long_lists_wrap_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    text = list_text([("A", "one two three four five six seven eight"), ("BB", "x")])
    assert text == "A   one two three four five\n    six seven eight\nBB  x"
