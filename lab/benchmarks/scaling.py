"""How time and memory grow with the number of samples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lab.benchmarks._data import synthetic
from lab.benchmarks._harness import (
    Options,
    Row,
    best_of,
    cost,
    megabytes,
    peak_memory,
    shape_text,
)
from tanager import BayesNetClassifier

REQUIRED_MEMORY = 3.0
REQUIRED_EXPONENT = 1.1
STRUCTURES = ("nb", "tan")


def classifier(structure: str) -> BayesNetClassifier:
    """The classifier measured here."""
    return BayesNetClassifier(
        encoder="categorical", structure=structure, parameters="fe", n_jobs=2
    )


def run(options: Options) -> list[Row]:
    """Exponents of time over rows, and peak memory on the largest table."""
    most = options.pick(1_000_000, 100_000)
    sizes = [most // 10, most // 5, most // 2, most]
    codes, labels = synthetic(most)
    rows = []
    for structure in STRUCTURES:
        rows += _growth(structure, codes, labels, sizes, options.pick(4, 2))
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "codes.npy", codes)
        np.save(Path(folder) / "labels.npy", labels)
        for structure in STRUCTURES:
            tables = table_bytes(structure, codes, labels)
            for task in ("fit", "predict"):
                extra = peak_memory(
                    "lab.benchmarks.scaling:measured", task, structure, folder
                )
                rows.append(
                    cost(
                        f"{structure} {task}: memory above the input, "
                        f"{shape_text(codes)} uint8",
                        extra,
                        codes.nbytes + tables,
                        name="input codes and tables",
                        at_most=REQUIRED_MEMORY,
                        shown=megabytes,
                    )
                )
    return rows


def _growth(
    structure: str, codes: np.ndarray, labels: np.ndarray, sizes: list[int], n: int
) -> list[Row]:
    model = classifier(structure)
    # Fitted apart, so that only samples differ between the predictions.
    fitted = classifier(structure).fit(codes, labels)
    times = best_of(
        {
            f"{task} {size}": action
            for size in sizes
            for task, action in (
                ("fit", lambda size=size: model.fit(codes[:size], labels[:size])),
                ("predict", lambda size=size: fitted.predict(codes[:size])),
            )
        },
        n,
    )
    rows = []
    for task in ("fit", "predict"):
        taken = [times[f"{task} {size}"] for size in sizes]
        exponent = float(np.polyfit(np.log(sizes), np.log(taken), 1)[0])
        rows.append(
            Row(
                f"{structure} {task}: time over {sizes[0]:,} to {sizes[-1]:,} samples",
                " ".join(f"{value:.3g}" for value in taken) + " s",
                "",
                f"exponent {exponent:.3f}",
                f"at most {REQUIRED_EXPONENT:g}",
                exponent <= REQUIRED_EXPONENT,
            )
        )
    return rows


def table_bytes(structure: str, codes: np.ndarray, labels: np.ndarray) -> int:
    """Bytes of the tables of the network, and of the pair counts that a fit keeps."""
    model = classifier(structure).fit(codes[:20_000], labels[:20_000])
    counts = model._counts
    kept = counts.families.values.nbytes
    if counts.pairs is not None:
        kept += counts.pairs.values.nbytes
    return int(model.network_.parameters.log_theta.nbytes + kept)


def measured(task: str, structure: str, folder: str) -> Callable[[], object]:
    """Prepare a fresh process and return the call whose memory is measured."""
    codes = np.load(Path(folder) / "codes.npy")
    labels = np.load(Path(folder) / "labels.npy")
    model = classifier(structure)
    model.fit(codes[:20_000], labels[:20_000]).predict(codes[:20_000])
    if task == "fit":
        return lambda: model.fit(codes, labels)
    return lambda: model.predict(codes)
