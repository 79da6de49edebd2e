from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanager
from tanager import (
    DFE,
    BayesNetClassifier,
    Frequency,
    InputError,
    Network,
    Structure,
)
from tanager.data import ArrayData
from tanager.parameters import dfe
from tests.reference.counting import frequencies
from tests.reference.dfe import dfe_tables
from tests.strategies import (
    data_sets,
    generators,
    random_dag,
    random_data,
    random_structure,
)
from tests.tolerance import assert_close


@settings(max_examples=30)
@given(
    data=data_sets(max_features=4),
    random=generators(),
    alpha=st.sampled_from([0.0, 0.01, 1.0]),
    passes=st.integers(1, 3),
    general=st.booleans(),
)
def test_tables_equal_the_text(data, random, alpha, passes, general):
    drawn = random_dag if general else random_structure
    structure = drawn(random, data.schema, max_parents=2)
    parameters = DFE(passes=passes, alpha=alpha).learn(structure, data)
    network = Network(data.schema, structure, parameters)
    expected = dfe_tables(
        data.codes,
        data.labels,
        data.weights,
        data.schema.n_states,
        structure.families,
        data.schema.target,
        passes,
        alpha,
    )
    for name, counts in zip(data.schema.names, expected, strict=True):
        assert_close(network.table(name).values, frequencies(counts, alpha))


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_with_replacement_are_algorithm_1(weighted):
    data = random_data(np.random.default_rng(3), 40, 3, 0.1, weighted=weighted)
    structure = random_structure(np.random.default_rng(5), data.schema)
    learner = DFE(passes=3, shuffle="replace")
    found = learner.learn(structure, data, random_state=np.random.default_rng(7))
    network = Network(data.schema, structure, found)
    random = np.random.default_rng(7)
    drawn = np.concatenate([random.integers(40, size=40) for _ in range(3)])
    assert len(np.unique(drawn[:40])) < 40
    expected = dfe_tables(
        data.codes[drawn],
        data.labels[drawn],
        data.weights[drawn] if weighted else None,
        data.schema.n_states,
        structure.families,
        data.schema.target,
        1,
        1.0,
    )
    for name, counts in zip(data.schema.names, expected, strict=True):
        assert_close(network.table(name).values, frequencies(counts, 1.0))


@pytest.mark.parametrize("shuffle", ["replacement", 2])
def test_other_ways_to_shuffle_are_refused(shuffle):
    data = random_data(np.random.default_rng(3), 10, 2)
    structure = random_structure(np.random.default_rng(5), data.schema)
    with pytest.raises(InputError, match="shuffle"):
        DFE(shuffle=shuffle).learn(structure, data)


@pytest.mark.parametrize("alpha", [0.0, 1e-30, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_of_many_tables_do_not_underflow(alpha, n_classes):
    random = np.random.default_rng(4)
    data = random_data(random, 30, 120, 0.1, max_states=3, n_classes=n_classes)
    structure = random_structure(random, data.schema)
    network = Network(
        data.schema, structure, DFE(passes=2, alpha=alpha).learn(structure, data)
    )
    expected = dfe_tables(
        data.codes, data.labels, None, data.schema.n_states, structure.families,
        data.schema.target, 2, alpha,
    )  # fmt: skip
    for name, counts in zip(data.schema.names, expected, strict=True):
        assert_close(network.table(name).values, frequencies(counts, alpha))


def test_families_with_many_missing_members():
    random = np.random.default_rng(6)
    data = random_data(random, 40, 10, 0.7, max_states=2, n_classes=2)
    gone = data.codes.copy(order="F")
    gone[::4] = data.schema.n_states[:-1]
    data = type(data)(data.schema, gone, data.labels)
    parents = [(), *((),) * 8, tuple(range(9)), ()]
    structure = Structure.class_rooted(parents, 10)
    _, counts = DFE(passes=2).learn_more(structure, data, None)
    expected = dfe_tables(
        data.codes, data.labels, None, data.schema.n_states, structure.families,
        data.schema.target, 2, 1.0,
    )  # fmt: skip
    for t, table in enumerate(expected):
        assert_close(counts.table(t).sum(), table.sum())


def test_rows_of_many_blocks_equal_the_text():
    random = np.random.default_rng(5)
    data = random_data(random, 9000, 2, n_classes=2)
    structure = random_structure(random, data.schema)
    _, counts = DFE(passes=1).learn_more(structure, data, None)
    expected = dfe_tables(
        data.codes, data.labels, None, data.schema.n_states, structure.families,
        data.schema.target, 1, 1.0,
    )  # fmt: skip
    for total, table in zip(
        (counts.table(t).sum() for t in range(3)), expected, strict=True
    ):
        assert_close(total, table.sum())


def five_rows(parameters):
    X = [["1"] * 3, ["1"] * 3, ["0"] * 3, ["0"] * 3, ["0"] * 3]
    y = ["-", "-", "+", "-", "-"]
    model = BayesNetClassifier(structure="nb", parameters=parameters).fit(X, y)
    return model.predict_proba([["0"] * 3])[0, 0]


@pytest.mark.numerical
def test_the_five_rows_of_the_paper():
    """Section 4.2 and Figure 2: about 0.4, where frequencies give 0.66."""
    for passes in (20, 100, 400):
        assert round(five_rows(DFE(passes=passes, alpha=0.0)), 2) in (0.40, 0.41)


def test_rows_without_a_label_add_nothing():
    data = random_data(np.random.default_rng(0), 40, 3, n_classes=2)
    labels = data.labels.copy()
    labels[::3] = 2
    partly = type(data)(data.schema, data.codes, labels)
    known = data.take(np.flatnonzero(labels < 2))
    structure = random_structure(np.random.default_rng(0), data.schema)
    one, two = DFE().learn(structure, partly), DFE().learn(structure, known)
    assert np.array_equal(one.log_theta, two.log_theta)


def test_shuffling_follows_the_seed():
    data = random_data(np.random.default_rng(1), 60, 3, n_classes=3)
    structure = random_structure(np.random.default_rng(0), data.schema)

    def learn(seed):
        random = np.random.default_rng(seed)
        return DFE(shuffle=True).learn(structure, data, random_state=random).log_theta

    assert np.array_equal(learn(3), learn(3))
    assert not np.array_equal(learn(3), learn(4))


def test_every_probability_is_positive_by_default():
    data = random_data(np.random.default_rng(2), 30, 4, missing=0.3)
    structure = random_structure(np.random.default_rng(0), data.schema, max_parents=2)
    assert np.isfinite(DFE().learn(structure, data).log_theta).all()


def test_a_class_on_its_own():
    data = random_data(np.random.default_rng(0), 40, 2, n_classes=2)
    structure = Structure(((), (0,), ()), 2)
    network = Network(data.schema, structure, DFE().learn(structure, data))
    expected = dfe_tables(
        data.codes, data.labels, None, data.schema.n_states, structure.families, 2, 4,
        1.0,
    )  # fmt: skip
    for name, counts in zip(data.schema.names, expected, strict=True):
        assert_close(network.table(name).values, frequencies(counts, 1.0))


@settings(max_examples=20)
@given(data=data_sets(max_features=4), random=generators(), passes=st.integers(1, 3))
def test_batches_go_on_from_the_counts(data, random, passes):
    structure = random_dag(random, data.schema)
    cut = data.n_samples // 2
    counts, expected = None, None
    for rows in (np.arange(cut), np.arange(cut, data.n_samples)):
        part = data.take(rows)
        before = None if counts is None else counts.values.copy()
        learner = DFE(passes=passes)
        tables, more = learner.learn_more(structure, part, counts)
        if counts is None:
            assert np.array_equal(
                tables.log_theta, learner.learn(structure, part).log_theta
            )
        else:
            assert np.array_equal(counts.values, before)
        counts = more
        expected = dfe_tables(
            part.codes, part.labels, part.weights, data.schema.n_states,
            structure.families, data.schema.target, passes, 1.0, expected,
        )  # fmt: skip
    network = Network(data.schema, structure, tables)
    for name, table in zip(data.schema.names, expected, strict=True):
        assert_close(network.table(name).values, frequencies(table, 1.0))


def test_counts_of_other_states_are_refused():
    data = random_data(np.random.default_rng(0), 20, 2, n_classes=2)
    other = random_data(np.random.default_rng(1), 20, 2, n_classes=3)
    structure = random_structure(np.random.default_rng(0), data.schema)
    _, counts = DFE().learn_more(structure, data, None)
    with pytest.raises(InputError, match="other families or states"):
        DFE().learn_more(structure, other, counts)


@pytest.mark.parametrize(
    ("alpha", "weight"), [(0.0, 1e200), (1.0, 1e308), (0.0, 1e308), (1e308, 1.0)]
)
def test_counts_beyond_all_numbers_are_refused(alpha, weight):
    data = random_data(np.random.default_rng(0), 50, 3, n_classes=2)
    data = ArrayData(data.schema, data.codes, data.labels, np.full(50, weight))
    structure = random_structure(np.random.default_rng(0), data.schema)
    with pytest.raises(InputError, match="Divide the sample weights"):
        DFE(alpha=alpha).learn(structure, data)


@pytest.mark.parametrize(("alpha", "weight"), [(0.0, 1e15), (1.0, 1e200)])
def test_large_weights_are_counted(alpha, weight):
    data = random_data(np.random.default_rng(0), 50, 3, n_classes=2)
    data = ArrayData(data.schema, data.codes, data.labels, np.full(50, weight))
    structure = random_structure(np.random.default_rng(0), data.schema)
    learned = DFE(alpha=alpha).learn(structure, data)
    assert not np.isnan(learned.log_theta).any()
    assert_close(np.exp(learned.log_table(3)).sum(), 1.0)


@given(data=data_sets(), random=generators())
@settings(max_examples=10)
def test_what_rows_touch_may_be_kept_or_found_again(data, random):
    structure = random_structure(random, data.schema, max_parents=2)
    kept = DFE(passes=3).learn(structure, data).log_theta
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dfe, "KEPT_CODES", 0)
        again = DFE(passes=3).learn(structure, data).log_theta
    assert np.array_equal(kept, again)


def test_which_counts_are_continued():
    assert DFE().continues(DFE(passes=1))
    assert not DFE().continues(Frequency())
    assert not Frequency().continues(DFE())
    assert Frequency().continues(Frequency(alpha=2.0))


def test_a_whole_number_of_pseudo_counts():
    X, y = {"a": [0, 1, 0, 1, 2], "b": list("uvuvu")}, [0, 1, 0, 1, 1]
    found = [
        tanager.BayesNetClassifier("categorical", "nb", tanager.DFE(alpha=alpha))
        .fit(X, y)
        .predict_proba(X)
        .tolist()
        for alpha in (1, 1.0)
    ]
    assert found[0] == found[1]
