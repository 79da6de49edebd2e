"""Every picture runs, has its artists, and refuses what does not fit."""

import sys

import numpy as np
import pytest

from tanager import plots
from tanager.errors import InputError

# The oldest matplotlib that will do calls newer versions of what it uses by old names.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HOSTILE = ["$x_$", "<b>", "two\nlines", "%s {0}", "x" * 200, "", "naïve \u202e"]
"""Names that are mathematical markup, long, or odd in other ways."""


def render(ax):
    """Draw everything, as saving a file does."""
    ax.figure.canvas.draw()
    return ax


def texts(ticks):
    return [text.get_text() for text in ticks]


@pytest.fixture
def random():
    pytest.importorskip("matplotlib")
    return np.random.default_rng(0)


def test_bars_by_sign(random):
    ax = render(plots.draw_bars(["a", "b"], [0.5, -0.2], errors=[0.1, 0.1], title="T"))
    up, down = ax.patches
    assert up.get_width() == 0.5
    assert down.get_width() == -0.2
    assert up.get_facecolor() != down.get_facecolor()
    assert texts(ax.get_yticklabels()) == ["a", "b"]
    assert ax.get_ylim() == (1.5, -0.5)
    assert ax.get_title() == "T"


def test_waterfall_ends_at_the_total(random):
    ax = render(plots.draw_waterfall(["a", "b", "c"], [1.0, -0.4, 0.2], start=-0.5))
    begins = [bar.get_x() for bar in ax.patches]
    widths = [bar.get_width() for bar in ax.patches]
    ends = [x + w for x, w in zip(begins, widths, strict=True)]
    np.testing.assert_allclose(ends, [0.5, 0.1, 0.3])
    np.testing.assert_allclose(begins, [-0.5, 0.5, 0.1])
    shown = texts(ax.texts)
    assert shown == ["+1.00", "-0.40", "+0.20", "start -0.50", "total +0.30"]


def test_waterfall_of_nothing(random):
    ax = render(plots.draw_waterfall([], [], start=0.25))
    assert texts(ax.texts) == ["start +0.25", "total +0.25"]


def test_tornado_sorts_by_range(random):
    ax = render(plots.draw_tornado(["a", "b"], [0.4, 0.9], [0.6, 0.1], base=0.5))
    assert texts(ax.get_yticklabels()) == ["b", "a"]
    assert len(ax.patches) == 4


@pytest.mark.parametrize("n_lines", [1, 3])
@pytest.mark.parametrize("n_more", [0, 1, 2])
def test_curve_of_numbers(random, n_lines, n_more):
    from matplotlib.patches import StepPatch

    cuts = np.array([1.0, 2.0, 5.0])
    values = random.normal(size=(4 + n_more, n_lines))
    ax = plots.draw_curve(
        [str(k) for k in range(4 + n_more)],
        values,
        errors=np.full(values.shape, 0.2),
        support=np.arange(4.0 + n_more),
        cuts=cuts,
        line_labels=[f"class {k}" for k in range(n_lines)],
    )
    render(ax)
    steps = [p for p in ax.patches if isinstance(p, StepPatch) and not p.get_fill()]
    assert len(steps) == n_lines
    for k, step in enumerate(steps):
        found, edges, _ = step.get_data()
        np.testing.assert_array_equal(found, values[:4, k])
        np.testing.assert_array_equal(edges[1:-1], cuts)
    assert (ax.get_legend() is None) == (n_lines == 1)
    assert len([c for c in ax.containers if c.get_label() != "_support"]) == (
        n_lines if n_more else 0
    )


def test_curve_of_categories(random):
    ax = render(plots.draw_curve(HOSTILE, np.arange(7.0), support=np.ones(7)))
    assert not ax.patches[0].get_fill() or len(ax.patches) == 7
    assert len(ax.get_xticklabels()) == 7


def test_curve_of_a_long_tail_is_stretched(random):
    cuts = np.concatenate([np.linspace(1, 2, 30), [1000.0]])
    ax = render(plots.draw_curve(range(32), np.zeros(32), cuts=cuts))
    low, high = ax.get_xlim()
    assert high - low < 20


def test_heat_map_is_centred_and_hatched(random):
    values = random.normal(size=(3, 40))
    support = np.ones((3, 40))
    support[0, :5] = 0
    ax = render(
        plots.draw_heat_map(
            values,
            row_labels=HOSTILE[:3],
            column_labels=range(40),
            support=support,
            axis_names=("$one", "two"),
        )
    )
    (image,) = ax.images
    low, high = image.get_clim()
    assert low == -high == -np.abs(values).max()
    assert len(ax.collections) == 1
    assert ax.collections[0].get_hatch() == "////"
    assert len(ax.get_xticklabels()) <= 12


def test_heat_map_of_zeros(random):
    render(plots.draw_heat_map([[0.0]], row_labels=["a"], column_labels=["b"]))


def test_calibration(random):
    p = random.random(500)
    ax = render(plots.draw_calibration(p, random.random(500) < p))
    assert len(ax.containers) == 2  # points with intervals, and the histogram
    curve = plots.CalibrationCurve.of(p, random.random(500) < p)
    assert curve.count.sum() == 500
    assert (curve.low <= curve.frequency).all()
    assert (curve.frequency <= curve.high).all()
    assert curve.low.min() >= 0
    assert curve.high.max() <= 1


def test_calibration_bins_by_enumeration(random):
    p = np.array([0.1, 0.1, 0.1, 0.4, 0.8, 0.8])
    hits = np.array([0, 1, 0, 1, 1, 1])
    curve = plots.CalibrationCurve.of(p, hits, n_bins=3)
    by_hand = {0.1: 1 / 3, 0.4: 1.0, 0.8: 1.0}
    for mean, rate in zip(curve.probability, curve.frequency, strict=True):
        near = [q for q in by_hand if abs(q - mean) < 1e-12]
        if near:
            assert rate == pytest.approx(by_hand[near[0]])
    assert curve.count.sum() == 6


def test_trace(random):
    trace = [{"iteration": k, "objective": 1 / (k + 1), "step": "a"} for k in range(5)]
    ax = render(plots.draw_trace(trace))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), range(5))
    assert ax.get_ylabel() == "objective"
    ax = render(plots.draw_trace(trace, y=["objective", "iteration"]))
    assert len(ax.lines) == 2


@pytest.mark.parametrize("n_states", [1, 2, 7, 30])
def test_cpt(random, n_states):
    values = random.dirichlet(np.ones(n_states), size=4)
    ax = render(
        plots.draw_cpt(
            values, row_labels=HOSTILE[:4], column_labels=[*range(n_states)], title="P"
        )
    )
    assert len(ax.patches) == 4 * n_states
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches[-4:]]
    np.testing.assert_allclose(ends, 1.0)


def test_given_axes_are_used(random):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plots.draw_bars(["a"], [1.0], ax=ax) is ax


def test_dark_style(random):
    from matplotlib import pyplot as plt

    with plt.style.context("dark_background"):
        ax = render(plots.draw_bars(["a"], [1.0], errors=[0.1]))
        assert ax.lines[-1].get_color() == "white"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.draw_bars(["a"], [1.0, 2.0]), "values has shape"),
        (lambda: plots.draw_bars(["a"], [1.0], errors=[]), "errors has shape"),
        (lambda: plots.draw_waterfall(["a"], 1.0, start=0.0), "values has shape"),
        (lambda: plots.draw_curve(["a"], [1.0], cuts=[1.0]), "fewer cuts than bins"),
        (lambda: plots.draw_curve("abc", [1, 2, 3], cuts=[2, 1]), "increasing"),
        (lambda: plots.draw_curve(["a"], [1.0], errors=[[1.0]]), "one for every value"),
        (
            lambda: plots.draw_heat_map([[1.0]], row_labels=[], column_labels=["a"]),
            "row labels",
        ),
        (lambda: plots.draw_calibration([0.5], [0, 1]), "one of both"),
        (lambda: plots.draw_calibration([], []), "at least one sample"),
        (lambda: plots.draw_calibration([1.5], [1]), "from 0 to 1"),
        (lambda: plots.draw_trace([{"a": "x"}]), "no numbers"),
        (lambda: plots.draw_trace([{"a": 1}], y="b"), "under 'b'"),
        (
            lambda: plots.draw_cpt(
                np.ones((61, 1)), row_labels=range(61), column_labels=["a"]
            ),
            "at most 60",
        ),
    ],
)
def test_bad_input(random, call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install tanager\[plot\]"):
        plots.draw_bars(["a"], [1.0])


def test_importing_does_not_import_matplotlib():
    import subprocess

    code = "import sys, tanager.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
