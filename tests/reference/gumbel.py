"""Roth and Pernkopf (2020), section 3, by its formulas in plain NumPy.

All candidate tables have free parameters beta, of which they are the softmax, and Adam
moves every one of them in every step, whether it was drawn or not.

With ``exact=False`` it departs from that in the two ways that fast code does, by
formulas, too: that by log phi leaves out derivatives by the log joint below 1e-9 of the
largest of their row, and while a table is not drawn Adam's epsilon shrinks as its mean
square does.
With `look_ahead` moreover the derivative by log phi sees tables that are not drawn
where their momentum is going to take them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import logsumexp, softmax

from tests.reference import losses


def one_hot(labels, n_classes):
    return np.eye(n_classes)[labels]


def likelihood_slopes(log_joint, labels):
    """Derivative of equation (5)."""
    return -one_hot(labels, log_joint.shape[1])


def conditional_slopes(log_joint, labels):
    return softmax(log_joint, axis=1) - one_hot(labels, log_joint.shape[1])


def margin_slopes(log_joint, labels, gamma, eta):
    """Derivative of equation (6) with the softened maximum in equation (7)."""
    own = one_hot(labels, log_joint.shape[1])
    if log_joint.shape[1] == 1:
        return np.zeros_like(log_joint)
    others = np.where(own == 1, -np.inf, log_joint)
    margin = (log_joint * own).sum(axis=1) - logsumexp(eta * others, axis=1) / eta
    return (margin < gamma)[:, None] * (softmax(eta * others, axis=1) - own)


def hybrid_slopes(log_joint, labels, lambda_, gamma, eta):
    """Derivative of equation (8)."""
    return likelihood_slopes(log_joint, labels) + lambda_ * margin_slopes(
        log_joint, labels, gamma, eta
    )


LOSSES = {
    "likelihood": (losses.likelihood, likelihood_slopes),
    "conditional": (losses.conditional, conditional_slopes),
    "margin": (losses.margin, margin_slopes),
    "hybrid": (losses.hybrid, hybrid_slopes),
}


class DenseAdam:
    """Kingma and Ba's Algorithm 1 on a vector."""

    def __init__(self, size, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.betas, self.epsilon = (beta1, beta2), epsilon
        self.first, self.second, self.steps = np.zeros(size), np.zeros(size), 0

    def step(self, vector, gradient, rate, shrunk=1.0):
        beta1, beta2 = self.betas
        self.steps += 1
        self.first = beta1 * self.first + (1 - beta1) * gradient
        self.second = beta2 * self.second + (1 - beta2) * gradient**2
        mean = self.first / (1 - beta1**self.steps)
        square = self.second / (1 - beta2**self.steps)
        vector -= rate * mean / (np.sqrt(square) + shrunk * self.epsilon)


def has_cycle(parent):
    """Whether going up from some node never ends; `parent` has -1 for roots."""
    for node in range(len(parent)):
        above = node
        for _ in range(len(parent)):
            above = parent[above] if above >= 0 else -1
        if above >= 0:
            return True
    return False


class SlowDescent:
    """The method on coded rows.

    `sets` are the candidate parents of every feature. Tables are numbered feature by
    feature, that without feature parents first whether it is a candidate or not, the
    class last; each has the axes (feature, parents, class).
    """

    def __init__(
        self, n_states, sets, codes, labels, weights, loss, *arguments,
        batch_size, relaxed=False, free=False, exact=True, look_ahead=False,
    ):  # fmt: skip
        self.n_states, self.codes, self.labels = n_states, codes, labels
        self.weights = np.ones(len(labels)) if weights is None else weights
        self.row_loss, self.slopes = LOSSES[loss]
        self.arguments = arguments
        self.size = min(batch_size, len(labels))
        self.relaxed, self.free = relaxed, free
        self.exact, self.look_ahead = exact, look_ahead and not relaxed
        self.has_gaps = bool((codes >= np.array(n_states[:-1])).any())
        self.tables, self.is_open = [], []
        for j, of in enumerate(sets):
            self.tables += [(j, ()), *((j, parents) for parents in of if parents)]
            self.is_open += [() in of, *(True for parents in of if parents)]
        self.tables.append((len(sets), ()))  # the class
        self.of = [
            [t for t, (owner, _) in enumerate(self.tables) if owner == j]
            for j in range(len(sets))
        ]
        self.shapes = [self._shape(*table) for table in self.tables]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        self.beta = np.zeros(self.ends[-1])
        self.log_phi = np.zeros(len(self.tables))
        self.adam = DenseAdam(len(self.beta))
        self.phi_adam = DenseAdam(len(self.log_phi))
        # Of every table the last step in which it was drawn, and where it goes to.
        self.last = np.zeros(len(self.tables))
        self.going_to = [None] * len(self.tables)

    def _shape(self, owner, parents):
        n_classes = self.n_states[-1]
        if owner == len(self.n_states) - 1:
            return (n_classes,)
        return (*(self.n_states[v] for v in (owner, *parents)), n_classes)

    def split(self, flat):
        """Every table's part of a vector, in its shape."""
        parts = np.split(flat, self.ends[:-1])
        return [p.reshape(s) for p, s in zip(parts, self.shapes, strict=True)]

    def log_tables(self, beta=None):
        tables = self.split(self.beta if beta is None else beta)
        return [table - logsumexp(table, axis=0, keepdims=True) for table in tables]

    @property
    def log_theta(self):
        return np.concatenate([table.ravel() for table in self.log_tables()])

    def used(self, t, row):
        """Which table and cell a row takes when `t` is chosen; None for no cell."""
        owner, parents = self.tables[t]
        gone = [row[v] >= self.n_states[v] for v in (owner, *parents)]
        if gone[0]:
            return None
        if any(gone):
            return self.of[owner][0], (int(row[owner]),)
        return t, tuple(int(row[v]) for v in (owner, *parents))

    def terms(self, log_tables, codes):
        """Log probability of every table's feature, shape (table, row, class)."""
        out = np.zeros((len(self.tables) - 1, len(codes), self.n_states[-1]))
        for t in range(len(out)):
            for m, row in enumerate(codes):
                place = self.used(t, row)
                if place is not None:
                    table, cell = place
                    out[t, m] = log_tables[table][cell]
        return out

    def log_joint(self, log_tables, shares, codes):
        """Equation (9); shares need not be zero or one."""
        terms = self.terms(log_tables, codes)
        return log_tables[-1] + np.einsum("t,tmc->mc", shares, terms)

    def soft(self, log_phi, noise, tau):
        """Equation (13), for every feature."""
        out = np.zeros(len(self.tables) - 1)
        for tables in self.of:
            tables = [t for t in tables if self.is_open[t]]
            out[tables] = softmax((log_phi[tables] + noise[tables]) / tau)
        return out

    def hard(self, log_phi, noise):
        """Equation (11); without an order, of all choices without a cycle the best."""
        sums = log_phi + noise
        choices = [[t for t in tables if self.is_open[t]] for tables in self.of]
        if self.free:
            chosen = max(
                (
                    choice
                    for choice in product(*choices)
                    if not has_cycle([(*self.tables[t][1], -1)[0] for t in choice])
                ),
                key=lambda choice: sum(sums[t] for t in choice),
            )
        else:
            chosen = [max(tables, key=lambda t: sums[t]) for tables in choices]
        out = np.zeros(len(self.tables) - 1)
        out[list(chosen)] = 1.0
        return out

    def shares(self, log_phi, noise, tau):
        if self.relaxed:
            return self.soft(log_phi, noise, tau)
        return self.hard(log_phi, noise)

    def factor(self):
        """Of the summed loss of a batch: steps follow the mean loss of a row."""
        return len(self.labels) / (self.size * self.weights.sum())

    def value(self, beta, log_phi, noise, tau, rows):
        """What a step makes small, the noise being what it is."""
        shares = self.shares(log_phi, noise, tau)
        joint = self.log_joint(self.log_tables(beta), shares, self.codes[rows])
        return self.factor() * self._loss(joint, rows)

    def _loss(self, joint, rows):
        return losses.summed(
            self.row_loss, joint, self.labels[rows], self.weights[rows], *self.arguments
        )

    def gradients(self, noise, tau, rows):
        """Derivatives by beta and by log phi, the latter straight through."""
        tables = self.log_tables()
        codes = self.codes[rows]
        shares = self.shares(self.log_phi, noise, tau)
        joint = self.log_joint(tables, shares, codes)
        by_joint = self.slopes(joint, self.labels[rows], *self.arguments)
        by_joint = by_joint * self.weights[rows][:, None] * self.factor()
        by_theta = [np.zeros(shape) for shape in self.shapes]
        for t, share in enumerate(shares):
            for m, row in enumerate(codes):
                place = self.used(t, row)
                if place is not None:
                    table, cell = place
                    by_theta[table][cell] += share * by_joint[m]
        by_theta[-1] += by_joint.sum(axis=0)
        by_beta = [
            slope - np.exp(table) * slope.sum(axis=0, keepdims=True)
            for slope, table in zip(by_theta, tables, strict=True)
        ]
        if self.look_ahead:
            drawn = self.drawn(shares)
            for t, beta in enumerate(self.going_to):
                if beta is not None and not drawn[t]:
                    tables[t] = beta - logsumexp(beta, axis=0, keepdims=True)
        if not self.exact:
            largest = abs(by_joint).max(axis=1, keepdims=True)
            by_joint = np.where(abs(by_joint) <= 1e-9 * largest, 0.0, by_joint)
        by_share = np.einsum("tmc,mc->t", self.terms(tables, codes), by_joint)
        soft = self.soft(self.log_phi, noise, tau)
        by_phi = np.zeros(len(self.tables))
        for of in self.of:
            # p_t (d_t - sum_u p_u d_u) / tau, without a difference of near ones.
            p, d = soft[of], by_share[of]
            by_phi[of] = p * ((d[:, None] - d[None, :]) @ p) / tau
        return np.concatenate([slope.ravel() for slope in by_beta]), by_phi, joint

    def drawn(self, shares):
        """Which tables a batch reads: incomplete samples use those without parents."""
        out = np.append(shares != 0.0, True)
        if self.has_gaps:
            out[[of[0] for of in self.of]] = True
        return out

    def step(self, by_beta, shares, rate):
        """Adam on all tables."""
        beta1, beta2 = self.adam.betas
        n = self.adam.steps + 1
        drawn = self.drawn(shares)
        self.last[drawn] = n
        shrunk = 1.0
        if not self.exact:
            # The root of the corrected mean square, relative to that of the last draw.
            of_tables = np.sqrt(
                beta2 ** (n - self.last) * (1 - beta2**self.last) / (1 - beta2**n)
            )
            sizes = [int(np.prod(shape)) for shape in self.shapes]
            shrunk = np.repeat(np.where(self.last > 0, of_tables, 1.0), sizes)
        self.adam.step(self.beta, by_beta, rate, shrunk)
        # All steps to come without a gradient, a geometric series.
        ratio = beta1 / np.sqrt(beta2)
        mean = self.adam.first / (1 - beta1**n)
        root = np.sqrt(self.adam.second / (1 - beta2**n))
        to_come = rate * ratio / (1 - ratio) * mean / (root + self.adam.epsilon)
        for t, beta in enumerate(self.split(self.beta - to_come)):
            if drawn[t]:
                self.going_to[t] = beta.copy()

    def epoch(self, rate, weight_rate, tau, random):
        """One pass over the rows in random order, with fresh noise in every step."""
        order = random.permutation(len(self.labels))
        batches = [
            order[begin : begin + self.size]
            for begin in range(0, len(order), self.size)
        ]
        noise = random.gumbel(size=(len(batches), len(self.tables)))
        objective = error = 0.0
        for rows, drawn in zip(batches, noise, strict=True):
            by_beta, by_phi, joint = self.gradients(drawn, tau, rows)
            objective += self._loss(joint, rows)
            error += self.weights[rows] @ (joint.argmax(axis=1) != self.labels[rows])
            self.step(by_beta, self.shares(self.log_phi, drawn, tau), rate)
            self.phi_adam.step(self.log_phi, by_phi, weight_rate)
        total = self.weights.sum()
        return {"objective": objective / total, "train_error": error / total}
