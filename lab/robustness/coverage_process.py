"""Coverage-guided fuzzing of one file format with atheris, in a process of its own.

``python -m lab.robustness.coverage_process KIND SECONDS SEED FOLDER``
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab.robustness.fuzz_process import Counts

REPORTED = 500
"""Inputs after which the counts are written."""

MAX_LENGTH = 65_536
MAX_MEGABYTES = 2_048
MAX_SECONDS = 10
SETUP_SECONDS = 300
WAITS = 10
"""Times as long a child may take on a busy machine."""


def has_atheris() -> bool:
    """Whether coverage-guided fuzzing is possible."""
    return find_spec("atheris") is not None


def fuzz_by_coverage(kind: str, seed: int, *, seconds: float) -> Counts:
    """Fuzz one file format in a child process; what ends it early is a finding."""
    counts = Counts(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [kind, str(seconds), str(seed), folder]
        child = subprocess.run(
            [sys.executable, "-m", "lab.robustness.coverage_process", *arguments],
            capture_output=True,
            text=True,
            timeout=WAITS * seconds + SETUP_SECONDS,
            check=False,
        )
        path = Path(folder) / "counts.json"
        if path.exists():
            counts.add(Counts(kind, seed, **json.loads(path.read_text())))
        if child.returncode:
            words = " ".join(child.stderr.split())[-200:]
            inputs = [p for p in Path(folder).iterdir() if p.name.startswith("crash-")]
            shown = [p.read_bytes()[:200].hex() for p in inputs]
            counts.add_finding(f"{words}; input {shown}", counts.inputs)
    return counts


def seed_files(kind: str, seeds: Any) -> list[bytes]:
    """Valid files of a kind, which the fuzzer begins with."""
    if kind == "json":
        return [text.encode() for text in seeds.documents]
    return list(seeds.files["npz" if kind == "checkpoint" else kind])


def main(arguments: list[str]) -> None:
    """Fuzz until the time is over; anything but the library's errors ends it."""
    import atheris

    with atheris.instrument_imports(include=["tanager.io", "tanager.model"]):
        from lab.robustness.fuzz_files import FILE_KINDS, make_seeds
        from tanager import TanagerError
    kind, seconds, seed, name = arguments
    folder = Path(name)
    inside, corpus = folder / "inputs", folder / "corpus"
    inside.mkdir()
    corpus.mkdir()
    for number, content in enumerate(seed_files(kind, make_seeds(inside))):
        (corpus / f"seed{number}").write_bytes(content)
    path = inside / ("input.npz" if kind == "checkpoint" else f"input.{kind}")
    counts = {"inputs": 0, "results": 0, "refused": 0}

    def use(content: bytes) -> None:
        path.write_bytes(content)
        counts["inputs"] += 1
        if counts["inputs"] % REPORTED == 0:
            (folder / "counts.json").write_text(json.dumps(counts))
        counts["refused"] += 1
        with suppress(TanagerError):
            FILE_KINDS[kind].use(path)
            counts["refused"] -= 1
            counts["results"] += 1

    options = [
        f"-max_total_time={float(seconds):.0f}", f"-seed={seed}",
        f"-max_len={MAX_LENGTH}", f"-rss_limit_mb={MAX_MEGABYTES}",
        f"-timeout={MAX_SECONDS}", f"-artifact_prefix={folder}/", "-verbosity=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], use)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
