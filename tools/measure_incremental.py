"""Compare factors learned from batches with a fit to all samples.

python tools/measure_incremental.py [--batches 30] [--samples 40000] NAME ...

Every dataset is split into samples for batches and a quarter for tests. The columns are
log loss and accuracy on the latter, and processor time: of the first batch alone, of
all batches, and of one fit to all samples.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from sklearn.metrics import log_loss

from tanager import BayesNetClassifier, datasets


def measure(name: str, n_samples: int, n_batches: int) -> list[str]:
    """Rows of the table for one dataset."""
    data = datasets.load(name)
    y = np.asarray(data.y)
    order = np.random.default_rng(0).permutation(len(y))[:n_samples]
    tests, training = np.split(order, [len(order) // 4])
    X_test = data.X.iloc[tests] if hasattr(data.X, "iloc") else data.X[tests]

    def take(rows: np.ndarray) -> tuple[object, np.ndarray]:
        X = data.X.iloc[rows] if hasattr(data.X, "iloc") else data.X[rows]
        return X, y[rows]

    def row(what: str, model: BayesNetClassifier, seconds: float) -> str:
        p = model.predict_proba(X_test)
        accuracy = np.mean(model.classes_[p.argmax(axis=1)] == y[tests])
        loss = log_loss(y[tests], p, labels=model.classes_)
        cells = name, what, f"{100 * accuracy:.1f}", f"{loss:.3f}", f"{seconds:.1f}"
        return f"| {' | '.join(cells)} |"

    batches = np.array_split(training, n_batches)
    model, rows = BayesNetClassifier(), []
    began = process_time()
    for number, batch in enumerate(batches):
        model.partial_fit(*take(batch), classes=np.unique(y))
        if number == 0:
            rows.append(row("first batch", model, process_time() - began))
    rows.append(row(f"{n_batches} batches", model, process_time() - began))
    began = process_time()
    whole = BayesNetClassifier().fit(*take(training))
    rows.append(row("all samples", whole, process_time() - began))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--samples", type=int, default=60_000)
    given = parser.parse_args()
    print("| dataset | learned from | accuracy (%) | log loss | CPU (s) |")
    print("|---|---|---|---|---|")
    for name in given.names:
        print("\n".join(measure(name, given.samples, given.batches)), flush=True)


if __name__ == "__main__":
    main()
