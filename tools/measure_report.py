"""Measure reports in a headless Chromium: size, time to open, time of an answer.

    python tools/measure_report.py [--features 60 300] [--samples 5000]

Needs the packages chromium and chromium-driver, and selenium. The features are numeric;
all of them depend on the class and on each other. An answer follows a change of one
feature: posterior, contributions and next question come first, then the nearest flip.
Times are medians in milliseconds, with all features known and with half of them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tanager import BayesNetClassifier  # noqa: E402
from tests.report.browser import Page, make_driver  # noqa: E402

KINDS: dict[str, dict[str, str]] = {
    "naive Bayes": {"structure": "nb", "parameters": "fe"},
    "tree": {"structure": "tan", "parameters": "fe"},
    "tree, discriminative": {"structure": "tan"},
    "2-tree": {"structure": "2-tree-cr", "parameters": "fe"},
    "junction tree": {"structure": "hgc", "parameters": "fe"},
    "factors": {},
}
N_CHANGES = 15
TIMEOUT_SECONDS = 30

ANSWER = """
const [step, isPartial] = arguments;
const done = arguments[arguments.length - 1];
const timing = document.getElementById("timing");
const { app } = window.tanagerReport;
const codes = app.samples.codesOf(app.model, app.samples.rows[step]);
if (isPartial) app.features.forEach((j) => (j % 2 ? (codes[j] = app.nothing()[j]) : 0));
app.setCodes(codes);
const wait = (next) => {
  if (timing.dataset.total === undefined) setTimeout(() => wait(next), 2);
  else next();
};
const known = app.features.filter((j) => app.model.isKnown(codes, j));
wait(() => {
  const j = known[(7 * step) % known.length];
  app.setCode(j, codes[j] > 0 ? codes[j] - 1 : Math.min(1, app.model.nValues[j] - 1));
  wait(() => {
    const { milliseconds, total } = timing.dataset;
    done([Number(milliseconds), Number(total)]);
  });
});
"""


def make_data(n_features: int, n_samples: int) -> tuple[pd.DataFrame, Any]:
    """Numeric features that depend on the class and on six hidden variables."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n_samples)
    hidden = random.normal(size=(n_samples, 6)) @ random.normal(size=(6, n_features))
    shifts = random.normal(scale=0.5, size=(2, n_features))[y]
    X = np.sin(hidden / 2) + shifts + 0.8 * random.normal(size=hidden.shape)
    return pd.DataFrame(X).rename(columns="x{}".format), y


def measure(driver: Any, path: Path) -> str:
    """Times of one report, as columns of a table."""
    page = Page(driver, path)
    ready = page.run("return performance.getEntriesByName('ready')[0].startTime")
    if page.run("return document.getElementById('what-if').hidden"):
        return f"{ready:.0f} | no panel | no panel"
    columns = [f"{ready:.0f}"]
    is_complete_only = page.run("return tanagerReport.app.model.refused !== null")
    for is_partial in (False, True):
        if is_partial and is_complete_only:
            columns.append("no answer")
            continue
        answers = [
            driver.execute_async_script(ANSWER, step, is_partial)
            for step in range(N_CHANGES)
        ]
        first, total = np.median(answers, axis=0)
        columns.append(f"{first:.0f}, {total:.0f}")
    return " | ".join(columns)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[60, 300])
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        driver = make_driver(folder)
        driver.set_script_timeout(TIMEOUT_SECONDS)
        print("| model | features | kB | open | all known | half known |")
        print("|---|---|---|---|---|---|")
        try:
            for n_features in options.features:
                X, y = make_data(n_features, options.samples)
                for kind in options.kinds:
                    path = Path(folder) / "report.html"
                    BayesNetClassifier(**KINDS[kind]).fit(X, y).report(path, X, y)
                    size = os.path.getsize(path) / 1000
                    times = measure(driver, path)
                    print(
                        f"| {kind} | {n_features} | {size:.0f} | {times} |", flush=True
                    )
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
