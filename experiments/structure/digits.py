"""Searches on the 60,000 training images of MNIST at 14 x 14 pixels."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from experiments.structure.coded import SEED, Part, arcs, results, tested
from tanager import TableEncoder
from tanager.core import Schema, Variable
from tanager.counts import ArrayData
from tanager.registry import parameters_from, structure_from

KEYS = ("structure",)
STRUCTURES = ("NB", "TAN-CMI", "KDB2", "TAN-OMI-CR", "TAN-CR", "2-tree-OMI-CR")
THREADS = 2

PUBLISHED = {
    "NB": 83.73,
    "TAN-CMI": 91.28,
    "TAN-OMI-CR": 92.01,
    "TAN-CR": 92.58,
    "2-tree-OMI-CR": 92.69,
}
"""Accuracy with ML parameters in Pernkopf and Bilmes (2010), Table 1; their bins of the
pixels are others."""


def run() -> None:
    """Wall seconds of every search with two threads, and errors on the test images."""
    found = results("digits", KEYS)
    wanted = [name for name in STRUCTURES if (name,) not in found]
    if not wanted:
        return
    part = digits()
    for name in wanted:
        found.add((name,), measured(name, part))


def digits() -> Part:
    """Training and test images, pixels two by two averaged, in bins by MDL."""
    folder = Path(os.environ["TANAGER_DATA"])
    with np.load(folder / "images" / "mnist.npz") as arrays:
        images = {kind: arrays[f"x_{kind}"] for kind in ("train", "test")}
        labels = {kind: arrays[f"y_{kind}"].astype(np.uint8) for kind in images}
    pixels = {
        kind: of.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
        for kind, of in images.items()
    }
    encoder = TableEncoder().fit(pixels["train"], labels["train"])
    target = Variable("class", tuple(range(10)))
    schema = Schema((*encoder.schema_, target), target=196)
    return Part(
        *(
            ArrayData(schema, encoder.encode(pixels[kind]), labels[kind])
            for kind in ("train", "test")
        )
    )


def measured(name: str, part: Part) -> dict[str, float]:
    """Seconds of the search, rows visited, and accuracy on the test images."""
    learner = structure_from(name)
    learner.learn(part.some)
    data = replace(part.train, n_jobs=THREADS)
    began = perf_counter()
    result = learner.learn(data, random_state=np.random.default_rng(SEED))
    seconds = perf_counter() - began
    right = tested(parameters_from("ml"), result.structure, part).right
    steps = [step for step in result.trace if "rows_visited" in step]
    candidates = sum(step["candidates"] for step in steps)
    visited = sum(step["rows_visited"] for step in steps)
    return {
        "seconds": seconds,
        "arcs": arcs(result.structure),
        "accuracy_ml": right / part.test.n_samples,
        "candidates": candidates,
        "share_visited": visited / max(1, candidates * data.n_samples),
    }
