"""Cut points against the references, and what weights and ties do to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tanager.encoding import EqualWidthEncoder, MDLEncoder, QuantileEncoder
from tanager.encoding.numeric_encoders import distinct_counts, midpoints
from tanager.errors import InputError
from tanager.utils.validation import check_weights
from tests.reference import encoding as reference

ENCODERS = [MDLEncoder(), EqualWidthEncoder(n_bins=4), QuantileEncoder(n_bins=5)]


@st.composite
def columns(draw, whole_weights=False):
    """Values with ties, labels, weights: (values, labels, weights or None)."""
    n_rows = draw(st.integers(1, 40))
    n_classes = draw(st.integers(1, 4))
    number = st.integers(-6, 6) if draw(st.booleans()) else st.floats(-3, 3, width=16)
    values = draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    labels = draw(
        st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows)
    )
    weights = None
    if whole_weights or draw(st.booleans()):
        steps = st.integers(0, 4)
        weights = draw(st.lists(steps, min_size=n_rows, max_size=n_rows))
        weights[draw(st.integers(0, n_rows - 1))] = 2
        if not whole_weights:  # quarters are added without rounding
            weights = [w / 4 for w in weights]
    return np.array(values), np.array(labels), weights


def _cuts(encoder, values, labels, weights):
    kept = None if weights is None else np.array(weights, dtype=float)
    return encoder.cuts_of(values, labels, kept).tolist()


@pytest.mark.numerical
@given(columns())
def test_mdl_equals_the_formula(column):
    assert _cuts(MDLEncoder(), *column) == reference.mdl_cuts(*column)


@pytest.mark.numerical
@pytest.mark.parametrize("seed", range(8))
def test_mdl_equals_the_formula_on_larger_columns(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 300)
    values = np.round(labels % 2 + rng.normal(scale=0.7, size=300), 1 + seed % 3)
    weights = rng.integers(0, 3, 300) if seed % 2 else None
    expected = reference.mdl_cuts(values, labels, weights)
    assert expected
    assert _cuts(MDLEncoder(), values, labels, weights) == expected
    if seed % 3 == 0:  # one decimal: the way without sorting gives the same
        tenths = np.round(values * 10).astype(np.int16)
        cuts = _cuts(MDLEncoder(), tenths, labels, weights)
        np.testing.assert_allclose(cuts, np.array(expected) * 10, rtol=1e-12)


@pytest.mark.numerical
@given(columns(whole_weights=True), st.integers(1, 12))
def test_width_and_quantile_equal_the_formula(column, n_bins):
    values, labels, weights = column
    quantile = _cuts(QuantileEncoder(n_bins=n_bins), values, labels, weights)
    assert quantile == reference.quantile_cuts(values, weights, n_bins)
    width = _cuts(EqualWidthEncoder(n_bins=n_bins), values, labels, weights)
    expected = reference.equal_width_cuts(values, weights, n_bins)
    assert width == sorted(set(expected))


@st.composite
def heavy_columns(draw):
    """Distinct values of every magnitude, few of them with large weights."""
    number = st.one_of(
        st.integers(-20, 20),
        st.floats(-1e9, 1e9, allow_subnormal=False),
        st.sampled_from([0.0, 5e-324, 1e300, -1e300]),
    )
    values = draw(st.lists(number, min_size=1, max_size=25, unique=True))
    weights = draw(
        st.lists(
            st.sampled_from([1, 1, 1, 1, 2, 3, 9, 30]),
            min_size=len(values),
            max_size=len(values),
        )
    )
    return np.array(values, dtype=float), weights


@pytest.mark.numerical
@given(heavy_columns(), st.integers(1, 14))
def test_quantile_with_heavy_values_equals_the_formula(column, n_bins):
    values, weights = column
    found = _cuts(QuantileEncoder(n_bins=n_bins), values, None, weights)
    assert found == reference.quantile_cuts(values, weights, n_bins)
    # No bin is wasted, whatever the weights are.
    assert len(found) + 1 == min(n_bins, len(values))


@pytest.mark.parametrize(
    ("values", "n_bins", "cuts"),
    [
        # A heavy value at an end, between others, and several of them.
        ([0] * 90 + [1, 2, 3, 4], 3, [0.5, 2.5]),
        ([1, 2, *[3] * 50, 4, 5], 3, [2.5, 3.5]),
        ([1, 2, *[3] * 50, 4, 5], 4, [1.5, 2.5, 3.5]),
        ([*[1] * 50, 2, 3, *[4] * 9, 5, 6], 4, [1.5, 3.5, 4.5]),
        # A value that is heavy only when a heavier one is set aside.
        ([*[0] * 900, *[5] * 9, *range(10, 30)], 5, [2.5, 7.5, 16.5, 23.5]),
        # Two bins cannot single out a value between others.
        ([1, *[2] * 50, 3], 2, [2.5]),
        ([7] * 5, 4, []),
        ([7, 8], 1, []),
    ],
)
def test_heavy_values_have_bins_of_their_own(values, n_bins, cuts):
    found = QuantileEncoder(n_bins=n_bins).find_cuts(np.array(values))
    assert found.tolist() == cuts


def test_quantile_without_heavy_values_cuts_at_the_quantiles():
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=2000), 2)
    counts = np.unique(values, return_counts=True)[1]
    assert counts.max() <= 2000 / 50
    expected = np.quantile(values, np.arange(1, 50) / 50, method="inverted_cdf")
    above = [values[values > v].min() for v in expected]
    cuts = QuantileEncoder(n_bins=50).find_cuts(values)
    np.testing.assert_allclose(cuts, (expected + above) / 2, atol=1e-15)


@pytest.mark.parametrize("encoder", ENCODERS)
@given(column=columns(whole_weights=True))
def test_whole_weights_equal_repeated_rows(encoder, column):
    values, labels, weights = column
    rows = np.repeat(np.arange(len(values)), weights)
    assert _cuts(encoder, values, labels, weights) == _cuts(
        encoder, values[rows], labels[rows], None
    )


@pytest.mark.parametrize("encoder", ENCODERS)
def test_integers_and_floats_give_the_same_cuts(encoder):
    rng = np.random.default_rng(1)
    values, labels = rng.integers(-50, 50, 400), rng.integers(0, 2, 400)
    labels[values > 7] = 1
    expected = encoder.find_cuts(values, labels)
    assert len(expected) > 0
    for dtype in (np.int8, np.int32, np.float32, np.float64):
        cuts = encoder.find_cuts(values.astype(dtype), labels)
        np.testing.assert_array_equal(cuts, expected)


def test_mdl_lowest_of_equal_cuts_wins():
    # Mirrored classes: the cuts at 4.5 and 8.5 have the same entropy.
    labels = [0] * 4 + [1] * 4 + [0] * 4
    values = np.arange(1, 13)
    assert reference.mdl_cuts(values, labels, None) == _cuts(
        MDLEncoder(), values, np.array(labels), None
    )
    many = np.repeat(labels, 10)
    cuts = MDLEncoder().find_cuts(np.repeat(values, 10), many)
    assert cuts.tolist() == [4.5, 8.5]


def test_mdl_known_cut_and_no_cut():
    # Fayyad-Irani by hand: Ent = 1, E = 0, price (log2(5) + log2(7) - 2) / 6 < 1.
    assert MDLEncoder().find_cuts(np.arange(6.0), [0, 0, 0, 1, 1, 1]).tolist() == [2.5]
    # Ent = 1, best E = 0.811 * 4/4 ... below the price for four alternating rows.
    assert MDLEncoder().find_cuts(np.arange(4.0), [0, 1, 0, 1]).tolist() == []
    # Total weight 1 or less is never cut, however pure the sides.
    assert MDLEncoder().find_cuts(np.arange(2.0), [0, 1], [0.5, 0.5]).tolist() == []


def test_mdl_deep_splits_and_many_classes():
    values = np.repeat(np.arange(3000.0), 40)
    labels = np.repeat(np.arange(3000) % 2, 40)
    assert len(MDLEncoder().find_cuts(values, labels)) == 2999
    assert len(MDLEncoder().find_cuts(values, values.astype(int) // 3)) >= 1


def test_cuts_of_neighbouring_floats_still_separate_them():
    low = np.array([1.0, -1.0, 5e-324])
    high = np.nextafter(low, np.inf)
    cuts = midpoints(low, high)
    assert ((low <= cuts) & (cuts < high)).all()
    huge = np.finfo(np.float64).max
    assert np.isfinite(midpoints(np.array([huge / 2]), np.array([huge]))).all()
    wide = EqualWidthEncoder(n_bins=4).find_cuts(np.array([-huge, huge]))
    assert np.isfinite(wide).all()
    assert len(wide) == 3


def test_integers_beyond_exact_floats():
    values = np.array([2**60, 2**60 + 2**10, -(2**60)])
    assert len(QuantileEncoder(n_bins=3).find_cuts(values)) == 2


def test_distinct_counts_leave_out_values_without_weight():
    values = np.array([3, 1, 3, 2])
    for kind in (np.int64, np.float64):
        distinct, counts = distinct_counts(
            values.astype(kind), [0, 1, 1, 0], [1.0, 2.0, 0.5, 0.0]
        )
        assert distinct.tolist() == [1, 3]
        assert counts.tolist() == [[0, 2], [1, 0.5]]


def test_quantile_with_many_bins_never_repeats_a_cut():
    rng = np.random.default_rng(0)
    cuts = QuantileEncoder(n_bins=100).find_cuts(rng.integers(0, 20, 1000))
    assert cuts.tolist() == [i + 0.5 for i in range(19)]
    smooth = QuantileEncoder().fit(rng.normal(size=(3000, 1)))
    assert len(smooth.cuts_[0]) == 29
    assert (
        np.bincount(
            smooth.transform(rng.normal(size=(3000, 1)))[:, 0].astype(int)
        ).min()
        > 50
    )


@pytest.mark.parametrize("encoder", ENCODERS)
def test_transformer(encoder):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    X[::7, 1] = np.nan
    X[:, 2] = np.nan
    y = np.where(X[:, 0] > 0, "yes", "no")
    fitted = clone(encoder).fit(X, y)
    assert fitted.cuts_[2].tolist() == []
    bins = fitted.transform(X)
    assert bins.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(bins), np.isnan(X))
    outside = fitted.transform([[-1e9, 1e9, 0.0]])
    assert outside[0].tolist() == [0.0, len(fitted.cuts_[1]), 0.0]
    assert fitted.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    for other in (X.astype(np.float32), np.asfortranarray(X)):
        assert np.isnan(fitted.transform(other)[:, 2]).all()


@pytest.mark.parametrize("encoder", ENCODERS)
def test_set_output_gives_named_frames(encoder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 9.0], "b": [1, 2, 2, 1]})
    out = (
        clone(encoder).set_output(transform="pandas").fit_transform(frame, [0, 0, 1, 1])
    )
    assert list(out.columns) == ["a", "b"]


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "3", True, None])
def test_bad_number_of_bins(n_bins):
    for kind in (EqualWidthEncoder, QuantileEncoder):
        with pytest.raises(
            InputError, match="n_bins must be a whole number of at least 1"
        ):
            kind(n_bins=n_bins).fit([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 entries for 2 samples"),
        ([1.0, -1.0], "not negative"),
        ([1.0, float("nan")], "finite"),
        ([0.0, 0.0], "zero for every sample"),
        ([[1.0, 1.0]], "1D array"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InputError, match=message):
        QuantileEncoder().fit([[1.0], [2.0]], sample_weight=weights)


@pytest.mark.parametrize("total", [1.0, 1.0 + 1e-7, 1.0 - 1e-7])
def test_weights_that_sum_to_one_are_relative(total):
    given_weights = np.array([1, 2, 0, 5]) / 8 * total
    weights = check_weights(given_weights, 4)
    np.testing.assert_allclose(weights, np.array([1, 2, 0, 5]) * 3 / 8)
    assert given_weights.sum() == pytest.approx(total)


@pytest.mark.parametrize("weights", [[1, 0, 0], [2, 3, 0], [0.5, 0.5, 1.0]])
def test_other_weights_are_frequencies(weights):
    np.testing.assert_array_equal(check_weights(weights, 3), weights)


@pytest.mark.parametrize("total", [1e-3, 1.0 + 1e-5, 1.9])
def test_a_small_total_is_reported(total):
    with pytest.warns(
        UserWarning, match="Multiply the weights by the number of samples"
    ):
        weights = check_weights(np.full(4, total / 4), 4)
    np.testing.assert_array_equal(weights, total / 4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        ([None, None], "only missing labels"),
        ([float("nan"), float("nan")], "only missing labels"),
        ([0.5, 1.7], "continuous"),
        ([1], "inconsistent numbers of samples"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        MDLEncoder().fit([[1.0], [2.0]], y)
    with pytest.raises(InputError, match="needs the class"):
        MDLEncoder().find_cuts(np.arange(2.0))
