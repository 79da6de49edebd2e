from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from tanager import (
    ELR,
    BayesNetClassifier,
    CapabilityError,
    ChowLiu,
    ConditionalLikelihood,
    Frequency,
    InputError,
    Network,
    QuantileEncoder,
    Schema,
    Structure,
    TableEncoder,
    Variable,
)
from tanager.data import ArrayData
from tanager.data.folds import stratified_subsample
from tanager.inference.engine import Engine
from tanager.loglinear.coordinates import Coordinates
from tanager.loglinear.linear_maps import TableSums
from tanager.loglinear.model import NetworkModel, limit_interactions
from tanager.loglinear.objective import ConditionalLogLoss, PenalisedObjective
from tanager.loglinear.weights_to_cpts import FullNormaliser
from tanager.model import Parameters
from tanager.model.layout import FamilyLayout
from tanager.parameters import conditional_likelihood
from tests.strategies import (
    data_sets,
    generators,
    random_codes,
    random_data,
    random_k_tree,
    random_structure,
)
from tests.tolerance import assert_close


def tight(**options):
    return ConditionalLikelihood(tol=1e-9, max_iter=5000, **options)


def plain_objective(data, weights, layout, u, target, C):
    """The objective by its formula, row by row."""
    loss = 0.0
    for m in range(data.n_samples):
        joint = np.zeros(data.schema.n_classes)
        for t, axes in enumerate(layout.axes):
            features = [v for v in axes if v != target]
            codes = [int(data.codes[m, v]) for v in features]
            states = [int(data.schema.n_states[v]) for v in features]
            if all(c < r for c, r in zip(codes, states, strict=True)):
                joint += layout.table(weights, t)[tuple(codes)]
        weight = 1.0 if data.weights is None else data.weights[m]
        loss -= weight * np.log(softmax(joint)[data.labels[m]])
    return C * loss + u @ u / 2


def plain_weights(coordinates, u, ordered):
    """Weights by their definition: sums over lower-order tables and lower states."""
    layout, parts = coordinates.factors, coordinates.layout
    n_variables = len(layout.n_states)
    weights = np.zeros(layout.n_cells)
    added = set()
    for t, axes in enumerate(layout.axes):
        for index, part in enumerate(parts.axes):
            own = parts.owners[index] == layout.owners[t]
            # From n_variables on: the groups of states of a variable.
            if not own or not {v % n_variables for v in part} <= set(axes):
                continue
            if index in added or (index < layout.n_tables and index != t):
                continue
            added.add(index)
            table = parts.table(u, index)
            for cell in np.ndindex(layout.shapes[t]):
                state = dict(zip(axes, cell, strict=True))
                below = []
                for v in part:
                    at = state[v % n_variables]
                    if v >= n_variables:
                        n_groups = parts.n_states[v]
                        at = at * n_groups // layout.n_states[v % n_variables]
                    below.append(slice(0 if ordered[v % n_variables] else at, at + 1))
                layout.table(weights, t)[cell] += table[tuple(below)].sum()
    assert len(added) == parts.n_tables
    return weights


@settings(max_examples=25)
@given(
    data=data_sets(max_features=4),
    random=generators(),
    k=st.integers(1, 3),
    fraction=st.sampled_from([0.0, 0.6, 1.0]),
    interactions=st.sampled_from([None, 1, 2, 3]),
    grouped=st.booleans(),
)
def test_value_equals_the_formula_and_gradient_finite_differences(
    data, random, k, fraction, interactions, grouped
):
    structure = random_k_tree(random, data.schema, k)
    families = FamilyLayout.of_structure(data.schema, structure)
    layout = families
    if interactions is not None:
        layout, _ = limit_interactions(families, interactions)
    target = layout.target
    ordered = random.random(len(data.schema)) < fraction
    ordered[target] = False
    groups = [int(random.integers(1, r + 1)) for r in layout.n_states]
    coordinates = Coordinates(layout, tuple(ordered), tuple(groups) if grouped else ())
    u = random.normal(size=coordinates.n_in)
    weights = coordinates.apply(u)
    assert_close(weights, plain_weights(coordinates, u, ordered))
    rows = ConditionalLogLoss(layout, tuple(data.blocks()))
    objective = PenalisedObjective(rows, coordinates, 0.7)
    value, gradient = objective.value_and_gradient(u)
    penalised = u.copy()
    penalised[coordinates.prior] = 0.0
    assert len(coordinates.prior) == data.schema.n_classes
    expected = plain_objective(data, weights, layout, penalised, target, 0.7)
    assert_close(objective.scale * value, expected)
    direction = random.normal(size=len(u))
    step = 1e-5
    up, _ = objective.value_and_gradient(u + step * direction)
    down, _ = objective.value_and_gradient(u - step * direction)
    assert_close(gradient @ direction, (up - down) / (2 * step), 1e-5)
    # Other coordinates of the same weights: the same P(c | x), so the same loss.
    again = coordinates.apply(coordinates.from_weights(weights))
    complete = data.take(np.arange(data.n_samples))
    if (data.codes < data.schema.n_states[:-1]).all():
        blocks = tuple(complete.blocks())
        losses = [
            ConditionalLogLoss(layout, blocks).value_and_gradient(w)[0]
            for w in (weights, again)
        ]
        assert_close(*losses)


@settings(max_examples=25)
@given(
    data=data_sets(max_features=5), random=generators(), k=st.integers(1, 3),
    interactions=st.integers(1, 3),
)  # fmt: skip
def test_tables_of_fewer_features_add_up_to_families(data, random, k, interactions):
    structure = random_k_tree(random, data.schema, k)
    families = FamilyLayout.of_structure(data.schema, structure)
    model = NetworkModel(
        data.schema, structure, interactions, smooth=False, pair_bins=None
    )
    factors, into = limit_interactions(families, interactions)
    assert factors == model.factors
    assert into == model.into
    for axes in factors.axes:
        assert len(set(axes) - {families.target}) <= interactions
    weights = random.normal(size=factors.n_cells)
    added = TableSums(factors, families, into).apply(weights)
    assert_close(added.sum(), sum(
        factors.table(weights, t).sum() * families.sizes[whole] / factors.sizes[t]
        for t, whole in enumerate(into)
    ))  # fmt: skip
    # There and back: the same P(c | x).
    u = random.normal(size=model.coordinates.n_in)
    again = model.from_cpts(model.to_cpts(u).log_theta)
    complete = np.minimum(data.codes, (data.schema.n_states[:-1] - 1).astype(np.uint8))
    blocks = tuple(ArrayData(data.schema, complete, data.labels).blocks())
    assert_close(model.posterior(again, blocks), model.posterior(u, blocks), 1e-9)


@settings(max_examples=25)
@given(data=data_sets(max_features=4), random=generators())
def test_coordinates_are_carried_to_another_direction(data, random):
    schema = data.schema
    n_features = len(schema) - 1
    chain = Structure.class_rooted(
        [*((v - 1,) if v else () for v in range(n_features)), ()], schema.target
    )
    back = Structure.class_rooted(
        [*((v + 1,) if v < n_features - 1 else () for v in range(n_features)), ()],
        schema.target,
    )
    smooth = tuple(random.random(len(schema)) < 0.5)
    groups = tuple(int(random.integers(1, v.n_states + 1)) for v in schema)
    there, then = (
        Coordinates(FamilyLayout.of_structure(schema, structure), smooth, groups)
        for structure in (chain, back)
    )
    u = random.normal(size=there.n_in)
    carried = then.carry(there, u)
    assert_close(np.sort(carried), np.sort(u))
    assert np.array_equal(there.carry(then, carried), u)
    complete = np.minimum(data.codes, (schema.n_states[:-1] - 1).astype(np.uint8))
    rows = tuple(ArrayData(schema, complete, data.labels, data.weights).blocks())
    losses = [
        ConditionalLogLoss(c.factors, rows).value_and_gradient(c.apply(v))[0]
        for c, v in ((there, u), (then, carried))
    ]
    assert_close(*losses)


def test_weights_of_pairs_have_no_interaction_of_three():
    random = np.random.default_rng(5)
    variables = [Variable(name, (0, 1, 2)) for name in ("u", "v", "w", "class")]
    schema = Schema(tuple(variables), 3)
    codes = np.asfortranarray(random.integers(0, 3, (300, 3)).astype(np.uint8))
    data = ArrayData(schema, codes, (codes.prod(axis=1) % 3).astype(np.uint8))
    structure = Structure.class_rooted([(), (0,), (0, 1), ()], 3)
    codes = np.array(list(np.ndindex(*data.schema.n_states[:-1])), dtype=np.uint8)
    shape = (*data.schema.n_states[:-1], 3)

    def interaction(**options):
        tables = tight(**options).learn(structure, data)
        network = Network(data.schema, structure, tables)
        joint = network.engine.log_joint(np.asfortranarray(codes)).reshape(shape)
        for axis in range(4):
            joint = joint - joint.mean(axis=axis, keepdims=True)
        return np.abs(joint).max()

    assert interaction() > 0.01
    assert interaction(interactions=2) < 1e-9
    assert interaction(interactions=1) < 1e-9


def test_groups_share_the_weights_of_pairs_only():
    random = np.random.default_rng(6)
    variables = [Variable.binned(name, [1.0, 2.0, 3.0]) for name in ("u", "v")]
    schema = Schema((*variables, Variable("class", (0, 1))), 2)
    codes = np.asfortranarray(random.integers(0, 4, (300, 2)).astype(np.uint8))
    labels = ((codes[:, 0] >= 2) ^ (codes[:, 1] >= 2) ^ (codes[:, 1] == 3)) & 1
    data = ArrayData(schema, codes, labels.astype(np.uint8))
    structure = Structure.class_rooted([(), (0,), ()], 2)
    for smooth in (False, True):
        learner = tight(smooth=smooth, pair_bins=2)
        network = Network(schema, structure, learner.learn(structure, data))
        every = np.array(list(np.ndindex(4, 4)), dtype=np.uint8)
        joint = network.engine.log_joint(np.asfortranarray(every))
        odds = (joint[:, 1] - joint[:, 0]).reshape(4, 4)
        # Within a group of v, how the odds change with u does not depend on v.
        for low in (0, 2):
            change = odds[:, low + 1] - odds[:, low]
            assert_close(change, np.full(4, change[0]), 1e-7)
        assert np.ptp(odds[:, 2] - odds[:, 0]) > 0.1
        again = tight(smooth=smooth, pair_bins=2)
        again.learn(structure, data, start=network.parameters)
        assert again.n_iter_ < learner.n_iter_


@settings(max_examples=25)
@given(
    data=data_sets(max_features=5),
    random=generators(),
    kind=st.sampled_from(["tree", "2-tree", "3-tree"]),
    likeliest=st.booleans(),
)
def test_normalised_tables_give_the_same_posterior(data, random, kind, likeliest):
    if kind == "tree":
        structure = random_structure(random, data.schema)
    else:
        structure = random_k_tree(random, data.schema, int(kind[0]))
    layout = FamilyLayout.of_structure(data.schema, structure)
    weights = random.normal(size=layout.n_cells) * 3
    normaliser = FullNormaliser(structure, layout)
    if likeliest:
        tables = normaliser.fit_cpts(weights, data)
    else:
        tables = Parameters(layout, normaliser.normalise(weights)[0])
    network = Network(data.schema, structure, tables)
    for variable in data.schema:
        assert_close(network.table(variable.name).values.sum(axis=-1), 1.0, 1e-12)
    complete = np.minimum(data.codes, (data.schema.n_states[:-1] - 1).astype(np.uint8))
    joint = np.zeros((data.n_samples, data.schema.n_classes))
    for t, axes in enumerate(layout.axes):
        codes = tuple(complete[:, v] for v in axes if v != data.schema.target)
        table = layout.table(weights, t)
        joint += table[codes] if codes else table
    found = softmax(network.engine.log_joint(np.asfortranarray(complete)), axis=1)
    assert np.abs(found - softmax(joint, axis=1)).max() < 1e-10
    again = FullNormaliser(structure, layout).centre(tables.log_theta)
    blocks = tuple(ArrayData(data.schema, complete, data.labels).blocks())
    losses = [
        ConditionalLogLoss(layout, blocks).value_and_gradient(w)[0]
        for w in (weights, again)
    ]
    assert_close(*losses)


@pytest.mark.numerical
@pytest.mark.parametrize("weighted", [False, True])
def test_naive_bayes_equals_logistic_regression(weighted):
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (300, 4))
    y = (X[:, 0] + X[:, 1] + random.integers(0, 2, 300)) % 3
    weights = random.random(300) + 0.5 if weighted else None
    ours = BayesNetClassifier("categorical", "nb", tight(C=0.5)).fit(X, y, weights)
    hot = OneHotEncoder().fit(X)
    theirs = LogisticRegression(C=0.5, tol=1e-8, max_iter=5000)
    theirs.fit(hot.transform(X), y, weights)
    expected = theirs.predict_proba(hot.transform(X))
    assert np.abs(ours.predict_proba(X) - expected).max() < 1e-6


def test_any_start_ends_at_the_certified_optimum():
    random = np.random.default_rng(1)
    data = random_data(random, 120, 4, n_classes=3, max_states=3)
    structure = ChowLiu().learn(data).structure
    learners = [tight(), tight()]
    starts = [None, Frequency().learn(structure, data)]
    tables = [
        learner.learn(structure, data, start=start).log_theta
        for learner, start in zip(learners, starts, strict=True)
    ]
    assert np.abs(tables[0] - tables[1]).max() < 1e-5
    ends = [learner.certificate_ for learner in learners]
    assert (
        abs(ends[0]["objective"] - ends[1]["objective"])
        <= max(end["gap"] for end in ends) + 1e-9
    )
    loose = ConditionalLikelihood(tol=1e-2)
    loose.learn(structure, data)
    above = loose.certificate_["objective"] - ends[0]["objective"]
    assert -1e-9 <= above <= loose.certificate_["gap"]


def test_conditional_likelihood_beats_frequencies_on_copies_of_a_feature():
    random = np.random.default_rng(2)
    y = random.integers(0, 2, 400)
    first = np.where(random.random(400) < 0.7, y, 1 - y)
    other = np.where(random.random(400) < 0.75, y, 1 - y)
    X = np.column_stack([first] * 6 + [other])
    scores = {}
    for parameters in (Frequency(), ConditionalLikelihood()):
        model = BayesNetClassifier("categorical", "nb", parameters).fit(X, y)
        log_proba = model.predict_log_proba(X)
        scores[type(parameters).__name__] = log_proba[np.arange(400), y].mean()
    assert scores["ConditionalLikelihood"] > scores["Frequency"] + 0.05


def test_any_number_of_threads_gives_the_same_bits():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 4, (20_000, 5)), random.integers(0, 3, 20_000)
    one, two = (
        BayesNetClassifier(
            "categorical", "tan", ConditionalLikelihood(tol=1e-2), n_jobs=n
        ).fit(X, y)
        for n in (1, 3)
    )
    tables = [model.network_.parameters.log_theta for model in (one, two)]
    assert np.array_equal(*tables)


def test_the_classifier_shows_the_certificate():
    X, y = [["a"], ["b"], ["a"], ["b"]], [0, 1, 0, 1]
    model = BayesNetClassifier(structure="nb", parameters=ConditionalLikelihood()).fit(
        X, y
    )
    assert model.parameters_.certificate_["gap"] < 1e-3
    assert not hasattr(model.parameters, "certificate_")


def test_separable_data_stay_finite():
    X, y = [["a"], ["b"]] * 20, [0, 1] * 20
    model = BayesNetClassifier(
        structure="nb", parameters=ConditionalLikelihood(C=1e6)
    ).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, y) == 1.0


def test_too_few_steps_are_warned_of():
    random = np.random.default_rng(4)
    data = random_data(random, 100, 4, n_classes=3, max_states=3)
    structure = random_structure(random, data.schema)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        ConditionalLikelihood(max_iter=1, tol=1e-12).learn(structure, data)


def test_other_structures_are_refused():
    data = random_data(np.random.default_rng(0), 20, 3)
    with pytest.raises(CapabilityError, match="joined to each other"):
        ConditionalLikelihood().learn(
            Structure.class_rooted([(), (), (0, 1), ()], 3), data
        )
    with pytest.raises(CapabilityError, match="a parent of every feature"):
        ConditionalLikelihood().learn(Structure(((3,), (), (), ()), 3), data)


@pytest.mark.parametrize("fallback", ["elr", ELR, 3])
def test_a_fallback_that_is_no_learner_is_refused(fallback):
    data = random_data(np.random.default_rng(0), 20, 3)
    learner = ConditionalLikelihood(fallback=fallback)
    assert learner.order_matters is False
    for parents in ([(), (), (0, 1), ()], [(), (), (), ()]):
        with pytest.raises(CapabilityError, match=r"give fallback=ELR\(\)"):
            learner.learn(Structure.class_rooted(parents, 3), data)


def test_likeliest_cpts_match_the_distribution_of_the_features():
    random = np.random.default_rng(7)
    data = random_data(random, 400, 4, n_classes=3, max_states=3)
    structure = random_structure(random, data.schema)
    layout = FamilyLayout.of_structure(data.schema, structure)
    weights = random.normal(size=layout.n_cells)
    normaliser = FullNormaliser(structure, layout)
    counts = data.count(structure.families)
    tables = normaliser.fit_cpts(weights, data)
    joint = normaliser.joint(tables.log_theta)
    before = normaliser.joint(normaliser.normalise(weights)[0])
    for t, owner in enumerate(layout.owners):
        if owner != layout.target:
            model = layout.table(joint, t).sum(axis=-1)
            observed = counts.table(t).sum(axis=-1) / data.n_samples
            assert np.abs(model - observed).max() < 5e-3
            assert np.abs(layout.table(before, t).sum(axis=-1) - observed).max() > 0.02


def test_penalty_by_cross_validation():
    random = np.random.default_rng(8)
    y = random.integers(0, 2, 300)
    signal = np.where(random.random(300) < 0.9, y, 1 - y)
    X = np.column_stack([signal, random.integers(0, 12, (300, 6))])
    learner = ConditionalLikelihood(C="cv", folds=4)
    model = BayesNetClassifier("categorical", "nb", learner).fit(X, y)
    fitted = model.parameters_
    tried = [step for step in fitted.trace_ if "C" in step]
    best = min(tried, key=lambda step: step["held_out_loss"])
    assert fitted.C_ == best["C"] != tried[-1]["C"]
    same = BayesNetClassifier(
        "categorical", "nb", ConditionalLikelihood(C=fitted.C_)
    ).fit(X, y)
    assert_close(model.predict_proba(X), same.predict_proba(X), 1e-2)
    assert learner.order_matters
    assert not ConditionalLikelihood().order_matters


def test_the_penalty_is_chosen_by_some_rows_if_there_are_many(monkeypatch):
    random = np.random.default_rng(8)
    y = np.repeat([0, 1], [300, 200])
    X = np.column_stack(
        [(y + (random.random(500) < 0.3)) % 2, random.integers(0, 9, 500)]
    )
    monkeypatch.setattr(conditional_likelihood, "MAX_SAMPLES", 250)
    every = (
        BayesNetClassifier("categorical", "nb", ConditionalLikelihood(C="cv"))
        .fit(X, y)
        .parameters_
    )
    rows = stratified_subsample(y, 250)
    few = BayesNetClassifier("categorical", "nb", ConditionalLikelihood(C="cv")).fit(
        X[rows], y[rows]
    )
    tried, expected = (
        [step["held_out_loss"] for step in learner.trace_ if "C" in step]
        for learner in (every, few.parameters_)
    )
    assert tried == expected
    assert every.certificate_["objective"] > few.parameters_.certificate_["objective"]


def test_a_fit_goes_on_where_the_class_table_moves_the_others():
    X = [[3, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 1]]
    X += [[0, 3], [1, 0], [2, 0], [4, 4], [2, 3], [3, 2]]
    y = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]
    learner = ConditionalLikelihood(C=3000.0, smooth=True)
    certificate = (
        BayesNetClassifier("quantile", "tan", learner)
        .fit(X, y)
        .parameters_.certificate_
    )
    assert certificate["gap"] < 0.1 * certificate["objective"]


def test_cross_validation_with_classes_smaller_than_the_folds():
    X = np.array([[0], [0], [1], [1], [2], [0], [1]])
    y = np.array(["a", "a", "b", "b", "rare", "a", "b"])
    model = BayesNetClassifier("categorical", "nb", ConditionalLikelihood(C="cv")).fit(
        X, y
    )
    assert np.isfinite(model.predict_log_proba(X)).all()
    single = BayesNetClassifier("categorical", "nb", ConditionalLikelihood(C="cv"))
    assert single.fit([["x"], ["y"]], ["a", "b"]).parameters_.C_ == 1.0


@pytest.mark.parametrize("structure", ["nb", "tan"])
@pytest.mark.parametrize("max_iter", [1, 2, 4, 500])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_holds_from_any_start(structure, max_iter):
    random = np.random.default_rng(max_iter)
    for _ in range(6):
        y = random.integers(0, 3, 60)
        X = np.repeat(y[:, None], 3, axis=1) + random.integers(0, 2, (60, 3))
        model = BayesNetClassifier(
            "categorical", structure, ConditionalLikelihood(C=1e4)
        )
        model.set_params(warm_start=True).fit(X, y)
        y = random.permutation(y)
        model.set_params(parameters=ConditionalLikelihood(max_iter=max_iter)).fit(X, y)
        best = BayesNetClassifier("categorical", structure, tight()).fit(X, y)
        found, least = model.parameters_.certificate_, best.parameters_.certificate_
        assert (
            0 <= found["objective"] - least["objective"] + 1e-6 <= found["gap"] + 1e-5
        )
        assert found["objective"] < 1e6


@pytest.mark.parametrize("C", [1e-200, 1e300])
def test_a_penalty_beyond_double_precision_is_refused(C):
    X, y = [["a"], ["b"]] * 20, [0, 1] * 20
    with pytest.raises(InputError, match="times the weight of the samples"):
        BayesNetClassifier(structure="nb", parameters=ConditionalLikelihood(C=C)).fit(
            X, y
        )


def test_an_unmet_gap_is_warned_of():
    X, y = [["a", "u"], ["b", "v"]] * 30, [0, 1] * 30
    model = BayesNetClassifier(
        structure="nb", parameters=ConditionalLikelihood(C=1e9, max_iter=5)
    )
    with pytest.warns(ConvergenceWarning, match="of max_iter=5 iterations"):
        model.fit(X, y)


def test_a_class_without_weight_is_part_of_the_gap():
    random = np.random.default_rng(12)
    X, y = random.integers(0, 3, (60, 2)), random.integers(0, 3, 60)
    model = BayesNetClassifier(
        "categorical", "nb", ConditionalLikelihood(), class_weight={0: 0.0}
    )
    found = model.fit(X, y).parameters_.certificate_
    two = BayesNetClassifier("categorical", "nb", tight()).fit(X[y > 0], y[y > 0])
    # Without the class altogether the objective is lower, by no more than the gap.
    least = two.parameters_.certificate_["objective"]
    assert 0 <= found["objective"] - least <= found["gap"]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_large_families_of_pairs_stay_sums(monkeypatch, missing):
    random = np.random.default_rng(4)
    data = random_data(random, 200, 5, missing=missing, max_states=4, n_classes=3)
    structure = random_k_tree(random, data.schema, 2)
    learner = ConditionalLikelihood(C=0.5, interactions=2)
    full = learner.learn(structure, data)
    monkeypatch.setattr("tanager.loglinear.weights_to_cpts.FULL_CELLS", 10)
    sums = learner.learn(structure, data)
    owners = full.layout.owners
    assert len(set(owners)) == len(owners)
    assert len(set(sums.layout.owners)) < sums.layout.n_tables
    complete = random_codes(random, data.schema, 50)
    assert_close(
        softmax(Engine(sums).log_joint(complete), axis=1),
        softmax(Engine(full).log_joint(complete), axis=1),
        1e-8,
    )
    # Where P(c | x) leaves a choice the tables may differ; they are proper all the same
    incomplete = random_codes(random, data.schema, 50, missing=0.3)
    assert np.isfinite(Engine(sums).log_joint(incomplete)).all()


def test_the_state_of_missing_values_is_no_neighbour_of_the_last_bin():
    random = np.random.default_rng(3)
    age = Variable.binned("age", [1.0, 2.0, 3.0]).with_missing_state()
    schema = Schema((age, Variable("class", ("no", "yes"))), 1)
    codes = np.asfortranarray(random.integers(0, 5, (300, 1)).astype(np.uint8))
    chance = np.array([0.2, 0.4, 0.6, 0.9, 0.1])[codes[:, 0]]
    labels = (random.random(300) < chance).astype(np.uint8)
    data = ArrayData(schema, codes, labels)
    learner = ConditionalLikelihood(C=0.1, smooth=True, tol=1e-9)
    learned = learner.learn(Structure(((1,), ()), 1), data)

    def objective(x):
        weights, bias = x[:10].reshape(5, 2), x[10:]
        log_p = log_softmax(weights[codes[:, 0]] + bias, axis=1)
        penalty = np.square(np.diff(weights[:4], axis=0, prepend=0.0)).sum()
        penalty += np.square(weights[4]).sum()
        return -0.1 * log_p[np.arange(300), labels].sum() + penalty / 2

    found = minimize(objective, np.zeros(12), tol=1e-12)
    log_joint = found.x[:10].reshape(5, 2) + found.x[10:]
    layout = learned.layout
    table = layout.table(learned.log_theta, layout.owners.index(0))
    prior = layout.table(learned.log_theta, layout.owners.index(1))
    classes_last = np.moveaxis(table, layout.axes[0].index(1), -1) + prior
    assert_close(softmax(classes_last, axis=1), softmax(log_joint, axis=1), 1e-5)


@pytest.mark.parametrize("structure", ["nb", "tan", "2-tree-res"])
def test_auto_gives_missing_values_a_state(structure):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    X = random.normal(size=(300, 4))
    X[:, 0] += y
    X[random.random(300) < 0.1 + 0.6 * y, 1] = np.nan  # missing tells the class
    X[random.random(300) < 0.3, 2] = np.nan
    model = BayesNetClassifier(structure=structure).fit(X, y)
    states = [v.missing_state for v in model.network_.schema]
    assert states == [False, True, True, False, False]
    kept = BayesNetClassifier(
        encoder=TableEncoder(numeric=QuantileEncoder(n_bins=50)), structure=structure
    ).fit(X, y)
    assert not any(v.missing_state for v in kept.network_.schema)
    assert model.score(X, y) > kept.score(X, y) + 0.05
    # A feature that was always observed is marginalised.
    sample = np.array([[np.nan, np.nan, 0.0, 0.0]])
    evidence = {"x1": "missing", "x2": 0.0, "x3": 0.0}
    expected = model.network_.posterior(evidence)
    assert_close(model.predict_proba(sample)[0, 1], expected[1])
