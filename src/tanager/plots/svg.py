"""SVG text: elements, escaped names, and the style of all pictures."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tanager.plots.style import COLOURS

FONT = 11
"""Size of text in pixels."""

NARROW, WIDE = frozenset(" !'(),./:;[]fijlrt|"), frozenset("%@MWmw—")
"""Characters that take less and more room than others."""

LIGHT = {"paper": "#ffffff", "ink": "#24292f", "faint": "#6e7781", "fill": "#f3f6f9"}
DARK = {"paper": "#14181d", "ink": "#e6edf3", "faint": "#9aa4af", "fill": "#222a33"}
DARK_COLOURS = (
    "#3a9bdc", "#f08040", "#1fbf92", "#e0a0c4", "#f0b93a", "#8fd0f5", "#9aa4af",
    "#9a8df0", "#d0709a", "#c49a7a",
)  # fmt: skip
"""The colours of `COLOURS`, lighter."""


@dataclass(frozen=True)
class Panel:
    """A part of a picture: elements on a rectangle that begins at (0, 0).

    Parameters
    ----------
    width, height : float
        Size in pixels.
    body : str
        SVG elements that use the classes of `STYLE`.
    label : str
        What is seen, for readers who cannot see it.
    """

    width: float
    height: float
    body: str
    label: str


def _rules(theme: dict[str, str], colours: Sequence[str]) -> str:
    rules = [
        f".tng-paper{{fill:{theme['paper']}}}",
        f".tng-ink{{fill:{theme['ink']}}}",
        f".tng-faint{{fill:{theme['faint']}}}",
        f".tng-node{{fill:{theme['fill']};stroke:{theme['faint']}}}",
        f".tng-class{{fill:{theme['fill']};stroke:{colours[1]};stroke-width:2}}",
        f".tng-line{{fill:none;stroke:{theme['faint']}}}",
        f".tng-mark{{fill:none;stroke:{theme['ink']}}}",
        f".tng-halo{{paint-order:stroke;stroke:{theme['paper']};stroke-width:3px}}",
        f".tng-head{{fill:{theme['faint']};stroke:none}}",
    ]
    for k, colour in enumerate(colours):
        rules.append(f".tng-f{k}{{fill:{colour}}}.tng-s{k}{{stroke:{colour}}}")
    return "".join(rules)


STYLE = (
    f".tng-text{{font:{FONT}px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,"
    "Arial,sans-serif}.tng-title{font-weight:600}.tng-small{font-size:10px}"
    f"{_rules(LIGHT, COLOURS)}"
    f"@media (prefers-color-scheme:dark){{{_rules(DARK, DARK_COLOURS)}}}"
)
"""Rules of all classes; light, or dark where the reader prefers that."""


def plain_text(text: object) -> str:
    r"""Write a text on one line, without characters that control its display.

    Examples
    --------
    >>> ascii(plain_text("two\nlines \u202e"))
    "'two lines \\ufffd'"
    """
    line = " ".join(str(text).split())
    return "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co") else c
        for c in line
    )


def text_width(text: str) -> float:
    """Width of a line of text in pixels, estimated for a wide sans-serif font."""
    return sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if character in NARROW:
        return 4.2
    if character in WIDE or unicodedata.east_asian_width(character) in "WF":
        return 10.8
    return 8.0 if character.isupper() else 6.8


def cut_middle(text: str, width: int) -> str:
    """Cut a long name in its middle: names often differ at their ends.

    Examples
    --------
    >>> cut_middle("worst concave points", 12)
    'worst …oints'
    """
    line = plain_text(text)
    if len(line) <= width:
        return line
    first = width // 2
    return f"{line[:first]}…{line[len(line) - (width - first - 1) :]}"


def cut_labels(labels: Sequence[object], width: int) -> list[str]:
    """Cut long labels so that different ones stay different where that is possible.

    A label is cut in its middle; those that would look alike are cut at their ends, or
    get more room.

    Examples
    --------
    >>> cut_labels(["Married-AF-spouse", "Married-civ-spouse"], 14)
    ['Married-AF-sp…', 'Married-civ-s…']
    """
    lines = [plain_text(label) for label in labels]
    shown = [cut_middle(line, width) for line in lines]
    for room in (width, width + 6, width + 12):
        for cut in (_cut_end, cut_middle):
            count = Counter(shown)
            for k, line in enumerate(lines):
                if count[shown[k]] > 1:
                    shown[k] = cut(line, room)
    return shown


def _cut_end(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def number(value: float) -> str:
    """Write a coordinate with few digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def element(tag: str, content: str = "", **attributes: object) -> str:
    """Write an element; `class_` is its class, underscores are hyphens."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}="
        f'"{escape(number(value) if isinstance(value, float) else str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def text(
    x: float,
    y: float,
    content: object,
    *,
    kind: str = "tng-ink",
    anchor: str = "start",
    **attributes: object,
) -> str:
    """Write a line of text as it is, its middle at height y."""
    return element(
        "text",
        escape(plain_text(content)) or "\u00a0",
        class_=f"tng-text {kind}",
        x=float(x),
        y=float(y) + 0.35 * FONT,
        text_anchor=None if anchor == "start" else anchor,
        **attributes,
    )


def title(content: object) -> str:
    """Write the text that appears when the pointer rests on an element."""
    return element("title", escape(plain_text(content)) or "\u00a0")


def arrange(panels: Sequence[Panel], *, width: float, gap: float = 18.0) -> Panel:
    """Arrange panels in rows from left to right."""
    parts = []
    left = top = bottom = right = 0.0
    for panel in panels:
        if left > 0 and left + panel.width > width:
            left, top = 0.0, bottom + gap
        moved = f"translate({number(left)} {number(top)})"
        parts.append(element("g", panel.body, transform=moved))
        bottom = max(bottom, top + panel.height)
        right = max(right, left + panel.width)
        left += panel.width + gap
    label = "; ".join(panel.label for panel in panels)
    return Panel(right, bottom, "".join(parts), label)


def write_svg(panel: Panel, *, margin: float = 12.0) -> str:
    """Write a panel as an SVG document, which may stand in an HTML page, too."""
    width, height = panel.width + 2 * margin, panel.height + 2 * margin
    size = f"{number(width)} {number(height)}"
    moved = f"translate({number(margin)} {number(margin)})"
    label = escape(plain_text(panel.label))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{number(width)}" height="{number(height)}" role="img" '
        f'aria-label="{label}" '
        'style="max-width:100%;height:auto">'
        f"<style>{STYLE}</style>"
        '<rect class="tng-paper" width="100%" height="100%" rx="6"/>'
        f'<g transform="{moved}">{panel.body}</g></svg>'
    )


def inline_svg(panel: Panel, *, class_: str) -> str:
    """Write a panel as an SVG element of a page whose style sheet has its classes."""
    return element(
        "svg",
        panel.body,
        class_=class_,
        viewBox=f"0 0 {number(panel.width)} {number(panel.height)}",
        role="img",
        aria_label=plain_text(panel.label),
    )
