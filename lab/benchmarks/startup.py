"""Fresh processes: importing, fitting from a warm cache, and without any cache."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine

from lab.benchmarks._harness import (
    ROOT,
    Options,
    Row,
    cost,
    installed_environment,
    limit,
    process_times,
)

REQUIRED_IMPORT = 1.3
REQUIRED_CLASS_IMPORT = 1.1
COLD_LIMITS = {
    "first fit of wine, minus the second": 2.0,
    "first prediction with missing values": 0.5,
    "first fit of adult, 3,000 samples": 6.0,
    "tanager fit, small CSV file": 4.0,
}
REQUIRED_FIT = 2.0

# Both read the same file: the datasets of scikit-learn take long to import.
DATA = """
import sys
import numpy as np
data = np.load(sys.argv[1])
X, y = data[:, :-1], data[:, -1].astype(int)
"""

SCRIPTS = {
    "import tanager": "import tanager",
    "import sklearn": "import sklearn",
    "import BayesNetClassifier": "from tanager import BayesNetClassifier",
    "import CategoricalNB": "from sklearn.naive_bayes import CategoricalNB",
    "default": DATA
    + """
from tanager import BayesNetClassifier
BayesNetClassifier(parameters="fe").fit(X, y).predict(X)
""",
    "nb": DATA
    + """
from tanager import BayesNetClassifier
BayesNetClassifier(structure="nb", parameters="fe").fit(X, y).predict(X)
""",
    "binned": DATA
    + """
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
binned = KBinsDiscretizer(
    5, encode="ordinal", strategy="uniform", quantile_method="averaged_inverted_cdf"
)
make_pipeline(binned, CategoricalNB()).fit(X, y).predict(X)
""",
    "truncated": DATA
    + """
from sklearn.naive_bayes import CategoricalNB
X = X.astype(int)
CategoricalNB().fit(X, y).predict(X)
""",
}

COLD_FITS = """
import json, sys, time
import numpy as np
from tanager import BayesNetClassifier
data = np.load(sys.argv[1], allow_pickle=True)
X, y = data[:, :-1], data[:, -1]
if X.shape[1] == 13:
    X = X.astype(float)
def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start
model = BayesNetClassifier()
times = [seconds(lambda: model.fit(X, y)) for _ in range(2)]
X[::3, 2] = None
times.append(seconds(lambda: model.predict_proba(X)))
print(json.dumps(times))
"""


def run(options: Options) -> list[Row]:
    """Medians over processes that take turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "iris.npy"
        X, y = load_iris(return_X_y=True)
        np.save(path, np.column_stack([X, y]))
        times = process_times(SCRIPTS, [str(path)], options.pick(9, 3))
    rows = [
        _row("import tanager", "import sklearn", times, REQUIRED_IMPORT),
        _row(
            "import BayesNetClassifier",
            "import CategoricalNB",
            times,
            REQUIRED_CLASS_IMPORT,
        ),
    ]
    for ours, title in (("default", "default estimator"), ("nb", "structure='nb'")):
        for theirs, other in (
            ("binned", "KBinsDiscretizer + CategoricalNB"),
            ("truncated", "astype(int), CategoricalNB"),
        ):
            rows.append(
                cost(
                    f"import, fit and predict iris, {title}",
                    times[ours],
                    times[theirs],
                    name=other,
                    at_most=REQUIRED_FIT,
                )
            )
    return rows + _cold_rows(options.pick(3, 1))


def _cold_rows(repeats: int) -> list[Row]:
    """Medians of processor seconds in processes that find no compiled kernels."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = load_wine(return_X_y=True)
        wine = np.column_stack([X, y]).astype(object)
        np.save(folder / "wine.npy", wine)
        header = ",".join("abcdefghijklm") + ",kind"
        lines = [",".join(map(str, row)) for row in wine.tolist()]
        (folder / "wine.csv").write_text("\n".join([header, *lines]) + "\n")

        def fits(file: str) -> list[float]:
            times = [
                json.loads(_run_cold(["-c", COLD_FITS, str(folder / file)])[0])
                for _ in range(repeats)
            ]
            return [statistics.median(column) for column in zip(*times, strict=True)]

        def command() -> float:
            arguments = ["fit", "wine.csv", "--target", "kind", "-o", "model.json"]
            return statistics.median(
                _run_cold(["-m", "tanager", *arguments], folder)[1]
                for _ in range(repeats)
            )

        first, second, missing = fits("wine.npy")
        found = dict.fromkeys(COLD_LIMITS, float("nan"))
        found["first fit of wine, minus the second"] = first - second
        found["first prediction with missing values"] = missing
        found["tanager fit, small CSV file"] = command()
        if _save_adult(folder / "adult.npy"):
            found["first fit of adult, 3,000 samples"] = fits("adult.npy")[0]
    return [
        limit(f"empty cache: {what} (processor time)", found[what], at_most)
        for what, at_most in COLD_LIMITS.items()
        if found[what] == found[what]
    ]


def _save_adult(path: Path) -> bool:
    """Write the first samples of adult; returns whether the dataset is there."""
    from tanager import TanagerError, datasets

    try:
        adult = datasets.load("large/adult")
    except TanagerError:
        return False
    np.save(path, np.column_stack([np.asarray(adult.X, object), adult.y])[:3000])
    return True


def _run_cold(arguments: list[str], cwd: Path = ROOT) -> tuple[str, float]:
    """Run Python with an empty cache of kernels: its output and processor seconds."""
    with tempfile.TemporaryDirectory() as cache:
        before = os.times()
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env={**installed_environment(), "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
        after = os.times()
    user = after.children_user - before.children_user
    return done.stdout, user + after.children_system - before.children_system


def _row(
    ours: str, theirs: str, times: dict[str, float], required: float | None
) -> Row:
    return cost(ours, times[ours], times[theirs], name=theirs, at_most=required)
