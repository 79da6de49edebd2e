"""`NumericSummary`: exact up to a number of distinct values, then within a bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager.encoding import EqualWidthEncoder, MDLEncoder, QuantileEncoder
from tanager.encoding.numeric_summary import NumericSummary

floats = st.floats(allow_nan=False, allow_infinity=False)


def _same(one, other):
    assert one.level == other.level
    assert (one.n_observed, one.n_missing) == (other.n_observed, other.n_missing)
    for name in ("low", "high", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(st.lists(floats, min_size=1, max_size=60), st.integers(2, 20), st.data())
def test_a_function_of_the_values_alone(values, max_cells, data):
    """Any order, any batches, any grouping: the same bits."""
    array = np.array(values)
    whole = NumericSummary.of(array, max_cells=max_cells)
    mixed = np.array(data.draw(st.permutations(values)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    parts = [
        NumericSummary.of(part, max_cells=max_cells) for part in np.split(mixed, cuts)
    ]
    left = parts[0]
    for part in parts[1:]:
        left = left + part
    right = parts[-1]
    for part in reversed(parts[:-1]):
        right = part + right
    _same(left, whole)
    _same(right, whole)
    # By the definition: cells at the least level that has few enough of them.
    distinct = np.unique(array + 0.0)
    level = 0
    while len(np.unique(distinct.view(np.int64) >> level)) > max_cells:
        level += 1
    assert whole.level == level
    keys = distinct.view(np.int64) >> level
    cells = [distinct[keys == key] for key in dict.fromkeys(keys.tolist())]
    assert whole.low.tolist() == [cell.min() for cell in cells]
    assert whole.high.tolist() == [cell.max() for cell in cells]
    expected = [int(np.isin(array + 0.0, cell).sum()) for cell in cells]
    assert whole.counts[:, 0].tolist() == expected
    assert whole.is_exact == (len(distinct) <= max_cells)
    if not whole.is_exact:
        assert len(whole.low) >= max_cells / 2


DISTRIBUTIONS = {
    "normal": lambda r, n: r.normal(size=n),
    "time stamps": lambda r, n: 1.7e9 + r.uniform(0, 3e7, n),
    "lognormal": lambda r, n: r.lognormal(0, 3, n),
    "many zeros": lambda r, n: np.where(r.random(n) < 0.7, 0, r.exponential(size=n)),
    "narrow and wide": lambda r, n: np.where(
        r.random(n) < 0.9, 1 + 1e-6 * r.random(n), r.normal(0, 100, n)
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("max_cells", [256, 4096])
def test_quantiles_within_the_bound(name, max_cells):
    random = np.random.default_rng(0)
    values = DISTRIBUTIONS[name](random, 60_000)
    parts = np.split(values, [1000, 1001, 30_000])
    summary = NumericSummary.of(parts[0], max_cells=max_cells)
    for part in parts[1:]:
        summary = summary + NumericSummary.of(part, max_cells=max_cells)
    assert not summary.is_exact
    ordered = np.sort(values)
    encoder = QuantileEncoder(n_bins=20)
    cuts = summary.find_cuts(encoder)
    distinct = np.unique(values)
    # Every cut lies halfway between two neighbouring values.
    place = np.searchsorted(distinct, cuts)
    np.testing.assert_array_equal(cuts, (distinct[place - 1] + distinct[place]) / 2)
    # Where no value is heavy and no cell is, each cut is near its quantile.
    if name in ("normal", "time stamps", "lognormal"):
        reached = np.searchsorted(ordered, cuts) / len(values)
        bound = summary.rank_error + 1 / len(values)
        assert len(cuts) == 19
        assert np.abs(reached - np.arange(1, 20) / 20).max() <= bound
        assert summary.rank_error < 20 / max_cells
    # The values of a cell differ by less than 2**(level - 52) of their size.
    width = summary.high - summary.low
    size = np.minimum(np.abs(summary.low), np.abs(summary.high))
    assert (width[size > 0] < size[size > 0] * 2.0 ** (summary.level - 52)).all()


def test_the_rank_error_of_a_crowded_cell_is_known():
    values = DISTRIBUTIONS["narrow and wide"](np.random.default_rng(0), 60_000)
    summary = NumericSummary.of(values, max_cells=256)
    assert summary.rank_error > 0.5
    assert NumericSummary.of(values[:100]).rank_error == 0


def test_equal_width_is_always_exact():
    values = np.random.default_rng(0).normal(size=5000)
    summary = NumericSummary.of(values, max_cells=16)
    encoder = EqualWidthEncoder(n_bins=7)
    expected = encoder.find_cuts(values)
    np.testing.assert_array_equal(summary.find_cuts(encoder), expected)


def test_mdl_finds_a_clear_cut_within_one_cell():
    random = np.random.default_rng(0)
    values = random.normal(size=20_000)
    labels = (values > 0.4).astype(np.uint8)
    exact = MDLEncoder().find_cuts(values, labels)
    summary = NumericSummary.of(
        values, labels, n_classes=2, by_class=True, max_cells=500
    )
    cuts = summary.find_cuts(MDLEncoder())
    assert len(exact) == 1
    # Two if the cell at the border has samples of both classes: one on each side.
    assert 1 <= len(cuts) <= 2
    assert (np.abs(cuts - exact[0]) < 2.0 ** (summary.level - 52)).all()


def test_labels_and_weights_are_counted_by_class():
    values = np.array([3.0, np.nan, 1.0, 3.0, -0.0, 0.0])
    labels = np.array([0, 1, 1, 2, 0, 1])  # 2: missing
    weights = np.array([1.0, 2.0, 0.5, 4.0, 1.0, 1.0])
    summary = NumericSummary.of(values, labels, weights, n_classes=2, by_class=True)
    assert summary.low.tolist() == [0.0, 1.0, 3.0]
    assert summary.counts.tolist() == [[1.0, 1.0], [0.0, 0.5], [1.0, 0.0]]
    assert (summary.n_observed, summary.n_missing) == (5, 1)
