"""Pictures of networks and factors, and the information behind them."""

import sys
from itertools import product
from types import ModuleType
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tanager import BayesNetClassifier, Network
from tanager.errors import InputError
from tanager.network import NamedFactor
from tanager.network.arc_information import NetworkInformation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DAGS = {
    "tan": {"c": (), "x": ("c",), "y": ("c", "x"), "z": ("c", "x")},
    "2-tree": {"c": (), "x": ("c",), "y": ("c", "x"), "z": ("c", "x", "y")},
    "collider": {"x": (), "y": (), "c": ("x",), "z": ("x", "y", "c")},
    "class below": {"x": (), "y": ("x",), "c": ("x", "y"), "z": ()},
}


def random_network(parents, target="c", seed=0):
    random = np.random.default_rng(seed)
    n_states = {name: 2 + k % 2 for k, name in enumerate(parents)}
    tables = {}
    for name, above in parents.items():
        shape = tuple(n_states[p] for p in above)
        tables[name] = (
            list(above),
            random.dirichlet(np.ones(n_states[name]), size=shape),
        )
    variables = {name: list(range(n)) for name, n in n_states.items()}
    return Network.build(variables, tables, target=target)


def joint(network):
    """The whole joint distribution by enumeration; axes as in the schema."""
    shape = tuple(variable.n_states for variable in network.schema)
    names = network.schema.names
    rows = [dict(zip(names, s, strict=True)) for s in product(*map(range, shape))]
    return np.exp(network.log_likelihood(rows)).reshape(shape)


def entropy_of(p, axes):
    others = tuple(k for k in range(p.ndim) if k not in axes)
    marginal = p.sum(axis=others).ravel()
    marginal = marginal[marginal > 0]
    return float(-(marginal * np.log(marginal)).sum())


@pytest.mark.numerical
@pytest.mark.parametrize("parents", DAGS.values(), ids=DAGS)
def test_information_by_enumeration(parents):
    network = random_network(parents)
    p = joint(network)
    found = network.information
    for (parent, child), strength in zip(
        network.structure.arcs, found.arcs, strict=True
    ):
        given = set(network.structure.parents[child]) - {parent}
        expected = (
            entropy_of(p, given | {child})
            + entropy_of(p, given | {parent})
            - entropy_of(p, given)
            - entropy_of(p, given | {parent, child})
        )
        assert strength == pytest.approx(expected, abs=1e-10)
    target = network.schema.target
    for v in range(len(network.schema)):
        expected = 0.0
        if v != target:
            expected = (
                entropy_of(p, {v})
                + entropy_of(p, {target})
                - entropy_of(p, {v, target})
            )
        assert found.features[v] == pytest.approx(expected, abs=1e-10)


def test_large_families_get_the_median(monkeypatch):
    from tanager.network import arc_information

    network = random_network(DAGS["2-tree"])
    whole = network.information.arcs
    monkeypatch.setattr(arc_information, "MAX_CELLS", 13)
    parts = network.schema, network.structure, network.parameters
    part = NetworkInformation(*parts).arcs
    assert np.isnan(part[-1])
    np.testing.assert_array_equal(part[:3], whole[:3])
    assert Network(*parts).graph.strengths[-1] == np.median(part[:3])


@pytest.mark.numerical
def test_effect_of_a_feature_by_enumeration():
    network = random_network(DAGS["collider"])
    p = joint(network)
    both = p.sum(axis=(1, 3))  # x, c
    given_class = both / both.sum(axis=0)
    logs = np.log(given_class)
    effect = network.effect("x")
    expected = logs - logs.mean(axis=1, keepdims=True)
    if len(network.schema.target_variable.states) == 2:
        expected = np.diff(logs, axis=1)
    np.testing.assert_allclose(effect.values, expected, atol=1e-12)
    np.testing.assert_allclose(effect.support, both.sum(axis=1))


def test_impossible_states_have_finite_effects():
    network = Network.build(
        {"c": [0, 1], "x": [0, 1]},
        {"c": [0.5, 0.5], "x": (["c"], [[1.0, 0.0], [0.0, 1.0]])},
        target="c",
    )
    assert np.isfinite(network.effect("x").values).all()


@pytest.mark.parametrize("names", [("x", "y"), ("c",), ()])
def test_effects_that_a_network_does_not_have(names):
    with pytest.raises(InputError, match="single features"):
        random_network(DAGS["tan"]).effect(*names)


def test_no_class_no_effects():
    pytest.importorskip("matplotlib")
    network = random_network(DAGS["tan"], target=None)
    assert network.main_effects(3) == []
    with pytest.raises(InputError, match="no effects on a class"):
        network.plot_effects()
    ET.fromstring(network.to_svg(3))


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def factors(request):
    random = np.random.default_rng(0)
    n = 300
    X = {
        "number": random.normal(size=n),
        "colour": random.choice(["red", "green", "b<lue"], n),
        "other": random.choice(["u", "v"], n),
    }
    X["number"][:20] = np.nan
    y = (np.nan_to_num(X["number"]) > 0) ^ (X["other"] == "u")
    y = y.astype(int) + (request.param == 3) * (X["colour"] == "red")
    return BayesNetClassifier(structure="factors").fit(X, y)


@pytest.fixture
def _close():
    pytest.importorskip("matplotlib")
    yield
    sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.usefixtures("_close")
def test_factors_are_chart_data(factors):
    network = factors.network_
    for table in network.by_importance():
        factor = network.log_table(*network.names_of(table))
        ax = factor.plot()
        ax.figure.canvas.draw()
        assert bool(ax.images) == (len(factor.names) > 2)
        ET.fromstring(factor.to_svg())
    assert len(network.plot_effects(3).axes) >= 3
    ax = network.plot(title="factors")
    ax.figure.canvas.draw()
    assert {text.get_text() for text in ax.texts} >= {"number", "colour", "other"}


@pytest.mark.usefixtures("_close")
def test_one_class_of_a_factor(factors):
    factor = factors.network_.log_table("number")
    label = factor.effect.classes[-1]
    ax = factor.plot(label=label)
    assert str(label) in ax.get_ylabel()
    with pytest.raises(InputError, match="Unknown class"):
        factor.plot(label="none")


def test_bins_without_samples_at_the_end_are_left_out(factors):
    colour = factors.network_.effect("colour")
    assert list(colour.labels[0]) == ["b<lue", "green", "red"]
    number = factors.network_.effect("number")
    assert number.labels[0][-1] == "missing"


def test_graph_of_factors(factors):
    network = factors.network_
    graph = network.graph
    pairs = {frozenset(p) for f in network.interactions for p in product(f, f)}
    pairs = {p for p in pairs if len(p) == 2}
    drawn = {frozenset((graph.names[a], graph.names[b])) for a, b in graph.feature_arcs}
    assert drawn == pairs
    assert not graph.directed
    edges = {frozenset(edge): s for edge, s in network.edge_strengths.items()}
    for arc, strength in zip(graph.arcs, graph.strengths, strict=True):
        assert strength == edges[frozenset(arc)] > 0


def test_three_features_are_a_grid_of_configurations():
    weights = np.random.default_rng(0).normal(size=(3, 3, 3))
    factor = NamedFactor(
        ("x", "y", "z", "class"),
        (("a", "b", "not observed"),) * 3 + ((0, 1),),
        np.stack([-weights, weights], axis=-1),
        None,
        np.pad(np.ones((2, 2, 2)), ((0, 1),) * 3),
        (None, None, None),
    )
    root = ET.fromstring(factor.to_svg())
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "a, b" in texts
    assert "not observed" not in " ".join(texts)
    unit, options = factor.effect._chart_data(None)
    assert unit == "log odds of 1"
    np.testing.assert_array_equal(
        options["values"], 2 * weights[:2, :2, :2].reshape(4, 2)
    )


@pytest.mark.usefixtures("_close")
@pytest.mark.parametrize("parents", DAGS.values(), ids=DAGS)
def test_networks_are_chart_data(parents):
    network = random_network(parents)
    ax = network.plot()
    ax.figure.canvas.draw()
    assert {text.get_text() for text in ax.texts} >= set(parents)
    ET.fromstring(network.to_svg(n_effects=4))
    ax = network.table("z").plot()
    assert ax.get_title().startswith("P(z")


def test_notebook_display(factors):
    html = factors._repr_html_()
    assert html.count("<svg") >= 1
    assert "<b<lue" not in html
    assert factors._repr_mimebundle_()["text/html"].endswith("</svg></div>")
    assert "<svg xmlns" not in BayesNetClassifier()._repr_html_()
    assert factors.network_._repr_html_().startswith("<svg")


def test_notebook_display_as_text(factors):
    import sklearn

    with sklearn.config_context(display="text"):
        assert not hasattr(factors, "_repr_html_")
        assert list(factors._repr_mimebundle_()) == ["text/plain"]


class FakeGraph:
    def __init__(self):
        self.nodes, self.edges = {}, {}

    def add_node(self, name, **attributes):
        self.nodes[name] = attributes

    def add_edge(self, one, other, **attributes):
        self.edges[one, other] = attributes


def test_networkx(monkeypatch, factors):
    fake = ModuleType("networkx")
    fake.DiGraph = type("DiGraph", (FakeGraph,), {})
    fake.Graph = type("Graph", (FakeGraph,), {})
    monkeypatch.setitem(sys.modules, "networkx", fake)
    network = random_network(DAGS["tan"])
    graph = network.to_networkx()
    assert type(graph).__name__ == "DiGraph"
    assert list(graph.nodes) == ["c", "x", "y", "z"]
    assert graph.nodes["c"] == {"states": (0, 1), "is_class": True}
    assert set(graph.edges) == set(network.edges)
    strengths = [edge["strength"] for edge in graph.edges.values()]
    np.testing.assert_allclose(strengths, network.information.arcs)
    assert type(factors.network_.to_networkx()).__name__ == "Graph"


def test_networkx_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(InputError, match="pip install networkx"):
        random_network(DAGS["tan"]).to_networkx()


def test_matplotlib_is_not_installed(monkeypatch, factors):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        factors.network_.plot,
        factors.network_.plot_effects,
        factors.network_.log_table("colour").plot,
        random_network(DAGS["tan"]).table("z").plot,
    ):
        with pytest.raises(InputError, match=r"pip install tanager\[plot\]"):
            draw()
    assert factors.network_.to_svg(2).startswith("<svg")


def test_cpt_of_many_configurations_shows_the_first():
    states = {"c": [f"class {k}" for k in range(200)], "x": ["a", "b"]}
    tables = {"c": np.full(200, 0.005), "x": (["c"], np.full((200, 2), 0.5))}
    table = Network.build(states, tables, target="c").table("x")
    svg = table.to_svg()
    assert "P(x | c) (60 of 200 configurations)" in svg
    assert "class 59<" in svg
    assert "class 60<" not in svg
