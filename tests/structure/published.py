"""Small networks from the literature, with the numbers of their papers."""

from __future__ import annotations

import numpy as np

from tanager import Network
from tanager.data import ArrayData


def asia():
    """Lauritzen and Spiegelhalter (1988), Local computations with probabilities."""
    yes_no = ("yes", "no")
    names = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    return Network.build(
        dict.fromkeys(names, yes_no),
        {
            "asia": [0.01, 0.99],
            "tub": (("asia",), [[0.05, 0.95], [0.01, 0.99]]),
            "smoke": [0.5, 0.5],
            "lung": (("smoke",), [[0.1, 0.9], [0.01, 0.99]]),
            "bronc": (("smoke",), [[0.6, 0.4], [0.3, 0.7]]),
            "either": (("lung", "tub"), [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]),
            "xray": (("either",), [[0.98, 0.02], [0.05, 0.95]]),
            "dysp": (
                ("bronc", "either"),
                [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
            ),
        },
        target="dysp",
    )


def cancer():
    """Korb and Nicholson (2010), Bayesian Artificial Intelligence, section 2.2."""
    return Network.build(
        {
            "Pollution": ("low", "high"),
            "Smoker": ("True", "False"),
            "Cancer": ("True", "False"),
            "Xray": ("positive", "negative"),
            "Dyspnoea": ("True", "False"),
        },
        {
            "Pollution": [0.9, 0.1],
            "Smoker": [0.3, 0.7],
            "Cancer": (
                ("Pollution", "Smoker"),
                [[[0.03, 0.97], [0.001, 0.999]], [[0.05, 0.95], [0.02, 0.98]]],
            ),
            "Xray": (("Cancer",), [[0.9, 0.1], [0.2, 0.8]]),
            "Dyspnoea": (("Cancer",), [[0.65, 0.35], [0.3, 0.7]]),
        },
        target="Dyspnoea",
    )


def sampled(network, n_rows, seed):
    """Rows drawn from a network whose target is its last variable, as codes."""
    drawn = network.sample(n_rows, random_state=seed)
    codes = np.column_stack(
        [
            [variable.states.index(state) for state in drawn[variable.name].tolist()]
            for variable in network.schema
        ]
    ).astype(np.uint8)
    return ArrayData(network.schema, np.asfortranarray(codes[:, :-1]), codes[:, -1])


def skeleton(structure):
    """The pairs that an arc joins."""
    return {frozenset(arc) for arc in structure.arcs}
