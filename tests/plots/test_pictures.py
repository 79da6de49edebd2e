"""Pictures that are drawn by matplotlib and as SVG from the same data."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tanager import Network, plots
from tanager.compare import RankGroups, rank_diagram_svg
from tanager.errors import InputError

SPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x>', "a\x00b\u202ec"]
TRACE = [{"iteration": k, "objective": 1 / (k + 1), "error": 0.5} for k in range(60)]
RANKS = RankGroups(
    ("TAN", "2-tree", "<b>NB</b>"),
    np.array([1.3, 1.9, 2.8]),
    (("TAN", "2-tree"), ("2-tree", "<b>NB</b>")),
    0.05,
    1.05,
)
PICTURES = {
    "bars": plots.bar_picture(HOSTILE, [0.5, -0.2, 0.0], errors=[0.1, 0.2, 0.0]),
    "one bar": plots.bar_picture(["x"], [0.0]),
    "no bars": plots.bar_picture([], []),
    "dots": plots.dot_picture(HOSTILE, [[0.5, 0.2], [0.0, 0.0], [-1.0, 1.0]]),
    "waterfall": plots.waterfall_picture(HOSTILE, [1, -2, 0.5], start=-1.0, title="t"),
    "no steps": plots.waterfall_picture([], [], start=0.3),
    "tornado": plots.tornado_picture(["a", "b"], [0.4, 0.1], [0.6, 0.8], base=0.5),
    "cpt": plots.cpt_picture(
        [[0.9, 0.1], [0.2, 0.8]], row_labels=HOSTILE[:2], column_labels=HOSTILE[1:]
    ),
    "many states": plots.cpt_picture(
        np.full((1, 200), 0.005), row_labels=["all"], column_labels=range(200)
    ),
    "calibration": plots.CalibrationCurve.of([0.1, 0.2, 0.8], [0, 0, 1]).picture(),
    "trace": plots.trace_picture(TRACE, y=["objective", "error"]),
    "one point": plots.trace_picture(TRACE[:1]),
}


def parse(svg):
    root = ET.fromstring(svg.encode())
    assert not list(root.iter(f"{SPACE}script"))
    return root


def bars(root):
    """Place and width of every bar."""
    found = [
        element.attrib
        for element in root.iter(f"{SPACE}rect")
        if element.get("height") == "13"
    ]
    return [(float(bar["x"]), float(bar["width"])) for bar in found]


@pytest.mark.parametrize("name", PICTURES)
def test_well_formed_and_inside(name):
    root = parse(PICTURES[name].to_svg())
    width, height = (float(root.get(side)) for side in ("width", "height"))
    assert width < 900
    for element in root.iter(f"{SPACE}text"):
        assert 0 <= float(element.get("x")) <= width
        assert 0 <= float(element.get("y")) <= height
    for element in root.iter(f"{SPACE}rect"):
        if element.get("x"):
            assert float(element.get("x")) + float(element.get("width")) <= width


@pytest.mark.parametrize("name", PICTURES)
def test_matplotlib_draws_the_same(name):
    pytest.importorskip("matplotlib", reason="the plot extra is not installed")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert PICTURES[name].plot(ax) is ax


def test_lengths_of_bars():
    found = bars(parse(plots.bar_picture(["a", "b"], [3.0, -1.0]).to_svg()))
    (one, width_one), (other, width_other) = found
    np.testing.assert_allclose(width_one, 3 * width_other, atol=0.05)
    np.testing.assert_allclose(other + width_other, one, atol=0.02)


def test_steps_of_a_waterfall():
    root = parse(PICTURES["waterfall"].to_svg())
    (a, width_a), (b, width_b), (c, width_c) = bars(root)
    np.testing.assert_allclose([width_b, width_c], [2 * width_a, width_a / 2], atol=0.1)
    np.testing.assert_allclose([a + width_a, c], [b + width_b, b], atol=0.05)
    shown = [element.text for element in root.iter(f"{SPACE}text")]
    assert {"-1.00", "+1.00", "-2.00", "+0.50", "-1.50", HOSTILE[0]} <= {*shown}


def test_segments_of_a_cpt():
    widths = [width for _, width in bars(parse(PICTURES["cpt"].to_svg()))]
    np.testing.assert_allclose(np.divide(widths, sum(widths[:2])), [0.9, 0.1, 0.2, 0.8])
    with pytest.raises(InputError, match="61 configurations are too many"):
        plots.cpt_picture(
            np.ones((61, 1)), row_labels=range(61), column_labels=["x"]
        ).to_svg()


def test_points_of_a_calibration():
    root = parse(PICTURES["calibration"].to_svg())
    points = [float(e.get("cy")) for e in root.iter(f"{SPACE}circle")]
    assert points == sorted(points, reverse=True)
    assert "Observed frequency" in [e.text for e in root.iter(f"{SPACE}text")]


def test_marks_of_a_trace():
    assert not list(parse(PICTURES["trace"].to_svg()).iter(f"{SPACE}circle"))
    assert len(list(parse(PICTURES["one point"].to_svg()).iter(f"{SPACE}circle"))) == 1


def test_rank_diagram():
    root = parse(rank_diagram_svg(RANKS))
    shown = [element.text for element in root.iter(f"{SPACE}text")]
    assert {"<b>NB</b> (2.80)", "TAN (1.30)", "critical difference 1.05"} <= {*shown}
    thick = [e for e in root.iter(f"{SPACE}path") if e.get("stroke-width") == "3.5"]
    assert len(thick) == 2
    with pytest.raises(InputError, match="at least 2 methods"):
        rank_diagram_svg(RankGroups(("a",), np.ones(1), (), 0.05, None))


def test_without_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tanager import plots\n"
        "picture = plots.bar_picture(['a'], [1.0])\n"
        "assert picture.to_svg().startswith('<svg')\n"
        "picture.plot()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "pip install tanager[plot]" in found.stderr


def test_many_states_are_pooled_or_left_out():
    states = [f"city {k}" for k in range(1000)]
    p = np.full((2, 1000), 1e-4)
    p[:, 7] += 1 - p.sum(axis=1)
    network = Network.build(
        {"class": ["no", "yes"], "city": states},
        {"class": [0.5, 0.5], "city": (["class"], p)},
        target="class",
    )
    svg = network.table("city").to_svg()
    assert "980 others" in parse_texts(svg)
    assert len(svg) < 20_000
    effect = network.effect("city")
    assert len(effect.labels[0]) == 1000
    assert "city (60 of 1,000 states)" in parse_texts(effect.to_svg())


def parse_texts(svg):
    return [element.text for element in parse(svg).iter(f"{SPACE}text")]
