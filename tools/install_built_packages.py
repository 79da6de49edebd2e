"""Build wheel and source archive, install each in an empty environment, and use it.

    python tools/install_built_packages.py

The source archive is installed with all extras and the oldest dependencies that
pyproject.toml allows, the wheel with the newest, first without extras, then with all.
In each environment tools/check_installation.py runs outside the checkout. The wheel is
built from the source archive.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECK = ROOT / "tools" / "check_installation.py"


def main() -> None:
    """Build, install and check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dist", type=Path, help="use the files in this folder")
    parser.add_argument("--python", default=sys.executable, help="interpreter to use")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive, wheel = find_packages(options.dist or build(folder / "dist"))
        print(f"\n{archive.name}, oldest dependencies")
        python = make_environment(folder / "oldest", options.python)
        # Bounds of a package that is installed are not direct; those of a project are.
        oldest = ("--resolution", "lowest-direct", "--extra", "all")
        install(python, *oldest, "-r", ROOT / "pyproject.toml")
        install(python, "--no-deps", archive)
        check(folder, python, "--extras")
        print(f"\n{wheel.name}, newest dependencies")
        python = make_environment(folder / "newest", options.python)
        install(python, wheel)
        check(folder, python)
        print(f"\n{wheel.name} with extras, newest dependencies")
        install(python, f"{wheel}[all]")
        check(folder, python, "--extras")


def build(folder: Path) -> Path:
    """Build both packages."""
    call(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder, ROOT)
    return folder


def find_packages(folder: Path) -> tuple[Path, Path]:
    """The source archive and the wheel in a folder."""
    found = []
    for pattern in ("tanager-*.tar.gz", "tanager-*.whl"):
        files = sorted(folder.glob(pattern))
        if len(files) != 1:
            raise SystemExit(
                f"Expected one file {pattern} in {folder}, found {len(files)}: "
                "remove older builds."
            )
        found.append(files[0].resolve())
    return found[0], found[1]


def make_environment(folder: Path, interpreter: str) -> Path:
    """An empty environment; returns its Python."""
    uv("venv", "--python", interpreter, folder)
    place = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    return folder / place


def install(python: Path, *arguments: object) -> None:
    """Install packages, and see that they fit together."""
    uv("pip", "install", "--python", python, *arguments)
    uv("pip", "check", "--python", python)


def check(folder: Path, python: Path, *options: str) -> None:
    """Run the checks in a folder without sources, with a cache of its own."""
    settings = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    settings["NUMBA_CACHE_DIR"] = str(folder / f"{python.parents[1].name}-kernels")
    script = shutil.copy(CHECK, folder)
    call(python, "-W", "error", script, *options, cwd=folder, env=settings)


def uv(*arguments: object) -> None:
    """Run uv of this environment."""
    call(sys.executable, "-m", "uv", "--quiet", "--no-config", *arguments)


def call(*command: object, **options: object) -> None:
    """Run a program; its failure ends this one."""
    words = [str(word) for word in command]
    if code := subprocess.run(words, check=False, **options).returncode:
        raise SystemExit(f"Failed with code {code}: {' '.join(words)}")


if __name__ == "__main__":
    main()
