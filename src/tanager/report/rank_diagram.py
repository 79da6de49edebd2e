"""The critical-difference diagram as SVG."""

from __future__ import annotations

from html import escape

from tanager.compare import RankGroups

WIDTH, SIDE, AXIS, ROW, BAR = 720, 210, 46, 24, 10  # units of the drawing


def draw_rank_diagram(groups: RankGroups) -> str:
    """Draw average ranks, the best on the right, with bars over equal methods.

    Parameters
    ----------
    groups : RankGroups
        Of at least two methods.

    Returns
    -------
    str
        An SVG element, coloured by the style sheet of the page.

    References
    ----------
    J. Demšar (2006), Statistical comparisons of classifiers over multiple datasets,
    JMLR 7, Figure 1.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = RankGroups(("a", "b"), np.array([1.2, 1.8]), (("a", "b"),), 0.05, 0.9)
    >>> draw_rank_diagram(ranks)[:18]
    '<svg class="chart"'
    """
    n = len(groups.methods)
    ranks = dict(zip(groups.methods, map(float, groups.average_ranks), strict=True))

    def place(rank: float) -> float:
        return round(SIDE + (WIDTH - 2 * SIDE) * (n - rank) / (n - 1), 1)

    parts = [_line(place(n), AXIS, place(1), AXIS)]
    step = 1 + (n - 1) // 12
    for rank in range(1, n + 1, step):
        parts.append(_line(place(rank), AXIS - 5, place(rank), AXIS))
        parts.append(_text(place(rank), AXIS - 10, str(rank), "middle"))
    if groups.critical_difference is not None:
        length = (WIDTH - 2 * SIDE) * groups.critical_difference / (n - 1)
        end = min(SIDE + length, WIDTH - 10)
        shown = f"critical difference {groups.critical_difference:.2f}"
        parts.append(_line(SIDE, 20, end, 20))
        parts.append(_text(SIDE, 12, shown, "start"))
    for level, members in enumerate(groups.groups):
        y = AXIS + BAR * (level + 1)
        own = [ranks[name] for name in members]
        parts.append(_line(place(max(own)) - 3, y, place(min(own)) + 3, y, "group"))
    first = AXIS + BAR * (len(groups.groups) + 1) + 16
    n_right = (n + 1) // 2
    for k, name in enumerate(groups.methods):
        is_right = k < n_right
        y = first + ROW * (k if is_right else n - 1 - k)
        x, end = place(ranks[name]), WIDTH - SIDE + 14 if is_right else SIDE - 14
        parts.append(_line(x, AXIS, x, y) + _line(x, y, end, y))
        shown = name if len(name) <= 22 else name[:21] + "…"
        label = f"{shown} ({ranks[name]:.2f})"
        anchor = "start" if is_right else "end"
        parts.append(_text(end + (5 if is_right else -5), y + 4, label, anchor))
    height = first + ROW * n_right
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Critical-difference diagram">{"".join(parts)}</svg>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "rule") -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _text(x: float, y: float, content: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(content)}</text>'
