"""A typical margin, by its definition."""

from __future__ import annotations

import numpy as np
import pytest

from tanager import Frequency
from tanager.data import ArrayData
from tanager.inference import engine_for
from tanager.model.structure import Structure
from tanager.parameters import margin_scale
from tanager.parameters.margin_scale import typical_margin
from tests.strategies import random_data
from tests.tolerance import EXACT, assert_close


@pytest.mark.parametrize("at_once", [65536, 7])
def test_the_median_of_all_rows(at_once, monkeypatch):
    monkeypatch.setattr(margin_scale, "SCORED_SAMPLES", at_once)
    data = random_data(np.random.default_rng(0), 40, 3, n_classes=3, missing=0.1)
    naive = Structure.class_rooted([()] * 4, 3)
    tables = Frequency(alpha=1.0).learn(naive, data)
    log_joint = engine_for(tables).log_joint(data.codes)
    sizes = [
        abs(row[label] - max(np.delete(row, label)))
        for row, label in zip(log_joint, data.labels, strict=True)
    ]
    assert_close(typical_margin(data), np.median(sizes), EXACT)


def test_where_there_is_none():
    single = random_data(np.random.default_rng(0), 10, 3, n_classes=1)
    assert typical_margin(single) == 1.0
    data = random_data(np.random.default_rng(0), 10, 3, n_classes=2)
    assert typical_margin(ArrayData(data.schema, data.codes[:0], data.labels[:0])) == 1
    alike = ArrayData(data.schema, data.codes * 0, np.arange(10, dtype=np.uint8) % 2)
    assert typical_margin(alike) == 1.0


def test_weights_are_repetitions():
    random = np.random.default_rng(1)
    data = random_data(random, 40, 3, n_classes=3)
    times = random.integers(0, 4, 40)
    weighted = ArrayData(data.schema, data.codes, data.labels, times.astype(float))
    repeated = data.take(np.repeat(np.arange(40), times))
    assert_close(typical_margin(weighted), typical_margin(repeated), EXACT)
    ones = ArrayData(data.schema, data.codes, data.labels, np.ones(40))
    assert_close(typical_margin(ones), typical_margin(data), EXACT)
