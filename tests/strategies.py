"""Hypothesis strategies and random makers for schemas, networks and tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from tanager import Network, Schema, Structure, Variable
from tanager.data import ArrayData
from tanager.loglinear.weights_to_cpts import log_linear_families
from tanager.model import FamilyLayout, Parameters


def random_schema(random, n_features, max_states=4, n_classes=None):
    """Features with one to `max_states` states, the class last."""
    counts = random.integers(1, max_states + 1, n_features)
    variables = [
        Variable(f"f{j}", tuple(f"s{k}" for k in range(r)))
        for j, r in enumerate(counts)
    ]
    classes = int(n_classes or random.integers(1, 5))
    variables.append(Variable("class", tuple(range(classes))))
    return Schema(tuple(variables), target=n_features)


def random_structure(random, schema, max_parents=1, class_rooted=True):
    """Random acyclic parents, drawn along a random order of the variables."""
    target = schema.target
    order = [int(v) for v in random.permutation(schema.features)]
    parents = [()] * len(schema)
    for place, v in enumerate(order):
        n_parents = int(random.integers(0, min(place, max_parents) + 1))
        chosen = random.choice(order[:place], n_parents, replace=False) if place else []
        with_class = class_rooted or random.random() < 0.7
        parents[v] = ((target,) if with_class else ()) + tuple(int(p) for p in chosen)
    return Structure(tuple(parents), target)


def random_dag(random, schema, max_parents=2):
    """Random acyclic parents, the class a variable like any other."""
    order = random.permutation(len(schema))
    parents = [()] * len(schema)
    for place, v in enumerate(order):
        n_parents = int(random.integers(0, min(place, max_parents) + 1))
        chosen = random.choice(order[:place], n_parents, replace=False) if place else []
        parents[v] = tuple(int(p) for p in chosen)
    return Structure(tuple(parents), schema.target)


def random_k_tree(random, schema, k, full=False):
    """A class-rooted structure whose feature parents are joined pairwise.

    Features have up to k feature parents; with `full`, as many of k as there can be.
    """
    order = random.permutation(len(schema) - 1).tolist()
    parents = [()] * len(schema)
    for place, v in enumerate(order):
        if place:
            u = order[random.integers(min(place - 1, k - 1) if full else 0, place)]
            size = k if full else int(random.integers(1, k + 1))
            clique = [u, *parents[u]][:size]
            parents[v] = tuple(int(p) for p in random.permutation(clique))
    return Structure.class_rooted(parents, schema.target)


def random_parameters(random, schema, structure, sharpness=1.0):
    layout = FamilyLayout.of_structure(schema, structure)
    log_theta = np.empty(layout.n_cells)
    for index in range(layout.n_tables):
        table = random.gamma(sharpness, size=layout.shapes[index]) + 1e-12
        table /= table.sum(axis=layout.owner_axis(index), keepdims=True)
        layout.table(log_theta, index)[...] = np.log(table)
    return Parameters(layout, log_theta)


def weight_layout(schema, structure, order=2):
    """Tables of weights: the class, every feature, and joined features up to `order`.

    The tables of a feature are over itself and fewer than `order` of its parents.
    """
    target = schema.target
    axes, owners = [(target,)], [target]
    for v in schema.features:
        for size in range(order):
            for given in combinations(structure.feature_parents[v], size):
                axes.append((*given, v, target))
                owners.append(v)
    states = tuple(schema.n_states.tolist())
    return FamilyLayout(states, tuple(axes), tuple(owners), target)


def dag_network(random, n_features, max_parents=3, max_states=3, sharpness=1.0):
    """A network over a random order of all variables: the class may have parents."""
    schema = random_schema(random, n_features, max_states)
    structure = random_dag(random, schema, max_parents)
    parameters = random_parameters(random, schema, structure, sharpness)
    return Network(schema, structure, parameters)


def log_linear_network(random, n_features=5, k=2, full_cells=0, **options):
    """A network over a random k-tree whose large families are sums of pair tables."""
    schema = random_schema(random, n_features, **options)
    structure = random_k_tree(random, schema, k, full=True)
    layout = weight_layout(schema, structure)
    weights = random.normal(scale=1.5, size=layout.n_cells)
    families = log_linear_families(structure, layout, weights, full_cells=full_cells)
    return Network(schema, structure, families)


def random_network(random, n_features=5, **options):
    sharpness = options.pop("sharpness", 1.0)
    max_states = options.pop("max_states", 4)
    n_classes = options.pop("n_classes", None)
    schema = random_schema(random, n_features, max_states, n_classes)
    structure = random_structure(random, schema, **options)
    return Network(
        schema, structure, random_parameters(random, schema, structure, sharpness)
    )


def random_codes(random, schema, n_rows, missing=0.0):
    """Feature codes, Fortran order; a fraction of them is missing."""
    states = schema.n_states[:-1]
    codes = np.asfortranarray(
        random.integers(0, states, (n_rows, len(states))).astype(np.uint8)
    )
    gone = random.random(codes.shape) < missing
    codes[gone] = np.broadcast_to(states.astype(np.uint8), codes.shape)[gone]
    return codes


def random_data(
    random,
    n_rows=60,
    n_features=4,
    missing=0.0,
    weighted=False,
    unlabelled=0.0,
    **options,
):
    """Coded samples; a fraction of the labels is missing, but never the first."""
    schema = random_schema(random, n_features, **options)
    codes = random_codes(random, schema, n_rows, missing)
    labels = random.integers(0, schema.n_classes, n_rows).astype(np.uint8)
    weights = random.random(n_rows) * 3 if weighted else None
    if unlabelled:
        labels[1:][random.random(n_rows - 1) < unlabelled] = schema.n_classes
    return ArrayData(schema, codes, labels, weights)


def too_wide(random, n_rows, missing=0.0, class_rooted=True):
    """Rows and a structure of small families whose junction tree is too large.

    Every two of eight roots have a child, so that all of them lie in one clique.
    """
    pairs = list(combinations(range(8), 2))
    target = 8 + len(pairs)
    states = [10] * 8 + [2] * (len(pairs) + 1)
    variables = [Variable(f"f{j}", tuple(range(r))) for j, r in enumerate(states)]
    schema = Schema(tuple(variables), target)
    codes = random_codes(random, schema, n_rows, missing)
    labels = random.integers(0, 2, n_rows).astype(np.uint8)
    parents = [*[()] * 8, *pairs, ()]
    if class_rooted:
        structure = Structure.class_rooted(parents, target)
    else:
        structure = Structure((*parents[:-1], (0,)), target)
    return structure, ArrayData(schema, codes, labels)


kinds = st.sampled_from([random_structure, random_dag])
"""Makers of structures: trees below the class, and any."""

seeds = st.integers(0, 2**32 - 1)


@st.composite
def generators(draw):
    """A numpy Generator with a drawn seed."""
    return np.random.default_rng(draw(seeds))


@st.composite
def networks(draw, max_features=5, **options):
    random = draw(generators())
    return random_network(random, draw(st.integers(1, max_features)), **options)


@st.composite
def data_sets(draw, max_features=5, **options):
    random = draw(generators())
    return random_data(
        random,
        n_rows=draw(st.integers(1, 40)),
        n_features=draw(st.integers(1, max_features)),
        missing=draw(st.sampled_from([0.0, 0.3, 1.0])),
        weighted=draw(st.booleans()),
        **options,
    )


ODD_TEXTS = st.one_of(
    st.sampled_from(
        [
            *("a b", "<5", "12+", "Asy/Patch", "x.y", "table", "(-inf, 2]", "(2, inf)"),
            *('"', "'", "a;b", "{", "}", "//", "/*", "*/", "a//b", "=", "|", ",", "\\"),
            *(
                "größe 🐦",
                "new\nline",
                "\ud800",
                " ",
                "\x00",
                "&amp;",
                "]]>",
                "_2",
                "_",
            ),
        ]
    ),
    st.text(min_size=1, max_size=4),
)
"""Names that files of other formats have to quote, escape or replace."""


@st.composite
def odd_networks(draw):
    """Networks with odd names, states of all types, bins, zeros, with or without class.

    Parents are in random order, and the target may be any variable.
    """
    names = draw(st.lists(ODD_TEXTS, min_size=1, max_size=5, unique=True))
    states = st.one_of(
        st.lists(ODD_TEXTS, min_size=1, max_size=4, unique=True),
        st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=4, unique=True),
        st.just([False, True]),
        st.just(["1", 1, "True", "1.5", 1.5]),
    )
    cuts = st.lists(st.floats(-1e9, 1e9), max_size=3, unique=True).map(sorted)
    variables = tuple(
        Variable.binned(name, draw(cuts))
        if draw(st.booleans())
        else Variable(name, tuple(draw(states)), ordered=draw(st.booleans()))
        for name in names
    )
    target = draw(st.none() | st.integers(0, len(names) - 1))
    schema = Schema(variables, target)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = random.permutation(len(names))
    parents = [()] * len(names)
    for place, v in enumerate(order):
        chosen = random.permutation(order[:place])[: random.integers(3)]
        parents[v] = tuple(int(p) for p in chosen)
    structure = Structure(tuple(parents), target)
    layout = FamilyLayout.of_structure(schema, structure)
    return Network(schema, structure, Parameters(layout, random_cpts(random, layout)))


def random_cpts(random, layout):
    """Logarithms of CPTs, a fifth of the probabilities zero, some of them tiny."""
    log_theta = np.empty(layout.n_cells)
    for index in range(layout.n_tables):
        axis = layout.owner_axis(index)
        table = random.random(layout.shapes[index]) ** random.integers(1, 30)
        table[random.random(table.shape) < 0.2] = 0.0
        table += (table.sum(axis=axis, keepdims=True) == 0).astype(float)
        table /= table.sum(axis=axis, keepdims=True)
        with np.errstate(divide="ignore"):
            layout.table(log_theta, index)[...] = np.log(table)
    return log_theta
