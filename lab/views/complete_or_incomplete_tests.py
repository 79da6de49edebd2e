"""Which of two ways to classify the published accuracies come from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.published_scores import Key, Score, measured, published
from lab.views.table import Table, View

PER_CENT = 100.0


def incomplete_test_samples(experiment: Experiment, results: Results) -> View:
    """Accuracies with complete and with incomplete test samples, and the published.

    Options of the experiment: ``value`` and ``deviation`` as of `published_scores`;
    ``apart`` names sets whose published numbers are in doubt, which do not count.
    """
    theirs = published(experiment)
    complete, removed = (
        measured(results.where(missing_in_test=gaps), "accuracy", PER_CENT)
        for gaps in (False, True)
    )
    keys = [key for key in theirs if key in complete and key in removed]
    counted = [key for key in keys if key[0] not in experiment.options["apart"]]
    head = (
        "dataset", "classifier", "published", "ours, values removed", "difference",
        "ours, complete", "difference",
    )  # fmt: skip
    rows = tuple(_line(key, theirs, removed, complete) for key in keys)
    long = Table("Accuracy in per cent", head, rows)
    if not counted:
        return View((long,), "", None)
    with_gaps, without = (
        np.array([ours[key].value - theirs[key].value for key in counted])
        for ours in (removed, complete)
    )
    verdict = (
        f"Mean distance to the published accuracies: {np.abs(with_gaps).mean():.2f} "
        f"with values removed, {np.abs(without).mean():.2f} with complete samples; "
        f"mean difference {with_gaps.mean():+.2f} and {without.mean():+.2f} "
        f"({len(counted)} accuracies)."
    )
    return View(
        (long,), verdict, bool(np.abs(with_gaps).mean() < np.abs(without).mean())
    )


def _line(
    key: Key,
    theirs: Mapping[Key, Score],
    removed: Mapping[Key, Score],
    complete: Mapping[Key, Score],
) -> tuple[str | float, ...]:
    one = theirs[key].value
    other = [
        number
        for ours in (removed, complete)
        for number in (ours[key].value, ours[key].value - one)
    ]
    return (*key, one, *other)
