"""Files that other programs write are read, and ours are read by them.

They are installed where the benchmarks run: ``pip install tanager[bench]``.
"""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tanager import BayesNetClassifier, DataWarning, Network, datasets, load, save
from tanager.io import network_format, read_bif
from tanager.io.bif_properties import choose_words
from tests.io.network_texts import REPOSITORY

SINGLE = 1e-7
"""Relative error of numbers that pyAgrum reads from BIF, as single precision."""

PRINTED = 1e-5
"""Relative error of the six digits that pyAgrum prints in XMLBIF."""

EXACT = 1e-12


@lru_cache
def network_of(name):
    """The network of a classifier, one with odd names, or that of a file."""
    if name in ("iris", "iris, tree"):
        iris = datasets.load("iris")
        if name == "iris":  # factors have no CPTs of their own
            return BayesNetClassifier().fit(iris.X, iris.y).network_.to_network()
        return BayesNetClassifier(structure="tan-res").fit(iris.X, iris.y).network_
    if name == "odd":
        return odd_network([0.5], ["x"])
    if name == "odd names":
        return odd_network([0.5, 1.5], ["x", "ÿ"])
    folder = os.environ.get("TANAGER_DATA")
    if not folder:
        pytest.skip("needs the folder of datasets; set TANAGER_DATA")
    return read_bif(Path(folder) / "networks" / f"{name}.bif")


def odd_network(numbers, letters):
    """Names and states that hardly any format has; some states are given."""
    random = np.random.default_rng(0)
    names = [
        "a b",
        "größe",
        "x|y",
        "table",
        'say "so"',
        "1",
        "http://a/b",
        "2024-01-02",
    ]
    states = [["a b", "a_b", "c,d"], [1, 2, 3], ["<5", "5-12"], [True, False]]
    states += [numbers, letters, ["k/l", "東京", "it's", "/* no"]]
    states += [["(-inf, 2024-01-03 12:00]", "(2024-01-03 12:00, inf)", "50%", "-"]]
    tables = {}
    for k, name in enumerate(names):
        given = names[max(0, k - 2) : k]
        shape = [len(states[names.index(n)]) for n in given] + [len(states[k])]
        table = random.gamma(0.3, size=shape) + 1e-30
        tables[name] = (given, table / table.sum(axis=-1, keepdims=True))
    variables = dict(zip(names, states, strict=True))
    return Network.build(variables, tables, target="table")


def words(network, path):
    """Names and states as they stand in the file."""
    chosen = choose_words(network.schema, network_format(path).words)
    return {
        name: (variable.name, states)
        for (name, states), variable in zip(chosen, network.schema, strict=True)
    }


def assert_close(network, other, path, rtol):
    """`other` gives, for a variable, the axes of its table, its states, the table."""
    named = words(network, path)
    for name, (own, states) in named.items():
        table = network.table(own)
        axes, found_states, values = other(name)
        axes = [named[axis][0] for axis in axes]
        values = np.transpose(values, [axes.index(axis) for axis in table.names])
        assert list(found_states) == states
        np.testing.assert_allclose(values, table.values, rtol=rtol, atol=1e-30)


@pytest.fixture(params=["iris", "iris, tree", "odd", "odd names", *REPOSITORY])
def network(request):
    return network_of(request.param)


def by_pyagrum(path):
    gum = pytest.importorskip("pyagrum")
    net = gum.loadBN(str(path))

    def table(name):
        cpt = net.cpt(name)
        return list(cpt.names)[::-1], net.variable(name).labels(), cpt[:]

    return table


def by_pgmpy(path):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    bif = path.suffix == ".bif"
    reader = (readwrite.BIFReader if bif else readwrite.XMLBIFReader)(str(path))
    model = reader.get_model()

    def table(name):
        cpd = model.get_cpds(name)
        return cpd.variables, cpd.state_names[name], np.asarray(cpd.values)

    return table


def test_pyagrum_reads_our_bif(network, tmp_path):
    pytest.importorskip("pyagrum")
    if (network.schema.n_states == 1).any():
        pytest.skip("pyAgrum reads no variable with one state; another test warns")
    path = tmp_path / "x.bif"
    save(network, path)
    assert_close(network, by_pyagrum(path), path, SINGLE)


@pytest.mark.filterwarnings("ignore:.*left out.*:tanager.DataWarning")
def test_single_states_are_warned_of_and_can_be_left_out(tmp_path):
    """Identifiers, constants and features in one bin, with odd names."""
    random = np.random.default_rng(0)
    n = 120
    X = {
        "key": [f"c{i}" for i in range(n)],
        "const": ["k"] * n,
        "x/y z": random.normal(size=n).tolist(),
        "größe": random.choice(["a b", "c/d"], n).tolist(),
    }
    y = np.where(np.array(X["größe"]) == "a b", "yes, sure", "no")
    model = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y)
    path = tmp_path / "x.bif"
    with pytest.warns(DataWarning, match="'key', 'const', 'x/y z' have a single state"):
        model.save(path)
    small = model.blanket_classifier()
    small.save(tmp_path / "small.bif")  # without a warning
    again = BayesNetClassifier.from_network(load(tmp_path / "small.bif"))
    own = {"größe": X["größe"]}
    np.testing.assert_allclose(
        again.predict_proba(own), model.predict_proba(X), rtol=1e-12
    )
    pytest.importorskip("pyagrum")
    assert_close(small.network_, by_pyagrum(tmp_path / "small.bif"), path, SINGLE)
    pytest.importorskip("pgmpy")
    assert_close(model.network_, by_pgmpy(path), path, EXACT)


def test_pyagrum_reads_our_xmlbif(network, tmp_path):
    pytest.importorskip("pyagrum")
    path = tmp_path / "x.bifxml"
    save(network, path)
    assert_close(network, by_pyagrum(path), path, EXACT)


@pytest.mark.parametrize("suffix", [".bif", ".xml"])
def test_pgmpy_reads_ours(network, tmp_path, suffix):
    pytest.importorskip("pgmpy")
    path = tmp_path / f"x{suffix}"
    save(network, path)
    assert_close(network, by_pgmpy(path), path, EXACT)


@pytest.mark.parametrize(("suffix", "rtol"), [(".bif", EXACT), (".bifxml", PRINTED)])
def test_we_read_pyagrum(tmp_path, suffix, rtol):
    gum = pytest.importorskip("pyagrum")
    gum.initRandom(3)
    net = gum.fastBN("A{a|b}->C{x|y|z}<-B[2]->D{p|q_r}<-A; D->E[0,3]; F")
    path = tmp_path / f"x{suffix}"
    (net.saveBIF if suffix == ".bif" else net.saveBIFXML)(str(path))
    network = load(path)
    assert sorted(network.edges) == sorted(
        (net.variable(p).name(), net.variable(c).name()) for p, c in net.arcs()
    )
    for name in network.schema.names:
        axes = list(net.cpt(name).names)[::-1]
        order = [axes.index(axis) for axis in network.table(name).names]
        found = np.transpose(net.cpt(name)[:], order)
        np.testing.assert_allclose(network.table(name).values, found, rtol=rtol)


@pytest.mark.parametrize("suffix", [".bif", ".xml"])
def test_we_read_pgmpy(tmp_path, suffix):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    ours = tmp_path / f"ours{suffix}"
    network = network_of("iris")
    save(network, ours)
    bif = suffix == ".bif"
    reader = (readwrite.BIFReader if bif else readwrite.XMLBIFReader)(str(ours))
    model = reader.get_model()
    theirs = tmp_path / f"theirs{suffix}"
    (readwrite.BIFWriter if bif else readwrite.XMLBIFWriter)(model).write(str(theirs))
    again = load(theirs)
    for name in model.nodes():
        cpd = model.get_cpds(name)
        assert again.parents(name) == tuple(cpd.variables[1:])
        found = np.moveaxis(np.asarray(cpd.values), 0, -1)
        np.testing.assert_allclose(again.table(name).values, found, rtol=EXACT)
