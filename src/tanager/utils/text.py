"""Plain text for people: counts with nouns, single lines, aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TEXT_WIDTH = 80  # columns to fill where the width of the terminal is not known


def pluralise(number: int, noun: str) -> str:
    """Number and noun, in the plural if needed: '1 row', '1,500 rows', '2 classes'."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}" + ("es" if noun.endswith("s") else "s")


def size_text(
    n_samples: int, n_features: int, n_classes: int, n_unlabelled: int = 0
) -> str:
    """Size of a dataset: '8 samples (2 unlabelled), 1 feature, 2 classes'."""
    without = f" ({n_unlabelled:,} unlabelled)" if n_unlabelled else ""
    others = f"{pluralise(n_features, 'feature')}, {pluralise(n_classes, 'class')}"
    return f"{pluralise(n_samples, 'sample')}{without}, {others}"


def one_line(text: str) -> str:
    """Put a text on one line, every run of white space being a blank."""
    return " ".join(text.split())


def escape_controls(text: str) -> str:
    r"""Replace characters that are not printable by their escapes, but for line breaks.

    Names from files may hold control sequences that clear a terminal, set its title or
    reverse the order of the characters shown.

    Examples
    --------
    >>> escape_controls("a\x1b[2Jb\u202e")
    'a\\x1b[2Jb\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() or mark == "\n" else repr(mark)[1:-1]
        for mark in text
    )


def shorten(text: str, width: int) -> str:
    """Cut a text to one line of a width, marking the cut by an ellipsis."""
    line = one_line(text)
    return line if len(line) <= width else line[: width - 3] + "..."


def table_text(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()
) -> str:
    """Align cells in columns, those in `right` to the right; no trailing blanks.

    Examples
    --------
    >>> print(table_text(["Name", "Rows"], [["iris", "150"]], right=[1]))
    Name  Rows
    iris   150
    """
    lines = [head, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    ends = set(right)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if k in ends else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
