"""Rounds that learners state, against those of a cluster, and passes in memory."""

from collections import Counter

import numpy as np
import pytest

from tanager import BayesNetClassifier, parameters, structure
from tanager.data import ArrayData
from tanager.losses import HybridLoss
from tanager.parameters import (
    APN,
    DFE,
    ELR,
    EM,
    ConditionalLikelihood,
    Frequency,
    LossMinimizer,
    ParameterLearner,
    margin_scale,
)
from tanager.parameters.softmax_cpts import SoftmaxCPTs
from tanager.structure import (
    KDB,
    ChowLiu,
    ConstraintBased,
    FactorSearch,
    Fixed,
    GreedyKTree,
    GumbelTree,
    HillClimbing,
    NaiveBayes,
    OrderBased,
    RandomTree,
    ResidualTree,
    StructureLearner,
    SuperParent,
)
from tanager.structure.gumbel.gradient_descent import GumbelDescent
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

FEWER = {
    "OrderBased(k=2, score='cl')": 5,
    "GreedyKTree(score='bic')": 12,
    "SuperParent(k=2, score='cl')": 1,
    "ConstraintBased()": 1,
    "ResidualTree(C=1.0)": 5,
    "ELR(folds=None, tol=0.01)": 1,
    "ConditionalLikelihood()": 2,
}
"""Learners with steps that need fewer rounds than others, and by how many they are
fewer than stated, which is the largest number."""

EPOCHS = 10

FITS_IN_MEMORY = [
    (NaiveBayes(), LossMinimizer(epochs=EPOCHS, loss=HybridLoss(gamma=None)), 0),
    (NaiveBayes(), LossMinimizer(epochs=EPOCHS), 2),
    (NaiveBayes(), LossMinimizer(epochs=EPOCHS, batch_size=None), 2),
    (NaiveBayes(), LossMinimizer(epochs=EPOCHS, early_stopping=0.25), 2.25),
    (GumbelTree(epochs=EPOCHS, order="omi", candidates="information",
                prefer="information"), None, 0),
    (GumbelTree(epochs=EPOCHS), None, 5),
    (GumbelTree(epochs=EPOCHS, held_out=0.25), None, 6),
    (GumbelTree(epochs=EPOCHS, start="frequency"), None, 5),
    (GumbelTree(epochs=EPOCHS, order="cyclic"), None, 5),
]  # fmt: skip
"""Learners whose samples must be in one place, and how many passes besides the epochs
are fewer than stated: none with the arguments that take the most, then those of others,
or parts of them over held-out samples."""

WITHOUT = {"KeepTables"}
"""Learners that make no passes."""

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
    fewer = max(FEWER.get(str(part), 0) for part in (learner, cpts))
    # The fit itself counts the labels.
    assert stated - fewer <= counted <= stated + 1


@pytest.mark.parametrize(("learner", "cpts", "fewer"), FITS_IN_MEMORY, ids=str)
def test_a_fit_in_memory_takes_the_passes_that_are_stated(
    learner, cpts, fewer, frame, monkeypatch
):
    """By the samples that are read, counted, scored and trained on."""
    once, trained = Counter(), Counter()

    def count(place, name, rows, size):
        method = getattr(place, name)

        def counting(*args, **options):
            rows[name] += size(*args)
            return method(*args, **options)

        monkeypatch.setattr(place, name, counting)

    for name in ("count", "count_pairs", "blocks", "all_rows"):
        count(ArrayData, name, once, lambda data, *_: data.n_samples)
    count(margin_scale, "_weighted_median", once, lambda margins, _: len(margins))
    for place, name in (
        (SoftmaxCPTs, "forward"),
        (GumbelDescent, "_descend"),
        (GumbelDescent, "error"),
    ):
        count(place, name, trained, lambda _, rows, *__: len(rows))
    model = BayesNetClassifier(
        structure=learner, parameters=cpts or "auto", random_state=0
    )
    model.fit(frame.drop(columns="y"), frame["y"])
    part = cpts or learner
    assert len(model.trace_["structure" if cpts is None else "parameters"]) == EPOCHS
    # A network, unlike factors, marginalises missing values, which takes more epochs.
    more = cpts is None and part.order != "cyclic"
    passes = trained.total() / len(frame)
    assert EPOCHS <= passes <= (1.1 if more else 1.0) * EPOCHS
    assert (passes > EPOCHS) == more
    n_sets = len(frame.columns) - 1  # the other features, and none
    units = {"epoch": 0, "set of candidate parents of a feature": n_sets}
    stated = part.rounds.once + sum(
        number * units[unit.partition(" (")[0]] for number, unit in part.rounds.repeated
    )
    passes = once.total() / len(frame)
    assert passes == pytest.approx(stated - fewer, abs=0.01)


@pytest.mark.parametrize(
    ("package", "base"), [(structure, StructureLearner), (parameters, ParameterLearner)]
)
def test_every_learner_is_counted(package, base):
    fits = [*FITS, *(fit[:2] for fit in FITS_IN_MEMORY)]
    tested = {type(part).__name__ for fit in fits for part in fit if part is not None}
    public = [getattr(package, name) for name in package.__all__]
    classes = [found for found in public if isinstance(found, type)]
    for learner in classes:
        if issubclass(learner, base) and learner is not base:
            assert learner.__name__ in tested | WITHOUT
            assert learner.rounds is not base.rounds
