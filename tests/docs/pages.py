"""Pages of the documentation, cut into what can be run."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@dataclass
class Section:
    """What stands under one heading."""

    title: str
    sessions: list[tuple[str, str]] = field(default_factory=list)
    """Commands as typed, each with what is printed below it."""
    files: dict[str, str] = field(default_factory=dict)
    """Contents of files, by the names in the text before them."""
    blocks: list[str] = field(default_factory=list)
    """All indented blocks."""
    text: str = ""
    """The rest."""


def read_page(name):
    """The sections of a page."""
    path = DOCS / name
    if not path.is_file():
        pytest.skip(
            f"docs/{name} is not here: a source distribution has no pages",
            allow_module_level=True,
        )
    sections = []
    # Blocks are indented by four spaces; empty lines inside them have none.
    parts = re.split(r"(?m)^((?: {4}.*\n(?:\n+(?= {4}))?)+)", path.read_text("utf-8"))
    for number, part in enumerate(parts):
        if number % 2 == 0:
            first, *rest = re.split(r"(?m)^#+ (.*)\n", part)
            if sections:
                sections[-1].text += first
            for title, text in zip(rest[::2], rest[1::2], strict=True):
                sections.append(Section(title, text=text))
            continue
        block = re.sub(r"(?m)^ {4}", "", part)
        sections[-1].blocks.append(block)
        if block.startswith("$ "):
            for session in re.split(r"(?m)^\$ ", block)[1:]:
                command, _, output = session.partition("\n")
                sections[-1].sessions.append((command, output.strip("\n")))
        else:
            paragraph = parts[number - 1].strip().split("\n\n")[-1]
            for file in re.findall(r"`([\w-]+\.csv)`$", paragraph):
                sections[-1].files[file] = block
    return sections
