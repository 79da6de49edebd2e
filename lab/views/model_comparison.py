"""Models over many datasets: averages of all scores, ranks, and tests of two scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.table import Table, View
from tanager.compare import Results as Scores
from tanager.compare import (
    bayesian_signed_rank,
    draw_ranks,
    holm,
    rank_groups,
    wilcoxon_signed_rank,
)
from tanager.types import FloatArray

SCORES = {"accuracy": 100.0, "log_loss": 1.0, "brier": 1.0, "calibration_error": 100.0}
"""Scores that are averaged, and the unit in which they are shown."""

SECONDS = "fit_seconds"

ROPE = 0.005
"""Accuracies that differ by less are practically the same."""


def model_comparison(experiment: Experiment, results: Results) -> View:
    """Averages over datasets, of the folds in which all models are known.

    Left out are models that were not measured on every dataset, and said so.

    Options of the experiment: ``ours`` and ``theirs`` are the models of the claim, that
    the former has a higher accuracy and a lower log loss in the mean.
    """
    sets = results.levels("data")
    every = results.levels("model")
    known = {
        (data, model): results.where(data=data, model=model).levels("fold")
        for data in sets
        for model in every
    }
    names = [model for model in every if all(known[data, model] for data in sets)]
    if not names:
        return View((Table("", ("dataset", "model", *SCORES), ()),), "", None)
    means = {
        (data, model, score): _mean(results.where(data=data, model=model), score, folds)
        for data in sets
        for folds in (set.intersection(*(set(known[data, m]) for m in names)),)
        if folds
        for model in names
        for score in (*SCORES, SECONDS)
    }
    sets = [data for data in sets if any(key[0] == data for key in means)]
    lines = [_averages(means, sets, model) for model in names] if sets else []
    lines.sort(key=lambda line: line[2])
    tables = [
        Table(
            "",
            ("dataset", "model", *SCORES),
            tuple(
                (data, model, *(means[data, model, score] for score in SCORES))
                for data in sets
                for model in names
            ),
        ),
        Table(
            f"Averages over {len(sets)} datasets, and processor seconds of a fit, "
            "median and maximum",
            (
                "model",
                "accuracy, %",
                "log loss",
                "Brier score",
                "calibration error, %",
                "s",
                "max fit time (s)",
            ),
            tuple(lines),
            3,
        ),
    ]
    verdict, holds = _verdict(experiment, {line[0]: line for line in lines}, len(sets))
    if left := [model for model in every if model not in names]:
        verdict += f" Not measured on every dataset, so left out: {', '.join(left)}."
    theirs = experiment.options["theirs"]
    if len(sets) < 2 or len(names) < 2 or theirs not in names:
        return View(tuple(tables), verdict.strip(), holds)
    tables.append(_tests(means, sets, names, theirs))
    groups = rank_groups(
        Scores.from_mapping(
            {
                (data, model): [means[data, model, "accuracy"]]
                for data in sets
                for model in names
            }
        )
    )
    return View(
        tuple(tables), verdict, holds, lambda figure: draw_ranks(figure, groups)
    )


def _mean(results: Results, score: str, folds: Collection[Any]) -> float:
    return float(
        np.mean([results.where(fold=fold).values(score).mean() for fold in folds])
    )


def _averages(
    means: Mapping[tuple[str, str, str], float], sets: Sequence[str], model: str
) -> tuple[Any, ...]:
    """One line of the table of averages."""
    averages = (
        scale * float(np.mean([means[data, model, score] for data in sets]))
        for score, scale in SCORES.items()
    )
    seconds = [means[data, model, SECONDS] for data in sets]
    return model, *averages, float(np.median(seconds)), max(seconds)


def _tests(
    means: Mapping[tuple[str, str, str], float],
    sets: Sequence[str],
    names: Sequence[str],
    theirs: str,
) -> Table:
    """Every model against one: sets on which it is ahead, and how sure that is."""
    others = [model for model in names if model != theirs]
    columns: list[list[str]] = []
    for score, sign in (("accuracy", 1.0), ("log_loss", -1.0)):
        ahead = {
            model: sign
            * np.array(
                [
                    means[data, model, score] - means[data, theirs, score]
                    for data in sets
                ]
            )
            for model in others
        }
        p_values = holm([wilcoxon_signed_rank(ahead[model])[2] for model in others])
        columns.append(
            [f"{(ahead[m] > 0).sum()}/{(ahead[m] < 0).sum()}" for m in others]
        )
        columns.append([f"{p:.2g}" for p in p_values])
        if score == "accuracy":
            columns.append([_probabilities(ahead[model]) for model in others])
    head = (
        "model",
        "accuracy, datasets ahead/behind",
        "p",
        f"better / same within {100 * ROPE:g} points / worse",
        "log loss, datasets ahead/behind",
        "p",
    )
    return Table(
        f"Against {theirs}: Wilcoxon's test with Holm's correction, and the Bayesian "
        "signed-rank test",
        head,
        tuple(zip(others, *columns, strict=True)),
    )


def _probabilities(ahead: FloatArray) -> str:
    verdict = bayesian_signed_rank(ahead, rope=ROPE, random_state=0)
    return " / ".join(f"{p:.2f}" for p in (verdict.first, verdict.same, verdict.second))


def _verdict(
    experiment: Experiment, averages: Mapping[str, Any], n_sets: int
) -> tuple[str, bool | None]:
    ours, theirs = experiment.options["ours"], experiment.options["theirs"]
    if ours not in averages or theirs not in averages:
        return "", None
    one, other = averages[ours], averages[theirs]
    return (
        f"{ours}: accuracy {one[1]:.2f} %, log loss {one[2]:.3f}; {theirs}: "
        f"{other[1]:.2f} %, {other[2]:.3f}; averages over {n_sets} datasets.",
        one[1] > other[1] and one[2] < other[2],
    )
