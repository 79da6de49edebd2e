"""C files compile without warnings and give the probabilities of the model."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from tanager import CapabilityError, InputError
from tanager.export import to_c
from tanager.export.class_tree import read_tree
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
