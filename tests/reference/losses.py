"""Losses by their formulas, row by row, in decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext

DIGITS = 60


def decimal_rows(log_joint):
    return [[Decimal(float(v)) for v in row] for row in log_joint]


def log_sum_exp(values):
    highest = max(values)
    return highest + sum((v - highest).exp() for v in values).ln()


def likelihood(row, label):
    return -row[label]


def conditional(row, label):
    return log_sum_exp(row) - row[label]


def margin(row, label, gamma, eta):
    others = [v for c, v in enumerate(row) if c != label]
    if not others:
        return Decimal(0)
    eta = Decimal(eta)
    best = log_sum_exp([eta * v for v in others]) / eta
    return max(Decimal(0), Decimal(gamma) - (row[label] - best))


def hybrid(row, label, lambda_, gamma, eta):
    return likelihood(row, label) + Decimal(lambda_) * margin(row, label, gamma, eta)


def cost(row, label, costs):
    total = log_sum_exp(row)
    return sum(
        Decimal(float(costs[label][c])) * (v - total).exp() for c, v in enumerate(row)
    )


def squared_error(row, label):
    """Greiner et al. (2005), equation 9, with P(c | e) = 1 for the label."""
    return (1 - (row[label] - log_sum_exp(row)).exp()) ** 2


def brier(row, label):
    total = log_sum_exp(row)
    return sum(((v - total).exp() - (c == label)) ** 2 for c, v in enumerate(row))


def summed(row_loss, log_joint, labels, weights=None, *arguments):
    """Weighted sum of a row's loss over all rows, as a float."""
    with localcontext() as context:
        context.prec = DIGITS
        rows = decimal_rows(log_joint)
        total = Decimal(0)
        for m, row in enumerate(rows):
            weight = 1.0 if weights is None else float(weights[m])
            total += Decimal(weight) * row_loss(row, int(labels[m]), *arguments)
        return float(total)


def auc(log_joint, labels, weights=None):
    """Every pair of rows by the formula."""
    with localcontext() as context:
        context.prec = DIGITS
        rows = decimal_rows(log_joint)
        weight = [Decimal(1 if weights is None else float(w)) for w in
                  (labels if weights is None else weights)]  # fmt: skip
        total = Decimal(0)
        for c in range(len(rows[0])):
            outside = [m for m in range(len(rows)) if labels[m] != c]
            mass = sum(weight[m] for m in outside)
            if not outside or mass == 0:
                continue

            def score(m, c=c):
                others = [v for k, v in enumerate(rows[m]) if k != c]
                return rows[m][c] - log_sum_exp(others)

            for i in range(len(rows)):
                if labels[i] != c:
                    continue
                for j in outside:
                    pair = (1 + (score(j) - score(i)).exp()).ln()
                    total += weight[i] * weight[j] * pair / mass
        return float(total)
