"""Count the functions, modules and packages that one `fit` walks through.

Run with ``python tools/trace_fit.py``; ``--list`` also prints the functions.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tanager
from tanager import BayesNetClassifier, datasets

ROOT = Path(tanager.__file__).parent
WALKS: dict[str, dict[str, Any]] = {
    "default": {},
    "naive Bayes, frequencies": {"structure": "nb", "parameters": "fe"},
}


def walk(arguments: dict[str, Any]) -> set[tuple[str, str]]:
    """Trace one fit on wine: (module, function) of every call inside tanager."""
    wine = datasets.load("wine")
    X, y = wine.X, wine.y
    BayesNetClassifier(**arguments).fit(X, y)  # compile and import first
    seen: set[CodeType] = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    model = BayesNetClassifier(**arguments)
    sys.setprofile(profile)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(None)
    found = set()
    for code in seen:
        path = Path(code.co_filename)
        if path.is_relative_to(ROOT) and "<" not in code.co_name:
            name = f"{code.co_qualname}:{code.co_firstlineno}"
            found.add((os.fspath(path.relative_to(ROOT)), name))
    return found


def main() -> None:
    """Print one line per walk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the functions")
    options = parser.parse_args()
    for title, arguments in WALKS.items():
        found = walk(arguments)
        modules = {module for module, _ in found}
        packages = {module.split(os.sep)[0] for module in modules if os.sep in module}
        print(
            f"{title}: {len(found)} functions, {len(modules)} modules, "
            f"{len(packages)} packages"
        )
        if options.list:
            for module, name in sorted(found):
                print(f"  {module}: {name}")


if __name__ == "__main__":
    main()
