"""Makes ``tests/inference/golden/posteriors.json``: answers by enumeration.

Run ``python -m tests.reference.golden_posteriors`` in the checkout. The probabilities
are summed in fractions, so that nothing is rounded before the end.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

from tests.reference.published_networks import NETWORKS

PATH = Path(__file__).parents[1] / "inference" / "golden" / "posteriors.json"

EVIDENCE = {
    "asia": [
        {},
        {"dysp": "yes"},
        {"asia": "yes", "dysp": "yes"},
        {"asia": "yes", "dysp": "yes", "xray": "no"},
        {"smoke": "no", "xray": "yes", "bronc": "no"},
        {"either": "yes", "tub": "yes"},
        {"lung": "yes", "dysp": "no"},
        {"lung": "yes", "either": "no"},
        {"tub": "no", "lung": "no", "either": "yes", "smoke": "yes"},
    ],
    "cancer": [
        {},
        {"Xray": "positive"},
        {"Xray": "positive", "Dyspnoea": True, "Smoker": True},
        {"Cancer": False, "Pollution": "high"},
    ],
    "survey": [
        {},
        {"T": "train"},
        {"T": "car", "S": "F"},
        {"A": "old", "O": "self", "R": "big"},
    ],
}


def answers(network, evidence):
    """Marginals, the best explanation and the probability of the evidence.

    Of an impossible evidence only the probability, zero.
    """
    names = network.schema.names
    states = [variable.states for variable in network.schema]
    tables = [_fractions(network.table(name).values) for name in names]
    sums = [[Fraction(0)] * len(own) for own in states]
    best, explanation = Fraction(0), None
    for codes in product(*(range(len(own)) for own in states)):
        row = {n: own[c] for n, own, c in zip(names, states, codes, strict=True)}
        if any(row[name] != value for name, value in evidence.items()):
            continue
        p = Fraction(1)
        for v, family in enumerate(network.structure.families):
            place = 0
            for parent in family[:-1]:
                place = place * len(states[parent]) + codes[parent]
            p *= tables[v][place][codes[v]]
        for v, code in enumerate(codes):
            sums[v][code] += p
        if p > best:
            best, explanation = p, row
    total = sum(sums[0])
    found = {"evidence": evidence, "probability": float(total)}
    if total:
        found["marginals"] = {
            name: [float(one / total) for one in own]
            for name, own in zip(names, sums, strict=True)
        }
        found["most_probable"] = explanation
        found["explanation_probability"] = float(best)
    return found


def _fractions(table):
    """The printed numbers, one row per configuration of the parents."""
    # Nine digits undo the logarithm that the network keeps.
    rows = table.round(9).reshape(-1, table.shape[-1]).tolist()
    return [[Fraction(str(p)) for p in row] for row in rows]


def document():
    """All answers by the name of the network."""
    return {
        name: [answers(NETWORKS[name](), evidence) for evidence in patterns]
        for name, patterns in EVIDENCE.items()
    }


def main():
    """Write the file."""
    PATH.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
