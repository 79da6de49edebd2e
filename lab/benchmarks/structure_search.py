"""Discriminative structure search against scoring every sample, and against peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from lab.benchmarks._data import coded_set, digits_by_14, image_set
from lab.benchmarks._harness import Options, Row, faster, limit
from lab.benchmarks._plain_search import PlainScorer
from tanager.data import ArrayData
from tanager.model import Schema, Variable
from tanager.parameters.base import Smoothing
from tanager.scores import ClassificationRate, MoveScorer
from tanager.scores.classification_scorer import ClassificationScorer
from tanager.scores.incremental_scorer import Block
from tanager.scores.scoring_data import ScoringData
from tanager.structure import Constraints, GreedyKTree, OrderBased, SuperParent
from tanager.structure.orders.feature_orders import feature_order
from tanager.structure.search.search_loop import Candidates, Search

Walk = Callable[[Search], None]

SMOOTHING = Smoothing(0.0, 1e-5)

BNCLASSIFY = {"TAN-CR": 41.641, "TAN-SuperParent": 23.967}
"""Published seconds of bnclassify 0.4.8, tan_hc (stopped before the end) and tan_hcsp
with epsilon 0, on 2,556 of the samples of kr-vs-kp, 5-fold classification rate."""


def image_data(name: str, rows: int | None) -> ArrayData:
    """The training samples of one of the datasets of images, as codes."""
    codes, labels = image_set(name)[:2]
    states = codes.max(axis=0).astype(int) + 1
    variables = [Variable(f"x{j}", tuple(range(r))) for j, r in enumerate(states)]
    target = Variable("class", tuple(range(int(labels.max()) + 1)))
    schema = Schema((*variables, target), target=len(variables))
    data = ArrayData(schema, np.asfortranarray(codes), labels)
    return data if rows is None else data.take(np.arange(rows))


def greedy(rounds: int | None) -> Walk:
    """Add the best arc, `rounds` times or until no arc is better."""

    def walk(search: Search) -> None:
        while search.step(
            Candidates(search.additions(np.argwhere(search.new_arcs(1))))
        ):
            if len(search.trace) == rounds:
                return

    return walk


def along(order: list[int]) -> Walk:
    """Every feature takes the best of those before it in an order."""

    def walk(search: Search) -> None:
        for place in range(1, len(order)):
            arcs = [(parent, order[place]) for parent in sorted(order[:place])]
            first = -np.inf if place <= 2 else None
            search.step(Candidates(search.additions(np.array(arcs)), above=first))

    return walk


def superparents(k: int, rounds: int) -> Walk:
    """Add the best arcs of the best superparent, `rounds` times."""
    learner = SuperParent(k)

    def walk(search: Search) -> None:
        going = True
        while going and len(search.trace) < rounds:
            arcs = np.argwhere(search.new_arcs(k))
            going = len(arcs) > 0 and search.step(
                learner._children_of_best(search, arcs)
            )

    return walk


def searched(data: ArrayData, scorer: type[MoveScorer], walk: Walk) -> Search:
    """The search after a walk, from naive Bayes on."""
    n_features = data.codes.shape[1]
    begun = scorer(ScoringData.of(data, None), SMOOTHING, [()] * n_features)  # type: ignore[call-arg]
    search = Search(begun, data.schema, Constraints().compile(data.schema))
    walk(search)
    return search


def compared(
    what: str,
    data: ArrayData,
    walk: Walk,
    *,
    visits: float | None = None,
    times: float | None = None,
) -> list[Row]:
    """Ours and the plain scan on the same search: samples visited, and time."""
    taken: dict[str, float] = {}
    found: dict[str, Search] = {}
    for name, scorer in (("ours", ClassificationScorer), ("plain", PlainScorer)):
        searched(data.take(np.arange(min(len(data.labels), 300))), scorer, walk)
        began = perf_counter()
        found[name] = searched(data, scorer, walk)
        taken[name] = perf_counter() - began
    stories = [
        [(step["arcs"], step["score"]) for step in search.trace]
        for search in found.values()
    ]
    if stories[0] != stories[1]:
        raise RuntimeError(f"{what}: ours and the plain search differ.")
    work = {
        name: np.array([visited_and_looked_up(step) for step in search.trace])
        for name, search in found.items()
    }
    ours, plain = work["ours"].sum(axis=0), work["plain"].sum(axis=0)
    steps = len(stories[0])
    return [
        Row(
            f"{what}, {steps} steps: samples visited (looked up)",
            f"{ours[0]:,} ({ours[1]:,})",
            f"{plain[0]:,} (every sample)",
            f"{plain[0] / ours[0]:.0f}x fewer ({plain[0] / ours[1]:.1f}x)",
            "" if visits is None else f"at least {visits:g}x fewer",
            None if visits is None else bool(plain[0] >= visits * ours[0]),
        ),
        faster(
            f"{what}, {steps} steps, one thread",
            taken["ours"],
            taken["plain"],
            name="every sample",
            at_least=times,
        ),
    ]


def visited_and_looked_up(step: Mapping[str, Any]) -> tuple[int, ...]:
    """Samples of one step of a search, those for its superparent included."""
    return tuple(
        step[name] + step.get(f"superparent_{name}", 0)
        for name in ("samples_visited", "samples_looked_up")
    )


def ideas(what: str, data: ArrayData) -> Row:
    """What each way of leaving out samples leaves of the first round of TAN-CR."""
    n_features = data.codes.shape[1]
    scorer = ClassificationScorer(
        ScoringData.of(data, None), SMOOTHING, [()] * n_features
    )
    search = Search(scorer, data.schema, Constraints().compile(data.schema))
    moves = search.additions(np.argwhere(search.new_arcs(1)))
    found = scorer.best(moves, above=scorer.value)
    in_reach, by_cell = 0, 0
    for child, numbers in moves.groups():
        for block in scorer.blocks(moves, child, numbers):
            some, own = _without_order(scorer, block)
            in_reach += some
            by_cell += own
    every = len(moves) * len(data.labels)
    return Row(
        f"{what}, first round: samples in reach of any table of the child; of the one "
        "cell; looked up; visited, wrong samples first",
        "; ".join(
            f"{100 * part / every:.2f} %"
            for part in (
                in_reach,
                by_cell,
                found.samples_looked_up,
                found.samples_visited,
            )
        ),
    )


def _without_order(scorer: ClassificationScorer, block: Block) -> tuple[int, int]:
    """Samples within reach of some CPT, and of their own entry, without pruning."""
    tables, chosen = scorer._tables(block)
    wrong, right = scorer._in_reach(tables)
    gain = np.zeros(len(chosen))
    visited, _ = scorer._win(tables, wrong, chosen, gain)
    lost, _ = scorer._lose(tables, right, chosen, -np.inf, gain)
    return (len(wrong) + len(right)) * len(chosen), int(visited + lost)


def run(options: Options) -> list[Row]:
    """Searches on images against the plain scan, and on kr-vs-kp against bnclassify."""
    few = 400 if options.quick else None
    usps, letter, satimage = (
        image_data(name, few) for name in ("usps", "letter", "satimage")
    )
    digits = digits_by_14()
    if options.quick:
        digits = digits.take(np.arange(400))
    rows = compared(
        "TAN-CR, usps", usps, greedy(options.pick(10, 1)), visits=20, times=8
    )
    rows += compared(
        "TAN-CR, MNIST 14x14", digits, greedy(options.pick(2, 1)), visits=20, times=8
    )
    rows += compared("TAN-CR, satimage", satimage, greedy(None), visits=8, times=1)
    rows += compared("TAN-CR, letter", letter, greedy(None), visits=3, times=1)
    rows += [
        ideas("TAN-CR, usps", usps),
        ideas("TAN-CR, satimage", satimage),
        ideas("TAN-CR, letter", letter),
    ]
    order = feature_order(digits, "omi", n_jobs=2).tolist()
    rows += compared("TAN-OMI-CR, MNIST 14x14", digits, along(order), times=5)
    rounds = options.pick(5, 1)
    rows += compared(
        "TAN-SuperParent, MNIST 14x14", digits, superparents(1, rounds), times=3
    )
    rows += compared("2-tree-SuperParent, usps", usps, superparents(2, rounds), times=8)
    rows += _whole(usps, digits, options)
    return rows + _peers(options)


def _whole(usps: ArrayData, digits: ArrayData, options: Options) -> list[Row]:
    """Whole searches by the learners, two threads."""
    rows = []
    for name, data in (("usps", usps), ("MNIST 14x14", digits)):
        taken = {}
        for method, learner in (
            ("TAN-OMI-CR", OrderBased("omi")),
            ("TAN-CR", GreedyKTree()),
        ):
            if options.quick and method == "TAN-CR":
                continue
            began = perf_counter()
            learner.learn(replace(data, n_jobs=2))
            taken[method] = perf_counter() - began
            rows.append(limit(f"{method}, {name}, two threads", taken[method], None))
        if len(taken) == 2:
            share = taken["TAN-OMI-CR"] / taken["TAN-CR"]
            rows.append(
                Row(
                    f"TAN-OMI-CR in per cent of TAN-CR, {name}",
                    f"{100 * share:.2f} %",
                    "2.23 % (published, MNIST)",
                )
            )
    return rows


def _peers(options: Options) -> list[Row]:
    """Five-fold classification rate on kr-vs-kp, as many samples as were published."""
    data = coded_set("weka33/kr-vs-kp").take(np.arange(options.pick(2556, 400)))
    score = ClassificationRate(folds=5)
    rows = []
    for name, learner in (
        ("TAN-CR", GreedyKTree(score=score)),
        ("TAN-SuperParent", SuperParent(score=score)),
    ):
        learner.learn(data.take(np.arange(200)))
        began = perf_counter()
        learner.learn(data)
        rows.append(
            faster(
                f"{name}, 5-fold rate, kr-vs-kp, {len(data.labels)} samples",
                perf_counter() - began,
                BNCLASSIFY[name],
                name="bnclassify, published",
            )
        )
    return rows
