import sys
from itertools import combinations

import numpy as np
import pytest

from tanager.compare import RankGroups, critical_difference_diagram
from tanager.compare.diagram import _levels
from tanager.errors import InputError

# The oldest matplotlib that will do calls newer versions of what it uses by old names.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def make(n, name="method {}", ranks=None, cd=1.5):
    names = tuple(name.format(k) for k in range(n))
    own = np.linspace(1.2, n - 0.2, n) if ranks is None else np.asarray(ranks)
    groups = tuple(names[k : k + 3] for k in range(max(1, n - 2)))
    return RankGroups(names, own, groups, 0.05, cd)


CASES = {
    "two": make(2),
    "two, a long ruler": make(2, cd=5.0),
    "six": make(6),
    "fifteen long names": make(15, "a method with a long name and $x_{}$"),
    "equal ranks": make(5, ranks=[3.0] * 5),
    "without a ruler": make(4, cd=None),
    "fifty": make(50),
    "a line break": make(3, "two\nlines {}"),
}


@pytest.mark.parametrize("groups", CASES.values(), ids=CASES)
def test_texts_are_inside_and_do_not_overlap(groups):
    pytest.importorskip("matplotlib")
    figure = critical_difference_diagram(groups)
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    assert len(boxes) >= len(groups.methods) + 2
    width, height = figure.get_size_inches() * figure.dpi
    for box in boxes:
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("groups", CASES.values(), ids=CASES)
def test_bars_cover_their_groups_alone_and_do_not_touch(groups):
    n = len(groups.methods)
    bars = _levels(groups, 0.0, float(n - 1))
    places = {
        m: n - r for m, r in zip(groups.methods, groups.average_ranks, strict=True)
    }
    for members in groups.groups:
        inside = {places[m] for m in members}
        assert any(
            {p for p in places.values() if start <= p <= end} == inside
            for start, end, _ in bars
        )
    for (a, b, level), (c, d, other) in combinations(bars, 2):
        assert level != other or b < c or d < a


def test_files(tmp_path):
    pytest.importorskip("matplotlib")
    groups = make(3)
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    for kind, start in starts.items():
        critical_difference_diagram(groups, tmp_path / f"one.{kind}")
        first = (tmp_path / f"one.{kind}").read_bytes()
        assert first.startswith(start)
        critical_difference_diagram(groups, str(tmp_path / f"one.{kind}"))
        assert (tmp_path / f"one.{kind}").read_bytes() == first
    critical_difference_diagram(groups, tmp_path / "both")
    critical_difference_diagram(groups, tmp_path / "level0.05")
    found = {path.name for path in tmp_path.iterdir()} - {f"one.{k}" for k in starts}
    assert found == {"both.svg", "both.png", "level0.05.svg", "level0.05.png"}


def test_files_that_cannot_be_written(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="ending must be one of 'svg', 'pdf', 'png'"):
        critical_difference_diagram(make(3), tmp_path / "one.jpg")
    with pytest.raises(InputError, match="does not exist"):
        critical_difference_diagram(make(3), tmp_path / "no" / "one.svg")
    (tmp_path / "one.png").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        critical_difference_diagram(make(3), tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]


def test_a_single_method_has_no_axis():
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="at least 2 methods"):
        critical_difference_diagram(RankGroups(("a",), np.ones(1), (), 0.05, None))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install tanager\[plot\]"):
        critical_difference_diagram(make(3))


def test_importing_does_not_import_matplotlib():
    import subprocess

    code = "import sys, tanager.compare; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
