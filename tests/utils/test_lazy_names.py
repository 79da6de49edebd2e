"""Packages that import their modules late have the names that they declare."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tanager
from tanager.utils.lazy_names import lazy_names

ROOT = Path(tanager.__file__).parent
LATE = sorted(
    path.parent.relative_to(ROOT.parent).as_posix().replace("/", ".")
    for path in ROOT.rglob("__init__.py")
    if "lazy_names(" in path.read_text()
)


def declared_names(package: str) -> dict[str, str]:
    """Modules by name, of the imports for type checkers."""
    path = Path(importlib.import_module(package).__file__ or "")
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                found |= {alias.name: str(line.module) for alias in line.names}
    return found


@pytest.mark.parametrize("package", LATE)
def test_names_are_those_that_type_checkers_see(package: str) -> None:
    module = importlib.import_module(package)
    declared = declared_names(package)
    assert set(module.__all__) - {"__version__"} == set(declared)
    assert set(declared) <= set(dir(module))
    for name, home in declared.items():
        if home == "tanager":
            expected = importlib.import_module(f"tanager.{name}")
        else:
            expected = getattr(importlib.import_module(home), name)
        assert getattr(module, name) is expected


def test_at_least_the_packages_of_learners_are_late() -> None:
    assert {"tanager", "tanager.structure", "tanager.parameters"} <= set(LATE)


def test_unknown_name() -> None:
    get, _ = lazy_names("tanager.structure", {".base": ("StructureLearner",)})
    with pytest.raises(
        AttributeError, match=r"'tanager.structure' has no .* 'nothing'"
    ):
        get("nothing")


SMALL_FIT = """
import sys
from tanager import BayesNetClassifier
loaded = [name for name in sys.modules if name.startswith("tanager.")]
for late in ("structure.base", "network.network", "plots.svg", "io.bif_reader"):
    assert f"tanager.{late}" not in loaded, late
BayesNetClassifier().fit([[i % 7, i % 2] for i in range(60)], [0, 0, 1] * 20)
for late in ("numba", "matplotlib", "tanager.structure.search.hill_climbing",
             "tanager.explain.explanation", "tanager.io.bif_reader"):
    assert late not in sys.modules, late
"""


def test_a_small_fit_loads_what_it_needs() -> None:
    """In a fresh process, as other tests load everything."""
    subprocess.run([sys.executable, "-c", SMALL_FIT], check=True)
