"""Short names of structure and parameter learners, and how they combine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tanager import losses, scores, structure
from tanager import parameters as learners

if TYPE_CHECKING:
    from tanager.parameters import ELR, ParameterLearner
    from tanager.scores import Score
    from tanager.structure import StructureLearner


@dataclass(frozen=True)
class StructureName:
    """A way of writing structure learners in names.

    `pattern` is matched whole and without regard to case; its groups, such as the k of
    a k-tree, go to `make`. `listed` are the spellings in `tanager.names`, `about` one
    line for the user. `dash` and `plus` say whether `tanager.names` lists the name
    before a "-", as in ``NB-ML``, and before a "+", as in ``NB+ELR``; `whole` whether
    it is the name of a method by itself, as the structure learner also learns the
    factors. `parameters` replace the usual parameter learners for this structure, by
    name. `needs_plus` says that "-" and a parameter learner would make another name.
    """

    pattern: str
    make: Callable[..., StructureLearner]
    listed: tuple[str, ...]
    about: str
    dash: bool = True
    plus: bool = False
    whole: bool = False
    needs_plus: bool = False
    parameters: Mapping[str, Callable[[], ParameterLearner]] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class ParameterName:
    """A name of a parameter learner, matched without regard to case.

    `plus` says whether `tanager.names` lists it after a "+", as in ``NB+FE``, instead
    of a "-"; `boosted` whether it stands for several networks, boosted, with CPTs by
    this learner, and so is no name of the learner itself; `alone` whether it stands in
    no name of a method.
    """

    name: str
    make: Callable[[], ParameterLearner]
    about: str
    plus: bool = False
    boosted: bool = False
    alone: bool = False


TREE = r"(?:TAN|([1-9]\d*)-(tree|parent))"
"""How a tree-augmented naive Bayes or one of its forms with k feature parents begins.

The groups are k and its kind: the moral graph of the features of a k-tree has at most
the treewidth k, as in Pernkopf and Bilmes (2010), section 5; that of a k-parent network
may have any.
"""

PARENTS = r"(?:TAN|([1-9]\d*)-parent)"
"""The same for learners that do not bound the treewidth."""

FOLDS_OF_K_TREES = 5
"""Structures with several parents are scored on held-out data (Pernkopf, 2010)."""

PAIR_BINS = 6
"""Bins of each numeric feature in the smooth factor of a pair."""

HEURISTIC_ORDERS = {"a": "rows", "b": "diagonal", "c": "centre"}
"""Orders of the pixels in TAN Heuristic (Roth and Pernkopf, 2020, section 4.4)."""


def _k(k: str | None) -> int:
    return 1 if k is None else int(k)


def _bounds(k: str | None, kind: str | None) -> dict[str, Any]:
    """Arguments of a search that bound the parents and, for k-trees, the treewidth."""
    several = _k(k) > 1
    is_tree = several and kind is not None and kind.lower() == "tree"
    return {"k": _k(k), **({"treewidth": True} if is_tree else {})}


def _score(name: str, k: str | None) -> Score:
    """A score by its name, with folds where a feature may have several parents."""
    score = scores.score_from("CR" if name.upper() == "CRML" else name)
    return score if _k(k) == 1 else score.set_params(folds=FOLDS_OF_K_TREES)


def _fallback() -> ELR:
    """What learns the penalised conditional likelihood where it is not convex."""
    return learners.ELR(solver="lbfgs", folds=3)


STRUCTURES: tuple[StructureName, ...] = (
    StructureName(
        "NB", lambda: structure.NaiveBayes(), ("NB",), "naive Bayes", plus=True
    ),
    StructureName(
        "TAN-CMI|Chow-Liu",
        lambda: structure.ChowLiu(),
        ("TAN-CMI", "Chow-Liu"),
        "tree-augmented naive Bayes by conditional mutual information (Chow-Liu)",
    ),
    StructureName(
        "TAN",
        lambda: structure.ChowLiu(),
        ("TAN",),
        "tree-augmented naive Bayes by conditional mutual information (Chow-Liu)",
        dash=False,
        plus=True,
        needs_plus=True,  # "TAN-CL" is a structure
    ),
    StructureName(
        "TAN-EAR",
        lambda: structure.ChowLiu(criterion="ear"),
        ("TAN-EAR",),
        "forest of maximum explaining away residual",
    ),
    StructureName(
        "TAN-Random",
        lambda: structure.RandomTree(),
        ("TAN-Random",),
        "tree-augmented naive Bayes: a random order and a random earlier parent",
    ),
    StructureName(
        r"(?:TAN|([1-9]\d*)-tree)-RES",
        lambda k: structure.ResidualTree(k=_k(k)),
        ("TAN-RES", "2-tree-RES"),
        "residual tree or k-tree: score tests on the residuals of the current model",
        parameters={
            "RCL": lambda: learners.ConditionalLikelihood(C="cv", interactions=2)
        },
    ),
    *(
        StructureName(
            pattern,
            lambda order=order: structure.FactorSearch(order=order),
            (pattern,),
            f"log-linear model: {about}",
            dash=False,
            whole=True,
        )
        for pattern, order, about in (
            (
                "Factors",
                3,
                "smooth curves of features, and factors over pairs and triples (the "
                "default)",
            ),
            ("Factors1", 1, "a smooth curve for every feature, without interactions"),
            ("Factors2", 2, "smooth curves of features, and factors over pairs"),
        )
    ),
    *(
        StructureName(
            pattern,
            make,
            listed,
            f"parents by gradient descent, {among}",
            parameters={"HYB": lambda: learners.KeepTables()},
        )
        for pattern, make, listed, among in (
            (
                rf"{PARENTS}-Gumbel",
                lambda k: structure.GumbelTree(k=_k(k)),
                ("TAN-Gumbel", "2-parent-Gumbel"),
                "among eight earlier features in a random order",
            ),
            (
                rf"{PARENTS}-Subset-?([1-9]\d*)",
                lambda k, n: structure.GumbelTree(k=_k(k), n_candidates=int(n)),
                ("TAN-Subset8",),
                "among that many (any number) earlier features in a random order",
            ),
            (
                rf"{PARENTS}-All",
                lambda k: structure.GumbelTree(k=_k(k), n_candidates=None),
                ("TAN-All",),
                "among all earlier features in a random order",
            ),
            (
                r"TAN-Heuristic-?([ABC])(?:-?([1-9]\d*))?",
                lambda order, n: structure.GumbelTree(
                    order=HEURISTIC_ORDERS[order.lower()],
                    candidates="nearest",
                    n_candidates=8 if n is None else int(n),
                ),
                ("TAN-HeuristicA", "TAN-HeuristicB", "TAN-HeuristicC"),
                "among eight (or any number) nearest earlier pixels, in the order of "
                "rows (A), along the diagonal (B) or from the centre (C)",
            ),
            (
                "TAN-Free",
                lambda: structure.GumbelTree(order=None),
                ("TAN-Free",),
                "among eight other features, without an order",
            ),
        )
    ),
    StructureName(
        "Pseudo-TAN",
        lambda: structure.GumbelTree(order="cyclic"),
        ("Pseudo-TAN",),
        "parents by gradient descent, among eight other features, cycles allowed: a "
        "log-linear model",
        dash=False,
        whole=True,
    ),
    StructureName(
        rf"{TREE}-(CR|CRML)",
        lambda k, kind, score: structure.GreedyKTree(
            **_bounds(k, kind), score=_score(score, k)
        ),
        ("TAN-CR", "2-tree-CR"),
        "greedy forward search on classification rate",
    ),
    StructureName(
        rf"{TREE}-(CL)",
        lambda k, kind, score: structure.GreedyKTree(
            **_bounds(k, kind), score=_score(score, k)
        ),
        ("TAN-CL",),
        "greedy forward search on conditional likelihood",
    ),
    StructureName(
        rf"{TREE}-SuperParent",
        lambda k, kind: structure.SuperParent(
            **_bounds(k, kind), score=_score("CR", k)
        ),
        ("TAN-SuperParent", "2-tree-SuperParent"),
        "arcs from one feature to the best children, by classification rate",
    ),
    *(
        StructureName(
            rf"{TREE}-({order})-({score})",
            lambda k, kind, order, score: structure.OrderBased(
                order.lower(), score=_score(score, k), **_bounds(k, kind)
            ),
            listed,
            f"parents by {by}, among the features before by {about}",
        )
        for order, about, scores in (
            (
                "OMI",
                "information about the class",
                {
                    "CR|CRML": ("TAN-OMI-CR", "2-tree-OMI-CR"),
                    "CL": ("TAN-OMI-CL",),
                    "CRCL": ("TAN-OMI-CRCL",),
                    "CRRCL": ("TAN-OMI-CRRCL",),
                },
            ),
            ("OMISP", "information given one other", {"CR|CRML": ("TAN-OMISP-CR",)}),
            ("OCR", "classification rate", {"CR|CRML": ("TAN-OCR-CR",)}),
            ("RO", "chance", {"CR|CRML": ("TAN-RO-CR",)}),
            ("min-OMI", "least information about the class", {}),
        )
        for score, by in (
            ("CR|CRML", "classification rate"),
            ("CL", "conditional likelihood"),
            ("CRCL", "classification rate under CL parameters"),
            ("CRRCL", "classification rate under penalised CL parameters"),
        )
        for listed in (scores.get(score, ()),)
    ),
    StructureName(
        r"KDB(\d+)",
        lambda k: structure.KDB(k=int(k)),
        ("KDB2",),
        "k-dependence Bayesian classifier: k feature parents along an order",
    ),
    StructureName(
        "HGC",
        lambda: structure.HillClimbing(),
        ("HGC",),
        "general network of at most two parents each, by hill climbing on a Bayesian "
        "score",
        dash=False,
        plus=True,
    ),
    StructureName(
        "GBN",
        lambda: structure.ConstraintBased(),
        ("GBN",),
        "general network by independence tests (three-phase dependency analysis)",
        dash=False,
        plus=True,
    ),
)

PARAMETERS: tuple[ParameterName, ...] = (
    ParameterName(
        "ML", lambda: learners.Frequency(zero=1e-5), "frequencies, zeros set to 1e-5"
    ),
    ParameterName(
        "FE",
        lambda: learners.Frequency(),
        "frequencies with Laplace smoothing",
        plus=True,
    ),
    ParameterName(
        "OFE",
        lambda: learners.Frequency(),
        "frequencies with Laplace smoothing",
        plus=True,
    ),
    ParameterName(
        "DFE", lambda: learners.DFE(), "discriminative frequency estimates", plus=True
    ),
    ParameterName(
        "CL",
        lambda: learners.ELR(zero=1e-5),
        "maximum conditional likelihood by conjugate gradient with cross tuning, from "
        "the frequencies of ML",
    ),
    ParameterName(
        "RCL",
        lambda: learners.ConditionalLikelihood(C="cv", fallback=_fallback()),
        "regularised conditional likelihood (convex, C by cross-validation; for other "
        "structures L-BFGS with cross tuning)",
    ),
    ParameterName(
        "SCL",
        lambda: learners.ConditionalLikelihood(
            C="cv",
            smooth=True,
            interactions=2,
            pair_bins=PAIR_BINS,
            fallback=_fallback(),
        ),
        "regularised conditional likelihood, smooth along up to 50 bins of numeric "
        "features",
    ),
    ParameterName(
        "ELR",
        lambda: learners.ELR(),
        "maximum conditional likelihood by conjugate gradient with cross tuning, from "
        "frequencies with Laplace smoothing",
        plus=True,
    ),
    ParameterName(
        "ELR_theta",
        lambda: learners.ELR(solver="cg-theta"),
        "maximum conditional likelihood by conjugate gradient on probabilities, not on "
        "softmax parameters, with cross tuning",
        plus=True,
    ),
    ParameterName(
        "EM",
        lambda: learners.EM(),
        "expectation maximisation for missing values",
        plus=True,
    ),
    ParameterName(
        "APN",
        lambda: learners.APN(),
        "likelihood of incomplete data, by its gradient",
        plus=True,
    ),
    ParameterName(
        "APN_theta",
        lambda: learners.APN(solver="cg-theta"),
        "likelihood of incomplete data, by its gradient on probabilities",
        plus=True,
    ),
    ParameterName(
        "MM",
        lambda: learners.LossMinimizer(loss=losses.MarginLoss()),
        "large margins between the classes",
    ),
    ParameterName(
        "HYB",
        lambda: learners.LossMinimizer(loss=losses.HybridLoss(gamma=None)),
        "likelihood and large margins together, the margin set from the data",
    ),
    ParameterName(
        "keep",
        lambda: learners.KeepTables(),
        "CPTs learned with the structure",
        alone=True,
    ),
    ParameterName(
        "Ada",
        lambda: learners.Frequency(),
        "frequencies with Laplace smoothing, boosted by AdaBoost",
        plus=True,
        boosted=True,
    ),
)
