from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    CapabilityError,
    ChowLiu,
    Constraints,
    DataWarning,
    Fixed,
    Frequency,
    InputError,
    MDLEncoder,
    NaiveBayesClassifier,
    RandomTree,
    TableEncoder,
    TANClassifier,
)
from tanager.classifiers.base import normalize_scores
from tanager.data import ArrayData
from tanager.structure import StructureLearner, StructureResult
from tests.reference.enumeration import marginal
from tests.tolerance import EXACT, assert_close


def categorical_rows(seed=0, n_rows=120, missing=0.0):
    """Strings with a constant column, a rare category and missing cells."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    X = np.empty((n_rows, 4), dtype=object)
    X[:, 0] = np.array(["a", "b", "c"])[(y + random.integers(0, 2, n_rows)) % 3]
    X[:, 1] = np.array(["u", "v"])[random.integers(0, 2, n_rows)]
    X[:, 2] = "same"
    X[:, 3] = np.where(X[:, 0] == "a", X[:, 1], "w")
    X[random.random(X.shape) < missing] = None
    return X, np.array(["x", "y", "z"])[y]


def frame(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list("pqrs"))


# What comes out is what the formula says


def test_naive_bayes_equals_scikit_learn():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 4, (300, 6)), random.integers(0, 3, 300)
    weights = random.random(300)
    ours = NaiveBayesClassifier(encoder="categorical").fit(X, y, weights)
    theirs = CategoricalNB(fit_prior=True).fit(X, y, weights)
    prior = np.array([weights[y == c].sum() + 1 for c in range(3)])
    joint = theirs.predict_joint_log_proba(X) - theirs.class_log_prior_
    joint += np.log(prior / prior.sum())  # ours smooths the prior, too
    assert_close(ours.predict_joint_log_proba(X), joint, EXACT)


@pytest.mark.parametrize("model", [TANClassifier(), NaiveBayesClassifier()])
def test_missing_cells_equal_enumeration(model):
    X, y = categorical_rows(missing=0.2)
    model = clone(model).fit(X, y)
    schema = model.network_.schema
    rows = [["a", None, "same", None], [None] * 4, ["never seen", "u", None, "w"]]
    for row, found in zip(rows, model.predict_proba(rows), strict=True):
        codes = [
            v.code_of(value) for v, value in zip(schema, [*row, None], strict=True)
        ]
        expected = marginal(model.network_, codes, (len(schema) - 1,))
        assert_close(found, expected / expected.sum(), EXACT)


@pytest.mark.parametrize("boosted", [False, True])
def test_unknown_names_fail_before_anything_is_counted(boosted, monkeypatch):
    monkeypatch.setattr(ArrayData, "count", None)  # calling it would fail
    unknown = Constraints(required=[("x0", "x9")])
    model = BayesNetClassifier(structure=ChowLiu(constraints=unknown))
    if boosted:
        model = BoostedClassifier(model)
    with pytest.raises(InputError, match="Unknown variable 'x9'"):
        model.fit([[0, 1], [1, 0]], [0, 1])


def test_nothing_observed_gives_the_prior():
    X, y = categorical_rows()
    model = TANClassifier().fit(X, y)
    prior = model.network_.table("class").values
    assert_close(model.predict_proba([[None] * 4])[0], prior, EXACT)


def test_probabilities_agree_with_each_other():
    X, y = categorical_rows(missing=0.3)
    model = TANClassifier().fit(X, y)
    probabilities = model.predict_proba(X)
    assert_close(probabilities.sum(axis=1), 1.0, EXACT)
    assert_close(np.exp(model.predict_log_proba(X)), probabilities, EXACT)
    best = model.classes_[probabilities.argmax(axis=1)]
    assert np.array_equal(model.predict(X), best)
    row = dict(zip(model.network_.schema.names, X[0], strict=False))
    assert_close(list(model.network_.posterior(row).values()), probabilities[0], EXACT)


def test_impossible_rows_get_the_prior():
    model = NaiveBayesClassifier(parameters=Frequency(alpha=0.0))
    model.fit([["a", "u"], ["b", "v"]], [0, 1])
    with pytest.warns(UserWarning, match="1 of 1 samples have probability zero"):
        assert_close(model.predict_proba([["a", "v"]]), [[0.5, 0.5]], EXACT)
    assert_close(model.predict_proba([["a", "u"]]), [[1.0, 0.0]], EXACT)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_impossible_rows_are_counted_once_a_call(n_jobs):
    model = NaiveBayesClassifier(parameters=Frequency(alpha=0.0), n_jobs=n_jobs)
    model.fit([["a", "u"], ["b", "v"]], [0, 1])
    rows = np.array([["a", "u"], ["a", "v"], ["b", "v"]] * 20_000, dtype=object)
    for ask in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.warns(UserWarning, match="20000 of 60000 samples") as caught:
            ask(rows)
        assert len(caught) == 1
    assert np.isneginf(model.predict_joint_log_proba(rows[1:2])).all()


def test_doubled_rows_equal_weight_two():
    X, y = categorical_rows(missing=0.1)
    one = TANClassifier().fit(X, y, np.full(len(y), 2.0))
    two = TANClassifier().fit(np.concatenate([X, X]), np.concatenate([y, y]))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_rows_of_weight_zero_are_not_there():
    X, y = categorical_rows()
    weights = np.ones(len(y))
    weights[y == "z"] = 0
    model = TANClassifier().fit(X, y, weights)
    assert model.classes_.tolist() == ["x", "y"]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_any_number_of_threads_gives_the_same_bits(n_jobs):
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (30_000, 8)).astype(float)
    X[random.random(X.shape) < 0.05] = np.nan
    y, weights = random.integers(0, 3, 30_000), random.random(30_000)
    model = TANClassifier("categorical", n_jobs=n_jobs).fit(X, y, weights)
    alone = TANClassifier("categorical").fit(X, y, weights)
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))
    assert model.network_.edges == alone.network_.edges


def test_column_permutation_permutes_the_model():
    X, y = categorical_rows(missing=0.1)
    order = [2, 0, 3, 1]
    names = [f"x{j}" for j in order]
    plain = NaiveBayesClassifier().fit(X, y)
    moved = NaiveBayesClassifier().fit(X[:, order], y)
    assert_close(moved.predict_proba(X[:, order]), plain.predict_proba(X), EXACT)
    for j, name in enumerate(names):
        theirs = plain.network_.table(name).values
        assert np.array_equal(moved.network_.table(f"x{j}").values, theirs)


# Inside scikit-learn


def test_grid_search_over_the_parameters_of_parts():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        BayesNetClassifier(
            encoder=TableEncoder(numeric="quantile"),
            structure=ChowLiu(),
            parameters=Frequency(),
        ),
        {
            "structure__root": [0, 2],
            "parameters__alpha": [0.1, 1.0],
            "encoder__numeric": ["mdl", "width"],
        },
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.best_params_) == {
        "structure__root",
        "parameters__alpha",
        "encoder__numeric",
    }


def test_pipelines_and_calibration():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), MDLEncoder(), TANClassifier("categorical")
    )
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    calibrated = CalibratedClassifierCV(TANClassifier(), cv=3).fit(X, y)
    assert_close(calibrated.predict_proba(X).sum(axis=1), 1.0, EXACT)


def test_sample_weight_is_routed():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 0, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = TANClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, y, sample_weight=weights)
    assert pipeline.classes_.tolist() == [1, 2]


def test_transformers_keep_frames():
    X = load_iris(as_frame=True).data
    y = load_iris().target
    encoded = MDLEncoder().set_output(transform="pandas").fit_transform(X, y)
    assert list(encoded.columns) == list(X.columns)


def test_html_representation_shows_the_parts():
    html = BayesNetClassifier(structure=ChowLiu(root="x1"))._repr_html_()
    assert "BayesNetClassifier" in html
    assert "ChowLiu" in html


@pytest.mark.skipif(
    not hasattr(BayesNetClassifier, "set_callbacks"),
    reason="this scikit-learn has no callbacks",
)
def test_callbacks_hear_of_every_stage():
    class Listener:
        def __init__(self):
            self.heard = []

        def setup(self, estimator, context):
            self.heard.append("setup")

        def on_fit_task_begin(self, estimator, context, **_):
            self.heard.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, **_):
            self.heard.append(f"end {context.task_name}")

        def teardown(self, estimator, context):
            self.heard.append("teardown")

    listener = Listener()
    X, y = categorical_rows()
    TANClassifier().set_callbacks(listener).fit(X, y)
    assert listener.heard == [
        "setup",
        "begin fit",
        "begin encode",
        "end encode",
        "begin structure",
        "end structure",
        "begin parameters",
        "end parameters",
        "end fit",
        "teardown",
    ]


def test_class_weights():
    X, y = categorical_rows()
    by_hand = TANClassifier().fit(X, y, np.where(y == "x", 3.0, 1.0))
    by_class = TANClassifier(class_weight={"x": 3.0}).fit(X, y)
    assert np.array_equal(by_class.predict_proba(X), by_hand.predict_proba(X))
    skewed = np.flatnonzero((y != "z") | (np.arange(len(y)) % 5 == 0))
    balanced = TANClassifier(class_weight="balanced").fit(X[skewed], y[skewed])
    assert_close(balanced.network_.table("class").values, 1 / 3, EXACT)
    for wrong in ({"q": 1.0}, {"x": -1.0}, "even", 3):
        with pytest.raises(InputError, match="class_weight"):
            TANClassifier(class_weight=wrong).fit(X, y)


# Incremental learning


@pytest.mark.parametrize(
    "structure",
    [
        "nb",
        "tan",
        Fixed(edges=[("x0", "x1"), ("x3", "x1")]),
        Fixed(edges=[("x0", "class"), ("class", "x1")], class_rooted=False),
    ],
)
def test_batches_equal_one_fit(structure):
    X, y = categorical_rows(missing=0.1)
    order = np.argsort(X[:, 0] == "a", kind="stable")  # "a" comes late, as news
    X, y = X[order], y[order]
    whole = BayesNetClassifier(structure=structure, parameters="fe").fit(X, y)
    parts = BayesNetClassifier(structure=structure)  # "auto" only counts here
    for start in range(0, len(y), 40):
        parts.partial_fit(X[start : start + 40], y[start : start + 40])
    assert parts.network_.schema == whole.network_.schema
    assert parts.network_.edges == whole.network_.edges
    assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_fit_then_partial_fit_goes_on():
    X, y = categorical_rows()
    whole = TANClassifier().fit(X, y)
    parts = TANClassifier().fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_merging_two_fits_equals_one_on_both():
    X, y = categorical_rows(missing=0.1)
    first, second = X[:, 0] != "c", X[:, 0] == "c"
    one, two = (
        TANClassifier().fit(X[first], y[first]),
        TANClassifier().fit(X[second], y[second]),
    )
    merged = one.merge(two)
    whole = TANClassifier().fit(X, y)
    assert merged.network_.schema == whole.network_.schema
    assert np.array_equal(merged.predict_proba(X), whole.predict_proba(X))
    assert merged.partial_fit(X[:3], y[:3]).predict(X).shape == y.shape


def test_merging_needs_the_same_cuts():
    X, y = load_iris(return_X_y=True)
    one, two = (
        TANClassifier().fit(X[::2], y[::2]),
        TANClassifier().fit(X[1::2], y[1::2]),
    )
    with pytest.raises(InputError, match="same cut points"):
        one.merge(two)


def test_merging_needs_a_classifier():
    X, y = categorical_rows()
    with pytest.raises(InputError, match="another fitted BayesNetClassifier, got 3"):
        TANClassifier().fit(X, y).merge(3)


def test_merging_needs_the_same_learners():
    X, y = categorical_rows()
    tree, plain = TANClassifier().fit(X, y), NaiveBayesClassifier().fit(X, y)
    for one, two in ((tree, plain), (plain, tree)):
        with pytest.raises(CapabilityError, match="same structure learner"):
            one.merge(two)


def test_numbers_can_be_merged_from_one_first_batch():
    X, y = load_iris(return_X_y=True)
    start = TANClassifier().fit(X[::3], y[::3])
    one = copy.deepcopy(start).partial_fit(X[1::3], y[1::3])
    whole = copy.deepcopy(one).partial_fit(X[2::3], y[2::3])
    other = TANClassifier(encoder=start.encoder_)
    assert whole.predict(X).shape == one.merge(start).predict(X).shape
    assert other.fit(X, y).score(X, y) > 0.9


def test_declared_classes():
    X, y = categorical_rows()
    known = y == "x"
    model = TANClassifier().partial_fit(X[known], y[known], classes=["x", "y", "z"])
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.predict_proba(X).shape == (len(y), 3)
    model.partial_fit(X[~known], y[~known])
    whole = TANClassifier().fit(X, y)
    assert_close(model.predict_proba(X), whole.predict_proba(X), EXACT)
    before = model.predict_proba(X)
    with pytest.raises(InputError, match=r"not declared: \['q'\]"):
        model.partial_fit([["new", "u", "same", "w"]], ["q"])
    assert np.array_equal(model.predict_proba(X), before)


def test_undeclared_classes_may_come_later():
    X, y = categorical_rows()
    model = TANClassifier().partial_fit(X[y == "y"], y[y == "y"])
    model.partial_fit(X[y != "y"], y[y != "y"])
    whole = TANClassifier().fit(X, y)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))


class RowsOnly(StructureLearner):
    """A structure learner that wants to see rows."""

    def learn(self, data, *, random_state=None):
        assert sum(len(block.labels) for block in data.blocks()) == data.n_samples
        target = len(data.schema) - 1
        from tanager import Structure

        return StructureResult(Structure.class_rooted([()] * (target + 1), target))


def test_learners_that_need_rows_have_no_partial_fit():
    X, y = categorical_rows()
    model = BayesNetClassifier(structure=RowsOnly())
    assert not hasattr(model, "partial_fit")
    model.fit(X, y)
    with pytest.raises(CapabilityError, match="no counts to continue from"):
        model.merge(model)
    with pytest.raises(CapabilityError, match="model files do not know"):
        model.save("never-written.json")


def test_balanced_weights_cannot_be_learned_in_batches():
    X, y = categorical_rows()
    with pytest.raises(InputError, match="balanced"):
        TANClassifier(class_weight="balanced").partial_fit(X, y)


# Tables of every kind


@pytest.mark.parametrize(
    "kind", ["object", "pandas", "polars", "arrow", "list", "dict"]
)
def test_every_kind_of_table_gives_the_same(kind):
    X, y = categorical_rows(missing=0.1)
    plain = TANClassifier().fit(frame(X), y).predict_proba(frame(X))
    table = {"object": X, "list": X.tolist()}.get(kind)
    if kind == "pandas":
        table = frame(X)
    elif kind == "polars":
        table = pytest.importorskip("polars").from_pandas(frame(X))
    elif kind == "arrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(frame(X))
    elif kind == "dict":
        table = {name: X[:, j] for j, name in enumerate("pqrs")}
    model = TANClassifier().fit(table, y)
    assert np.array_equal(model.predict_proba(table), plain)
    assert hasattr(model, "feature_names_in_") == (kind not in ("object", "list"))


def test_the_class_takes_the_name_of_the_target():
    pandas = pytest.importorskip("pandas")
    X, y = categorical_rows()
    model = TANClassifier().fit(frame(X), pandas.Series(y, name="kind"))
    assert model.network_.schema.names[-1] == "kind"
    clash = TANClassifier().fit(frame(X), pandas.Series(y, name="p"))
    assert clash.network_.schema.names[-1] == "p_"


@pytest.mark.parametrize(
    "labels", [[True, False], [1.0, 2.0], [-7, 40_000], ["é", "e"]]
)
def test_labels_of_any_one_type(labels):
    y = np.array(labels)[np.arange(20) % 2]
    model = NaiveBayesClassifier().fit(np.arange(20.0).reshape(-1, 1) % 2, y)
    assert np.array_equal(model.predict([[0.0], [1.0]]), y[:2])
    assert model.classes_.dtype == y.dtype


def test_categories_of_pandas_targets():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["lo", "hi"] * 10, dtype="category", name="level")
    model = NaiveBayesClassifier().fit(pandas.DataFrame({"x": ["a", "b"] * 10}), y)
    assert model.predict(pandas.DataFrame({"x": ["a"]})).tolist() == ["lo"]


# Bad input


GOOD = [["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", 4.0]]


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([], [], None, "0 sample"),
        (np.empty((0, 3)), [], None, "0 sample"),
        (np.empty((3, 0)), [0, 1, 0], None, "0 feature"),
        (GOOD, [1, 1, 1, 1], None, "only one class"),
        (GOOD, [0, 1, 0, None], None, "missing labels"),
        (GOOD, [0.0, 1.0, 0.0, np.nan], None, "missing labels"),
        (GOOD, [0, 1, "a", 1.5], None, "different types"),
        (GOOD, [0, 1], None, "inconsistent numbers of samples"),
        (GOOD, [0, 1, 0, 1], [1, 1, -1, 1], "not negative"),
        (GOOD, [0, 1, 0, 1], [1, 1, np.nan, 1], "finite"),
        (GOOD, [0, 1, 0, 1], [0, 0, 0, 0], "zero for every sample"),
        (GOOD, [0, 1, 0, 1], [1, 1], "2 entries for 4 samples"),
        ([[1.0, np.inf], [1.0, 2.0]], [0, 1], None, "infinity"),
        (GOOD, np.array([0, 1, "a", 1], dtype=object), None, "different types"),
        (GOOD, [0.1, 0.2, 0.3, 0.4], None, "continuous"),
        (GOOD, None, None, "requires y"),
    ],
)
def test_unusable_training_data(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        BayesNetClassifier().fit(X, y, weights)


def test_duplicate_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(InputError, match="'a'"):
        BayesNetClassifier().fit(X, [0, 1])


def test_constant_all_missing_and_rare_are_no_trouble():
    X = [["k", None, 1.0, np.nan], ["k", None, 1.0, np.nan], ["k", None, 1.0, np.nan]]
    model = TANClassifier().fit(X, [0, 1, 1])
    assert_close(model.predict_proba(X)[0], [2 / 5, 3 / 5], EXACT)
    assert model.predict([["other", "new", 5.0, 3.0]]).tolist() == [1]


def test_a_class_with_one_row():
    X, y = categorical_rows()
    y = y.astype(object)
    y[0] = "lonely"
    model = TANClassifier().fit(X, y)
    assert "lonely" in model.classes_
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_other_columns_at_predict_time():
    X, y = categorical_rows()
    model = TANClassifier().fit(frame(X), y)
    assert (model.predict(frame(X)[list("qprs")]) == model.predict(frame(X))).all()
    with pytest.warns(DataWarning, match="lacks the column 'p'.*unseen in fit: 't'"):
        model.predict(frame(X).rename(columns={"p": "t"}))
    with pytest.raises(InputError, match="none of 'p', 'q', 'r', 's'"):
        model.predict(frame(X).add_suffix("2"))
    with pytest.raises(ValueError, match="expecting 4 features"):
        TANClassifier().fit(X, y).predict(X[:, :3])


def test_other_types_at_predict_time():
    model = TANClassifier().fit([[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5)
    with pytest.raises(InputError, match="x0"):
        model.predict([["warm"]])


def test_missing_and_unknown_can_be_errors():
    X, y = categorical_rows()
    strict = TANClassifier(missing="error", unknown="error").fit(X, y)
    with pytest.raises(InputError, match="missing value"):
        strict.predict([["a", None, "same", "w"]])
    with pytest.raises(InputError, match="'q' in row 1"):
        strict.predict([["a", "u", "same", "w"], ["a", "q", "same", "w"]])
    bad = X.copy()
    bad[40, 1] = "q"
    with pytest.raises(InputError, match="row 40"):
        strict.predict(bad)
    with pytest.raises(InputError, match="missing value"):
        TANClassifier(missing="error").fit([[1.0], [np.nan]], [0, 1])
    for argument in ("missing", "unknown"):
        with pytest.raises(InputError, match=argument):
            TANClassifier(**{argument: "ignore"}).fit(X, y)


def test_tables_too_large_are_refused_by_name():
    random = np.random.default_rng(0)
    X = random.integers(0, 2000, (4000, 3))
    y = random.integers(0, 20, 4000)
    model = BayesNetClassifier(
        encoder="categorical", structure=Fixed(edges=[("x0", "x2"), ("x1", "x2")])
    )
    with pytest.raises(ValueError, match=r"family of 'x2'.*cells.*fewer parents"):
        model.fit(X, y)


def test_bad_seeds():
    X, y = categorical_rows()
    with pytest.raises(InputError, match="random_state"):
        BayesNetClassifier(structure=RandomTree(), random_state="x").fit(X, y)
    for seed in (3, np.random.RandomState(3), np.random.default_rng(3), None):
        BayesNetClassifier(structure=RandomTree(), random_state=seed).fit(X, y)


# Copies, threads, processes


def test_pickled_and_saved_models_give_the_same_bits(tmp_path):
    from tanager import load

    X, y = categorical_rows(missing=0.2)
    model = BayesNetClassifier(
        structure=ChowLiu(constraints=Constraints(forbidden=[("x0", "x1")])),
        class_weight={"x": 2.0},
    ).fit(X, y)
    expected = model.predict_proba(X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), expected)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.get_params()["structure"].constraints.forbidden == (("x0", "x1"),)
    with pytest.raises(CapabilityError, match="no counts to continue from"):
        again.partial_fit(X, y)


def _score(model_and_rows):
    model, X = model_and_rows
    return model.predict_proba(X)


def big_rows():
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (30_000, 10)).astype(float)
    X[random.random(X.shape) < 0.05] = np.nan
    return X, random.integers(0, 3, 30_000)


def test_many_threads_may_ask_at_once():
    X, y = big_rows()
    model = TANClassifier("categorical", n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(_score, [(model, X)] * 4))
        fits = list(pool.map(lambda _: clone(model).fit(X, y), range(3)))
    assert all(np.array_equal(result, expected) for result in results)
    assert all(np.array_equal(m.predict_proba(X), expected) for m in fits)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(),
    reason="there is no fork here",
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_do_not_hang():
    X, y = big_rows()
    model = TANClassifier("categorical", n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(_score, [(model, X)] * 2).get(timeout=120)
    assert all(np.array_equal(result, expected) for result in results)


def test_pairs_beyond_the_budget_are_counted_in_batches(monkeypatch):
    X, y = categorical_rows(missing=0.1)
    whole = TANClassifier().fit(X, y)
    monkeypatch.setattr("tanager.data.information.PAIR_BUDGET", 10)
    streamed = TANClassifier().fit(X, y)
    assert np.array_equal(streamed.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(CapabilityError, match="too large to keep"):
        streamed.partial_fit(X, y)


# What must not happen again


def test_a_refused_fit_leaves_the_fitted_model_alone():
    X, y = categorical_rows()
    model = TANClassifier().fit(X, y)
    expected = model.predict_proba(X)
    with pytest.raises(InputError, match="only one class"):
        model.fit(X[:, :2], ["same"] * len(y))
    assert np.array_equal(model.predict_proba(X), expected)


def test_labels_of_another_type_in_later_batches():
    X, y = categorical_rows()
    model = TANClassifier().fit(X, y)
    numbers = np.searchsorted(["x", "y", "z"], y)
    with pytest.raises(InputError, match="different types"):
        model.partial_fit(X, numbers)
    with pytest.raises(InputError, match="different types"):
        model.merge(TANClassifier().fit(X, numbers))
    with pytest.raises(InputError, match="missing labels"):
        TANClassifier().partial_fit(X, y, classes=["x", "y", "z", None])
    for empty in ([], np.array([])):
        with pytest.raises(InputError, match="classes is empty"):
            TANClassifier().partial_fit(X, y, classes=empty)


def test_columns_without_values_in_the_first_batch():
    X = np.array([["a", None], ["b", None], ["a", "u"], ["b", "v"]], dtype=object)
    y = [0, 1, 0, 1]
    whole = TANClassifier().fit(X, y)
    parts = TANClassifier().partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    assert parts.network_.schema == whole.network_.schema
    merged = TANClassifier().fit(X[:2], y[:2]).merge(TANClassifier().fit(X[2:], y[2:]))
    assert np.array_equal(merged.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(InputError, match="had no value in the first batch"):
        TANClassifier().partial_fit(X[:2], y[:2]).partial_fit([["a", 1.5]], [0])


def test_ordered_states_keep_an_order():
    pandas = pytest.importorskip("pandas")

    def rows(values, order):
        levels = pandas.Categorical(values, categories=order, ordered=True)
        return pandas.DataFrame({"level": levels})

    model = TANClassifier().partial_fit(rows(["lo", "hi"], ["lo", "hi"]), [0, 1])
    model.partial_fit(rows(["mid"], ["lo", "mid", "hi"]), [0])
    assert model.network_.schema[0].states == ("lo", "mid", "hi")
    with pytest.raises(InputError, match="has no place"):
        model.partial_fit(rows(["top"], ["top", "lo"]), [0])


def test_bytes_and_states_far_from_bytes():
    random = np.random.default_rng(0)
    for low in (300, -5):
        X = random.integers(low, low + 3, (50, 2))
        model = NaiveBayesClassifier("categorical").fit(X, X[:, 0] > low)
        found = model.predict_proba(np.zeros((20, 2), dtype=np.uint8))
        assert_close(
            found, model.predict_proba([[np.nan, np.nan]]).repeat(20, 0), EXACT
        )


def test_wide_variables_with_missing_cells():
    random = np.random.default_rng(0)
    for n_states in (254, 255, 256, 300):
        X = np.arange(2 * n_states).reshape(-1, 1) % n_states
        y = random.integers(0, 2, len(X))
        model = NaiveBayesClassifier("categorical").fit(X, y)
        holes = X.astype(float)
        holes[::3] = np.nan
        found = model.predict_proba(holes)
        assert_close(found[::3], found[:1].repeat(len(found[::3]), 0), EXACT)
        assert np.array_equal(found[1], model.predict_proba(X)[1])


def test_a_rare_class_may_be_absent_from_weighted_batches():
    X, y = categorical_rows()
    model = TANClassifier(class_weight={"x": 2.0, "rare": 5.0}).fit(X, y)
    plain = TANClassifier(class_weight={"x": 2.0}).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_weights_that_sum_to_one_are_relative():
    X, y = load_iris(return_X_y=True)
    plain = TANClassifier().fit(X, y)
    relative = TANClassifier().fit(X, y, np.full(len(y), 1 / len(y)))
    assert relative.network_.schema == plain.network_.schema
    assert relative.network_.edges == plain.network_.edges
    assert_close(relative.predict_proba(X), plain.predict_proba(X), EXACT)


def test_weights_of_another_small_total_are_warned_of():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="number of samples"):
        TANClassifier().fit(X, y, np.full(len(y), 0.5 / len(y)))


@pytest.mark.parametrize("model", [TANClassifier(), NaiveBayesClassifier("width")])
def test_boosting_by_scikit_learn(model):
    X, y = load_iris(return_X_y=True)
    boost = AdaBoostClassifier(model, n_estimators=5, random_state=0)
    weights = np.arange(len(y)) % 3 + 1.0
    boost.fit(X, y, sample_weight=weights)
    assert boost.score(X, y) >= model.fit(X, y).score(X, y)
    # The first member has the frequencies of the weighted rows, not of one row.
    prior = boost.estimators_[0].network_.table("class").values
    expected = np.bincount(y, weights * (len(y) / weights.sum())) + 1
    assert_close(prior, expected / expected.sum(), EXACT)


def test_constraints_fail_before_any_work(monkeypatch):
    X, y = categorical_rows()

    def never(*_, **__):
        raise AssertionError("rows were encoded")

    monkeypatch.setattr(TableEncoder, "fit_encode", never)
    for structure in (
        ChowLiu(constraints=Constraints(tiers=[["nobody"]])),
        Fixed(edges=[("x0", "nobody")]),
    ):
        with pytest.raises(InputError, match="Unknown variable 'nobody'"):
            BayesNetClassifier(structure=structure).fit(X, y)


def test_column_permutation_permutes_a_tree():
    X, y = categorical_rows(missing=0.1)
    order = [3, 0, 2, 1]
    plain = BayesNetClassifier(structure=ChowLiu(root="p")).fit(frame(X), y)
    moved = BayesNetClassifier(structure=ChowLiu(root="p"))
    moved.fit(frame(X)[[*("pqrs"[j] for j in order)]], y)
    assert set(moved.network_.edges) == set(plain.network_.edges)
    found = moved.predict_proba(frame(X)[[*("pqrs"[j] for j in order)]])
    assert_close(found, plain.predict_proba(frame(X)), EXACT)


def test_blocks_equal_the_whole_in_predictions():
    X, y = big_rows()
    model = TANClassifier("categorical").fit(X, y)
    whole = model.predict_proba(X)
    parts = [model.predict_proba(X[a : a + 999]) for a in range(0, len(X), 999)]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 30])
def test_normalize_scores(n_classes):
    scores = 300.0 * np.random.default_rng(0).normal(size=(40, n_classes))
    scores[3, 1:] = -np.inf
    before = scores.copy()
    found = normalize_scores(scores)
    np.testing.assert_allclose(found, softmax(scores, axis=1), rtol=1e-15)
    np.testing.assert_array_equal(scores, before)
    assert found.flags.c_contiguous
