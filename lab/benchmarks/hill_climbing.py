"""Hill climbing over general networks against pyAgrum's greedy hill climbing."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.benchmarks._data import coded_set, data_folder
from lab.benchmarks._harness import Options, Row, Skip, faster
from tanager.data import ArrayData
from tanager.model import Schema, Variable
from tanager.scores import BIC, BDe, DecomposableScore
from tanager.structure import HillClimbing

MAX_PARENTS = 2
N_JOBS = 2
THOROUGH = {"tabu": 100, "patience": 20, "restarts": 20, "perturbation": 20}
"""A search that does not end at the first top."""


def run(options: Options) -> list[Row]:
    """From no arcs on, the same states, score and bound, two threads each."""
    gum = _peer()
    rows = []
    for name, data in (
        ("large/adult", adult(options)),
        ("alarm", alarm(gum, options.pick(50_000, 1_000))),
    ):
        for label, score in (("BDeu", BDe()), ("BIC", BIC())):
            rows += _compare(gum, name, data, label, score, options.pick(5, 1))
    return rows


def adult(options: Options) -> ArrayData:
    """``large/adult`` with "missing" as a state, without constant columns."""
    data = coded_set("large/adult")
    codes = np.column_stack([data.codes, data.labels])
    if options.quick:
        codes = codes[:1_000]
    varied = codes.min(axis=0) < codes.max(axis=0)
    names = np.array(data.schema.names)[varied].tolist()
    return _data(codes[:, varied], codes[:, varied].max(axis=0) + 1, names)


def alarm(gum: Any, n_rows: int) -> ArrayData:
    """Samples drawn from the network ``networks/alarm.bif``."""
    network = gum.loadBN(str(data_folder() / "networks" / "alarm.bif"))
    names = sorted(network.names())
    gum.initRandom(1)
    generator = gum.BNDatabaseGenerator(network)
    generator.drawSamples(n_rows)
    drawn = generator.to_pandas()
    codes = np.empty((n_rows, len(names)), dtype=np.uint8)
    for j, name in enumerate(names):
        labels = network.variable(name).labels()
        codes[:, j] = drawn[name].map({label: k for k, label in enumerate(labels)})
    states = [network.variable(name).domainSize() for name in names]
    return _data(codes, np.array(states), names)


def _data(
    codes: npt.NDArray[np.unsignedinteger], states: npt.NDArray[Any], names: list[str]
) -> ArrayData:
    variables = tuple(
        Variable(name, tuple(range(int(r))))
        for name, r in zip(names, states, strict=True)
    )
    schema = Schema(variables, target=len(variables) - 1)
    features = np.asfortranarray(codes[:, :-1].astype(np.uint8))
    return ArrayData(schema, features, codes[:, -1].astype(np.uint8), None, N_JOBS)


def _compare(
    gum: Any,
    name: str,
    data: ArrayData,
    label: str,
    score: DecomposableScore,
    repeats: int,
) -> list[Row]:
    """Times of both, taking turns, and the scores of what they found, by ours."""
    ours = HillClimbing(score, max_parents=MAX_PARENTS, start="empty")
    ours.learn(data)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repeats):
        gc.collect()
        began = perf_counter()
        found = ours.learn(data).structure.parents
        times["ours"].append(perf_counter() - began)
        learner = _learner(gum, data, label)
        began = perf_counter()
        graph = learner.learnDAG()
        times["theirs"].append(perf_counter() - began)
    theirs = [tuple(graph.parents(v)) for v in range(len(data.schema))]
    thorough = HillClimbing(score, max_parents=MAX_PARENTS, start="empty", **THOROUGH)
    began = perf_counter()
    best = thorough.learn(data, random_state=np.random.default_rng(0)).structure.parents
    took = perf_counter() - began
    families = score.families(data)
    values = [
        sum(families.of(child, of) for child, of in enumerate(parents))
        for parents in (found, theirs, best)
    ]
    shape = f"{data.n_samples} x {len(data.schema)}"
    return [
        faster(
            f"hill climbing by {label}, {name}, {shape}, two threads",
            min(times["ours"]),
            min(times["theirs"]),
            name="pyAgrum",
            at_least=1.0,
        ),
        Row(
            f"{label} reached on {name}",
            f"{values[0]:,.0f}",
            f"{values[1]:,.0f} (pyAgrum)",
        ),
        Row(
            f"{label} reached on {name}, 20 restarts with a tabu list",
            f"{values[2]:,.0f} in {took:.2f} s",
            f"{values[1]:,.0f} (pyAgrum)",
        ),
    ]


def _learner(gum: Any, data: ArrayData, score: str) -> Any:
    """A fresh learner that has read the rows, so that nothing is counted before."""
    import pandas as pd

    template = gum.BayesNet()
    for variable in data.schema:
        last = len(variable.states) - 1
        template.add(gum.RangeVariable(variable.name, variable.name, 0, last))
    codes = np.column_stack([data.codes, data.labels]).astype(int)
    frame = pd.DataFrame(codes, columns=list(data.schema.names))
    learner = gum.BNLearner(frame, template)
    learner.useGreedyHillClimbing()
    getattr(learner, f"useScore{score}")()
    learner.useNoPrior()
    learner.setMaxIndegree(MAX_PARENTS)
    learner.setNumberOfThreads(N_JOBS)
    return learner


def _peer() -> Any:
    try:
        import pyagrum
    except ImportError:
        raise Skip("needs pyAgrum; install the bench extra") from None
    return pyagrum
