import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.compare import Results
from tanager.errors import InputError
from tests.reference import compare as reference
from tests.tolerance import EXACT, assert_close

SCORES = {
    ("iris", "NB"): [0.90, 0.94, 0.95],
    ("iris", "TAN"): [0.92, 0.96, 0.94],
    ("wine", "NB"): [0.98, 0.96],
    ("wine", "TAN"): [0.97, 0.95],
}


@st.composite
def tables(draw):
    """Scores by dataset and method, from few values so that there are ties."""
    n_sets, n_methods = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    value = st.sampled_from([0.1, 0.2, 0.3, 0.7, 0.15, 0.25])
    rows = draw(
        st.lists(
            st.lists(value, min_size=n_methods, max_size=n_methods),
            min_size=n_sets,
            max_size=n_sets,
        )
    )
    return rows


def from_table(rows, **keywords):
    return Results.from_mapping(
        {
            (f"dataset {r}", f"m{k}"): v
            for r, row in enumerate(rows)
            for k, v in enumerate(row)
        },
        **keywords,
    )


def test_means_deviations_and_averages_by_the_formula():
    results = Results.from_mapping(SCORES, sizes={"wine": 178, "iris": 150})
    for r, name in enumerate(results.datasets):
        for k, method in enumerate(results.methods):
            own = SCORES[name, method]
            assert_close(results.means()[r, k], reference.mean(own), EXACT)
            expected = math.sqrt(reference.variance(own))
            assert_close(results.deviations()[r, k], expected, EXACT)
    nb, tan = 2.79 / 3, 2.82 / 3
    assert_close(results.average(), [(nb + 0.97) / 2, (tan + 0.96) / 2], EXACT)
    by_rows = [(150 * nb + 178 * 0.97) / 328, (150 * tan + 178 * 0.96) / 328]
    assert_close(results.average(weighted=True), by_rows, EXACT)


def test_a_single_split_has_the_binomial_deviation():
    results = Results.from_mapping({("a", "x"): 0.9, ("b", "x"): 0.8})
    assert np.isnan(results.deviations()).all()
    found = results.deviations({"b": 100})
    assert np.isnan(found[0, 0])
    assert_close(found[1, 0], 0.04, EXACT)


@given(tables(), st.booleans())
def test_ranks_by_the_formula(rows, higher):
    found = from_table(rows, higher_is_better=higher).ranks()
    assert_close(found, [reference.ranks(row, higher) for row in rows], EXACT)
    assert_close(found.sum(axis=1), len(rows[0]) * (len(rows[0]) + 1) / 2, EXACT)


def test_means_that_are_equal_to_machine_precision_tie():
    orders = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]]
    assert len({np.mean(order) for order in orders}) > 1
    scores = {("a", f"m{k}"): order for k, order in enumerate(orders)}
    scores |= {("b", "m0"): 0.3, ("b", "m1"): 0.1 + 0.2, ("b", "m2"): 0.3}
    results = Results.from_mapping(scores)
    assert (results.ranks() == 2).all()
    assert (results.differences("m0", "m1") == 0).all()


def test_rounding_leaves_scores_of_every_size_apart():
    for size in (1e-30, 1e-9, 1.0, 1e9, 1e30):
        results = from_table([[size, size * (1 + 1e-9)], [0.0, size]])
        assert_close(results.ranks(), [[2, 1], [2, 1]], EXACT)
        assert (results.differences("m1", "m0") > 0).all()


def test_differences_are_positive_for_the_better():
    higher = Results.from_mapping(SCORES)
    lower = Results.from_mapping(SCORES, higher_is_better=False)
    assert_close(higher.differences("TAN", "NB"), [0.01, -0.01], EXACT)
    assert_close(lower.differences("TAN", "NB"), [-0.01, 0.01], EXACT)
    folds = higher.fold_differences("NB", "TAN")
    assert_close(folds[0], [-0.02, -0.02, 0.01], EXACT)
    assert_close(lower.fold_differences("NB", "TAN")[0], -folds[0], EXACT)


def long_form():
    rows = []
    for (name, method), scores in SCORES.items():
        for fold, score in enumerate(scores):
            rows.append(
                {"data": name, "model": method, "fold": fold, "accuracy": str(score)}
            )
    return rows


def same(a, b):
    assert set(a.methods) == set(b.methods)
    a = a.select(b.methods, b.datasets)
    assert all((x == y).all() for x, y in zip(a.values, b.values, strict=True))


def test_columns_and_rows_give_the_same_results():
    expected = Results.from_mapping(SCORES)
    rows = long_form()
    same(Results.from_rows(rows), expected)
    # With folds named, the order of the rows does not matter, but that of iris' first
    # method is the order of its folds.
    shuffled = rows[:3] + rows[3:6][::-1] + rows[6:]
    same(Results.from_rows(shuffled, fold="fold"), expected)
    same(Results.from_rows(shuffled, fold=["data", "fold"]), expected)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, ["data", "model", "fold", "accuracy"])
    writer.writeheader()
    writer.writerows(rows)
    buffer.seek(0)
    same(Results.from_rows(csv.DictReader(buffer), fold="fold"), expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_data_frame(library):
    frame = pytest.importorskip(library).DataFrame(long_form())
    found = Results.from_columns(
        frame["data"], frame["model"], frame["accuracy"], frame["fold"]
    )
    same(found, Results.from_mapping(SCORES))


def test_select():
    results = Results.from_mapping(SCORES, sizes={"iris": 150, "wine": 178})
    part = results.select(["TAN"], ["wine"])
    assert (part.methods, part.datasets, part.sizes) == (("TAN",), ("wine",), (178,))
    assert_close(part.means(), [[0.96]], EXACT)
    same(results.select(), results)
    with pytest.raises(InputError, match=r"Unknown method 'TAM'\. Did you mean 'TAN'"):
        results.select(["TAM"])
    with pytest.raises(InputError, match="Unknown dataset 'win'"):
        results.select(datasets=["win"])


def test_values_are_copies_that_cannot_be_changed():
    own = np.array([0.5, 0.6])
    results = Results.from_mapping({("a", "x"): own})
    own[0] = 0.0
    assert results.values[0][0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        results.values[0][0, 0] = 1.0


@pytest.mark.parametrize(
    ("scores", "keywords", "message"),
    [
        ({}, {}, "There is no method"),
        ({"a": [1]}, {}, r"Keys must be pairs \(dataset, method\), got 'a'"),
        ({("a", 1): [1]}, {}, "Names of methods must be text, got 1"),
        ({("a", "x"): []}, {}, "'x' on dataset 'a' have the shape"),
        ({("a", "x"): [[1, 2]]}, {}, r"have the shape \(1, 2\)"),
        ({("a", "x"): ["much"]}, {}, "are not all numbers: .*much"),
        ({("a", "x"): [1, 2], ("a", "y"): [1]}, {}, "of folds: 'x' 2, 'y' 1"),
        (
            {("a", "x"): [1], ("b", "y"): [1]},
            {},
            r"2 of 4 pairs .* no scores: \('a', 'y'\), \('b', 'x'\)",
        ),
        ({("a", "x"): [1, math.nan]}, {}, "score nan in fold 2 of dataset 'a'"),
        ({("a", "x"): [1, math.inf]}, {}, "score inf in fold 2"),
        ({("a", "x"): [1] * 3}, {"n_repeats": 2}, "3 values, which are not 2 rep"),
        ({("a", "x"): [1]}, {"n_repeats": 0}, "n_repeats must be a whole number"),
        ({("a", "x"): [1]}, {"sizes": {}}, "sizes has no number of samples for 'a'"),
        ({("a", "x"): [1]}, {"sizes": {"a": 1, "b": 2}}, "Unknown dataset 'b'"),
        ({("a", "x"): [1]}, {"sizes": {"a": 1.5}}, "size of dataset 'a' must be a wh"),
        ({("a", "x"): [1]}, {"higher_is_better": "no"}, "must be True or False"),
    ],
)
def test_bad_scores(scores, keywords, message):
    with pytest.raises(InputError, match=message):
        Results.from_mapping(scores, **keywords)


def test_bad_columns():
    with pytest.raises(InputError, match="have 2, 1, 1 rows"):
        Results.from_columns(["a", "a"], ["x"], [1])
    with pytest.raises(InputError, match="'x' has two scores in fold 1 of dataset"):
        Results.from_columns(["a", "a"], ["x", "x"], [1, 2], [1, 1])
    with pytest.raises(InputError, match=r"'y' does not have the folds .*: 1, 2"):
        Results.from_columns(["a", "a"], ["x", "y"], [1, 2], [1, 2])
    with pytest.raises(InputError, match=r"Unknown column 'model'\. Did you .* 'modl'"):
        Results.from_rows([{"data": "a", "modl": "x", "accuracy": 1}])


def test_bad_arrays():
    one = np.ones((1, 2))
    with pytest.raises(InputError, match=r"shape \(1, 2\); expected \(2, number"):
        Results(("x", "y"), ("a",), (one,))
    with pytest.raises(InputError, match="2 datasets, but values of 1"):
        Results(("x",), ("a", "b"), (one,))
    with pytest.raises(InputError, match="method 'x' is there twice"):
        Results(("x", "x"), ("a",), (np.ones((2, 2)),))
    with pytest.raises(InputError, match="1 datasets, but 2 sizes"):
        Results(("x",), ("a",), (one,), sizes=(1, 2))


def test_bad_questions():
    results = Results.from_mapping(SCORES)
    with pytest.raises(
        InputError, match="needs the number of samples of every dataset"
    ):
        results.average(weighted=True)
    with pytest.raises(InputError, match="Unknown method 'SVM'"):
        results.differences("NB", "SVM")
    with pytest.raises(InputError, match="Unknown dataset 'glass'"):
        results.deviations({"glass": 10})
    with pytest.raises(InputError, match="'wine' has 2 values; test_rows is for a sin"):
        results.deviations({"wine": 10})
    percent = Results.from_mapping({("a", "x"): 90.0})
    with pytest.raises(InputError, match="'a' has 90; divide percentages by 100"):
        percent.deviations({"a": 10})
    with pytest.raises(InputError, match="test_rows of dataset 'a' must be a whole"):
        percent.deviations({"a": 0})
