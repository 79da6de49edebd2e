"""Whole methods by their published names: ``TAN-CMI-ML``, ``NB+FE``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tanager.errors import InputError, unknown_name
from tanager.parameters import KeepTables, ParameterLearner
from tanager.registry.components import AUTO, is_auto, match_structure, parts_from
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
    """

    name: str
    structure: StructureLearner
    parameters: ParameterLearner
    about: str
    boosted: bool = False


def names() -> tuple[str, ...]:
    """All method names, in the order of the tables of parts.

    Two grammars are in use. ``A-B-C-D`` is structure, its search and the parameters
    (``TAN-CMI-ML``: a tree-augmented naive Bayes, by conditional mutual information,
    with frequencies). ``X+Y`` is a structure and a parameter learner (``NB+FE``), or
    what is made of both (``NB+Ada``: naive Bayes boosted by AdaBoost). A structure
    learner that also learns the tables stands alone (``Factors``). ``auto`` is the
    default of the library.

    Examples
    --------
    >>> names()[:3]
    ('NB-ML', 'NB+FE', 'NB+OFE')
    """
    listed = []
    for structure in STRUCTURES:
        for spelling in structure.listed:
            if structure.whole:
                listed.append(spelling)
            for parameters in PARAMETERS:
                if _combine(structure, parameters):
                    sign = "+" if parameters.plus else "-"
                    listed.append(f"{spelling}{sign}{parameters.name}")
    return (*listed, AUTO)


def parse(name: str) -> Recipe:
    """The parts that a method name stands for.

    Parameters
    ----------
    name : str
        Such as ``"TAN-CMI-ML"``, ``"NB+FE"`` or ``"Factors"``; upper or lower case.

    Returns
    -------
    Recipe
        Fresh learners.

    Raises
    ------
    InputError
        For an unknown name, listing the nearest.

    Examples
    --------
    >>> recipe = parse("NB+FE")
    >>> recipe.structure, recipe.parameters
    (NaiveBayes(), Frequency())
    """
    if isinstance(name, str):
        if is_auto(name):
            _, tree, tables = parts_from(AUTO, AUTO, AUTO)
            return Recipe(name, tree, tables, ABOUT_AUTO)
        whole = match_structure(name)
        if whole is not None and whole[0].whole:
            return Recipe(name, whole[1], KeepTables(), whole[0].about)
        for parameters in PARAMETERS:
            sign = "+" if parameters.plus else "-"
            head, found, tail = name.rpartition(sign)
            if not found or tail.casefold() != parameters.name.casefold():
                continue
            matched = match_structure(head)
            if matched is None or not _combine(matched[0], parameters):
                continue
            structure, learner = matched
            about = f"{structure.about}; {parameters.about}"
            k_tree = re.match(r"(\d+)-tree", head, flags=re.IGNORECASE)
            if k_tree:
                about = f"up to {k_tree[1]} feature parents: {about}"
            make = structure.parameters.get(parameters.name, parameters.make)
            return Recipe(name, learner, make(), about, parameters.boosted)
    raise _unknown(name)


def _unknown(name: object) -> InputError:
    """Word the error for an unknown name.

    Signs and searches are easily mistaken, structure and parameters are what was meant:
    "TAN+CL" is nearer to "TAN-CMI-CL" than to "TAN+ELR". Where the two do not stand
    together, as in "GBN+CL", names of the structure are listed.
    """

    def ends(text: object) -> tuple[str, str]:
        parts = re.split("[-+]", str(text).casefold())
        return parts[0], parts[-1]

    structure, parameters = ends(name)
    same = [known for known in names() if ends(known)[0] == structure]
    alike = [known for known in names() if ends(known)[1] == parameters]
    both = [known for known in alike if known in same]
    if same and alike and not both:
        shown = ", ".join(map(repr, same[:10]))
        more = f" and {len(same) - 10} more" if same[10:] else ""
        return InputError(
            f"Unknown method {name!r}. With this structure there are {shown}{more}."
        )
    return unknown_name("method", name, both or alike or names())


def describe(name: str) -> str:
    """One line on what a method name stands for.

    Examples
    --------
    >>> describe("NB-ML")
    'naive Bayes; frequencies, zeros set to 1e-5'
    """
    return parse(name).about


def _combine(structure: StructureName, parameters: ParameterName) -> bool:
    """Whether the two stand together."""
    together = structure.plus if parameters.plus else structure.dash
    return together and not parameters.alone
