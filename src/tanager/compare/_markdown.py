"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, all columns but the first aligned to the right."""
    lines = [[_cell(text) for text in line] for line in (head, *rows)]
    widths = [max(3, *(len(line[k]) for line in lines)) for k in range(len(head))]
    ruler = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    text = [
        f"| {line[0].ljust(widths[0])} | "
        + " | ".join(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))
        + " |"
        for line in lines
    ]
    return "\n".join([text[0], f"|{'|'.join(ruler)}|", *text[1:]])


def above_diagonal(methods: Sequence[str], cell: Callable[[int, int], str]) -> str:
    """A table of pairs of methods: rows all but the last, columns all but the first.

    `cell` gives the text for two positions; cells on and below the diagonal are empty.
    """
    last = len(methods)
    return table(
        ["", *methods[1:]],
        [
            [methods[i], *("" if j <= i else cell(i, j) for j in range(1, last))]
            for i in range(last - 1)
        ],
    )


def _cell(text: str) -> str:
    """Text that stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")
