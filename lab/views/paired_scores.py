"""Scores of methods by dataset, and claims about pairs of them."""

from __future__ import annotations

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import t_tests, told, whole_sets
from lab.views.published_scores import measured
from lab.views.table import Table, View, pivot


def paired_scores(experiment: Experiment, results: Results) -> View:
    """Mean scores by dataset and method, and one-sided paired t-tests over datasets.

    Options of the experiment: ``number`` and ``scale`` as of `published_scores`;
    ``methods`` in their order; ``claims`` are what the paper says, see `told`.
    """
    options = experiment.options
    found = measured(results, options.get("number", "accuracy"), options["scale"])
    ours = {key: score.value for key, score in found.items()}
    methods = [m for m in options["methods"] if any(key[1] == m for key in ours)]
    sets = list(dict.fromkeys(name for name, _ in ours))
    long = [(*key, score.value, score.deviation) for key, score in found.items()]
    said, holds = told(t_tests(ours, methods), options.get("claims", ()))
    whole = whole_sets(ours, methods)
    means = {m: sum(ours[s, m] for s in whole) / len(whole) for m in methods if whole}

    def entry(name: str, method: str) -> float | None:
        return means.get(method) if name == MEAN else ours.get((name, method))

    title = (
        f"Means over the {len(whole)} datasets of which all is known in the last row"
    )
    shown = pivot(title, "dataset", [*sets, MEAN], methods, entry)
    head = ("dataset", "classifier", "ours", "sd")
    return View((Table("", head, tuple(long)), shown), said, holds)


MEAN = "mean"
