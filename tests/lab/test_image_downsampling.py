"""Ways to downsample MNIST, on a few images and on all."""

import numpy as np
import pytest

from lab.measurements import image_datasets, image_downsampling
from lab.measurements.coded_datasets import halved, in_bins
from lab.runner import find
from lab.runner.output import RESULTS, read_saved

N_FIRST = 70
FITS = ("cubic", "first 60,000")
WAYS = [
    *((smaller, "first 60,000", 0) for smaller in image_downsampling.SMALLER),
    ("cubic", "training samples", 0),
    ("cubic", "all samples", 0),
]


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

    monkeypatch.setattr(image_downsampling, "small_digits", small_digits)


def test_information_and_entropies_by_their_formulas(images):
    pixels = halved(images[0]).reshape(-1, 196)[:, 80:90]
    data = in_bins(pixels, images[1], np.arange(60))
    found = image_downsampling.information(data)
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


def test_the_way_that_was_taken_is_found(few, monkeypatch):
    seed = 3
    data = image_downsampling.code_images(*FITS)
    train, _ = image_datasets.drawn_rows(data.labels, seed)
    truth = np.tril(image_downsampling.information(data.take(train)))
    monkeypatch.setattr(image_downsampling, "published", lambda: truth)
    apart = {}
    for smaller, bins_of, one in [*WAYS, (*FITS, seed)]:
        numbers = image_downsampling.downsampling_distance(
            data="images/mnist", smaller=smaller, bins_of=bins_of, seed=one
        )
        total = numbers["entropy_apart"] + numbers["information_apart"]
        apart[smaller, bins_of, one] = total
    assert min(apart, key=apart.get) == (*FITS, seed)
    assert apart[*FITS, seed] == pytest.approx(0, abs=1e-12)
    assert numbers["of_a_draw"] == numbers["of_theirs"]


def test_bins_come_from_the_rows_that_are_named(few, images):
    pixels = image_downsampling.SMALLER["linear"](images[0]).reshape(-1, 196)
    known = {
        "training samples": image_datasets.drawn_rows(images[1], 0)[0],
        "all samples": np.arange(90),
        "first 60,000": np.arange(N_FIRST),
    }
    schemas = [
        image_downsampling.code_images("linear", bins_of).schema for bins_of in known
    ]
    for schema, rows in zip(schemas, known.values(), strict=True):
        assert schema == in_bins(pixels, images[1], rows).schema
    assert schemas[0] != schemas[1] != schemas[2]


def test_the_set_is_nearest_to_the_published_information():
    (experiment,) = find(["gradient/mnist"])
    apart = {}
    for cell, numbers in read_saved(RESULTS, experiment):
        way = cell.parameters["smaller"], cell.parameters["bins_of"]
        both = numbers["entropy_apart"], numbers["information_apart"]
        apart.setdefault(way, []).append(both)
    ours = np.array(apart.pop(FITS))
    assert len(ours) == 20
    others = np.array([numbers for way in apart.values() for numbers in way])
    assert (2.5 * ours.max(axis=0) < others.min(axis=0)).all()


@pytest.mark.slow
@pytest.mark.numerical
def test_digits_have_the_published_information(data_folder):
    """Of Roth and Pernkopf (2020), whose rows for training are not known."""
    train, _ = image_datasets.drawn_digits()
    apart = np.abs(
        image_downsampling.information(train) - image_downsampling.published()
    )
    assert np.median(np.diag(apart)) < 0.003
    assert np.diag(apart).mean() < 0.004
    assert apart[np.tril_indices(196, -1)].mean() < 0.0015
