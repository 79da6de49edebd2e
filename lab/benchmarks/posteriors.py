"""Posteriors for samples with 30 % of their cells missing, on general networks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.benchmarks._data import data_folder
from lab.benchmarks._harness import Options, Row, Skip, best_of, faster
from tanager import Network, load
from tanager.inference import engine_for
from tanager.network.retargeting import retarget
from tanager.types import FloatArray
from tests.reference.pyagrum import to_pyagrum

REQUIRED_PYAGRUM = 20.0
REQUIRED_PGMPY = 100.0
SHARE = 0.3
AGREED = 1e-9

QUERIES = {"alarm": "HYPOVOLEMIA", "insurance": "Accident"}
"""The variable asked for: a disease, and what is insured against."""

Evidence = dict[str, int]
Peer = Callable[[Evidence], FloatArray]


def run(options: Options) -> list[Row]:
    """`Network.posteriors` of a data frame against one question per sample."""
    rows = []
    for name, query in QUERIES.items():
        network = load(data_folder() / "networks" / f"{name}.bif")
        rows += _measure(name, network, query, options)
    return rows


def _measure(name: str, network: Network, query: str, options: Options) -> list[Row]:
    n_rows = options.pick(10_000, 1_000)
    frame = holed_rows(network, query, n_rows)
    codes = coded(network, frame)
    target = network.schema.index(query)
    engine = engine_for(retarget(network.parameters, network.structure, target))
    found = network.posteriors(frame, query)
    ours = best_of(
        {
            "frame": lambda: network.posteriors(frame, query),
            "codes": lambda: engine.log_joint(codes),
        },
        options.pick(5, 2),
    )
    of = f"{name}, {len(network.schema)} variables, {SHARE:.0%} missing"
    rows = []
    for title, make, count, required in (
        ("pyAgrum", pyagrum_peer, options.pick(300, 30), REQUIRED_PYAGRUM),
        ("pgmpy", pgmpy_peer, options.pick(40, 5), REQUIRED_PGMPY),
    ):
        try:
            ask = make(network, query)
        except Skip as reason:
            rows.append(Row(f"posterior against {title}, {of}", f"skipped: {reason}"))
            continue
        few = evidences(network, codes[:count], query)
        _check(title, ask, few, found)
        theirs = best_of(
            {"": lambda ask=ask, few=few: [ask(one) for one in few]}, options.pick(3, 1)
        )
        per_row = theirs[""] / count
        rows += [
            faster(
                f"posterior per sample, {of}, from a data frame",
                ours["frame"] / n_rows,
                per_row,
                name=title,
                at_least=required,
            ),
            faster(
                f"posterior per sample, {of}, from codes",
                ours["codes"] / n_rows,
                per_row,
                name=title,
            ),
        ]
    return rows


def holed_rows(network: Network, query: str, n_rows: int) -> pd.DataFrame:
    """Samples without the variable asked for, a fraction of all cells missing."""
    frame = pd.DataFrame(network.sample(n_rows, random_state=0)).drop(columns=query)
    random = np.random.default_rng(1)
    return frame.mask(random.random(frame.shape) < SHARE)


def coded(network: Network, frame: pd.DataFrame) -> npt.NDArray[np.uint8]:
    """The same as codes, a column for every variable."""
    codes = np.empty((len(frame), len(network.schema)), dtype=np.uint8, order="F")
    codes[...] = network.schema.n_states
    for name, column in frame.items():
        v = network.schema.index(str(name))
        known = pd.Categorical(column, categories=network.schema[v].states).codes
        codes[:, v] = np.where(known < 0, network.schema[v].n_states, known)
    return codes


def evidences(
    network: Network, codes: npt.NDArray[np.uint8], query: str
) -> list[Evidence]:
    """Samples as mappings from names to codes, what is missing left out."""
    return [
        {
            variable.name: int(code)
            for variable, code in zip(network.schema, row, strict=True)
            if code < variable.n_states and variable.name != query
        }
        for row in codes
    ]


def pyagrum_peer(network: Network, query: str) -> Peer:
    """Lazy propagation of one target, the engine used again for every sample."""
    try:
        import pyagrum as gum
    except ImportError:
        raise Skip("needs pyAgrum; install the bench extra") from None
    engine = gum.LazyPropagation(to_pyagrum(network))
    engine.setTargets({query})

    def ask(evidence: Evidence) -> FloatArray:
        engine.setEvidence(evidence)
        engine.makeInference()
        found: FloatArray = engine.posterior(query).toarray()
        return found

    return ask


def pgmpy_peer(network: Network, query: str) -> Peer:
    """Variable elimination, the model made once."""
    warnings.filterwarnings("ignore", module=r"pgmpy.*")
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise Skip("needs pgmpy") from None
    theirs = DiscreteBayesianNetwork()
    theirs.add_nodes_from(network.schema.names)
    theirs.add_edges_from(network.edges)
    for variable in network.schema:
        values = network.table(variable.name).values
        parents = list(network.parents(variable.name))
        theirs.add_cpds(
            TabularCPD(
                variable.name,
                variable.n_states,
                values.reshape(-1, variable.n_states).T,
                evidence=parents or None,
                evidence_card=list(values.shape[:-1]) or None,
            )
        )
    engine: Any = VariableElimination(theirs)

    def ask(evidence: Evidence) -> FloatArray:
        found = engine.query([query], evidence=evidence, show_progress=False)
        values: FloatArray = np.asarray(found.values)
        return values

    return ask


def _check(
    title: str,
    ask: Peer,
    few: Sequence[Evidence],
    found: FloatArray,
) -> None:
    """Refuse to time answers that are not the same."""
    for row, evidence in enumerate(few):
        away = float(np.abs(ask(evidence) - found[row]).max())
        if not away < AGREED:
            raise RuntimeError(f"{title} differs by {away:g} in row {row}.")
