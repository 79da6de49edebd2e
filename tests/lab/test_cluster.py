"""Rounds and bytes by formula are those of a cluster; simulated times add up."""

from itertools import combinations

import numpy as np
import pytest

from lab.cluster.cluster_simulation import Cluster, simulate_fit
from lab.cluster.fit_rounds import (
    FITS,
    PlannedTraffic,
    Round,
    Tables,
    convex_conditional_likelihood,
    factors,
    naive_bayes,
    tree_by_counts,
)
from lab.cluster.projection import Costs, project
from tanager import BayesNetClassifier
from tanager.structure import FactorSearch
from tests.clusters import small_cluster

N_PARTS = 10


@pytest.fixture(scope="module")
def client():
    with small_cluster() as connected:
        yield connected


def make_frame(n_features, n_classes, n_samples):
    """Texts of six values that depend on the class and on each other."""
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    y = random.integers(0, n_classes, n_samples)
    columns, before = {}, y
    for j in range(n_features):
        noise = random.integers(0, 6, n_samples)
        before = np.where(random.random(n_samples) < 0.4, (y + before) % 6, noise)
        columns[f"x{j}"] = before.astype(str)
    return pd.DataFrame({**columns, "y": y})


def measure(options, n_features=8, n_classes=3, n_samples=60_000):
    dd = pytest.importorskip("dask.dataframe")
    frame = make_frame(n_features, n_classes, n_samples)
    there = dd.from_pandas(frame, npartitions=N_PARTS)
    model = BayesNetClassifier(**options).fit(there, "y")
    return model, model.trace_["distributed"]


def check(traffic, report, tolerance):
    assert traffic.rounds == report["rounds"]
    for name in ("bytes_to_parts", "bytes_from_parts"):
        assert getattr(traffic, name) == pytest.approx(report[name], rel=tolerance)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_bytes_of_counts_are_those_of_a_cluster(n_classes):
    tables = Tables((6,) * 8, n_classes, N_PARTS)
    for structure, rounds in (("nb", naive_bayes), ("tan", tree_by_counts)):
        options = {"structure": structure, "parameters": "fe"}
        _, report = measure(options, n_classes=n_classes, n_samples=3000)
        check(PlannedTraffic.of(rounds(tables), N_PARTS), report, 0.05)


@pytest.mark.usefixtures("client")
def test_bytes_of_convex_likelihood_are_those_of_a_cluster():
    _, report = measure({"structure": "tan", "parameters": "rcl"})
    # What the search needs is known afterwards only.
    evaluations = report["rounds"] - 9
    tables = Tables((6,) * 8, 3, N_PARTS)
    rounds = convex_conditional_likelihood(tables, evaluations)
    check(PlannedTraffic.of(rounds, N_PARTS), report, 0.1)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bytes_of_factors_are_those_of_a_cluster(n_classes):
    learner = FactorSearch(order=2, max_factors=6)
    model, report = measure({"structure": learner}, n_classes=n_classes)
    found = [table.factor.key for table in model.network_.factors.tables]
    rounds = factors(Tables((6,) * 8, n_classes, N_PARTS), found)
    check(PlannedTraffic.of(rounds, N_PARTS), report, 0.1)


def test_time_is_that_of_the_work_if_nothing_else_takes_any():
    free = Cluster(
        5, 2, 20, latency=0.0, bandwidth=np.inf, task_seconds=0.0, start_seconds=0.0,
        spread=0.0,
    )  # fmt: skip
    rounds = [Round(100.0, 50.0, 50.0, 3, 0.25), Round(10.0, 10.0, None, 1, 0.25)]
    found = simulate_fit(free, rounds, reading=40.0, learning=20.0)
    assert found.reading_seconds == pytest.approx(4.0)
    assert found.round_seconds == pytest.approx(found.work_seconds)
    assert found.round_seconds == pytest.approx(2.0)
    assert found.rounds == 4


def test_messages_take_time():
    slow = Cluster(2, 1, 16, latency=1.0, bandwidth=100.0, task_seconds=0.0,
                   start_seconds=0.0, spread=0.0)  # fmt: skip
    one = simulate_fit(slow, [Round(0.0, 100.0, 100.0)], reading=0.0, learning=0.0)
    # An order; sums of eight, then of two; the sum comes back.
    assert one.round_seconds == pytest.approx(1 + 2 * (1 + 7) + (1 + 1))
    assert one.bytes_moved == 14 * 100 + 100 + 100
    large = Round(40_000.0, 0.0, 0.0)
    assert simulate_fit(slow, [large], reading=0.0, learning=0.0).bytes_moved == 80_000


def test_more_workers_take_less_time_up_to_a_limit():
    costs = Costs(reading=1e-6, learning=1e-6)
    name = "factors, main effects and 20 pairs"
    seconds = [project(name, costs, 1e9, n, 2, 1)[1].seconds for n in (1, 10, 100)]
    assert seconds[0] > 5 * seconds[1] > 5 * seconds[2]
    assert project("no such fit", costs, 1e9, 1, 1, 1) is None


def test_all_fits_of_the_study_have_rounds():
    for name, rounds in FITS.items():
        traffic = PlannedTraffic.of(rounds(Tables((3,) * 20, 2, 200)), 200)
        assert traffic.rounds >= 2, name
        assert traffic.bytes_from_parts > 0
    found = list(combinations(range(20), 2))[:100]
    many = factors(Tables((3,) * 20, 2, 200), found)
    assert PlannedTraffic.of(many, 200).rounds < 150
