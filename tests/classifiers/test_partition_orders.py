"""The same classifier for 1, 2 and 7 partitions in any order, learner by learner."""

import re
from pathlib import Path

import numpy as np
import pytest

from tanager import BayesNetClassifier
from tanager.registry import parameters_from, structure_from
from tanager.structure import FactorSearch

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")

import dask.dataframe as dd  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "scale-dask.md"
N_SAMPLES = 1400

CUTS = {
    1: [range(N_SAMPLES)],
    2: np.array_split(np.arange(N_SAMPLES), [500]),
    7: np.array_split(np.arange(N_SAMPLES), 7),
}
SHUFFLED = [CUTS[7][k] for k in (3, 0, 6, 2, 5, 1, 4)]

LEARNERS = {
    "naive Bayes": ("nb", "fe", 0.0),
    "Chow-Liu": ("tan", "fe", 0.0),
    "KDB": ("kdb2", "fe", 0.0),
    "OMI-CR": ("tan-omi-cr", "fe", 0.0),
    "greedy CR": ("tan-cr", "fe", 0.0),
    "SuperParent": ("tan-superparent", "fe", 0.0),
    "HGC": ("hgc", "fe", 0.0),
    "GBN": ("gbn", "fe", 0.0),
    "residual trees": ("tan-res", "fe", 0.0),
    "`EM`": ("tan", "em", 1e-9),
    "`APN`": ("tan", "apn", 1e-9),
    "`ELR`": ("tan", "elr", 1e-9),
    "`ConditionalLikelihood`": ("tan", "rcl", 1e-7),
    "`DFE`": ("tan", "dfe", 1e-9),
    "factors": (FactorSearch(order=2), "auto", 0.0),
}
"""Learners by their names on the page: structure, parameters, and the largest
difference of a probability."""


def order_matters(name):
    structure, parameters, _ = LEARNERS[name]
    found = [parameters_from(parameters) if parameters != "auto" else None]
    found.append(structure_from(structure) if isinstance(structure, str) else structure)
    return any(part is not None and part.order_matters for part in found)


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    y = random.choice(3, N_SAMPLES, p=[0.5, 0.3, 0.2])
    columns, before = {}, y
    for j in range(5):
        noise = random.integers(0, 4, N_SAMPLES)
        before = np.where(random.random(N_SAMPLES) < 0.4, (y + before) % 4, noise)
        columns[f"x{j}"] = np.array(list("abcd"))[before]
    columns["x5"] = random.normal(size=N_SAMPLES).round(1) + y
    made = pd.DataFrame({**columns, "y": y})
    made.loc[::17, "x1"] = None
    return made


def fit(name, X, y):
    structure, parameters, _ = LEARNERS[name]
    model = BayesNetClassifier(
        structure=structure, parameters=parameters, random_state=0
    )
    with dask.config.set(scheduler="threads"):
        return model.fit(X, y)


def in_parts(frame, rows):
    parts = [dask.delayed(frame.iloc[own]) for own in rows]
    return dd.from_delayed(parts, meta=frame.iloc[:0])


@pytest.mark.parametrize("name", LEARNERS, ids=lambda name: name.strip("`"))
def test_any_number_of_partitions_gives_the_same_classifier(name, frame):
    """And in any order of the partitions, unless that of the samples matters."""
    X = frame.drop(columns="y")
    whole = fit(name, X, frame["y"])
    expected = whole.predict_proba(X)
    orders = list(CUTS.values())
    if not order_matters(name):
        orders.append(SHUFFLED)
    for rows in orders:
        found = fit(name, in_parts(frame, rows), "y")
        assert set(found.network_.edges) == set(whole.network_.edges)
        difference = np.abs(found.predict_proba(X) - expected).max()
        assert difference <= LEARNERS[name][2]


def test_the_page_states_what_is_tested():
    """Every learner has a line with its difference and whether the order matters."""
    table = PAGE.read_text("utf-8").partition("## The same answer")[2]
    lines = {}
    for line in re.findall(r"^\|(.+)\|$", table.partition("\n## ")[0], re.MULTILINE):
        names, difference, order = (entry.strip() for entry in line.split("|"))
        for name in names.split(", "):
            lines[name] = difference, order
    for name, (_, _, tolerance) in LEARNERS.items():
        difference, order = lines[name]
        stated = "identical" if tolerance == 0.0 else f"{tolerance:.0e}"
        assert difference == stated.replace("e-0", "e-"), name
        assert order == ("no" if order_matters(name) else "yes"), name
