"""Log-linear networks: values, queries, and what they cannot do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    InputError,
    LogLinearNetwork,
    Schema,
    Variable,
)
from tanager.io import write_ensemble
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables

SCHEMA = Schema(
    (
        Variable("sky", ("blue", "grey", "black")),
        Variable.binned("wind", [3.0, 6.0]),
        Variable("rain", ("no", "yes")),
    ),
    target=2,
)
SKY = Axis(0, np.array([0, 1, 1, 2]), 0)
WIND = Axis(1, np.array([0, 1, 2, 3]), 3)


def table(axes, seed):
    factor = Factor(axes)
    odds = np.random.default_rng(seed).normal(size=factor.n_cells)
    # Not observed along some axis: nothing is added.
    grid = odds.reshape(factor.shape)
    for place in range(len(axes)):
        np.moveaxis(grid, place, 0)[-1] = 0.0
    weights = np.stack([-0.5 * odds, 0.5 * odds], axis=1)
    errors = np.repeat(0.1 + np.arange(factor.n_cells)[:, None], 2, axis=1)
    return FactorTable(factor, weights, np.ones(factor.n_cells), 1.0, 2.25, errors)


@pytest.fixture
def network():
    tables = (table((SKY,), 0), table((WIND,), 1), table((SKY, WIND), 2))
    return LogLinearNetwork(SCHEMA, FactorTables(np.log([0.7, 0.3]), tables))


def log_odds(network, sky, wind):
    """The sum of the three tables, by hand."""
    single, other, pair = (t.weights[:, 1] * 2 for t in network.factors.tables)
    a, b = SKY.bins[sky], WIND.bins[wind]
    return np.log(0.3 / 0.7) + single[a] + other[b] + pair.reshape(3, 4)[a, b]


@pytest.mark.parametrize("sky", range(4))
@pytest.mark.parametrize("wind", range(4))
def test_the_sum_of_the_tables(network, sky, wind):
    codes = np.asfortranarray([[sky, wind]], dtype=np.uint8)
    log_joint = network.engine.log_joint_block(codes)[0]
    assert log_joint[1] - log_joint[0] == pytest.approx(log_odds(network, sky, wind))


def test_many_samples_give_the_same_as_few(network):
    codes = np.random.default_rng(0).integers(0, 4, (60_000, 2)).astype(np.uint8)
    codes = np.asfortranarray(codes)
    whole = network.engine.log_joint_block(codes)  # by kernels
    some = network.engine.log_joint_block(np.asfortranarray(codes[:50]))
    np.testing.assert_allclose(whole[:50], some, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_samples_give_the_bits_of_many(n_classes):
    rng = np.random.default_rng(0)
    factors = [Factor((SKY,)), Factor((SKY, WIND)), Factor((WIND,))]
    tables = tuple(
        FactorTable(f, rng.normal(size=(f.n_cells, n_classes)), np.ones(f.n_cells), 1.0)
        for f in factors * 10
    )
    log_prior = rng.normal(size=n_classes)
    codes = np.asfortranarray(rng.integers(0, 4, (20, 2)), dtype=np.uint8)
    for model in (FactorTables(log_prior, tables), FactorTables(log_prior, ())):
        single = [model.log_joint_block(codes[i : i + 1]) for i in range(20)]
        np.testing.assert_array_equal(
            np.concatenate(single), model.log_joint_block(codes)
        )


def test_posterior_of_named_values(network):
    found = network.posterior({"sky": "black", "wind": 4.5})
    assert found["yes"] == pytest.approx(1 / (1 + np.exp(-log_odds(network, 2, 1))))
    nothing = network.posterior({"sky": None})
    assert nothing["yes"] == pytest.approx(0.3)
    with pytest.raises(InputError, match="snow"):
        network.posterior({"snow": "deep"})
    assert network.posterior({"sky": None}, "rain") == nothing
    with pytest.raises(CapabilityError, match="predicts its class 'rain' only"):
        network.posterior({"wind": 4.5}, "sky")


def test_graph(network):
    assert network.interactions == (("sky", "wind"),)
    assert network.edges == (("rain", "sky"), ("rain", "wind"), ("sky", "wind"))
    assert network.markov_blanket() == ("sky", "wind")
    assert '"sky" -- "wind";' in network.to_dot()
    assert network.n_parameters == 3 + 4 + 12 + 1
    assert network.n_effective == 3 * 2.25
    assert repr(network).endswith("3 factors, 20 parameters (7 effective)>")


def test_log_table_has_merged_states(network):
    found = network.log_table("wind", "sky")
    assert found.names == ("sky", "wind", "rain")
    assert found.states[0] == ("blue", "grey, black", "not observed")
    assert found.states[1][0] == "(-inf, 3]"
    assert found.values.shape == (3, 4, 2)
    with pytest.raises(InputError, match="no factor over"):
        network.log_table("rain")


def test_a_table_has_errors_support_and_cuts(network):
    found = network.log_table("sky", "wind")
    own = network.factors.tables[2]
    np.testing.assert_array_equal(found.errors.reshape(-1, 2), own.errors)
    np.testing.assert_array_equal(found.support.ravel(), own.support)
    assert found.cuts[0] is None
    np.testing.assert_array_equal(found.cuts[1], [3.0, 6.0])
    odds = own.weights[:, 1] - own.weights[:, 0]
    np.testing.assert_array_equal(found.effects.ravel(), odds)
    np.testing.assert_array_equal(found.effect_errors.ravel(), own.errors.sum(axis=1))


def test_cuts_between_merged_bins():
    factor = Factor((Axis(0, np.array([0, 0, 1, 1, 2, 3]), 2),))
    number = Variable.binned("x", [1.0, 2.0, 3.0]).with_missing_state()
    schema = Schema((number, Variable("c", ("p", "q", "r"))), target=1)
    weights = np.arange(12.0).reshape(4, 3)
    tables = FactorTables(np.zeros(3), (FactorTable(factor, weights, np.ones(4), 1.0),))
    found = LogLinearNetwork(schema, tables).log_table("x")
    np.testing.assert_array_equal(found.cuts[0], [2.0])
    # Three classes: their weights are the effects, and nothing has an error.
    assert found.effects is found.values
    assert found.errors is None
    assert found.effect_errors is None
    columns = found.columns()
    assert list(columns) == ["x", "c", "log_weight", "standard_error", "support"]
    assert columns["c"] == ["p", "q", "r"] * 4
    assert columns["log_weight"] == weights.ravel().tolist()
    assert np.isnan(columns["standard_error"]).all()


def test_a_table_as_a_data_frame(network):
    pd = pytest.importorskip("pandas")
    frame = network.log_table("sky", "wind").to_frame()
    assert list(frame) == ["sky", "wind", "log_odds", "standard_error", "support"]
    assert len(frame) == 12
    cell = frame[(frame["sky"] == "grey, black") & (frame["wind"] == "(3, 6]")]
    own = network.factors.tables[2]
    assert cell["log_odds"].item() == np.diff(own.weights[5]).item()
    assert cell["standard_error"].item() == own.errors[5].sum()
    assert isinstance(frame, pd.DataFrame)


def test_features_with_the_names_of_columns(network):
    variables = (Variable("support", SCHEMA[0].states), *SCHEMA.variables[1:])
    named = LogLinearNetwork(Schema(variables, target=2), network.factors)
    columns = named.log_table("support").columns()
    assert list(columns) == ["support", "log_odds", "standard_error", "support_"]


def test_importance_orders_the_factors(network):
    found = [t.importance for t in network.by_importance()]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0


@pytest.mark.parametrize("name", ["sample", "most_probable", "log_likelihood", "table"])
def test_what_it_cannot_do(network, name):
    with pytest.raises(CapabilityError, match=r"with to_network\(\), or .*tan-res"):
        getattr(network, name)
    assert not hasattr(network, name)
    assert hasattr(network.to_network(), name)
    assert not hasattr(network, "no_such_name")


def test_another_target(network):
    assert network.with_target_last("rain") is network
    with pytest.raises(CapabilityError, match="predicts its class 'rain' only"):
        network.with_target_last("sky")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: Schema(s.variables, target=0), "last variable"),
        (lambda s: Schema(s.variables[1:], target=1), "variable number 1"),
        (
            lambda s: Schema((*s.variables[:2], Variable("c", (0, 1, 2))), target=2),
            "3 states",
        ),
        (
            lambda s: Schema((Variable("sky", (0, 1)), *s.variables[1:]), target=2),
            "bins of 3 states",
        ),
    ],
)
def test_parts_that_do_not_fit(network, change, message):
    with pytest.raises(InputError, match=message):
        LogLinearNetwork(change(SCHEMA), network.factors)


def test_a_classifier_from_it(network):
    model = BayesNetClassifier.from_network(network)
    X = {"wind": [1.0, 5.0], "sky": ["grey", None]}  # matched by name
    expected = [1 / (1 + np.exp(-log_odds(network, *c))) for c in ((1, 0), (3, 1))]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected)
    assert model.markov_blanket_ == ("sky", "wind")


@pytest.mark.parametrize("inline", [True, False])
def test_files_keep_every_bit(network, tmp_path, monkeypatch, inline):
    if not inline:
        monkeypatch.setattr("tanager.io.model_file.INLINE_CELLS", 0)
    path = tmp_path / "network.json"
    tanager.save(network, path)
    assert (len(list(tmp_path.iterdir())) == 1) == inline
    for again in (tanager.load(path), pickle.loads(pickle.dumps(network))):
        assert again.schema == network.schema
        assert (again.factors.log_prior == network.factors.log_prior).all()
        for one, other in zip(
            again.factors.tables, network.factors.tables, strict=True
        ):
            assert one.factor.key == other.factor.key
            assert (one.factor.lookup == other.factor.lookup).all()
            assert (one.factor.n_ordered == other.factor.n_ordered).all()
            assert (one.weights == other.weights).all()
            assert (one.support == other.support).all()
            assert (one.errors == other.errors).all()
            assert one.strength == other.strength
            assert one.effective == other.effective


def test_formats_of_cpts_hold_the_converted_network(network, tmp_path):
    tanager.save(network, tmp_path / "network.bif")
    again = tanager.load(tmp_path / "network.bif")
    for sky in SCHEMA[0].states:
        for wind in (1.0, 5.0, 9.0):
            given = {"sky": sky, "wind": wind}
            assert again.posterior(given) == pytest.approx(network.posterior(given))


def test_what_it_declares(network):
    assert not network.has_cpts
    assert network.sizes == {"factor": 3, "parameter": network.n_parameters}
    coin = tanager.Network.build({"coin": ["heads", "tails"]}, {"coin": [0.5, 0.5]})
    assert coin.has_cpts
    assert coin.sizes == {"arc": 0, "parameter": 1}


def test_ensembles_have_cpts(network, tmp_path):
    with pytest.raises(InputError, match="0 of 2 networks"):
        write_ensemble(tmp_path / "both.json", [network, network], [1.0, 1.0])
