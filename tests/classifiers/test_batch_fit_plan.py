"""`FitPlan`: what a fit will take, stated before it starts, and kept."""

import subprocess
import sys

import numpy as np
import pytest

from tanager import Batches, BayesNetClassifier
from tanager.errors import InputError
from tanager.structure import FactorSearch

pandas = pytest.importorskip("pandas")

FRAME = pandas.DataFrame(
    {"x": np.arange(100.0), "z": ["a", "b"] * 50, "y": [0, 1] * 50}
)


def test_the_plan_of_a_list_of_frames():
    model = BayesNetClassifier(structure="tan", parameters="fe")
    plan = model.plan(Batches([FRAME] * 50, max_memory=10_000), "y")
    assert (plan.n_samples, plan.n_features, plan.n_classes) == (5000, 2, 2)
    assert plan.code_bytes == 5000 * 3
    assert not plan.codes_in_memory
    assert plan.learner_bytes == 0
    assert plan.peak_bytes == plan.batch_bytes + plan.summary_bytes
    assert "in a temporary file" in str(plan)
    assert "counts only" in str(plan)
    weighted = model.plan([FRAME.assign(w=1.0)] * 50, "y", "w")
    assert weighted.code_bytes == 5000 * 11


def test_a_function_has_an_unknown_number_of_samples():
    plan = BayesNetClassifier().plan(lambda: iter([FRAME]), "y")
    assert plan.peak_bytes is None
    assert str(plan).startswith("an unknown number of samples, 2 features, 2 classes")
    assert "Rounds    FactorSearch: 6, 4 for every factor" in str(plan)


@pytest.mark.parametrize(
    ("structure", "parameters", "expected"),
    [
        ("nb", "fe", {"Frequency": "1"}),
        ("tan", "fe", {"ChowLiu": "2", "Frequency": "1"}),
        ("tan", "dfe", {"ChowLiu": "2", "DFE": "5"}),
        (
            "tan-cr",
            "em",
            {
                "GreedyKTree": "4, 2 for every step, 1 for every group of new families",
                "EM": "2, 1 for every evaluation",
            },
        ),
        (
            FactorSearch(n_bags=8, tol=1e-6),
            "auto",
            {
                "FactorSearch": "6, 36 for every factor (at most 1,152 on a cluster; "
                "the search is on at most 50,000 samples in memory), "
                "1 for every pass of the certificate"
            },
        ),
    ],
)
def test_rounds_by_learner(structure, parameters, expected):
    model = BayesNetClassifier(structure=structure, parameters=parameters)
    plan = model.plan([FRAME], "y")
    assert {name: str(rounds) for name, rounds in plan.rounds.items()} == expected
    first, *others = [f"{name}: {text}" for name, text in expected.items()]
    lines = str(plan).splitlines()
    start = lines.index(f"Rounds    {first}")
    assert lines[start + 1 : start + 1 + len(others)] == [" " * 10 + t for t in others]


def test_what_cannot_be_planned():
    with pytest.raises(InputError, match="would spoil it"):
        BayesNetClassifier().plan(iter([FRAME]), "y")
    with pytest.raises(InputError, match="every batch is empty"):
        BayesNetClassifier().plan([FRAME.iloc[:0]], "y")
    with pytest.raises(InputError, match="must be the name"):
        BayesNetClassifier().plan([FRAME], [0, 1])


SCRIPT = """
import resource, sys
import numpy as np, pandas
from tanager import Batches, BayesNetClassifier

def frames(n):
    for number in range(n):
        random = np.random.default_rng(number)
        X = random.normal(size=(20_000, 10))
        y = (X[:, 0] + random.normal(size=20_000) > 0).astype(int)
        yield pandas.DataFrame(X, columns=list("abcdefghij")).assign(y=y)

model = BayesNetClassifier(**eval(sys.argv[1]), random_state=0)
model.fit(lambda: frames(1), "y")  # loads kernels
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
plan = model.plan([next(frames(1))] * 20, "y")
model.fit(lambda: frames(20), "y")
print(peak() - before, plan.peak_bytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes as Linux does")
@pytest.mark.parametrize("options", ["{}", "{'structure': 'tan', 'parameters': 'fe'}"])
def test_the_promise_is_kept(options):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, options],
        capture_output=True,
        text=True,
        check=True,
    )
    grown, promised = map(int, done.stdout.split())
    assert grown < 1.5 * promised + 50e6
