"""The lab uses public names of the library only."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

LAB = Path(__file__).parents[2] / "lab"
FILES = sorted(LAB.rglob("*.py"))
INTERNALS = {
    "benchmarks/_data.py",  # labels are encoded outside the measured time
    "benchmarks/_plain_search.py",  # the scorer that the incremental one is compared to
    "benchmarks/conditional.py",  # solvers on one objective
    "benchmarks/orders.py",  # orders without the search
    "benchmarks/posteriors.py",  # another target for the same network
    "benchmarks/scaling.py",  # memory of the counts alone
    "benchmarks/structure_search.py",  # single steps of a search
}
"""Benchmarks of parts that no public name runs alone."""


def name_of(file):
    return file.relative_to(LAB).as_posix()


def imported(tree):
    """Modules and names that a file imports from the library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if (node.module or "").partition(".")[0] == "tanager":
                yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("tanager."):
                    yield alias.name, "*"


def is_public(module, name):
    if module in ("tanager.types", "tanager.datasets.generators"):
        return not name.startswith("_")
    depth = module.count(".")
    return depth <= 1 and name in getattr(import_module(module), "__all__", ())


@pytest.mark.parametrize(
    "file", [f for f in FILES if name_of(f) not in INTERNALS], ids=name_of
)
def test_imports_are_public(file):
    tree = ast.parse(file.read_text("utf-8"))
    assert not [one for one in imported(tree) if not is_public(*one)]


def test_the_list_of_exceptions_is_short_and_needed():
    assert {name_of(file) for file in FILES} >= INTERNALS
    for name in INTERNALS - {"benchmarks/scaling.py"}:
        tree = ast.parse((LAB / name).read_text("utf-8"))
        assert [one for one in imported(tree) if not is_public(*one)], name
