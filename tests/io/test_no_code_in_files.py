"""No file is executed: the library has no eval, and reads and writes no pickles."""

import ast
from pathlib import Path

import pytest

import tanager

SOURCES = sorted(Path(tanager.__file__).parent.rglob("*.py"))
CALLS = {"eval", "exec", "compile", "__import__", "literal_eval"}
MODULES = {
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal",
    "shelve", "copyreg", "code", "codeop",
}  # fmt: skip
METHODS = {"read_pickle", "to_pickle", "yaml.load"}

ELSEWHERE = {
    "classifiers/tuning.py": "joblib",  # runs processes, reads no files
    "distributed/part_state.py": "pickle",  # messages to workers of Dask, as Dask's own
    "io/frame_spool.py": "pickle",  # a file without a name, of this process alone
}
"""Modules that use one of them, but for no file that anybody could write."""


def find_code(source: str) -> list[str]:
    """Places of a module that could execute data."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").split(".")[0]]
        bad = [name for name in names if name in MODULES]
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in CALLS:
                bad.append(function.id)
            if isinstance(function, ast.Attribute):
                owner = getattr(function.value, "id", "")
                name = function.attr
                if name in METHODS or (
                    name in {"eval", "exec"} and owner in {"pd", "np", "builtins"}
                ):
                    bad.append(name)
            bad += [
                "allow_pickle"
                for keyword in node.keywords
                if keyword.arg == "allow_pickle"
                and getattr(keyword.value, "value", True) is not False
            ]
            loads = isinstance(function, ast.Attribute) and function.attr == "load"
            if loads and getattr(function.value, "id", "") in {"np", "numpy"}:
                allowed = {keyword.arg for keyword in node.keywords}
                bad += [] if "allow_pickle" in allowed else ["np.load"]
        found += [f"{name} in line {node.lineno}" for name in bad]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_module_executes_data(path):
    name = path.relative_to(Path(tanager.__file__).parent).as_posix()
    found = [
        what
        for what in find_code(path.read_text("utf-8"))
        if name not in ELSEWHERE or ELSEWHERE[name] not in what
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "exec(text)",
        "import pickle",
        "from joblib import load",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "np.load(path)",
        "frame.to_pickle(path)",
        "builtins.eval(text)",
        "__import__(name)",
    ],
)
def test_code_is_found(source):
    assert find_code(source) != []


def test_regular_expressions_and_arrays_are_data():
    assert find_code("re.compile(text)\nnp.load(path, allow_pickle=False)") == []


def test_exceptions_are_needed():
    root = Path(tanager.__file__).parent
    for name in ELSEWHERE:
        assert find_code((root / name).read_text("utf-8")) != [], name
