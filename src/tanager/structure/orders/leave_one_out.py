"""Leave-one-out accuracy of the first features of an order, in one pass."""

from __future__ import annotations

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.types import FloatArray, IntArray
from tanager.utils.threads import map_threads


def rates_by_prefix(
    data: CodedData,
    structure: Structure,
    order: IntArray,
    alpha: float = 1.0,
) -> FloatArray:
    """Leave-one-out accuracy with the first 0, 1, ... features of an order.

    The structure is class-rooted, with parents before their children in `order`;
    `alpha` is the pseudo-count of every cell. The result, shape (n_features + 1,), is
    the fraction of the weight that is classified correctly from the counts without the
    sample; ties go to the lowest class.

    Leaving out a sample changes one cell and its total in every CPT, all of its own
    class: only that class is computed again. A sample of weight w above 1 counts w
    times, each time without one copy of itself. A family with a missing member does
    not count. Martinez, Webb, Chen, Zaidi (2016), Scalable learning of Bayesian network
    classifiers (selective KDB).
    """
    from tanager.structure.orders import _leave_one_out_kernels

    counts = data.count(structure.families)
    layout, compiled = counts.layout, counts.layout.compiled
    log_theta = Frequency(alpha=alpha).log_tables(counts)
    # Totals with axes (parents, class), of every table.
    totals = [
        counts.table(t).sum(axis=layout.owner_axis(t)).ravel()
        for t in range(layout.n_tables)
    ]
    row_offsets = np.cumsum([0, *map(len, totals[:-1])], dtype=np.int64)
    all_totals = np.concatenate(totals)

    def correct(block: RowBlock) -> FloatArray:
        out = np.zeros(len(order) + 2)
        _leave_one_out_kernels.correct_by_prefix(
            block.codes.T, block.labels,
            np.empty(0) if block.weights is None else block.weights,
            data.schema.n_states, compiled.n_classes, order, compiled.offsets,
            compiled.start, compiled.axis_variable, compiled.axis_stride, row_offsets,
            counts.values, all_totals, log_theta, float(alpha), out,
        )  # fmt: skip
        return out

    sums = np.sum(map_threads(correct, data.blocks(), data.n_jobs), axis=0)
    weight = float(sums[-1])
    rates: FloatArray = sums[:-1] / (weight if weight > 0 else 1.0)
    return rates
