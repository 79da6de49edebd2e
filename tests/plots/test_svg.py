"""SVG without matplotlib: well formed, escaped, with what it should show."""

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.errors import InputError
from tanager.plots.bin_axis import BinAxis, nice_ticks
from tanager.plots.effect_svg import curve_panel, heat_map_panel
from tanager.plots.network_picture import NetworkGraph, NetworkPicture
from tanager.plots.network_svg import network_panel
from tanager.plots.svg import Panel, arrange, cut_middle, plain_text, write_svg

SPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='a'>",
    "]]>&amp;&lt;",
    "a\x00b\x1b[31m\u202eevil\n",
    "${x}",
    " ",
    "名前" * 40,
    "\ud800",
)


def read(panel):
    """Parse a document; only elements that we write may be in it."""
    root = ET.fromstring(write_svg(panel).encode("utf-8"))
    known = {
        "svg", "style", "g", "rect", "path", "polygon", "text", "title", "circle",
    }  # fmt: skip
    for element in root.iter():
        assert element.tag.removeprefix(SPACE) in known
        assert not any(name.startswith("on") for name in element.attrib)
    return root


def texts(root):
    return [element.text for element in root.iter(f"{SPACE}text")]


@given(st.text(), st.text())
@settings(deadline=None)
def test_any_names(one, other):
    graph = NetworkGraph((one, other, "class"), ((2, 0), (2, 1), (0, 1)), 2)
    root = read(network_panel(graph))
    assert len(list(root.iter(f"{SPACE}polygon"))) == 1
    read(curve_panel([one, other], [0.0, 1.0], heading=one, unit=other))
    read(
        heat_map_panel(
            [[1.0, -1.0]],
            row_labels=[one],
            column_labels=[one, other],
            axis_names=(one, other),
        )
    )


def test_hostile_names_are_text():
    names = (*HOSTILE, "class")
    arcs = tuple((k, k + 1) for k in range(len(names) - 1))
    root = read(network_panel(NetworkGraph(names, arcs)))
    shown = texts(root)
    assert "<script>alert(1)</script>" in shown
    titles = [element.text for element in root.iter(f"{SPACE}title")]
    assert "\"><img src=x onerror='a'>" in titles
    assert not any(c in text for text in shown for c in "\x00\x1b\u202e")


def test_network_elements():
    graph = NetworkGraph(
        ("a", "b", "c", "class"),
        ((3, 0), (3, 1), (3, 2), (0, 1), (1, 2)),
        3,
        np.array([0.0, 0.0, 0.0, 0.2, 0.1]),
        np.array([1.0, 0.5, 0.0, 0.0]),
        measures=("CMI", "MI"),
    )
    root = read(network_panel(graph))
    kinds = [element.get("class") for element in root.iter()]
    assert kinds.count("tng-class") == 1
    assert kinds.count("tng-node") == 3
    assert kinds.count("tng-head") == 2
    assert kinds.count("tng-f0") == 2  # bars of a and b
    assert kinds.count("tng-line") == 5  # three faded, two arcs
    assert texts(root)[-3:] == [
        "class is a parent of every feature (faded).",
        "Width of arcs: CMI.",
        "Bars in boxes: MI.",
    ]
    picture = NetworkPicture.of(graph)
    first, second = picture.lines
    assert first.width > second.width


def test_many_features():
    n = 300
    arcs = tuple((n, k) for k in range(n)) + tuple((0, k) for k in range(1, n))
    graph = NetworkGraph((*(f"feature number {k}" for k in range(n)), "y"), arcs, n)
    picture = NetworkPicture.of(graph)
    assert picture.faded == ()
    assert len(picture.frames) == 1
    assert len(picture.lines) == 1
    assert picture.notes[0] == "y is a parent of every feature (not drawn)."
    boxes = picture.boxes
    assert len({(box.x, box.y) for box in boxes}) == n + 1
    assert len({box.label for box in boxes}) == n + 1
    assert all(len(box.label) <= 14 for box in boxes)
    frame = picture.frames[0]
    for box in boxes[1:n]:
        assert abs(box.x - frame.x) + box.width / 2 <= frame.width / 2
        assert abs(box.y - frame.y) + 12 <= frame.height / 2
    assert len(write_svg(network_panel(graph))) < 150_000


def test_only_the_strongest_of_many_lines():
    n = 60
    arcs = tuple((i, j) for i in range(n) for j in range(i + 1, n))
    strengths = np.arange(len(arcs), dtype=float)
    names = tuple(f"x{k}" for k in range(n))
    graph = NetworkGraph(names, arcs, None, strengths, directed=False)
    assert graph.strongest_arcs == arcs[-45:]
    assert (
        "The strongest 45 of 1,770 lines are drawn." in NetworkPicture.of(graph).notes
    )


def test_class_with_parents_is_laid_out_with_the_others():
    graph = NetworkGraph(("a", "b", "class"), ((0, 2), (2, 1)), 2)
    assert graph.class_children == ()
    assert len(NetworkPicture.of(graph).lines) == 2


def test_without_variables_or_arcs():
    read(network_panel(NetworkGraph(("only",), ())))


def test_curve_of_numbers_and_missing_values():
    root = read(
        curve_panel(
            ["low", "high", "missing"],
            [-1.0, 1.0, 0.5],
            errors=[0.1, 0.2, 0.3],
            support=[5.0, 5.0, 0.0],
            cuts=[10.0],
            heading="age",
            unit="log odds",
        )
    )
    assert {"age", "log odds", "missing"} <= set(texts(root))
    assert len(list(root.iter(f"{SPACE}circle"))) == 1
    step = next(e for e in root.iter() if e.get("class") == "tng-s0")
    assert len(re.findall("[ML]", step.get("d"))) == 4  # two steps


def test_curves_of_classes_have_a_legend():
    labels = [f"class {k}" for k in range(9)]
    root = read(curve_panel("ab", np.zeros((2, 9)), line_labels=labels))
    assert set(labels) <= set(texts(root))


def test_heat_map_cells():
    values = np.array([[1.0, -1.0, 0.0], [np.nan, 0.5, 0.25]])
    support = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    root = read(
        heat_map_panel(
            values, row_labels="ab", column_labels="xyz", support=support, heading="h"
        )
    )
    filled = [
        element.get("d").count("M")
        for element in root.iter(f"{SPACE}path")
        if element.get("class") in ("tng-f0", "tng-f1")
    ]
    assert sum(filled) == 4  # neither zero nor missing
    lines = [e for e in root.iter(f"{SPACE}path") if e.get("class") == "tng-line"]
    assert lines[0].get("d").count("M") == 2  # cells without samples


def test_constant_values():
    read(curve_panel("ab", [0.0, 0.0], support=[0.0, 0.0]))
    read(heat_map_panel([[0.0]], row_labels="a", column_labels="b", support=[[0.0]]))


def test_shapes_are_checked():
    with pytest.raises(InputError, match="values has shape"):
        curve_panel("ab", [1.0])
    with pytest.raises(InputError, match="row labels"):
        heat_map_panel([[1.0]], row_labels="ab", column_labels="c")


def test_arrange_in_rows():
    panels = [Panel(100.0, 50.0, "", "p")] * 3
    assert arrange(panels, width=250.0, gap=10.0).width == 210
    assert arrange(panels, width=250.0, gap=10.0).height == 110


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(3, 10))
def test_ticks(low, length, most):
    ticks = nice_ticks(low, low + length, most)
    assert len(ticks) <= most
    assert all(low - 1e-6 <= tick <= low + length + 1e-6 for tick in ticks)


@given(
    st.lists(st.floats(-1e9, 1e9), unique=True, max_size=50).map(sorted),
    st.integers(0, 2),
)
def test_bins_do_not_overlap(cuts, n_more):
    labels = [str(k) for k in range(len(cuts) + 1 + n_more)]
    axis = BinAxis.of(labels, np.array(cuts))
    assert (axis.left[1:] >= axis.right[:-1] - 1e-9 * np.abs(axis.left[1:])).all()
    assert axis.is_interval.sum() == len(cuts) + 1
    low, high = axis.limits
    assert all(low <= place <= high for place, _ in axis.ticks)


def test_texts():
    assert plain_text("a\tb\x07") == "a b\ufffd"
    assert cut_middle("abcdefghij", 5) == "ab…ij"
    assert cut_middle("abc", 5) == "abc"


def test_light_and_dark():
    assert "prefers-color-scheme:dark" in write_svg(Panel(1.0, 1.0, "", "p"))


def test_without_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tanager import Network\n"
        "n = Network.build({'a': [0, 1], 'b': [0, 1]}, {'a': [.5, .5], "
        "'b': (['a'], [[.1, .9], [.8, .2]])}, target='a')\n"
        "assert n.to_svg(2).startswith('<svg')"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
