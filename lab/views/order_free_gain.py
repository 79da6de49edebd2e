"""What is gained if structures are learned without a fixed order of the features."""

from __future__ import annotations

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.claims import together
from lab.views.setting_errors import WORDS, set_of
from lab.views.table import Entry, Table, View

NONE = "none"


def order_free_gain(experiment: Experiment, results: Results) -> View:
    """Errors by order, and how much lower they are without one.

    Options of the experiment: ``fixed`` is the order that is compared with ``free``;
    ``better`` lists the datasets where the paper has found a gain; on the others it is
    claimed to be at most ``tolerance`` points, one way or the other. Sets with less
    than ``fewest`` runs are not judged.
    """
    options = experiment.options
    free = options["free"]
    errors: dict[tuple[str, str], list[float]] = {}
    for cell, numbers in results:
        order = cell.parameters["order"]
        key = set_of(cell), NONE if order is None else str(order)
        error = numbers["error"]
        assert isinstance(error, float | int)
        errors.setdefault(key, []).append(100 * error)
    means = {key: sum(of) / len(of) for key, of in errors.items()}
    paper = {
        (row["dataset"], row["order"]): float(row["error"])
        for row in experiment.published
    }
    long: list[tuple[Entry, ...]] = [
        (*key, paper.get(key), ours, _less(ours, paper.get(key)), len(errors[key]))
        for key, ours in means.items()
    ]
    rows, said, holding = [], [], []
    for name in dict.fromkeys(name for name, _ in means):
        if (name, options["fixed"]) not in means or (name, free) not in means:
            continue
        gain = means[name, options["fixed"]] - means[name, free]
        theirs = None
        if (name, free) in paper:
            theirs = paper[name, options["fixed"]] - paper[name, free]
        rows.append((name, theirs, gain, _less(gain, theirs)))
        gained = name in options["better"]
        holds: bool | None = gain > 0 if gained else abs(gain) <= options["tolerance"]
        runs = min(len(errors[name, order]) for order in (options["fixed"], free))
        holding.append(holds if runs >= options["fewest"] else None)
        claimed = "lower" if gained else f"within {options['tolerance']:g} points"
        said.append(
            f"{name}, {claimed}: {WORDS[holding[-1]]}, {abs(gain):.2f} points "
            f"{'lower' if gain > 0 else 'higher'} in {runs} "
            f"{'run' if runs == 1 else 'runs'} each."
        )
    head = ("dataset", "order", "published", "ours", "difference", "runs")
    gains = Table(
        "Points by which the error is lower without a fixed order",
        ("dataset", "published", "ours", "difference"),
        tuple(rows),
    )
    shown = Table("Test errors in per cent", head, tuple(long))
    return View(
        (Table("", head, tuple(long)), gains, shown), " ".join(said), together(holding)
    )


def _less(ours: float, theirs: float | None) -> float | None:
    return None if theirs is None else ours - theirs
