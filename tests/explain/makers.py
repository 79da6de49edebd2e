"""Fitted models of every kind, and samples with and without missing values."""

import numpy as np

from tanager import (
    KDB,
    BayesNetClassifier,
    Constraints,
    FactorSearch,
    LogLinearNetwork,
    Schema,
    Variable,
)
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tests.network.makers import general_network

KINDS = ("nb", "tan", "2-tree", "general", "factors")


def random_network(seed, n_features=5, *, n_classes=2, zeros=0.0):
    """A general network, the class last and with children, often with parents."""
    random = np.random.default_rng(seed)
    while True:
        network = general_network(random, n_features + 1, zeros=zeros, target="v0")
        network = network.with_target_last()
        states = network.schema.n_states
        if states[-1] == n_classes and (states[:-1] > 1).sum() > n_features // 2:
            return network


def training_data(n_classes, seed=0, n_samples=240, n_features=5):
    """Categories with three states, one constant column and one numeric one."""
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n_samples)
    columns = {}
    shared = random.integers(3, size=n_samples)
    for j in range(n_features - 2):
        noise = random.integers(3, size=n_samples)
        mixed = np.where(random.random(n_samples) < 0.5, y + j + shared, noise)
        columns[f"x{j}"] = np.array(["a", "b", "c"])[mixed % 3].tolist()
    columns["same"] = ["z"] * n_samples
    columns["size"] = (y + random.normal(size=n_samples)).tolist()
    return columns, y


def fitted_model(kind, n_classes=2, seed=0):
    """A classifier of one kind, fitted to `training_data`."""
    if kind == "general":
        return BayesNetClassifier.from_network(
            random_network(seed, n_classes=n_classes)
        )
    X, y = training_data(n_classes, seed)
    if kind == "factors":
        pairs = Constraints(required=[("x0", "x1"), ("x1", "size")])
        model = BayesNetClassifier(structure=FactorSearch(constraints=pairs))
    elif kind == "2-tree":
        model = BayesNetClassifier(structure=KDB(k=2), parameters="fe")
    else:
        model = BayesNetClassifier(structure=kind, parameters="fe")
    return model.fit(X, y)


def factor_network(keys, variables=None, bins=(0, 1, 2), support=None, odds=None):
    """Factors over `keys` by hand, with random weights or log odds `odds`."""
    random = np.random.default_rng(0)
    n_features = 1 + max(j for key in keys for j in key)
    variables = variables or [Variable(f"x{j}", ("a", "b")) for j in range(n_features)]
    schema = Schema((*variables, Variable("y", (0, 1))), target=len(variables))
    tables = []
    for key in keys:
        factor = Factor(tuple(Axis(j, np.array(bins), bins[-1]) for j in key))
        weights = random.normal(size=(factor.n_cells, 2))
        if odds is not None:
            weights = np.outer(odds[key], [-0.5, 0.5])
        seen = np.ones(factor.n_cells) if support is None else support[key]
        tables.append(FactorTable(factor, weights, seen, 1.0))
    return LogLinearNetwork(schema, FactorTables(np.log([0.5, 0.5]), tuple(tables)))


def random_codes(schema, n_samples, seed=0, missing=0.0):
    """Random codes of the features, some of them not observed."""
    random = np.random.default_rng(seed)
    states = schema.n_states[:-1]
    codes = random.integers(0, states, (n_samples, len(states)))
    codes = np.where(random.random(codes.shape) < missing, states, codes)
    return np.asfortranarray(codes.astype(np.min_scalar_type(int(states.max()))))
