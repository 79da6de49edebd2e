"""Claims about the scoreboard with their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.scoreboard.plan import LARGE
from lab.scoreboard.rivals import OURS
from lab.views.claims import together
from lab.views.scoreboard_scores import SCORES, ScoreTable
from lab.views.table import Table, View

LEAST_TABLES = 5
"""Tables below which a claim about several tables is inconclusive."""

ANSWERS = {True: "holds", False: "does not hold", None: "inconclusive"}
SIZES = {
    "large": f"tables of {LARGE:,} samples and more",
    "small": f"tables of fewer than {LARGE:,} samples",
}
WORDS = {
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "fit_seconds": "time to fit",
    "predict_seconds": "time to predict",
}
Answer = tuple[str, str, bool | None]
"""A claim in words, what was measured, and whether it holds."""


def scoreboard_claims(experiment: Experiment, results: Results) -> View:
    """Every claim of the option ``claims``: what was measured, and the verdict.

    Claims are tables with a ``kind``:

    - ``means``: the default is at least as good as ``rival`` in the mean of each of
      ``scores`` over the ``tables`` (``small`` or ``large``) that both have.
    - ``score``: its mean ``score`` on the table ``data`` is within ``limit``.
    - ``seconds``: the ``number`` of the default is at most ``total`` times that of
      ``rival``, summed over such tables, or at most ``each`` times on every one.
    """
    scores = ScoreTable(results)
    answers = [
        KINDS[claim["kind"]](scores, claim) for claim in experiment.options["claims"]
    ]
    rows = tuple(
        (claim, measured, f"**{ANSWERS[holds]}**") for claim, measured, holds in answers
    )
    counts = [sum(holds is one for *_, holds in answers) for one in ANSWERS]
    said = (
        f"Of {len(answers)} claims {counts[0]} hold, {counts[1]} do not hold and "
        f"{counts[2]} are inconclusive."
    )
    return View(
        (Table("", ("claim", "measured", "verdict"), rows),),
        said,
        together([holds for *_, holds in answers]),
    )


def _tables(scores: ScoreTable, claim: Mapping[str, Any]) -> list[str]:
    large = claim["tables"] == "large"
    return [
        name
        for name in scores.shared(OURS, claim["rival"])
        if scores.is_large(name) == large
    ]


def _means(scores: ScoreTable, claim: Mapping[str, Any]) -> Answer:
    rival, tables = claim["rival"], _tables(scores, claim)
    said = (
        f"mean {' and '.join(WORDS[score] for score in claim['scores'])} at least as "
        f"good as those of {rival} on {SIZES[claim['tables']]}"
    )
    if not tables:
        return said, "", None
    measured, holding = [], []
    for score in claim["scores"]:
        ours, theirs = (
            float(np.mean([scores.mean(t, one, score, (other,)) for t in tables]))
            for one, other in ((OURS, rival), (rival, OURS))
        )
        holding.append(SCORES[score] * (ours - theirs) >= 0)
        measured.append(f"{WORDS[score]} {ours:.4f} against {theirs:.4f}")
    holds = all(holding) if len(tables) >= LEAST_TABLES else None
    return said, f"{', '.join(measured)} ({len(tables)} tables)", holds


def _score(scores: ScoreTable, claim: Mapping[str, Any]) -> Answer:
    score, limit = claim["score"], claim["limit"]
    bound = "at least" if SCORES[score] > 0 else "at most"
    said = f"{WORDS[score]} on {claim['data'].rpartition('/')[2]} {bound} {limit:g}"
    folds = scores.folds(claim["data"], OURS)
    if not folds:
        return said, "", None
    mean = scores.mean(claim["data"], OURS, score)
    n_folds = f"{len(folds)} fold{'s' if len(folds) > 1 else ''}"
    return said, f"{mean:.4f} ({n_folds})", SCORES[score] * (mean - limit) >= 0


def _seconds(scores: ScoreTable, claim: Mapping[str, Any]) -> Answer:
    rival, number, tables = claim["rival"], claim["number"], _tables(scores, claim)
    where = SIZES[claim["tables"]]
    most = claim.get("total", claim.get("each"))
    said = f"{WORDS[number]} at most {most:g} times that of {rival}"
    said += f", sum over {where}" if "total" in claim else f" on each of the {where}"
    if not tables:
        return said, "", None
    ours, theirs = (
        np.array([scores.mean(t, one, number, (other,)) for t in tables])
        for one, other in ((OURS, rival), (rival, OURS))
    )
    if "total" in claim:
        measured = f"{ours.sum():.1f} s against {theirs.sum():.1f} s"
        holds = bool(ours.sum() <= claim["total"] * theirs.sum())
    else:
        ratios = ours / np.maximum(theirs, np.finfo(np.float64).tiny)
        worst = int(ratios.argmax())
        measured = f"{ratios[worst]:.2f} times on {tables[worst].rpartition('/')[2]}"
        holds = bool(ratios[worst] <= claim["each"])
    enough = len(tables) >= LEAST_TABLES
    return said, f"{measured} ({len(tables)} tables)", holds if enough else None


KINDS: dict[str, Callable[[ScoreTable, Mapping[str, Any]], Answer]] = {
    "means": _means,
    "score": _score,
    "seconds": _seconds,
}
"""Kinds of claims, and what answers them."""
