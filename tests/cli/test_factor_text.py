"""What `show` prints of a model that is a sum of factors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tanager import BayesNetClassifier, InputError, LogLinearNetwork, Schema, Variable
from tanager.cli._factor_effects import (
    TOLERANCE,
    effect_range,
    make_effects,
    strongest_classes,
)
from tanager.cli._factor_summary import factor_summary
from tanager.cli._factor_text import bin_label, factor_text
from tanager.io import write_model
from tanager.loglinear.factor import Axis, Factor
from tanager.loglinear.fitted_factors import FactorTable, FactorTables

AGE = Variable.binned("age", np.arange(20.0, 70.0)).with_missing_state()
SKY = Variable("sky", ("blue", "grey", "black"))
PLACE = Variable("home, town", tuple(f"place number {k}" for k in range(30)))
SIZE = Variable("size", ("small", "middle", "large"), ordered=True)
FEATURES = (AGE, SKY, PLACE, SIZE)


def axis(feature):
    """Every state in a bin of its own."""
    variable = FEATURES[feature]
    return Axis.of(feature, variable, np.ones(variable.n_states), None)


def make_network(values, *scopes, classes=("no", "yes"), support=None):
    """Factors over `scopes` with the values of a function of shape and seed."""
    schema = Schema((*FEATURES, Variable("play", classes)), target=len(FEATURES))
    tables = []
    for seed, scope in enumerate(scopes):
        factor = Factor(tuple(map(axis, scope)))
        shape = (*factor.shape, len(classes))
        weights = np.broadcast_to(values(shape, seed), shape).copy()
        weights -= weights.mean(axis=-1, keepdims=True)
        samples = np.ones(factor.shape) if support is None else support(factor.shape)
        for place in range(len(scope)):  # nothing was not observed
            np.moveaxis(samples, place, 0)[-1] = 0.0
            np.moveaxis(weights, place, 0)[-1] = 0.0
        rows = weights.reshape(factor.n_cells, -1)
        tables.append(FactorTable(factor, rows, samples.ravel(), 1.0))
    prior = np.log(np.arange(1.0, len(classes) + 1))
    return LogLinearNetwork(schema, FactorTables(prior, tuple(tables)))


def noise(shape, seed):
    return np.random.default_rng(seed).normal(size=shape)


def samples(shape):
    return np.random.default_rng(9).integers(1, 50, shape).astype(float)


def lines_after_head(text):
    """The lines of the table: between the first and the second empty line."""
    return text.split("\n\n")[1].splitlines()


def test_log_odds_are_those_of_the_model():
    network = make_network(noise, (0,), (0, 1), (0, 1, 3))
    for names in (["age"], ["sky", "age"], ["size", "age", "sky"]):
        table = network.factor(*names)
        effects = make_effects(table, network.schema)
        weights = network.log_table(*names).values
        observed = (slice(-1),) * len(names)  # without the bin of no value
        odds = (weights[..., 1] - weights[..., 0])[observed]
        np.testing.assert_array_equal(effects.values[..., 0], odds)
        assert effects.spread == 0.0
        assert effect_range(table, 1) == (odds.min(), odds.max())


def test_merged_bins_are_weighted_means_and_state_their_difference():
    network = make_network(noise, (0,), support=samples)
    whole = make_effects(network.factor("age"), network.schema)
    merged = whole.merge(0, 20)
    assert len(merged.states[0]) == 20
    assert merged.states[0][-1] == (51,)  # missing values stay alone
    flat = [code for codes in merged.states[0] for code in codes]
    assert flat == list(range(52))
    assert merged.support.sum() == whole.support.sum()
    differences = []
    for codes, value, total in zip(
        merged.states[0], merged.values[:, 0], merged.support, strict=True
    ):
        own, weight = whole.values[list(codes), 0], whole.support[list(codes)]
        assert value == pytest.approx(np.average(own, weights=weight))
        assert total == weight.sum()
        differences.append(np.ptp(own))
    assert merged.spread == pytest.approx(max(differences))
    assert 0 < merged.spread < np.ptp(whole.values)


def test_neighbours_that_differ_least_are_merged_first():
    curve = np.repeat(np.arange(17.0) ** 2, 3)  # 17 steps of three bins

    def values(shape, _):
        odds = np.zeros(shape[0])
        odds[:51] = curve
        return np.stack([-odds / 2, odds / 2], axis=1)

    network = make_network(values, (0,))
    merged = make_effects(network.factor("age"), network.schema).merge(0, 20)
    small = TOLERANCE * curve.max()
    # The lowest steps differ by 1, 3 and 5: less than two in a hundred of 256.
    assert merged.spread <= small
    found = merged.values[:-1, 0].tolist()
    assert found[-3:] == [14**2, 15**2, 16**2]
    assert len(found) < 17


def test_a_curve(done):
    network = make_network(noise, (0,), (0, 1), support=samples)
    write_model("m.json", network)
    text = done("show", "m.json", "--table", "age").stdout
    table = network.factor("age")
    head, meaning = text.splitlines()[:2]
    assert head == f"age: importance {table.importance:.3f}, 52 bins"
    assert meaning == "Log odds of yes against no"
    rows = lines_after_head(text)
    assert rows[0].split() == ["age", "Samples", "Log", "odds"]
    assert len(rows) == 21
    assert rows[1].startswith("(-inf, ")
    assert rows[-1].startswith("missing ")
    bounds = re.findall(r"(?m)^\((\S+), (\S+)[\])]", "\n".join(rows))
    assert [high for _, high in bounds[:-1]] == [low for low, _ in bounds[1:]]
    for row in rows[1:]:
        odds = float(re.search(r"[+-]\d+\.\d\d", row)[0])
        assert ("+|" in row, "|+" in row) == (False, row.endswith("+"))
        assert row.endswith("+") <= (odds > 0)
        assert ("-|" in row) <= (odds < 0)
    assert "merged (age 52 to 20): values within one" in text
    assert "Also see age x sky." in text
    everything = done("show", "m.json", "--table", "age", "--all").stdout
    assert len(lines_after_head(everything)) == 53
    assert "merged" not in everything
    assert "(20, 21]" in everything


def test_categories_are_sorted_and_grouped(done):
    def values(shape, _):
        odds = np.zeros(shape[0])
        odds[:30] = np.arange(30) // 2  # the two of a pair are alike
        odds = np.roll(odds, 7)
        return np.stack([-odds / 2, odds / 2], axis=1)

    network = make_network(values, (2,), support=lambda s: np.arange(1.0, s[0] + 1))
    text = factor_text(network, "home, town")
    rows = lines_after_head(text)[1:]
    odds = [float(re.search(r"[+-]\d+\.\d\d", row)[0]) for row in rows]
    assert odds == sorted(odds)
    assert len(rows) <= 20
    assert rows[1].startswith("place number 10, place number 9  ")  # 11 and 10 samples
    everything = lines_after_head(factor_text(network, "home, town", everything=True))
    assert len(everything) == 31


def test_names_of_bins():
    assert bin_label(AGE, (3,), 20) == "(22, 23]"
    assert bin_label(AGE, (0, 1, 2), 20) == "(-inf, 22]"
    assert bin_label(AGE, (51,), 20) == "missing"
    assert bin_label(AGE, (52,), 20) == "not observed"
    assert bin_label(SKY, (3,), 20) == "missing"  # of samples without a value
    assert bin_label(SKY, (2, 0), 20) == "black, blue"
    assert bin_label(SKY, (2, 0, 1), 16) == "black and 2 more"
    assert bin_label(SIZE, (0, 1), 20) == "small to middle"
    assert bin_label(Variable("x", ("a" * 50,)), (0,), 20) == "a" * 17 + "..."


def test_pairs_are_found_in_any_order(done):
    network = make_network(noise, (0,), (0, 1), (0, 1, 3), (1, 2))
    write_model("m.json", network)
    comma = done("show", "m.json", "--table", "home, town,sky").stdout
    assert comma == done("show", "m.json", "--table", "sky,home, town").stdout
    assert comma.startswith("sky x home, town: importance ")
    text = done("show", "m.json", "--table", "age,sky").stdout
    assert text == done("show", "m.json", "--table", " sky , age").stdout
    assert text.startswith("age x sky: importance ")
    triple = done("show", "m.json", "--table", "size,age,sky").stdout
    assert triple == done("show", "m.json", "--table", "age,sky,size").stdout
    both = done("show", "m.json", "--table", "age,sky", "--table", "age").stdout
    assert both.startswith(text.rstrip("\n") + "\n\nage: ")


def test_a_grid_has_the_values_of_the_cells():
    network = make_network(noise, (1, 3))
    rows = lines_after_head(factor_text(network, "sky,size"))
    weights = network.log_table("sky", "size").values
    odds = weights[:3, :3, 1] - weights[:3, :3, 0]
    assert rows[0].split() == ["sky"]
    assert rows[1].split()[0] == "size"
    across = rows[1].split()[1:]
    for row in rows[2:]:
        size, *numbers = row.split()
        for sky, number in zip(across, numbers, strict=True):
            place = SKY.states.index(sky), SIZE.states.index(size)
            assert number == f"{odds[place]:+.2f}"


def test_cells_without_samples_are_dots():
    def support(shape):
        found = np.ones(shape)
        found[0, 1] = 0.0
        return found

    network = make_network(noise, (1, 3), support=support)
    text = factor_text(network, "sky,size")
    (row,) = [row for row in lines_after_head(text) if row.startswith("middle")]
    assert row.split().count(".") == 1
    assert "A dot marks cells without training samples." in text


def test_a_triple_has_a_grid_for_every_state_of_one_feature():
    network = make_network(noise, (0, 1, 3))
    text = factor_text(network, "age,sky,size")
    assert re.findall(r"(?m)^sky: (\w+)$", text) == sorted(
        SKY.states, key=lambda state: text.index(f"sky: {state}")
    )
    grids = re.split(r"(?m)^sky: \w+\n", text)[1:]
    assert len(grids) == 3
    for grid in grids:
        assert grid.split("\n\n")[0].count("missing") == 1
        assert 12 <= len(grid.split("\n\n")[0].splitlines()) <= 15


def test_of_many_classes_those_that_vary_most_are_shown():
    classes = tuple(f"class number {k}" for k in range(26))

    def values(shape, seed):
        found = noise(shape, seed)
        found[..., 7] *= 30
        found[..., 3] += 1000  # the same in all cells
        return found

    network = make_network(values, (0,), (0, 1), (0, 1, 3), classes=classes)
    assert strongest_classes(network.factor("age"))[0] == 7
    curve = factor_text(network, "age")
    shown = int(re.search(r"of (\d+) classes, the strongest first", curve)[1])
    assert f"{26 - shown} others are left out" in curve
    grid = factor_text(network, "age,sky")
    assert grid.count("\nplay: class number") == 2
    assert "\nplay: class number 7\n" in grid
    assert "Log weights of 2 classes, the strongest first; 24 others" in grid
    triple = factor_text(network, "age,sky,size")
    assert triple.count("\nplay: class number 7, sky: ") == 3
    for text in (curve, grid, triple):
        assert max(map(len, text.splitlines())) <= 100
    everything = factor_text(network, "age,sky", everything=True)
    assert everything.count("\nplay: class number") == 26
    assert "left out" not in everything


def test_lines_of_long_names_fit():
    states = tuple(f"a state with quite a long name, number {k}" for k in range(12))
    names = [f"a feature with a name of many words, number {k}" for k in range(3)]
    features = [Variable(name, states) for name in names]
    target = Variable("a class with a long name", states[:5])
    schema = Schema((*features, target), target=3)
    axes = tuple(
        Axis.of(k, v, np.ones(v.n_states), None) for k, v in enumerate(features)
    )
    tables = []
    for scope in (axes[:1], axes[:2], axes):
        factor = Factor(scope)
        support = np.ones(factor.n_cells)
        tables.append(FactorTable(factor, noise((len(support), 5), 0), support, 1.0))
    network = LogLinearNetwork(schema, FactorTables(np.zeros(5), tuple(tables)))
    for table in tables:
        text = factor_text(network, ",".join(f" {n}" for n in network.names_of(table)))
        assert "no factor" not in text
        # The names in the titles are not cut.
        rest = text.split("\n\n", 1)[1].splitlines()
        lines = [line for line in rest if not line.startswith(target.name)]
        assert len(lines) >= 10
        assert max(map(len, lines)) <= 100
    assert max(map(len, factor_summary(network).splitlines()[:-1])) <= 100


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("age,size", "no factor over age x size. Factors over several features with"),
        ("size", "no factor over size. The model does not use size"),
        ("age,age", "no factor over age x age. .*these: age x sky"),
        ("agee,sky", "Unknown variable 'agee'. Did you mean 'age'?"),
        ("play,sky", "no factor over play x sky"),
    ],
)
def test_factors_that_are_not_there(failed, name, message):
    network = make_network(noise, (0,), (0, 1))
    with pytest.raises(InputError, match=message):
        factor_text(network, name)
    write_model("m.json", network)
    assert re.search(message, failed("show", "m.json", "--table", name))


def test_features_without_a_factor_are_listed():
    network = make_network(noise, (0,), (0, 1))
    assert network.unused_features == ("home, town", "size")
    lines = factor_summary(network).splitlines()
    assert lines[-1] == "Without a factor, of no effect: home, town, size"
    every = make_network(noise, (0,), (1,), (2, 3))
    assert every.unused_features == ()
    assert "Without a factor" not in factor_summary(every)


def test_many_near_factors_are_counted():
    pairs = [(0, 1), (0, 2), (0, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3)]
    network = make_network(lambda *_: 0.0, *pairs)
    with pytest.raises(InputError, match=r"age x sky x size and 1 more\.$"):
        network.factor("age")


def test_the_class_alone(done):
    write_model("m.json", make_network(noise, (0,)))
    rows = done("show", "m.json", "--table", "play").stdout.splitlines()
    # The prior of the network is log 1 and log 2.
    assert [row.split()[:2] for row in rows[-2:]] == [
        ["no", "0.3333"],
        ["yes", "0.6667"],
    ]


def test_a_rating_of_two_classes(done):
    network = make_network(noise, (0,), (0, 1), (0, 1, 3))
    write_model("m.json", network)
    text = done("show", "m.json").stdout
    assert "5 variables, 3 factors, " in text
    assert f"Log odds of yes against no: {np.log(2):.2f} + all factors" in text
    rows = [line for line in text.splitlines() if line.startswith("age")]
    for row, table in zip(rows, network.by_importance(), strict=True):
        name, importance, bins, odds = re.split(r"\s{2,}", row)
        assert name == " x ".join(network.names_of(table))
        assert importance == f"{table.importance:.3f}"
        assert bins == " x ".join(str(n - 1) for n in table.factor.shape)
        low, high = effect_range(table, 1)
        assert odds == f"{low:+.2f} to {high:+.2f}"
    assert "--table age,sky" in text


def test_a_rating_of_many_classes():
    classes = tuple("ABCDEFGH")
    text = factor_summary(make_network(noise, (0,), (0, 1), classes=classes))
    rows = [line for line in text.splitlines() if line.startswith("age")]
    assert all(len(re.findall(r"[A-H] [+-]", row)) == 3 for row in rows)
    assert "of the 3 of 8 classes that vary most (5 left out)" in text
    three = factor_summary(make_network(noise, (0,), classes=("a", "b", "c")))
    assert "least and greatest of every class" in three


def test_all_factors_are_listed_on_demand(done):
    X = np.random.default_rng(0).normal(size=(500, 45))
    model = BayesNetClassifier.from_name("Factors1").fit(X, X.sum(axis=1) > 0)
    model.save("m.json")
    short = done("show", "m.json").stdout
    assert "and 5 factors of less importance; --all lists them" in short
    everything = done("show", "m.json", "--all").stdout
    assert len(re.findall(r"(?m)^x\d+ ", everything)) == 45
    assert "of less importance" not in everything
