"""Kernels of factor fits: histograms over samples, and Newton steps of one factor.

`codes` is given transposed, shape (n_features, n_samples), each row contiguous. A
factor is given by its `features` and a `lookup`, shape (n_axes, widest): the cell of
sample m is the sum over the axes a of ``lookup[a, codes[features[a], m]]``. The passes
have them as a pair `old` for the factor that has changed and a pair `new` for the next
one; no features means no factor. A pass gets all samples and the range `rows` that it
works on, start and stop: arrays cut to that range would not be contiguous, and numba
would compile the kernel once more for them. The inner loops index flat arrays: rows of
matrices as arrays of their own would count references, and halve the speed.
"""

from __future__ import annotations

import numpy as np

from tanager.loglinear.numpy_passes import HIGHEST, LOWEST, ONE
from tanager.utils.jit import inlined, kernel

BLOCK = 512
"""Samples whose cells are found at a time; they stay in the nearest cache."""

FEW_CELLS = 64
LANES = 4
"""Up to so many cells, samples add to so many histograms in turn: an addition to the
cell of the sample before has to wait for it."""


@kernel
def find_cells(codes, features, lookup, begin, size, cells):
    """Write the cells of samples begin .. begin + size - 1 to `cells`."""
    column = codes[features[0], begin : begin + size]
    place = lookup[0]
    for m in range(size):
        cells[m] = place[np.uint64(column[m])]
    for a in range(1, features.shape[0]):
        column = codes[features[a], begin : begin + size]
        place = lookup[a]
        for m in range(size):
            cells[m] += place[np.uint64(column[m])]


@kernel
def two_class_pass(odds, labels, weights, codes, rows, old, scale, new, sums):
    """Multiply odds by the change of one factor, and sum residuals for the next one.

    `odds`, shape (n_samples, 1), are those of class 1; `scale`, (n_old_cells, 1), is
    exp(change). Adds ``w (y - p)`` and ``w p (1 - p)`` to the two columns of `sums`,
    shape (n_cells, 2).
    """
    old_features, old_lookup = old
    features, lookup = new
    cells = np.empty(BLOCK, dtype=np.int64)
    residuals = np.empty(BLOCK, dtype=np.float32)
    curvatures = np.empty(BLOCK, dtype=np.float32)
    width = 2 * sums.shape[0]
    n_lanes = LANES if sums.shape[0] <= FEW_CELLS else 1
    lanes = np.zeros(n_lanes * width)
    for begin in range(rows[0], rows[1], BLOCK):
        size = min(BLOCK, rows[1] - begin)
        # Views, since begin + m might be negative for all that the compiler knows.
        block = odds[begin : begin + size]
        own_labels = labels[begin : begin + size]
        own_weights = weights[begin : begin + size]
        if old_features.shape[0] > 0:
            find_cells(codes, old_features, old_lookup, begin, size, cells)
            for m in range(size):
                value = block[m, 0] * scale[np.uint64(cells[m]), 0]
                block[m, 0] = min(max(value, LOWEST), HIGHEST)
        if features.shape[0] > 0:
            find_cells(codes, features, lookup, begin, size, cells)
            # Apart from the loop with the histogram, this one is vectorised.
            for m in range(size):
                p = block[m, 0] / (ONE + block[m, 0])
                residuals[m] = own_weights[m] * (np.float32(own_labels[m]) - p)
                curvatures[m] = own_weights[m] * p * (ONE - p)
            for m in range(size):
                place = np.uint64(2 * cells[m] + (m & (n_lanes - 1)) * width)
                lanes[place] += residuals[m]
                lanes[place + np.uint64(1)] += curvatures[m]
    for i in range(sums.shape[0]):
        for lane in range(n_lanes):
            sums[i, 0] += lanes[lane * width + 2 * i]
            sums[i, 1] += lanes[lane * width + 2 * i + 1]


@kernel
def multi_class_pass(posterior, weights, codes, rows, old, scale, new, sums):
    """Do what `two_class_pass` does for K classes, but for the labels.

    `posterior` and `scale` have K columns, `sums` has 2 K: the sums of ``w p_c``, then
    those of ``w p_c^2``. Labels do not change from pass to pass: counting them once
    (`count_classes`) makes this pass up to twice as fast.
    """
    n_classes = posterior.shape[1]
    old_features, old_lookup = old
    features, lookup = new
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(rows[0], rows[1], BLOCK):
        size = min(BLOCK, rows[1] - begin)
        # Every loop over classes reads what none just before it has written: waiting
        # for such values takes longer than computing them again.
        if old_features.shape[0] > 0:
            find_cells(codes, old_features, old_lookup, begin, size, cells)
            for m in range(size):
                row = posterior[begin + m]
                factor = scale[np.uint64(cells[m])]
                total = np.float32(0.0)
                for c in range(n_classes):
                    total += row[c] * factor[c]
                inverse = ONE / total
                for c in range(n_classes):
                    row[c] = row[c] * factor[c] * inverse + LOWEST
        if features.shape[0] > 0:
            find_cells(codes, features, lookup, begin, size, cells)
            for m in range(size):
                row = posterior[begin + m]
                weight = weights[begin + m]
                into = sums[np.uint64(cells[m])]
                for c in range(n_classes):
                    into[c] += weight * row[c]
                for c in range(n_classes):
                    into[n_classes + c] += weight * row[c] * row[c]


@kernel
def score_factors(moments, codes, features, bins, starts, n_bins, limits, out):
    """Write the score statistic of every candidate, a row of `features`, to `out`.

    `moments`, shape (n_samples, 2 * n_columns), are residuals and variances of the
    samples. Code i of feature j is in bin ``bins[starts[j] + i]`` of ``n_bins[j]``.
    With sums R and V of the moments in a cell the statistic is the sum over cells and
    columns of ``(R^2 - limits[1] V) / (V + limits[0])``.
    """
    n_candidates, n_axes = features.shape
    n_samples, width = moments.shape
    n_columns = width // 2
    n_cells = np.ones(n_candidates, dtype=np.int64)
    for q in range(n_candidates):
        for a in range(n_axes):
            n_cells[q] *= n_bins[features[q, a]]
    values = moments.reshape(moments.size)
    sums = np.empty(n_cells.max() * width)
    cells = np.empty(BLOCK, dtype=np.int64)
    for q in range(n_candidates):
        sums[: n_cells[q] * width] = 0.0
        for begin in range(0, n_samples, BLOCK):
            size = min(BLOCK, n_samples - begin)
            cells[:] = 0
            for a in range(n_axes):
                column = codes[features[q, a]]
                first = starts[features[q, a]]
                n_here = n_bins[features[q, a]]
                for m in range(size):
                    place = bins[first + column[begin + m]]
                    cells[m] = cells[m] * n_here + place
            for m in range(size):
                i = (begin + m) * width
                j = cells[m] * width
                for c in range(width):
                    sums[np.uint64(j + c)] += values[np.uint64(i + c)]
        total = 0.0
        for i in range(n_cells[q]):
            for c in range(n_columns):
                residual = sums[i * width + c]
                variance = sums[i * width + n_columns + c]
                excess = residual * residual - limits[1] * variance
                total += excess / (variance + limits[0])
        out[q] = total


@kernel
def count_classes(labels, weights, codes, rows, new, counts):
    """Add the weight of every sample to `counts`, (n_cells, K), of cell and class."""
    features, lookup = new
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(rows[0], rows[1], BLOCK):
        size = min(BLOCK, rows[1] - begin)
        find_cells(codes, features, lookup, begin, size, cells)
        for m in range(size):
            counts[np.uint64(cells[m]), labels[begin + m]] += weights[begin + m]


@kernel
def chain_step(sums, table, diagonal, path, n_ordered, strength, step, variances):
    """Newton step of a factor over one feature, with a tridiagonal penalty.

    Of every column c of `table`, shape (n_cells, n_columns), with gradient g and
    curvature h from `sums`, solves ``(diag(h) + strength S) step = g - strength S w``.
    S has `diagonal` on its diagonal, and `path` times the squared first differences of
    the first `n_ordered` cells. Writes the diagonal of ``(diag(h) + strength S)^-1``
    to `variances`, unless it has no rows. Returns ``tr((diag(h) + strength S)^-1 S)``,
    summed over the columns, 0 without variances.
    """
    n_cells, n_columns = table.shape
    pivot = np.empty((n_cells, n_columns))
    ratio = np.zeros((n_cells, n_columns))
    pull = strength * path
    # All columns of a cell before the next cell: their operations are independent.
    for i in range(n_cells):
        ridge = diagonal[i]
        for c in range(n_columns):
            w = table[i, c]
            pivot[i, c] = sums[i, n_columns + c] + strength * ridge
            step[i, c] = sums[i, c] - strength * ridge * w
    for i in range(n_ordered - 1):
        for c in range(n_columns):
            difference = table[i + 1, c] - table[i, c]
            pivot[i, c] += pull
            pivot[i + 1, c] += pull
            step[i, c] += pull * difference
            step[i + 1, c] -= pull * difference
    # L D L' of the tridiagonal matrix; the other cells have no neighbours.
    for i in range(1, n_ordered):
        for c in range(n_columns):
            part = pull / pivot[i - 1, c]
            ratio[i, c] = part
            pivot[i, c] -= part * pull
            step[i, c] += part * step[i - 1, c]
    for i in range(n_cells - 1, -1, -1):
        for c in range(n_columns):
            step[i, c] /= pivot[i, c]
        if i < n_ordered - 1:
            for c in range(n_columns):
                step[i, c] += ratio[i + 1, c] * step[i + 1, c]
    trace = 0.0
    if variances.shape[0] > 0:
        effective = 0.0  # tr((diag(h) + strength S)^-1 diag(h))
        for i in range(n_cells - 1, -1, -1):
            for c in range(n_columns):
                value = 1.0 / pivot[i, c]
                if i < n_ordered - 1:
                    value += ratio[i + 1, c] * ratio[i + 1, c] * variances[i + 1, c]
                variances[i, c] = value
                effective += value * sums[i, n_columns + c]
        trace = (n_cells * n_columns - effective) / strength
    return trace


@inlined
def multiply_penalty(x, diagonal, shape, n_ordered, out):
    """Write S x to `out`; S is the ridge and the squared first differences."""
    n_cells = x.shape[0]
    for i in range(n_cells):
        out[i] = diagonal[i] * x[i]
    stride = n_cells
    for a in range(shape.shape[0]):
        width = stride
        stride //= shape[a]
        for base in range(0, n_cells, width):
            for i in range(base, base + (n_ordered[a] - 1) * stride):
                difference = x[i] - x[i + stride]
                out[i] += difference
                out[i + stride] -= difference


@inlined
def solve_grid(right, curvature, strength, diagonal, shape, n_ordered, limits, x):
    """Solve ``(diag(curvature) + strength S) x = right`` by conjugate gradient.

    Preconditioned by the diagonal. Ends after ``limits[0]`` steps, or when the norm of
    the residual has fallen to the fraction ``limits[1]``.
    """
    n_cells = right.shape[0]
    residual = right.copy()
    image = np.empty(n_cells)
    # The diagonal of S: its own, and one for every neighbour.
    inverse = np.zeros(n_cells)
    stride = n_cells
    for a in range(shape.shape[0]):
        width = stride
        stride //= shape[a]
        for base in range(0, n_cells, width):
            for i in range(base, base + (n_ordered[a] - 1) * stride):
                inverse[i] += 1.0
                inverse[i + stride] += 1.0
    norm = 0.0
    for i in range(n_cells):
        total = curvature[i] + strength * (diagonal[i] + inverse[i])
        inverse[i] = 1.0 / total
        x[i] = 0.0
        norm += residual[i] * inverse[i] * residual[i]
    direction = inverse * residual
    enough = limits[1] * limits[1] * norm
    for _ in range(int(limits[0])):
        if norm <= enough or norm == 0.0:
            break
        multiply_penalty(direction, diagonal, shape, n_ordered, image)
        slope = 0.0
        for i in range(n_cells):
            image[i] = curvature[i] * direction[i] + strength * image[i]
            slope += direction[i] * image[i]
        length = norm / slope
        before = norm
        norm = 0.0
        for i in range(n_cells):
            x[i] += length * direction[i]
            residual[i] -= length * image[i]
            norm += residual[i] * inverse[i] * residual[i]
        for i in range(n_cells):
            direction[i] = inverse[i] * residual[i] + norm / before * direction[i]


@kernel
def grid_step(sums, table, diagonal, shape, n_ordered, strength, limits, probe, step):
    """Do what `chain_step` does for a factor over several features, approximately.

    `shape` and `n_ordered` have one entry for every axis of the factor. The trace is
    estimated as z' (diag(h) + strength S)^-1 S z with the signs `probe`, z, shape
    (n_cells,), or (0,) for no estimate.
    """
    n_cells, n_columns = table.shape
    curvature = np.empty(n_cells)
    image = np.empty(n_cells)
    right = np.empty(n_cells)
    x = np.empty(n_cells)
    n_solutions = 1 if probe.shape[0] == 0 else 2
    trace = 0.0
    for c in range(n_columns):
        for i in range(n_cells):
            curvature[i] = sums[i, n_columns + c]
            x[i] = table[i, c]
        multiply_penalty(x, diagonal, shape, n_ordered, image)
        for i in range(n_cells):
            right[i] = sums[i, c] - strength * image[i]
        # A loop, so that the solver is compiled once.
        for solution in range(n_solutions):
            if solution == 1:
                multiply_penalty(probe, diagonal, shape, n_ordered, right)
            solve_grid(
                right, curvature, strength, diagonal, shape, n_ordered, limits, x
            )
            for i in range(n_cells):
                if solution == 0:
                    step[i, c] = x[i]
                else:
                    trace += probe[i] * x[i]
    return trace


@inlined
def exponentiate(x, out):
    """Write exp(x) of numbers from -4 to 4 to `out`, in single precision.

    The Taylor polynomial of degree 7 of exp(x / 16), to the power 16, has a relative
    error below 1e-8. Its loop is vectorised: calls of the function exp for every cell
    and class would take longer than all else in a step.
    """
    for i in range(x.shape[0]):
        y = 0.0625 * x[i]
        power = 1.0 + y / 7.0
        power = 1.0 + y / 6.0 * power
        power = 1.0 + y / 5.0 * power
        power = 1.0 + y / 4.0 * power
        power = 1.0 + y / 3.0 * power
        power = 1.0 + y / 2.0 * power
        power = 1.0 + y * power
        power *= power
        power *= power
        power *= power
        out[i] = power * power


@inlined
def balance(starts, strengths, totals, means, tables):
    """Do what `balance_tables` does, in place.

    `totals` are the sums of the ridge of every factor, shape (n_factors,), and `means`,
    shape (n_factors, n_columns), those of the ridge times its table.
    """
    n_factors, n_columns = means.shape
    inverse_total = 0.0
    sums = np.zeros(n_columns)
    for t in range(n_factors):
        inverse_total += 1.0 / (strengths[t] * totals[t])
        for c in range(n_columns):
            means[t, c] /= totals[t]
            sums[c] += means[t, c]
    for t in range(n_factors):
        inverse = 1.0 / (strengths[t] * totals[t])
        for c in range(n_columns):
            means[t, c] = inverse * (sums[c] / inverse_total) - means[t, c]
        for i in range(starts[t, 2], starts[t + 1, 2]):
            for c in range(n_columns):
                tables[i, c] += means[t, c]


@kernel
def sweep_factors(samples, layout, strengths, counts, limits, most, tables):
    """Take a Newton step on every factor in turn, all samples at once, and balance.

    `samples` are posteriors, labels, weights, codes and the range of all. `layout` are
    the arrays of `FactorLayout`; `tables`, shape (n_cells, n_columns), has the tables
    of all factors one below the other, `counts` those of `count_classes`, no rows for
    two classes.
    `limits` are those of `solve_grid`; `most` is the largest change of a weight.
    """
    posterior, labels, weights, codes, rows = samples
    starts, features, shape, n_ordered, lookup, diagonal, paths = layout
    n_columns = tables.shape[1]
    n_factors = strengths.shape[0]
    old = (features[:0], lookup[:0].reshape((0, 0)))
    scale = np.empty((0, n_columns), dtype=np.float32)
    nothing = np.empty(0)
    no_rows = np.empty((0, n_columns))
    damping = 1.0 if n_columns == 1 else (n_columns - 1) / n_columns
    totals = np.zeros(n_factors)
    means = np.zeros((n_factors, n_columns))
    for t in range(n_factors):
        own = features[starts[t, 0] : starts[t + 1, 0]]
        places = lookup[starts[t, 1] : starts[t + 1, 1]]
        new = (own, places.reshape((own.shape[0], places.shape[0] // own.shape[0])))
        cells = slice(starts[t, 2], starts[t + 1, 2])
        table = tables[cells]
        n_cells = table.shape[0]
        sums = np.zeros((n_cells, 2 * n_columns))
        if n_columns == 1:
            two_class_pass(
                posterior, labels, weights, codes, rows, old, scale, new, sums
            )
        else:
            multi_class_pass(posterior, weights, codes, rows, old, scale, new, sums)
            count = counts[cells]
            for i in range(n_cells):
                for c in range(n_columns):
                    mass = sums[i, c]
                    sums[i, c] = count[i, c] - mass
                    sums[i, n_columns + c] = mass - sums[i, n_columns + c]
        axes = slice(starts[t, 0], starts[t + 1, 0])
        change = np.empty((n_cells, n_columns))
        if own.shape[0] == 1:
            chain_step(
                sums, table, diagonal[cells], paths[t], n_ordered[axes][0],
                strengths[t], change, no_rows,
            )  # fmt: skip
        else:
            grid_step(
                sums, table, diagonal[cells], shape[axes], n_ordered[axes],
                strengths[t], limits, nothing, change,
            )  # fmt: skip
        scale = np.empty((n_cells, n_columns), dtype=np.float32)
        for i in range(n_cells):
            mean = 0.0
            for c in range(n_columns):
                value = min(max(damping * change[i, c], -most), most)
                change[i, c] = value
                mean += value
            # What is common to all classes changes no posterior, only the penalty.
            mean = 0.0 if n_columns == 1 else mean / n_columns
            ridge = diagonal[starts[t, 2] + i]
            totals[t] += ridge
            for c in range(n_columns):
                change[i, c] -= mean
                table[i, c] += change[i, c]
                means[t, c] += ridge * table[i, c]
        exponentiate(change.reshape(change.size), scale.reshape(scale.size))
        old = new
    none = (features[:0], lookup[:0].reshape((0, 0)))
    sums = np.zeros((1, 2 * n_columns))
    if n_columns == 1:
        two_class_pass(posterior, labels, weights, codes, rows, old, scale, none, sums)
    else:
        multi_class_pass(posterior, weights, codes, rows, old, scale, none, sums)
    if n_factors > 1:
        balance(starts, strengths, totals, means, tables)


@kernel
def add_factor(codes, features, lookup, table, out):
    """Add to `out`, (n_samples, n_columns), the row of each sample's cell."""
    n_samples, n_columns = out.shape
    values = table.reshape(table.size)
    into = out.reshape(out.size)
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_samples, BLOCK):
        size = min(BLOCK, n_samples - begin)
        find_cells(codes, features, lookup, begin, size, cells)
        for m in range(size):
            i = (begin + m) * n_columns
            j = cells[m] * n_columns
            for c in range(n_columns):
                into[np.uint64(i + c)] += values[np.uint64(j + c)]


@kernel
def add_to_cells(codes, features, lookup, values, table):
    """Add the rows of `values`, one for each sample, to the rows of its cell.

    `values` have shape (n_samples, n_columns), `table` shape (n_cells, n_columns):
    the adjoint of `add_factor`.
    """
    n_samples, n_columns = values.shape
    cells = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n_samples, BLOCK):
        size = min(BLOCK, n_samples - begin)
        find_cells(codes, features, lookup, begin, size, cells)
        for m in range(size):
            row = table[np.uint64(cells[m])]
            for c in range(n_columns):
                row[c] += values[begin + m, c]
