from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanager import Frequency, InputError, Schema, TableSizeError, Variable
from tanager.data import ArrayData
from tanager.parameters.base import Smoothing
from tanager.scores.family_tables import change_tables, count_sets, family_of
from tanager.scores.scoring_data import GRID_BITS, ScoringData
from tanager.structure import GreedyKTree, SuperParent
from tests.strategies import generators, random_data

STEP = 2.0**-GRID_BITS


def log_table(rows, train, child, parents, smoothing):
    """Log frequencies, axes (state, class, configuration), from row masks."""
    out = []
    for configuration in product(*(range(rows.widths[p]) for p in parents)):
        alike = train & (rows.codes[child] < rows.n_states[child])
        for p, value in zip(parents, configuration, strict=True):
            if value < rows.n_states[p]:
                alike &= rows.codes[p] == value
        weights = np.ones(len(alike)) if rows.weights is None else rows.weights
        counts = np.array(
            [
                [
                    weights[alike & (rows.codes[child] == b) & (rows.labels == c)].sum()
                    for c in range(rows.n_classes)
                ]
                for b in range(rows.n_states[child])
            ]
        )
        if smoothing.zero > 0:
            total = np.maximum(counts.sum(axis=0), 1e-300)
            counts = np.where(counts > 0, counts / total, smoothing.zero)
        else:
            counts = counts + smoothing.alpha
        mass = counts.sum(axis=0)
        even = np.full(counts.shape, 1 / len(counts))
        theta = np.divide(counts, mass, where=mass > 0, out=even)
        with np.errstate(divide="ignore"):
            out.append(np.maximum(np.log(theta), -100.0))
    return np.stack(out, axis=-1)


@given(
    random=generators(),
    missing=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
    folds=st.sampled_from([None, 2, 3]),
    smoothing=st.sampled_from([(0.0, 1e-5), (0.0, 0.0), (0.5, 0.0)]),
    n_present=st.integers(0, 2),
    n_new=st.integers(0, 2),
)
def test_tables_of_changes_equal_a_direct_computation(
    random, missing, weighted, folds, smoothing, n_present, n_new
):
    data = random_data(random, 40, 5, missing=missing, weighted=weighted, max_states=3)
    rows, smooth = ScoringData.of(data, folds), Smoothing(*smoothing)
    features = random.permutation(5)
    child, present = int(features[0]), features[1 : 1 + n_present].tolist()
    free = features[1 + n_present :].tolist()
    new = np.array([random.permutation(free)[:n_new] for _ in range(3)]).astype(int)
    sets = np.hstack([new.reshape(3, n_new), np.tile(present, (3, 1))]).astype(int)
    tables = change_tables(rows, smooth, family_of(rows, smooth, child, present), sets)
    assert tables.delta.shape[3] == tables.starts[-1]
    for t, of in enumerate(sets.tolist()):
        part = tables.delta[..., tables.starts[t] : tables.starts[t + 1]]
        for fold in range(rows.n_folds):
            train = np.ones(len(rows.labels), dtype=bool)
            if rows.n_folds > 1:
                train = rows.slices != fold
            after = log_table(rows, train, child, of, smooth)
            before = log_table(rows, train, child, present, smooth)
            before = np.tile(before, after.shape[2] // before.shape[2])
            np.testing.assert_allclose(part[fold], after - before, rtol=0, atol=STEP)
    whole = tables.delta / STEP
    assert np.array_equal(whole, np.rint(whole))


@given(random=generators(), missing=st.sampled_from([0.0, 0.3]))
def test_bounds_are_never_too_small(random, missing):
    data = random_data(random, 40, 4, missing=missing)
    rows, smooth = ScoringData.of(data, 2), Smoothing(0.0, 1e-5)
    sets = np.array([[1], [2], [3]])
    tables = change_tables(rows, smooth, family_of(rows, smooth, 0, ()), sets)
    delta, bounds = tables.delta, tables.bounds
    for c in range(rows.n_classes):
        others = np.delete(delta, c, axis=2)
        if rows.n_classes > 1:
            push = others.max(axis=2) - delta[:, :, c]
            assert (bounds.losing[:, :, c] >= push).all()
            assert (bounds.losing[:, :, c] <= push + 1e-6 * abs(push)).all()
            assert np.array_equal(bounds.top[:, :, c], bounds.losing[:, :, c].max(-1))
        lift = (delta - delta[:, :, [c]]).max(axis=-1)
        assert (bounds.lifting[:, :, c] >= lift).all()


def wide_data(n_states, n_features=3):
    random = np.random.default_rng(0)
    features = [Variable(f"f{j}", tuple(range(n_states))) for j in range(n_features)]
    schema = Schema((*features, Variable("class", (0, 1))), target=n_features)
    codes = random.integers(0, n_states, (50, n_features)).astype(np.uint32)
    return ArrayData(schema, codes, random.integers(0, 2, 50).astype(np.uint8))


@pytest.mark.parametrize("learner", [GreedyKTree(), SuperParent(score="bic")])
def test_tables_that_are_too_large_are_refused_by_name(learner):
    data = wide_data(6000)
    with pytest.raises(TableSizeError, match=r"'f0' given the class and \['f1'\]"):
        learner.learn(data)


def test_table_sizes_beyond_whole_numbers_are_refused():
    rows = ScoringData.of(wide_data(2, 5), None)
    rows = replace(rows, n_states=np.full(5, 2**31))
    with pytest.raises(TableSizeError, match="smaller k"):
        count_sets(rows, 0, np.array([[1, 2, 3, 4]]))


def test_smoothing_is_that_of_a_learner():
    assert Frequency(alpha=2).smoothing == Smoothing(2.0, 0.0)
    assert Frequency(alpha=None, zero=1e-5).smoothing == Smoothing(0.0, 1e-5)
    for bad in (Frequency(alpha=-1), Frequency(zero=0), Frequency(zero="a")):
        with pytest.raises(InputError, match="must be"):
            bad.smoothing  # noqa: B018


def test_codes_of_many_states_are_counted():
    """More cells than a byte can number, in the path for one parent."""
    random = np.random.default_rng(0)
    data = random_data(random, 300, 3, max_states=18, n_classes=9)
    rows = ScoringData.of(data, None)
    counts, offsets, _ = count_sets(rows, 1, np.array([[0], [2]]))
    for t, parent in enumerate((0, 2)):
        expected = np.zeros((rows.widths[parent], rows.n_states[1], rows.n_classes))
        np.add.at(expected, (data.codes[:, parent], data.codes[:, 1], data.labels), 1)
        found = counts[offsets[t] : offsets[t + 1]]
        np.testing.assert_array_equal(found, expected.ravel())
