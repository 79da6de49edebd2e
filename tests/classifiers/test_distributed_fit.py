"""`BayesNetClassifier` on Dask DataFrames, arrays and bags of frames."""

import gc
import subprocess
import sys
from time import sleep

import numpy as np
import pytest

from tanager import BayesNetClassifier, ChowLiu
from tanager.errors import InputError, PartitionError
from tests.clusters import small_cluster

dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")

import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with small_cluster(n_workers=3) as connected:
        yield connected


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    n = 2000
    y = random.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": random.normal(size=n).round(2) + y,
            "sky": pd.Categorical(
                np.array(["blue", "grey", "red"])[
                    np.where(random.random(n) < 0.7, y, random.integers(0, 3, n))
                ]
            ),
            "word": np.array(["a", "b", None], dtype=object)[random.integers(0, 3, n)],
            "rare": 1.0,
            "y": np.array(["u", "v", "w"])[y],
        }
    )
    frame.loc[::7, "age"] = np.nan
    return frame


def split(frame):
    return frame.drop(columns="y"), frame["y"]


def is_emptied(client):
    """Whether the client holds no futures, which it releases in another thread."""
    for _ in range(100):
        gc.collect()
        if not client.futures:
            return True
        sleep(0.1)
    return False


METHODS = [("nb", "fe"), ("tan", "fe"), ("kdb2", "ml"), ("tan", "em"), ("tan", "dfe")]


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n_parts", [1, 2, 7])
@pytest.mark.parametrize("method", METHODS, ids="+".join)
def test_models_are_those_of_data_in_memory(frame, method, n_parts):
    model = BayesNetClassifier(structure=method[0], parameters=method[1])
    expected = BayesNetClassifier(**model.get_params()).fit(*split(frame))
    model.fit(*split(dd.from_pandas(frame, npartitions=n_parts)))
    assert model.network_.schema == expected.network_.schema
    assert model.network_.edges == expected.network_.edges
    found, wanted = (m.network_.parameters.log_theta for m in (model, expected))
    assert np.abs(np.exp(found) - np.exp(wanted)).max() < 1e-9
    report = model.trace_["distributed"]
    assert report["partitions"] == n_parts
    assert report["rounds"] > 0
    assert report["bytes_per_round"] > 0


@pytest.mark.usefixtures("client")
def test_the_default_model_is_that_of_data_in_memory(frame):
    X, y = split(frame)
    expected = BayesNetClassifier(random_state=0).fit(X, y)
    model = BayesNetClassifier(random_state=0)
    model.fit(*split(dd.from_pandas(frame, npartitions=3)))
    assert np.abs(model.predict_proba(X) - expected.predict_proba(X)).max() < 1e-9
    # Intervals have samples to be computed from.
    assert model.network_.schema.names[-1] == "y"
    assert model._samples is not None


@pytest.mark.usefixtures("client")
def test_predictions_are_lazy_and_keep_the_index(frame):
    X, y = split(frame)
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    there = dd.from_pandas(X, npartitions=3)
    labels, p = model.predict(there), model.predict_proba(there)
    assert labels.npartitions == p.npartitions == 3
    assert (labels.compute() == model.predict(X)).all()
    assert labels.compute().index.equals(X.index)
    assert list(p.columns) == ["u", "v", "w"]
    assert np.allclose(p.compute(), model.predict_proba(X), atol=1e-12)
    assert np.allclose(
        model.predict_log_proba(there).compute(), model.predict_log_proba(X)
    )


@pytest.mark.usefixtures("client")
def test_unknown_divisions_empty_partitions_and_idle_workers(frame):
    X, y = split(frame)
    expected = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y)
    parts = [frame.iloc[:0], frame.iloc[:900], frame.iloc[900:901], frame.iloc[901:]]
    collection = dd.from_delayed(
        [dask.delayed(part) for part in parts], meta=frame.iloc[:0]
    )
    assert not collection.known_divisions
    model = BayesNetClassifier(structure="tan", parameters="fe")
    model.fit(*split(collection))
    found, wanted = (m.network_.parameters.log_theta for m in (model, expected))
    assert (found == wanted).all()
    assert len(model.predict(collection.drop(columns="y")).compute()) == len(frame)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own reading
@pytest.mark.usefixtures("client")
def test_folders_of_files_with_more_columns(frame, tmp_path):
    # Dask's optimisation joins files of which few columns are read.
    pytest.importorskip("pyarrow")
    unused = {f"unused{j}": np.arange(len(frame)) * 1.5 for j in range(20)}
    for part in range(9):
        rows = frame.assign(**unused).iloc[part::9]
        rows.to_parquet(tmp_path / f"{part}.parquet", index=False)
    names = ["age", "sky", "word", "y"]
    there = dd.read_parquet(tmp_path, columns=names)
    X, y = split(pd.concat([frame.iloc[part::9] for part in range(9)])[names])
    expected = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y)
    for given in (split(there), (there, "y"), (there[names[:-1]], there["y"])):
        model = BayesNetClassifier(structure="tan", parameters="fe").fit(*given)
        assert model.network_.edges == expected.network_.edges
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.usefixtures("client")
def test_arrays(frame):
    random = np.random.default_rng(1)
    X = random.integers(0, 4, (500, 5)).astype(float)
    y = (X[:, 0] > 1).astype(int)
    weights = random.integers(0, 3, 500).astype(float)
    expected = BayesNetClassifier(structure="tan", parameters="fe").fit(X, y, weights)
    there = da.from_array(X, chunks=(120, 2))
    model = BayesNetClassifier(structure="tan", parameters="fe")
    model.fit(there, da.from_array(y, chunks=120), da.from_array(weights, chunks=120))
    found, wanted = (m.network_.parameters.log_theta for m in (model, expected))
    assert (found == wanted).all()
    p = model.predict_proba(there)
    assert p.shape == (500, 2)
    assert np.allclose(p.compute(), model.predict_proba(X))
    assert (model.predict(there).compute() == model.predict(X)).all()


@pytest.mark.usefixtures("client")
def test_bags_of_frames(frame):
    X, y = split(frame)
    cuts = [(0, 300), (300, 900), (900, 2000)]
    bags = (
        db.from_sequence([part.iloc[a:b] for a, b in cuts], npartitions=2)
        for part in (X, y)
    )
    features, labels = bags
    expected = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(features, labels)
    assert (
        model.network_.parameters.log_theta == expected.network_.parameters.log_theta
    ).all()
    predicted = np.concatenate(model.predict(features).compute())
    assert (predicted == model.predict(X)).all()


def test_without_a_cluster_codes_come_here(frame):
    """Dask's own threads read the partitions."""
    expected = BayesNetClassifier(structure="tan", parameters="fe").fit(*split(frame))
    model = BayesNetClassifier(structure="tan", parameters="fe")
    with dask.config.set(scheduler="threads"):
        from tanager.distributed import encoded_partitions

        keep = encoded_partitions.active_client
        encoded_partitions.active_client = lambda: None
        try:
            model.fit(*split(dd.from_pandas(frame, npartitions=3)))
        finally:
            encoded_partitions.active_client = keep
    assert "distributed" not in model.trace_
    found, wanted = (m.network_.parameters.log_theta for m in (model, expected))
    assert (found == wanted).all()


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("class_weight", ["balanced", {"u": 2.0}])
def test_class_weights(frame, class_weight):
    model = BayesNetClassifier(
        structure="nb", parameters="fe", class_weight=class_weight
    )
    expected = BayesNetClassifier(**model.get_params()).fit(*split(frame))
    model.fit(*split(dd.from_pandas(frame, npartitions=3)))
    found, wanted = (m.network_.parameters.log_theta for m in (model, expected))
    assert np.abs(found - wanted).max() < 1e-12


def test_nothing_is_left_on_the_cluster(client, frame):
    model = BayesNetClassifier(structure="tan", parameters="rcl")
    model.fit(*split(dd.from_pandas(frame, npartitions=3)))
    assert is_emptied(client), list(client.futures)


@pytest.mark.usefixtures("client")
def test_errors_say_what_to_do(frame):
    there = dd.from_pandas(frame, npartitions=3)
    X, y = split(there)
    model = BayesNetClassifier(structure="nb", parameters="fe")
    with pytest.raises(InputError, match=r"y is a Series.*Dask collection"):
        model.fit(X, frame["y"])
    with pytest.raises(InputError, match="X has 3 partitions and y has 2"):
        model.fit(X, dd.from_pandas(frame["y"], npartitions=2))
    one = dd.from_pandas(frame.assign(y="u"), npartitions=2)
    with pytest.raises(InputError, match="at least two classes"):
        model.fit(*split(one))
    strict = BayesNetClassifier(structure="nb", parameters="fe", missing="error")
    with pytest.raises(InputError, match="found in partition"):
        strict.fit(X, y)
    assert not hasattr(model, "network_")


@pytest.mark.usefixtures("client")
def test_a_partition_that_cannot_be_read_names_itself(frame):
    @dask.delayed
    def broken():
        raise OSError("disk gone")

    parts = [dask.delayed(frame.iloc[:900]), broken()]
    there = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    model = BayesNetClassifier(structure="nb", parameters="fe")
    with pytest.raises(PartitionError, match=r"Partition 1 of 2.*disk gone"):
        model.fit(*split(there))


class Interrupted(ChowLiu):
    def learn(self, data, *, random_state=None):
        data.count([(0,)])
        raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_nothing_behind(client, frame):
    model = BayesNetClassifier(structure=Interrupted(), parameters="rcl")
    with pytest.raises(KeyboardInterrupt):
        model.fit(*split(dd.from_pandas(frame, npartitions=3)))
    assert is_emptied(client), list(client.futures)
    assert not hasattr(model, "network_")


def test_importing_tanager_does_not_import_dask():
    code = (
        "import sys, tanager; from tanager import BayesNetClassifier as B;"
        "B(structure='nb', parameters='fe').fit([[0], [1]], [0, 1]).predict([[1]]);"
        "assert not {'dask', 'distributed'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
