"""Which MNIST the paper must have, on a few images and on all."""

import numpy as np
import pytest

from lab.measurements import image_sets
from lab.measurements.coded import halved, in_bins
from lab.studies.differentiable import which_mnist

N_FIRST = 70


@pytest.fixture
def images():
    """Ten classes that differ in the place of bright rows."""
    random = np.random.default_rng(0)
    labels = (np.arange(90) % 10).astype(np.uint8)
    images = random.integers(0, 100, (90, 28, 28)).astype(np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[2 * label : 2 * label + 6, 4:24] += 150
    return images, labels


@pytest.fixture
def few(images, monkeypatch):
    def small_digits(smaller):
        return smaller(images[0]).reshape(-1, 196), images[1], N_FIRST

    monkeypatch.setattr(which_mnist, "small_digits", small_digits)


def test_information_and_entropies_by_their_formulas(images):
    pixels = halved(images[0]).reshape(-1, 196)[:, 80:90]
    data = in_bins(pixels, images[1], np.arange(60))
    found = which_mnist.information(data)
    codes, labels = data.codes, data.labels

    def surprise(*columns):
        """Entropy of columns given the class."""
        both = np.column_stack([labels, *columns])
        _, joint = np.unique(both, axis=0, return_counts=True)
        classes = np.bincount(labels)
        logs = (classes * np.log(classes)).sum() - (joint * np.log(joint)).sum()
        return logs / len(labels)

    for i in range(10):
        assert found[i, i] == pytest.approx(surprise(codes[:, i]), abs=1e-12)
        for j in range(i):
            shared = surprise(codes[:, i]) + surprise(codes[:, j])
            shared -= surprise(codes[:, i], codes[:, j])
            assert found[i, j] == pytest.approx(shared, abs=1e-12)


def test_the_way_that_was_taken_is_found(few, tmp_path, monkeypatch):
    seed = 3
    data = which_mnist.coded(*which_mnist.FITS)
    train, _ = image_sets.drawn_rows(data.labels, seed)
    truth = np.tril(which_mnist.information(data.take(train)))
    monkeypatch.setattr(which_mnist, "published", lambda: truth)
    monkeypatch.setattr(which_mnist, "N_DRAWS", 4)
    which_mnist.run(tmp_path)
    rows = which_mnist.results(tmp_path).rows
    assert len(rows) == len(which_mnist.WAYS) + 3
    apart = [
        float(row["entropy_apart"]) + float(row["information_apart"]) for row in rows
    ]
    best = rows[int(np.argmin(apart))]
    assert min(apart) == pytest.approx(0, abs=1e-12)
    assert (best["smaller"], best["bins_of"]) == which_mnist.FITS
    assert best["seed"] == str(seed)
    assert best["of_a_draw"] == best["of_theirs"]
    table = which_mnist.table(tmp_path).splitlines()
    assert len(table) == len(which_mnist.WAYS) + 2
    (several,) = (line for line in table if line.startswith("| cubic | first 60,000"))
    assert "| 4 |" in several
    assert "0.0000 to " in several
    which_mnist.run(tmp_path)
    assert which_mnist.results(tmp_path).rows == rows


def test_bins_come_from_the_rows_that_are_named(few, images):
    pixels = which_mnist.SMALLER["linear"](images[0]).reshape(-1, 196)
    known = {
        "training rows": image_sets.drawn_rows(images[1], 0)[0],
        "all rows": np.arange(90),
        "first 60,000": np.arange(N_FIRST),
    }
    schemas = [which_mnist.coded("linear", bins_of).schema for bins_of in known]
    for schema, rows in zip(schemas, known.values(), strict=True):
        assert schema == in_bins(pixels, images[1], rows).schema
    assert schemas[0] != schemas[1] != schemas[2]


def test_the_set_is_nearest_to_the_published_information():
    apart = {}
    for row in which_mnist.results().rows:
        way = row["smaller"], row["bins_of"]
        numbers = float(row["entropy_apart"]), float(row["information_apart"])
        apart.setdefault(way, []).append(numbers)
    assert tuple(apart) == which_mnist.WAYS
    ours = np.array(apart.pop(which_mnist.FITS))
    assert len(ours) == which_mnist.N_DRAWS
    others = np.array([numbers for way in apart.values() for numbers in way])
    assert (2.5 * ours.max(axis=0) < others.min(axis=0)).all()


@pytest.mark.slow
@pytest.mark.numerical
def test_digits_have_the_published_information(data_folder):
    """Of Roth and Pernkopf (2020), whose rows for training are not known."""
    train, _ = image_sets.drawn_digits()
    apart = np.abs(which_mnist.information(train) - which_mnist.published())
    assert np.median(np.diag(apart)) < 0.003
    assert np.diag(apart).mean() < 0.004
    assert apart[np.tril_indices(196, -1)].mean() < 0.0015
