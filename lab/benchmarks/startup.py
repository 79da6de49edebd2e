"""Fresh processes: importing, and fitting a small table from a warm cache."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from lab.benchmarks._harness import Options, Row, cost, process_times

REQUIRED_IMPORT = 1.3
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


def run(options: Options) -> list[Row]:
    """Medians over processes that take turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "iris.npy"
        X, y = load_iris(return_X_y=True)
        np.save(path, np.column_stack([X, y]))
        times = process_times(SCRIPTS, [str(path)], options.pick(15, 3))
    rows = [
        _row("import tanager", "import sklearn", times, REQUIRED_IMPORT),
        _row("import BayesNetClassifier", "import CategoricalNB", times, None),
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
    return rows


def _row(
    ours: str, theirs: str, times: dict[str, float], required: float | None
) -> Row:
    return cost(ours, times[ours], times[theirs], name=theirs, at_most=required)
