"""C files compile without warnings and give the probabilities of the model."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, CapabilityError, InputError, Network
from tanager.export import measure_rounding, to_c
from tanager.export.factor_pruning import prune_factors
from tanager.export.feature_tree import read_tree
from tanager.export.quantization import quantize, quantize_terms
from tanager.export.score_terms import ScoreTerms
from tests.export.conftest import KINDS, NEEDS_COMPLETE, every_model, expected_rows

FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
compiler = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="gcc is not installed"
)


def compile_model(text, folder):
    path = folder / "model.c"
    path.write_text(text)
    library = folder / "model.so"
    command = ["gcc", *FLAGS, "-shared", "-fPIC", "-o", library, path, "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    return ctypes.CDLL(str(library))


def predict(library, features, samples, n_classes):
    """Class positions and probabilities of all samples."""
    values = np.empty((len(samples), len(features)))
    for j, variable in enumerate(features):
        column = samples[variable.name]
        if variable.cuts is not None:
            values[:, j] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            values[:, j] = [
                np.nan if value is None or value != value
                else library.model_category(j, str(value).encode())
                for value in column.astype(object).where(column.notna(), None)
            ]  # fmt: skip
    best = np.empty(len(samples), dtype=int)
    found = np.empty((len(samples), n_classes))
    pointer = ctypes.POINTER(ctypes.c_double)
    for i in range(len(samples)):
        best[i] = library.model_predict(
            values[i].ctypes.data_as(pointer), found[i].ctypes.data_as(pointer)
        )
    return best, found


@compiler
@every_model
@pytest.mark.parametrize(("bits", "tolerance"), [(64, 1e-12), (32, 1e-5), (16, 0.05)])
def test_probabilities(models, samples, tmp_path, kind, n_classes, bits, tolerance):
    model = models[kind, n_classes]
    complete = kind in NEEDS_COMPLETE
    source = to_c(model.network_, bits=bits, complete=complete)
    library = compile_model(source.text, tmp_path)
    marginalises = not complete and ScoreTerms.of_network(model.network_).needed
    tree = read_tree(model.network_) if marginalises else None
    terms = tree.terms if tree else ScoreTerms.of_network(model.network_)
    best, found = predict(library, terms.features, samples, n_classes)
    expected, known = expected_rows(model, samples, complete=complete)
    assert (best[~known] == -1).all()
    np.testing.assert_allclose(found[known], expected[known], atol=tolerance)
    if bits == 64:
        assert (model.classes_[best[known]] == model.predict(samples)[known]).all()


@pytest.mark.parametrize("kind", list(KINDS))
def test_fewer_bits_take_fewer_bytes(models, kind):
    network = models[kind, 2].network_
    sizes = [to_c(network, bits=b, complete=True).n_bytes for b in (64, 32, 16, 8)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[3] < 0.65 * sizes[1]


@compiler
def test_rounded_terms_are_those_of_the_file(models, samples, tmp_path):
    model = models["factors", 2]
    library = compile_model(model.to_c(bits=8), tmp_path)
    terms = quantize_terms(ScoreTerms.of_network(model.network_), 8)
    names = model.network_.schema.names
    codes = model.encode(samples)[:, [names.index(v.name) for v in terms.features]]
    scores = terms.scores(codes)
    best, found = predict(library, terms.features, samples, 2)
    odds = np.log(found[:, 1] / found[:, 0])
    np.testing.assert_allclose(odds, scores[:, 1] - scores[:, 0], atol=1e-4)
    assert ((scores[:, 1] > scores[:, 0]) == (best == 1)).all()


@compiler
@pytest.mark.parametrize("kind", ["tree", "smooth-tree", "nb", "factors"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_measured_loss_is_that_of_the_file(
    models, samples, tmp_path, kind, n_classes
):
    model = models[kind, n_classes]
    source = to_c(model.network_, bits=8)
    library = compile_model(source.text, tmp_path)
    known = samples.dropna()
    known = known[(known["many"] != "never seen") & (known["level"] != 77)]
    labels = np.random.default_rng(0).integers(0, n_classes, len(known))
    tree = read_tree(model.network_) if "tree" in kind else None
    terms = tree.terms if tree else ScoreTerms.of_network(model.network_)
    best, found = predict(library, terms.features, known, n_classes)
    loss = measure_rounding(model.network_, source, model.encode(known), labels)
    assert loss.n_samples == len(known)
    assert loss.rounded == pytest.approx(np.mean(best == labels), abs=1e-12)
    exact = model.predict_proba(known)
    assert loss.exact == np.mean(exact.argmax(axis=1) == labels)
    np.testing.assert_allclose(found, exact, atol=0.12)


def sixteen_features(n_samples, seed):
    """Ten numeric features and six of four categories, and two classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            f"f{j}": rng.normal(size=n_samples)
            if j < 10
            else rng.integers(0, 4, n_samples).astype(str)
            for j in range(16)
        }
    )
    score = sum((-1) ** j * X[f"f{j}"] / (1 + j) for j in range(10))
    score = score + X["f0"] * X["f1"] + (X["f10"] == "2") + (X["f11"] == "1") * X["f2"]
    return X, (score + rng.logistic(size=n_samples) / 2 > 0.3).to_numpy()


@compiler
@pytest.mark.parametrize("kind", ["factors", "nb", "tree"])
def test_sixteen_features_in_32_kilobytes(tmp_path, kind):
    """At 8 bits at most 0.3 points of accuracy are lost on new samples."""
    model = BayesNetClassifier(**KINDS[kind]).fit(*sixteen_features(4000, 0))
    X, y = sixteen_features(3000, 1)
    source = to_c(model.network_, bits=8, max_bytes=32_767)
    assert source.n_bytes < 32_768
    tree = read_tree(model.network_) if kind == "tree" else None
    terms = tree.terms if tree else ScoreTerms.of_network(source.network)
    best, _ = predict(compile_model(source.text, tmp_path), terms.features, X, 2)
    accuracy = np.mean(model.classes_[best] == y)
    assert accuracy >= model.score(X, y) - 0.003
    labels = np.searchsorted(model.classes_, y)
    loss = measure_rounding(model.network_, source, model.encode(X), labels)
    assert loss.rounded == pytest.approx(accuracy, abs=1e-12)


def test_what_all_classes_share_takes_no_bits():
    """Log CPTs down to -300 differ little between the classes: 8 bits suffice."""
    rng = np.random.default_rng(0)
    states, n_classes = 40, 5
    common = rng.uniform(-300, 0, size=(states, 1))
    log_cpt = common + rng.normal(size=(states, n_classes))
    log_cpt -= np.log(np.exp(log_cpt).sum(axis=0))
    variables = {"a": list(range(states)), "c": list(range(n_classes))}
    cpts = {"c": [0.2] * n_classes, "a": (["c"], np.exp(log_cpt.T).tolist())}
    network = Network.build(variables, cpts, target="c")
    terms = ScoreTerms.of_network(network)
    codes = np.arange(states, dtype=np.uint8)[:, None]
    exact, rounded = (t.scores(codes) for t in (terms, quantize_terms(terms, 8)))
    assert np.abs(exact - rounded).max() < 0.03


def test_factors_that_fit(models, samples):
    network = models["factors", 3].network_
    full = to_c(network, bits=8)
    assert full.network is network
    sizes, importances = [], []
    for fraction in (0.7, 0.4, 0.2):
        limit = int(fraction * full.n_bytes)
        source = to_c(network, bits=8, max_bytes=limit)
        assert source.n_bytes <= limit
        kept = source.network.factors.tables
        assert 0 < len(kept) < len(network.factors.tables)
        sizes.append(source.n_bytes)
        importances.append(sum(table.importance**2 for table in kept))
    assert sizes == sorted(sizes, reverse=True)
    assert importances == sorted(importances, reverse=True)
    assert to_c(network, bits=8, max_bytes=full.n_bytes + 500).n_bytes == full.n_bytes


def test_mean_weights_of_other_factors_are_kept(models):
    """Without any factor the model predicts its mean score for everybody."""
    network = models["factors", 3].network_
    none = prune_factors(network, 0, 8)
    means = [t.support @ t.weights / t.support.sum() for t in network.factors.tables]
    expected = network.factors.log_prior + np.sum(means, axis=0)
    assert not none.factors.tables
    np.testing.assert_allclose(none.factors.log_prior, expected)


def test_sizes_that_cannot_be_kept(models):
    with pytest.raises(CapabilityError, match=r"Even without any factor.*bytes"):
        to_c(models["factors", 2].network_, max_bytes=5)
    with pytest.raises(CapabilityError, match=r"bytes with 16 bits.*Use bits=8"):
        to_c(models["nb", 2].network_, bits=16, max_bytes=100)
    with pytest.raises(InputError, match="at least 1"):
        to_c(models["nb", 2].network_, max_bytes=0)


@compiler
@pytest.mark.parametrize("kind", ["factors", "nb", "tree"])
def test_columns_that_are_left_out(messy, messy_models, tmp_path, kind):
    model = messy_models[kind]
    source = to_c(model.network_, bits=64)
    assert "customer_id" not in source.text
    assert "constant" not in source.text
    terms = ScoreTerms.of_network(model.network_)
    tree = read_tree(model.network_)
    features = tree.terms.features if kind == "tree" else terms.features
    library = compile_model(source.text, tmp_path)
    _, found = predict(library, features, messy[0], 2)
    np.testing.assert_allclose(found, model.predict_proba(messy[0]), atol=1e-12)


def test_quantization_error_is_half_a_step():
    values = np.random.default_rng(0).normal(size=500)
    for bits in (8, 16):
        table = quantize(values, bits)
        assert np.abs(table.values - values).max() <= 0.5 * table.scale * (1 + 1e-12)
    assert (quantize(np.zeros(3), 8).values == 0).all()


def test_bad_arguments(models):
    network = models["nb", 2].network_
    with pytest.raises(InputError, match="bits must be one of"):
        to_c(network, bits=4)
    with pytest.raises(InputError, match="a name in C"):
        to_c(network, name="my model")
    with pytest.raises(CapabilityError, match="complete=True"):
        to_c(models["two-parents", 2].network_)


@compiler
def test_a_hundred_thousand_states(many_states, tmp_path):
    model, X = many_states
    source = to_c(model.network_, bits=32)
    assert source.n_bytes < 1_000_000
    features = ScoreTerms.of_network(model.network_).features
    X = X.iloc[-200:]  # a category is found by comparing it with all
    _, found = predict(compile_model(source.text, tmp_path), features, X, 2)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-5)
