from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tanager.inference.merged_tables import MergedTables
from tanager.model import FamilyLayout
from tests.strategies import generators, random_codes, random_schema, random_structure
from tests.tolerance import assert_close


@given(random=generators(), n_features=st.integers(1, 8), parents=st.integers(0, 3))
def test_collecting_is_the_transpose_of_spreading(random, n_features, parents):
    schema = random_schema(random, n_features)
    structure = random_structure(random, schema, max_parents=parents)
    layout = FamilyLayout.of_structure(schema, structure)
    merged = MergedTables.of(layout)
    values = random.normal(size=layout.n_cells)
    gradient = random.normal(size=merged.n_out)
    spread, collected = merged.apply(values), merged.adjoint(gradient)
    assert spread.shape == (merged.n_out,)
    assert collected.shape == (layout.n_cells,)
    scale = np.linalg.norm(spread) * np.linalg.norm(gradient) + 1.0
    assert_close(spread @ gradient / scale, values @ collected / scale)


@given(random=generators(), n_features=st.integers(1, 6))
def test_a_row_reads_the_sum_of_its_cells(random, n_features):
    schema = random_schema(random, n_features)
    structure = random_structure(random, schema, max_parents=2)
    layout = FamilyLayout.of_structure(schema, structure)
    merged = MergedTables.of(layout)
    values = random.normal(size=layout.n_cells)
    spread = merged.apply(values)
    row = random_codes(random, schema, 1, missing=0.3)[0].astype(int)
    for c in range(schema.n_classes):
        states = [*row.tolist(), c]
        expected = sum(
            layout.table(values, t)[tuple(states[v] for v in layout.axes[t])]
            for t in range(layout.n_tables)
            if all(states[v] < layout.n_states[v] for v in layout.axes[t])
        )
        found = 0.0
        for t, offset in enumerate(merged.offsets):
            axes = slice(merged.start[t], merged.start[t + 1])
            codes = row[merged.axis_variable[axes]]
            found += spread[offset + codes @ merged.axis_stride[axes] + c]
        assert_close(found, expected)
