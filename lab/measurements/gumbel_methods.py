"""Structures learned by gradients compared with structures that stay, under one loss.

The methods of Roth and Pernkopf (2020), section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from tanager.data import ArrayData
from tanager.inference import engine_for
from tanager.losses import HybridLoss
from tanager.model import Parameters, Structure
from tanager.parameters import Frequency
from tanager.registry import parse
from tanager.structure import Constraints, GumbelTree, NaiveBayes

IMAGE_ORDERS = {"rows": "A", "diagonal": "B", "centre": "C"}
"""Letters of the orders of pixels in the paper."""

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

    def settings(self, data: ArrayData) -> dict[str, Any]:
        """Arguments of a learner of structures by gradients, for some samples."""
        gamma = self.share * typical_margin(data)
        return {
            "loss": HybridLoss(lambda_=self.lambda_, gamma=gamma, eta=self.eta),
            "epochs": self.epochs,
            "batch_size": self.batch_size,
            "rate": self.rate,
            "start": self.start,
        }

    def gumbel(self, data: ArrayData) -> Gumbel:
        """A learner of this kind for some samples, that still needs its candidates."""
        return partial(GumbelTree, structure_rate=STRUCTURE_RATE, **self.settings(data))


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


def whole_name(name: str, image_order: str | None = None) -> str:
    """The name of a method for `tanager.BayesNetClassifier.from_name`.

    Examples
    --------
    >>> whole_name("TAN Heuristic 5", "centre"), whole_name("TAN Subset 8")
    ('TAN Heuristic C 5-HYB', 'TAN Subset 8-HYB')
    """
    if name.startswith("TAN Heuristic"):
        order = IMAGE_ORDERS[image_order or "rows"]
        name = name.replace("Heuristic", f"Heuristic {order}")
    return name if name.endswith(("-ML", "-HYB")) else f"{name}-HYB"


def learn_named(name: str, run: Run, data: ArrayData) -> Learned:
    """What a method of the paper learns, by its preset and the settings of a run."""
    recipe = parse(whole_name(name, run.image_order), paper="roth2020")
    if recipe.structure.gives_tables:
        learner = recipe.structure.set_params(**run.settings(data))
        return learned_by(learner, data, run.random)
    structure = recipe.structure.learn(data, random_state=run.random).structure
    if name.endswith("-ML"):
        return structure, recipe.parameters.learn(structure, data)
    return on_structure(structure, data, run.gumbel(data), run.random)


def on_structure(
    structure: Structure,
    data: ArrayData,
    gumbel: Gumbel,
    random: np.random.Generator,
) -> Learned:
    """Tables by the hybrid loss on a structure: every feature has one candidate.

    The model is that of `LossMinimizer` with `HybridLoss`, by the kernels of the other
    methods.
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


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        name: partial(learn_named, name)
        for name in (
            "NB-ML",
            "Chow-Liu-ML",
            "NB-HYB",
            "TAN Random-HYB",
            "Chow-Liu-HYB",
            "TAN Subset 2",
            "TAN Subset 5",
            "TAN Subset 8",
            "TAN All",
            "TAN Heuristic",
            "TAN Heuristic 1",
            "TAN Heuristic 2",
            "TAN Heuristic 5",
        )
    }
)
"""Methods by name; the numbers are those of candidates."""
