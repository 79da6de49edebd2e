"""Random features, factors and samples for the tests of factor fits."""

from __future__ import annotations

import numpy as np

from tanager import LogLinearNetwork, Schema, Variable
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.factor_samples import FactorSamples
from tanager.loglinear.fitted_factors import FactorTable, FactorTables


def make_variable(name, n_values, ordered, missing_state=False):
    """A feature with some values, and perhaps a state for missing ones."""
    if ordered:
        variable = Variable.binned(name, [float(k) for k in range(n_values - 1)])
    else:
        variable = Variable(name, tuple(f"s{k}" for k in range(n_values)))
    return variable.with_missing_state() if missing_state else variable


def make_variables(random, n_features, max_values=5):
    return [
        make_variable(
            f"f{j}",
            int(random.integers(1, max_values + 1)),
            bool(random.integers(2)),
            bool(random.integers(2)),
        )
        for j in range(n_features)
    ]


def make_codes(random, variables, n_samples, dtype=np.uint8):
    """Codes with values that are not observed, and the first state more frequent."""
    rows = [random.integers(0, v.n_states + 1, n_samples) for v in variables]
    first = random.random((len(variables), n_samples)) < 0.2
    return np.where(first, 0, np.array(rows)).astype(dtype)


def make_factor(variables, features, max_bins=None):
    """A factor over some features; None keeps all states apart."""
    return Factor(
        tuple(
            Axis.of(j, variables[j], np.ones(variables[j].n_states), max_bins)
            for j in features
        )
    )


def make_log_prior(labels, weights, n_classes):
    counts = np.bincount(labels, weights, n_classes) + 0.5
    log_prior = np.log(counts / counts.sum())
    return log_prior[1:] - log_prior[:1] if n_classes == 2 else log_prior


def make_labels(random, codes, n_classes, noise=1.0):
    """Labels that depend on the first two features and on their interaction."""
    first, last = codes[0].astype(int), codes[min(1, len(codes) - 1)].astype(int)
    size = 1 + max(first.max(), last.max())
    scores = random.normal(size=(size, size, n_classes))[first, last]
    scores = scores + random.normal(size=(size, n_classes))[first]
    scores = scores + noise * random.gumbel(size=scores.shape)
    return scores.argmax(axis=1).astype(np.int64)


def make_fit(codes, labels, weights, n_classes, factors, strength=1.0, **options):
    """A fit with tables of zeros, before its first sweep."""
    samples = FactorSamples.of(codes, labels, weights, n_classes, **options)
    fit = FactorFit(samples, make_log_prior(labels, weights, n_classes))
    fit.add(factors, strength)
    return fit


def make_schema(variables, n_classes):
    target = Variable("class", tuple(range(n_classes)))
    return Schema((*variables, target), target=len(variables))


def make_network(random, variables, keys, n_classes=2, max_bins=None, codes=None):
    """A log-linear network of random weights, with the support of some samples."""
    if codes is None:
        codes = make_codes(random, variables, 200)
    tables = []
    for key in keys:
        factor = make_factor(variables, key, None if len(key) == 1 else max_bins)
        weights = random.normal(scale=1.5, size=(factor.n_cells, n_classes))
        support = np.bincount(factor.cells(codes), minlength=factor.n_cells)
        centred = weights - weights.mean(axis=1, keepdims=True)
        tables.append(FactorTable(factor, centred, support.astype(float), 1.0))
    prior = random.normal(size=n_classes)
    schema = make_schema(variables, n_classes)
    return LogLinearNetwork(schema, FactorTables(prior, tuple(tables)))


def vector_of(fit):
    """All tables as the vector of the reference."""
    return np.concatenate([term.table.ravel() for term in fit.terms])


def take_samples(samples, rows):
    """Some of the samples, none of them held out."""
    return FactorSamples(
        np.ascontiguousarray(samples.codes[:, rows]),
        samples.labels[rows],
        samples.weights[rows],
        np.empty(0, dtype=np.intp),
        np.empty(0),
        samples.n_classes,
        samples.n_jobs,
    )
