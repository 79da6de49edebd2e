"""Whole methods by their published names: ``TAN-CMI-ML``, ``NB+FE``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tanager.encoding import TableEncoder
from tanager.errors import InputError, listed, unknown_name
from tanager.parameters import KeepTables, ParameterLearner
from tanager.registry.components import (
    AUTO,
    is_auto,
    join_words,
    match_structure,
    parts_from,
    smooth_structure,
)
from tanager.registry.paper_presets import PAPERS, Paper
from tanager.registry.short_names import (
    PARAMETERS,
    STRUCTURES,
    ParameterName,
    StructureName,
)
from tanager.structure import StructureLearner

ABOUT_AUTO = (
    "the default: factors over one to three features, smooth along up to 254 bins, "
    "selected by held-out loss"
)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The parts a name stands for.

    Parameters
    ----------
    name : str
        As it was given.
    structure, parameters : StructureLearner, ParameterLearner
        Fresh learners.
    about : str
        One line for the user.
    boosted : bool
        Whether several networks of these parts are boosted.
    encoder : TableEncoder or None
        The encoder of a paper; None leaves it to the learners ("auto").
    """

    name: str
    structure: StructureLearner
    parameters: ParameterLearner
    about: str
    boosted: bool = False
    encoder: TableEncoder | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The parts as arguments of a classifier; none for the default."""
        if is_auto(self.name):
            return {}
        encoder = {} if self.encoder is None else {"encoder": self.encoder}
        return {"structure": self.structure, "parameters": self.parameters, **encoder}


def names(paper: str | None = None) -> tuple[str, ...]:
    """All method names, in the order of the tables of parts, or those of a paper.

    Parameters
    ----------
    paper : {"greiner2005", "su2008", "pernkopf2010", "roth2020"} or None, default=None
        If given, the methods whose results the paper reports.

    Notes
    -----
    A name is a structure and a parameter learner, as in ``TAN-CMI-ML``, a
    tree-augmented naive Bayes by conditional mutual information with frequencies, or
    ``NB+Ada``, naive Bayes boosted by AdaBoost. Every structure can be combined with
    every parameter learner, and "-" and "+" are the same; the list has those that share
    a sign in the papers. The structure "TAN" needs the "+", as "TAN-CL" is another
    structure. A structure learner whose model has factors instead of CPTs stands alone
    (``Factors``, ``Pseudo-TAN``). ``auto`` is the default of the library.

    Examples
    --------
    >>> names()[:3]
    ('NB-ML', 'NB+FE', 'NB+OFE')
    >>> names("su2008")
    ('NB+DFE', 'NB+FE', 'NB+ELR', 'NB+Ada', 'HGC+FE', 'HGC+DFE')
    """
    if paper is not None:
        return _paper(paper).names
    found = []
    for structure in STRUCTURES:
        for spelling in structure.listed:
            if structure.whole:
                found.append(spelling)
                continue
            for parameters in PARAMETERS:
                fits = structure.plus if parameters.plus else structure.dash
                if fits and not parameters.alone:
                    sign = "+" if parameters.plus else "-"
                    found.append(f"{spelling}{sign}{parameters.name}")
    return (*found, AUTO)


def parse(name: str, paper: str | None = None) -> Recipe:
    """The parts that a method name stands for.

    Parameters
    ----------
    name : str
        Such as ``"TAN-CMI-ML"``, ``"NB+FE"`` or ``"Factors"``; upper or lower case,
        with blanks or "-", such as ``"TAN Subset 8-HYB"``.
    paper : str or None, default=None
        If given, the settings of that paper; see `names`.

    Returns
    -------
    Recipe
        Fresh learners.

    Raises
    ------
    InputError
        For an unknown name, listing the nearest; for an unknown paper, or a name that
        the paper does not have, listing those there are.

    Examples
    --------
    >>> recipe = parse("NB+FE")
    >>> recipe.structure, recipe.parameters
    (NaiveBayes(), Frequency())
    >>> parse("HGC+FE", paper="su2008").structure
    HillClimbing(score=K2(weight=0.5))
    """
    if paper is not None:
        return _of_paper(name, paper, _paper(paper))
    if isinstance(name, str):
        spelling = join_words(name)
        if is_auto(spelling):
            _, tree, tables = parts_from(AUTO, AUTO, AUTO)
            return Recipe(name, tree, tables, ABOUT_AUTO)
        whole = match_structure(spelling)
        if whole is not None and whole[0].whole:
            return Recipe(name, whole[1], KeepTables(), whole[0].about)
        for parameters in PARAMETERS:
            ending = rf"(.+)([-+]){parameters.name}"
            found = re.fullmatch(ending, spelling, re.IGNORECASE)
            if found is None:
                continue
            matched = match_structure(found[1])
            if matched is not None and _combine(matched[0], found[2], parameters):
                return _recipe(name, *matched, parameters)
    raise _unknown(name)


def _recipe(
    name: str,
    structure: StructureName,
    learner: StructureLearner,
    parameters: ParameterName,
) -> Recipe:
    tables = structure.parameters.get(parameters.name, parameters.make)()
    if tables.takes_tables:
        # The structure learner does the work of the parameter learner, so its loss and
        # its schedule are the same.
        own = learner.get_params(deep=False)
        same = parameters.make().get_params(deep=False)
        learner.set_params(**{key: same[key] for key in same if key in own})
    smooth_structure(learner, tables)
    about = f"{structure.about}; {parameters.about}"
    several = re.match(r"(\d+)-(tree|parent)", join_words(name), flags=re.IGNORECASE)
    if several:
        bound = ", treewidth too" if several[2].lower() == "tree" else ""
        about = f"up to {several[1]} feature parents{bound}: {about}"
    return Recipe(name, learner, tables, about, parameters.boosted)


def _paper(paper: str) -> Paper:
    if not isinstance(paper, str) or paper.casefold() not in PAPERS:
        raise unknown_name("paper", paper, tuple(PAPERS))
    return PAPERS[paper.casefold()]


def _of_paper(name: str, label: str, paper: Paper) -> Recipe:
    """The parts of a name with the settings of a paper."""
    spelling = paper.find(name)
    if spelling is None:
        raise InputError(
            f"{label} has no method {name!r}; it has "
            f"{listed(paper.names, len(paper.names))}."
        )
    recipe = parse(spelling)
    settings = []
    for part, arguments in paper.settings_of(spelling):
        learner = recipe.structure if part == "structure" else recipe.parameters
        learner.set_params(**arguments)
        settings += [f"{part}__{key}={value!r}" for key, value in arguments.items()]
    own = f": {', '.join(settings)}" if settings else ""
    about = f"{recipe.about}; settings of {label}{own}"
    return replace(recipe, name=name, about=about, encoder=paper.encoder())


def _unknown(name: object) -> InputError:
    """Word the error for an unknown name.

    Signs and searches are easily mistaken, structure and parameters are what was meant:
    "TAN-RCL" is nearer to "TAN-CMI-RCL" than to "TAN-OMI-CL". Where there is no such
    structure, all names with these parameters are compared, and where there are no such
    parameters, all with this structure.
    """

    def ends(text: object) -> tuple[str, str]:
        parts = re.split("[-+]", str(text).casefold())
        return parts[0], parts[-1]

    structure, parameters = ends(name)
    same = [known for known in names() if ends(known)[0] == structure]
    alike = [known for known in names() if ends(known)[1] == parameters]
    both = [known for known in alike if known in same]
    # "TAN-ML" means the tree itself, not a search whose name has about that length.
    trees = (f"tan+{parameters}", f"tan-cmi-{parameters}")
    if str(name).casefold() == f"tan-{parameters}":
        both = [known for known in both if known.casefold() in trees] or both
    if same and alike and not both:
        return InputError(
            f"Unknown method {name!r}. With this structure there are {listed(same)}."
        )
    return unknown_name("method", name, both or alike or same or names())


def describe(name: str, paper: str | None = None) -> str:
    """One line on what a method name stands for, here or in a paper.

    Examples
    --------
    >>> describe("NB-ML")
    'naive Bayes; frequencies, zeros set to 1e-5'
    """
    return parse(name, paper).about


def _combine(structure: StructureName, sign: str, parameters: ParameterName) -> bool:
    """Whether the two stand together with this sign."""
    if structure.whole or parameters.alone:
        return False
    return sign == "+" or not structure.needs_plus
