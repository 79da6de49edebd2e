"""Run the commands of docs/command-line.md again and write what they print now.

    python tools/refresh_command_page.py

Only output that differs from the page by more than what the tests mask (seconds,
versions, last digits) is replaced. Read the diff before committing it.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tanager.cli import cli  # noqa: E402
from tests.docs.pages import DOCS, read_page  # noqa: E402
from tests.docs.test_command_line import FIT, masked  # noqa: E402


def run(command: str) -> str:
    """What a command prints to both streams."""
    return CliRunner().invoke(cli, shlex.split(command)[1:]).output


def block(command: str, printed: str) -> str:
    """A session as the page shows it."""
    lines = [f"$ {command}", *printed.strip("\n").splitlines()]
    return "\n".join(f"    {line}".rstrip() for line in lines)


def main() -> None:
    """Rewrite the page."""
    path = DOCS / "command-line.md"
    page = path.read_text("utf-8")
    sections = read_page(path.name)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for section in sections:
            for name, content in section.files.items():
                Path(name).write_text(content, encoding="utf-8")
        for section in sections:
            run(FIT)
            for command, printed in section.sessions:
                now = run(command)
                if masked(now) == masked(printed):
                    continue
                old = block(command, printed)
                if page.count(old) != 1:
                    raise SystemExit(f"not found once on the page: {command}")
                page = page.replace(old, block(command, now))
                print("changed:", command)
        os.chdir(ROOT)
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
