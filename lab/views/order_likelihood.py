"""Conditional likelihood of trees by feature order and dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lab.runner.experiment import Experiment
from lab.runner.results import Results
from lab.views.figure_style import BLUE, GREEN, GREY, ORANGE
from lab.views.table import Table, View
from tanager.types import FloatArray

ORDERS = {"omi": "OMI", "ro": "random", "min-omi": "least information first"}
STYLES = {"omi": (BLUE, "s"), "ro": (GREY, "o"), "min-omi": (ORANGE, "v")}
HEAD = ("dataset", "order", "published", "ours", "sd", "difference")


def order_likelihood(experiment: Experiment, results: Results) -> View:
    """Mean of log P(class | sample) on the training samples, by dataset and order.

    Options of the experiment: ``without`` are sets on which the paper sees no benefit
    of its order; the claim is that on all others, or on as many of the ``n_sets``, the
    order has the highest likelihood.
    """
    found = _found(results)
    long = tuple(
        (data, ORDERS[order], None, float(values.mean()), _spread(values), None)
        for data, by_order in found.items()
        for order, values in by_order.items()
    )
    wide = Table(
        "Mean of log P(class | features), training data",
        ("dataset", *ORDERS.values(), "OMI is best"),
        tuple(
            (
                data,
                *(_shown(by_order.get(order)) for order in ORDERS),
                _answer(by_order),
            )
            for data, by_order in found.items()
        ),
    )
    text, holds, distance = _judged(found, experiment.options)

    def draw(figure: Any) -> None:
        _draw(figure, found)

    tables = Table("", HEAD, long, 4), wide
    return View(tables, text, holds, draw if found else None, distance)


Found = dict[str, dict[str, FloatArray]]


def _found(results: Results) -> Found:
    """Likelihoods by dataset and order: means over folds, of every random order."""
    found: Found = {}
    for data in results.levels("data"):
        of_set = results.where(data=data)
        for order in of_set.levels("order"):
            series = [
                np.atleast_1d(numbers["likelihood"])
                for _, numbers in of_set.where(order=order)
            ]
            mean = np.mean(series, axis=0)
            found.setdefault(data.rpartition("/")[2], {})[order] = mean
    return found


def _best(by_order: dict[str, FloatArray]) -> bool | None:
    if set(by_order) != set(ORDERS):
        return None
    mine = float(by_order["omi"].mean())
    return all(mine > float(by_order[o].mean()) for o in ORDERS if o != "omi")


def _judged(
    found: Found, options: Mapping[str, Any]
) -> tuple[str, bool | None, str | None]:
    """In words, whether the claim holds, and the numbers of datasets."""
    best = {data: _best(by_order) for data, by_order in found.items()}
    known = {data: one for data, one in best.items() if one is not None}
    if not known:
        return "", None, None
    not_best = [data for data, one in known.items() if not one]
    without, n_sets = options["without"], options["n_sets"]
    named = [data for data in known if data in without]
    n_best, least = len(known) - len(not_best), n_sets - len(without)
    whole = len(known) == n_sets
    return (
        f"OMI has the highest likelihood on {n_best} of "
        f"{len(known)} datasets; not on {', '.join(not_best) or 'none'} (the paper: "
        f"not on {', '.join(named) or 'others'}).",
        n_best >= least if whole else None,
        f"OMI best on {n_best} of {len(known)} datasets (published {least} of "
        f"{n_sets}); {len(set(not_best) & set(without))} of the {len(without)} "
        "exceptions are the same",
    )


def _spread(values: FloatArray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _shown(values: FloatArray | None) -> str:
    if values is None:
        return ""
    spread = _spread(values)
    return f"{values.mean():.4f}" + ("" if spread is None else f" ± {spread:.4f}")


def _answer(by_order: dict[str, FloatArray]) -> str:
    return {True: "yes", False: "no", None: ""}[_best(by_order)]


def _draw(figure: Any, found: Found) -> None:
    """Differences from the mean of the random orders, sets side by side."""
    axis = figure.subplots()
    places = np.arange(len(found))
    for order, (colour, marker) in STYLES.items():
        shown = [
            (
                place,
                by_order[order].mean() - by_order["ro"].mean(),
                _spread(by_order[order]),
            )
            for place, by_order in zip(places, found.values(), strict=True)
            if order in by_order and "ro" in by_order
        ]
        if shown:
            x, y, spreads = zip(*shown, strict=True)
            axis.errorbar(
                x,
                y,
                yerr=[spread or 0.0 for spread in spreads] if order == "ro" else None,
                color=colour,
                marker=marker,
                linestyle="",
                markersize=5,
                label=ORDERS[order],
            )
    axis.axhline(0.0, color=GREEN, linewidth=0.6)
    axis.set_xticks(places, list(found), rotation=60, ha="right", fontsize=8)
    axis.set_ylabel("mean log P(class | sample), less random")
    axis.legend(frameon=False, fontsize=8)
