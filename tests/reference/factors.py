"""Factor fits by the formula: dense matrices, no histograms, no incremental updates.

A model is a list of `factors`, of `tables`, one per factor, shape (n_cells, n_columns),
and of `strengths`. Two classes have one column, the log odds of class 1.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import log_softmax


def penalty_matrix(factor):
    """S: `diagonal`, and `path` for the difference of any two neighbours."""
    shape = tuple(axis.n_bins for axis in factor.axes)
    cells = list(product(*map(range, shape)))
    number = {cell: i for i, cell in enumerate(cells)}
    matrix = np.zeros((len(cells), len(cells)))
    for cell, i in number.items():
        for a, axis in enumerate(factor.axes):
            following = (*cell[:a], cell[a] + 1, *cell[a + 1 :])
            if cell[a] + 1 < axis.n_ordered:
                difference = np.zeros(len(cells))
                difference[i], difference[number[following]] = -1.0, 1.0
                matrix += factor.path * np.outer(difference, difference)
        matrix[i, i] += factor.diagonal[i]
    return matrix


def cells_of(factor, codes):
    """The cell of every sample, from the bins of its axes."""
    shape = tuple(axis.n_bins for axis in factor.axes)
    bins = [axis.bins[codes[axis.feature].astype(int)] for axis in factor.axes]
    return np.ravel_multi_index(bins, shape)


def log_posterior(codes, log_prior, factors, tables):
    """log P(c | x), shape (n_samples, n_classes)."""
    scores = np.tile(np.asarray(log_prior, dtype=float), (codes.shape[1], 1))
    for factor, table in zip(factors, tables, strict=True):
        scores += table[cells_of(factor, codes)]
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return log_softmax(scores, axis=1)


def objective(codes, labels, weights, log_prior, terms):
    """The penalised objective; `terms` are triples of factor, table and strength."""
    factors, tables = [term[0] for term in terms], [term[1] for term in terms]
    log_p = log_posterior(codes, log_prior, factors, tables)
    value = -np.asarray(weights, dtype=float) @ log_p[np.arange(len(labels)), labels]
    for factor, table, strength in terms:
        value += strength / 2 * np.sum(table * (penalty_matrix(factor) @ table))
    return value


def sums_of(codes, labels, weights, factor, probabilities):
    """Sums of w ([y = c] - p_c) and of w p_c (1 - p_c) in the cells of a factor.

    `probabilities` has K columns, or that of class 1 alone.
    """
    n_columns = probabilities.shape[1]
    sums = np.zeros((factor.n_cells, 2 * n_columns))
    for m, cell in enumerate(cells_of(factor, codes)):
        for c in range(n_columns):
            own = labels[m] == (1 if n_columns == 1 else c)
            p = probabilities[m, c]
            sums[cell, c] += weights[m] * (own - p)
            sums[cell, n_columns + c] += weights[m] * p * (1 - p)
    return sums


class Problem:
    """The penalised objective over all tables, flattened into one vector.

    The vector has the tables in turn; within a table, cells and then columns.
    """

    def __init__(self, codes, labels, weights, log_prior, factors, strengths):
        self.codes = codes
        self.labels = labels
        self.weights = np.asarray(weights, dtype=float)
        self.log_prior = np.asarray(log_prior, dtype=float)
        self.factors = factors
        self.n_columns = len(self.log_prior)
        sizes = [f.n_cells * self.n_columns for f in factors]
        self.starts = np.cumsum([0, *sizes])
        self.penalty = np.zeros((self.starts[-1], self.starts[-1]))
        self.design = np.zeros((codes.shape[1], self.starts[-1] // self.n_columns))
        first = 0
        for factor, strength, start, stop in zip(
            factors, strengths, self.starts, self.starts[1:], strict=False
        ):
            block = np.kron(penalty_matrix(factor), np.eye(self.n_columns))
            self.penalty[start:stop, start:stop] = strength * block
            rows = np.arange(codes.shape[1])
            self.design[rows, first + cells_of(factor, codes)] = 1.0
            first += factor.n_cells

    def tables(self, vector):
        return [
            vector[start:stop].reshape(-1, self.n_columns)
            for start, stop in zip(self.starts, self.starts[1:], strict=False)
        ]

    def log_posterior(self, vector):
        tables = self.tables(vector)
        return log_posterior(self.codes, self.log_prior, self.factors, tables)

    def value(self, vector):
        rows = np.arange(len(self.labels))
        losses = -self.log_posterior(vector)[rows, self.labels]
        return self.weights @ losses + vector @ self.penalty @ vector / 2

    def _probabilities(self, vector):
        p = np.exp(self.log_posterior(vector))
        return p[:, 1:] if self.n_columns == 1 else p

    def gradient(self, vector):
        p = self._probabilities(vector)
        classes = [1] if self.n_columns == 1 else range(self.n_columns)
        own = np.array([[label == c for c in classes] for label in self.labels])
        residuals = self.weights[:, None] * (p - own)
        return (self.design.T @ residuals).ravel() + self.penalty @ vector

    def hessian(self, vector):
        p = self._probabilities(vector)
        size = self.starts[-1]
        hessian = np.zeros((size, size))
        for c, d in product(range(self.n_columns), repeat=2):
            v = self.weights * p[:, c] * ((c == d) - p[:, d])
            hessian[c :: self.n_columns, d :: self.n_columns] = (
                self.design.T * v @ self.design
            )
        return hessian + self.penalty

    def optimum(self, tolerance=1e-13):
        """Minimise by damped Newton steps on the whole vector.

        Ends when half the squared Newton decrement, what a step would gain, is small.
        """
        vector = np.zeros(self.starts[-1])
        for _ in range(200):
            gradient = self.gradient(vector)
            step = np.linalg.solve(self.hessian(vector), -gradient)
            gain = -gradient @ step / 2
            if gain < tolerance:
                return vector
            length, value = 1.0, self.value(vector)
            while self.value(vector + length * step) > value - 1e-4 * length * gain:
                length /= 2
                if length < 1e-10:
                    return vector
            vector = vector + length * step
        raise AssertionError("the reference did not converge")


def newton_step(factor, sums, table, strength):
    """Step, trace tr((H + strength S)^-1 S) and form w' S w, by dense solves."""
    penalty = penalty_matrix(factor)
    n_columns = table.shape[1]
    step, trace, form = np.empty_like(table), 0.0, 0.0
    for c in range(n_columns):
        matrix = np.diag(sums[:, n_columns + c]) + strength * penalty
        right = sums[:, c] - strength * penalty @ table[:, c]
        step[:, c] = np.linalg.solve(matrix, right)
        trace += np.trace(np.linalg.solve(matrix, penalty))
        form += table[:, c] @ penalty @ table[:, c]
    return step, trace, form


def table_variances(factor, curvature, strength):
    """Diagonal of (H + strength S)^-1 of every column, by dense inverses."""
    penalty = strength * penalty_matrix(factor)
    columns = [np.diag(np.linalg.inv(np.diag(h) + penalty)) for h in curvature.T]
    return np.stack(columns, axis=1)


def effective_parameters(factor, curvature, strength):
    """n - strength tr((H + strength S)^-1 S), summed over the columns."""
    penalty = penalty_matrix(factor)
    total = float(curvature.size)
    for h in curvature.T:
        matrix = np.diag(h) + strength * penalty
        total -= strength * np.trace(np.linalg.solve(matrix, penalty))
    return total


def fellner_schall(factor, sums, table, after, strength):
    """The updated strength: (rank S - strength trace) / form, over all columns.

    The form is that of the table `after` the step from `table`.
    """
    _, trace, _ = newton_step(factor, sums, table, strength)
    _, _, form = newton_step(factor, sums, after, strength)
    rank = np.linalg.matrix_rank(penalty_matrix(factor)) * table.shape[1]
    return (rank - strength * trace) / form


def score_statistic(codes, labels, weights, factor, probabilities, ridge):
    """Sum of (R^2 - phi V) / (V + ridge) over cells and columns.

    phi is the sum of the squared residuals of single samples divided by the sum of
    their variances.
    """
    sums = sums_of(codes, labels, weights, factor, probabilities)
    n_columns = probabilities.shape[1]
    squares = variances = 0.0
    for m, label in enumerate(labels):
        for c in range(n_columns):
            hit = label == (1 if n_columns == 1 else c)
            p = float(probabilities[m, c])
            squares += weights[m] * (hit - p) ** 2
            variances += weights[m] * p * (1 - p)
    total = 0.0
    for cell in range(factor.n_cells):
        for c in range(n_columns):
            residual, variance = sums[cell, c], sums[cell, n_columns + c]
            excess = residual**2 - squares / variances * variance
            total += excess / (variance + ridge)
    return total


def missing_cells(factor, support):
    """Cells that are "not observed" along axes without such samples, and these axes."""
    shape = tuple(axis.n_bins for axis in factor.axes)
    cells = list(product(*map(range, shape)))
    seen = [cell for cell, weight in zip(cells, support, strict=True) if weight > 0]
    never = [
        a
        for a, n_bins in enumerate(shape)
        if seen and all(cell[a] < n_bins - 1 for cell in seen)
    ]
    for i, cell in enumerate(cells):
        hidden = [a for a in never if cell[a] == shape[a] - 1]
        if hidden:
            yield i, cell, hidden, cells


def distribution_of_hidden(cell, hidden, cells, counts):
    """P(a | b) over the cells, and P(a | c, b) with a column for every class."""
    support = counts.sum(axis=1)

    def agrees(one, axes):
        return all(one[a] == cell[a] for a in axes)

    known = [a for a in range(len(cell)) if a not in hidden]
    given, in_class = np.zeros(len(cells)), np.zeros(counts.shape)
    here = [i for i, one in enumerate(cells) if agrees(one, known)]
    for i in here:
        same = [
            j
            for j, other in enumerate(cells)
            if all(other[a] == cells[i][a] for a in hidden)
        ]
        marginal = support[same].sum() / support.sum()
        given[i] = (support[i] + marginal) / (support[here].sum() + 1)
    for i in here:
        for c in range(counts.shape[1]):
            total = counts[here, c].sum() + 1
            in_class[i, c] = (counts[i, c] + given[i]) / total
    # Not observed itself has no samples; what one more sample adds there is zero.
    return given, in_class


def average_weights(factor, weights, counts):
    """Mean weights of the class in `missing_cells`, centred over the classes."""
    averaged = np.array(weights, dtype=float)
    for i, cell, hidden, cells in missing_cells(factor, counts.sum(axis=1)):
        _, in_class = distribution_of_hidden(cell, hidden, cells, counts)
        means = [in_class[:, c] @ weights[:, c] for c in range(weights.shape[1])]
        averaged[i] = means - np.mean(means)
    return averaged


def missing_variances(factor, columns, support):
    """Variances of the weights in `missing_cells`; zero elsewhere."""
    variances = np.zeros(columns.shape)
    for i, cell, hidden, cells in missing_cells(factor, support):
        given, _ = distribution_of_hidden(cell, hidden, cells, support[:, None])
        for c in range(columns.shape[1]):
            mean = given @ columns[:, c]
            variances[i, c] = given @ (columns[:, c] - mean) ** 2
    return variances
