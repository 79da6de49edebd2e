"""Scores on Dask collections, folds by position, and models fitted before."""

import weakref

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from tanager import BayesNetClassifier, evaluate
from tanager.errors import CapabilityError, InputError, PartitionError
from tests.clusters import small_cluster

dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")

import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def client():
    with small_cluster() as connected:
        yield connected


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(3)
    n = 1200
    y = random.integers(0, 3, n)
    return pd.DataFrame(
        {
            "a": random.normal(size=n).round(1) + y,
            "b": np.where(random.random(n) < 0.5, y, random.integers(0, 3, n)),
            "w": random.integers(1, 4, n).astype(float),
            "y": np.array(["u", "v", "w"])[y],
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return BayesNetClassifier(structure="tan", parameters="fe").fit(*split(frame))


def split(frame):
    return frame[["a", "b"]], frame["y"]


def as_bag(frame, rows, n_parts):
    frames = [frame.iloc[k : k + rows] for k in range(0, len(frame), rows)]
    return db.from_sequence(frames, npartitions=n_parts)


def bags(frame, rows=50, n_parts=4):
    return (as_bag(part, rows, n_parts) for part in split(frame))


@pytest.mark.parametrize("n_parts", [1, 2, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_are_those_of_batches(frame, n_parts, weighted):
    columns = ["a", "b", "y", "w"] if weighted else ["a", "b", "y"]
    weights = {"sample_weight": "w"} if weighted else {}
    wanted = evaluate("TAN-CMI-ML", [frame[columns]], "y", cv=3, **weights)
    there = dd.from_pandas(frame, npartitions=n_parts)
    if weighted:
        weights["sample_weight"] = there["w"]
    found = evaluate("TAN-CMI-ML", *split(there), cv=3, **weights)
    assert found.protocol == wanted.protocol
    for own, other in zip(found.folds, wanted.folds, strict=True):
        assert (own.n_train, own.n_test) == (other.n_train, other.n_test)
        assert own.accuracy == pytest.approx(other.accuracy, abs=1e-12)
        assert own.log_loss == pytest.approx(other.log_loss, abs=1e-9)
        assert own.brier == pytest.approx(other.brier, abs=1e-9)
        assert own.edges == other.edges


def test_arrays_and_bags_have_the_same_folds(frame):
    X, y = split(frame)
    wanted = evaluate("NB-ML", *split(dd.from_pandas(frame, npartitions=3)), cv=2)
    of_bags = evaluate("NB-ML", *bags(frame), cv=2)
    of_arrays = evaluate(
        "NB-ML",
        da.from_array(X.to_numpy(), chunks=(500, 1)),
        da.from_array(y.to_numpy(), chunks=500),
        cv=2,
    )
    for other in (of_bags, of_arrays):
        for own, one in zip(other.folds, wanted.folds, strict=True):
            assert own.log_loss == pytest.approx(one.log_loss, abs=1e-9)


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_score_adds_up_partitions(frame, model, n_parts):
    X, y = split(frame)
    there = dd.from_pandas(frame, npartitions=n_parts)
    assert model.score(*split(there)) == pytest.approx(model.score(X, y), abs=1e-12)
    weighted = model.score(*split(there), there["w"])
    assert weighted == pytest.approx(model.score(X, y, frame["w"]), abs=1e-12)


def test_models_that_were_fitted_before_are_scored(frame, model):
    X, y = split(frame)
    network = model.network_
    results = [
        evaluate(model, X, y, cv="prefit"),
        evaluate(model, [frame[["a", "b", "y"]]], "y", cv="prefit"),
        evaluate(model, *split(dd.from_pandas(frame, npartitions=3)), cv="prefit"),
        evaluate(model, *bags(frame), cv="prefit"),
    ]
    wanted = log_loss(y, model.predict_proba(X))
    for result in results:
        (fold,) = result.folds
        assert fold.log_loss == pytest.approx(wanted, abs=1e-9)
        assert (fold.n_test, fold.n_train, fold.fit_seconds) == (1200, 0, 0.0)
        assert "fitted before" in str(result)
    assert model.network_ is network


def test_classes_that_were_never_seen_are_wrong(frame, model):
    known = frame["y"] != "w"
    small = BayesNetClassifier(structure="nb", parameters="fe")
    small.fit(*split(frame[known]))
    there = dd.from_pandas(frame, npartitions=3)
    wanted = small.score(*split(frame))
    assert small.score(*split(there)) == pytest.approx(wanted, abs=1e-12)
    few = frame[known].iloc[:50]  # the model knows more classes than these have
    assert evaluate(model, *split(few), cv="prefit").folds[0].n_test == 50


def test_other_classifiers_that_were_fitted_before(frame, model):
    X, y = split(frame)
    other = LogisticRegression(max_iter=1000).fit(X, y)
    result = evaluate({"ours": model, "theirs": other}, X, y, cv="prefit")
    wanted = log_loss(y, other.predict_proba(X))
    assert result.folds[1].log_loss == pytest.approx(wanted, abs=1e-9)
    assert result.folds[1].n_parameters is None
    with pytest.raises(InputError, match="data frame as X"):
        evaluate(other, *split(dd.from_pandas(frame, npartitions=2)), cv="prefit")


def test_errors(frame, model):
    X, y = split(frame)
    there = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(NotFittedError):
        evaluate("NB-ML", *split(there), cv="prefit")
    with pytest.raises(InputError, match="no n_repeats"):
        evaluate(model, X, y, cv="prefit", n_repeats=2)
    with pytest.raises(InputError, match="split by their position"):
        evaluate("NB-ML", *split(there), cv=1)
    with pytest.raises(CapabilityError, match="BoostedClassifier needs the samples"):
        evaluate("NB+Ada", *split(there), cv=2)
    with pytest.raises(CapabilityError, match="one partition after the other"):
        BayesNetClassifier().partial_fit(*split(there))
    with pytest.raises(InputError, match=r"y is a Series.*map one bag"):
        model.score(as_bag(X, 50, 2), dd.from_pandas(y, npartitions=2))
    with pytest.raises(InputError, match=r"only 2 frames.*found in partition 1"):
        model.score(
            db.from_sequence([X] * 7, npartitions=2),
            db.from_delayed([dask.delayed([y] * 4), dask.delayed([y] * 2)]),
        )
    with pytest.raises(InputError, match="no samples with a class"):
        model.score(X=there[["a", "b"]], y=there["y"].map(lambda _: None, meta=y))

    @dask.delayed
    def broken():
        raise OSError("disk gone")

    parts = dd.from_delayed(
        [dask.delayed(frame), broken()], meta=frame, verify_meta=False
    )
    with pytest.raises(PartitionError, match=r"Partition 1 of 2.*disk gone"):
        evaluate(model, *split(parts), cv="prefit")


class _Loads:
    """Makes frames, and counts those that are there at the same time."""

    alive = most = 0

    @classmethod
    def load(cls, seed):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 60)
        made = pd.DataFrame({"x": (y + random.integers(0, 3, 60)) % 3, "y": y, "w": 2})
        cls.alive += 1
        cls.most = max(cls.most, cls.alive)
        weakref.finalize(made, cls._note_end)
        return made

    @classmethod
    def _note_end(cls):
        cls.alive -= 1


def test_frames_of_a_bag_are_read_one_after_the_other():
    """Not all of a partition are in memory at a time."""
    whole = pd.concat([_Loads.load(seed) for seed in range(40)])
    wanted = BayesNetClassifier(structure="nb", parameters="fe")
    wanted.fit(whole[["x"]], whole["y"], whole["w"])
    _Loads.alive = _Loads.most = 0
    frames = db.from_sequence(range(40), npartitions=2).map(_Loads.load)
    model = BayesNetClassifier(structure="nb", parameters="fe")
    model.fit(frames, "y", sample_weight="w")
    assert model.network_.schema.names == ("x", "y")
    found, expected = (m.network_.parameters.log_theta for m in (model, wanted))
    assert (found == expected).all()
    # Two workers have a frame, the next one and a former one each; not all 40.
    assert 0 < _Loads.most <= 10
    assert model.score(frames, "y", "w") == pytest.approx(
        wanted.score(whole[["x"]], whole["y"])
    )
    with pytest.raises(InputError, match=r"column.*'yy'.*found in partition"):
        model.fit(frames, "yy")


def test_columns_by_name(frame, model):
    there = dd.from_pandas(frame, npartitions=3)
    found = BayesNetClassifier(structure="tan", parameters="fe")
    found.fit(there[["a", "b", "y"]], "y")
    assert found.network_.schema == model.network_.schema
    assert found.score(there, "y", sample_weight="w") == pytest.approx(
        model.score(*split(there), there["w"])
    )
    with pytest.raises(InputError, match="'z'"):
        found.fit(there, "z")
    with pytest.raises(InputError, match="no names"):
        found.fit(da.ones((4, 2), chunks=2), "y")
