"""Small networks whose numbers are printed in books and papers."""

from __future__ import annotations

import numpy as np

from tanager import Network, Schema
from tanager.data import ArrayData


def asia():
    """Lauritzen and Spiegelhalter (1988), J. R. Statist. Soc. B 50, 157-224."""
    yes_no = ["yes", "no"]
    names = ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"]
    return Network.build(
        dict.fromkeys(names, yes_no),
        {
            "asia": [0.01, 0.99],
            "tub": (["asia"], [[0.05, 0.95], [0.01, 0.99]]),
            "smoke": [0.5, 0.5],
            "lung": (["smoke"], [[0.1, 0.9], [0.01, 0.99]]),
            "bronc": (["smoke"], [[0.6, 0.4], [0.3, 0.7]]),
            "either": (["lung", "tub"], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]),
            "xray": (["either"], [[0.98, 0.02], [0.05, 0.95]]),
            "dysp": (
                ["bronc", "either"],
                [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
            ),
        },
        target="lung",
    )


def cancer():
    """Korb and Nicholson (2010), Bayesian Artificial Intelligence, chapter 2."""
    return Network.build(
        {
            "Pollution": ["low", "high"],
            "Smoker": [True, False],
            "Cancer": [True, False],
            "Xray": ["positive", "negative"],
            "Dyspnoea": [True, False],
        },
        {
            "Pollution": [0.9, 0.1],
            "Smoker": [0.3, 0.7],
            "Cancer": (
                ["Pollution", "Smoker"],
                [[[0.03, 0.97], [0.001, 0.999]], [[0.05, 0.95], [0.02, 0.98]]],
            ),
            "Xray": (["Cancer"], [[0.9, 0.1], [0.2, 0.8]]),
            "Dyspnoea": (["Cancer"], [[0.65, 0.35], [0.3, 0.7]]),
        },
        target="Cancer",
    )


def survey():
    """Scutari and Denis (2014), Bayesian Networks with Examples in R, chapter 1."""
    return Network.build(
        {
            "A": ["young", "adult", "old"],
            "S": ["M", "F"],
            "E": ["high", "uni"],
            "O": ["emp", "self"],
            "R": ["small", "big"],
            "T": ["car", "train", "other"],
        },
        {
            "A": [0.3, 0.5, 0.2],
            "S": [0.6, 0.4],
            "E": (
                ["A", "S"],
                [
                    [[0.75, 0.25], [0.64, 0.36]],
                    [[0.72, 0.28], [0.7, 0.3]],
                    [[0.88, 0.12], [0.9, 0.1]],
                ],
            ),
            "O": (["E"], [[0.96, 0.04], [0.92, 0.08]]),
            "R": (["E"], [[0.25, 0.75], [0.2, 0.8]]),
            "T": (
                ["O", "R"],
                [
                    [[0.48, 0.42, 0.10], [0.58, 0.24, 0.18]],
                    [[0.56, 0.36, 0.08], [0.70, 0.21, 0.09]],
                ],
            ),
        },
        target="T",
    )


NETWORKS = {"asia": asia, "cancer": cancer, "survey": survey}


def sample_data(network, n_samples, seed=0):
    """Samples of a network as codes; the last variable is the class."""
    samples = network.sample(n_samples, random_state=seed)
    variables = network.schema.variables
    codes = np.column_stack(
        [
            [variable.states.index(state) for state in samples[variable.name].tolist()]
            for variable in variables
        ]
    ).astype(np.uint8)
    schema = Schema(variables, len(variables) - 1)
    return ArrayData(schema, np.asfortranarray(codes[:, :-1]), codes[:, -1])


def skeleton(parents):
    """The pairs of variables that an arc joins, the lower index first."""
    return {(min(v, p), max(v, p)) for v, family in enumerate(parents) for p in family}
