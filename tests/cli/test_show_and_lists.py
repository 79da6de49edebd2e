import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from tanager import BayesNetClassifier, TableEncoder, names
from tanager.cli._cpt_text import probability_text
from tanager.cli._show import summary
from tanager.cli._terminal import list_text, watch_work
from tanager.io import read_model, write_model
from tanager.network import Network
from tanager.network.named_table import ProbabilityTable
from tanager.utils.progress import keep_best


@pytest.fixture
def model(done, weather):
    done("fit", weather, "-t", "play", "-m", "NB+FE", "-o", "m.json", "-q")
    return "m.json"


def test_show_sums_up(done, model):
    text = done("show", model).stdout
    assert text.startswith("m.json: BayesNetClassifier, written by tanager ")
    assert "Class 'play': 2 states: no, yes\n" in text
    assert "4 variables, 2 arcs, " in text
    lines = text.splitlines()
    assert lines[-1].split() == ["play", "2", "no,", "yes", "-"]
    assert "cut at" in text
    assert max(map(len, lines)) <= 80


def test_show_names_the_state_of_missing_values(done):
    X = {"x": [1.0, None, 3.0, 4.0], "z": ["a", None, "b", "b"]}
    encoder = TableEncoder(numeric="quantile", missing="state")
    model = BayesNetClassifier(encoder, "nb", "fe").fit(X, [0, 1, 0, 1])
    model.save("missing.json")
    text = done("show", "missing.json").stdout
    assert "missing or cut at 2, 3.5" in text
    assert "a, b, missing" in text


def test_show_lists_what_matters_to_the_class(done, model):
    # The numbers in 'code' are not cut, so that it has no effect.
    text = done("show", model).stdout
    assert "Class depends on 2 of 3 features: sky, wind" in text
    step = [[0.9, 0.1], [0.2, 0.8]]
    tables = {"a": [0.5, 0.5], "e": [0.3, 0.7]}
    tables |= {"b": (["a"], step), "c": (["b"], step), "d": (["c"], step)}
    states = {name: ["no", "yes"] for name in "abcde"}
    write_model("n.json", Network.build(states, tables, target="c"))
    lines = done("show", "n.json").stdout.splitlines()
    assert lines[3] == "Class depends on 2 of 4 features: b, d"
    write_model("n.json", Network.build(states, tables, target="e"))
    lines = done("show", "n.json").stdout.splitlines()
    assert lines[3] == "Class depends on none of the features"


def test_show_tables(done, model):
    text = done("show", model, "--table", "play", "--table", "sky").stdout
    assert text == (
        "P(play)\n    no     yes\n0.5000  0.5000\n\n"
        "P(sky | play)\nplay    blue    grey\n"
        # grey 3 and blue 0 of the 3 rows of "no" with a known sky, Laplace 1
        "  no  0.2000  0.8000\n yes  0.8333  0.1667\n"
    )


@pytest.fixture
def log_linear():
    """A model with a variable x that is a sum of three tables."""
    golden = Path(__file__).parents[1] / "io" / "golden" / "log-linear.json"
    write_model("sums.json", read_model(golden).network)
    return "sums.json"


def test_show_log_linear_families(done, log_linear, monkeypatch):
    text = done("show", log_linear).stdout
    assert "1 family is a sum of smaller log tables\n" in text
    assert "4 variables, 6 arcs, 12 parameters\n" in text
    table = done("show", log_linear, "--table", "x").stdout
    assert table.startswith("P(x | class, a, b)\n")
    assert '"a" -> "x";' in done("show", log_linear, "--dot").stdout
    # One that is too large to be written out is shown by its parts.
    monkeypatch.setattr("tanager.network.network.MAX_TABLE_CELLS", 10)
    for options in ([], ["--all"]):
        parts = done("show", log_linear, "--table", "x", *options).stdout
        assert parts.startswith(
            "log P(x | class, a, b), the sum of 3 tables\n\n"
            "log table over a, x\n"
            "a     low    high\n"
            "0  0.0000  0.6931\n"
            "1  1.0986  0.0000\n\n"
            "log table over class, b, x\n"
        )
    assert done("show", log_linear, "--table", "a").stdout.startswith("P(a | class)\n")


def table_of(n_states, *n_parents, name="state"):
    """A variable of many states, and parents."""
    shape = (*n_parents, n_states)
    states = [tuple(f"p{k}" for k in range(n)) for n in n_parents]
    own = tuple(f"({name} {k}, {name} {k + 1}]" for k in range(n_states))
    names = tuple(f"parent {k}" for k in range(len(n_parents)))
    values = np.full(shape, 1 / n_states)
    return ProbabilityTable((*names, "own"), (*states, own), values)


def test_a_wide_table_is_turned():
    table = table_of(9, 3)
    assert len(str(table).splitlines()[1]) > 150
    lines = probability_text(table).splitlines()
    assert lines[0] == "P(own | parent 0)"
    assert lines[1].split() == ["parent", "0", "p0", "p1", "p2"]
    assert lines[2].split() == ["(state", "0,", "state", "1]", *["0.1111"] * 3]
    assert len(lines) == 11
    assert max(map(len, lines)) <= 80
    two = probability_text(table_of(9, 2, 3)).splitlines()
    assert two[1].split()[2:] == ["p0"] * 3 + ["p1"] * 3
    assert two[2].split()[2:] == ["p0", "p1", "p2"] * 2


@pytest.mark.parametrize("parents", [(), (2,), (3, 30), (200,)])
def test_a_long_table_is_cut(parents):
    text = probability_text(table_of(20_000, *parents))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 45
    assert re.search(r"^\.\.\. and 19,9\d\d more states; --all prints", text, re.M)
    n_rows = int(np.prod(parents))
    cut = f"... and {n_rows - 40:,} more rows; --all prints everything"
    assert (cut in lines) == (n_rows > 40)


def test_many_configurations_are_cut():
    lines = probability_text(table_of(2, 41, name="x")).splitlines()
    assert lines[-1] == "... and 1 more row; --all prints everything"
    assert len(lines) == 43


def test_show_all_of_a_table(done):
    states = [f"state number {k}" for k in range(100)]
    write_model("n.json", Network.build({"a": states}, {"a": [0.01] * 100}))
    lines = done("show", "n.json", "--table", "a").stdout.splitlines()
    assert lines[-1] == "... and 60 more states; --all prints everything"
    assert lines[1] == " state number 0  0.0100"
    everything = done("show", "n.json", "--table", "a", "--all").stdout
    assert everything == str(Network.build(
        {"a": states}, {"a": [0.01] * 100}).table("a")) + "\n"  # fmt: skip


def test_names_with_line_breaks_stay_on_one_line(done):
    network = Network.build(
        {"y\nz": ["no\nnot", "yes"], "x": [0, 1]},
        {"y\nz": [0.5, 0.5], "x": (["y\nz"], [[0.5, 0.5]] * 2)},
        target="y\nz",
    )
    write_model("n.json", network)
    text = done("show", "n.json").stdout
    assert "2 states: no not, yes\n" in text
    assert text.splitlines()[-1].split() == ["x", "2", "0,", "1", "y", "z"]
    table = done("show", "n.json", "--table", "x").stdout.splitlines()
    assert [line.split()[0] for line in table] == ["P(x", "y", "no", "yes"]


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
    assert names[1] in summary([network])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for width in (60, 80, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = summary([network]).splitlines()
        assert width - 30 < max(map(len, lines)) <= width


def test_show_fits_80_columns_elsewhere():
    states = [f"state number {k}" for k in range(30)]
    network = Network.build({"x": states}, {"x": [1 / 30] * 30}, target="x")
    lines = summary([network]).splitlines()
    assert lines[-1].endswith("...  -")
    assert len(lines[-1]) <= 80
    assert len(lines[0]) == 100


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


def first_words(text):
    """Of every line that is not the rest of the one before."""
    return [line.split()[0] for line in text.splitlines() if line[0] != " "]


def test_names(done, failed):
    text = done("names").stdout
    assert "\nTAN-CMI-ML  " in text
    assert text.startswith("NB-ML ")
    assert max(map(len, text.splitlines())) <= 80
    found = first_words(done("names", "nb").stdout)
    assert found
    assert all("NB" in name for name in found)
    found = first_words(done("names", "*-ML").stdout)
    assert "TAN-CMI-ML" in found
    assert all(name.endswith("-ML") for name in found)
    found = first_words(done("names", "*-gumbel-hyb").stdout)
    assert found == ["TAN-Gumbel-HYB", "2-parent-Gumbel-HYB"]
    assert first_words(done("names", "subset8-hyb").stdout) == ["TAN-Subset8-HYB"]
    assert "Did you mean 'TAN-CMI-ML'" in failed("names", "TAN-CM-ML")


def test_names_of_a_paper(done, failed):
    text = done("names", "--paper", "su2008").stdout
    assert first_words(text) == list(names("su2008"))
    assert "settings of su2008" in text
    found = done("names", "hgc*", "--paper", "su2008").stdout
    assert first_words(found) == ["HGC+FE", "HGC+DFE"]
    assert "Did you mean 'su2008'" in failed("names", "--paper", "su2009")


def test_datasets(done, failed):
    lines = done("datasets").stdout.splitlines()
    assert lines[0].split() == [
        "Name", "Rows", "Features", "Num.", "Class", "Miss.", "Source"
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80
    diabetes = next(line for line in lines if line.startswith("uci25/diabetes "))
    assert diabetes.split()[-2:] == ["local", "+2"]
    iris = next(line for line in lines if line.startswith("sklearn/iris "))
    assert iris.split() == ["sklearn/iris", "150", "4", "4", "3", "0", "sklearn"]
    some = done("datasets", "sklearn/*").stdout.splitlines()
    assert len(some) == 5
    assert some[0].split() == [
        "Name", "Rows", "Features", "Numeric", "Classes", "Missing", "Sources"
    ]  # fmt: skip
    assert done("datasets", "--source", "sklearn").stdout.splitlines() == some
    about = done("datasets", "iris").stdout
    assert about.startswith("Name     sklearn/iris\n")
    assert "150 rows, 4 attributes" in about
    assert max(map(len, about.splitlines())) <= 80
    assert "Did you mean 'iris'" in failed("datasets", "irs")
    assert "No dataset matches 'x*y'" in failed("datasets", "x*y")
    assert "Unknown source 'web'" in failed("datasets", "--source", "web")


def test_a_set_with_columns_and_a_split(done):
    about = done("datasets", "uci25/chess").stdout
    assert "Published split  the first 2,130 rows train" in about
    assert "Features " in about


def test_progress_on_a_terminal_cleans_up(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with watch_work("test", quiet=False, progress=False) as shown:
        shown.announce(1, 2, "a long name")
        shown.announce(2, 2, "short")
    drawn = capsys.readouterr().err.split("\r\033[K")
    assert [text for text in drawn if text] == [
        "[1/2] a long name (0 s)",
        "[2/2] short (0 s)",
    ]
    assert drawn[-1] == ""


@pytest.mark.usefixtures("ctrl_c_as_usual")
def test_ctrl_c_ends_work_in_steps():
    before = signal.getsignal(signal.SIGINT)
    reached = []

    def work():
        with watch_work("test", quiet=True, progress=False):
            with keep_best("learner", lambda: "1 step"):
                signal.raise_signal(signal.SIGINT)
            reached.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == []
    assert signal.getsignal(signal.SIGINT) is before


def test_long_lists_wrap_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    text = list_text([("A", "one two three four five six seven eight"), ("BB", "x")])
    assert text == "A   one two three four five\n    six seven eight\nBB  x"


@pytest.fixture
def boosted(done):
    """A model file with several trees."""
    done("fit", "iris", "-m", "TAN+Ada", "-o", "boosted.json", "-q")
    return "boosted.json"


def test_a_boosted_model(done, boosted):
    shown = done("show", boosted).stdout
    networks = read_model(boosted).networks
    head, about, variables, members = shown.split("\n\n")
    assert head.startswith("boosted.json: BoostedClassifier, written by tanager")
    arcs = sum(len(network.edges) for network in networks)
    assert f"5 variables, {len(networks)} networks with {arcs} arcs, " in about
    assert "class                   3  setosa, versicolor, virg...  -" in variables
    lines = members.splitlines()
    assert lines[0].split("  ")[0] == "Network"
    assert [line.split()[0] for line in lines[1:]] == [
        str(k + 1) for k in range(len(networks))
    ]
    assert sum(float(line.split()[2]) for line in lines[1:]) == pytest.approx(
        100, abs=1
    )


def test_parents_that_differ_between_the_networks(done, boosted):
    networks = read_model(boosted).networks
    shown = done("show", boosted).stdout.splitlines()
    for name in networks[0].schema.names[:-1]:
        (line,) = [line for line in shown if line.startswith(name)]
        found = {network.parents(name) for network in networks}
        expected = "(differ)" if len(found) > 1 else ", ".join(found.pop())
        assert line.endswith(f"  {expected}")


def test_one_network_of_a_boosted_model(done, boosted):
    network = read_model(boosted).networks[1]
    shown = done("show", boosted, "--member", 2).stdout
    assert shown.startswith("boosted.json: network 2 of BoostedClassifier, written by")
    assert f"5 variables, {len(network.edges)} arcs, " in shown
    assert done("show", boosted, "--member", 2, "--dot").stdout == (
        network.to_dot() + "\n"
    )
    table = done("show", boosted, "--member", 2, "--table", "class").stdout
    assert table == f"{network.table('class')}\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dot"], "networks; choose the one for --dot with --member N (1"),
        (["--table", "class"], "choose the one for --table"),
        (["--member", 99], "--member must be at most"),
        (["--member", 0], "0 is not in the range x>=1"),
    ],
)
def test_which_network_has_to_be_said(tanager, boosted, options, message):
    result = tanager("show", boosted, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_single_network_has_no_members(tanager, done, weather):
    done("fit", weather, "-t", "play", "-o", "m.json")
    result = tanager("show", "m.json", "--member", 1)
    assert result.exit_code == 2
    assert (
        "--member goes with boosted models; m.json holds one network" in result.stderr
    )


def test_a_boosted_model_of_one_network(tanager, done, weather):
    fitted = done("fit", weather, "-t", "play", "-m", "NB+Ada", "-o", "m.json")
    assert "Wrote m.json: 1 network, 3 arcs, " in fitted.stderr
    assert "\n      1  1.0000   100.0     3 " in done("show", "m.json").stdout
    assert done("show", "m.json", "--dot").stdout.startswith("digraph")
