"""Fitting to a table in batches: the same classifier as from one data frame."""

import itertools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tanager import Batches, BayesNetClassifier, BoostedClassifier, evaluate
from tanager.errors import CapabilityError, DataWarning, InputError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N_ROWS = 1400


@pytest.fixture(scope="module")
def frame():
    """Numeric, whole, text and flag columns, missing values and weights."""
    random = np.random.default_rng(3)
    x = random.normal(size=N_ROWS).round(2)
    z = random.choice(["a", "b", "c"], N_ROWS)
    p = 1 / (1 + np.exp(-2 * x * (z == "a") - (z == "b")))
    return pandas.DataFrame(
        {
            "x": np.where(random.random(N_ROWS) < 0.05, np.nan, x),
            "k": random.integers(0, 9, N_ROWS),
            "z": np.where(random.random(N_ROWS) < 0.1, None, z),
            "flag": random.random(N_ROWS) < 0.3,
            "y": np.where(random.random(N_ROWS) < p, "yes", "no"),
            "w": random.integers(0, 3, N_ROWS),
        }
    )


def _parts(frame, n):
    bounds = np.linspace(0, len(frame), n + 1).astype(int)
    return [frame.iloc[a:b] for a, b in itertools.pairwise(bounds)]


MODELS = [
    "NB+FE", "TAN-CMI+FE", "KDB2-ML", "TAN-OMI-CR-ML", "TAN-CR+FE", "NB+DFE", "TAN+ELR",
    "auto", "tan-res",
]  # fmt: skip


def _make(name, **options):
    if name == "auto":
        return BayesNetClassifier(random_state=0, **options)
    if name == "tan-res":
        return BayesNetClassifier(structure="tan-res", random_state=0, **options)
    return BayesNetClassifier.from_name(name, random_state=0, **options)


@pytest.mark.parametrize("name", MODELS)
def test_any_batches_give_the_same_classifier(name, frame):
    data = frame.drop(columns="w")
    X, y = data.drop(columns="y"), data["y"]
    expected = _make(name).fit(X, y)
    for n, max_memory in ((1, 2**30), (2, 0), (7, 2**30)):
        batches = Batches(_parts(data, n), max_memory=max_memory)
        model = _make(name).fit(batches, "y")
        assert model.network_.schema == expected.network_.schema
        assert model.network_.edges == expected.network_.edges
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.feature_names_in_.tolist() == list(X.columns)
        # The same codes in the same order: the same bits.
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
def test_weights_and_class_weights(class_weight, frame):
    X, y = frame.drop(columns=["y", "w"]), frame["y"]
    options = {"structure": "tan", "parameters": "fe", "class_weight": class_weight}
    expected = BayesNetClassifier(**options).fit(X, y, frame["w"])
    model = BayesNetClassifier(**options).fit(_parts(frame, 4), "y", sample_weight="w")
    assert model.network_.schema == expected.network_.schema
    found, wanted = model.predict_proba(X), expected.predict_proba(X)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    relative = frame.assign(w=frame["w"] / frame["w"].sum())
    scaled = BayesNetClassifier(**options).fit(X, y, relative["w"])
    model = BayesNetClassifier(**options).fit(_parts(relative, 4), "y", "w")
    found, wanted = model.predict_proba(X), scaled.predict_proba(X)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_unlabelled_samples(frame):
    data = frame.drop(columns="w")
    data.loc[data.index % 3 == 0, "y"] = None
    X, y = data.drop(columns="y"), data["y"]
    model = BayesNetClassifier(structure="nb", parameters="em").fit(
        _parts(data, 5), "y"
    )
    expected = BayesNetClassifier(structure="nb", parameters="em").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(InputError, match=r"Batch 1: y contains missing labels"):
        BayesNetClassifier(structure="nb", parameters="fe").fit(_parts(data, 5), "y")


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(N_ROWS) % 3,
        (np.arange(N_ROWS) % 2).astype(float),
        np.arange(N_ROWS) % 2 == 0,
        pandas.Categorical(np.array(["u", "v", "w"])[np.arange(N_ROWS) % 3]),
    ],
    ids=["int", "float", "bool", "categorical"],
)
def test_labels_of_any_type(labels, frame):
    data = frame.drop(columns="w").assign(y=labels)
    expected = BayesNetClassifier.from_name("NB+FE").fit(
        data.drop(columns="y"), data["y"]
    )
    model = BayesNetClassifier.from_name("NB+FE").fit(_parts(data, 3), "y")
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.classes_.dtype == expected.classes_.dtype
    assert model.network_.schema.names[-1] == "y"
    np.testing.assert_array_equal(
        model.predict(_parts(data, 3)), expected.predict(data.drop(columns="y"))
    )


def test_an_iterator_is_read_once(frame, tmp_path):
    data = frame.drop(columns="w")
    model = _make("TAN-CMI+FE")
    expected = _make("TAN-CMI+FE").fit(data.drop(columns="y"), data["y"])
    model.fit(Batches(iter(_parts(data, 6)), folder=tmp_path), "y")
    assert model.network_.edges == expected.network_.edges
    np.testing.assert_array_equal(
        model.predict_proba(data.drop(columns="y")),
        expected.predict_proba(data.drop(columns="y")),
    )
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="pass a function that returns a new iterator"):
        model.fit(Batches(iter(_parts(data, 6)), folder=tmp_path / "no"), "y")


def test_predictions_batch_by_batch(frame, tmp_path):
    model = _make("TAN-CMI+FE").fit(_parts(frame.drop(columns="w"), 2), "y")
    X = frame.drop(columns=["y", "w"])
    expected = model.predict_proba(X)
    # Other columns are ignored, and the order of columns does not matter.
    shuffled = frame[["w", "z", "y", "x", "flag", "k"]]
    shuffled.to_parquet(tmp_path / "new.parquet")
    for source in (_parts(shuffled, 3), tmp_path, iter(_parts(shuffled, 3))):
        np.testing.assert_array_equal(model.predict_proba(source), expected)
    np.testing.assert_array_equal(model.predict(tmp_path), model.predict(X))
    small = Batches(tmp_path, batch_rows=100)
    parts = list(model.predict_batches(small))
    assert [len(part) for part in parts] == [100] * 14
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    texts = np.concatenate(list(model.predict_batches(small, method="predict")))
    np.testing.assert_array_equal(texts, model.predict(X))
    with pytest.warns(DataWarning, match="X lacks the column 'x'"):
        model.predict([shuffled.drop(columns="x")])


def test_identifiers_and_dates_in_batches_are_those_in_memory():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    days = rng.integers(0, 100, 400) + 60 * y
    frame = pandas.DataFrame(
        {
            "row_id": np.arange(400),
            "name": [f"n{i}" for i in range(400)],
            "when": pandas.to_datetime("2020-01-01")
            + pandas.to_timedelta(days, unit="D"),
            "one": 1,
            "y": y,
        }
    )
    left_out = "'row_id', 'name' are left out"
    with pytest.warns(DataWarning, match=left_out):
        whole = _make("TAN-CMI+FE").fit(frame.drop(columns="y"), frame["y"])
    with pytest.warns(DataWarning, match=left_out):
        model = _make("TAN-CMI+FE").fit(_parts(frame, 3), "y")
    assert model.encoder_.schema_ == whole.encoder_.schema_
    assert model.encoder_.schema_[2].cuts
    np.testing.assert_array_equal(
        model.predict_proba(_parts(frame, 2)), whole.predict_proba(frame)
    )


def test_integers_that_floats_do_not_tell_apart_in_batches():
    rng = np.random.default_rng(3)
    big = 2**60 + rng.integers(0, 3, 60)
    frame = pandas.DataFrame({"big": big, "y": np.arange(60) % 2})
    with (
        pytest.warns(DataWarning, match=r"beyond 2\^53"),
        pytest.raises(InputError, match="categorical_features"),
    ):
        _make("NB+FE").fit(_parts(frame, 2), "y")
    model = _make("NB+FE").set_params(encoder__categorical_features=["big"])
    model.fit(_parts(frame, 2), "y")
    assert model.encoder_.schema_[0].states == tuple(np.unique(big).tolist())


def test_dates_and_numbers_in_one_column_of_batches():
    one = pandas.DataFrame(
        {"t": pandas.to_datetime(["2020-01-01", "2020-02-01"]), "y": [0, 1]}
    )
    other = pandas.DataFrame({"t": [1.0, 2.0], "y": [0, 1]})
    with pytest.raises(InputError, match="datetime in one batch and number"):
        _make("NB+FE").fit([one, other], "y")


def test_score_and_evaluate(frame):
    data = frame.drop(columns="w")
    X, y = data.drop(columns="y"), data["y"]
    model = _make("NB+FE").fit(X, y)
    assert model.score(_parts(data, 4), "y") == pytest.approx(model.score(X, y))
    weighted = model.score(_parts(frame, 4), "y", "w")
    assert weighted == pytest.approx(model.score(X, y, frame["w"]))
    models = {"nb": _make("NB+FE"), "tan": _make("TAN-CMI+FE")}
    result = evaluate(models, _parts(data, 4), "y", cv=3, name="parts")
    assert "3-fold cross-validation by position" in str(result)
    assert (result.n_samples, result.n_features, result.n_classes) == (N_ROWS, 4, 2)
    for fold in range(3):
        test = np.arange(N_ROWS) % 3 == fold
        own = _make("TAN-CMI+FE").fit(X[~test], y[~test])
        found = result.folds[2 * fold + 1]
        assert (found.model, found.fold) == ("tan", fold + 1)
        assert (found.n_train, found.n_test) == ((~test).sum(), test.sum())
        assert found.accuracy == pytest.approx(own.score(X[test], y[test]))
        p = own.predict_proba(X[test])
        right = p[np.arange(len(p)), np.searchsorted(own.classes_, y[test])]
        assert found.log_loss == pytest.approx(-np.log(right).mean())
    with pytest.raises(InputError, match="pass a function"):
        evaluate(models, iter(_parts(data, 4)), "y")
    with pytest.raises(InputError, match="no n_repeats"):
        evaluate(models, _parts(data, 4), "y", n_repeats=2)
    with pytest.raises(InputError, match="no samples with a class"):
        model.score([data.assign(y=None)], "y")


@pytest.mark.parametrize(
    ("source", "y", "message"),
    [
        ([], "y", "X is empty"),
        (lambda: iter([]), "y", "There are no samples"),
        (lambda: [pandas.DataFrame({"x": [], "y": []})], "y", "There are no samples"),
        (
            lambda: [pandas.DataFrame({"x": [1], "y": [0]})],
            "z",
            "Batch 1: Unknown targ",
        ),
        (lambda: [pandas.DataFrame({"y": [1, 0]})], "y", "at least one feature"),
        (lambda: [pandas.DataFrame({"x": [1], "y": [0]})], "y", "only one class, 0"),
        (lambda: [pandas.DataFrame({"x": [1], "y": [0]})], [0], "must be the name"),
        (lambda: [pandas.DataFrame({"x": [1], "y": [0]})], None, "must be the name"),
        (
            lambda: [
                pandas.DataFrame({"x": [1, 2], "y": [0, 1]}),
                pandas.DataFrame({"x": ["u", "v"], "y": [0, 1]}),
            ],
            "y",
            "Batch 2: Column 'x' is numeric in one batch and holds categories",
        ),
        (
            lambda: [
                pandas.DataFrame({"x": [1, 2], "y": [0, 1]}),
                pandas.DataFrame({"x": [1, 2], "y": ["u", "v"]}),
            ],
            "y",
            "Batch 2: The classes so far",
        ),
        (
            lambda: [pandas.DataFrame({"x": [1, np.inf], "y": [0, 1]})],
            "y",
            "Batch 1: Input X contains infinity",
        ),
    ],
)
def test_bad_input(source, y, message):
    with pytest.raises(InputError, match=message):
        BayesNetClassifier(structure="nb", parameters="fe").fit(source, y)


def test_other_errors(frame):
    parts = _parts(frame, 2)
    model = BayesNetClassifier(structure="nb", parameters="fe")
    with pytest.raises(InputError, match="both the target and the weights"):
        model.fit(parts, "y", "y")
    with pytest.raises(InputError, match="sample_weight must be None or the name"):
        model.fit(parts, "y", np.ones(N_ROWS))
    with pytest.raises(InputError, match="weights in 'z' must be numbers"):
        model.fit(parts, "y", "z")
    with pytest.raises(InputError, match=r"Batch 1: Column 'x' has \d+ missing value"):
        BayesNetClassifier(missing="error").fit(parts, "y")
    with pytest.raises(CapabilityError, match="one batch after the other"):
        model.partial_fit(parts, "y")
    with pytest.raises(CapabilityError, match="one data frame here"):
        BoostedClassifier().fit(parts, "y")
    calls = []

    def shrinking():
        calls.append(1)
        return iter(parts[len(calls) - 1 :])

    with pytest.raises(InputError, match="second only 700"):
        model.fit(shrinking, "y")


SCRIPT = """
import sys, time
import numpy as np, pandas
from tanager import Batches, BayesNetClassifier

def batches():
    for number in range(10):
        if calls[0] == 1 and number == 5:
            print("waiting", flush=True)
            time.sleep(60)
        x = np.arange(1000) + number
        yield pandas.DataFrame({"x": x, "y": x % 2})
    calls[0] += 1

calls = [0]
source = Batches(batches, max_memory=0, folder=sys.argv[1])
BayesNetClassifier(structure="nb", parameters="fe").fit(source, "y")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_fit_leaves_no_file(number, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout.readline().strip() == "waiting"
    open_files = os.listdir(f"/proc/{child.pid}/fd") if os.path.isdir("/proc") else []
    targets = [os.readlink(f"/proc/{child.pid}/fd/{name}") for name in open_files]
    if targets:
        assert any(str(tmp_path) in target for target in targets)
    child.send_signal(number)
    child.wait(60)
    child.stdout.close()
    for _ in range(50):
        if not list(tmp_path.iterdir()):
            break
        time.sleep(0.1)
    assert not list(tmp_path.iterdir())
    assert child.returncode != 0
