"""Calls of the library that make the classifiers of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.measurements.gumbel_methods import whole_name
from lab.measurements.holdout_evaluation import classifier_options
from lab.runner.cell import Cell
from lab.runner.experiment import Experiment
from tanager import InputError
from tanager.registry import PAPERS, parse

Call = tuple[str, str | None, tuple[tuple[str, str], ...]]
"""Name, paper, and further arguments as text."""

VARIANTS: dict[str, tuple[str, str]] = {
    ", random start": ("parameters__start", "'random'"),
    ", shuffled": ("parameters__shuffle", "True"),
    ", Algorithm 1": ("parameters__shuffle", "'replace'"),
}
"""Argument of the learner that the end of a method's label stands for."""

OF_THE_LAB = ("+MSE", ", entries multiplied", ", entries added")
"""Ends of labels of learners that no name stands for."""


def calls(experiment: Experiment) -> list[Call]:
    """Calls of `BayesNetClassifier.from_name` for the rows of a paper's table.

    Rows of other kinds, such as support vector machines and variants that only the lab
    has, have none.

    Examples
    --------
    >>> from lab.runner.catalogue import find
    >>> calls(find(["su2008/table1"])[0])[-1]
    ('HGC+DFE', 'su2008', ())
    """
    if experiment.paper not in PAPERS:
        return []
    found: dict[Call, None] = {}
    for cell in experiment.cells():
        for label in _names(cell):
            name, variant = split_variant(label)
            for paper in (experiment.paper, None):
                try:
                    parse(name, paper)
                except InputError:
                    continue
                found[name, paper, (*_arguments(cell), *variant)] = None
                break
    return list(found)


def split_variant(label: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The name in a label of a method, and the arguments of its variant.

    Examples
    --------
    >>> split_variant("NB+DFE, shuffled")
    ('NB+DFE', (('parameters__shuffle', 'True'),))
    """
    for end, argument in VARIANTS.items():
        if label.endswith(end):
            return label.removesuffix(end), (argument,)
    return label, ()


def call_text(name: str, paper: str | None, arguments: Any) -> str:
    """A call as code.

    Examples
    --------
    >>> call_text('"NB-ML"', "roth2020", ())
    'BayesNetClassifier.from_name("NB-ML", paper="roth2020")'
    """
    further = [] if paper is None else [f'paper="{paper}"']
    further += [f"{key}={value}" for key, value in arguments]
    return f"BayesNetClassifier.from_name({', '.join([name, *further])})"


def calls_text(experiment: Experiment) -> str:
    """All calls in a sentence, names with the same arguments together."""
    groups: dict[tuple[str | None, tuple[tuple[str, str], ...]], list[str]] = {}
    for name, paper, arguments in calls(experiment):
        groups.setdefault((paper, arguments), []).append(name)
    parts = []
    for (paper, arguments), names in groups.items():
        single = len(names) == 1
        text = call_text(f'"{names[0]}"' if single else "NAME", paper, arguments)
        parts.append(
            f"`{text}`" + ("" if single else f" with NAME one of {', '.join(names)}")
        )
    return "; ".join(parts)


def _names(cell: Cell) -> Iterator[str]:
    """Names of methods that a cell measures."""
    given = cell.parameters
    if cell.measurement in ("setting_errors", "structure_screening"):
        yield whole_name(str(given["method"]), given.get("image_order"))  # type: ignore[arg-type]
    elif "method" in given:
        yield str(given["method"])
    elif cell.measurement == "random_order_accuracy":
        yield "TAN-RO-CR-ML"
    elif cell.measurement == "order_likelihood":
        yield f"TAN-{given['order']}-CL-ML"
    tables = given.get("parameters", "ML")
    for structure in _listed(given.get("structures", given.get("structure", ()))):
        for learner in _listed(tables):
            yield f"{structure}-{learner}"


def _arguments(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Arguments by which a cell departs from what the name stands for."""
    own = ("encoder", "threshold", "max_steps", "independence", "zero")
    options = classifier_options(
        **{key: cell.parameters[key] for key in own if key in cell.parameters}  # type: ignore[arg-type]
    )
    return tuple((key, repr(value)) for key, value in options.items())


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
