"""Structures learned by gradients compared with structures that stay, under one loss.

The methods of Roth and Pernkopf (2020), section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from tanager.data import ArrayData
from tanager.inference import engine_for
from tanager.losses import HybridLoss
from tanager.model import Parameters, Structure
from tanager.parameters import Frequency
from tanager.structure import ChowLiu, Constraints, GumbelTree, NaiveBayes

NEAREST = 8
"""Candidates of TAN Heuristic."""

STRUCTURE_RATE = 1e-3
"""That of the paper (section 4.2)."""

Learned = tuple[Structure, Parameters]
Gumbel = partial[GumbelTree]


@dataclass(frozen=True)
class Run:
    """How tables are learned, apart from the method.

    Parameters
    ----------
    batch_size, epochs : int
        Samples per step, and how often the samples are gone through.
    lambda_, eta : float
        See `tanager.losses.HybridLoss`.
    share : float
        Its gamma, divided by `typical_margin`.
    rate : float
        Of the steps of the tables.
    start : {"random", "frequency"}, default="random"
        First tables; the paper's are random.
    seed : int, default=0
        Of orders, candidates and batches.
    image_order : {"rows", "diagonal", "centre"} or None, default=None
        Order of the pixels for TAN Heuristic: A, B or C of the paper.

    Examples
    --------
    >>> run = Run(50, 10, lambda_=30.0, share=0.5, eta=10.0, rate=0.01)
    >>> run.random.integers(100) == run.random.integers(100)
    np.True_
    """

    batch_size: int
    epochs: int
    lambda_: float
    share: float
    eta: float
    rate: float
    start: str = "random"
    seed: int = 0
    image_order: str | None = None

    @property
    def random(self) -> np.random.Generator:
        """A new source of randomness, always the same."""
        return np.random.default_rng(self.seed)

    def gumbel(self, data: ArrayData) -> Gumbel:
        """A learner of this kind for some rows, that still needs its candidates."""
        gamma = self.share * typical_margin(data)
        return partial(
            GumbelTree,
            HybridLoss(lambda_=self.lambda_, gamma=gamma, eta=self.eta),
            epochs=self.epochs,
            batch_size=self.batch_size,
            rate=self.rate,
            structure_rate=STRUCTURE_RATE,
            start=self.start,
        )


def typical_margin(data: ArrayData) -> float:
    """Median absolute log margin of the samples under naive Bayes (Laplace's rule).

    The log margin is log P(c, x) less that of the most probable other class.

    Examples
    --------
    >>> from tanager import Schema, Variable
    >>> schema = Schema((Variable("x", (0, 1)), Variable("class", (0, 1))), target=1)
    >>> codes = np.asfortranarray([[0], [0], [0], [1], [1], [1]], dtype=np.uint8)
    >>> round(typical_margin(ArrayData(schema, codes, codes[:, 0])), 4)
    1.3863
    """
    structure = NaiveBayes().learn(data).structure
    parameters = Frequency(alpha=1.0).learn(structure, data)
    log_joint = engine_for(parameters).log_joint(data.codes)
    samples = np.arange(len(log_joint))
    own = log_joint[samples, data.labels]
    log_joint[samples, data.labels] = -np.inf
    return float(np.median(np.abs(own - log_joint.max(axis=1)))) or 1.0


Method = Callable[[Run, ArrayData], Learned]


def frequencies(structure_of: Callable[[Run, ArrayData], Structure]) -> Method:
    """Relative frequencies by Laplace's rule; the paper's figures are those of it."""

    def learned(run: Run, data: ArrayData) -> Learned:
        structure = structure_of(run, data)
        return structure, Frequency(alpha=1.0).learn(structure, data)

    return learned


def hybrid(structure_of: Callable[[Run, ArrayData], Structure]) -> Method:
    """The hybrid loss on a structure that stays."""

    def learned(run: Run, data: ArrayData) -> Learned:
        structure = structure_of(run, data)
        return on_structure(structure, data, run.gumbel(data), run.random)

    return learned


def gumbel(n_candidates: int | None, *, nearest: bool = False) -> Method:
    """Structure and tables at once."""

    def learned(run: Run, data: ArrayData) -> Learned:
        learner = run.gumbel(data)(
            order=run.image_order if nearest else "random",
            candidates="nearest" if nearest else "random",
            n_candidates=n_candidates,
        )
        return learned_by(learner, data, run.random)

    return learned


def on_structure(
    structure: Structure,
    data: ArrayData,
    gumbel: Gumbel,
    random: np.random.Generator,
) -> Learned:
    """Tables by the hybrid loss on a structure: every feature has one candidate.

    The model is that of `tanager.Hybrid`, by the kernels of the other methods.
    """
    names = [variable.name for variable in data.schema]
    learner = gumbel(
        order=[names[v] for v in structure.topological_order if v != structure.target],
        candidates={
            names[child]: [names[parent] for parent in parents]
            for child, parents in enumerate(structure.feature_parents)
            if parents
        },
        k=max(1, *map(len, structure.feature_parents)),
        constraints=Constraints(required=named_arcs(structure, data)),
    )
    return learned_by(learner, data, random)


def learned_by(
    learner: GumbelTree, data: ArrayData, random: np.random.Generator
) -> Learned:
    """Structure and tables."""
    found = learner.learn(data, random_state=random)
    assert found.start is not None
    return found.structure, found.start


def named_arcs(structure: Structure, data: ArrayData) -> list[tuple[str, str]]:
    """Arcs between features, by name."""
    names = [variable.name for variable in data.schema]
    return [
        (names[parent], names[child])
        for child, parents in enumerate(structure.feature_parents)
        for parent in parents
    ]


def naive(_: Run, data: ArrayData) -> Structure:
    """No arcs between features."""
    return NaiveBayes().learn(data).structure


def chow_liu(_: Run, data: ArrayData) -> Structure:
    """The tree by conditional mutual information."""
    return ChowLiu().learn(data).structure


def random_parents(run: Run, data: ArrayData) -> Structure:
    """One of the features before it in a random order, for every feature.

    Order and parent are the order and the first candidate of TAN Subset.
    """
    random, n_features = run.random, data.codes.shape[1]
    place = random.permutation(n_features)
    order = np.argsort(place)
    parents: list[tuple[int, ...]] = []
    for child in range(n_features):
        keys = np.asarray(random.random(n_features))
        earlier = order[: place[child]]
        parents.append((int(earlier[keys[earlier].argmin()]),) if len(earlier) else ())
    return Structure.class_rooted([*parents, ()], n_features)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "NB-ML": frequencies(naive),
        "Chow-Liu-ML": frequencies(chow_liu),
        "NB-HYB": hybrid(naive),
        "TAN Random-HYB": hybrid(random_parents),
        "Chow-Liu-HYB": hybrid(chow_liu),
        "TAN Subset 2": gumbel(2),
        "TAN Subset 5": gumbel(5),
        "TAN Subset 8": gumbel(8),
        "TAN All": gumbel(None),
        "TAN Heuristic": gumbel(NEAREST, nearest=True),
        "TAN Heuristic 1": gumbel(1, nearest=True),
        "TAN Heuristic 2": gumbel(2, nearest=True),
        "TAN Heuristic 5": gumbel(5, nearest=True),
    }
)
"""Methods by name; the numbers are those of candidates."""
