"""The methods of papers, with the settings by which their results were obtained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sklearn.base import clone

from tanager.encoding import EqualWidthEncoder, TableEncoder
from tanager.scores import K2


@dataclass(frozen=True)
class Paper:
    """Methods of a paper.

    Parameters
    ----------
    title : str
        Authors, year and title.
    names : tuple of str
        The methods whose results it reports, in its own signs.
    encoder : callable
        Makes its encoder.
    settings : mapping from str to mapping
        Arguments that differ from what a name stands for without a paper: by a pattern
        of names, with wildcards, and by part, "structure" or "parameters".
    """

    title: str
    names: tuple[str, ...]
    encoder: Callable[[], TableEncoder]
    settings: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def find(self, name: object) -> str | None:
        """Return the method in the paper's spelling; None if it has no such method.

        Signs and blanks make no difference: ``"TAN-ELR"`` is ``"TAN+ELR"``.
        """
        known = {_plain(one): one for one in self.names}
        return known.get(_plain(name)) if isinstance(name, str) else None

    def settings_of(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Parts of a method and the arguments to set, each a fresh copy."""
        for pattern, parts in self.settings.items():
            if fnmatchcase(_plain(name), _plain(pattern)):
                for part, arguments in parts.items():
                    yield part, {k: clone(v, safe=False) for k, v in arguments.items()}


def _plain(name: str) -> str:
    """A name without what makes no difference: case, kind of sign, blanks."""
    return re.sub(r"[-+\s]", "", name.casefold())


def _each(structures: str, sign: str, parameters: str) -> tuple[str, ...]:
    """Names of all combinations, the parameters of one structure after the other."""
    return tuple(
        f"{structure}{sign}{learner}"
        for structure in structures.split()
        for learner in parameters.split()
    )


_DESCENT: Mapping[str, Any] = {"epochs": 500, "rate": 3e-3, "start": "random"}
"""Section 4.2 of Roth and Pernkopf (2020), where the rate is 0.003 or 0.03, and batches
have 50 (satimage), 100 (letter, usps) or 250 samples (mnist)."""

PAPERS: Mapping[str, Paper] = {
    "greiner2005": Paper(
        "Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression: "
        "discriminative parameter learning of belief net classifiers",
        (
            *_each("NB TAN GBN", "+", "OFE ELR APN EM"),
            *_each("NB TAN", "+", "ELR_theta APN_theta"),
        ),
        TableEncoder,
        {},
    ),
    "su2008": Paper(
        "Su, Zhang, Ling, Matwin (2008), Discriminative parameter learning for "
        "Bayesian networks",
        (*_each("NB", "+", "DFE FE ELR Ada"), *_each("HGC", "+", "FE DFE")),
        lambda: TableEncoder(numeric=EqualWidthEncoder(n_bins=10)),
        # WEKA, which the paper uses, weights every cell of the prior by half a sample.
        {"HGC*": {"structure": {"score": K2(weight=0.5)}}},
    ),
    "pernkopf2010": Paper(
        "Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure "
        "learning of Bayesian network classifiers",
        (
            *_each(
                "NB TAN-CMI TAN-RO-CR TAN-SuperParent TAN-OMI-CR TAN-OMI-CRML "
                "TAN-OMI-CRCL TAN-CR 2-tree-RO-CR 2-tree-SuperParent 2-tree-OMI-CR "
                "2-tree-CR",
                "-",
                "ML CL",
            ),
            *_each("TAN-OMI-CL TAN-RO-CL TAN-CL TAN-min-OMI-CL", "-", "ML"),
        ),
        TableEncoder,
        {},
    ),
    "roth2020": Paper(
        "Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian "
        "network classifiers",
        (
            *_each("NB Chow-Liu", "-", "ML HYB"),
            *_each(
                "TAN-Random TAN-Subset2 TAN-Subset5 TAN-Subset8 TAN-All", "-", "HYB"
            ),
            *(
                f"TAN-Heuristic{order}{n}-HYB"
                for order in "ABC"
                for n in ("", "1", "2", "5", "8")
            ),
            "Pseudo-TAN",
        ),
        lambda: TableEncoder(categorical_features="all"),
        {
            "*-ML": {"parameters": {"zero": None}},
            "NB-HYB": {"parameters": _DESCENT},
            "Chow-Liu-HYB": {"parameters": _DESCENT},
            "TAN-Random-HYB": {"parameters": _DESCENT},
            **{
                name: {"structure": {**_DESCENT, "structure_rate": 1e-3}}
                for name in ("TAN-Subset*", "TAN-All*", "TAN-Heuristic*", "Pseudo-TAN")
            },
        },
    ),
}
"""Papers by the short name that `BayesNetClassifier.from_name` takes."""
