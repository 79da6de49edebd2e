"""Gains of one method over another on many datasets, by structure and collection."""

from __future__ import annotations

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Table, View


def accuracy_gain(experiment: Experiment, results: Results) -> View:
    """Numbers of datasets with a gain, a clear gain and a clear loss; mean gain.

    Clear is more than two standard errors. Collections are apart, because some
    datasets are in both.
    """
    del experiment
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for cell, numbers in results:
        collection = str(cell.parameters["data"]).partition("/")[0]
        key = (str(cell.parameters["structure"]), collection)
        found.setdefault(key, []).append((numbers["gain"], numbers["error"]))  # type: ignore[arg-type]
    rows = []
    structures = list(dict.fromkeys(structure for structure, _ in found))
    for structure, collection in sorted(
        found, key=lambda key: (structures.index(key[0]), key[1])
    ):
        values = found[structure, collection]
        gain, error = np.transpose(values)
        rows.append(
            (
                f"{structure}, {collection}",
                len(values),
                int((gain > 0).sum()),
                int((gain > 2 * error).sum()),
                int((gain < -2 * error).sum()),
                float(gain.mean()),
            )
        )
    head = ("", "datasets", "EM better", "clearly", "clearly worse", "mean")
    return View((Table("", head, tuple(rows), digits=1),), "", None)
