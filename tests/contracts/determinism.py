"""Which methods give the same bits whatever changes around them, method by method.

`determinism.csv` says it for every name of the registry; docs/determinism.md shows that
file, and `test_determinism.py` compares every row with fits in several processes. After
adding a method, write the file again::

    python -m tests.contracts.determinism

Fits use kernels as if the data were large, and learners end after few iterations: the
order of operations is what counts here, not how good the result is.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import tanager
from tanager import Batches, BayesNetClassifier
from tanager.errors import TanagerError
from tanager.registry import parse
from tests.tolerance import EXACT, SEARCH, TABLES

TABLE = Path(__file__).with_name("determinism.csv")

INSIDE = ("threads", "rows", "columns", "batches", "partial_fit")
"""What is changed from fit to fit within one process."""

OUTSIDE = ("processes", "jit")
"""What is changed for a whole process: workers and hash seed, compilation."""

CHANGES = ("threads", "processes", "jit", "rows", "columns", "batches", "partial_fit")
SAME, OTHER, NONE = "same bits", "other result", "not offered"
TOLERANCES = {f"{limit:g}": limit for limit in (EXACT, TABLES, SEARCH)}

FAST = {"epochs": 2, "max_iter": 3, "passes": 2, "restarts": 1, "n_bags": 2}
"""Iterations of learners that have such an argument."""

N_ROWS = 32


def make_data(seed: int) -> tuple[dict[str, Any], Any]:
    """Numeric and categorical features, two of them equally good, and three classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, N_ROWS)
    X = {
        "size": np.round(y + random.normal(size=N_ROWS), 1),
        "kind": np.array(["a", "b", "c", "d"])[(y + random.integers(0, 2, N_ROWS)) % 4],
        "sign": np.where(random.random(N_ROWS) < 0.5, "+", "-"),
        "level": random.integers(0, 3, N_ROWS),
    }
    return X, y


def make_model(name: str, **arguments: Any) -> Any:
    """A classifier that learns for a few iterations only."""
    model: Any = BayesNetClassifier.from_name(name, random_state=0, **arguments)
    quick = {
        key: FAST[last]
        for key, value in model.get_params().items()
        if (last := key.rpartition("__")[2]) in FAST
        and (value is None or isinstance(value, int))
    }
    return model.set_params(**quick)


def fit_plain(name: str, seed: int) -> Any:
    """Probabilities of the training samples, as nothing is changed."""
    X, y = make_data(seed)
    return make_model(name).fit(X, y).predict_proba(X)


def fit_threads(name: str, seed: int) -> Any:
    """The same with three threads."""
    X, y = make_data(seed)
    model = make_model(name)
    keys = (key for key in model.get_params() if key.endswith("n_jobs"))
    return model.set_params(**dict.fromkeys(keys, 3)).fit(X, y).predict_proba(X)


def fit_rows(name: str, seed: int) -> Any:
    """The same with samples in another order."""
    X, y = make_data(seed)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = {column: values[order] for column, values in X.items()}
    return make_model(name).fit(shuffled, y[order]).predict_proba(X)


def fit_columns(name: str, seed: int) -> Any:
    """The same with features in another order."""
    X, y = make_data(seed)
    turned = {column: X[column] for column in ("sign", "level", "size", "kind")}
    return make_model(name).fit(turned, y).predict_proba(turned)


def fit_batches(name: str, seed: int) -> Any:
    """The same from four batches, by `fit`; None if that is not offered."""
    import pandas as pd

    X, y = make_data(seed)
    frame = pd.DataFrame({**X, "y": y})
    parts = [
        frame.iloc[start : start + N_ROWS // 4]
        for start in range(0, N_ROWS, N_ROWS // 4)
    ]
    try:
        return make_model(name).fit(Batches(parts), "y").predict_proba(X)
    except TanagerError:
        return None


def fit_partial(name: str, seed: int) -> Any:
    """Two calls of `partial_fit` minus one `fit`; None if that is not offered.

    Numeric features are left out: their cut points are those of the first batch.
    """
    X, y = make_data(seed)
    del X["size"]
    model = make_model(name)
    if not hasattr(model, "partial_fit"):
        return None
    try:
        for start in range(0, N_ROWS, N_ROWS // 2):
            rows = slice(start, start + N_ROWS // 2)
            part = {column: values[rows] for column, values in X.items()}
            model.partial_fit(part, y[rows], classes=[0, 1, 2])
    except TanagerError:
        return None
    return model.predict_proba(X) - make_model(name).fit(X, y).predict_proba(X)


FITS = {
    "threads": fit_threads, "rows": fit_rows, "columns": fit_columns,
    "batches": fit_batches, "partial_fit": fit_partial,
}  # fmt: skip


def use_kernels() -> None:
    """Use kernels for small data, too."""
    from tanager.loglinear import factor_sum
    from tanager.utils import jit

    jit.SMALL_WORK = factor_sum.SMALL_WORK = 0


def fit_changes(name: str, seed: int, changes: Iterable[str]) -> dict[str, Any]:
    """Probabilities of all fits of a method, by what was changed."""
    use_kernels()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"plain": fit_plain(name, seed)}
        found |= {change: FITS[change](name, seed) for change in changes}
    return {f"{name}|{change}": p for change, p in found.items() if p is not None}


def run_process(path: Path, names: list[str], seed: int, how: str) -> None:
    """Fit methods in this process, or in two workers, and save the probabilities."""
    changes = INSIDE if how == "inside" else ()
    found: dict[str, Any] = {}
    if how == "processes":
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            jobs = [pool.submit(fit_changes, name, seed, ()) for name in names]
            for job in jobs:
                found |= job.result()
    else:
        for name in names:
            found |= fit_changes(name, seed, changes)
    np.savez(path, **found)


def measure(names: Iterable[str], seed: int = 0) -> dict[str, dict[str, float | None]]:
    """Largest difference of a probability, by method and change; None: not offered."""
    names = list(names)
    environments = {
        "inside": {"PYTHONHASHSEED": "0"},
        "processes": {"PYTHONHASHSEED": "1"},
        "jit": {"PYTHONHASHSEED": "0", "NUMBA_DISABLE_JIT": "1"},
    }
    with tempfile.TemporaryDirectory() as folder:
        saved = {}
        for how, variables in environments.items():
            path = Path(folder) / f"{how}.npz"
            arguments = ["-m", "tests.contracts.determinism", how, str(seed), str(path)]
            subprocess.run(
                [sys.executable, *arguments],
                input="\n".join(names),
                env={**os.environ, "NUMBA_DISABLE_JIT": "0", **variables},
                cwd=Path(__file__).parents[2],
                text=True,
                check=True,
            )
            with np.load(path) as arrays:
                saved[how] = dict(arrays)
    return {name: _differences(name, saved) for name in names}


def _differences(name: str, saved: Mapping[str, Any]) -> dict[str, float | None]:
    inside = saved["inside"]
    plain = inside[f"{name}|plain"]
    found: dict[str, float | None] = {}
    for change in CHANGES:
        if change in OUTSIDE:
            other = saved[change][f"{name}|plain"]
        else:
            other = inside.get(f"{name}|{change}")
        if change == "partial_fit" and other is not None:
            found[change] = float(np.abs(other).max())
        else:
            found[change] = (
                None if other is None else float(np.abs(other - plain).max())
            )
    return found


def claim(name: str, change: str, difference: float | None) -> str:
    """What a cell says: same bits, a tolerance, another result, not offered.

    A cell does not say more than a method promises, whatever was measured: learners may
    split or order the samples, what is no count may differ after batches of larger
    data, sums over samples or features round differently in another order, and so do
    exponentials without a compiler.
    """
    if difference is None:
        return NONE
    structure, parameters = parts_of(name)
    if change == "rows" and (structure.order_matters or parameters.order_matters):
        return OTHER
    counts = structure.needs == parameters.needs == "counts"
    if change == "partial_fit" and not counts:
        return OTHER
    exact = {
        "rows": counts, "columns": False, "jit": not structure.gives_tables,
    }  # fmt: skip
    if difference == 0.0 and exact.get(change, True):
        return SAME
    # Ten times the room: other processors and libraries round differently.
    fitting = [text for text, limit in TOLERANCES.items() if 10 * difference <= limit]
    return fitting[0] if fitting else OTHER


def parts_of(name: str) -> tuple[Any, Any]:
    """The learners of a method."""
    recipe = parse(name)
    return recipe.structure, recipe.parameters


def read_table() -> dict[str, dict[str, str]]:
    """The rows of the file, by name of the method."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        return {row.pop("method"): row for row in csv.DictReader(file)}


def write_table() -> None:
    """Measure all methods, and write the file."""
    found = measure(tanager.names())
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", *CHANGES])
        for name, row in found.items():
            writer.writerow([name, *(claim(name, c, row[c]) for c in CHANGES)])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write_table()
    else:
        run_process(
            Path(sys.argv[3]), sys.stdin.read().split(), int(sys.argv[2]), sys.argv[1]
        )
