"""Rounds that learners state, against those that a Dask cluster counts."""

from collections import Counter

import numpy as np
import pytest

from tanager import BayesNetClassifier, parameters, structure
from tanager.parameters import (
    APN,
    DFE,
    ELR,
    EM,
    ConditionalLikelihood,
    Frequency,
    ParameterLearner,
)
from tanager.structure import (
    KDB,
    ChowLiu,
    ConstraintBased,
    FactorSearch,
    Fixed,
    GreedyKTree,
    HillClimbing,
    NaiveBayes,
    OrderBased,
    RandomTree,
    ResidualTree,
    StructureLearner,
    SuperParent,
)
from tests.clusters import small_cluster

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

FITS = [
    (NaiveBayes(), Frequency()),
    (ChowLiu(), Frequency()),
    (ChowLiu(criterion="ear"), Frequency()),
    (RandomTree(), Frequency()),
    (Fixed([("x0", "x1")]), Frequency()),
    (KDB(), Frequency()),
    (KDB(k=2, select=True), Frequency()),
    (OrderBased(), Frequency()),
    (OrderBased(k=2, score="cl"), Frequency()),
    (GreedyKTree(), Frequency()),
    (GreedyKTree(k=2), Frequency()),
    (GreedyKTree(score="bic"), Frequency()),
    (SuperParent(), Frequency()),
    (SuperParent(k=2, score="cl"), Frequency()),
    (HillClimbing(), Frequency()),
    (ConstraintBased(), Frequency()),
    (ResidualTree(C=1.0), Frequency()),
    (FactorSearch(order=2), None),
    (FactorSearch(order=2, n_bags=2), None),
    (FactorSearch(order=1, tol=1e-6), None),
    (NaiveBayes(), DFE(passes=6)),
    (NaiveBayes(), EM()),
    (NaiveBayes(), APN(max_iter=5)),
    (NaiveBayes(), ELR(max_iter=5)),
    (NaiveBayes(), ELR(tol=1e-2, folds=None)),
    (NaiveBayes(), ConditionalLikelihood()),
]

IN_ONE_PLACE = {"GumbelTree", "LossMinimizer", "KeepTables"}
"""Learners whose passes are over samples in memory, and one that makes none."""

UNITS = {
    "evaluation": ("value_and_gradient", "expected"),
    "iteration": ("error",),
    "test": ("count",),
    "group of new families": ("count_blocks", "_count_families"),
}
"""What the parts are asked for in the rounds of a unit."""


@pytest.fixture(scope="module")
def client():
    with small_cluster() as connected:
        yield connected


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    y = random.choice(3, 3000, p=[0.5, 0.3, 0.2])
    columns, before = {}, y
    for j in range(6):
        noise = random.integers(0, 4, len(y))
        before = np.where(random.random(len(y)) < 0.4, (y + before) % 4, noise)
        columns[f"x{j}"] = np.array(list("abcd"))[before]
    made = pd.DataFrame({**columns, "y": y})
    made.loc[::7, "x1"] = None  # EM and APN iterate where values are missing
    return made


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("learner", "cpts"), FITS, ids=str)
def test_a_fit_takes_the_rounds_that_are_stated(learner, cpts, frame, monkeypatch):
    from tanager.distributed.dask_data import DaskPlaced
    from tanager.loglinear import factor_samples, partitioned_selection
    from tanager.structure import factor_search

    monkeypatch.setattr(factor_samples, "SEARCH_SAMPLES", 1000)
    monkeypatch.setattr(factor_search, "FEW_SAMPLES", 1000)
    monkeypatch.setattr(partitioned_selection, "FEW_SAMPLES", 1000)
    asked = Counter()

    def counting(method):
        def count(placed, function, *args, **options):
            asked[getattr(function, "__name__", "")] += 1
            return method(placed, function, *args, **options)

        return count

    for name in ("collect", "sum", "fold"):
        monkeypatch.setattr(DaskPlaced, name, counting(getattr(DaskPlaced, name)))
    model = BayesNetClassifier(
        structure=learner, parameters=cpts or "auto", random_state=0
    )
    model.fit(dd.from_pandas(frame, npartitions=2), "y")
    counted = model.trace_["distributed"]["rounds"]
    assert counted == asked.total()
    units = {unit: sum(asked[n] for n in names) for unit, names in UNITS.items()}
    steps = len(model.trace_["structure"])
    units |= {"step": steps, "stage": steps + 1}
    if cpts is None:
        units["factor"] = len(model.network_.factors.tables)
        if model.structure_.certificate_ is not None:
            units["pass of the certificate"] = model.structure_.certificate_["passes"]
    stated = 0
    for part in (learner, cpts):
        if part is not None:
            stated += part.rounds.once + sum(
                number * units[unit.partition(" (")[0]]
                for number, unit in part.rounds.repeated
            )
    # The fit itself counts the labels.
    assert stated / 2 <= counted <= stated + 2


@pytest.mark.parametrize(
    ("package", "base"), [(structure, StructureLearner), (parameters, ParameterLearner)]
)
def test_every_learner_is_counted(package, base):
    tested = {type(part).__name__ for fit in FITS for part in fit if part is not None}
    public = [getattr(package, name) for name in package.__all__]
    classes = [found for found in public if isinstance(found, type)]
    for learner in classes:
        if issubclass(learner, base) and learner is not base:
            assert learner.__name__ in tested | IN_ONE_PLACE
            assert learner.rounds is not base.rounds
