"""Synthetic data of published experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.measurements.synthetic_datasets import (
    _random_tree,
    class_trees,
    random_distribution,
    simple_truth,
)
from tanager.datasets import Dataset

MAKERS = {
    "class_trees": lambda seed: class_trees(n_samples=1200, random_state=seed).data,
    "random_distribution": lambda seed: random_distribution(
        n_features=4, n_samples=500, random_state=seed
    )[0],
    "simple_truth": lambda seed: simple_truth(random_state=seed),
}


def bits(data: Dataset, *names: str) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(data.frame[name]).astype(int) for name in names]


@pytest.mark.parametrize("name", MAKERS)
def test_the_seed_decides(name: str) -> None:
    make = MAKERS[name]
    first = make(1).frame
    assert first.equals(make(1).frame)
    assert first.equals(make(np.random.default_rng(1)).frame)
    assert not first.equals(make(2).frame)


def test_class_trees_rows_and_truth() -> None:
    trees = class_trees(n_features=6, n_states=4, n_samples=12000)
    data, parents, tables = trees.data, trees.parents, trees.tables
    label = np.asarray(data.y).astype(int)
    assert data.n_train == 12000
    for part in (slice(None, 12000), slice(12000, None)):
        assert np.bincount(label[part]).tolist() == [0, 4000, 2000, 2000, 2000, 2000]
    np.testing.assert_allclose(tables.sum(axis=-1), 1)
    assert ((parents == -1).sum(axis=1) == 1).all()
    # Each pair of child and parent in class 1 follows its table.
    first = label == 1
    codes = np.column_stack(bits(data, *data.feature_names))[first]
    for j, parent in enumerate(parents[0]):
        if parent < 0:
            found = np.bincount(codes[:, j], minlength=4) / len(codes)
            np.testing.assert_allclose(found, tables[0, j, 2], atol=0.03)
            continue
        for state in range(4):
            given = codes[codes[:, parent] == state, j]
            found = np.bincount(given, minlength=4) / len(given)
            sd = 0.5 / len(given) ** 0.5
            np.testing.assert_allclose(found, tables[0, j, state], atol=5 * sd)


def test_default_size_of_class_trees_is_the_papers() -> None:
    data = class_trees().data
    counts = np.bincount(np.asarray(data.y).astype(int)[: data.n_train])
    assert counts.tolist() == [0, 25000, 12500, 12500, 12500, 12500]


@pytest.mark.numerical
def test_random_trees_are_uniform() -> None:
    rng = np.random.default_rng(0)
    seen: dict[Any, int] = {}
    for _ in range(6000):
        order, parents = _random_tree(3, rng)
        assert parents[order[0]] == -1
        assert all(parents[v] in order[:i] for i, v in enumerate(order) if i)
        key = (order[0], frozenset((p, j) for j, p in enumerate(parents) if p >= 0))
        seen[key] = seen.get(key, 0) + 1
    # Three trees on three nodes, three roots each.
    assert len(seen) == 9
    assert all(abs(count - 6000 / 9) < 5 * (6000 / 9) ** 0.5 for count in seen.values())


@pytest.mark.numerical
def test_random_distribution_follows_its_joint() -> None:
    data, joint = random_distribution(n_features=3, n_states=3, n_samples=100_000)
    assert joint.shape == (2, 3, 3, 3)
    assert joint.sum() == pytest.approx(1)
    found = np.zeros_like(joint)
    np.add.at(found, tuple(bits(data, "class", "X1", "X2", "X3")), 1e-5)
    np.testing.assert_allclose(found, joint, atol=5 * (joint.max() / 1e5) ** 0.5)


@pytest.mark.numerical
def test_simple_truth() -> None:
    data = simple_truth(n_features=7)
    assert [str(v)[0] for v in data.frame["E1"]] == [str(v)[0] for v in data.y]
    weak = simple_truth(correlation=0.8, n_samples=50_000)
    e = np.column_stack([np.asarray(weak.frame[c]) == "+e" for c in weak.feature_names])
    c = np.asarray(weak.y) == "+c"
    found = [np.corrcoef(e[:, j], c)[0, 1] for j in range(6)]
    np.testing.assert_allclose(found, [0.8, 0, 0, 0, 0, 0], atol=0.025)


def test_class_trees_need_equal_classes() -> None:
    with pytest.raises(ValueError, match="must be a multiple of 12"):
        class_trees(n_samples=100)
